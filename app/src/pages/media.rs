use jiff::Timestamp;
use leptos::{either::EitherOf3, prelude::*, server_fn::ServerFn};
use leptos_router::hooks::use_query_map;
use polymnemo_types::{ApiError, BlobBackend, ErrorCode, Upload, limits};

use super::media_card::MediaCard;
use crate::{
    api::{
        WebError,
        media::{CancelUpload, FoundFiles, MediaSelection, Unfinished, find_files, kinds, unfinished},
    },
    components::{CallForm, Foreign, Now, TextPage, Trouble, Uploader, on_server},
    form::SentForm,
    i18n::{self, size},
    paths::MEDIA_FORM,
    web::show_documents,
};

const PATH: &str = "/media";

/// The files, and where new ones are dropped: `/media`, with `?problem=` where a form without a script was refused.
#[component]
pub(crate) fn MediaFiles() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let text = &i18n::messages().on_server.media;
    // There may be none yet; but one that was uploaded is shown without loading the page anew.
    show_documents();
    let (selection, problem) =
        use_query_map().with_untracked(|query| (MediaSelection::of_query(query), query.get("problem")));
    let uploading = Resource::new(|| (), |()| unfinished());
    let kept = selection.clone();
    let found = Resource::new(|| (), move |()| find_files(kept.clone()));
    view! {
        <TextPage title=text.title lead=text.lead wide=true>
            {problem.map(|code| view! { <p class="note is-bad" role="alert">{(text.problem)(code_of(&code))}</p> })}
            <Suspense>
                {move || {
                    let namespace = selection.namespace.clone();
                    let selection = selection.clone();
                    Suspend::new(async move {
                        let (uploading, found) = (uploading.await, found.await);
                        let keeps_files = uploading.as_ref().is_ok_and(|it| it.storage.backend != BlobBackend::None);
                        let uploading = match uploading {
                            Ok(uploading) => view! { <Uploading uploading namespace /> }.into_any(),
                            Err(WebError(error)) => view! { <Trouble error /> }.into_any(),
                        };
                        let list = match found {
                            // Where nothing can be kept and nothing is, there is nothing to look through.
                            Ok(found) if !keeps_files && found.total == 0 && !selection.is_narrowed() => EitherOf3::A(()),
                            Ok(found) => EitherOf3::B(view! { <List found selection /> }),
                            Err(WebError(error)) => EitherOf3::C(view! { <Trouble error /> }),
                        };
                        view! {
                            {uploading}
                            {list}
                        }
                    })
                }}
            </Suspense>
        </TextPage>
    }
    .into_any()
}

/// The code of an error as it is in the query; whatever else is there tells only that something went wrong.
pub(super) fn code_of(code: &str) -> ErrorCode {
    serde_json::from_value(code.into()).unwrap_or(ErrorCode::Internal)
}

/// Where files are dropped, and what broke off before.
#[component]
fn Uploading(uploading: Unfinished, namespace: String) -> impl IntoView {
    let text = &i18n::messages().on_server.media;
    let Unfinished { storage, uploads } = uploading;
    if storage.backend == BlobBackend::None {
        return view! {
            <section class="empty">
                <h2>{text.no_storage}</h2>
                <p>{text.no_storage_text}</p>
            </section>
        }
        .into_any();
    }
    let most = size(storage.max_bytes);
    let wrong_size = (text.upload.wrong_size)(&most);
    view! {
        <section aria-labelledby="upload">
            <h2 class="visually-hidden" id="upload">
                {text.upload.heading}
            </h2>
            <Uploader least=1 most=storage.max_bytes wrong_size namespace=namespace.clone() drop=text.upload.drop>
                <PlainForm namespace most />
            </Uploader>
        </section>
        <UnfinishedUploads uploads />
    }
    .into_any()
}

/// Uploads a file without a script. The file is the last field: what comes before it is known when its bytes arrive.
#[component]
fn PlainForm(namespace: String, most: String) -> impl IntoView {
    let text = &i18n::messages().on_server.media.upload;
    view! {
        <form class="fields" method="post" action=MEDIA_FORM enctype="multipart/form-data">
            <div class="field">
                <label for="new-description">{text.description}</label>
                <input class="input" id="new-description" name="description" autocomplete="off" aria-describedby="new-description-hint" />
                <span class="hint" id="new-description-hint">
                    {text.description_hint}
                </span>
            </div>
            <div class="field">
                <label for="new-namespace">{text.namespace}</label>
                <input
                    class="input"
                    id="new-namespace"
                    name="namespace"
                    value=namespace
                    maxlength=limits::NAMESPACE_CHARS
                    list="media-namespaces"
                    autocomplete="off"
                    aria-describedby="new-namespace-hint"
                />
                <span class="hint" id="new-namespace-hint">
                    {text.namespace_hint}
                </span>
            </div>
            <FileField most />
            <p>
                <button class="button-main">{text.send}</button>
            </p>
        </form>
    }
}

/// The field for a file, in forms for browsers without a script.
#[component]
pub(super) fn FileField(#[prop(optional)] most: Option<String>) -> impl IntoView {
    let text = &i18n::messages().on_server.media.upload;
    view! {
        <div class="field">
            <label for="new-file">{text.file}</label>
            <input class="input" type="file" id="new-file" name="file" required />
            {most.map(|most| view! { <span class="hint">{(text.most)(&most)}</span> })}
        </div>
    }
}

/// Uploads that broke off: with the same file they go on.
#[component]
fn UnfinishedUploads(uploads: Vec<Upload>) -> impl IntoView {
    let text = &i18n::messages().on_server.media;
    let fault = SentForm::calling::<CancelUpload>().and_then(|sent| sent.error().cloned());
    (!uploads.is_empty()).then(|| {
        let rows = uploads.into_iter().map(|upload| view! { <UnfinishedUpload upload /> });
        view! {
            <section class="unfinished" aria-labelledby="unfinished">
                <h2 id="unfinished">{text.unfinished}</h2>
                <p class="hint">{text.unfinished_text}</p>
                {fault.map(|error: ApiError| view! { <p class="fault" role="alert">{i18n::explain(&error, None)}</p> })}
                <ul class="records">{rows.collect_view()}</ul>
            </section>
        }
    })
}

#[component]
fn UnfinishedUpload(upload: Upload) -> impl IntoView {
    let text = &i18n::messages().on_server.media;
    let id = upload.id.to_string();
    let name_id = format!("unfinished-{id}");
    let remaining = |at: Timestamp| i18n::since(Now::seconds_once() - at.as_second());
    let (unfinished, name) = (id.clone(), upload.file.filename.clone());
    view! {
        <li
            class="record-line"
            data-unfinished=unfinished
            data-name=name
            data-size=upload.file.size.to_string()
        >
            <h3 id=name_id.clone()>
                <Foreign text=upload.file.filename />
            </h3>
            <p class="meta">
                <span>{size(upload.file.size)}</span>
                <span class="namespace">{upload.namespace}</span>
                {upload.client.map(|client| view! { <span>{client}</span> })}
                <span>{(text.given_up)(&remaining(upload.expires_at))}</span>
            </p>
            <CallForm page=PATH call=CancelUpload::PATH then=PATH>
                <input type="hidden" name="id" value=id />
                <button class="button-quiet" aria-describedby=name_id>
                    {text.cancel_unfinished}
                </button>
            </CallForm>
        </li>
    }
}

#[component]
fn List(found: FoundFiles, selection: MediaSelection) -> impl IntoView {
    let text = &i18n::messages().on_server.media;
    let FoundFiles { files, total, next_cursor, namespaces, tags } = found;
    let is_narrowed = selection.is_narrowed();
    let filters = (is_narrowed || total > 0).then(|| {
        view! { <Filters selection=selection.clone() namespaces=namespaces.clone() tags /> }
    });
    let suggestions = namespaces.into_iter().map(|name| view! { <option value=name></option> });
    let list = if files.is_empty() {
        view! { <Nothing is_narrowed /> }.into_any()
    } else {
        let cards = files.into_iter().map(|file| view! { <MediaCard file /> });
        view! { <ul class="media-grid">{cards.collect_view()}</ul> }.into_any()
    };
    let first = (!selection.cursor.is_empty()).then(|| selection.page(None));
    let next = next_cursor.map(|cursor| selection.page(Some(&cursor)));
    let pager = (first.is_some() || next.is_some()).then(|| {
        view! {
            <nav class="pager" aria-label=text.pager>
                {first.map(|first| view! { <a href=first rel="external">{text.newest}</a> })}
                {next.map(|next| view! { <a href=next rel="external next">{text.older}</a> })}
            </nav>
        }
    });
    view! {
        <datalist id="media-namespaces">{suggestions.collect_view()}</datalist>
        <section class="media-list" aria-labelledby="files">
            <h2 class="visually-hidden" id="files">
                {text.list}
            </h2>
            {filters}
            <div class="media-found" id="media-found" data-shows-uploads="">
                <p class="list-count" role="status">
                    {(total > 0).then(|| (text.count)(total))}
                </p>
                {list}
                {pager}
            </div>
        </section>
    }
    .into_any()
}

#[component]
fn Nothing(is_narrowed: bool) -> impl IntoView {
    let text = &i18n::messages().on_server.media;
    let (heading, said) =
        if is_narrowed { (text.none_found, text.none_found_text) } else { (text.empty, text.empty_text) };
    view! {
        <section class="empty">
            <h3>{heading}</h3>
            <p>{said}</p>
            {is_narrowed
                .then(|| {
                    view! {
                        <a class="button-plain" href=PATH rel="external">
                            {text.show_all}
                        </a>
                    }
                })}
        </section>
    }
}

/// What narrows the list.
#[component]
fn Filters(selection: MediaSelection, namespaces: Vec<String>, tags: Vec<String>) -> impl IntoView {
    let text = &i18n::messages().on_server.media;
    let MediaSelection { q, kind, namespace, tag, .. } = selection.clone();
    let kinds = kinds().into_iter().zip(text.kinds).map(|(value, name)| (value.to_owned(), name.to_owned())).collect();
    let same = |names: Vec<String>| names.into_iter().map(|name| (name.clone(), name)).collect();
    view! {
        <form class="media-filters" method="get" action=PATH role="search">
            <input class="input" type="search" name="q" value=q aria-label=text.search placeholder=text.search_hint />
            <button class="button-plain">{text.apply}</button>
            <Select name="kind" label=text.kind any=text.any_kind choices=kinds chosen=kind />
            <Select name="namespace" label=text.namespace any=text.any_namespace choices=same(namespaces) chosen=namespace />
            {(!tags.is_empty() || !tag.is_empty())
                .then(|| view! { <Select name="tag" label=text.tag any=text.any_tag choices=same(tags) chosen=tag /> })}
            {selection
                .is_narrowed()
                .then(|| {
                    view! {
                        <a href=PATH rel="external">
                            {text.clear}
                        </a>
                    }
                })}
        </form>
    }
}

#[component]
fn Select(
    name: &'static str,
    label: &'static str,
    any: &'static str,
    /// Values and their names.
    choices: Vec<(String, String)>,
    chosen: String,
) -> impl IntoView {
    // What is chosen can be rarer than what is offered.
    let is_other = !chosen.is_empty() && !choices.iter().any(|(value, _)| *value == chosen);
    let other = is_other.then(|| (chosen.clone(), chosen.clone()));
    let options = choices.into_iter().chain(other).map(|(value, name)| {
        let selected = value == chosen;
        view! { <option value=value selected=selected>{name}</option> }
    });
    view! {
        <select class="select" name=name aria-label=label>
            <option value="">{any}</option>
            {options.collect_view()}
        </select>
    }
}
