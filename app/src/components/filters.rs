use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use polymnemo_types::ValueCount;

use super::on_server;
use crate::{
    api::memories::{Choices, Period, Selection, list_choices},
    i18n,
};

/// What narrows the list: fields of the form of the [`SearchBar`](super::SearchBar), which makes
/// them follow the URL.
#[component]
pub(crate) fn Filters() -> impl IntoView {
    on_server(|| view! { <Fields /> }.into_any())
}

#[component]
fn Fields() -> impl IntoView {
    let text = &i18n::messages().on_server.filters;
    let selection = use_query_map().with_untracked(Selection::of_query);
    let choices = Resource::new(|| (), |()| list_choices());
    let kinds: Vec<Choice> = ["memory", "session", "media"]
        .into_iter()
        .zip(text.kinds)
        .map(|(code, name)| Choice::new(code, name))
        .collect();

    view! {
        <Suspense>
            {move || {
                let (selection, kinds) = (selection.clone(), kinds.clone());
                Suspend::new(async move {
                    let Choices { namespaces, facets } = choices.await.unwrap_or_default();
                    let names: Vec<String> = namespaces.iter().map(|namespace| namespace.name.clone()).collect();
                    let tags: Vec<String> = facets.tags.iter().map(|tag| tag.value.clone()).collect();
                    let namespaces = names.iter().map(|name| Choice::new(name, name)).collect();
                    let more_is_set = selection.narrows_more();
                    view! {
                        <div class="filters">
                            <Select name="namespace" label=text.namespace any=text.any_namespace choices=namespaces chosen=selection.namespace />
                            <Select name="tag" label=text.tag any=text.any_tag choices=counted(facets.tags) chosen=selection.tag />
                            <Select name="time" label=text.time any=text.any_time choices=periods() chosen=selection.time />
                            <details class="more-filters" class:is-set=more_is_set>
                                <summary>{text.more}</summary>
                                <div class="more">
                                    <Select name="client" label=text.client any=text.any_client choices=counted(facets.clients) chosen=selection.client />
                                    <Select name="source" label=text.source any=text.any_source choices=counted(facets.sources) chosen=selection.source />
                                    <Select name="kind" label=text.kind any=text.any_kind choices=kinds chosen=selection.kind />
                                    <Day name="from" label=text.from chosen=selection.from />
                                    <Day name="to" label=text.to chosen=selection.to />
                                    <label class="check">
                                        <input type="checkbox" name="corrected" value="yes" checked=!selection.corrected.is_empty() />
                                        {text.corrected}
                                    </label>
                                </div>
                            </details>
                            <a class="clear" href="/memories">
                                {text.clear}
                            </a>
                        </div>
                        <Suggestions id="known-namespaces" values=names />
                        <Suggestions id="known-tags" values=tags />
                    }
                })
            }}
        </Suspense>
    }
}

/// Something to choose from.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    value: String,
    name: String,
}

impl Choice {
    fn new(value: &str, name: &str) -> Self {
        Self { value: value.to_owned(), name: name.to_owned() }
    }

    fn counted(value: String, count: u64) -> Self {
        Self { name: format!("{value} ({})", i18n::grouped(count)), value }
    }
}

impl From<String> for Choice {
    fn from(value: String) -> Self {
        Self { name: value.clone(), value }
    }
}

/// The spans of time that a list can be narrowed to.
pub(crate) fn periods() -> Vec<Choice> {
    let names = i18n::messages().on_server.filters.periods;
    Period::ALL.into_iter().zip(names).map(|(period, name)| Choice::new(period.code(), name)).collect()
}

fn counted(values: Vec<ValueCount>) -> Vec<Choice> {
    values.into_iter().map(|ValueCount { value, memories }| Choice::counted(value, memories)).collect()
}

#[component]
pub(crate) fn Select(
    name: &'static str,
    label: &'static str,
    /// What it says while nothing is chosen.
    any: &'static str,
    choices: Vec<Choice>,
    chosen: String,
) -> impl IntoView {
    // What is chosen can be rarer than what is offered.
    let is_other = !chosen.is_empty() && !choices.iter().any(|choice| choice.value == chosen);
    let other = is_other.then(|| Choice::new(&chosen, &chosen));
    let options = choices.into_iter().chain(other).map(|Choice { value, name }| {
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

#[component]
fn Day(name: &'static str, label: &'static str, chosen: String) -> impl IntoView {
    // Browsers show nothing else in such a field, and complain; that it is no day, the list tells.
    let chosen = Some(chosen).filter(|day| day.parse::<jiff::civil::Date>().is_ok());
    view! {
        <label class="day">
            {label}
            <input class="input" type="date" name=name value=chosen />
        </label>
    }
}

/// What can be typed into fields for namespaces and labels, those of other forms on the page included.
#[component]
fn Suggestions(id: &'static str, values: Vec<String>) -> impl IntoView {
    let options = values.into_iter().map(|value| view! { <option value=value></option> });
    view! { <datalist id=id>{options.collect_view()}</datalist> }
}
