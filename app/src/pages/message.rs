use leptos::{either::Either, prelude::*};
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;
use polymnemo_types::{ErrorCode, MemoryId};

use crate::{
    api::{
        WebError,
        sessions::{MessageState, StatesOfMessage, message_path, message_states},
    },
    components::{CodeBlock, Foreign, Missing, Trouble, harmless, on_server},
    i18n,
};

/// A message of a session with what it said before: `/sessions/{id}/messages/57`.
#[component]
pub(crate) fn MessageDetail() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let (id, number) = use_params_map().with_untracked(|params| {
        let id = params.get_str("id").and_then(|id| id.parse::<MemoryId>().ok());
        (id, params.get_str("number").and_then(|number| number.parse::<u32>().ok()))
    });
    let states = Resource::new(|| (), move |()| read(id.zip(number)));
    view! {
        <div class="page">
            <Suspense>
                {move || Suspend::new(async move {
                    match (states.await, id.zip(number)) {
                        (Ok(Some(states)), Some((id, number))) => view! { <States id number states /> }.into_any(),
                        (Err(WebError(error)), _) => view! { <Trouble error /> }.into_any(),
                        _ => view! { <NoSuchMessage /> }.into_any(),
                    }
                })}
            </Suspense>
        </div>
    }
    .into_any()
}

/// The message with its states; `None` where the caller can read none there.
async fn read(place: Option<(MemoryId, u32)>) -> Result<Option<StatesOfMessage>, WebError> {
    let Some((id, number)) = place else { return Ok(None) };
    match message_states(id, number).await {
        Err(WebError(error)) if error.code == ErrorCode::NotFound => Ok(None),
        states => states.map(Some),
    }
}

#[component]
fn States(id: MemoryId, number: u32, states: StatesOfMessage) -> impl IntoView {
    let text = &i18n::messages().on_server.sessions.transcript;
    let StatesOfMessage { title, states } = states;
    let name = (text.message)(number);
    let states = states.into_iter().enumerate().map(|(index, state)| {
        let MessageState { revision, text: content, markup } = state;
        let heading_id = format!("revision-{revision}");
        let labelled_by = heading_id.clone();
        let heading = if index == 0 { Either::Left(text.current) } else { Either::Right((text.revision)(revision)) };
        view! {
            <section aria-labelledby=labelled_by>
                <h2 id=heading_id>{heading}</h2>
                <div class="message-body" inner_html=markup.into_html()></div>
                <details class="fold">
                    <summary>
                        <span class="fold-name">{text.as_given}</span>
                    </summary>
                    <CodeBlock label=text.as_given text=content wraps=true />
                </details>
            </section>
        }
    });
    view! {
        <Title text=format!("{name} · {}", harmless(&title)) />
        <header>
            <p class="way-back">
                <a href=message_path(id, number) rel="external">
                    {text.to_message}
                </a>
            </p>
            <h1>{name}</h1>
            <p>
                <Foreign text=title />
            </p>
        </header>
        {states.collect_view()}
    }
    .into_any()
}

/// Stands where a message was to be read and there is none, or it is someone else's: the two look the same.
#[component]
fn NoSuchMessage() -> impl IntoView {
    let text = &i18n::messages().on_server.sessions.transcript;
    view! {
        <Missing title=text.no_message text=text.no_message_text />
        <p class="buttons">
            <a class="button-plain" href="/sessions" rel="external">
                {text.all_sessions}
            </a>
        </p>
    }
}
