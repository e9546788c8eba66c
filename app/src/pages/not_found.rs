use leptos::prelude::*;
use leptos_meta::Title;

#[cfg(feature = "ssr")]
use crate::components::answer_not_found;
use crate::i18n;

/// The page for an address that leads nowhere. It answers with the status 404.
#[component]
pub(crate) fn NotFound() -> impl IntoView {
    #[cfg(feature = "ssr")]
    answer_not_found();
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
