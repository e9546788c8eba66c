//! Everything that a keyboard can do beyond what browsers do by themselves.
//!
//! A key works by pressing what is on the page: the element with `data-key` set to that key. So
//! whatever has a key can be clicked as well, and a key does nothing where there is nothing to click.

use leptos::prelude::*;

/// Listens to the keys, once the page is alive.
#[component]
pub(crate) fn Keyboard() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    {
        let navigate = leptos_router::hooks::use_navigate();
        let keys = window_event_listener(leptos::ev::keydown, move |event| keys::pressed(&event, &navigate));
        let clicks = window_event_listener(leptos::ev::click, |event| keys::clicked(&event));
        let leaving = window_event_listener(leptos::ev::submit, |event| keys::leaving(&event));
        on_cleanup(move || {
            keys.remove();
            clicks.remove();
            leaving.remove();
        });
    }
}

#[cfg(feature = "hydrate")]
mod keys {
    use leptos::prelude::document;
    use leptos::{
        wasm_bindgen::JsCast as _,
        web_sys::{
            Element, HtmlAnchorElement, HtmlDialogElement, HtmlElement, HtmlInputElement, KeyboardEvent, MouseEvent,
            SubmitEvent,
        },
    };
    use leptos_router::NavigateOptions;

    /// The links of the rows of a list.
    const ROWS: &str = ".memory-row h3 a";

    /// Does what a key means.
    pub(super) fn pressed(event: &KeyboardEvent, navigate: &impl Fn(&str, NavigateOptions)) {
        if event.default_prevented() || event.is_composing() || event.ctrl_key() || event.meta_key() || event.alt_key()
        {
            return;
        }
        let focused = document().active_element();
        if first("dialog[open]").is_some() {
            return;
        }
        let key = event.key();
        if focused.as_ref().is_some_and(is_typed_into) {
            // A way out of a field, back to the keys.
            if key == "Escape"
                && let Some(field) = focused.and_then(|field| field.dyn_into::<HtmlElement>().ok())
            {
                let _ = field.blur();
            }
            return;
        }
        let row = focused.as_ref().and_then(|focused| focused.closest(".memory-row").ok().flatten());
        let done = match (key.as_str(), row) {
            ("j", row) => move_from(row.as_ref(), 1),
            ("k", row) => move_from(row.as_ref(), -1),
            ("/", _) => focus_on(first("[data-key='/']")),
            ("x", Some(row)) => click(row.query_selector("input[type=checkbox]").ok().flatten()),
            ("e", Some(row)) => match row.query_selector("h3 a").ok().flatten().and_then(|link| link.dyn_into().ok()) {
                Some(link) => {
                    edit(&link, navigate);
                    true
                }
                None => false,
            },
            ("#", row) => forget(row.as_ref()),
            ("e" | "u" | "n" | "?" | "Escape", _) => click(first(&format!("[data-key='{key}']"))),
            _ => false,
        };
        if done {
            event.prevent_default();
        }
    }

    /// The button that shows the list of the keys works without a key, too.
    pub(super) fn clicked(event: &MouseEvent) {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        if target.is_some_and(|target| target.closest("[data-key='?']").is_ok_and(|button| button.is_some()))
            && let Some(help) = first("#keyboard-help").and_then(|help| help.dyn_into::<HtmlDialogElement>().ok())
        {
            // It fails where the dialog is open already.
            let _ = help.show_modal();
        }
    }

    /// Whoever signs out leaves no half-written text behind.
    pub(super) fn leaving(event: &SubmitEvent) {
        let form = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        if form.and_then(|form| form.get_attribute("action")).is_some_and(|action| action.starts_with("/sign-out")) {
            crate::components::draft::forget_all();
        }
    }

    fn first(selector: &str) -> Option<Element> {
        document().query_selector(selector).ok().flatten()
    }

    fn click(element: Option<Element>) -> bool {
        let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) else { return false };
        element.click();
        true
    }

    fn focus_on(element: Option<Element>) -> bool {
        let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) else { return false };
        let _ = element.focus();
        if let Some(field) = element.dyn_ref::<HtmlInputElement>() {
            field.select();
        }
        true
    }

    /// Whether letters go into this element.
    fn is_typed_into(element: &Element) -> bool {
        match element.tag_name().as_str() {
            "TEXTAREA" | "SELECT" => true,
            "INPUT" => {
                !matches!(element.get_attribute("type").as_deref(), Some("checkbox" | "radio" | "button" | "submit"))
            }
            _ => false,
        }
    }

    /// Moves the focus along the rows of the list. From anywhere else it goes to the open row, or to
    /// the first one.
    fn move_from(row: Option<&Element>, step: i32) -> bool {
        let Ok(links) = document().query_selector_all(ROWS) else { return false };
        let link = |index: u32| links.item(index).and_then(|link| link.dyn_into::<Element>().ok());
        let place = (0..links.length()).find(|&index| {
            link(index).and_then(|link| link.closest(".memory-row").ok().flatten()).as_ref() == row && row.is_some()
        });
        match place {
            Some(place) => place.checked_add_signed(step).is_some_and(|next| focus_on(link(next))),
            None => focus_on(first(".memory-row.is-open h3 a").or_else(|| link(0))),
        }
    }

    /// Opens the form for a row's memory.
    fn edit(link: &HtmlAnchorElement, navigate: &impl Fn(&str, NavigateOptions)) {
        navigate(&format!("{}/edit{}", link.pathname(), link.search()), NavigateOptions::default());
    }

    /// Forgets the selected rows, or else the one that has the focus, or else the open memory.
    fn forget(row: Option<&Element>) -> bool {
        if first(".memory-row input:checked").is_none() {
            let Some(row) = row else { return click(first(".detail [data-key='#']")) };
            click(row.query_selector("input[type=checkbox]").ok().flatten());
        }
        click(first(".bulk-bar [data-key='#']"))
    }
}
