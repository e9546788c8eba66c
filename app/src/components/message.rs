use jiff::civil::Date;
use leptos::{either::Either, prelude::*};
use polymnemo_types::{MemoryId, MessagePart, Session};

use super::{Foreign, exact, harmless, time_zone};
use crate::{
    api::{
        memories::markdown,
        sessions::{
            blocks::{Attachment, AttachmentKind, Block},
            message_path, session_path,
        },
    },
    i18n,
};

/// A message of a session, with what is to be known to show it.
pub(crate) struct MessageView {
    pub(crate) session: SessionOf,
    pub(crate) message: MessagePart,
    /// What it says.
    pub(crate) blocks: Vec<Block>,
    /// The day that it is the first one of.
    pub(crate) begins_day: Option<Date>,
    /// Whether this is the beginning of a longer one.
    pub(crate) is_cut: bool,
    /// Whether the page is about it.
    pub(crate) is_marked: bool,
}

/// What a message has to do with its session.
#[derive(Clone)]
pub(crate) struct SessionOf {
    id: MemoryId,
    /// Whose it is, where it is not the caller's own.
    author: Option<String>,
    messages: u32,
}

impl From<&Session> for SessionOf {
    fn from(session: &Session) -> Self {
        let author = (!session.memory.own).then(|| session.memory.author.clone());
        Self { id: session.memory.id, author, messages: session.messages }
    }
}

/// Who speaks: what it looks like, and how they are called.
pub(crate) fn speaker(role: &str, author: Option<&str>) -> (&'static str, String) {
    let text = &i18n::messages().on_server.sessions.transcript;
    match role.to_ascii_lowercase().as_str() {
        "user" | "human" => ("user", author.map_or_else(|| text.you.to_owned(), harmless)),
        "assistant" | "model" | "ai" => ("assistant", text.assistant.to_owned()),
        "system" | "developer" => ("system", text.system.to_owned()),
        "tool" | "function" => ("tool", text.tool.to_owned()),
        _ => ("other", harmless(role)),
    }
}

/// A message: who speaks and when, and what they say.
#[component]
pub(crate) fn Message(view: MessageView) -> impl IntoView {
    let text = &i18n::messages().on_server.sessions.transcript;
    let MessageView { session, message, blocks, begins_day, is_cut, is_marked } = view;
    let number = message.number;
    let (kind, speaker) = speaker(&message.role, session.author.as_deref());
    let has_speaker = !speaker.is_empty();
    let name_id = format!("speaker-{number}");
    let labelled_by = name_id.clone();
    let remember = format!("/memories/new?session={}&message={number}", session.id);
    let cut = is_cut.then(|| {
        let href = format!("{}?message={number}&show=all#message-{number}", session_path(session.id));
        view! {
            <p class="cut">
                <a href=href rel="external">{(text.show_all)(message.bytes)}</a>
            </p>
        }
    });
    view! {
        <article
            class="message"
            class:is-marked=is_marked
            id=format!("message-{number}")
            data-number=number
            data-speaker=kind
            tabindex="-1"
            aria-posinset=number
            aria-setsize=session.messages
            aria-labelledby=labelled_by
        >
            {begins_day.map(|day| view! { <p class="day">{(text.day)(day)}</p> })}
            <header>
                <h2 id=name_id class:visually-hidden=!has_speaker>
                    {if has_speaker {
                        Either::Left(view! { <Foreign text=speaker /> })
                    } else {
                        Either::Right((text.message)(number))
                    }}
                </h2>
                <a class="remember" href=remember rel="external" aria-label=format!("{}: {}", text.remember, (text.message)(number))>
                    {text.remember}
                </a>
                {(message.revision > 1)
                    .then(|| {
                        let href = format!("{}/messages/{number}", session_path(session.id));
                        view! {
                            <a class="revised" href=href rel="external" title=text.revised_means>
                                {text.revised}
                            </a>
                        }
                    })}
                <When id=session.id message=message.clone() />
            </header>
            <div class="message-body">{said(&message.role, blocks)} {cut}</div>
        </article>
    }
    .into_any()
}

/// When it was said, or else which one it is; and the address of just this message.
#[component]
fn When(id: MemoryId, message: MessagePart) -> impl IntoView {
    let text = &i18n::messages().on_server.sessions.transcript;
    let number = message.number;
    let name = (text.message)(number);
    let shown = match message.at {
        Some(at) => {
            let clock = at.to_zoned_datetime(time_zone()).strftime("%H:%M").to_string();
            let title = format!("{name} · {}", exact(at));
            // Not `time`: those are told anew as how long ago they were.
            Either::Left(view! { <span title=title>{clock}</span> })
        }
        None => Either::Right(view! { <span title=name.clone()>{format!("#{number}")}</span> }),
    };
    view! {
        <a class="when" href=message_path(id, number) rel="external">
            {shown}
        </a>
    }
}

/// What someone of this role says.
pub(crate) fn said(role: &str, blocks: Vec<Block>) -> AnyView {
    let text = &i18n::messages().on_server.sessions.blocks;
    let (speaker, _) = speaker(role, None);
    if blocks.is_empty() {
        return view! { <p class="quiet">{text.nothing}</p> }.into_any();
    }
    blocks
        .into_iter()
        .map(|said| match (speaker, said) {
            // What the system says is long and rarely wanted.
            ("system", Block::Text(content)) => {
                let hint = beginning(&content);
                fold(text.instructions, None, hint, false, markdown_of(&content))
            }
            (_, said) => block(said),
        })
        .collect_view()
        .into_any()
}

fn block(block: Block) -> AnyView {
    let text = &i18n::messages().on_server.sessions.blocks;
    match block {
        Block::Text(content) => markdown_of(&content),
        Block::Refusal(content) => view! {
            <p class="refusal">
                <span class="fold-name">{text.refusal}</span>
                " "
                {content}
            </p>
        }
        .into_any(),
        Block::Thinking(content) => fold(text.thinking, None, beginning(&content), false, markdown_of(&content)),
        Block::HiddenThinking => view! { <p class="quiet">{text.hidden_thinking}</p> }.into_any(),
        Block::Code(content) => code(content),
        Block::Call { name, input, .. } => {
            let hint = beginning(&input);
            fold(text.call, Some(name), hint, false, code(input))
        }
        Block::Result { name, failed, content, .. } => {
            let hint = content.iter().find_map(|block| match block {
                Block::Code(code) => Some(beginning(code)),
                _ => None,
            });
            let content = if content.is_empty() {
                view! { <p class="quiet">{text.nothing}</p> }.into_any()
            } else {
                content.into_iter().map(self::block).collect_view().into_any()
            };
            fold(text.result, name, hint.unwrap_or_default(), failed, content)
        }
        Block::Attachment(attachment) => attached(attachment),
        Block::Unknown { kind, json } => {
            let kind = kind.map(|kind| harmless(&kind)).filter(|kind| !kind.is_empty());
            let hint = beginning(&json);
            view! { <Fold name=(text.unknown)(kind.as_deref()) hint>{code(json)}</Fold> }.into_any()
        }
    }
}

fn fold(name: &'static str, tool: Option<String>, hint: String, failed: bool, content: AnyView) -> AnyView {
    let tool = tool.map(|tool| harmless(&tool)).filter(|tool| !tool.is_empty());
    view! {
        <Fold name=name.to_owned() tool hint failed>
            {content}
        </Fold>
    }
    .into_any()
}

/// What is there for whoever wants to know: a line, and under it the rest.
#[component]
fn Fold(
    name: String,
    /// The name of a tool.
    #[prop(optional_no_strip)]
    tool: Option<String>,
    /// How it begins.
    hint: String,
    /// Whether it tells of a failure.
    #[prop(optional)]
    failed: bool,
    children: Children,
) -> impl IntoView {
    let text = &i18n::messages().on_server.sessions.blocks;
    view! {
        <details class="fold">
            <summary>
                <span class="fold-name">{name}</span>
                {tool.map(|tool| view! { <code>{tool}</code> })}
                {failed.then(|| view! { <span class="failed">{text.failed}</span> })}
                <span class="fold-hint">{hint}</span>
            </summary>
            <div class="fold-body">{children()}</div>
        </details>
    }
    .into_any()
}

/// Text with what Markdown has, and nothing else.
fn markdown_of(content: &str) -> AnyView {
    // Long lines of code scroll, and a keyboard can only scroll what it can reach. No other `pre` or `table` gets
    // there: what the text itself says of them is escaped.
    let label = i18n::messages().on_server.sessions.blocks.code;
    let html = markdown::to_html(content)
        .replace("<pre>", &format!("<pre tabindex=\"0\" role=\"group\" aria-label=\"{label}\">"))
        .replace("<table>", "<div class=\"wide\" tabindex=\"0\"><table>")
        .replace("</table>", "</table></div>");
    view! { <div class="memory-text" dir="auto" inner_html=html></div> }.into_any()
}

fn code(content: String) -> AnyView {
    if content.trim().is_empty() {
        return view! { <p class="quiet">{i18n::messages().on_server.sessions.blocks.nothing}</p> }.into_any();
    }
    let label = i18n::messages().on_server.sessions.blocks.code;
    view! {
        <pre tabindex="0" role="group" aria-label=label>
            <code>{content}</code>
        </pre>
    }
    .into_any()
}

/// Something that was attached, by name. Nothing of it is loaded.
fn attached(attachment: Attachment) -> AnyView {
    let text = &i18n::messages().on_server.sessions.blocks;
    let Attachment { kind, name, media_type, bytes, url, text: content } = attachment;
    let kind = match kind {
        AttachmentKind::Image => text.image,
        AttachmentKind::Sound => text.sound,
        AttachmentKind::Video => text.video,
        AttachmentKind::File => text.file,
    };
    let name = name.map(|name| harmless(&name)).filter(|name| !name.is_empty());
    let media_type = media_type.map(|media_type| harmless(&media_type)).filter(|media_type| !media_type.is_empty());
    if let Some(content) = content {
        let title = name.map_or_else(|| kind.to_owned(), |name| format!("{kind} {name}"));
        let hint = beginning(&content);
        return view! { <Fold name=title hint>{code(content)}</Fold> }.into_any();
    }
    let way = match url {
        Some(url) => Either::Left(view! { <a href=url rel="external noopener noreferrer nofollow">{text.open}</a> }),
        None => Either::Right(view! { <span>{text.not_kept}</span> }),
    };
    view! {
        <p class="attachment">
            <span class="fold-name">{kind}</span>
            {name.map(|name| view! { <Foreign text=name /> })}
            {media_type.map(|media_type| view! { <span>{media_type}</span> })}
            {bytes.map(|bytes| view! { <span>{i18n::size(bytes)}</span> })}
            {way}
        </p>
    }
    .into_any()
}

/// The most characters of a beginning.
const BEGINNING: usize = 120;

/// How a text begins, in one line.
fn beginning(text: &str) -> String {
    // Of what is long, more than enough for a line that may begin with spaces.
    let start: String = text.chars().take(4 * BEGINNING).collect();
    harmless(&start).chars().take(BEGINNING).collect()
}
