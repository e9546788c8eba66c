use leptos::prelude::*;
use leptos_meta::Title;

/// Says that what the page was to show is not there, with the status 404. What belongs to someone else is told in the same
/// words.
#[component]
pub(crate) fn Missing(title: &'static str, text: &'static str) -> impl IntoView {
    answer_not_found();
    view! {
        <Title text=title />
        <header>
            <h1>{title}</h1>
            <p>{text}</p>
        </header>
    }
}

/// Gives the page that is being made the status 404.
pub(crate) fn answer_not_found() {
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(http::StatusCode::NOT_FOUND);
    }
}
