//! Messages as they are read.

use std::collections::HashMap;

use leptos::prelude::*;
use polymnemo_memory::{Ctx, MemoryService, Result};
use polymnemo_types::{MessageFormat, MessagePart, Session};

use super::{
    PART, SessionPlace, Transcript,
    blocks::{self, Block},
};
use crate::{
    api::memories::Markup,
    components::{Message, MessageView, said, time_zone},
    i18n::Language,
};

/// The most bytes of the messages of a part that are read to show more than their beginnings.
const WHOLE: u64 = 4 << 20;

/// The messages at a place of a session.
pub(crate) async fn read(
    service: &MemoryService,
    ctx: &Ctx,
    session: &Session,
    place: SessionPlace,
) -> Result<Transcript> {
    let id = session.memory.id;
    let from = place.from.max(1);
    // The message before the first one tells whether that begins a day.
    let before = u32::from(from > 1);
    let mut messages = service.messages(ctx, id, from - before, PART + before).await?;
    let earlier = (messages.first().is_some_and(|first| first.number < from)).then(|| messages.remove(0));
    // What is written as blocks may have an image before its words, so it is read whole, as far as that is no great deal.
    let mut room = WHOLE;
    for message in &mut messages {
        let is_cut = (message.content.len() as u64) < message.bytes;
        let is_wanted = place.whole == Some(message.number);
        let is_small = message.format == MessageFormat::Blocks && message.bytes <= room;
        if is_cut && (is_wanted || is_small) {
            room = room.saturating_sub(message.bytes);
            *message = service.message(ctx, id, message.number).await?;
        }
    }
    let count = u32::try_from(messages.len()).unwrap_or_default();
    let markup = Markup(markup(session, place, earlier.as_ref(), messages));
    Ok(Transcript { from, count, markup })
}

/// The HTML of what one message says.
pub(super) fn markup_of(message: &MessagePart) -> String {
    let blocks = blocks::of_message(message);
    let role = message.role.clone();
    Owner::new().with(|| {
        provide_context(Language::of_page());
        Owner::with_no_hydration(move || said(&role, blocks).to_html())
    })
}

/// The HTML of messages. What is in them comes from anyone; nothing of it gets here but as text, or as what Markdown has.
fn markup(session: &Session, place: SessionPlace, earlier: Option<&MessagePart>, messages: Vec<MessagePart>) -> String {
    let zone = time_zone();
    let day_of = |message: &MessagePart| message.at.map(|at| at.to_zoned_datetime(zone.clone()).date());
    let mut day = earlier.and_then(day_of);
    // A result names the call that it answers, and that the tool.
    let mut tools = HashMap::new();
    let views = messages.into_iter().map(|message| {
        let begins_day = day_of(&message).filter(|own| day != Some(*own));
        day = begins_day.or(day);
        let mut is_cut = (message.content.len() as u64) < message.bytes;
        let mut blocks = blocks::of_message(&message);
        if place.whole != Some(message.number) {
            is_cut |= blocks::shorten(&mut blocks);
        }
        for block in &mut blocks {
            match block {
                Block::Call { name, id: Some(id), .. } => {
                    tools.insert(id.clone(), name.clone());
                }
                Block::Result { name: name @ None, call: Some(call), .. } => *name = tools.get(call).cloned(),
                _ => {}
            }
        }
        let is_marked = place.marked == Some(message.number);
        MessageView { session: session.into(), message, blocks, begins_day, is_cut, is_marked }
    });
    let views: Vec<MessageView> = views.collect();

    Owner::new().with(|| {
        provide_context(Language::of_page());
        Owner::with_no_hydration(move || {
            views.into_iter().map(|view| view! { <Message view /> }).collect_view().to_html()
        })
    })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use polymnemo_types::{IndexProgress, Kind, Memory, MemoryId, MessageFormat, MessagePart, Session, SessionForm};
    use uuid::Uuid;

    use super::{SessionPlace, markup};

    const AT: SessionPlace = SessionPlace { from: 1, marked: None, whole: None };

    fn session() -> Session {
        let at = Timestamp::UNIX_EPOCH;
        Session {
            memory: Memory {
                id: MemoryId(Uuid::nil()),
                namespace: "work".to_owned(),
                own: true,
                author: "Ada".to_owned(),
                kind: Kind::Session,
                tags: Vec::new(),
                source: None,
                client: None,
                occurred_at: at,
                created_at: at,
                updated_at: at,
                revision: 1,
                bytes: 0,
                preview: String::new(),
                supersedes: Vec::new(),
                superseded_by: None,
                forgotten_at: None,
                file: None,
            },
            session_id: "s".to_owned(),
            title: "Title".to_owned(),
            form: SessionForm::Messages,
            metadata: None,
            messages: 3,
            bytes: 0,
            parts: 3,
            index: IndexProgress::default(),
        }
    }

    fn message(number: u32, role: &str, format: MessageFormat, content: &str) -> MessagePart {
        MessagePart {
            number,
            role: role.to_owned(),
            at: None,
            client_id: None,
            format,
            revision: 1,
            content: content.to_owned(),
            part: 1,
            parts: 1,
            bytes: content.len() as u64,
        }
    }

    fn html(messages: Vec<MessagePart>) -> String {
        markup(&session(), AT, None, messages)
    }

    /// The names of the elements of a page.
    fn elements(html: &str) -> Vec<&str> {
        let names = html.split('<').skip(1).map(|tag| tag.trim_start_matches('/'));
        names.map(|tag| tag.split(['>', ' ', '\n']).next().unwrap_or_default()).collect()
    }

    const OURS: &[&str] = &[
        "!",
        "a",
        "article",
        "bdi",
        "blockquote",
        "br",
        "code",
        "del",
        "details",
        "div",
        "em",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "span",
        "strong",
        "summary",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "time",
        "tr",
    ];

    #[test]
    fn nothing_in_a_message_becomes_an_element_or_a_link_into_this_site() {
        let hostile = [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "</pre></div></article><script>alert(1)</script>",
            "[a](javascript:alert(1)) [b](/sign-out) ![c](data:text/html,x)",
            "```\nan unclosed fence <b>\n[x](javascript:alert(1))",
            "`` ` <svg/onload=alert(1)>",
            "\u{202e}turned\u{2066}",
            "a\0b",
            "&lt;script&gt; &#60;script&#62;",
        ];
        for text in hostile {
            let json = serde_json::Value::from(text).to_string();
            let as_blocks = [
                format!(r#"[{{"type":"text","text":{json}}}]"#),
                format!(r#"[{{"type":"thinking","thinking":{json}}}]"#),
                format!(r#"[{{"type":"refusal","refusal":{json}}}]"#),
                format!(r#"[{{"type":"tool_use","id":{json},"name":{json},"input":{{{json}:{json}}}}}]"#),
                format!(r#"[{{"type":"tool_result","tool_use_id":{json},"content":{json}}}]"#),
                format!(r#"[{{"type":"image","source":{{"type":"url","url":{json},"media_type":{json}}}}}]"#),
                format!(r#"[{{"type":"document","title":{json},"source":{{"type":"text","data":{json}}}}}]"#),
                format!(r#"[{{"type":{json},"x":{json}}}]"#),
                format!(r#"{{"tool_calls":[{{"function":{{"name":{json},"arguments":{json}}}}}]}}"#),
            ];
            let mut messages = vec![message(1, text, MessageFormat::Text, text)];
            for role in ["assistant", "tool", "system"] {
                messages.extend(as_blocks.iter().map(|blocks| message(2, role, MessageFormat::Blocks, blocks)));
                messages.push(message(3, role, MessageFormat::Text, text));
            }
            messages.push(message(4, "user", MessageFormat::Blocks, text));
            let html = html(messages);
            for element in elements(&html) {
                let element = element.trim_end_matches('/');
                assert!(OURS.contains(&element) || element.starts_with('!'), "{text:?} became <{element}>: {html}");
            }
            let own =
                |address: &str| address.starts_with("/sessions/00") || address.starts_with("/memories/new?session=00");
            for address in html.split("href=\"").skip(1) {
                let web = address.starts_with("http://") || address.starts_with("https://");
                assert!(own(address) || web, "{text:?} leads to {}", address.get(..40).unwrap_or(address));
            }
            assert!(!html.contains("style=") && !html.contains('\0'), "{html}");
        }
    }

    #[test]
    fn tools_and_thoughts_are_folded_and_a_result_knows_its_tool() {
        let call = r#"[{"type":"thinking","thinking":"Hm."},{"type":"tool_use","id":"t1","name":"search","input":{"q":"tea"}}]"#;
        let result = r##"[{"type":"tool_result","tool_use_id":"t1","content":"# no heading"}]"##;
        let html = html(vec![
            message(1, "assistant", MessageFormat::Blocks, call),
            message(2, "user", MessageFormat::Blocks, result),
        ]);
        assert_eq!(html.matches("<details").count(), 3, "{html}");
        assert_eq!(html.matches(">search<").count(), 2, "{html}");
        assert!(!html.contains("<details open") && !html.contains("<h3"), "{html}");
    }

    #[test]
    fn a_message_that_was_cut_shows_its_beginning_and_the_way_to_the_rest() {
        let mut cut = message(2, "assistant", MessageFormat::Blocks, r#"[{"type":"text","text":"The begin"#);
        cut.bytes = 90_000;
        let html = html(vec![cut]);
        assert!(html.contains("The begin"), "{html}");
        assert!(html.contains("?message=2&amp;show=all#message-2"), "{html}");
    }

    #[test]
    fn a_day_is_told_once() {
        let at = |number, at: &str| {
            let at = Some(at.parse().expect("a time"));
            MessagePart { at, ..message(number, "user", MessageFormat::Text, "x") }
        };
        let messages =
            vec![at(2, "2026-11-29T23:59:00Z"), at(3, "2026-11-30T00:01:00Z"), at(4, "2026-11-30T00:02:00Z")];
        let html =
            markup(&session(), SessionPlace { marked: Some(4), ..AT }, Some(&at(1, "2026-11-29T08:00:00Z")), messages);
        assert!(!html.contains("29 November"), "{html}");
        assert_eq!(html.matches("30 November").count(), 1, "{html}");
        assert_eq!(html.matches("is-marked").count(), 1, "{html}");
    }
}
