use std::time::Duration;

use leptos::{
    ev::{CompositionEvent, SubmitEvent},
    html::{Form, Input},
    prelude::*,
    wasm_bindgen::JsCast as _,
    web_sys::{FormData, HtmlFormElement, HtmlInputElement, HtmlSelectElement},
};
use leptos_router::{
    NavigateOptions,
    hooks::{use_location, use_navigate},
    params::ParamsMap,
};

use super::Filters;
use crate::{api::memories::Selection, i18n};

/// How long typing must pause before a search is made.
const PAUSE: Duration = Duration::from_millis(150);

/// Searches and narrows the list: a form whose fields are the query of the page's URL. On a living
/// page the list follows what is typed and chosen.
#[component]
pub(crate) fn SearchBar(
    /// What the list shows.
    selection: Memo<Selection>,
) -> impl IntoView {
    let text = &i18n::messages().search;
    let form = NodeRef::<Form>::new();
    let field = NodeRef::<Input>::new();
    let apply = apply(selection, form);

    let submit = {
        let apply = apply.clone();
        move |event: SubmitEvent| {
            event.prevent_default();
            apply();
        }
    };
    let choose = {
        let apply = apply.clone();
        move |_| apply()
    };
    // A search for half a word of pinyin would find nothing that the person means.
    let composing = StoredValue::new(false);
    let type_on = debounced(move || {
        if !composing.get_value() {
            apply();
        }
    });
    let typed = {
        let type_on = type_on.clone();
        move |_| type_on()
    };
    let composed = {
        let type_on = type_on.clone();
        move |_: CompositionEvent| {
            composing.set_value(false);
            type_on();
        }
    };

    // The fields follow the URL, which a link or the browser's history may change.
    Effect::new(move |before: Option<Selection>| {
        let now = selection.get();
        let (Some(form), Some(field)) = (form.get(), field.get()) else { return now };
        match before {
            // What was typed before the page came to life counts too.
            None if field.value() != now.q => type_on(),
            None => {}
            Some(before) => {
                if before.q != now.q && field.value().trim() == before.q.trim() {
                    field.set_value(&now.q);
                }
                show_in_filters(&form, &now);
            }
        }
        now
    });

    view! {
        <form class="search-bar" role="search" method="get" node_ref=form on:submit=submit on:change=choose>
            <div class="search-line">
                <input
                    class="input"
                    type="search"
                    name="q"
                    node_ref=field
                    value=selection.with_untracked(|selection| selection.q.clone())
                    placeholder=text.placeholder
                    aria-label=text.placeholder
                    maxlength=polymnemo_types::limits::QUERY_CHARS
                    autocomplete="off"
                    data-key="/"
                    on:input=typed
                    on:compositionstart=move |_| composing.set_value(true)
                    on:compositionend=composed
                />
                <button class="button-plain">{text.search}</button>
                <a class="button-main" href="/memories/new" data-key="n">
                    {text.new_memory}
                </a>
            </div>
            <Filters />
        </form>
    }
    .into_any()
}

/// Makes the fields of the form the query of the URL.
fn apply(selection: Memo<Selection>, form: NodeRef<Form>) -> impl Fn() + Clone + Send + Sync + 'static {
    let navigate = StoredValue::new(use_navigate());
    let path = use_location().pathname;
    move || {
        let Some(wanted) = form.get_untracked().and_then(|form| fields(&form)) else { return };
        let now = selection.get_untracked();
        if wanted == now.first_page() {
            return;
        }
        // One step back leads to before the search, not to half of its first word.
        let replace = wanted.is_search() && now.is_search();
        let options = NavigateOptions { replace, scroll: false, ..NavigateOptions::default() };
        navigate.with_value(|navigate| navigate(&wanted.at(&path.get_untracked()), options));
    }
}

/// What the fields of the form hold.
fn fields(form: &HtmlFormElement) -> Option<Selection> {
    let data = FormData::new_with_form(form).ok()?;
    let mut query = ParamsMap::new();
    for (name, _) in Selection::default().fields() {
        query.insert(name, data.get(name).as_string().unwrap_or_default());
    }
    Some(Selection::of_query(&query))
}

/// Makes the fields that narrow the list show what it shows.
fn show_in_filters(form: &HtmlFormElement, selection: &Selection) {
    for (name, value) in selection.fields() {
        let Ok(Some(field)) = form.query_selector(&format!(".filters [name={name}]")) else { continue };
        if let Some(select) = field.dyn_ref::<HtmlSelectElement>() {
            select.set_value(value);
        } else if let Some(input) = field.dyn_ref::<HtmlInputElement>() {
            if input.type_() == "checkbox" {
                input.set_checked(!value.is_empty());
            } else {
                input.set_value(value);
            }
        }
    }
}

/// A function that calls another one when it was not called for a while.
fn debounced(call: impl Fn() + Clone + Send + Sync + 'static) -> impl Fn() + Clone + Send + Sync + 'static {
    let waiting = StoredValue::new(None::<TimeoutHandle>);
    let stop = move || {
        if let Some(timer) = waiting.try_update_value(Option::take).flatten() {
            timer.clear();
        }
    };
    on_cleanup(stop);
    move || {
        stop();
        waiting.set_value(set_timeout_with_handle(call.clone(), PAUSE).ok());
    }
}
