use leptos::prelude::*;
use leptos_router::{hooks::use_query_map, params::ParamsMap};

use crate::i18n;

/// The way from one page of a list to the next, and back to the first one; nothing where the list
/// has one page. Its links are the browser's to follow: the lists are made on the server.
#[component]
pub(crate) fn Pager(
    /// The path of the list. The place in it is its query's `cursor`.
    #[prop(into)]
    page: String,
    /// The cursor of the next page.
    next: Option<String>,
) -> impl IntoView {
    let text = &i18n::messages().on_server.pager;
    let is_first = use_query_map().with_untracked(|query| query.get_str("cursor").is_none());
    let next = next.map(|cursor| {
        let mut query = ParamsMap::new();
        query.insert("cursor", cursor);
        format!("{page}{}", query.to_query_string())
    });
    (next.is_some() || !is_first).then(|| {
        view! {
            <nav class="pager" aria-label=text.label>
                {(!is_first).then(|| view! { <a href=page rel="external">{text.first}</a> })}
                {next.map(|next| view! { <a href=next rel="external next">{text.next}</a> })}
            </nav>
        }
    })
}
