//! Markdown to HTML that is safe to show, whoever wrote it.
//!
//! The HTML consists of the few elements that Markdown knows. HTML in the text is shown as text,
//! and so is a link that leads anywhere but to the web or to a mailbox. Pictures become links: a
//! page never loads anything from elsewhere.

use pulldown_cmark::{CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, TextMergeStream, html};

/// The HTML of a text.
pub(crate) fn to_html(text: &str) -> String {
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let mut filter = Filter::default();
    let mut safe = Vec::new();
    for event in TextMergeStream::new(parser) {
        filter.push(event, &mut safe);
    }
    let mut markup = String::with_capacity(text.len() * 5 / 4);
    html::push_html(&mut markup, safe.into_iter());
    markup
}

#[derive(Default)]
struct Filter {
    /// For each link or picture that is open: whether it was written as a link.
    links: Vec<bool>,
    in_code: bool,
}

impl Filter {
    fn push<'text>(&mut self, event: Event<'text>, safe: &mut Vec<Event<'text>>) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => safe.push(Event::Text(html)),
            Event::Start(Tag::HtmlBlock) => safe.push(Event::Start(Tag::Paragraph)),
            Event::End(TagEnd::HtmlBlock) => safe.push(Event::End(TagEnd::Paragraph)),
            Event::Start(Tag::Link { dest_url, link_type, .. } | Tag::Image { dest_url, link_type, .. }) => {
                let dest_url =
                    if link_type == LinkType::Email { format!("mailto:{dest_url}").into() } else { dest_url };
                // A link in a link is none.
                let linked = !self.links.contains(&true) && leads_to_web_or_mailbox(&dest_url);
                if linked {
                    safe.push(open_link(&dest_url));
                }
                self.links.push(linked);
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                if self.links.pop() == Some(true) {
                    safe.push(close_link());
                }
            }
            // The page itself has the upper levels.
            Event::Start(Tag::Heading { level, .. }) => {
                safe.push(Event::Start(Tag::Heading { level: lower(level), id: None, classes: vec![], attrs: vec![] }));
            }
            Event::End(TagEnd::Heading(level)) => safe.push(Event::End(TagEnd::Heading(lower(level)))),
            // Alignment would be an inline style, which the page's policy forbids.
            Event::Start(Tag::Table(columns)) => {
                let columns = columns.iter().map(|_| pulldown_cmark::Alignment::None).collect();
                safe.push(Event::Start(Tag::Table(columns)));
            }
            // Memories are notes more often than documents: a new line is meant as one.
            Event::SoftBreak => safe.push(Event::HardBreak),
            Event::Start(Tag::CodeBlock(kind)) => {
                self.in_code = true;
                safe.push(Event::Start(Tag::CodeBlock(kind)));
            }
            Event::End(TagEnd::CodeBlock) => {
                self.in_code = false;
                safe.push(Event::End(TagEnd::CodeBlock));
            }
            Event::Text(text) if !self.in_code && !self.links.contains(&true) => link_addresses(text, safe),
            other => safe.push(other),
        }
    }
}

/// Makes links of the web addresses in a text.
fn link_addresses<'text>(text: CowStr<'text>, safe: &mut Vec<Event<'text>>) {
    let mut rest: &str = &text;
    let mut found = false;
    while let Some(start) = ["https://", "http://"].iter().filter_map(|scheme| rest.find(scheme)).min() {
        let (before, address) = rest.split_at(start);
        let end = address
            .find(|character: char| character.is_whitespace() || "<>\"`|，。；！？、）】」》".contains(character))
            .unwrap_or(address.len());
        let (address, after) = address.split_at(end);
        // A sentence may end with an address, and a bracket may hold one.
        let length = address.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_', '~']).len();
        let length = if address.contains('(') { length } else { address.get(..length).map_or(length, without_bracket) };
        let (address, left_over) = address.split_at(length);
        found = true;
        safe.push(Event::Text(before.to_owned().into()));
        if address.ends_with("//") {
            safe.push(Event::Text(address.to_owned().into()));
        } else {
            safe.push(open_link(address));
            safe.push(Event::Text(address.to_owned().into()));
            safe.push(close_link());
        }
        safe.push(Event::Text(left_over.to_owned().into()));
        rest = after;
    }
    if found {
        safe.push(Event::Text(rest.to_owned().into()));
    } else {
        safe.push(Event::Text(text));
    }
}

fn without_bracket(address: &str) -> usize {
    address.trim_end_matches([')', ']', '}']).len()
}

fn leads_to_web_or_mailbox(address: &str) -> bool {
    let scheme = address.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https" | "mailto"))
}

/// `external` leaves the link to the browser, whatever it leads to.
fn open_link<'text>(address: &str) -> Event<'text> {
    Event::Html(format!(r#"<a href="{}" rel="external noopener noreferrer nofollow">"#, escape(address)).into())
}

fn close_link<'text>() -> Event<'text> {
    Event::Html("</a>".into())
}

/// A text as the value of an attribute between double quotes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

#[cfg(test)]
mod tests {
    use super::to_html;

    #[test]
    fn markdown_becomes_html() {
        assert_eq!(
            to_html("# Tea\n\n- green\n- **black**"),
            "<h3>Tea</h3>\n<ul>\n<li>green</li>\n<li><strong>black</strong></li>\n</ul>\n"
        );
        assert_eq!(to_html("one\ntwo"), "<p>one<br />\ntwo</p>\n");
        assert_eq!(to_html("`a < b`"), "<p><code>a &lt; b</code></p>\n");
    }

    #[test]
    fn html_is_shown_as_text() {
        for text in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "a <b onclick='alert(1)'>b</b>",
            "<div>\n\n<svg/onload=alert(1)>",
            "<!-- --><iframe src=javascript:alert(1)>",
            "<?php ?><style>*{}</style>",
            "<![CDATA[<script>]]>",
            "- <script>\n  alert(1)",
            "> <object data=x>",
            "| <u> |\n| --- |\n| <form> |",
        ] {
            let html = to_html(text);
            let tags: Vec<&str> =
                html.split('<').skip(1).map(|tag| tag.split(['>', ' ']).next().unwrap_or_default()).collect();
            for tag in &tags {
                let name = tag.trim_start_matches('/');
                assert!(
                    ["p", "br", "ul", "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td"].contains(&name),
                    "{text:?} became {html:?} with <{tag}>"
                );
            }
            assert!(!html.contains("style="), "{html}");
        }
    }

    #[test]
    fn links_lead_to_the_web_or_to_a_mailbox_only() {
        let rel = r#"rel="external noopener noreferrer nofollow""#;
        assert_eq!(
            to_html("[a](https://example.org/?b&c)"),
            format!("<p><a href=\"https://example.org/?b&amp;c\" {rel}>a</a></p>\n")
        );
        assert_eq!(
            to_html("<a@example.org>"),
            format!("<p><a href=\"mailto:a@example.org\" {rel}>a@example.org</a></p>\n")
        );
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            " javascript:alert(1)",
            "java\tscript:alert(1)",
            "data:text/html,<script>alert(1)</script>",
            "vbscript:x",
            "file:///etc/passwd",
            "/memories",
            "//example.org",
            "#a",
        ] {
            for text in [format!("[a](<{address}>)"), format!("![a](<{address}>)"), format!("[a]\n\n[a]: <{address}>")]
            {
                assert!(!to_html(&text).contains("<a"), "{text:?} became {:?}", to_html(&text));
            }
        }
    }

    #[test]
    fn an_address_can_not_leave_its_attribute() {
        let html = to_html(r#"[a](<https://example.org/"onmouseover="alert(1)>)"#);
        assert!(html.contains("/&quot;onmouseover=&quot;alert(1)"), "{html}");
    }

    #[test]
    fn pictures_become_links() {
        let html = to_html("![a cat](https://example.org/cat.png)");
        assert!(html.contains(">a cat</a>") && !html.contains("<img"), "{html}");
        let nested = to_html("[![a cat](https://example.org/cat.png)](https://example.org/)");
        assert_eq!(nested.matches("<a ").count(), 1, "{nested}");
    }

    #[test]
    fn addresses_in_a_text_become_links() {
        let linked = |text: &str| {
            let html = to_html(text);
            html.split("href=\"")
                .skip(1)
                .map(|part| part.split('"').next().unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(linked("See https://example.org/a_b_c."), ["https://example.org/a_b_c"]);
        assert_eq!(
            linked("(http://a.example) and https://b.example/x(y)"),
            ["http://a.example", "https://b.example/x(y)"]
        );
        assert_eq!(linked("在 https://example.org/路径，然后"), ["https://example.org/路径"]);
        assert!(linked("`https://example.org`").is_empty());
        assert!(linked("```\nhttps://example.org\n```").is_empty());
        assert!(linked("https:// nothing").is_empty());
    }

    #[test]
    fn tables_have_no_inline_style() {
        let html = to_html("| a | b |\n| :-- | --: |\n| 1 | 2 |");
        assert!(html.contains("<table>") && !html.contains("style"), "{html}");
    }
}
