//! Where the payload of a result goes, and how large it may be.
//!
//! A result has two places: text (`content`) and, since revision 2025-06-18, JSON that conforms to
//! the tool's `outputSchema` (`structuredContent`). Clients differ in what they show their model:
//! some give it the JSON and drop the text, some give it the text and drop the JSON, some give it
//! both. Filling both places would bill those last ones twice for every memory, so:
//!
//! - A client that names a revision with structured results gets the payload as JSON, which is what
//!   the declared schema promises, and beside it a **short text**: one line for each memory, with its
//!   id and how it begins, at more length where there are few. A model that sees the text alone still knows what was
//!   found, and one that sees both pays at most [`SHORT_TEXT_BYTES`] twice.
//! - A client that names an older revision gets the payload as **text** and no JSON, and is shown no
//!   `outputSchema` either.
//! - A client that names no revision at all (the header is younger than the protocol) may be either,
//!   so it gets **both**, each half as large.
//! - A client of a newer revision that shows its model nothing but text can be connected to
//!   `…/mcp?output=text` and is then treated like an older one.
//!
//! Whatever the form, the answer stays below [`MOST_BYTES`]: long texts are shortened in steps until
//! it fits, and every shortened one names the way to the rest.

use rmcp::{
    RoleServer,
    model::{CallToolResult, ContentBlock, ProtocolVersion},
    service::RequestContext,
};
use schemars::JsonSchema;
use serde::Serialize;

/// The greatest size of an answer in bytes of JSON, the envelope included.
pub(crate) const MOST_BYTES: usize = 40_000;

/// The part of [`MOST_BYTES`] that is kept for the envelope: ids, `_meta`, field names.
const ENVELOPE_BYTES: usize = 1_500;

/// The greatest size of the short text in bytes of JSON.
const SHORT_TEXT_BYTES: usize = 4_000;

/// What a tool answers.
///
/// Its serialised form is the JSON of the result and conforms to its schema.
pub(crate) trait Answer: Serialize + JsonSchema + Sized {
    /// One line on the whole, and one for each record in it.
    fn short_text(&self) -> Lines;

    /// Everything in the answer, for a reader of text alone.
    fn full_text(&self) -> String {
        self.short_text().to_string()
    }

    /// Whether it is given as it is, however long: what it has to say is asked for piece by piece and means nothing when a
    /// part of it is missing. It then bounds itself.
    const IS_WHOLE: bool = false;

    /// Makes the answer smaller, one step further each time; false where nothing is left to cut.
    fn shorten(&mut self, _step: usize) -> bool {
        false
    }
}

/// A heading and a list.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// What comes first.
    pub(crate) heading: String,
    /// One line for each record.
    pub(crate) records: Vec<String>,
}

impl Lines {
    /// A single line.
    pub(crate) fn one(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), records: Vec::new() }
    }

    /// Whether all of them are shown in a short text.
    pub(crate) fn fit(&self) -> bool {
        /// What [`Self::within`] keeps free for the number of those that it leaves out.
        const REST: usize = 30;
        json_bytes(&self.heading) + self.records.iter().map(json_bytes).sum::<usize>() + REST <= SHORT_TEXT_BYTES
    }

    /// The lines as far as they fit.
    fn within(&self, most_bytes: usize) -> String {
        let mut text = self.heading.clone();
        for (place, record) in self.records.iter().enumerate() {
            let rest = format!("\n… and {} more.", self.records.len() - place);
            if json_bytes(&text) + json_bytes(record) + json_bytes(&rest) > most_bytes {
                text.push_str(&rest);
                break;
            }
            text.push('\n');
            text.push_str(record);
        }
        text
    }
}

impl std::fmt::Display for Lines {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.within(usize::MAX))
    }
}

/// The form in which a client gets its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The payload as JSON, beside a short text.
    Structured,
    /// The payload as text, no JSON.
    Text,
    /// The payload as both, for a client of unknown age.
    Both,
}

impl Form {
    /// The form for the client that sent a request.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let Some(parts) = context.extensions.get::<http::request::Parts>() else {
            // Over stdio the revision is negotiated once, for the life of the process.
            return Self::of_revision(context.protocol_version().as_ref().map(ProtocolVersion::as_str));
        };
        let asks_for_text = parts.uri.query().is_some_and(|query| query.split('&').any(|pair| pair == "output=text"));
        if asks_for_text {
            return Self::Text;
        }
        let of_body = context.meta.protocol_version();
        let of_header = parts.headers.get("mcp-protocol-version").and_then(|value| value.to_str().ok());
        Self::of_revision(of_body.as_ref().map(ProtocolVersion::as_str).or(of_header))
    }

    fn of_revision(revision: Option<&str>) -> Self {
        // Revisions are dates, so their order as text is their order in time.
        match revision {
            None => Self::Both,
            Some(revision) if revision < ProtocolVersion::V_2025_06_18.as_str() => Self::Text,
            Some(_) => Self::Structured,
        }
    }

    /// Whether results have JSON, and tools therefore an `outputSchema`.
    pub(crate) fn is_structured(self) -> bool {
        self != Self::Text
    }

    /// The bytes of JSON that the payload may take in each place that it is in.
    fn payload_bytes(self) -> usize {
        let all = MOST_BYTES - ENVELOPE_BYTES;
        match self {
            Self::Structured => all - SHORT_TEXT_BYTES,
            Self::Text => all,
            Self::Both => all / 2,
        }
    }

    /// The result that carries an answer in this form, shortened until it fits.
    ///
    /// # Errors
    ///
    /// The answer can't be written as JSON, which is a fault of this crate.
    pub(crate) fn result<A: Answer>(self, answer: &mut A) -> Result<CallToolResult, serde_json::Error> {
        let most = if A::IS_WHOLE { usize::MAX } else { self.payload_bytes() };
        let mut step = 0;
        loop {
            let structured = if self.is_structured() { Some(serde_json::to_value(&*answer)?) } else { None };
            let structured_bytes = structured.as_ref().map_or(0, json_bytes);
            let full_text = (self != Self::Structured).then(|| answer.full_text());
            let text_bytes = full_text.as_ref().map_or(0, json_bytes);
            let fits = structured_bytes <= most && text_bytes <= most;
            if fits || !answer.shorten(step) {
                // The short text also stands in where even the smallest full one does not fit.
                let short_text = || answer.short_text().within(SHORT_TEXT_BYTES);
                let text = full_text.filter(|_| fits).unwrap_or_else(short_text);
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = structured;
                return Ok(result);
            }
            step += 1;
        }
    }
}

/// The length of a value in the body of a response.
pub(crate) fn json_bytes(value: &(impl Serialize + ?Sized)) -> usize {
    // A counting writer would save the copy; an answer is at most some tens of kilobytes.
    serde_json::to_vec(value).map_or(usize::MAX, |bytes| bytes.len())
}

/// The beginning of a text: at most this many bytes, cut between characters.
pub(crate) fn beginning(text: &str, most_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(most_bytes)).unwrap_or(text)
}

/// A text on one line, at most this many characters long.
pub(crate) fn one_line(text: &str, most_chars: usize) -> String {
    // A memory can be a megabyte long and its line is short, so only the words needed are read.
    let mut line = String::new();
    let mut chars = 0;
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
            chars += 1;
        }
        for char in word.chars() {
            if chars >= most_chars {
                line.push('…');
                return line;
            }
            line.push(char);
            chars += 1;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, JsonSchema)]
    struct Long {
        text: String,
    }

    impl Answer for Long {
        fn short_text(&self) -> Lines {
            Lines { heading: "Texts:".into(), records: vec![one_line(&self.text, 100); 100] }
        }

        fn full_text(&self) -> String {
            self.text.clone()
        }

        fn shorten(&mut self, _step: usize) -> bool {
            let half = beginning(&self.text, self.text.len() / 2).len();
            self.text.truncate(half);
            half > 0
        }
    }

    #[test]
    fn the_form_follows_the_revision() {
        assert_eq!(Form::of_revision(Some("2024-11-05")), Form::Text);
        assert_eq!(Form::of_revision(Some("2025-03-26")), Form::Text);
        assert_eq!(Form::of_revision(Some("2025-06-18")), Form::Structured);
        assert_eq!(Form::of_revision(Some("2025-11-25")), Form::Structured);
        assert_eq!(Form::of_revision(Some("2026-07-28")), Form::Structured);
        assert_eq!(Form::of_revision(None), Form::Both);
    }

    #[test]
    fn an_answer_is_shortened_until_it_fits_in_every_form() {
        for form in [Form::Structured, Form::Text, Form::Both] {
            for text in ["x".repeat(1 << 20), "\u{1}\n\"".repeat(100_000), "记忆".repeat(100_000)] {
                let result = form.result(&mut Long { text }).unwrap();
                assert!(json_bytes(&result) <= MOST_BYTES, "{form:?}: {}", json_bytes(&result));
                assert!(json_bytes(&result) >= 8_000, "{form:?} was cut too far: {}", json_bytes(&result));
                assert_eq!(result.structured_content.is_some(), form != Form::Text);
            }
        }
    }

    #[test]
    fn the_payload_is_sent_once_where_the_revision_is_known() {
        let text = "a sentence that is the payload ".repeat(100);
        for form in [Form::Structured, Form::Text] {
            let result = serde_json::to_string(&form.result(&mut Long { text: text.clone() }).unwrap()).unwrap();
            assert_eq!(result.matches(text.as_str()).count(), 1, "{form:?}");
        }
    }

    #[test]
    fn lines_that_do_not_fit_are_counted() {
        let lines = Lines { heading: "Numbers:".into(), records: (0..100).map(|number| number.to_string()).collect() };
        let text = lines.within(100);
        assert!(json_bytes(&text) <= 100, "{text}");
        assert!(text.starts_with("Numbers:\n0\n1\n") && text.ends_with(" more."), "{text}");
        assert_eq!(lines.to_string().lines().count(), 101);
    }

    #[test]
    fn one_line_cuts_between_characters_and_keeps_short_texts() {
        assert_eq!(one_line("  two\n\nwords ", 100), "two words");
        assert_eq!(one_line("记忆是人的", 3), "记忆是…");
        assert_eq!(one_line("", 3), "");
        assert_eq!(beginning("记忆", 4), "记");
        assert_eq!(beginning("ab", 4), "ab");
    }
}
