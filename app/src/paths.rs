//! Paths of this site, as they come with requests and go into links.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

use polymnemo_types::ImportId;

use crate::api::sign_in::SignInProblem;

/// The path of the page on which a person signs in.
pub const SIGN_IN: &str = "/sign-in";

/// Where a form of the web app sends a file without JavaScript: `multipart/form-data` with the fields `description`,
/// `namespace` and `tags` (comma separated), which may be absent, and after them `file`. It needs a session. It leads on to `/media/ID`, or,
/// where that fails, back to `/media?problem=CODE` with the [`polymnemo_types::ErrorCode`] as it is written in JSON.
pub const MEDIA_FORM: &str = "/media/files";

/// Where a form sends the files of an import: `multipart/form-data` with the fields `namespace`, `since`, `limit` and `again`,
/// which may be absent, and after them `files`. It needs a session. It leads on to [`import_page`], or, where that fails, back to
/// `/import?problem=CODE`.
pub const IMPORT_FORM: &str = "/import/files";

/// The route of the report of an import as a file.
pub const IMPORT_REPORT: &str = "/import/{id}/report";

/// The page of an import.
#[must_use]
pub fn import_page(id: ImportId) -> String {
    format!("/import/{id}")
}

/// The route of [`export_file`].
pub const EXPORT_FILE: &str = "/export/{id}/file";

/// Leads to the file of an export.
#[must_use]
pub fn export_file(id: &str) -> String {
    format!("/export/{}/file", encoded(id))
}

/// An upload page, where a person drops a file that a client announced.
#[must_use]
pub fn upload_page(secret: &str) -> String {
    format!("/upload/{}", encoded(secret))
}

/// The route of [`upload_page_form`].
pub const UPLOAD_PAGE_FORM: &str = "/upload/{secret}/file";

/// Where the form of an upload page sends the file without JavaScript: `multipart/form-data` with the field `file`. It leads back
/// to the page (`/upload/SECRET`) with `?done=1`, or `?problem=CODE`.
#[must_use]
pub fn upload_page_form(secret: &str) -> String {
    format!("{}/file", upload_page(secret))
}

/// The text itself where it is the path of a page of this site, so that following it stays here: it
/// begins with one slash, holds neither the backslashes that browsers read as slashes nor segments
/// that they take out, nor anything that does not belong in a header, and is no longer than
/// browsers make it.
#[must_use]
pub fn path_of_this_site(text: &str) -> Option<&str> {
    let short = text.len() <= 2000;
    let printable = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let mut segments = path.strip_prefix('/')?.split('/').peekable();
    let mut stays_here = true;
    while let Some(segment) = segments.next() {
        // Only the last one may be empty: a slash at the end.
        stays_here &= !segment.is_empty() || segments.peek().is_none();
        stays_here &= !matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    }
    (short && printable && stays_here).then_some(text)
}

/// Where a person goes who just signed in and wanted to go to `next`. What is no page of this site
/// leads to the first page, and so does what would only sign in again.
#[must_use]
pub fn after_sign_in(next: Option<&str>) -> &str {
    next.and_then(path_of_this_site)
        .filter(|next| !["/sign-in", "/sign-out", "/api/"].iter().any(|start| next.starts_with(start)))
        .unwrap_or("/")
}

/// The link to the sign-in page that comes back to `next`, a path of this site.
#[must_use]
pub fn sign_in_path(next: &str) -> String {
    with_next(SIGN_IN, next)
}

/// The sign-in page that tells what went wrong and still knows the way to `next`.
#[must_use]
pub fn sign_in_problem_path(problem: SignInProblem, next: &str) -> String {
    let path = sign_in_path(next);
    let separator = if path.contains('?') { '&' } else { '?' };
    format!("{path}{separator}problem={}", problem.code())
}

/// A path with the query `next`, unless that is the first page, which is where one comes anyway.
#[must_use]
pub(crate) fn with_next(path: &str, next: &str) -> String {
    match after_sign_in(Some(next)) {
        "/" => path.to_owned(),
        next => format!("{path}?next={}", encoded(next)),
    }
}

/// What is encoded in the value of a query: everything that could mean something there.
const MEANINGFUL: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// A value in a query.
pub(crate) fn encoded(value: &str) -> PercentEncode<'_> {
    utf8_percent_encode(value, MEANINGFUL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_site_are_followed() {
        for path in ["/", "/memories", "/memories/", "/memories?q=a%20b#c", "/a?b=https://example.org//c", "/a/.b/..c"]
        {
            assert_eq!(path_of_this_site(path), Some(path));
        }
        for elsewhere in [
            "",
            "memories",
            "//example.org",
            "///example.org",
            "/\\example.org",
            "\\/example.org",
            "https://example.org",
            "https:example.org",
            "javascript:alert(1)",
            "/.//example.org",
            "/..//example.org",
            "/a/../..//example.org",
            "/%2e/a",
            "/a/%2E%2e/b",
            "/a//b",
            "/a\nSet-Cookie: b=c",
            "/\t/a",
            "/ /a",
            "/é",
            "?next=/a",
            "#/a",
        ] {
            assert_eq!(path_of_this_site(elsewhere), None, "{elsewhere:?}");
        }
        assert_eq!(path_of_this_site(&format!("/{}", "a".repeat(2000))), None);
    }

    #[test]
    fn signing_in_does_not_lead_to_signing_in_again() {
        assert_eq!(after_sign_in(Some("/memories?q=a")), "/memories?q=a");
        for next in [None, Some(""), Some("//a"), Some("/sign-in?next=/a"), Some("/sign-out"), Some("/api/forget")] {
            assert_eq!(after_sign_in(next), "/", "{next:?}");
        }
    }

    #[test]
    fn the_way_back_is_one_value_of_the_query() {
        assert_eq!(sign_in_path("/memories?q=a&tag=b#c"), "/sign-in?next=/memories%3Fq%3Da%26tag%3Db%23c");
        assert_eq!(sign_in_path("/"), "/sign-in");
        assert_eq!(sign_in_path("//example.org"), "/sign-in");
        assert_eq!(sign_in_problem_path(SignInProblem::Denied, "/a"), "/sign-in?next=/a&problem=denied");
        assert_eq!(sign_in_problem_path(SignInProblem::Denied, "/"), "/sign-in?problem=denied");
    }
}
