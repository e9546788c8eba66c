//! What stands beside the list of memories: a memory, the form for one, or its history.
//!
//! The server makes it, and the browser has no code for what is in it. Where a link leads to
//! another such part while the page is alive, the part is fetched and put in place; a form in it is
//! sent to its server function without leaving the page. Whatever comes of it that the browser
//! can't show by itself (an error beside its field, a conflict) is left to the way without a script.

#[cfg(not(feature = "ssr"))]
mod browser;

#[cfg(not(feature = "ssr"))]
pub(crate) use browser::Beside;
#[cfg(feature = "ssr")]
pub(crate) use server::{Beside, link_with_list, links, list_selection};

/// The header by which the browser asks for what stands beside the list alone.
pub(crate) const ALONE: &str = "x-beside-alone";

#[cfg(feature = "ssr")]
mod server {
    use leptos::prelude::*;
    use leptos_router::hooks::{use_location, use_query_map};

    use super::ALONE;
    use crate::{
        api::memories::Selection,
        components::on_server,
        pages::{
            edit_memory::EditMemory, memory::MemoryDetail, memory_history::MemoryHistory, new_memory::NewMemory,
            no_such_memory::NoSuchMemory,
        },
    };

    /// What the path says.
    #[component]
    pub(crate) fn Beside() -> impl IntoView {
        on_server(|| view! { <Part /> }.into_any())
    }

    #[component]
    fn Part() -> impl IntoView {
        let path = use_location().pathname.get_untracked();
        let parts: Vec<&str> = path.trim_matches('/').split('/').skip(1).collect();
        let id = parts.first().and_then(|id| id.parse().ok());
        match (parts.as_slice(), id) {
            ([], _) => ().into_any(),
            (["new"], _) => view! { <NewMemory /> }.into_any(),
            ([_], Some(id)) => view! { <MemoryDetail id /> }.into_any(),
            ([_, "edit"], Some(id)) => view! { <EditMemory id /> }.into_any(),
            ([_, "history"], Some(id)) => view! { <MemoryHistory id /> }.into_any(),
            _ => view! { <NoSuchMemory /> }.into_any(),
        }
    }

    /// Whether the browser asks for nothing else. Such an answer is never kept: it is no page.
    pub(crate) fn is_asked_for_alone() -> bool {
        let alone = use_context::<http::request::Parts>().is_some_and(|parts| parts.headers.contains_key(ALONE));
        if alone && let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
            response.insert_header(http::header::CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
        }
        alone
    }

    /// What the list shows.
    pub(crate) fn list_selection() -> Selection {
        use_query_map().with_untracked(Selection::of_query)
    }

    /// A link that keeps the list as it is; on a living page that may have changed meanwhile, which
    /// `data-list` tells.
    pub(crate) fn link_with_list(path: &str) -> String {
        list_selection().at(path)
    }

    /// The same with one more parameter.
    pub(crate) fn links(path: &str, name: &str, value: &str) -> String {
        let query = list_selection().to_string();
        let mark = if query.is_empty() { "?" } else { "&" };
        format!("{path}{query}{mark}{name}={value}")
    }
}

#[cfg(feature = "ssr")]
pub(crate) use server::is_asked_for_alone;
