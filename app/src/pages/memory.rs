use leptos::{either::Either, prelude::*, server_fn::ServerFn};
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;
use polymnemo_types::{ErrorCode, Kind, Memory, MemoryId, Origin};

use super::{
    beside::{link_with_list, links},
    memory_header::MemoryHeader,
    no_such_memory::NoSuchMemory,
};
use crate::{
    api::{
        WebError,
        changes::{ForgetMemories, memory_path},
        erase::erase_link,
        media::media_path,
        memories::{MemoryPage, Selection, get_memory, preview},
        sessions::{message_path, session_path},
    },
    components::{CodeBlock, Foreign, LiveForm, Sending, Time, Trouble, harmless},
    i18n,
};

/// A memory, to be read: `/memories/{id}`, with `?show=raw` its text as it is, and with `?show=all`
/// all of a long one.
#[component]
pub(crate) fn MemoryDetail(id: MemoryId) -> impl IntoView {
    let show = use_query_map().with_untracked(|query| query.get("show")).unwrap_or_default();
    let whole = show == "all";
    let page = Resource::new(|| (), move |()| get_memory(id, whole));
    view! {
        <Suspense>
            {move || {
                let raw = show == "raw";
                Suspend::new(async move {
                    match page.await {
                        // A session has a page of its own.
                        Ok(page) if page.memory.kind == Kind::Session => {
                            leptos_axum::redirect(&session_path(id));
                            ().into_any()
                        }
                        Ok(page) => view! { <Read page raw /> }.into_any(),
                        Err(WebError(error)) if error.code == ErrorCode::NotFound => view! { <NoSuchMemory /> }.into_any(),
                        Err(WebError(error)) => view! { <article class="detail"><Trouble error /></article> }.into_any(),
                    }
                })
            }}
        </Suspense>
    }
}

#[component]
fn Read(page: MemoryPage, raw: bool) -> impl IntoView {
    let text = &i18n::messages().on_server.memory;
    let MemoryPage { memory, text: content, markup, truncated, supersedes, superseded_by, origin } = page;
    let id = memory.id;
    let path = memory_path(id);
    let title = preview(&memory).lines().next().unwrap_or_default().chars().take(60).collect::<String>();
    let title = title.trim_start_matches(['#', ' ']).to_owned();
    let actions = memory.own.then(|| {
        view! {
            <a class="button-quiet" href=link_with_list(&format!("{path}/edit")) data-list data-key="e">
                {text.edit}
            </a>
            <a class="button-quiet" href=link_with_list(&format!("{path}/history")) data-list>
                {text.history}
            </a>
            <Forget id />
            <a class="button-quiet" href=erase_link(id) rel="external">
                {i18n::messages().on_server.erase.for_good}
            </a>
        }
    });
    let (other_view, other_href) =
        if raw { (text.formatted, link_with_list(&path)) } else { (text.raw, links(&path, "show", "raw")) };
    let shown = if raw {
        Either::Left(view! { <CodeBlock label=text.raw_text text=content wraps=true /> })
    } else {
        // Made from the text, with nothing let through but what Markdown has.
        Either::Right(view! { <div class="memory-text" inner_html=markup.into_html()></div> })
    };
    let truncated = truncated.then(|| {
        view! {
            <p class="note">
                {text.truncated} " "
                <a href=links(&path, "show", "all") data-list>
                    {text.show_all}
                </a>
            </p>
        }
    });

    view! {
        <Title text=title />
        <article class="detail" tabindex="-1" aria-labelledby="detail-title">
            <MemoryHeader memory=memory.clone()>{actions}</MemoryHeader>
            {superseded_by.map(|newer| view! { <p class="note">{text.superseded_by} " " <Related memory=newer /></p> })}
            {shown}
            {truncated}
            <p class="text-actions">
                <a class="button-quiet" href=other_href data-list>
                    {other_view}
                </a>
            </p>
            {(!supersedes.is_empty())
                .then(|| {
                    let older = supersedes.into_iter().map(|older| view! { <li><Related memory=older /></li> });
                    view! {
                        <section class="related">
                            <h3>{text.supersedes}</h3>
                            <ul>{older.collect_view()}</ul>
                        </section>
                    }
                })}
            <Properties memory origin />
        </article>
    }
}

/// A memory that this one has to do with.
#[component]
fn Related(memory: Memory) -> impl IntoView {
    view! {
        <a href=link_with_list(&memory_path(memory.id)) data-list>
            {preview(&memory)}
        </a>
    }
}

/// Puts the memory into the trash, and goes back to the list.
#[component]
fn Forget(id: MemoryId) -> impl IntoView {
    let text = &i18n::messages().on_server.memory;
    let sending = Sending::to(&[ForgetMemories::PATH]);
    view! {
        <LiveForm sending call=ForgetMemories::PATH then=link_with_list("/memories")>
            <input type="hidden" name="ids[]" value=id.to_string() />
            <button class="button-quiet" data-key="#">
                {text.forget}
            </button>
            <span class="fault" role="alert" data-trouble>
                {sending.error().map(|error| i18n::explain(&error, None))}
            </span>
        </LiveForm>
    }
}

/// What is known about the memory besides its text.
#[component]
fn Properties(memory: Memory, origin: Option<Origin>) -> impl IntoView {
    let text = &i18n::messages().on_server.memory;
    let narrowed = |selection: Selection| selection.at("/memories");
    let namespace = narrowed(Selection { namespace: memory.namespace.clone(), ..Selection::default() });
    let tags = memory.tags.into_iter().map(|tag| {
        let href = narrowed(Selection { tag: tag.clone(), ..Selection::default() });
        view! { <a class="tag" href=href>{tag}</a> }
    });
    let tags: Vec<_> = tags.collect();
    let kind = match memory.kind {
        Kind::Memory => None,
        Kind::Session => Some(text.kind_session),
        Kind::Media => Some(text.kind_media),
    };
    let occurred = (memory.occurred_at != memory.created_at).then_some(memory.occurred_at);
    let changed = (memory.updated_at != memory.created_at).then_some(memory.updated_at);
    view! {
        <dl class="properties">
            <dt>{text.namespace}</dt>
            <dd>
                <a href=namespace>{memory.namespace}</a>
            </dd>
            {(!memory.own)
                .then(|| {
                    view! {
                        <dt>{text.author}</dt>
                        <dd>{memory.author}</dd>
                    }
                })}
            {(!tags.is_empty())
                .then(|| {
                    view! {
                        <dt>{text.tags}</dt>
                        <dd class="tags">{tags}</dd>
                    }
                })}
            {kind.map(|kind| property(text.kind, kind))}
            {origin
                .map(|Origin { place, title }| {
                    let title = match harmless(&title) {
                        title if title.is_empty() => text.origin_untitled.to_owned(),
                        title => title,
                    };
                    let link = view! {
                        <a href=message_path(place.session, place.number) rel="external">
                            <Foreign text=title />
                        </a>
                    };
                    property(text.origin, link)
                })}
            {memory
                .file
                .map(|file| {
                    let href = media_path(&memory.id.to_string());
                    let name = view! {
                        <a href=href rel="external">
                            <Foreign text=file.filename />
                        </a>
                    };
                    property(text.file, name)
                })}
            {memory.source.map(|source| property(text.source, view! { <Source source /> }))}
            {memory.client.map(|client| property(text.client, client))}
            {occurred.map(|at| property(text.occurred, view! { <Time at /> }))}
            {property(text.stored, view! { <Time at=memory.created_at /> })}
            {changed.map(|at| property(text.changed, view! { <Time at /> }))}
            {property(text.length, (text.bytes)(memory.bytes))}
            {property(text.id, view! { <code>{memory.id.to_string()}</code> })}
        </dl>
    }
}

fn property(name: &'static str, value: impl IntoView + 'static) -> AnyView {
    view! {
        <dt>{name}</dt>
        <dd>{value}</dd>
    }
    .into_any()
}

/// Where a memory comes from: a link, if it is the address of a page.
#[component]
fn Source(source: String) -> impl IntoView {
    if source.starts_with("https://") || source.starts_with("http://") {
        let href = source.clone();
        Either::Left(view! {
            <a href=href rel="external noopener noreferrer nofollow">
                {source}
            </a>
        })
    } else {
        Either::Right(source)
    }
}
