//! What the server is asked about an upload: by who is signed in, or by whoever has the link to it.

use leptos::{
    prelude::{document, window},
    wasm_bindgen::JsCast as _,
    web_sys::{Element, HtmlElement, Storage},
};

use super::row::Row;
use crate::api::{
    WebError,
    media::{
        PartsToSend, begin_upload, cancel_upload, confirm_link_upload, confirm_upload, next_link_parts, next_parts,
    },
};

/// What the names of the files that are on their way begin with in the storage of the browser.
const PREFIX: &str = "upload:";

/// How the server knows who asks.
#[derive(Clone)]
pub(super) enum Way {
    /// By the session.
    Own,
    /// By the token of a link, which is for this upload.
    Link { token: String, id: String },
}

impl Way {
    /// The way of the page.
    pub(super) fn of(place: &Element) -> Self {
        match (place.get_attribute("data-token"), place.get_attribute("data-id")) {
            (Some(token), Some(id)) => Self::Link { token, id },
            _ => Self::Own,
        }
    }

    pub(super) fn is_of_link(&self) -> bool {
        matches!(self, Self::Link { .. })
    }

    /// The upload that broke off before and is that of this file, by its name and size.
    pub(super) fn unfinished(&self, row: &Row) -> Option<String> {
        if let Self::Link { id, .. } = self {
            return Some(id.clone());
        }
        let unfinished = document().query_selector_all("[data-unfinished]").ok()?;
        let mut unfinished =
            (0..unfinished.length()).filter_map(|place| unfinished.get(place)?.dyn_into::<HtmlElement>().ok());
        let entry = unfinished.find(|entry| {
            !entry.hidden()
                && entry.get_attribute("data-name") == Some(row.file.name())
                && entry.get_attribute("data-size") == Some(row.bytes().to_string())
        })?;
        // From now on it is where the others are.
        entry.set_hidden(true);
        entry.get_attribute("data-unfinished")
    }

    /// Announces the file; gives the id of its upload.
    pub(super) async fn begin(&self, row: &Row) -> Result<String, WebError> {
        if let Self::Link { id, .. } = self {
            return Ok(id.clone());
        }
        begin_upload(row.file.name(), row.file.type_(), row.bytes(), row.text("description"), row.text("namespace"))
            .await
    }

    /// The parts to send next.
    pub(super) async fn next(&self, id: &str, after: u32, again: bool) -> Result<PartsToSend, WebError> {
        match self {
            Self::Own => next_parts(id.to_owned(), after, again).await,
            Self::Link { token, .. } => next_link_parts(token.clone(), after, again).await,
        }
    }

    /// Says that all is there; gives the path of the page of what it became, where there is one for who asks.
    pub(super) async fn confirm(&self, id: &str) -> Result<Option<String>, WebError> {
        match self {
            Self::Own => confirm_upload(id.to_owned()).await.map(Some),
            Self::Link { token, .. } => confirm_link_upload(token.clone()).await.map(|()| None),
        }
    }

    /// Gives it up. Whoever has only the link can't: others may still wait for the file.
    pub(super) async fn cancel(&self, id: &str) {
        forget(id);
        if let Self::Own = self {
            let _ = cancel_upload(id.to_owned()).await;
        }
    }
}

/// What keeps a file from being sent at all.
pub(super) fn problem_of(place: &Element, row: &Row) -> Option<String> {
    let bound = |name: &str| place.get_attribute(name)?.parse::<u64>().ok();
    let fits = bound("data-least").is_none_or(|least| row.bytes() >= least)
        && bound("data-most").is_none_or(|most| row.bytes() <= most);
    if fits { None } else { place.get_attribute("data-wrong-size") }
}

/// Keeps in mind which file an upload is of. A page can't get at it again by itself; but when the person chooses it anew, what
/// was sent of it counts.
pub(super) fn keep(id: &str, row: &Row) {
    if let Some(storage) = storage() {
        // Without it, the file is sent from its beginning.
        let _ = storage.set_item(&name_of(id), &fingerprint(row));
    }
}

/// Whether the upload is of this very file, as far as this browser knows: another one may have the same name and size.
pub(super) fn is_of(id: &str, row: &Row) -> bool {
    let kept = storage().and_then(|storage| storage.get_item(&name_of(id)).ok().flatten());
    kept == Some(fingerprint(row))
}

/// The upload is over.
pub(super) fn forget(id: &str) {
    if let Some(storage) = storage() {
        let _ = storage.remove_item(&name_of(id));
    }
}

fn fingerprint(row: &Row) -> String {
    format!("{}:{}", row.bytes(), row.file.last_modified())
}

fn name_of(id: &str) -> String {
    format!("{PREFIX}{id}")
}

fn storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}
