use leptos::prelude::*;
use polymnemo_types::Memory;

use super::beside::link_with_list;
use crate::i18n;

/// The head of everything that stands beside the list: the way back, which memory it is about, and
/// what can be done with it.
#[component]
pub(crate) fn MemoryHeader(memory: Memory, #[prop(optional)] children: Option<Children>) -> impl IntoView {
    let text = &i18n::messages().on_server.memory;
    let title = (text.heading)(&memory.namespace, memory.revision);
    view! {
        <header>
            <BackToList />
            <h2 class="where" id="detail-title">
                {title}
            </h2>
            <div class="buttons">{children.map(|children| children())}</div>
        </header>
    }
}

/// The way back to the list, as it was.
#[component]
pub(crate) fn BackToList() -> impl IntoView {
    let text = &i18n::messages().on_server.memory;
    view! {
        <a
            class="button-quiet back"
            href=link_with_list("/memories")
            data-list
            data-key="Escape"
            aria-label=text.back
            title=text.back
        >
            "←"
        </a>
    }
}
