use leptos::{prelude::*, server_fn::ServerFn, wasm_bindgen::JsCast as _, web_sys::HtmlElement};

use super::{LiveForm, Sending, memory_row::BULK};
use crate::{
    api::changes::{ChangeMemories, ForgetMemories},
    form::SentForm,
    i18n,
};

/// What can be done with the selected rows of the list.
///
/// The boxes of the rows belong to this form by its id. That the bar is there only while a row is
/// selected, and how many are, the style sheet knows; so it is the same with and without a script.
#[component]
pub(crate) fn BulkBar(
    /// The address of the list, to come back to.
    here: Signal<String>,
) -> impl IntoView {
    let text = &i18n::messages().bulk;
    let sending = Sending::to(&[ChangeMemories::PATH, ForgetMemories::PATH]);
    let bar = NodeRef::<leptos::html::Div>::new();
    let done = Callback::new(move |()| clear(bar));
    let typed = move |name| sending.typed(name).unwrap_or_default();
    view! {
        <div class="bulk-bar" node_ref=bar>
            <LiveForm sending id=BULK then=here on_done=done>
                <p class="selected">{text.selected.0} " " <span class="selected-count"></span> " " {text.selected.1}</p>
                <details class="bulk-change" open=sending.typed("add_tags").is_some()>
                    <summary class="button-quiet">{text.change}</summary>
                    <div class="bulk-fields">
                        <label class="field">
                            <span class="label">{text.add_tags}</span>
                            <input class="input" name="add_tags" list="known-tags" value=typed("add_tags") autocomplete="off" />
                        </label>
                        <label class="field">
                            <span class="label">{text.remove_tags}</span>
                            <input class="input" name="remove_tags" list="known-tags" value=typed("remove_tags") autocomplete="off" />
                        </label>
                        <label class="field">
                            <span class="label">{text.move_to}</span>
                            <input class="input" name="namespace" list="known-namespaces" value=typed("namespace") autocomplete="off" />
                        </label>
                        <span class="hint">{text.commas}</span>
                        <button class="button-main" name=SentForm::CALL value=ChangeMemories::PATH>
                            {text.apply}
                        </button>
                    </div>
                </details>
                <button class="button-quiet" name=SentForm::CALL value=ForgetMemories::PATH data-key="#">
                    {text.forget}
                </button>
                // Leaves for the page that shows what goes, with what is selected in its address.
                <button class="button-quiet" formmethod="get" formaction="/erase">
                    {text.erase}
                </button>
                <button type="reset" class="button-quiet">
                    {text.clear}
                </button>
            </LiveForm>
            {move || {
                sending
                    .error()
                    .map(|error| view! { <p class="fault" role="alert">{i18n::explain(&error, text.refused)}</p> })
            }}
        </div>
    }
    .into_any()
}

/// Selects nothing any more, and closes the fields.
fn clear(bar: NodeRef<leptos::html::Div>) {
    let Some(bar) = bar.get_untracked() else { return };
    if let Ok(Some(details)) = bar.query_selector("details") {
        let _ = details.remove_attribute("open");
    }
    let reset = bar.query_selector("button[type=reset]").ok().flatten();
    if let Some(reset) = reset.and_then(|reset| reset.dyn_into::<HtmlElement>().ok()) {
        reset.click();
    }
}
