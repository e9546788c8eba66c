use futures::future::{AbortHandle, abortable};
use leptos::{
    either::{Either, EitherOf3},
    html::Section,
    prelude::*,
};
use leptos_meta::Title;
use leptos_router::{
    components::Outlet,
    hooks::{use_location, use_query_map},
};
use polymnemo_types::ApiError;

use super::Beside;
use crate::{
    api::{
        WebError,
        memories::{Found, Row, Selection, find_memories},
    },
    components::{BulkBar, Changes, MemoryRow, SearchBar, Trouble},
    i18n,
};

/// What the list of memories shows: the query of the URL.
pub(crate) fn selection() -> Memo<Selection> {
    let query = use_query_map();
    Memo::new(move |_| query.with(Selection::of_query))
}

/// The list of memories, and beside it (on narrow screens: in its place) the memory that is open.
#[component]
pub(crate) fn Memories() -> impl IntoView {
    #[cfg(feature = "ssr")]
    if super::is_asked_for_alone() {
        return view! { <Beside /> }.into_any();
    }
    let text = &i18n::messages().memories;
    let selection = selection();
    let path = use_location().pathname;
    let has_detail = Memo::new(move |_| path.with(|path| path.trim_end_matches('/') != "/memories"));
    let open = Memo::new(move |_| path.with(|path| path.split('/').nth(2).map(str::to_owned)));
    let first = Resource::new(|| (), move |()| find_memories(selection.get_untracked()));
    let pane = NodeRef::<Section>::new();
    keep_scroll_place(has_detail);

    view! {
        <Title text=text.title />
        <h1 class="visually-hidden">{text.title}</h1>
        <div class="split" class:has-detail=has_detail>
            <section class="list-pane" aria-label=text.list node_ref=pane>
                <SearchBar selection />
                <Suspense fallback=|| view! { <div class="memory-list" aria-busy="true"></div> }>
                    {move || Suspend::new(async move {
                        let first = first.await;
                        view! { <List first selection open pane /> }
                    })}
                </Suspense>
                <BulkBar here=Signal::derive(move || selection.with(|selection| selection.at(&path.get()))) />
            </section>
            <Beside />
            // Nothing is in it, see `BelowMemories`; but the router waits for what it shows.
            <Outlet />
        </div>
    }
    .into_any()
}

/// The routes below the list differ in what stands beside it, see [`beside`](super::beside); the
/// list itself stays.
#[component]
pub(crate) fn BelowMemories() -> impl IntoView {}

/// The rows of the list. Once the page is alive, they follow the URL and what is changed here.
#[component]
fn List(
    first: Result<Found, WebError>,
    selection: Memo<Selection>,
    open: Memo<Option<String>>,
    pane: NodeRef<Section>,
) -> impl IntoView {
    let (first, failed) = match first {
        Ok(found) => (found, None),
        Err(WebError(error)) => (Found::default(), Some(error)),
    };
    // The rows with the selection that they are of: while others are on their way, these stay.
    let shown = RwSignal::new((selection.get_untracked(), first));
    let error = RwSignal::new(failed);
    let busy = RwSignal::new(false);
    follow(selection, shown, error, busy, pane);

    let key = |(row, query): &(Row, String)| (row.id.clone(), row.revision, query.clone());
    let rows =
        move || shown.with(|(of, found)| found.rows.iter().map(|row| (row.clone(), of.q.clone())).collect::<Vec<_>>());
    let below = move || shown.with_untracked(|(_, found)| found.below_threshold);
    view! {
        {move || error.get().map(|error| view! { <Trouble error /> })}
        <Summary shown error />
        <ol class="memory-list" aria-busy=move || busy.get().then_some("true")>
            <For each=rows key=key children=move |(row, _)| view! { <MemoryRow row selection open below_threshold=below() /> } />
        </ol>
        <Pager shown />
    }
}

/// Fetches what the URL selects whenever it changes, and when something was changed on this page. A
/// request that is not needed any more is aborted.
fn follow(
    selection: Memo<Selection>,
    shown: RwSignal<(Selection, Found)>,
    error: RwSignal<Option<ApiError>>,
    busy: RwSignal<bool>,
    pane: NodeRef<Section>,
) {
    let running = StoredValue::new(None::<AbortHandle>);
    let stop = move || {
        if let Some(request) = running.try_update_value(Option::take).flatten() {
            request.abort();
        }
    };
    on_cleanup(stop);
    Effect::new(move |before: Option<(Selection, u32)>| {
        let now = (selection.get(), Changes::track());
        let Some((before, _)) = before.filter(|before| *before != now) else { return now };
        stop();
        let wanted = now.0.clone();
        let (request, handle) = abortable(find_memories(wanted.clone()));
        running.set_value(Some(handle));
        busy.set(true);
        leptos::task::spawn_local(async move {
            let Ok(answer) = request.await else { return };
            busy.try_set(false);
            match answer {
                Ok(found) => {
                    let focus = focus::of_rows();
                    error.try_set(None);
                    shown.try_set((wanted.clone(), found));
                    if before == wanted {
                        focus::keep(focus);
                    } else if let Some(Some(pane)) = pane.try_get_untracked() {
                        pane.set_scroll_top(0);
                    }
                }
                Err(WebError(failed)) => {
                    error.try_set(Some(failed));
                }
            }
        });
        now
    });
}

/// How much was found; and where nothing was, what to do.
#[component]
fn Summary(shown: RwSignal<(Selection, Found)>, error: RwSignal<Option<ApiError>>) -> impl IntoView {
    let text = &i18n::messages().memories;
    let said = move || {
        shown.with(|(selection, found)| {
            let count = found.rows.len() as u64;
            match found.total {
                _ if error.with(Option::is_some) => String::new(),
                Some(total) => (text.count)(total),
                None if found.next_cursor.is_some() || !selection.cursor.is_empty() => (text.best_hits)(count),
                None => (text.hits)(count, found.below_threshold.into()),
            }
        })
    };
    let pending = move || {
        let pending = shown.with(|(_, found)| found.pending);
        (pending > 0).then(|| view! { <span>{(text.pending)(pending.into())}</span> })
    };
    let nothing = move || shown.with(|(_, found)| found.rows.is_empty()) && error.with(Option::is_none);
    let nothing = Memo::new(move |_| nothing());
    view! {
        <h2 class="visually-hidden">{text.list}</h2>
        <p class="list-summary" role="status">
            <span>{said}</span>
            {pending}
        </p>
        {move || {
            nothing
                .get()
                .then(|| {
                    let (searched, narrowed, below) = shown
                        .with(|(selection, found)| (
                            selection.is_search(),
                            selection.is_narrowed() || !selection.cursor.is_empty(),
                            found.below_threshold,
                        ));
                    view! { <Nothing searched narrowed below /> }
                })
        }}
    }
}

/// An empty list says why it is empty and what to do.
#[component]
fn Nothing(searched: bool, narrowed: bool, below: u32) -> impl IntoView {
    let text = &i18n::messages().memories;
    if searched {
        EitherOf3::A(view! {
            <section class="empty">
                <h3>{text.no_hits}</h3>
                <p>{(text.no_hits_text)(below.into())}</p>
                <a class="button-plain" href="/memories">{text.show_all}</a>
            </section>
        })
    } else if narrowed {
        EitherOf3::B(view! {
            <section class="empty">
                <h3>{text.none_selected}</h3>
                <p>{text.none_selected_text}</p>
                <a class="button-plain" href="/memories">{text.show_all}</a>
            </section>
        })
    } else {
        EitherOf3::C(view! {
            <section class="empty">
                <h3>{text.empty}</h3>
                <p>{text.empty_text}</p>
                <blockquote>{text.empty_example}</blockquote>
                <p class="buttons">
                    <a class="button-main" href="/connect">{text.empty_connect}</a>
                    <a class="button-plain" href="/memories/new">{text.empty_write}</a>
                </p>
            </section>
        })
    }
}

/// The ways to the other pages of the list.
#[component]
fn Pager(shown: RwSignal<(Selection, Found)>) -> impl IntoView {
    let text = &i18n::messages().memories;
    let path = use_location().pathname;
    let links = move || {
        shown.with(|(selection, found)| {
            let newest = (!selection.cursor.is_empty()).then(|| selection.first_page());
            let older = found.next_cursor.clone().map(|cursor| selection.page(cursor));
            (newest, older)
        })
    };
    let link = move |selection: Selection, name| view! { <a class="button-plain" href=move || selection.at(&path.get())>{name}</a> };
    move || {
        let (newest, older) = links();
        let is_search = shown.with(|(selection, _)| selection.is_search());
        let names = if is_search { text.pages_of_hits } else { text.pages };
        match (newest, older) {
            (None, None) => Either::Left(()),
            (newest, older) => Either::Right(view! {
                <nav class="pager" aria-label=text.pager>
                    {newest.map(|selection| link(selection, names.0))}
                    {older.map(|selection| link(selection, names.1))}
                </nav>
            }),
        }
    }
}

/// On narrow screens the open memory takes the place of the list. Whoever comes back finds the list
/// where they left it.
fn keep_scroll_place(has_detail: Memo<bool>) {
    let place = StoredValue::new(0.0);
    Effect::new(move |_| {
        let listener = window_event_listener(leptos::ev::scroll, move |_| {
            if !has_detail.get_untracked() {
                place.set_value(window().scroll_y().unwrap_or_default());
            }
        });
        on_cleanup(move || listener.remove());
    });
    Effect::new(move |before: Option<bool>| {
        let has_detail = has_detail.get();
        if before == Some(true) && !has_detail {
            // The router scrolls to the top when it has changed the page: then is the time to go back.
            let place = place.get_value();
            request_animation_frame(move || window().scroll_to_with_x_and_y(0.0, place));
        }
        has_detail
    });
}

/// Where the focus goes when the row that has it is gone: to the one that takes its place.
mod focus {
    /// The place of the row that has the focus.
    #[cfg(feature = "hydrate")]
    pub(super) fn of_rows() -> Option<u32> {
        let focused = leptos::prelude::document().active_element()?;
        let rows = leptos::prelude::document().query_selector_all(".memory-row").ok()?;
        (0..rows.length()).find(|&index| rows.item(index).is_some_and(|row| row.contains(Some(&focused))))
    }

    #[cfg(not(feature = "hydrate"))]
    pub(super) fn of_rows() -> Option<u32> {
        None
    }

    /// Gives the focus to the row at this place, unless it is somewhere already.
    #[cfg(feature = "hydrate")]
    pub(super) fn keep(place: Option<u32>) {
        use leptos::{prelude::document, wasm_bindgen::JsCast as _};

        let Some(place) = place else { return };
        leptos::prelude::request_animation_frame(move || {
            let lost = document().active_element().is_none_or(|focused| focused.tag_name() == "BODY");
            let Ok(links) = document().query_selector_all(".memory-row h3 a") else { return };
            let link = links.item(place.min(links.length().saturating_sub(1)));
            if let Some(link) = link.filter(|_| lost).and_then(|link| link.dyn_into::<web_sys::HtmlElement>().ok()) {
                let _ = link.focus();
            }
        });
    }

    #[cfg(not(feature = "hydrate"))]
    pub(super) fn keep(_place: Option<u32>) {}
}
