use leptos::{prelude::*, server_fn::ServerFn};
use leptos_meta::Title;
use leptos_router::hooks::{use_params_map, use_query_map};
use polymnemo_types::{
    Import, ImportId, ImportLine, ImportOutcome, ImportPlan, ImportState, Page as ListPage, SourcePlan,
};

use super::imports::{PATH, names};
use crate::{
    api::{
        WebError,
        changes::memory_path,
        imports::{CancelImport, ConfirmImport, UndoImport, import_report, read_import},
        sessions::session_path,
        settings::current_settings,
    },
    components::{CallForm, Foreign, Missing, Pager, Time, Trouble, YourDataTabs, on_server},
    i18n,
    paths::import_page,
};

/// An import: what is in its files, how far it is, and what became of it.
#[component]
pub(crate) fn ImportDetail() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

/// What the page shows.
struct Shown {
    import: Import,
    /// Where it goes when nothing was said.
    namespace: String,
    lines: ListPage<ImportLine>,
    outcome: Option<ImportOutcome>,
}

#[component]
fn Page() -> impl IntoView {
    let text = &i18n::messages().on_server.imports;
    let id = use_params_map().with_untracked(|params| params.get_str("id").and_then(|id| id.parse::<ImportId>().ok()));
    let (outcome, cursor) = use_query_map().with_untracked(|query| (query.get("outcome"), query.get("cursor")));
    let outcome = outcome.and_then(|name| ImportOutcome::ALL.into_iter().find(|outcome| outcome.as_str() == name));
    let shown = Resource::new_blocking(|| (), move |()| read(id, outcome, cursor.clone()));
    view! {
        <div class="page">
            <Suspense>
                {move || Suspend::new(async move {
                    match shown.await {
                        Ok(Some((import, namespace, lines))) => {
                            view! { <Detail shown=Shown { import, namespace, lines, outcome } /> }.into_any()
                        }
                        Ok(None) => view! { <Missing title=text.missing text=text.missing_text /> }.into_any(),
                        Err(WebError(error)) => view! { <Trouble error /> }.into_any(),
                    }
                })}
            </Suspense>
        </div>
    }
    .into_any()
}

type Read = Option<(Import, String, ListPage<ImportLine>)>;

/// The import with a page of its report; `None` where the caller has none of this id.
async fn read(id: Option<ImportId>, outcome: Option<ImportOutcome>, cursor: Option<String>) -> Result<Read, WebError> {
    let Some(id) = id else { return Ok(None) };
    let import = match read_import(id).await {
        Err(WebError(error)) if error.code == polymnemo_types::ErrorCode::NotFound => return Ok(None),
        import => import?,
    };
    let namespace = match &import.options.namespace {
        Some(namespace) => namespace.clone(),
        None => current_settings().await?.default_namespace,
    };
    Ok(Some((import, namespace, import_report(id, outcome, cursor).await?)))
}

#[component]
fn Detail(shown: Shown) -> impl IntoView {
    let text = &i18n::messages().on_server.imports;
    let Shown { import, namespace, lines, outcome } = shown;
    let is_live = import.state.is_under_way();
    let title = names(&import);
    let plan = import.plan.clone().filter(|_| import.state == ImportState::Planned);
    let has_report = lines.total > 0 || outcome.is_some();
    view! {
        <Title text=title.clone() />
        <header>
            <p class="way-back">
                <a href=PATH rel="external">{text.all}</a>
            </p>
            <h1>
                <Foreign text=title />
            </h1>
        </header>
        <YourDataTabs />
        <div class="import" id="import" data-live=is_live.then_some("soon")>
            <State import=import.clone() />
            {plan.map(|plan| view! { <Plan import=import.clone() plan namespace /> })}
            {import.state.can_be_undone().then(|| view! { <Undo import=import.clone() /> })}
            {(has_report && !is_live).then(|| view! { <Erase id=import.id /> })}
            {has_report.then(|| view! { <Report import=import.clone() lines outcome /> })}
        </div>
    }
    .into_any()
}

/// How far it is.
#[component]
fn State(import: Import) -> impl IntoView {
    let text = &i18n::messages().on_server.imports;
    let state = import.state;
    let progress = (state == ImportState::Running && import.total_bytes > 0).then(|| {
        let seconds = import
            .started_at
            .map_or(0, |at| (crate::components::Now::seconds_once() - at.as_second()).max(1).unsigned_abs());
        let (read, of) = (import.bytes_read, import.total_bytes);
        let rate = read / seconds.max(1);
        let left = of.saturating_sub(read) / rate.max(1);
        view! {
            <progress max=of value=read aria-label=text.progress_label></progress>
            <p class="hint">
                {(text.progress)(&i18n::size(read), &i18n::size(of))}
                {(rate > 0).then(|| format!(" · {}", (text.rate)(&i18n::size(rate), left)))}
            </p>
        }
    });
    let stop = matches!(state, ImportState::Planning | ImportState::Running).then(|| {
        view! {
            <CallForm page=PATH call=CancelImport::PATH then=PATH class="action">
                <input type="hidden" name="id" value=import.id.to_string() />
                <button class="button-plain">{text.stop}</button>
                {(state == ImportState::Running).then(|| view! { <p class="hint">{text.stop_hint}</p> })}
            </CallForm>
        }
    });
    let ended = import.finished_at.filter(|_| !state.is_under_way());
    view! {
        <section class="import-state" role="status">
            <h2>
                {(text.state)(state)} {ended.map(|at| view! { <span class="meta"><Time at /></span> })}
            </h2>
            {state.is_under_way().then(|| view! { <p class="hint">{(text.going_on)(state)}</p> })}
            {import.error.clone().map(|error| view! { <p class="note is-bad">{error}</p> })}
            {progress}
            {stop}
        </section>
    }
    .into_any()
}

/// What is in the files, before anything is written.
#[component]
fn Plan(import: Import, plan: ImportPlan, namespace: String) -> impl IntoView {
    let text = &i18n::messages().on_server.imports;
    let to_write = plan.to_write();
    let heads = [
        text.source,
        text.conversations,
        text.messages,
        text.memories,
        text.is_new,
        text.changed,
        text.unchanged,
        text.deleted,
    ];
    let table = (!plan.sources.is_empty()).then(|| {
        let rows = plan.sources.iter().map(row);
        view! {
            <div class="table" tabindex="0" role="group" aria-labelledby="plan">
                <table>
                    <thead>
                        <tr>{heads.map(|head| view! { <th scope="col">{head}</th> }).collect_view()}</tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        }
    });
    let takes = match plan.seconds {
        Some(seconds) => (text.takes)(seconds),
        None => text.takes_unknown.to_owned(),
    };
    let confirm = (to_write > 0).then(|| {
        view! {
            <CallForm page=PATH call=ConfirmImport::PATH then=import_page(import.id)>
                <input type="hidden" name="id" value=import.id.to_string() />
                <button class="button-main">{(text.confirm)(to_write)}</button>
            </CallForm>
        }
    });
    let says = match to_write {
        0 => view! { <p>{text.nothing}</p> }.into_any(),
        _ => view! { <p>{(text.goes_to)(&namespace)} " " {takes}</p> }.into_any(),
    };
    let not_asked = (plan.not_asked > 0).then(|| (text.not_asked)(plan.not_asked));
    let left_out = (!plan.skipped.is_empty() || not_asked.is_some()).then(|| {
        let reasons = plan.skipped.iter().map(|skipped| {
            view! {
                <li>
                    <span class="count">{i18n::grouped(skipped.items)}</span>
                    " "
                    {skipped.reason.clone()}
                    " "
                    <span class="hint"><Foreign text=skipped.example.clone() /></span>
                </li>
            }
        });
        view! {
            <details class="import-left-out">
                <summary>
                    {text.left_out} " "
                    {i18n::grouped(plan.skipped.iter().map(|skipped| skipped.items).sum::<u64>() + plan.not_asked)}
                </summary>
                <ul>
                    {reasons.collect_view()}
                    {not_asked.map(|reason| view! { <li>{reason}</li> })}
                </ul>
            </details>
        }
    });
    view! {
        <section aria-labelledby="plan">
            <h2 id="plan">{text.plan}</h2>
            {plan.is_own_export.then(|| view! { <p>{text.own_export}</p> })}
            {plan.is_shared.then(|| view! { <p class="note">{text.is_shared}</p> })}
            {table}
            {says}
            {left_out}
            <div class="buttons">
                {confirm}
                <CallForm page=PATH call=CancelImport::PATH then=PATH>
                    <input type="hidden" name="id" value=import.id.to_string() />
                    <button class="button-plain">{text.discard}</button>
                </CallForm>
            </div>
        </section>
    }
    .into_any()
}

fn row(source: &SourcePlan) -> impl IntoView + use<> {
    let numbers = [
        source.conversations,
        source.messages,
        source.memories,
        source.new,
        source.changed,
        source.unchanged,
        source.deleted,
    ];
    view! {
        <tr>
            <th scope="row">{source.source.clone()}</th>
            {numbers.map(|number| view! { <td>{i18n::grouped(number)}</td> }).collect_view()}
        </tr>
    }
}

#[component]
fn Undo(import: Import) -> impl IntoView {
    let text = &i18n::messages().on_server.imports;
    let brought = [ImportOutcome::Created, ImportOutcome::Grown, ImportOutcome::Updated];
    brought.into_iter().any(|outcome| import.count(outcome) > 0).then(|| {
        view! {
            <details class="import-undo">
                <summary>{text.undo}</summary>
                <CallForm page=PATH call=UndoImport::PATH then=import_page(import.id) class="action">
                    <input type="hidden" name="id" value=import.id.to_string() />
                    <p class="hint">{text.undo_means}</p>
                    <button class="button-danger">{text.undo_now}</button>
                </CallForm>
            </details>
        }
    })
}

/// The way to erasing all of it.
#[component]
fn Erase(id: ImportId) -> impl IntoView {
    let text = &i18n::messages().on_server.imports;
    view! {
        <p>
            <a href=format!("/erase?import={id}") rel="external">{text.erase}</a>
        </p>
    }
    .into_any()
}

/// What became of everything that was found.
#[component]
fn Report(import: Import, lines: ListPage<ImportLine>, outcome: Option<ImportOutcome>) -> impl IntoView {
    let text = &i18n::messages().on_server.imports;
    let page = import_page(import.id);
    let of = |outcome: ImportOutcome| format!("{page}?outcome={}", outcome.as_str());
    let choices = ImportOutcome::ALL.into_iter().filter(|&choice| import.count(choice) > 0).map(|choice| {
        let current = (outcome == Some(choice)).then_some("true");
        view! {
            <li>
                <a href=of(choice) rel="external" aria-current=current>
                    {(text.outcome)(choice)}
                    " "
                    <span class="count">{i18n::grouped(import.count(choice))}</span>
                </a>
            </li>
        }
    });
    let everything = view! {
        <li>
            <a href=page.clone() rel="external" aria-current=outcome.is_none().then_some("true")>
                {text.everything}
            </a>
        </li>
    };
    let list = outcome.map_or_else(|| page.clone(), of);
    view! {
        <section aria-labelledby="report">
            <h2 id="report">{text.report}</h2>
            <ul class="import-choices">{everything} {choices.collect_view()}</ul>
            <ol class="records">{lines.items.into_iter().map(|line| view! { <Line line /> }).collect_view()}</ol>
            <Pager page=list next=lines.next_cursor />
            <p>
                <a href=format!("{page}/report") rel="external" download="">{text.download}</a>
            </p>
        </section>
    }
    .into_any()
}

#[component]
fn Line(line: ImportLine) -> impl IntoView {
    let text = &i18n::messages().on_server.imports;
    let title = line
        .title
        .as_deref()
        .and_then(|title| title.lines().find(|line| !line.trim().is_empty()))
        // What is gone has no title any more, but perhaps a name.
        .or(line.source_id.as_deref().filter(|name| !name.starts_with("sha256-")))
        .map_or_else(|| text.untitled.to_owned(), |title| title.chars().take(120).collect());
    let name = match line.memory {
        Some(id) if line.is_session => {
            view! { <a href=session_path(id) rel="external"><Foreign text=title /></a> }.into_any()
        }
        Some(id) => view! { <a href=memory_path(id) rel="external"><Foreign text=title /></a> }.into_any(),
        None => view! { <span><Foreign text=title /></span> }.into_any(),
    };
    let messages = (line.messages > 0).then(|| view! { <span>{(text.count_of_messages)(line.messages.into())}</span> });
    view! {
        <li class="record-line">
            {name}
            <span class="meta">
                <span>{(text.outcome)(line.outcome)}</span>
                {messages}
                {line.reason.map(|reason| view! { <span>{reason}</span> })}
            </span>
        </li>
    }
    .into_any()
}
