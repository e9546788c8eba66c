//! Names of files that every system can unpack.

use std::collections::HashMap;

/// The greatest length of a name in bytes; file systems know at most 255, and a few are needed for endings.
const MOST_BYTES: usize = 150;

/// Names that Windows keeps for devices.
const RESERVED: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "lpt1", "lpt2",
    "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// A name as close to this one as every system takes: letters and digits of any script stay, what has a meaning in a path
/// does not. An ending is kept where the name is too long.
pub(super) fn safe(name: &str) -> String {
    let clean: String = name
        .chars()
        .map(|character| match character {
            _ if character.is_alphanumeric() => character,
            ' ' | '-' | '_' | '.' | ',' | '(' | ')' | '+' | '@' | '&' | '\'' | '!' => character,
            // Marks that belong to letters.
            _ if unicode_normalization::char::is_combining_mark(character) => character,
            _ => '_',
        })
        .collect();
    let clean = clean.trim_matches(|character: char| character == ' ' || character == '.');
    let is_ending = |ending: &str| (1..=16).contains(&ending.len()) && ending.chars().all(char::is_alphanumeric);
    let (stem, ending) = match clean.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && is_ending(ending) => (stem, format!(".{ending}")),
        _ => (clean, String::new()),
    };
    let most = stem.floor_char_boundary(MOST_BYTES - ending.len());
    let stem = stem.get(..most).unwrap_or_default().trim_end_matches([' ', '.']);
    if stem.is_empty() {
        return format!("_{ending}");
    }
    let first = stem.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let mark = if RESERVED.contains(&first.as_str()) { "_" } else { "" };
    format!("{mark}{stem}{ending}")
}

/// Folders of several names, no two of which are one, also where small and capital letters are the same.
#[derive(Default)]
pub(super) struct Folders {
    of: HashMap<String, String>,
    taken: HashMap<String, u32>,
}

impl Folders {
    /// The folder of this name.
    pub(super) fn of(&mut self, name: &str) -> String {
        if let Some(folder) = self.of.get(name) {
            return folder.clone();
        }
        let wanted = safe(name);
        let mut folder = wanted.clone();
        let mut number = 1;
        while self.taken.contains_key(&folder.to_lowercase()) {
            number += 1;
            folder = format!("{wanted} ({number})");
        }
        self.taken.insert(folder.to_lowercase(), number);
        self.of.insert(name.to_owned(), folder.clone());
        folder
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_of_any_script_stay_and_paths_do_not() {
        assert_eq!(safe("年度报告 2026.pdf"), "年度报告 2026.pdf");
        assert_eq!(safe("../../etc/passwd"), "_.._etc_passwd");
        assert_eq!(safe("a/b\\c:d"), "a_b_c_d");
        assert_eq!(safe("CON.txt"), "_CON.txt");
        assert_eq!(safe(".."), "_");
        assert_eq!(safe(""), "_");
        assert_eq!(safe("trailing. "), "trailing");
        assert_eq!(safe("\u{202E}gpj.exe"), "_gpj.exe");
    }

    #[test]
    fn two_names_are_two_folders() {
        let mut folders = Folders::default();
        let names = ["work/a", "work:a", "WORK_A", "work/a"].map(|name| folders.of(name));
        assert_eq!(names, ["work_a", "work_a (2)", "WORK_A (3)", "work_a"]);
    }

    proptest! {
        #[test]
        fn any_name_is_safe(name in any::<String>()) {
            let safe = safe(&name);
            prop_assert!(!safe.is_empty() && safe.len() <= 200, "{}", safe);
            prop_assert!(!safe.starts_with('.') && !safe.ends_with([' ', '.']), "{}", safe);
            prop_assert!(!safe.contains(['/', '\\', ':', '\0', '<', '>', '|', '"', '?', '*', '\n']), "{}", safe);
        }
    }
}
