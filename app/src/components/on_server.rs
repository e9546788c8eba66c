//! Parts of pages that the server makes and the browser leaves as they came.
//!
//! Texts and plain forms need nothing of the browser that it has not got anyway, so their code
//! stays out of the wasm, which would be twice as large with it. What little there is to bring to
//! life in them is done for all of them at once, see [`enliven`](mod@super::enliven).

use leptos::prelude::*;

/// Makes a part of a page on the server. In its place the browser has `OnServer`.
///
/// What the part loads is not sent to the browser a second time as data.
#[cfg(feature = "ssr")]
pub(crate) fn on_server(part: fn() -> AnyView) -> impl IntoView {
    let part = Owner::with_no_hydration(part);
    view! { <div class="on-server">{part}</div> }
}

/// What the browser has of a whole page of this kind: [`OnServer`], and the title that came with it.
#[cfg(not(feature = "ssr"))]
#[component]
pub(crate) fn PageOnServer() -> impl IntoView {
    view! {
        <leptos_meta::Title text=title_of_page() />
        <OnServer />
    }
}

/// The title that came with the page.
#[cfg(not(feature = "ssr"))]
#[derive(Clone)]
struct CameWith(String);

/// The title that came with the page.
#[cfg(not(feature = "ssr"))]
pub(crate) fn title_of_page() -> String {
    use_context::<CameWith>().map(|CameWith(title)| title).unwrap_or_default()
}

/// Keeps in mind the title that came with the page, before the app sets one.
#[cfg(not(feature = "ssr"))]
pub(crate) fn keep_title() {
    let title = document().title();
    let title = title.strip_suffix(crate::app::TITLE_END).unwrap_or(&title).to_owned();
    provide_context(CameWith(title));
}

/// What the browser has of such a part: a place that it does not look into. Where the part did not
/// come with the page, because a link to it was followed within the app, the page is loaded.
#[cfg(not(feature = "ssr"))]
#[component]
pub(crate) fn OnServer() -> impl IntoView {
    let came_with_page = Owner::current_shared_context().is_some_and(|context| context.during_hydration());
    if !came_with_page {
        Effect::new(move |_| {
            // A page that can't be loaded tells so itself.
            let _ = window().location().reload();
        });
    }
    view! { <div class="on-server" inner_html=""></div> }
}
