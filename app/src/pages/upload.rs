use leptos::{either::EitherOf4, prelude::*};
use leptos_meta::Title;
use leptos_router::hooks::{use_params_map, use_query_map};
use polymnemo_types::{Upload as Announced, limits};

use super::media::{FileField, code_of};
use crate::{
    api::{WebError, media::upload_of_link},
    components::{Foreign, Missing, Now, Trouble, Uploader, harmless, on_server},
    i18n::{self, size},
    paths::upload_page_form,
};

/// Where a person brings a file that an app announced: `/upload/{secret}`. Whoever has the link may send just this file, and
/// sees what is to be sent; nobody needs to be signed in.
///
/// A form without a script comes back with `?done=1`, or with `?problem=`.
#[component]
pub(crate) fn Upload() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        // Its address is a secret, and so is what it shows.
        response.insert_header(http::header::CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
    }
    let secret = StoredValue::new(use_params_map().with_untracked(|params| params.get("secret")).unwrap_or_default());
    let (done, problem) =
        use_query_map().with_untracked(|query| (query.get_str("done").is_some(), query.get("problem")));
    let problem = StoredValue::new(problem);
    let upload = Resource::new(|| (), move |()| async move { upload_of_link(&secret.get_value()).await });
    view! {
        <div class="upload-page">
            <Suspense>
                {move || Suspend::new(async move {
                    match upload.await {
                        Ok(Some(upload)) => {
                            EitherOf4::A(view! { <Bring upload secret=secret.get_value() problem=problem.get_value() /> })
                        }
                        // It worked, and that used it up.
                        Ok(None) if done => EitherOf4::B(view! { <Done hidden=false /> }),
                        Ok(None) => EitherOf4::C(view! { <Over /> }),
                        Err(WebError(error)) => EitherOf4::D(view! { <Trouble error /> }),
                    }
                })}
            </Suspense>
        </div>
    }
    .into_any()
}

#[component]
fn Bring(upload: Announced, secret: String, problem: Option<String>) -> impl IntoView {
    let text = &i18n::messages().on_server.upload;
    let bytes = upload.file.size;
    let form = upload_page_form(&secret);
    let wrong_size = (text.wrong_size)(bytes);
    let link = (secret, upload.id.to_string());
    let remaining = i18n::since(Now::seconds_once() - upload.expires_at.as_second());
    view! {
        <Title text=text.title />
        <div class="upload-parts" data-until-done="">
        <header>
            <h1>{text.title}</h1>
            <p>{text.lead}</p>
        </header>
        {problem.map(|code| view! { <p class="note is-bad" role="alert">{(text.problem)(code_of(&code))}</p> })}
        <dl class="properties">
            <dt>{text.filename}</dt>
            <dd>
                <strong>
                    <Foreign text=upload.file.filename />
                </strong>
            </dd>
            <dt>{text.size}</dt>
            <dd>{size(bytes)}</dd>
            <dt>{text.content_type}</dt>
            <dd>{upload.file.content_type}</dd>
            <dt>{text.description}</dt>
            <dd>
                <Foreign text=shortened(&upload.description) />
            </dd>
            {upload
                .client
                .map(|client| {
                    view! {
                        <dt>{text.asked_by}</dt>
                        <dd>
                            <Foreign text=client />
                        </dd>
                    }
                })}
            <dt>{text.ends}</dt>
            <dd>{remaining}</dd>
        </dl>
        <Uploader least=bytes most=bytes wrong_size link drop=text.drop>
            <form class="fields" method="post" action=form enctype="multipart/form-data">
                <FileField />
                <p>
                    <button class="button-main">{i18n::messages().on_server.media.upload.send}</button>
                </p>
            </form>
        </Uploader>
        </div>
        <Done hidden=true />
    }
    .into_any()
}

/// A description as it is told to whoever has the link: its beginning.
fn shortened(description: &str) -> String {
    let short: String = harmless(description).chars().take(limits::PREVIEW_CHARS).collect();
    if short.len() < description.trim().len() { format!("{short}…") } else { short }
}

/// The file is there.
#[component]
fn Done(
    /// Until it has arrived.
    hidden: bool,
) -> impl IntoView {
    let text = &i18n::messages().on_server.upload;
    view! {
        {(!hidden).then(|| view! { <Title text=text.done /> })}
        <section class="upload-done" data-when-done="" hidden=hidden>
            <h1 tabindex="-1">{text.done}</h1>
            <p>{text.done_text}</p>
        </section>
    }
}

/// Stands where there is no upload that waits for a file.
#[component]
fn Over() -> impl IntoView {
    let text = &i18n::messages().on_server.upload;
    view! {
        <Missing title=text.over text=text.over_text />
    }
}
