use leptos::prelude::*;
use polymnemo_types::{ApiError, ErrorCode};

use super::use_here;
use crate::{i18n, paths::sign_in_path};

/// Stands where something was to be shown and could not be: what went wrong, and what to do.
#[component]
pub(crate) fn Trouble(error: ApiError) -> impl IntoView {
    let text = &i18n::messages().trouble;
    let here = use_here();
    let next = if error.code == ErrorCode::NotSignedIn {
        view! { <a href=move || sign_in_path(&here()) rel="external">{text.sign_in}</a> }.into_any()
    } else {
        view! { <a href=here rel="external">{text.try_again}</a> }.into_any()
    };
    view! {
        <div class="note is-bad" role="alert">
            <p>{i18n::explain(&error, None)}</p>
            <p>{next}</p>
        </div>
    }
    .into_any()
}
