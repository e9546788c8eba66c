/// A text as the markup of what is in an element that holds nothing but text (`title`, `textarea`). Leptos takes that for
/// text that needs no escape; but a text can end the element.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The same in a `<textarea>`: the parser of HTML drops a line end at its beginning.
pub(crate) fn in_textarea(text: &str) -> String {
    let escaped = escaped(text);
    if escaped.starts_with('\n') { format!("\n{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::in_textarea;

    #[test]
    fn a_text_stays_in_its_element() {
        assert_eq!(in_textarea("a </textarea><script> &lt; b"), "a &lt;/textarea>&lt;script> &amp;lt; b");
        assert_eq!(in_textarea("\n a"), "\n\n a");
    }
}
