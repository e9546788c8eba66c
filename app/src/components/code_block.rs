use leptos::prelude::*;

use super::CopyButton;

/// Text to be copied as it is, with a label and a copy button above it.
#[component]
pub(crate) fn CodeBlock(
    /// What the text is, in a few words.
    label: &'static str,
    /// The text.
    text: String,
) -> impl IntoView {
    view! {
        <figure class="code-block">
            <figcaption>
                <span>{label}</span>
                <CopyButton text=text.clone() />
            </figcaption>
            // Long lines scroll, and a keyboard can only scroll what it can reach.
            <pre tabindex="0" role="group" aria-label=label>
                <code>{text}</code>
            </pre>
        </figure>
    }
}
