use leptos::{prelude::*, server_fn::ServerFn};
use leptos_meta::Title;
use polymnemo_types::{ErrorCode, MemoryId};

use super::{
    beside::link_with_list,
    memory_fields::{MemoryFields, MemoryValues},
    memory_header::MemoryHeader,
    no_such_memory::NoSuchMemory,
};
use crate::{
    api::{
        WebError,
        changes::{UpdateMemory, memory_path},
        memories::{MemoryPage, get_memory},
    },
    components::{LiveForm, Sending, Time, Trouble, exact},
    i18n,
};

/// Changes a memory.
#[component]
pub(crate) fn EditMemory(id: MemoryId) -> impl IntoView {
    let text = &i18n::messages().on_server.edit;
    let page = Resource::new(|| (), move |()| get_memory(id, true));
    view! {
        <Title text=text.title />
        <Suspense>
            {move || Suspend::new(async move {
                match page.await {
                    Ok(page) if page.memory.own => view! { <EditForm page /> }.into_any(),
                    Ok(page) => {
                        view! {
                            <article class="detail" tabindex="-1" aria-labelledby="detail-title">
                                <MemoryHeader memory=page.memory />
                                <p class="note">{text.not_own}</p>
                            </article>
                        }
                            .into_any()
                    }
                    Err(WebError(error)) if error.code == ErrorCode::NotFound => view! { <NoSuchMemory /> }.into_any(),
                    Err(WebError(error)) => view! { <article class="detail"><Trouble error /></article> }.into_any(),
                }
            })}
        </Suspense>
    }
}

#[component]
fn EditForm(page: MemoryPage) -> impl IntoView {
    let text = &i18n::messages().on_server.edit;
    let sending = Sending::to(&[UpdateMemory::PATH]);
    let MemoryPage { memory, text: content, .. } = page.clone();
    let id = memory.id;
    let path = memory_path(id);
    // To the minute, in the form that such a field has.
    let occurred_at: String = exact(memory.occurred_at).replacen(' ', "T", 1).chars().take(16).collect();
    let occurred_at_typed = sending.typed("occurred_at").unwrap_or_else(|| occurred_at.clone());
    let values = MemoryValues {
        content,
        namespace: memory.namespace.clone(),
        tags: memory.tags.join(", "),
        source: memory.source.clone().unwrap_or_default(),
    };
    let conflict = sending.error().is_some_and(|error| error.code == ErrorCode::Conflict);

    view! {
        <article class="detail" tabindex="-1" aria-labelledby="detail-title">
            <MemoryHeader memory=memory.clone() />
            {conflict.then(|| view! { <Conflict page /> })}
            <LiveForm class="form" sending call=UpdateMemory::PATH then=link_with_list(&path)>
                <input type="hidden" name="id" value=id.to_string() />
                // After a conflict, what is saved next is meant for what the memory is by now.
                <input type="hidden" name="revision" value=memory.revision.to_string() />
                <MemoryFields values sending draft=id.to_string()>
                    <div class="field">
                        <label for="occurred_at">{text.occurred}</label>
                        <input
                            class="input"
                            type="datetime-local"
                            id="occurred_at"
                            name="occurred_at"
                            required
                            value=occurred_at_typed
                        />
                        <input type="hidden" name="occurred_at_shown" value=occurred_at />
                    </div>
                </MemoryFields>
                <div class="buttons">
                    <button class="button-main">{if conflict { text.save_over } else { text.save }}</button>
                    <a class="button-plain" href=link_with_list(&path) data-list>
                        {text.cancel}
                    </a>
                </div>
            </LiveForm>
        </article>
    }
}

/// Shows what the memory says by now, where that is not what the person began to edit. What they
/// typed stays in the form below.
#[component]
fn Conflict(page: MemoryPage) -> impl IntoView {
    let text = &i18n::messages().on_server.edit;
    let MemoryPage { memory, text: content, .. } = page;
    let tags = memory.tags.into_iter().map(|tag| view! { <span class="tag">{tag}</span> });
    view! {
        <section class="note is-bad" role="alert" aria-labelledby="conflict">
            <h3 id="conflict">{text.conflict}</h3>
            <p>{text.conflict_text}</p>
            <h4>{text.theirs}</h4>
            <p class="meta">
                <span class="namespace">{memory.namespace}</span>
                {tags.collect_view()}
                {memory.client.map(|client| view! { <span>{client}</span> })}
                <Time at=memory.updated_at />
            </p>
            <pre class="raw-text" tabindex="0" aria-label=text.theirs>
                {content}
            </pre>
            // Loaded anew, the form holds what the memory says by now.
            <p>
                <a href=link_with_list(&format!("{}/edit", memory_path(memory.id))) rel="external" data-draft-forget>
                    {text.take_theirs}
                </a>
            </p>
        </section>
    }
}
