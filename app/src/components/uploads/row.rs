//! What the page shows of an upload.
//!
//! | markup in the row | what it is |
//! | --- | --- |
//! | `data-state` on the row | where it stands, see [`State`] |
//! | `[data-name]`, `[data-size]` | name and size of the file |
//! | `input[name=description]`, `input[name=namespace]` | what is known about it, until it starts |
//! | `progress`, `[data-amount]` | how much was sent; the attribute is the sentence, with `{sent}` and `{total}` |
//! | `[data-status]` | says where it stands, in the words of `data-chosen`, `data-waiting`… |
//! | `[data-fault]` | says what went wrong; `data-refused` are the words for a storage that took no part |
//! | `[data-when]` | there in these states only |
//! | `button[data-do]` | `again`, `cancel` |

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use leptos::{
    prelude::document,
    task::spawn_local,
    wasm_bindgen::JsCast as _,
    web_sys::{Element, File, HtmlElement, HtmlInputElement, HtmlProgressElement, HtmlTemplateElement},
};

use super::{element_in, way::Way};
use crate::i18n::size;

/// Where an upload stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It is to be described, and started by the person.
    Chosen,
    /// Its turn has not come.
    Waiting,
    /// It is on its way.
    Sending,
    /// All of it is there, and is being looked at.
    Checking,
    /// It broke off, and can go on.
    Broken,
    /// The server or the storage refused it; it can be tried from the beginning.
    Failed,
    /// It can't be sent at all.
    Refused,
    /// It has arrived.
    Done,
    /// Nobody wants it any more.
    Cancelled,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Chosen => "chosen",
            Self::Waiting => "waiting",
            Self::Sending => "sending",
            Self::Checking => "checking",
            Self::Broken => "broken",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether leaving the page would interrupt it.
    pub(super) fn is_busy(self) -> bool {
        self == Self::Waiting || self.is_moving()
    }

    /// Whether something is being done for it.
    pub(super) fn is_moving(self) -> bool {
        matches!(self, Self::Sending | Self::Checking)
    }
}

/// A file and its row.
pub(super) struct Row {
    pub(super) file: File,
    element: Element,
    state: Cell<State>,
    id: RefCell<Option<String>>,
    /// Ends the request that is on its way.
    stop: RefCell<Option<Rc<dyn Fn()>>>,
}

impl Row {
    /// A new row, on the page. Nothing where the page has no place for it.
    pub(super) fn new(file: File) -> Option<Self> {
        let template = document().query_selector("template[data-upload-row]").ok()??;
        let template: HtmlTemplateElement = template.dyn_into().ok()?;
        let element = template.content().first_element_child()?.clone_node_with_deep(true).ok()?;
        let element: Element = element.dyn_into().ok()?;
        // Before it is seen, so that nothing moves.
        let row = Self {
            file,
            element: element.clone(),
            state: Cell::new(State::Chosen),
            id: RefCell::default(),
            stop: RefCell::default(),
        };
        row.fill();
        document().query_selector("[data-uploads]").ok()??.append_child(&element).ok()?;
        Some(row)
    }

    fn fill(&self) {
        let name = self.file.name();
        self.write("[data-name]", &name);
        self.write("[data-size]", &size(self.bytes()));
        if let Some(field) = self.field("description") {
            field.set_value(&name);
        }
        if let Some(progress) = self.progress() {
            progress.set_max(self.file.size().max(1.0));
        }
        self.show_sent(0);
    }

    /// The size of the file, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.file.size() as u64
    }

    /// The id of its upload, once it has one.
    pub(super) fn id(&self) -> Option<String> {
        self.id.borrow().clone()
    }

    /// It is this upload from now on; or a new one.
    pub(super) fn set_id(&self, id: Option<String>) {
        *self.id.borrow_mut() = id;
    }

    pub(super) fn state(&self) -> State {
        self.state.get()
    }

    /// Whether nothing will come of it any more.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state(), State::Failed | State::Refused | State::Cancelled)
    }

    pub(super) fn set_state(&self, state: State) {
        self.state.set(state);
        let _ = self.element.set_attribute("data-state", state.name());
        if let Some(status) = element_in(&self.element, "[data-status]") {
            let said = status.get_attribute(&format!("data-{}", state.name()));
            status.set_text_content(said.as_deref());
        }
        if !matches!(state, State::Broken | State::Failed | State::Refused) {
            self.write("[data-fault]", "");
        }
        if let Ok(parts) = self.element.query_selector_all("[data-when]") {
            for part in (0..parts.length()).filter_map(|place| parts.get(place)?.dyn_into::<HtmlElement>().ok()) {
                let when = part.get_attribute("data-when").unwrap_or_default();
                part.set_hidden(!when.split(' ').any(|name| name == state.name()));
            }
        }
    }

    /// Tells why it broke off.
    pub(super) fn break_off(&self, why: &str) {
        self.set_state(State::Broken);
        self.write("[data-fault]", why);
    }

    /// What to say of a storage that did not take a part.
    pub(super) fn words_for_refusal(&self, status: u16) -> String {
        let fault = element_in(&self.element, "[data-fault]");
        let words = fault.and_then(|fault| fault.get_attribute("data-refused")).unwrap_or_default();
        words.replace("{status}", &status.to_string())
    }

    /// Tells that it was refused, and can be tried again.
    pub(super) fn fail(&self, why: &str) {
        self.set_state(State::Failed);
        self.write("[data-fault]", why);
    }

    /// Tells that it can't be sent.
    pub(super) fn refuse(&self, why: &str) {
        self.set_state(State::Refused);
        self.write("[data-fault]", why);
    }

    /// Shows how many bytes have been sent.
    pub(super) fn show_sent(&self, sent: u64) {
        let sent = sent.min(self.bytes());
        if let Some(progress) = self.progress() {
            progress.set_value(sent as f64);
        }
        if let Some(amount) = element_in(&self.element, "[data-amount]") {
            let sentence = amount.get_attribute("data-amount").unwrap_or_default();
            let sentence = sentence.replace("{sent}", &size(sent)).replace("{total}", &size(self.bytes()));
            amount.set_text_content(Some(&sentence));
        }
    }

    /// Leads to what it has become.
    pub(super) fn link_to(&self, path: &str) {
        if let Some(link) = element_in(&self.element, "a[data-when]") {
            let _ = link.set_attribute("href", path);
        }
    }

    /// What a field of the row holds.
    pub(super) fn text(&self, name: &str) -> String {
        self.field(name).map(|field| field.value()).unwrap_or_default()
    }

    pub(super) fn stop_by(&self, stop: Option<Rc<dyn Fn()>>) {
        *self.stop.borrow_mut() = stop;
    }

    /// Ends it, here and at the server, and takes it from the page.
    pub(super) fn cancel(&self, way: &Way) {
        let unfinished = !matches!(self.state(), State::Done);
        self.set_state(State::Cancelled);
        if let Some(stop) = self.stop.borrow_mut().take() {
            stop();
        }
        self.remove();
        if let Some(id) = self.id().filter(|_| unfinished) {
            let way = way.clone();
            // What can't be told now, the server finds out by itself after a day.
            spawn_local(async move { way.cancel(&id).await });
        }
    }

    pub(super) fn remove(&self) {
        self.element.remove();
    }

    pub(super) fn holds(&self, element: &Element) -> bool {
        self.element.contains(Some(element))
    }

    /// Keeps the focus in the row when the button that had it is gone.
    pub(super) fn focus(&self) {
        if let Some(element) = self.element.dyn_ref::<HtmlElement>() {
            let _ = element.focus();
        }
    }

    fn write(&self, selector: &str, text: &str) {
        if let Some(element) = element_in(&self.element, selector) {
            element.set_text_content(Some(text));
        }
    }

    fn field(&self, name: &str) -> Option<HtmlInputElement> {
        element_in(&self.element, &format!("input[name={name}]"))?.dyn_into().ok()
    }

    fn progress(&self) -> Option<HtmlProgressElement> {
        element_in(&self.element, "progress")?.dyn_into().ok()
    }
}
