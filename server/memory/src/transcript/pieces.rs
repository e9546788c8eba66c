//! Cutting a transcript that came as one text.

use polymnemo_types::limits::MESSAGE_PART_BYTES;

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Who speaks; empty where the text doesn't say.
    pub role: &'static str,
    /// The piece, as it stands in the text, with the name of the speaker.
    pub text: &'a str,
}

/// How transcripts name those who speak, in lower case, and what they are called here.
const SPEAKERS: [(&str, &str); 20] = [
    ("user", "user"),
    ("human", "user"),
    ("you", "user"),
    ("me", "user"),
    ("用户", "user"),
    ("我", "user"),
    ("ユーザー", "user"),
    ("assistant", "assistant"),
    ("ai", "assistant"),
    ("model", "assistant"),
    ("claude", "assistant"),
    ("chatgpt", "assistant"),
    ("gpt", "assistant"),
    ("gemini", "assistant"),
    ("助手", "assistant"),
    ("アシスタント", "assistant"),
    ("system", "system"),
    ("系统", "system"),
    ("tool", "tool"),
    ("工具", "tool"),
];

/// Cuts a text into pieces of at most [`MESSAGE_PART_BYTES`] bytes that are, one after the other, the text.
///
/// Where another one begins to speak, a piece begins, so that a text which went on since, or was changed in one place, has
/// all other pieces in common with what it was before.
#[must_use]
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut role, mut start, mut at) = ("", 0, 0);
    let mut is_code = false;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if let Some(speaker) = speaker(line).filter(|_| !is_code) {
            cut(text.get(start..at).unwrap_or_default(), role, &mut pieces);
            (role, start) = (speaker, at);
        }
        at += line.len();
    }
    cut(text.get(start..).unwrap_or_default(), role, &mut pieces);
    pieces
}

/// Who speaks from this line on, if it says so: `User: …`, `**Assistant**: …`, `## Human`.
fn speaker(line: &str) -> Option<&'static str> {
    let is_heading = line.starts_with('#');
    let line = line.trim_start_matches(['#', '*', '_', '>', ' ', '[']);
    let end = line.find([':', '：', '*', '_', ']', '\n', '\r']).unwrap_or(line.len());
    let (name, rest) = line.split_at_checked(end)?;
    let is_marked = rest.trim_start_matches(['*', '_', ']', ' ']).starts_with([':', '：']) || is_heading;
    // In small letters it is rather a key of some settings.
    if !is_marked || name.len() > 20 || name.starts_with(|first: char| first.is_lowercase()) {
        return None;
    }
    let name = name.trim().to_lowercase();
    SPEAKERS.iter().find(|(known, _)| *known == name).map(|&(_, role)| role)
}

/// Cuts what one says where it is too long: at the end of a paragraph, else of a line, else of a word.
fn cut<'a>(mut text: &'a str, role: &'static str, pieces: &mut Vec<Piece<'a>>) {
    while text.len() > MESSAGE_PART_BYTES {
        let most = text.floor_char_boundary(MESSAGE_PART_BYTES);
        let window = text.get(..most).unwrap_or_default();
        let after =
            |mark: &str| window.rfind(mark).map(|place| place + mark.len()).filter(|&end| end > MESSAGE_PART_BYTES / 2);
        let end = ["\n\n", "\n", "。", " "].into_iter().find_map(after).unwrap_or(most);
        let (piece, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        pieces.push(Piece { role, text: piece });
        text = rest;
    }
    if !text.is_empty() {
        pieces.push(Piece { role, text });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn roles(text: &str) -> Vec<(&str, &str)> {
        pieces(text).iter().map(|piece| (piece.role, piece.text)).collect()
    }

    #[test]
    fn a_piece_begins_where_another_one_speaks() {
        assert_eq!(
            roles("Notes\n**User:** Hi\nthere\nAssistant: Hello\n## Human\nBye\n用户：再见"),
            [
                ("", "Notes\n"),
                ("user", "**User:** Hi\nthere\n"),
                ("assistant", "Assistant: Hello\n"),
                ("user", "## Human\nBye\n"),
                ("user", "用户：再见"),
            ]
        );
    }

    #[test]
    fn settings_and_code_name_no_speaker() {
        let text = "User: see\n```yaml\nUser: root\n```\nuser: root\nUserland: no\nModel T: a car\n";
        assert_eq!(roles(text), [("user", text)]);
    }

    #[test]
    fn a_text_that_goes_on_keeps_its_pieces() {
        let text = "User: one\nAssistant: two\n".repeat(500);
        let longer = format!("{text}User: three\n");
        let (before, after) = (pieces(&text), pieces(&longer));
        assert_eq!(before.len() + 1, after.len());
        assert_eq!(before[..], after[..before.len()]);
    }

    proptest! {
        #[test]
        fn pieces_are_the_text_byte_for_byte(text in "(User: |Assistant: |```|[a-z ]{0,30}|记忆。|\n|\r\n|\u{1F9E0}|#|\\*){0,400}") {
            let pieces = pieces(&text);
            prop_assert!(pieces.iter().all(|piece| !piece.text.is_empty() && piece.text.len() <= MESSAGE_PART_BYTES));
            prop_assert_eq!(pieces.iter().map(|piece| piece.text).collect::<String>(), text);
        }

        #[test]
        fn long_lines_are_cut_between_characters(text in "(记|a|\u{1F9E0}){2000,4000}") {
            prop_assert_eq!(pieces(&text).iter().map(|piece| piece.text).collect::<String>(), text);
        }
    }
}
