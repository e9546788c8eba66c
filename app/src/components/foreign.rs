use leptos::prelude::*;

/// A text that someone else chose, in the midst of ours: whatever is in it, it changes neither how what is around it
/// reads nor where it stands.
#[component]
pub(crate) fn Foreign(#[prop(into)] text: String) -> impl IntoView {
    view! { <bdi>{harmless(&text)}</bdi> }
}

/// The text in one line, without what is not to be seen: signs that turn the direction of writing, and those of no width.
pub(crate) fn harmless(text: &str) -> String {
    let visible = text.chars().filter(|character| !is_unseen(*character));
    let visible: String = visible.map(|character| if character.is_control() { ' ' } else { character }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The joiners (U+200C, U+200D) are none of them: Persian and many emoji can't do without.
fn is_unseen(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn a_name_can_not_turn_what_is_around_it() {
        assert_eq!(harmless("Claude\u{202e} edoC\u{2066}\u{2069}"), "Claude edoC");
        assert_eq!(harmless("a\u{200b}\u{ad}b\u{feff}"), "ab");
        assert_eq!(harmless(" one\n\n two\u{2028}three\u{0} "), "one two three");
    }

    #[test]
    fn what_is_to_be_seen_stays() {
        for text in ["مرحبا", "می\u{200c}خواهم", "👩\u{200d}💻", "<b>&amp;", "我的应用"] {
            assert_eq!(harmless(text), text);
        }
    }
}
