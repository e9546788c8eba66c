use leptos::{either::Either, prelude::*};
use leptos_router::hooks::use_query_map;
use polymnemo_types::{Import, ImportOutcome, ImportState, limits};

use super::media::code_of;
use crate::{
    api::imports::{CancelImport, ConfirmImport, UndoImport, list_imports},
    components::{Pager, TextPage, Time, Trouble, YourDataTabs, on_server},
    form::SentForm,
    i18n,
    paths::{IMPORT_FORM, import_page},
};

/// The path of the page.
pub(super) const PATH: &str = "/import";

/// What a person brings in from elsewhere: a new import, and those before; with `?problem=` where files were refused.
#[component]
pub(crate) fn Imports() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let text = &i18n::messages().on_server.imports;
    let (cursor, problem) = use_query_map().with_untracked(|query| (query.get("cursor"), query.get("problem")));
    let imports = Resource::new(|| (), move |()| list_imports(cursor.clone()));
    let sent =
        [SentForm::calling::<ConfirmImport>(), SentForm::calling::<CancelImport>(), SentForm::calling::<UndoImport>()];
    let refused = sent.into_iter().flatten().find_map(|sent| sent.error().map(|error| i18n::explain(error, None)));
    let problem = problem.map(|code| (text.problem)(code_of(&code)).to_owned()).or(refused);
    view! {
        <TextPage title=text.title lead=text.lead>
            <YourDataTabs />
            {problem.map(|problem| view! { <p class="note is-bad" role="alert">{problem}</p> })}
            <NewImport />
            <Suspense>
                {move || Suspend::new(async move {
                    match imports.await {
                        Ok(page) if page.items.is_empty() => None,
                        Ok(page) => Some(Either::Left(view! { <Earlier imports=page.items next=page.next_cursor /> })),
                        Err(error) => Some(Either::Right(view! { <Trouble error=error.0 /> })),
                    }
                })}
            </Suspense>
        </TextPage>
    }
    .into_any()
}

#[component]
fn NewImport() -> impl IntoView {
    let text = &i18n::messages().on_server.imports;
    view! {
        <section aria-labelledby="new">
            <h2 id="new">{text.new}</h2>
            <form class="fields" method="post" action=IMPORT_FORM enctype="multipart/form-data">
                <div class="field">
                    <label for="namespace">{text.namespace}</label>
                    <input class="input" id="namespace" name="namespace" maxlength=limits::NAMESPACE_CHARS autocomplete="off" aria-describedby="namespace-hint" />
                    <span class="hint" id="namespace-hint">{text.namespace_hint}</span>
                </div>
                <details class="import-options">
                    <summary>{text.more}</summary>
                    <div class="field">
                        <label for="since">{text.since}</label>
                        <input class="input" type="date" id="since" name="since" />
                    </div>
                    <div class="field">
                        <label for="limit">{text.limit}</label>
                        <input class="input" type="number" id="limit" name="limit" min="1" max="1000000" />
                    </div>
                    <label class="import-again">
                        <input type="checkbox" name="again" value="true" />
                        <span>{text.again}</span>
                    </label>
                </details>
                <div class="field">
                    <label for="files">{text.files}</label>
                    <input class="input" type="file" id="files" name="files" multiple required aria-describedby="files-hint" />
                    <span class="hint" id="files-hint">{text.files_hint}</span>
                </div>
                <p class="buttons">
                    <button class="button-main">{text.look_through}</button>
                    <span class="hint">{text.look_through_hint}</span>
                </p>
            </form>
            <details class="import-sources">
                <summary>{text.sources}</summary>
                <dl class="properties">
                    {text.where_from.map(|(name, how)| view! { <dt>{name}</dt> <dd>{how}</dd> }).collect_view()}
                </dl>
            </details>
        </section>
    }
    .into_any()
}

#[component]
fn Earlier(imports: Vec<Import>, next: Option<String>) -> impl IntoView {
    let text = &i18n::messages().on_server.imports;
    let is_live = imports.iter().any(|import| import.state.is_under_way());
    view! {
        <section id="imports" aria-labelledby="earlier" data-live=is_live.then_some("soon")>
            <h2 id="earlier">{text.earlier}</h2>
            <ul class="records">{imports.into_iter().map(|import| view! { <Row import /> }).collect_view()}</ul>
            <Pager page=PATH next />
        </section>
    }
    .into_any()
}

#[component]
fn Row(import: Import) -> impl IntoView {
    let text = &i18n::messages().on_server.imports;
    let brought: u64 = [ImportOutcome::Created, ImportOutcome::Grown, ImportOutcome::Updated]
        .into_iter()
        .map(|outcome| import.count(outcome))
        .sum();
    let brought = (brought > 0).then(|| {
        view! { <span>{(text.outcome)(ImportOutcome::Created)} " " {i18n::grouped(brought)}</span> }
    });
    let waits = import.state == ImportState::Planned;
    view! {
        <li class="record-line">
            <a href=import_page(import.id) rel="external">{names(&import)}</a>
            <span class="meta">
                <span class:is-shared=waits>{(text.state)(import.state)}</span>
                {brought}
                <Time at=import.created_at />
            </span>
        </li>
    }
    .into_any()
}

/// The names of the files of an import, in a line.
pub(super) fn names(import: &Import) -> String {
    let mut names: Vec<&str> =
        import.files.iter().map(|file| file.rsplit(['/', '\\']).next().unwrap_or(file)).take(3).collect();
    let more = import.files.len().saturating_sub(names.len());
    let rest = format!("+ {more}");
    if more > 0 {
        names.push(&rest);
    }
    names.join(", ")
}
