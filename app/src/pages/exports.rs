use leptos::{either::Either, prelude::*, server_fn::ServerFn};
use polymnemo_types::{Export, ExportState};

use crate::{
    api::exports::{DeleteExport, RequestExport, exports},
    components::{CallForm, Fault, TextPage, Time, Trouble, YourDataTabs, exact, on_server},
    form::SentForm,
    i18n::{self, size},
    paths::export_file,
};

const PATH: &str = "/export";

/// The person's exports: a new one, the one that is being made, and those that can be fetched.
#[component]
pub(crate) fn Exports() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let text = &i18n::messages().on_server.exports;
    let all = Resource::new(|| (), |()| exports());
    view! {
        <TextPage title=text.title lead=text.lead>
            <YourDataTabs />
            <section aria-labelledby="contents">
                <h2 id="contents">{text.contents}</h2>
                <ul class="points">{text.holds.map(|point| view! { <li>{point}</li> }).collect_view()}</ul>
                <p class="hint">{text.back}</p>
            </section>
            <Suspense>
                {move || Suspend::new(async move {
                    match all.await {
                        Ok(all) => Either::Left(view! { <List all /> }),
                        Err(error) => Either::Right(view! { <Trouble error=error.0 /> }),
                    }
                })}
            </Suspense>
        </TextPage>
    }
    .into_any()
}

/// While one is being made, the browser looks again by itself. What it looks at says so.
#[component]
fn List(all: Vec<Export>) -> impl IntoView {
    let text = &i18n::messages().on_server.exports;
    let under_way = all.iter().any(Export::is_under_way);
    let newest_ready = all.iter().find(|export| export.state == ExportState::Ready).map(|export| export.id);
    let fault =
        SentForm::calling::<RequestExport>().as_ref().and_then(SentForm::error).map(|error| i18n::explain(error, None));
    let list = if all.is_empty() {
        Either::Left(view! { <p class="hint">{text.none}</p> })
    } else {
        let one = |export: Export| {
            let open = newest_ready == Some(export.id);
            view! { <One export open /> }
        };
        Either::Right(view! { <ul class="records">{all.into_iter().map(one).collect_view()}</ul> })
    };
    view! {
        <div id="exports" class="exports" data-live=under_way.then_some("soon")>
            {(!under_way)
                .then(|| {
                    view! {
                        <CallForm page=PATH call=RequestExport::PATH then=PATH class="action">
                            <p class="hint">{text.make_hint}</p>
                            {fault.map(|fault| view! { <Fault fault /> })}
                            <button class="button-main">{text.make}</button>
                        </CallForm>
                    }
                })}
            <section aria-labelledby="list">
                <h2 id="list">{text.list}</h2>
                {list}
            </section>
        </div>
    }
    .into_any()
}

#[component]
fn One(export: Export, open: bool) -> impl IntoView {
    let text = &i18n::messages().on_server.exports;
    let state = match export.state {
        ExportState::Queued => text.waiting,
        ExportState::Running => text.running,
        ExportState::Ready => text.ready,
        ExportState::Failed => text.failed,
        ExportState::Expired => text.expired,
    };
    let length = export.bytes.map(|bytes| view! { <span>{size(bytes)}</span> });
    let heading = view! {
        <h3>{exact(export.requested_at)}</h3>
        <span class="meta">
            <span>{state}</span>
            {length}
        </span>
    };
    let body = match export.state {
        ExportState::Queued | ExportState::Running => Either::Left(view! { <UnderWay export=export.clone() /> }),
        ExportState::Ready | ExportState::Failed | ExportState::Expired => {
            Either::Right(view! { <Finished export=export.clone() /> })
        }
    };
    let open = open || export.is_under_way();
    view! {
        <li>
            <details class="record" open=open>
                <summary>{heading}</summary>
                <div class="record-body">{body}</div>
            </details>
        </li>
    }
    .into_any()
}

#[component]
fn UnderWay(export: Export) -> impl IntoView {
    let text = &i18n::messages().on_server.exports;
    let hundredths = export.progress / 10;
    view! {
        <p class="export-progress">
            <progress max="100" value=hundredths aria-label=text.running></progress>
            <span>{(text.done)(hundredths)}</span>
        </p>
        <noscript>
            <p>
                <a href=PATH>{text.reload}</a>
            </p>
        </noscript>
        <Delete export label=text.give_up />
    }
    .into_any()
}

#[component]
fn Finished(export: Export) -> impl IntoView {
    let text = &i18n::messages().on_server.exports;
    let is_ready = export.state == ExportState::Ready;
    let counts = export.counts.as_ref().map(|counts| {
        view! {
            <dt>{text.holds_counted}</dt>
            <dd>{(text.counts)(counts)}</dd>
        }
    });
    let missing = export.counts.as_ref().filter(|counts| counts.missing > 0);
    let missing = missing.map(|counts| view! { <p class="note">{(text.missing)(counts.missing)}</p> });
    let length = export.bytes.map(|bytes| {
        view! {
            <dt>{text.length}</dt>
            <dd>{size(bytes)}</dd>
        }
    });
    let digest = export.sha256.clone().map(|digest| {
        view! {
            <dt>"SHA-256"</dt>
            <dd>
                <code>{digest}</code>
            </dd>
        }
    });
    let until = export.expires_at.map(|at| {
        view! {
            <dt>{text.kept_until}</dt>
            <dd>
                <Time at />
            </dd>
        }
    });
    let download = is_ready.then(|| {
        view! {
            <p class="buttons">
                <a class="button-main" href=export_file(&export.id.to_string()) rel="external" download="">
                    {text.download}
                </a>
            </p>
        }
    });
    let failed = (export.state == ExportState::Failed).then(|| view! { <p>{text.failed_text}</p> });
    view! {
        {failed}
        <dl class="properties">{counts} {length} {digest} {until}</dl>
        {missing}
        {download}
        {is_ready.then(|| view! { <Delete export=export.clone() label=text.delete hint=text.delete_means /> })}
    }
    .into_any()
}

#[component]
fn Delete(export: Export, label: &'static str, #[prop(optional)] hint: Option<&'static str>) -> impl IntoView {
    let id = export.id.to_string();
    let sent = SentForm::calling::<DeleteExport>().filter(|sent| sent.text("id") == Some(id.as_str()));
    let fault = sent.as_ref().and_then(SentForm::error).map(|error| i18n::explain(error, None));
    view! {
        <CallForm page=PATH call=DeleteExport::PATH then=PATH class="action">
            <input type="hidden" name="id" value=id />
            {hint.map(|hint| view! { <p class="hint">{hint}</p> })}
            {fault.map(|fault| view! { <Fault fault /> })}
            <button class="button-danger">{label}</button>
        </CallForm>
    }
    .into_any()
}
