use leptos::{either::Either, prelude::*, server_fn::ServerFn};
use leptos_router::{hooks::use_query_map, params::ParamsMap};
use polymnemo_types::{NamespaceDetails, NamespaceSummary, Page as ListPage, limits};

use crate::{
    api::{
        namespaces::{
            CreateNamespace, DeleteNamespace, RenameNamespace, ShareNamespace, own_namespaces, readable_namespaces,
        },
        settings::ChangeSettings,
    },
    components::{CallForm, Fault, Pager, TextField, TextPage, Trouble, on_server, with_code},
    form::SentForm,
    i18n,
};

const PATH: &str = "/namespaces";

/// The page that lists the memories in a namespace.
fn memories_in(namespace: &str) -> String {
    let mut query = ParamsMap::new();
    query.insert("namespace", namespace.to_owned());
    format!("/memories{}", query.to_query_string())
}

/// The person's namespaces: what is in them, who may read them, and what can be done with them.
#[component]
pub(crate) fn Namespaces() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let text = &i18n::messages().on_server.namespaces;
    let query = use_query_map();
    let cursor = move || query.with(|query| query.get("cursor"));
    let own = Resource::new(cursor, own_namespaces);
    let readable = Resource::new(|| (), |()| readable_namespaces());

    view! {
        <TextPage title=text.title lead=text.lead>
            <Suspense>
                {move || Suspend::new(async move {
                    match (own.await, readable.await) {
                        (Ok(own), Ok(readable)) => Either::Left(view! { <Lists own readable /> }),
                        (Err(error), _) | (_, Err(error)) => Either::Right(view! { <Trouble error=error.0 /> }),
                    }
                })}
            </Suspense>
        </TextPage>
    }
    .into_any()
}

/// The person's own namespaces, a new one, and what others share.
#[component]
fn Lists(own: ListPage<NamespaceDetails>, readable: Vec<NamespaceSummary>) -> impl IntoView {
    let is_own = |name: &str| own.items.iter().any(|own| own.name == name);
    let of_others = readable.into_iter().filter(|namespace| namespace.shared && !is_own(&namespace.name)).collect();
    view! {
        <ul class="records">
            {own
                .items
                .into_iter()
                .enumerate()
                .map(|(index, namespace)| view! { <Namespace index namespace /> })
                .collect_view()}
        </ul>
        <Pager page=PATH next=own.next_cursor />
        <NewNamespace />
        <OfOthers of_others />
    }
    .into_any()
}

/// One namespace: a line, and under it what can be done.
#[component]
fn Namespace(
    /// Its place in the list, for ids: a name may hold what an id can't.
    index: usize,
    namespace: NamespaceDetails,
) -> impl IntoView {
    let text = &i18n::messages().on_server.namespaces;
    // The form that was just sent and failed keeps its namespace open.
    let is_this = |sent: &SentForm| sent.text("name") == Some(namespace.name.as_str());
    let sent = SentForm::any().filter(is_this).filter(|sent| sent.call != CreateNamespace::PATH);
    let shared = if namespace.shared() { text.shared } else { text.private };

    view! {
        <li>
            <details class="record" open=sent.is_some()>
                <summary>
                    <h2>{namespace.name.clone()}</h2>
                    <span class="meta">
                        <span>{(text.memories)(namespace.memories)}</span>
                        {(namespace.superseded > 0).then(|| view! { <span>{(text.superseded)(namespace.superseded)}</span> })}
                        {(namespace.forgotten > 0).then(|| view! { <span>{(text.forgotten)(namespace.forgotten)}</span> })}
                        <span class:is-shared=namespace.shared()>{shared}</span>
                        {namespace.default.then(|| view! { <span>{text.default}</span> })}
                    </span>
                </summary>
                <div class="record-body">
                    <p>
                        <a href=memories_in(&namespace.name)>{text.show_memories}</a>
                    </p>
                    <Rename index name=namespace.name.clone() />
                    <Default namespace=namespace.clone() />
                    <Sharing namespace=namespace.clone() />
                    <Delete namespace />
                </div>
            </details>
        </li>
    }
    .into_any()
}

#[component]
fn Rename(index: usize, name: String) -> impl IntoView {
    let text = &i18n::messages().on_server.namespaces;
    let sent = SentForm::calling::<RenameNamespace>().filter(|sent| sent.text("name") == Some(name.as_str()));
    let value = sent.as_ref().and_then(|sent| sent.text("new_name")).unwrap_or(&name).to_owned();
    let fault = sent.as_ref().and_then(SentForm::error).map(|error| i18n::explain(error, text.name_refused));
    let id = format!("rename-{index}");

    view! {
        <CallForm page=PATH call=RenameNamespace::PATH then=PATH class="one-line">
            <input type="hidden" name="name" value=name />
            <TextField id name="new_name" label=text.new_name value hint=text.rename_hint fault max=limits::NAMESPACE_CHARS />
            <button class="button-plain">{text.rename}</button>
        </CallForm>
    }
    .into_any()
}

#[component]
fn Default(namespace: NamespaceDetails) -> impl IntoView {
    let text = &i18n::messages().on_server.namespaces;
    if namespace.default {
        return Either::Left(view! { <p class="hint">{text.is_default}</p> });
    }
    if namespace.shared() {
        return Either::Left(view! { <p class="hint">{text.no_default}</p> });
    }
    Either::Right(view! {
        <CallForm page=PATH call=ChangeSettings::PATH then=PATH class="action">
            <input type="hidden" name="default_namespace" value=namespace.name />
            <p class="hint">{text.make_default_hint}</p>
            <button class="button-plain">{text.make_default}</button>
        </CallForm>
    })
}

/// Says what sharing means, and switches it on and off.
#[component]
fn Sharing(namespace: NamespaceDetails) -> impl IntoView {
    let text = &i18n::messages().on_server.namespaces;
    let sent = SentForm::calling::<ShareNamespace>().filter(|sent| sent.text("name") == Some(namespace.name.as_str()));
    let fault = sent.as_ref().and_then(SentForm::error).map(|error| i18n::explain(error, None));
    let by_owner = namespace.shared_by_owner;
    let meaning = if namespace.shared() { text.shared_means } else { text.share_means };
    let by_setting =
        namespace.shared_by_setting.then(|| view! { <p class="hint">{with_code(text.shared_by_setting)}</p> });
    // What the settings share can't be made private here, so there is nothing to switch.
    let switch = (by_owner || !namespace.shared_by_setting).then(|| {
        view! {
            <CallForm page=PATH call=ShareNamespace::PATH then=PATH>
                <input type="hidden" name="name" value=namespace.name />
                <input type="hidden" name="shared" value=(!by_owner).to_string() />
                {fault.map(|fault| view! { <Fault fault /> })}
                <button class="button-plain">{if by_owner { text.stop_sharing } else { text.share }}</button>
            </CallForm>
        }
    });

    view! {
        <section class="action">
            <h3>{text.sharing}</h3>
            <p class="hint">{meaning}</p>
            {by_setting}
            {switch}
        </section>
    }
    .into_any()
}

/// Takes away a namespace that holds nothing.
#[component]
fn Delete(namespace: NamespaceDetails) -> impl IntoView {
    let text = &i18n::messages().on_server.namespaces;
    let empty = namespace.memories + namespace.superseded + namespace.forgotten == 0;
    let sent = SentForm::calling::<DeleteNamespace>().filter(|sent| sent.text("name") == Some(namespace.name.as_str()));
    let fault = sent.as_ref().and_then(SentForm::error).map(|error| i18n::explain(error, text.delete_refused));
    let possible = (empty && !namespace.default) || fault.is_some();

    possible.then(|| {
        view! {
            <CallForm page=PATH call=DeleteNamespace::PATH then=PATH class="action">
                <input type="hidden" name="name" value=namespace.name />
                <p class="hint">{text.delete_means}</p>
                {fault.map(|fault| view! { <Fault fault /> })}
                <button class="button-danger">{text.delete}</button>
            </CallForm>
        }
    })
}

#[component]
fn NewNamespace() -> impl IntoView {
    let text = &i18n::messages().on_server.namespaces;
    let sent = SentForm::calling::<CreateNamespace>();
    let value = sent.as_ref().and_then(|sent| sent.text("name")).unwrap_or_default().to_owned();
    let fault = sent.as_ref().and_then(SentForm::error).map(|error| i18n::explain(error, text.name_refused));

    view! {
        <section aria-labelledby="create">
            <h2 id="create">{text.create}</h2>
            <p class="hint">{text.create_hint}</p>
            <CallForm page=PATH call=CreateNamespace::PATH then=PATH class="one-line">
                <TextField id="new-name" name="name" label=text.name value hint=text.name_rule fault max=limits::NAMESPACE_CHARS />
                <button class="button-main">{text.create_button}</button>
            </CallForm>
        </section>
    }
    .into_any()
}

/// What others share, where anyone does.
#[component]
fn OfOthers(of_others: Vec<NamespaceSummary>) -> impl IntoView {
    let text = &i18n::messages().on_server.namespaces;
    (!of_others.is_empty()).then(|| {
        view! {
            <section aria-labelledby="of-others">
                <h2 id="of-others">{text.of_others}</h2>
                <p class="hint">{text.of_others_hint}</p>
                <ul class="records">
                    {of_others
                        .into_iter()
                        .map(|namespace| {
                            view! {
                                <li class="record-line">
                                    <a href=memories_in(&namespace.name)>{namespace.name.clone()}</a>
                                    <span class="meta">{(text.memories)(namespace.memories)}</span>
                                </li>
                            }
                        })
                        .collect_view()}
                </ul>
            </section>
        }
    })
}
