use leptos::prelude::*;

use super::on_server;
use crate::i18n;

/// The list of the keys, and the button that shows it. [`Keyboard`](super::Keyboard) opens it.
#[component]
pub(crate) fn KeyboardHelp() -> impl IntoView {
    on_server(|| view! { <Help /> }.into_any())
}

#[component]
fn Help() -> impl IntoView {
    let text = &i18n::messages().on_server.keyboard;
    let rows = text.keys.iter().map(|(keys, meaning)| {
        let keys = keys.split(' ').map(|key| view! { <kbd>{key}</kbd> }).collect_view();
        view! {
            <dt>{keys}</dt>
            <dd>{*meaning}</dd>
        }
    });
    view! {
        <button type="button" class="help-button needs-script" data-key="?" aria-label=text.title title=text.title>
            "?"
        </button>
        <dialog class="dialog" id="keyboard-help" aria-labelledby="keyboard-help-title">
            <h2 id="keyboard-help-title">{text.title}</h2>
            <dl class="keys">{rows.collect_view()}</dl>
            <form method="dialog">
                <button class="button-plain">{text.close}</button>
            </form>
        </dialog>
    }
}
