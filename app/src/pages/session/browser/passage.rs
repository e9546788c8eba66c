//! A passage that is selected can be remembered: a link comes up beside it, which leads to the form for that.

use std::time::Duration;

use leptos::{
    prelude::*,
    wasm_bindgen::JsCast as _,
    web_sys::{Element, HtmlElement, Node, Selection},
};

use super::listen;
use crate::components::draft;

/// How long a selection must stay as it is.
const SETTLED: Duration = Duration::from_millis(200);
/// The room around the link, in pixels.
const GAP: f64 = 8.0;

/// Looks at what is selected from now on.
pub(super) fn begin() {
    let Some(link) = link() else { return };
    let waiting = StoredValue::new(None::<TimeoutHandle>);
    listen("selectionchange", move || {
        if let Some(timer) = waiting.try_update_value(Option::take).flatten() {
            timer.clear();
        }
        waiting.try_set_value(set_timeout_with_handle(offer, SETTLED).ok());
    });
    let clicks = window_event_listener(leptos::ev::click, move |event| {
        let target = event.target().and_then(|target| target.dyn_into::<Node>().ok());
        if link.contains(target.as_ref()) {
            keep();
        }
    });
    // Pressing it must not end the selection.
    let presses = window_event_listener(leptos::ev::mousedown, |event| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        if target.is_some_and(|target| target.closest(".remember-passage").is_ok_and(|link| link.is_some())) {
            event.prevent_default();
        }
    });
    on_cleanup(move || {
        clicks.remove();
        presses.remove();
    });
}

/// What is selected of the messages.
struct Passage {
    text: String,
    /// The number of the message in which it begins.
    number: String,
    /// Where it ends in the window.
    left: f64,
    top: f64,
    bottom: f64,
}

impl Passage {
    fn selected() -> Option<Self> {
        let selection: Selection = window().get_selection().ok().flatten().filter(|it| !it.is_collapsed())?;
        let range = selection.get_range_at(0).ok()?;
        let message = message_of(&range.start_container().ok()?)?;
        // What ends outside of the messages is no passage of them.
        message_of(&range.end_container().ok()?)?;
        let text = String::from(selection.to_string());
        let text = text.trim().to_owned();
        let place = range.get_bounding_client_rect();
        let number = message.get_attribute("data-number")?;
        (!text.is_empty()).then(|| Self { text, number, left: place.left(), top: place.top(), bottom: place.bottom() })
    }
}

/// Shows the link where a passage is selected, and only there.
fn offer() {
    let Some(link) = link() else { return };
    let place = document().query_selector(".transcript").ok().flatten();
    let session = place.and_then(|place| place.get_attribute("data-session"));
    let (Some(passage), Some(session)) = (Passage::selected(), session) else {
        link.set_hidden(true);
        let _ = link.remove_attribute("data-key");
        return;
    };
    let _ = link.set_attribute("href", &format!("/memories/new?session={session}&message={}", passage.number));
    // Only while it is there does it have a key.
    let _ = link.set_attribute("data-key", "n");
    link.set_hidden(false);
    let own = link.get_bounding_client_rect();
    let side = |name: &dyn Fn() -> Option<f64>| name().unwrap_or_default();
    let width = side(&|| window().inner_width().ok()?.as_f64());
    let height = side(&|| window().inner_height().ok()?.as_f64());
    let left = passage.left.min(width - own.width() - GAP).max(GAP);
    // Below the passage; where that ends below the window, above it; where it fills the window, at its end.
    let below = passage.bottom + GAP;
    let above = passage.top - own.height() - GAP;
    let lowest = height - own.height() - GAP;
    let top = if below <= lowest {
        below
    } else if above >= GAP {
        above
    } else {
        lowest
    };
    let _ = link.style().set_property("left", &format!("{left}px"));
    let _ = link.style().set_property("top", &format!("{}px", top.max(GAP)));
}

/// Keeps the passage for the form that the link leads to. It is in the browser alone, never in an address.
fn keep() {
    let place = document().query_selector(".transcript").ok().flatten();
    let drafts = place.and_then(|place| place.get_attribute("data-drafts"));
    if let (Some(passage), Some(drafts)) = (Passage::selected(), drafts) {
        draft::keep(&format!("{drafts}:{}", passage.number), &passage.text);
    }
}

fn link() -> Option<HtmlElement> {
    document().query_selector(".remember-passage").ok()??.dyn_into().ok()
}

/// The message that a place in the document is in.
fn message_of(node: &Node) -> Option<Element> {
    let element = node.dyn_ref::<Element>().cloned().or_else(|| node.parent_element())?;
    element.closest(".message-body").ok()??.closest(".message").ok()?
}
