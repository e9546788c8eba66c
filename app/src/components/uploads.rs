//! Sends files that are dropped, pasted or picked: with progress, several at once, and again from where it broke off.
//!
//! The page has all the words; this finds its places by attributes:
//!
//! | markup | what it is |
//! | --- | --- |
//! | `[data-uploader]` | where files are dropped, with the form for browsers without a script in it |
//! | the same with `data-token` and `data-id` | where the one file of an upload link is dropped |
//! | the same with `data-least`, `data-most` | how many bytes a file may have, and what to say of others: `data-wrong-size` |
//! | `template[data-upload-row]` | the row of a file, see [`row`] |
//! | `[data-uploads]` | where the rows go |
//! | `[data-start]` | starts what was chosen; there while there is something to start |
//! | `[data-unfinished]` | an upload that broke off (its id), with `data-name` and `data-size` |
//! | `[data-shows-uploads]` with an id | what is to be shown anew when a file has arrived |
//! | `[data-until-done]`, `[data-when-done]` | what is there until the file of an upload link has arrived, and then |
//!
//! A file goes in parts. Before each few of them the server says which are missing and where they go, so that what broke
//! off goes on with what is not there yet: after a failing network, after the page was loaded anew, and from another tab.

mod put;
mod row;
mod transfer;
mod way;

use std::{cell::RefCell, rc::Rc};

use leptos::{
    ev,
    prelude::{document, on_cleanup, window_event_listener},
    task::spawn_local,
    wasm_bindgen::JsCast as _,
    web_sys::{DataTransfer, Element, File, FileList, HtmlElement, HtmlInputElement},
};

use self::{
    row::{Row, State},
    way::Way,
};

/// How many files are sent at once; the others wait.
const AT_ONCE: usize = 2;

/// The uploads of a page.
struct Uploads {
    place: Element,
    rows: RefCell<Vec<Rc<Row>>>,
    way: Way,
}

/// Brings the place for uploads to life, where the page has one.
pub(super) fn begin() {
    let Ok(Some(place)) = document().query_selector("[data-uploader]") else { return };
    let way = Way::of(&place);
    let uploads = Rc::new(Uploads { place, rows: RefCell::default(), way });
    let _ = uploads.place.set_attribute("data-sends", "");

    // What was chosen before the page was alive.
    if let Some(input) = element_in(&uploads.place, ".drop-zone input").and_then(|input| input.dyn_into().ok()) {
        uploads.take_from(&input);
    }
    let on = uploads.clone();
    let changes = window_event_listener(ev::change, move |event| {
        let input = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        if let Some(input) = input.filter(|input| input.type_() == "file" && on.place.contains(Some(input))) {
            on.take_from(&input);
        }
    });
    let on = uploads.clone();
    let over = window_event_listener(ev::dragover, move |event| {
        if event.data_transfer().is_some_and(|data| holds_files(&data)) {
            event.prevent_default();
            let _ = on.place.set_attribute("data-dragged-over", "");
        }
    });
    let on = uploads.clone();
    let leaving = window_event_listener(ev::dragleave, move |event| {
        // Out of the window, not only into another element.
        if event.related_target().is_none() {
            let _ = on.place.remove_attribute("data-dragged-over");
        }
    });
    let on = uploads.clone();
    let drops = window_event_listener(ev::drop, move |event| {
        let _ = on.place.remove_attribute("data-dragged-over");
        if let Some(data) = event.data_transfer().filter(holds_files) {
            // Wherever it is dropped: the browser would leave the page and show the file.
            event.prevent_default();
            on.add(data.files().map(|files| files_in(&files)).unwrap_or_default());
        }
    });
    let on = uploads.clone();
    let pastes = window_event_listener(ev::paste, move |event| {
        let files = event.clipboard_data().and_then(|data| data.files()).map(|files| files_in(&files));
        if let Some(files) = files.filter(|files| !files.is_empty()) {
            event.prevent_default();
            on.add(files);
        }
    });
    let on = uploads.clone();
    let submits = window_event_listener(ev::submit, move |event| {
        if event
            .target()
            .and_then(|form| form.dyn_into::<Element>().ok())
            .is_some_and(|form| on.place.contains(Some(&form)))
        {
            event.prevent_default();
            on.start();
        }
    });
    let on = uploads.clone();
    let clicks = window_event_listener(ev::click, move |event| {
        if let Some(target) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) {
            on.press(&target);
        }
    });
    let on = uploads.clone();
    let online = window_event_listener(ev::online, move |_| on.again());
    let on = uploads.clone();
    let unloads = window_event_listener(ev::beforeunload, move |event| {
        if on.rows.borrow().iter().any(|row| row.state().is_busy()) {
            // The browser asks whether to leave.
            event.prevent_default();
        }
    });
    on_cleanup(move || {
        for listener in [changes, over, leaving, drops, pastes, submits, clicks, online, unloads] {
            listener.remove();
        }
    });
}

impl Uploads {
    /// Takes what was chosen.
    fn take_from(self: &Rc<Self>, input: &HtmlInputElement) {
        let files = input.files().map(|files| files_in(&files)).unwrap_or_default();
        // So that the same file can be chosen again.
        input.set_value("");
        self.add(files);
    }

    /// Shows a row for each file. What broke off before goes on at once; the rest waits until it is described.
    fn add(self: &Rc<Self>, files: Vec<File>) {
        if self.way.is_of_link() {
            // There is one file to send.
            if let Some(file) = files.into_iter().next().filter(|_| self.rows.borrow().iter().all(|row| row.is_over()))
            {
                for row in self.rows.borrow_mut().drain(..) {
                    row.remove();
                }
                self.add_one(file, State::Waiting);
            }
        } else {
            for file in files {
                self.add_one(file, State::Chosen);
            }
        }
        self.go_on();
    }

    fn add_one(self: &Rc<Self>, file: File, state: State) {
        let Some(row) = Row::new(file) else { return };
        let row = Rc::new(row);
        if let Some(problem) = way::problem_of(&self.place, &row) {
            row.refuse(&problem);
        } else if let Some(id) = self.way.unfinished(&row) {
            // Everything but the bytes is known of it.
            row.set_id(Some(id));
            row.set_state(State::Waiting);
        } else {
            row.set_state(state);
        }
        self.rows.borrow_mut().push(row);
    }

    /// Starts everything that was chosen.
    fn start(self: &Rc<Self>) {
        for row in self.rows.borrow().iter().filter(|row| row.state() == State::Chosen) {
            row.set_state(State::Waiting);
        }
        self.go_on();
    }

    /// Tries again what the network broke.
    fn again(self: &Rc<Self>) {
        for row in self.rows.borrow().iter().filter(|row| row.state() == State::Broken) {
            row.set_state(State::Waiting);
        }
        self.go_on();
    }

    /// Sends what waits, as far as its turn has come.
    fn go_on(self: &Rc<Self>) {
        loop {
            let rows = self.rows.borrow();
            let busy = rows.iter().filter(|row| row.state().is_moving()).count();
            let next = rows.iter().find(|row| row.state() == State::Waiting).filter(|_| busy < AT_ONCE);
            let Some(row) = next.cloned() else { break };
            drop(rows);
            row.set_state(State::Sending);
            let uploads = self.clone();
            spawn_local(async move {
                transfer::send(&row, &uploads.way).await;
                uploads.go_on();
                if row.state() == State::Done {
                    uploads.arrived();
                }
            });
        }
        self.offer_start();
    }

    /// Shows what starts the chosen ones, as long as there are any.
    fn offer_start(&self) {
        let chosen = self.rows.borrow().iter().any(|row| row.state() == State::Chosen);
        if let Some(start) = element_in(&self.place, "[data-start]") {
            start.set_hidden(!chosen);
        }
    }

    /// A file has arrived: the rest of the page is to show it.
    fn arrived(&self) {
        if self.way.is_of_link() {
            if let Ok(Some(before)) = document().query_selector("[data-until-done]") {
                let _ = before.set_attribute("hidden", "");
            }
            if let Ok(Some(done)) = document().query_selector("[data-when-done]") {
                let _ = done.remove_attribute("hidden");
                if let Some(heading) = element_in(&done, "[tabindex]") {
                    let _ = heading.focus();
                }
            }
        } else if !self.rows.borrow().iter().any(|row| row.state().is_busy()) {
            // Once for all of them.
            super::enliven::renew_soon("[data-shows-uploads][id]");
        }
    }

    /// Does what a button of a row says.
    fn press(self: &Rc<Self>, target: &Element) {
        let Ok(Some(button)) = target.closest("[data-do]") else { return };
        let row = self.rows.borrow().iter().find(|row| row.holds(&button)).cloned();
        let (Some(row), Some(wanted)) = (row, button.get_attribute("data-do")) else { return };
        match wanted.as_str() {
            "again" => {
                row.set_state(State::Waiting);
                row.focus();
            }
            _ => {
                row.cancel(&self.way);
                self.rows.borrow_mut().retain(|other| !Rc::ptr_eq(other, &row));
                if let Some(input) = element_in(&self.place, "input[type=file]") {
                    let _ = input.focus();
                }
            }
        }
        self.go_on();
    }
}

fn element_in(place: &Element, selector: &str) -> Option<HtmlElement> {
    place.query_selector(selector).ok()??.dyn_into().ok()
}

fn holds_files(data: &DataTransfer) -> bool {
    data.types().iter().any(|kind| kind == "Files")
}

fn files_in(list: &FileList) -> Vec<File> {
    (0..list.length()).filter_map(|index| list.get(index)).collect()
}
