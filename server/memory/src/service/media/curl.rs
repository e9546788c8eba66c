//! The line that uploads a file from a shell.

use polymnemo_types::SignedRequest;

/// A line for a POSIX shell that sends this request with the file of this name in the working directory.
///
/// Nothing in it means anything to the shell or to curl: neither quotes in a name, nor a dash at its beginning, nor the
/// brackets that curl would take for a range.
pub(super) fn line(request: &SignedRequest, filename: &str) -> String {
    // A path of someone else's machine leads nowhere here.
    let name = match filename.rsplit('/').next().unwrap_or_default() {
        "" | "." | ".." => "FILE",
        name => name,
    };
    let mut line = format!("curl --fail-with-body --globoff --request {}", quoted(&request.method));
    for header in request.headers.iter().filter(|header| header.name != "content-length") {
        line.push_str(&format!(" --header {}", quoted(&format!("{}: {}", header.name, header.value))));
    }
    line.push_str(&format!(" --upload-file {} {}", quoted(&format!("./{name}")), quoted(&request.url)));
    line
}

/// One word to a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use polymnemo_types::Header;

    use super::*;

    fn line_for(filename: &str) -> String {
        let request = SignedRequest {
            method: "PUT".into(),
            url: "https://files.example.com/a?b=c&d=e".into(),
            headers: vec![
                Header { name: "content-length".into(), value: "3".into() },
                Header { name: "content-type".into(), value: "image/png".into() },
            ],
            expires_at: "2026-03-01T12:00:00Z".parse().expect("a time"),
        };
        line(&request, filename)
    }

    #[test]
    fn every_word_is_quoted() {
        assert_eq!(
            line_for("it's here.png"),
            "curl --fail-with-body --globoff --request 'PUT' --header 'content-type: image/png' \
             --upload-file './it'\\''s here.png' 'https://files.example.com/a?b=c&d=e'"
        );
    }

    #[test]
    fn a_path_is_none_here() {
        for (given, expected) in
            [("../../etc/passwd", "'./passwd'"), ("a/", "'./FILE'"), ("..", "'./FILE'"), ("-o", "'./-o'")]
        {
            assert!(line_for(given).contains(&format!("--upload-file {expected} ")), "{given}");
        }
    }
}
