use leptos::{prelude::*, server_fn::ServerFn};
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;
use polymnemo_types::{MemoryId, MessagePlace};

use super::{
    beside::{link_with_list, list_selection},
    memory_fields::{MemoryFields, MemoryValues},
    memory_header::BackToList,
};
use crate::{
    api::{
        WebError,
        changes::Remember,
        sessions::{WordsToRemember, message_path, message_words},
    },
    components::{Foreign, LiveForm, Sending, Trouble, harmless},
    i18n,
};

/// Writes a new memory: `/memories/new`; with `?session=…&message=57`, of what was said there.
#[component]
pub(crate) fn NewMemory() -> impl IntoView {
    let text = &i18n::messages().on_server.edit;
    let form = match use_query_map().with_untracked(taken_from) {
        Some(place) => view! { <FromMessage place /> }.into_any(),
        None => {
            // Whoever looks at a namespace or a label writes for it.
            let list = list_selection();
            let values = MemoryValues { namespace: list.namespace, tags: list.tag, ..MemoryValues::default() };
            view! { <NewForm values /> }.into_any()
        }
    };
    view! {
        <Title text=text.new_title />
        <article class="detail" tabindex="-1" aria-labelledby="detail-title">
            <header>
                <BackToList />
                <h2 class="where" id="detail-title">
                    {text.new_title}
                </h2>
            </header>
            {form}
        </article>
    }
}

/// The message that the query names.
fn taken_from(query: &leptos_router::params::ParamsMap) -> Option<MessagePlace> {
    let session: MemoryId = query.get_str("session")?.parse().ok()?;
    let number = query.get_str("message")?.parse().ok()?;
    Some(MessagePlace { session, number })
}

/// The form, filled in with what a message says.
#[component]
fn FromMessage(place: MessagePlace) -> impl IntoView {
    let message = Resource::new(|| (), move |()| message_words(place.session, place.number));
    view! {
        <Suspense>
            {move || Suspend::new(async move {
                match message.await {
                    Ok(message) => {
                        let WordsToRemember { words, title, namespace } = message;
                        let values = MemoryValues {
                            content: words,
                            namespace: namespace.unwrap_or_default(),
                            source: harmless(&title),
                            ..MemoryValues::default()
                        };
                        view! { <NewForm values from=(place, title) /> }.into_any()
                    }
                    Err(WebError(error)) => view! { <Trouble error /> }.into_any(),
                }
            })}
        </Suspense>
    }
}

#[component]
fn NewForm(
    values: MemoryValues,
    /// The message that it is taken from, and the title of its session.
    #[prop(optional)]
    from: Option<(MessagePlace, String)>,
) -> impl IntoView {
    let text = &i18n::messages().on_server.edit;
    let sending = Sending::to(&[Remember::PATH]);
    let (draft, restored) = match &from {
        Some((place, _)) => {
            (format!("passage:{}:{}", place.session, place.number), [text.passage_restored, text.passage_discard])
        }
        None => ("new".to_owned(), [text.draft_restored, text.draft_discard]),
    };
    let back = from.as_ref().map(|(place, _)| message_path(place.session, place.number));
    let from = from.map(|(place, title)| {
        let [message, of] = text.taken_from;
        let href = message_path(place.session, place.number);
        view! {
            <p class="note">
                <a href=href rel="external">
                    {format!("{message} {}", i18n::grouped(place.number.into()))}
                </a>
                " "
                {of}
                " "
                <Foreign text=title />
            </p>
            <input type="hidden" name="session" value=place.session.to_string() />
            <input type="hidden" name="message" value=place.number.to_string() />
        }
    });
    let cancel = match back {
        Some(back) => view! { <a class="button-plain" href=back rel="external">{text.cancel}</a> }.into_any(),
        None => {
            view! { <a class="button-plain" href=link_with_list("/memories") data-list>{text.cancel}</a> }.into_any()
        }
    };
    view! {
        <LiveForm class="form" sending call=Remember::PATH>
            {from}
            <MemoryFields values sending draft restored />
            <div class="buttons">
                <button class="button-main">{text.remember}</button>
                {cancel}
            </div>
        </LiveForm>
    }
}
