use jiff::{SignedDuration, Timestamp};
use leptos::{either::EitherOf3, prelude::*, server_fn::ServerFn};
use leptos_router::hooks::use_query_map;
use polymnemo_types::{Memory, Page as ListPage, limits};

use crate::{
    api::{
        WebError,
        changes::{EraseMemories, RestoreMemories},
        erase::erase_link,
        memories::{find_forgotten, preview},
    },
    components::{LiveForm, Now, Pager, Sending, TextPage, Time, Trouble, on_server, use_here},
    i18n,
};

/// What was forgotten and can still be brought back.
#[component]
pub(crate) fn Trash() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let text = &i18n::messages().on_server.trash;
    let query = use_query_map();
    let cursor = Memo::new(move |_| query.with(|query| query.get("cursor").filter(|cursor| !cursor.is_empty())));
    let page = Resource::new(move || cursor.get(), find_forgotten);
    view! {
        <TextPage title=text.title lead=text.lead>
            <Suspense>
                {move || Suspend::new(async move {
                    match page.await {
                        Ok(found) if found.items.is_empty() && cursor.get_untracked().is_none() => {
                            EitherOf3::A(view! {
                                <section class="empty">
                                    <h2>{text.empty}</h2>
                                    <p>{text.empty_text}</p>
                                </section>
                            })
                        }
                        Ok(found) => EitherOf3::B(view! { <Forgotten found /> }),
                        Err(WebError(error)) => EitherOf3::C(view! { <Trouble error /> }),
                    }
                })}
            </Suspense>
        </TextPage>
    }
}

#[component]
fn Forgotten(found: ListPage<Memory>) -> impl IntoView {
    let text = &i18n::messages().on_server.trash;
    let sending = Sending::to(&[RestoreMemories::PATH, EraseMemories::PATH]);
    let rows = found.items.into_iter().map(|memory| view! { <TrashRow memory sending /> });
    view! {
        <section aria-labelledby="in-trash">
            <h2 class="list-summary" id="in-trash">
                {(text.count)(found.total)}
            </h2>
            {sending
                .error()
                .map(|error| view! { <p class="note is-bad" role="alert">{i18n::explain(&error, Some(text.refused))}</p> })}
            <ol class="memory-list in-trash">{rows.collect_view()}</ol>
            <Pager page="/trash" next=found.next_cursor />
        </section>
    }
}

#[component]
fn TrashRow(memory: Memory, sending: Sending) -> impl IntoView {
    let text = &i18n::messages().on_server.trash;
    let id = memory.id;
    let title_id = StoredValue::new(format!("forgotten-{id}"));
    let title_id = move || title_id.get_value();
    let here = Signal::derive(use_here());
    let title = preview(&memory);
    let tags = memory.tags.into_iter().map(|tag| view! { <span class="tag">{tag}</span> });
    let gone_at = memory.forgotten_at.and_then(|at| at.checked_add(trash_time()).ok());
    view! {
        <li class="memory-row">
            <h3 id=title_id()>{title}</h3>
            <p class="meta">
                <span class="namespace">{memory.namespace}</span>
                {tags.collect_view()}
                {memory.client.or(memory.source).map(|from| view! { <span>{from}</span> })}
                {memory.forgotten_at.map(|at| view! { <Time at /> })}
            </p>
            <div class="row-actions">
                {gone_at.map(|at| view! { <span class="quiet">{(text.gone)(&remaining(at))}</span> })}
                <LiveForm sending call=RestoreMemories::PATH then=here>
                    <input type="hidden" name="ids[]" value=id.to_string() />
                    <button class="button-plain" aria-describedby=title_id()>{text.restore}</button>
                </LiveForm>
                <a class="button-quiet" href=erase_link(id) rel="external" aria-describedby=title_id()>
                    {i18n::messages().on_server.erase.for_good}
                </a>
                <details class="confirm">
                    <summary class="button-quiet" aria-describedby=title_id()>{text.erase}</summary>
                    <div class="confirm-box">
                        <p>{text.erase_means}</p>
                        <LiveForm sending call=EraseMemories::PATH then=here>
                            <input type="hidden" name="ids[]" value=id.to_string() />
                            <button class="button-danger" aria-describedby=title_id()>{text.erase_now}</button>
                        </LiveForm>
                    </div>
                </details>
            </div>
        </li>
    }
}

/// How long it takes until something is gone, in words.
fn remaining(at: Timestamp) -> String {
    i18n::since(Now::seconds_once() - at.as_second())
}

/// How long the trash keeps what is in it.
fn trash_time() -> SignedDuration {
    SignedDuration::from_hours(24 * i64::from(limits::TRASH_DAYS))
}
