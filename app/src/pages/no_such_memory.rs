use leptos::prelude::*;
use leptos_meta::Title;

use super::memory_header::BackToList;
use crate::{components::answer_not_found, i18n};

/// Stands where a memory was to be read and there is none of this id, or it is someone else's: the
/// two look the same.
#[component]
pub(crate) fn NoSuchMemory() -> impl IntoView {
    answer_not_found();
    let text = &i18n::messages().on_server.memory;
    view! {
        <Title text=text.none_title />
        <article class="detail" tabindex="-1" aria-labelledby="detail-title">
            <header>
                <BackToList />
                <h2 class="where" id="detail-title">
                    {text.none_title}
                </h2>
            </header>
            <p>{text.none_text}</p>
            <p class="buttons">
                <a class="button-plain" href="/memories">
                    {text.all_memories}
                </a>
                <a class="button-plain" href="/trash" rel="external">
                    {text.open_trash}
                </a>
            </p>
        </article>
    }
}
