//! A transcript on a living page. However long it is, only what is near the window is in the document: parts of it, and
//! empty room for the others, as high as they are or are likely to be. So the scroll bar tells where one is, and a part is
//! loaded when one comes near it.
//!
//! The server makes the parts as HTML; nothing here knows what is in a message.

mod parts;
mod passage;

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use futures::future::abortable;
use leptos::{
    prelude::*,
    wasm_bindgen::{JsCast as _, JsValue, closure::Closure},
    web_sys::{Event, HtmlElement, ScrollRestoration},
};
use polymnemo_types::{ErrorCode, MemoryId};

use self::parts::Parts;
use crate::{
    api::{WebError, sessions::read_transcript},
    components::PageOnServer,
};

/// How long a place must stay in the window until its messages are loaded. Whoever drags the scroll bar passes many.
const SETTLED: Duration = Duration::from_millis(80);
/// How long to wait until messages that could not be loaded are asked for again.
const AGAIN: Duration = Duration::from_secs(3);
/// How long scrolling must pause until the address of the page says where one is.
const PAUSE: Duration = Duration::from_millis(300);

/// One conversation.
#[component]
pub(crate) fn SessionDetail() -> impl IntoView {
    Effect::new(|_| {
        if let Some(transcript) = Transcript::on_page() {
            transcript.begin();
        }
        passage::begin();
    });
    view! { <PageOnServer /> }
}

#[derive(Clone)]
struct Transcript(Rc<Inner>);

struct Inner {
    session: MemoryId,
    /// The message that is shown whole.
    whole: Option<u32>,
    parts: RefCell<Parts>,
    /// Whether the page was painted where the address leads, so that other parts may come.
    begun: Cell<bool>,
    /// Whether the next frame looks at the window.
    expected: Cell<bool>,
    /// Whether what is missing is going to be loaded.
    loading: Cell<bool>,
    /// Whether the person has scrolled.
    scrolled: Cell<bool>,
    /// Counts what the address should say, so that only the last counts.
    told: Cell<u32>,
}

impl Transcript {
    fn on_page() -> Option<Self> {
        let place: HtmlElement = document().query_selector(".transcript").ok()??.dyn_into().ok()?;
        let number = |name| place.get_attribute(name).and_then(|number| number.parse::<u32>().ok());
        let inner = Inner {
            session: place.get_attribute("data-session")?.parse().ok()?,
            whole: number("data-whole"),
            parts: RefCell::new(Parts::new(&place, number("data-messages")?, number("data-part")?)?),
            begun: Cell::new(false),
            expected: Cell::new(false),
            loading: Cell::new(false),
            scrolled: Cell::new(false),
            told: Cell::new(0),
        };
        Some(Self(Rc::new(inner)))
    }

    fn begin(self) {
        if let Ok(Some(pager)) = document().query_selector(".transcript-pager") {
            pager.remove();
        }
        // The browser would scroll to where another part was.
        if let Ok(history) = window().history() {
            let _ = history.set_scroll_restoration(ScrollRestoration::Manual);
        }
        self.go_to_wanted();
        let on_scroll = {
            let transcript = self.clone();
            move || {
                if transcript.0.begun.get() && !transcript.0.parts.borrow().is_own_scrolling() {
                    transcript.0.scrolled.set(true);
                }
                transcript.expect_look();
            }
        };
        // Only when the page was painted there do other parts come: going there and making room above in one frame would
        // be a leap of all that is in sight. The first frame is painted after the first call, so before the second.
        let transcript = self.clone();
        request_animation_frame(move || {
            request_animation_frame(move || {
                transcript.0.begun.set(true);
                transcript.look();
                transcript.0.parts.borrow_mut().note_own_scrolling();
            });
        });
        // What scrolls is the page or a part of it, and only while the event goes down can it be heard here.
        listen("scroll", on_scroll);
        let on_resize = {
            let transcript = self.clone();
            window_event_listener(leptos::ev::resize, move |_| transcript.expect_look())
        };
        let on_toggle = move || self.expect_look();
        listen("toggle", on_toggle);
        on_cleanup(move || on_resize.remove());
    }

    /// Goes to the message that the address names, if that does not lead there by itself.
    fn go_to_wanted(&self) {
        let location = window().location();
        if location.hash().is_ok_and(|hash| !hash.is_empty()) {
            return;
        }
        let search = location.search().unwrap_or_default();
        let from = search.trim_start_matches('?').split('&').find_map(|field| field.strip_prefix("from="));
        let wanted = match from {
            Some(from) => document().get_element_by_id(&format!("message-{from}")).filter(|_| from != "1"),
            None => document().query_selector(".message.is-marked").ok().flatten(),
        };
        if let Some(message) = wanted {
            message.scroll_into_view();
        }
    }

    /// Looks at the window before the next frame.
    fn expect_look(&self) {
        if self.0.begun.get() && !self.0.expected.replace(true) {
            let transcript = self.clone();
            request_animation_frame(move || {
                transcript.0.expected.set(false);
                transcript.look();
                transcript.tell_place();
            });
        }
    }

    /// Puts what belongs near the window into the document.
    fn look(&self) {
        let is_missing = self.0.parts.borrow_mut().arrange();
        if is_missing && !self.0.loading.replace(true) {
            self.load_soon(SETTLED);
        }
    }

    fn load_soon(&self, wait: Duration) {
        let transcript = self.clone();
        set_timeout(
            move || {
                transcript.0.loading.set(false);
                transcript.load();
            },
            wait,
        );
    }

    /// Loads what is missing near the window.
    fn load(&self) {
        let missing = self.0.parts.borrow().missing();
        for (part, from) in missing {
            let (request, handle) = abortable(read_transcript(self.0.session, from, self.0.whole));
            self.0.parts.borrow_mut().ask(part, handle);
            let transcript = self.clone();
            leptos::task::spawn_local(async move {
                let Ok(answer) = request.await else { return };
                match answer {
                    Ok(loaded) => {
                        transcript.0.parts.borrow_mut().put(part, &loaded.markup.into_html());
                        transcript.look();
                    }
                    Err(WebError(error)) if error.code == ErrorCode::NotSignedIn => {
                        // The page leads to where one signs in.
                        let _ = window().location().reload();
                    }
                    Err(_) => {
                        transcript.0.parts.borrow_mut().fail(part);
                        if !transcript.0.loading.replace(true) {
                            transcript.load_soon(AGAIN);
                        }
                    }
                }
            });
        }
    }

    /// Lets the address of the page say where one is, so that it leads there again.
    fn tell_place(&self) {
        if !self.0.scrolled.get() {
            return;
        }
        let turn = self.0.told.get().wrapping_add(1);
        self.0.told.set(turn);
        let transcript = self.clone();
        set_timeout(
            move || {
                if transcript.0.told.get() != turn {
                    return;
                }
                let Some(number) = transcript.0.parts.borrow().first_in_sight() else { return };
                let (Ok(history), Ok(path)) = (window().history(), window().location().pathname()) else { return };
                let address = if number == 1 { path } else { format!("{path}?from={number}") };
                let state = history.state().unwrap_or(JsValue::NULL);
                let _ = history.replace_state_with_url(&state, "", Some(&address));
            },
            PAUSE,
        );
    }
}

/// Calls a function for each event of this name, wherever on the page it happens.
fn listen(name: &str, call: impl Fn() + 'static) {
    let call = Closure::<dyn Fn(Event)>::new(move |_| call()).into_js_value();
    if let Some(call) = call.dyn_ref() {
        let _ = document().add_event_listener_with_callback_and_bool(name, call, true);
    }
}
