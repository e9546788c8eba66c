use leptos::prelude::*;

use crate::form::SentForm;

/// A form that calls a server function; the module [`form`](crate::form) says how.
#[component]
pub(crate) fn CallForm(
    /// The path of the page that the form is on: there it is sent, and there it comes back.
    page: &'static str,
    /// The path of the server function. The fields of the form are its parameters.
    call: &'static str,
    /// The path to go to when all went well. Without it the page is shown again, and finds the
    /// answer in [`SentForm`].
    #[prop(optional, into)]
    then: Option<String>,
    #[prop(optional)] class: Option<&'static str>,
    children: Children,
) -> impl IntoView {
    view! {
        <form method="post" action=page class=class>
            <input type="hidden" name=SentForm::CALL value=call />
            {then.map(|then| view! { <input type="hidden" name=SentForm::THEN value=then /> })}
            {children()}
        </form>
    }
    .into_any()
}
