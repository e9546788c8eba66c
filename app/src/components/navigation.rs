use leptos::prelude::*;
use leptos_router::hooks::use_location;

use super::{
    Mark, OtherLanguage,
    app_frame::{COUNT_OF_FORGOTTEN, COUNT_OF_MEMORIES},
    on_server,
    your_data::{YOUR_DATA, is_below},
};
use crate::{
    api::{
        memories::{Counts, count_memories},
        sign_in::current_viewer,
    },
    i18n,
};

/// The pages, and who is signed in. Its links are the browser's to follow: the pages are made on
/// the server.
#[component]
pub(crate) fn Navigation() -> impl IntoView {
    on_server(|| view! { <Links /> }.into_any())
}

/// A number beside the name of a page.
struct Count {
    id: &'static str,
    pick: fn(&Counts) -> u64,
}

#[component]
fn Links() -> impl IntoView {
    let text = &i18n::messages().on_server.navigation;
    let counts = Resource::new(|| (), |()| count_memories());
    let path = use_location().pathname;
    let link = move |to: &'static str, name: &'static str, count: Option<Count>| {
        let pages = if to == YOUR_DATA[0] { &YOUR_DATA[..] } else { &[to][..] };
        let current = path.with(|path| pages.iter().any(|page| is_below(path, page))).then_some("page");
        let count = count.map(|Count { id, pick }| {
            view! {
                <Suspense>
                    {move || Suspend::new(async move {
                        let count = counts.await.ok().map(|counts| i18n::grouped(pick(&counts)));
                        view! { <span class="count" id=id>{count}</span> }
                    })}
                </Suspense>
            }
        });
        view! {
            <li>
                <a href=to rel="external" aria-current=current>
                    {name}
                    {count}
                </a>
            </li>
        }
        .into_any()
    };
    view! {
        <nav class="app-nav" aria-label=text.label>
            <a class="brand" href="/memories" rel="external" aria-label=text.home>
                <Mark />
                "polymnemo"
            </a>
            <ul>
                {link("/memories", text.memories, Some(Count { id: COUNT_OF_MEMORIES, pick: |counts| counts.memories }))}
                {link("/sessions", text.sessions, None)}
                {link("/media", text.media, None)}
                {link("/trash", text.trash, Some(Count { id: COUNT_OF_FORGOTTEN, pick: |counts| counts.forgotten }))}
                {link("/namespaces", text.namespaces, None)} {link("/apps", text.apps, None)}
                {link("/tokens", text.tokens, None)} {link("/connect", text.connect, None)}
                {link(YOUR_DATA[0], text.your_data, None)} {link("/settings", text.settings, None)}
            </ul>
            <Person />
        </nav>
    }
}

/// Who is signed in, and what they may want at any time.
#[component]
fn Person() -> impl IntoView {
    let text = &i18n::messages().on_server.navigation;
    let viewer = Resource::new(|| (), |()| current_viewer());
    view! {
        <div class="person">
            <Suspense>
                {move || Suspend::new(async move {
                    let name = viewer.await.ok().flatten().map(|viewer| viewer.name);
                    view! { <p class="name">{name}</p> }
                })}
            </Suspense>
            <OtherLanguage />
            <form method="post" action="/sign-out">
                <button class="button-quiet">{text.sign_out}</button>
            </form>
        </div>
    }
}
