use leptos::prelude::*;

use crate::i18n;

/// Text to be copied as it is, with a label and a copy button above it.
#[component]
pub(crate) fn CodeBlock(
    /// What the text is, in a few words.
    label: &'static str,
    /// The text.
    text: String,
    /// Whether long lines go on below instead of being scrolled: for prose.
    #[prop(optional)]
    wraps: bool,
) -> impl IntoView {
    view! {
        <figure class="code-block" class:wraps=wraps>
            <figcaption>
                <span>{label}</span>
                // Seen where it can do something: once the page is alive, and where there is a clipboard.
                <button type="button" class="button-quiet copy" aria-description=label>
                    {i18n::messages().copy.copy}
                </button>
                <span class="visually-hidden" role="status"></span>
            </figcaption>
            // Long lines scroll, and a keyboard can only scroll what it can reach.
            <pre tabindex="0" role="group" aria-label=label>
                <code>{text}</code>
            </pre>
        </figure>
    }
    .into_any()
}
