use leptos::{prelude::*, server_fn::ServerFn};
use leptos_meta::Title;

use super::{
    beside::{link_with_list, list_selection},
    memory_fields::{MemoryFields, MemoryValues},
    memory_header::BackToList,
};
use crate::{
    api::changes::Remember,
    components::{LiveForm, Sending},
    i18n,
};

/// Writes a new memory.
#[component]
pub(crate) fn NewMemory() -> impl IntoView {
    let text = &i18n::messages().on_server.edit;
    let sending = Sending::to(&[Remember::PATH]);
    // Whoever looks at a namespace or a label writes for it.
    let list = list_selection();
    let values = MemoryValues { namespace: list.namespace, tags: list.tag, ..MemoryValues::default() };
    view! {
        <Title text=text.new_title />
        <article class="detail" tabindex="-1" aria-labelledby="detail-title">
            <header>
                <BackToList />
                <h2 class="where" id="detail-title">
                    {text.new_title}
                </h2>
            </header>
            <LiveForm class="form" sending call=Remember::PATH>
                <MemoryFields values sending draft="new" />
                <div class="buttons">
                    <button class="button-main">{text.remember}</button>
                    <a class="button-plain" href=link_with_list("/memories") data-list>
                        {text.cancel}
                    </a>
                </div>
            </LiveForm>
        </article>
    }
}
