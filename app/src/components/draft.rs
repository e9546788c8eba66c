//! Keeps what is typed into a field until it is saved, should the page be left by accident or the
//! session end in between. It stays in the browser, and is gone when the tab is closed.
//!
//! A field has a draft where it has `data-draft`, with a name that no other field has. Beside it, in
//! the same form, stands an element with `data-draft-note`, which is hidden unless the field shows
//! what was typed before; a button with `data-draft-discard` in it takes that back.

use leptos::{
    ev::Event,
    prelude::window,
    wasm_bindgen::JsCast as _,
    web_sys::{Element, HtmlElement, HtmlTextAreaElement, Storage},
};

/// What the names of drafts begin with in the storage.
const PREFIX: &str = "draft:";

/// Fills in what was typed before.
pub(crate) fn restore(place: &Element) {
    let Some((field, name)) = field_in(place) else { return };
    let kept = storage().and_then(|storage| storage.get_item(&name).ok().flatten());
    if let Some(kept) = kept.filter(|kept| *kept != field.value()) {
        field.set_value(&kept);
        show_note(place, true);
    }
}

/// Keeps what a field holds that was just typed into.
pub(crate) fn typed(event: &Event) {
    let field = event.target().and_then(|field| field.dyn_into::<HtmlTextAreaElement>().ok());
    if let Some(field) = field
        && let Some(name) = name_of(&field)
        && let Some(storage) = storage()
    {
        // A full storage costs the draft, not the text in the field.
        let _ = storage.set_item(&name, &field.value());
    }
}

/// Takes back what was filled in where the button for that was pressed, or forgets it where a link
/// with `data-draft-forget` was followed.
pub(crate) fn clicked(target: &Element) {
    if target.closest("[data-draft-forget]").is_ok_and(|link| link.is_some())
        && let Ok(Some(part)) = target.closest(".detail")
    {
        forget(&part);
    }
    let Ok(Some(_)) = target.closest("[data-draft-discard]") else { return };
    let Ok(Some(form)) = target.closest("form") else { return };
    if let Some((field, _)) = field_in(&form) {
        field.set_value(&field.default_value().unwrap_or_default());
    }
    forget(&form);
}

/// Keeps a text for a field that is yet to come.
pub(crate) fn keep(name: &str, text: &str) {
    if let Some(storage) = storage() {
        // A full storage costs the draft; the field then holds what the server put there.
        let _ = storage.set_item(&format!("{PREFIX}{name}"), text);
    }
}

/// Forgets everything that was typed: whoever signs out leaves nothing behind for the next one.
pub(crate) fn forget_all() {
    let Some(storage) = storage() else { return };
    let names: Vec<String> = (0..storage.length().unwrap_or_default())
        .filter_map(|place| storage.key(place).ok().flatten())
        .filter(|name| name.starts_with(PREFIX))
        .collect();
    for name in names {
        let _ = storage.remove_item(&name);
    }
}

/// What was typed is saved, or not wanted.
pub(crate) fn forget(form: &Element) {
    if let Some((_, name)) = field_in(form)
        && let Some(storage) = storage()
    {
        let _ = storage.remove_item(&name);
    }
    show_note(form, false);
}

fn field_in(place: &Element) -> Option<(HtmlTextAreaElement, String)> {
    let field = place.query_selector("textarea[data-draft]").ok()??;
    let field: HtmlTextAreaElement = field.dyn_into().ok()?;
    let name = name_of(&field)?;
    Some((field, name))
}

fn name_of(field: &Element) -> Option<String> {
    field.get_attribute("data-draft").map(|name| format!("{PREFIX}{name}"))
}

fn show_note(place: &Element, shown: bool) {
    let note = place.query_selector("[data-draft-note]").ok().flatten();
    if let Some(note) = note.and_then(|note| note.dyn_into::<HtmlElement>().ok()) {
        note.set_hidden(!shown);
    }
}

fn storage() -> Option<Storage> {
    window().session_storage().ok().flatten()
}
