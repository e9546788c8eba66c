use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::i18n;

/// The way from one page of a list to the next, and back to the first one; nothing where the list
/// has one page. Its links are the browser's to follow: the lists are made on the server.
#[component]
pub(crate) fn Pager(
    /// The path of the list, with what of its query goes on. The place in it is the query's `cursor`.
    #[prop(into)]
    page: String,
    /// The cursor of the next page.
    next: Option<String>,
) -> impl IntoView {
    let text = &i18n::messages().on_server.pager;
    let is_first = use_query_map().with_untracked(|query| query.get_str("cursor").is_none());
    // A cursor is made of what a URL may hold.
    let next = next.map(|cursor| format!("{page}{}cursor={cursor}", if page.contains('?') { '&' } else { '?' }));
    (next.is_some() || !is_first).then(|| {
        view! {
            <nav class="pager" aria-label=text.label>
                {(!is_first).then(|| view! { <a href=page rel="external">{text.first}</a> })}
                {next.map(|next| view! { <a href=next rel="external next">{text.next}</a> })}
            </nav>
        }
    })
}
