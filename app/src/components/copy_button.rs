use std::time::Duration;

use leptos::prelude::*;

use crate::i18n;

/// How long the button tells of what it did.
const ECHO: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Copied,
    Failed,
}

/// Puts a text on the clipboard.
///
/// It is hidden until the page is alive, and stays so where the browser gives no clipboard (pages
/// that are neither local nor https); the text beside it can always be selected.
#[component]
pub(crate) fn CopyButton(
    /// What is copied.
    text: String,
    /// What that is, for those who can't see what the button stands at.
    of: &'static str,
) -> impl IntoView {
    let messages = &i18n::messages().copy;
    let (usable, set_usable) = signal(false);
    let (outcome, set_outcome) = signal(None::<Outcome>);

    Effect::new(move |_| set_usable.set(window().is_secure_context()));
    Effect::new(move |_| {
        if outcome.get().is_some()
            && let Ok(timer) = set_timeout_with_handle(move || set_outcome.set(None), ECHO)
        {
            on_cleanup(move || timer.clear());
        }
    });

    let copy = move |_| {
        let text = text.clone();
        leptos::task::spawn_local(async move {
            let copied = write_to_clipboard(&text).await;
            set_outcome.try_set(Some(if copied { Outcome::Copied } else { Outcome::Failed }));
        });
    };
    let echo = move || {
        outcome.get().map(|outcome| match outcome {
            Outcome::Copied => messages.copied,
            Outcome::Failed => messages.failed,
        })
    };

    view! {
        <button type="button" class="button-quiet" aria-description=of hidden=move || !usable.get() on:click=copy>
            {move || echo().unwrap_or(messages.copy)}
        </button>
        <span class="visually-hidden" role="status">
            {echo}
        </span>
    }
    .into_any()
}

/// Whether the browser took the text.
#[cfg(feature = "hydrate")]
pub(super) async fn write_to_clipboard(text: &str) -> bool {
    let written = window().navigator().clipboard().write_text(text);
    wasm_bindgen_futures::JsFuture::from(written).await.is_ok()
}

/// The server renders the button and never runs it.
#[cfg(not(feature = "hydrate"))]
async fn write_to_clipboard(_text: &str) -> bool {
    false
}
