use leptos::prelude::*;

use super::Fault;

/// A field for one line of text, with its label above it, and below it what to know about it and
/// what is wrong with what it holds.
#[component]
pub(crate) fn TextField(
    /// The field's id, unique on the page.
    #[prop(into)]
    id: String,
    /// The name under which the form sends it.
    name: &'static str,
    label: &'static str,
    /// What it holds.
    #[prop(into)]
    value: String,
    #[prop(optional)] hint: Option<&'static str>,
    /// What is wrong. The field then has the focus when the page comes.
    fault: Option<String>,
    /// The greatest length, in characters as browsers count them.
    max: usize,
    /// The id of a `<datalist>` to choose from.
    #[prop(optional)]
    list: Option<&'static str>,
) -> impl IntoView {
    let hint_id = format!("{id}-hint");
    let fault_id = format!("{id}-fault");
    let described_by = [hint.map(|_| hint_id.clone()), fault.as_ref().map(|_| fault_id.clone())];
    let described_by: Vec<String> = described_by.into_iter().flatten().collect();
    let described_by = (!described_by.is_empty()).then(|| described_by.join(" "));
    let faulty = fault.is_some();

    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            <input
                class="input"
                id=id
                name=name
                value=value
                maxlength=max
                list=list
                required
                autocomplete="off"
                autofocus=faulty
                aria-invalid=faulty.then_some("true")
                aria-describedby=described_by
            />
            {hint.map(|hint| view! { <span class="hint" id=hint_id>{hint}</span> })}
            {fault.map(|fault| view! { <Fault id=fault_id fault /> })}
        </div>
    }
    .into_any()
}
