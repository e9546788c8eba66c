//! Marks that ChatGPT puts into its answers where a page shows a link.

/// Begin and end of a mark, and what stands between its parts.
const BEGIN: char = '\u{e200}';
const END: char = '\u{e201}';
const BETWEEN: char = '\u{e202}';

/// How long a mark may be, so that a text of nothing but beginnings takes no longer than others.
const LONGEST: usize = 1000;

fn near(mark: &str) -> &str {
    mark.get(..mark.floor_char_boundary(LONGEST)).unwrap_or(mark)
}

/// A text without citation marks: those in private characters and those in lenticular brackets. Of a mark that stands for a
/// name, the name stays.
pub(crate) fn without(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find([BEGIN, '【']) {
        let (before, mark) = rest.split_at_checked(place).unwrap_or((rest, ""));
        clean.push_str(before);
        let (shown, behind) = if mark.starts_with(BEGIN) { private(mark) } else { bracketed(mark) };
        clean.push_str(&shown);
        rest = behind;
    }
    clean.push_str(rest);
    // Half a mark, where an answer was broken off.
    clean.retain(|character| !matches!(character, BEGIN | END | BETWEEN));
    clean
}

fn private(mark: &str) -> (String, &str) {
    let near = near(mark);
    let Some((inside, _)) = near.split_once(END) else {
        // It was broken off: what is behind it on the line is the mark.
        let end = near.find('\n').unwrap_or(near.len());
        return (String::new(), mark.get(end..).unwrap_or_default());
    };
    let behind = mark.get(inside.len() + END.len_utf8()..).unwrap_or_default();
    let mut parts = inside.trim_start_matches(BEGIN).split(BETWEEN);
    let shown = match (parts.next(), parts.next()) {
        // `entity["person","Ines","cellist"]`: the second is the name.
        (Some("entity"), Some(entity)) => serde_json::from_str::<Vec<String>>(entity)
            .ok()
            .and_then(|parts| parts.into_iter().nth(1))
            .unwrap_or_default(),
        _ => String::new(),
    };
    (shown, behind)
}

/// `【3†source】` and `【3:1†notes.pdf】`; other text in such brackets is text.
fn bracketed(mark: &str) -> (String, &str) {
    let mut characters = mark.chars();
    let first: String = characters.by_ref().take(1).collect();
    let behind = characters.as_str();
    if let Some((inside, _)) = near(mark).split_once('】')
        && let Some((number, _)) = inside.trim_start_matches('【').split_once('†')
        && !number.is_empty()
        && number.chars().all(|character| character.is_ascii_digit() || character == ':')
        && !inside.contains('\n')
    {
        return (String::new(), mark.get(inside.len() + '】'.len_utf8()..).unwrap_or_default());
    }
    (first, behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_out() {
        assert_eq!(
            without("4913.\u{e200}cite\u{e202}turn0search3\u{e202}turn1view0\u{e201} It is.【3†source】"),
            "4913. It is."
        );
        assert_eq!(without("See \u{e200}entity\u{e202}[\"person\",\"Ines\",\"x\"]\u{e201}."), "See Ines.");
        assert_eq!(without("a【12:3†notes.pdf】b【note】c【†】d【"), "ab【note】c【†】d【");
        assert_eq!(without("broken \u{e200}cite\u{e202}turn\nnext"), "broken \nnext");
        assert_eq!(without("stray \u{e201} end"), "stray  end");
        assert_eq!(without("plain"), "plain");
    }
}
