//! What an announced file must be.

use polymnemo_types::{MediaFile, NewUpload, limits};

use super::digest_of;
use crate::{
    Ctx, Error, Result,
    ports::{Files, media_file},
    service::validate,
};

/// An upload, checked.
pub(super) struct Plan {
    pub(super) file: MediaFile,
    pub(super) description: String,
    pub(super) namespace: String,
    pub(super) tags: Vec<String>,
    pub(super) in_parts: bool,
}

/// Checks a file to be announced, whose length is this.
pub(super) fn plan(ctx: &Ctx, files: &Files, new: &NewUpload, size: u64) -> Result<Plan> {
    let filename = filename(&new.filename)?;
    let content_type = content_type(&new.content_type)?;
    if size == 0 {
        return Err(Error::Invalid("`size` is 0: an empty file holds nothing to keep.".into()));
    }
    if size > files.max_bytes {
        return Err(Error::FileTooLarge { given: size, most: files.max_bytes });
    }
    let sha256 = new.sha256.as_deref().map(sha256).transpose()?;
    let description = description(&new.description, &filename)?;
    let namespace = validate::namespace(new.namespace.as_deref().unwrap_or(&ctx.user.default_namespace))?;
    ctx.check_write(&namespace)?;
    let tags = validate::tags(&new.tags)?;
    let file = media_file(filename, content_type, size, sha256);
    Ok(Plan { file, description, namespace, tags, in_parts: new.in_parts })
}

/// The name of a file: as it was given, whatever it holds. Only NUL can't be kept, and nothing can be called so.
fn filename(name: &str) -> Result<String> {
    if name.trim().is_empty() || name.chars().count() > limits::FILENAME_CHARS {
        return Err(Error::Invalid(format!(
            "`filename`: a name has 1 to {} characters, such as `invoice.pdf`.",
            limits::FILENAME_CHARS
        )));
    }
    Ok(name.replace('\0', "\u{FFFD}"))
}

/// A media type: in lower case, without parameters but the character set.
fn content_type(given: &str) -> Result<String> {
    let wrong = || {
        Error::Invalid(
            "`content_type` is not a media type. Give one such as `image/png`, or `application/octet-stream` where \
             nothing fits better."
                .into(),
        )
    };
    let is_token = |text: &str| {
        let others = "!#$&-^_.+";
        !text.is_empty()
            && text.chars().all(|character| character.is_ascii_alphanumeric() || others.contains(character))
    };
    let given = given.trim().to_ascii_lowercase();
    let mut parts = given.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    let (kind, subtype) = essence.split_once('/').ok_or_else(wrong)?;
    if !is_token(kind) || !is_token(subtype) || essence.len() > limits::CONTENT_TYPE_CHARS {
        return Err(wrong());
    }
    let charset = parts.find_map(|part| part.strip_prefix("charset=")).map(|charset| charset.trim_matches('"'));
    match charset.filter(|charset| is_token(charset) && charset.len() <= 40) {
        Some(charset) => Ok(format!("{essence};charset={charset}")),
        None => Ok(essence.to_owned()),
    }
}

fn sha256(given: &str) -> Result<[u8; 32]> {
    digest_of(given.trim()).ok_or_else(|| {
        Error::Invalid(
            "`sha256` is not a SHA-256: give its 64 hexadecimal digits, as `sha256sum FILE` prints them, or leave it out."
                .into(),
        )
    })
}

/// The text of the memory. A file that nobody described is found by its name.
fn description(given: &str, filename: &str) -> Result<String> {
    if given.len() > limits::TEXT_BYTES {
        return Err(Error::TooLarge { given: given.len(), most: limits::TEXT_BYTES });
    }
    let text = if given.trim().is_empty() { filename } else { given };
    validate::content(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_as_it_is() {
        for name in ["年报 2026.pdf", "a\"b'c.png", "line\nbreak", "../../etc/passwd", "-rf", "."] {
            assert_eq!(filename(name).expect("kept"), name);
        }
        assert_eq!(filename("a\0b").expect("kept"), "a\u{FFFD}b");
        for wrong in ["", " ", &"x".repeat(256)] {
            filename(wrong).expect_err(wrong);
        }
    }

    #[test]
    fn a_media_type_is_brought_into_one_form() {
        for (given, expected) in [
            (" Image/PNG ", "image/png"),
            ("text/plain; Charset=UTF-8", "text/plain;charset=utf-8"),
            ("text/plain; charset=\"utf-8\"; x=y", "text/plain;charset=utf-8"),
            ("multipart/form-data; boundary=x", "multipart/form-data"),
            ("application/vnd.ms-excel", "application/vnd.ms-excel"),
        ] {
            assert_eq!(content_type(given).expect(given), expected);
        }
        for wrong in ["", "png", "image/", "/png", "image/png\r\nx: y", "image/p ng", &format!("a/{}", "b".repeat(127))]
        {
            content_type(wrong).expect_err(wrong);
        }
        assert_eq!(content_type("text/plain;charset=a b").expect("a type"), "text/plain");
    }

    #[test]
    fn a_file_without_a_description_is_described_by_its_name() {
        assert_eq!(description("  ", "tea.png").expect("a text"), "tea.png");
        assert_eq!(description("My tea", "tea.png").expect("a text"), "My tea");
        description(&"x".repeat(limits::TEXT_BYTES + 1), "x").expect_err("too long");
    }
}
