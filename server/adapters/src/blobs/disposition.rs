use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What RFC 5987 calls `attr-char` needs no encoding.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// The value of a `Content-Disposition` header (RFC 6266) for a file of this name, whatever it holds: as it is for those who
/// read `filename*`, and in ASCII for others. What would be a path or another header to someone is replaced.
#[must_use]
pub fn content_disposition(filename: &str, inline: bool) -> String {
    let kind = if inline { "inline" } else { "attachment" };
    let safe: String = filename
        .chars()
        .map(|character| match character {
            '/' | '\\' => '_',
            control if control.is_control() => '_',
            other => other,
        })
        .collect();
    let plain: String = safe
        .chars()
        .map(|character| if character.is_ascii() && !matches!(character, '"' | '%') { character } else { '_' })
        .collect();
    format!("{kind}; filename=\"{plain}\"; filename*=UTF-8''{}", utf8_percent_encode(&safe, ENCODED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_name_stays_as_it_is() {
        assert_eq!(
            content_disposition("tea-1.png", true),
            "inline; filename=\"tea-1.png\"; filename*=UTF-8''tea-1.png"
        );
    }

    #[test]
    fn no_name_breaks_out_of_the_header() {
        for (name, expected) in [
            ("年报.pdf", "filename=\"__.pdf\"; filename*=UTF-8''%E5%B9%B4%E6%8A%A5.pdf"),
            ("a\"; filename=\"b", "filename=\"a_; filename=_b\"; filename*=UTF-8''a%22%3B%20filename%3D%22b"),
            ("a\r\nSet-Cookie: x", "filename=\"a__Set-Cookie: x\"; filename*=UTF-8''a__Set-Cookie%3A%20x"),
            ("../../etc/passwd", "filename=\".._.._etc_passwd\"; filename*=UTF-8''.._.._etc_passwd"),
            ("50%'s", "filename=\"50_'s\"; filename*=UTF-8''50%25%27s"),
        ] {
            assert_eq!(content_disposition(name, false), format!("attachment; {expected}"));
        }
    }
}
