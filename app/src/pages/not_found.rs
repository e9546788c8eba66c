use leptos::prelude::*;
use leptos_meta::Title;

use crate::i18n;

/// The page for an address that leads nowhere. It answers with the status 404.
#[component]
pub(crate) fn NotFound() -> impl IntoView {
    #[cfg(feature = "ssr")]
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(http::StatusCode::NOT_FOUND);
    }
    let text = &i18n::messages().not_found;

    view! {
        <Title text=text.title />
        <section class="notice">
            <p class="notice-code">"404"</p>
            <h1>{text.title}</h1>
            <p>{text.text}</p>
            <p>
                <a href="/">{text.home}</a>
            </p>
        </section>
    }
}
