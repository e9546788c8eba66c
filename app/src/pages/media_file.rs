use leptos::{prelude::*, server_fn::ServerFn};
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;
use polymnemo_types::{ErrorCode, Media, MediaDetails, MediaText, MemoryId, ShownAs, limits};

use super::media_card::FileSign;
use crate::{
    api::{
        WebError,
        changes::{ForgetMemories, memory_path},
        erase::erase_link,
        media::{DescribeFile, PageOfFile, media_path, read_file},
        memories::Selection,
    },
    components::{Foreign, LiveForm, Missing, Sending, Time, Trouble, harmless, in_textarea, on_server},
    i18n,
    web::show_documents,
};

/// The size of an image, in bytes, up to which it is shown whole.
const LARGE_IMAGE: u64 = 20_000_000;

/// A file, to be looked at and described: `/media/{id}`.
#[component]
pub(crate) fn MediaFile() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let id = use_params_map().with_untracked(|params| params.get("id")).and_then(|id| id.parse::<MemoryId>().ok());
    let Some(id) = id else { return view! { <NoSuchFile /> }.into_any() };
    let page = Resource::new(|| (), move |()| read_file(id));
    view! {
        <Suspense>
            {move || Suspend::new(async move {
                match page.await {
                    Ok(page) => view! { <File page /> }.into_any(),
                    // Not found, or a memory that has no file.
                    Err(WebError(error)) if matches!(error.code, ErrorCode::NotFound | ErrorCode::InvalidInput) => {
                        view! { <NoSuchFile /> }.into_any()
                    }
                    Err(WebError(error)) => view! { <div class="page"><Trouble error /></div> }.into_any(),
                }
            })}
        </Suspense>
    }
    .into_any()
}

#[component]
fn File(page: PageOfFile) -> impl IntoView {
    let text = &i18n::messages().on_server.media;
    let PageOfFile { details, text: beginning } = page;
    let MediaDetails { media, description, view_url, download_url } = details;
    let name = harmless(&media.file.filename);
    let id = media.memory.id;
    let own = media.memory.own;
    let open = view_url.clone().map(|url| {
        view! {
            <a class="button-plain" href=url target="_blank" rel="external noopener">
                {text.open}
            </a>
        }
    });
    let description = if own {
        view! { <Describe media=media.clone() description /> }.into_any()
    } else {
        view! { <p class="raw-text">{description}</p> }.into_any()
    };
    view! {
        <Title text=name.clone() />
        <article class="page is-wide media-file" aria-labelledby="file-title">
            <header>
                <p class="way-back">
                    <a href="/media" rel="external">
                        "← "
                        {text.back}
                    </a>
                </p>
                <h1 id="file-title">
                    <Foreign text=name />
                </h1>
                <div class="buttons">
                    <a class="button-main" href=download_url rel="external">
                        {text.download}
                    </a>
                    {open}
                    {own.then(|| view! { <Forget id /> })}
                    {own
                        .then(|| {
                            view! {
                                <a class="button-quiet" href=erase_link(id) rel="external">
                                    {i18n::messages().on_server.erase.for_good}
                                </a>
                            }
                        })}
                </div>
            </header>
            <div class="media-parts">
                <div class="media-preview">
                    <Preview media=media.clone() view_url beginning />
                </div>
                <div class="media-about">
                    {description}
                    <Facts media />
                </div>
            </div>
        </article>
    }
    .into_any()
}

/// The file itself, as far as a browser may show it. What could run is never shown.
#[component]
fn Preview(media: Media, view_url: Option<String>, beginning: Option<MediaText>) -> impl IntoView {
    let text = &i18n::messages().on_server.media;
    let name = harmless(&media.file.filename);
    let nothing = {
        let name = name.clone();
        move || {
            view! {
                <figure class="media-nothing">
                    <FileSign name />
                    <figcaption class="hint">{text.no_preview}</figcaption>
                </figure>
            }
            .into_any()
        }
    };
    match (media.file.shown_as, view_url, beginning) {
        (ShownAs::Image, Some(url), _) => {
            let whole = media.file.size <= LARGE_IMAGE;
            let shown = media.thumbnail_url.filter(|_| !whole).unwrap_or_else(|| url.clone());
            view! {
                <a href=url target="_blank" rel="external noopener">
                    <img src=shown alt=name />
                </a>
            }
            .into_any()
        }
        (ShownAs::Video, Some(url), _) => {
            view! { <video src=url controls preload="metadata" aria-label=name></video> }.into_any()
        }
        (ShownAs::Audio, Some(url), _) => {
            view! { <audio src=url controls preload="metadata" aria-label=name></audio> }.into_any()
        }
        (ShownAs::Text, _, Some(MediaText { text: beginning, truncated })) => view! {
            <pre class="raw-text" tabindex="0" aria-label=name>
                {beginning}
            </pre>
            {truncated.then(|| view! { <p class="hint">{text.text_cut}</p> })}
        }
        .into_any(),
        (ShownAs::Pdf, Some(url), _) => {
            show_documents();
            view! { <iframe src=url title=name></iframe> }.into_any()
        }
        _ => nothing(),
    }
}

/// Changes what is known about the file.
#[component]
fn Describe(media: Media, description: String) -> impl IntoView {
    let text = &i18n::messages().on_server.media;
    let edit = &i18n::messages().on_server.edit;
    let memory = media.memory;
    let sending = Sending::to(&[DescribeFile::PATH]);
    let typed = move |name: &str, value: String| sending.typed(name).unwrap_or(value);
    let error = sending.error();
    let conflict = error.as_ref().is_some_and(|error| error.code == ErrorCode::Conflict).then(|| {
        view! {
            <div class="note is-bad" role="alert">
                <p>{text.conflict}</p>
                <pre class="raw-text">{description.clone()}</pre>
            </div>
        }
    });
    let fault = error.filter(|error| error.code != ErrorCode::Conflict).map(|error| {
        let said = match error.code {
            ErrorCode::TooLarge => text.description_rule.to_owned(),
            _ => i18n::explain(&error, edit.refused),
        };
        view! { <p class="fault" role="alert">{said}</p> }
    });
    let content = typed("content", description);
    view! {
        <LiveForm class="form" sending call=DescribeFile::PATH then=media_path(&memory.id.to_string())>
            <input type="hidden" name="id" value=memory.id.to_string() />
            <input type="hidden" name="revision" value=memory.revision.to_string() />
            {conflict}
            <div class="field">
                <label for="file-description">{text.description}</label>
                <textarea
                    class="input media-description"
                    id="file-description"
                    name="content"
                    required
                    aria-describedby="file-description-hint"
                >
                    {in_textarea(&content)}
                </textarea>
                <span class="hint" id="file-description-hint">
                    {text.description_hint}
                </span>
            </div>
            <div class="field">
                <label for="file-tags">{edit.tags}</label>
                <input
                    class="input"
                    id="file-tags"
                    name="tags"
                    value=typed("tags", memory.tags.join(", "))
                    maxlength=limits::TAGS * (limits::TAG_CHARS + 2)
                    autocomplete="off"
                    aria-describedby="file-tags-hint"
                />
                <span class="hint" id="file-tags-hint">
                    {edit.tags_hint}
                </span>
            </div>
            <div class="field">
                <label for="file-namespace">{text.namespace}</label>
                <input
                    class="input"
                    id="file-namespace"
                    name="namespace"
                    value=typed("namespace", memory.namespace)
                    maxlength=limits::NAMESPACE_CHARS
                    required
                    autocomplete="off"
                />
            </div>
            {fault}
            <p>
                <button class="button-plain">{text.save}</button>
            </p>
        </LiveForm>
    }
}

/// What is known about the file besides.
#[component]
fn Facts(media: Media) -> impl IntoView {
    let text = &i18n::messages().on_server.media;
    let Media { memory, file, .. } = media;
    let path = memory_path(memory.id);
    let narrowed = |selection: Selection| selection.at("/memories");
    let namespace = narrowed(Selection { namespace: memory.namespace.clone(), ..Selection::default() });
    let tags: Vec<_> = memory
        .tags
        .into_iter()
        .map(|tag| {
            let href = narrowed(Selection { tag: tag.clone(), ..Selection::default() });
            view! {
                <a class="tag" href=href rel="external">
                    {tag}
                </a>
            }
        })
        .collect();
    view! {
        <section aria-labelledby="about-file">
            <h2 id="about-file">{text.about}</h2>
            <dl class="properties">
                <dt>{text.content_type}</dt>
                <dd>{file.content_type}</dd>
                <dt>{text.size}</dt>
                <dd>{(text.bytes)(file.size)}</dd>
                <dt>{text.namespace}</dt>
                <dd>
                    <a href=namespace rel="external">
                        {memory.namespace}
                    </a>
                </dd>
                {(!tags.is_empty())
                    .then(|| {
                        view! {
                            <dt>{i18n::messages().on_server.edit.tags}</dt>
                            <dd class="tags">{tags}</dd>
                        }
                    })}
                {(!memory.own)
                    .then(|| {
                        view! {
                            <dt>{text.owner}</dt>
                            <dd>{memory.author}</dd>
                        }
                    })}
                {memory
                    .client
                    .map(|client| {
                        view! {
                            <dt>{i18n::messages().on_server.memory.client}</dt>
                            <dd>{client}</dd>
                        }
                    })}
                <dt>{text.stored}</dt>
                <dd>
                    <Time at=memory.created_at />
                </dd>
                {file
                    .sha256
                    .map(|sha256| {
                        view! {
                            <dt>{text.checksum}</dt>
                            <dd>
                                <code>{sha256}</code>
                            </dd>
                        }
                    })}
            </dl>
            <p class="buttons">
                <a href=path.clone() rel="external">
                    {text.as_memory}
                </a>
                {memory
                    .own
                    .then(|| {
                        view! {
                            <a href=format!("{path}/history") rel="external">
                                {text.history}
                            </a>
                        }
                    })}
            </p>
        </section>
    }
}

/// Puts the file into the trash.
#[component]
fn Forget(id: MemoryId) -> impl IntoView {
    let text = &i18n::messages().on_server.media;
    let sending = Sending::to(&[ForgetMemories::PATH]);
    view! {
        <LiveForm sending call=ForgetMemories::PATH then="/media".to_owned()>
            <input type="hidden" name="ids[]" value=id.to_string() />
            <button class="button-quiet">{text.forget}</button>
            <span class="fault" role="alert">
                {sending.error().map(|error| i18n::explain(&error, None))}
            </span>
        </LiveForm>
    }
}

/// Stands where there is no such file, or it is someone else's: the two look the same.
#[component]
fn NoSuchFile() -> impl IntoView {
    let text = &i18n::messages().on_server.media;
    view! {
        <div class="page">
            <Missing title=text.none_title text=text.none_text />
            <p class="buttons">
                <a class="button-plain" href="/media" rel="external">
                    {text.all_files}
                </a>
                <a class="button-plain" href="/trash" rel="external">
                    {i18n::messages().on_server.memory.open_trash}
                </a>
            </p>
        </div>
    }
}
