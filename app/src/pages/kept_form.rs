use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_location;

use crate::{
    components::{in_textarea, on_server},
    form::SentForm,
    i18n,
    paths::sign_in_path,
};

/// The page for someone who sent a form after their session had ended: it keeps all that they
/// typed, so that they can sign in elsewhere and send it again. Nothing of it is stored.
#[component]
pub(crate) fn KeptForm() -> impl IntoView {
    on_server(|| SentForm::any().map(|sent| view! { <Page sent /> }).into_any())
}

#[component]
fn Page(sent: SentForm) -> impl IntoView {
    let text = &i18n::messages().on_server.kept_form;
    let page = use_location().pathname.get_untracked();
    let sign_in = sign_in_path(&page);
    // A text is shown, so that a person sees that it is there; what the form knew by itself is not.
    let values = sent.fields.iter().map(|(_, value)| value).filter(|value| value.contains(char::is_whitespace));
    let typed = values.max_by_key(|value| value.len()).cloned();
    let fields = sent.fields.into_iter();

    view! {
        <Title text=text.title />
        <section class="notice">
            <h1>{text.title}</h1>
            <p>{text.text}</p>
            <p>
                <a class="button-main" href=sign_in target="_blank" rel="external noopener">
                    {text.sign_in}
                </a>
            </p>
            <form method="post" action=page>
                {fields.map(|(name, value)| view! { <input type="hidden" name=name value=value /> }).collect_view()}
                <button class="button-plain">{text.send}</button>
            </form>
            {typed.map(|typed| view! { <textarea class="input" readonly aria-label=text.typed>{in_textarea(&typed)}</textarea> })}
        </section>
    }
    .into_any()
}
