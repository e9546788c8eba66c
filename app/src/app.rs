use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::{
    SsrMode,
    components::{Route, Router, Routes},
    path,
};

use crate::{
    components::Frame,
    i18n::Language,
    pages::{NotFound, Welcome},
};

/// The whole web app, from the skip link to the footer; the server renders it into the body of
/// its [`shell`](crate::shell), and the browser hydrates it there.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    provide_context(Language::of_page());

    view! {
        <Title formatter=|page: String| format!("{page} · polymnemo") />
        <Router>
            <Frame>
                <Routes fallback=NotFound>
                    <Route path=path!("/") view=Welcome ssr=SsrMode::Async />
                </Routes>
            </Frame>
        </Router>
    }
}
