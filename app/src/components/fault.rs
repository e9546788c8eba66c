use leptos::prelude::*;

use super::with_code;

/// What is wrong, next to what caused it.
#[component]
pub(crate) fn Fault(
    /// What went wrong. Text between backticks is code.
    fault: String,
    /// By which the cause names it as its description.
    #[prop(optional, into)]
    id: Option<String>,
) -> impl IntoView {
    view! {
        <p class="fault" id=id>
            {with_code(&fault)}
        </p>
    }
}
