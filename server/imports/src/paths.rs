//! Paths as they are shown. None of them is ever opened.

/// A path with `/` between its parts, without anything that leads out of where it is.
pub(crate) fn shown(path: &str) -> String {
    let parts: Vec<&str> =
        path.split(['/', '\\']).map(str::trim).filter(|part| !matches!(*part, "" | "." | "..")).collect();
    parts.join("/").replace('\0', "")
}

/// The name of a file without its folder and its extension.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// The extension of a file in small letters; empty where there is none.
pub(crate) fn extension(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default()
}

/// What systems leave behind in archives and folders.
pub(crate) fn is_litter(path: &str) -> bool {
    // What begins with a dot belongs to programs.
    let is_hidden = |part: &str| part.starts_with('.') && !part.starts_with("..") && part != ".";
    path.split('/')
        .any(|part| matches!(part, "__MACOSX" | "node_modules" | "Thumbs.db" | "desktop.ini") || is_hidden(part))
}

/// Whether a name in an archive stays within it.
pub(crate) fn is_safe(name: &str) -> bool {
    let is_drive = name.as_bytes().get(1) == Some(&b':');
    !name.starts_with(['/', '\\'])
        && !is_drive
        && !name.contains('\0')
        && name.split(['/', '\\']).all(|part| part != "..")
}

/// A name to sort by, in which numbers are of one length: `conversations-2` before `conversations-10`.
pub(crate) fn sorted_by(path: &str) -> String {
    let mut sorted = String::with_capacity(path.len() + 16);
    let mut digits = String::new();
    for character in path.chars().chain(std::iter::once('\0')) {
        if character.is_ascii_digit() {
            digits.push(character);
        } else {
            if !digits.is_empty() {
                sorted.push_str(&format!("{digits:0>20}"));
                digits.clear();
            }
            sorted.push(character);
        }
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_nowhere() {
        assert_eq!(shown("/areas/../../etc/x.md"), "areas/etc/x.md");
        assert_eq!(shown("a\\..\\b"), "a/b");
        for name in ["../x", "a/../../x", "/etc/passwd", "C:\\x", "\\\\host\\x", "a\\..\\x", "c:x", "a\0b"] {
            assert!(!is_safe(name), "{name}");
        }
        for name in ["x", "a/b", "a/..b", "a/b..", "..."] {
            assert!(is_safe(name), "{name}");
        }
    }

    #[test]
    fn numbers_are_sorted_as_numbers() {
        let mut names = ["c-10.json", "c-2.json", "c-001.json"];
        names.sort_by_key(|name| sorted_by(name));
        assert_eq!(names, ["c-001.json", "c-2.json", "c-10.json"]);
    }

    #[test]
    fn litter_is_known() {
        for path in ["__MACOSX/a/._b.json", "a/._b.json", "a/.DS_Store", "x/node_modules/y.md"] {
            assert!(is_litter(path), "{path}");
        }
        assert!(!is_litter("a/b.json"));
    }
}
