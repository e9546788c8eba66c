//! Life for what the server made, see [`on_server`](mod@super::on_server).
//!
//! | markup | what happens |
//! | --- | --- |
//! | a `button.copy` in a `figure` | copies the text of the figure's `code` |
//! | a `time` | tells anew how long ago it was |
//! | an element with an id and `data-live` | is kept as the server would make it now; with `data-live="soon"` as it changes |
//! | a `form` with `data-live-search` | what has that id follows what is typed and chosen |
//! | a `button` with `data-time-zone-for` | puts the browser's time zone into the field of that id |
//! | `[data-uploader]` | sends files, see the module `uploads` |

#[cfg(feature = "hydrate")]
use leptos::prelude::Effect;

/// Makes what is live on the page anew, after something was changed.
#[cfg(feature = "hydrate")]
pub(crate) fn renew() {
    browser::renew_now();
}

/// Brings to life what there is of this on the page, now and later.
pub(crate) fn enliven() {
    #[cfg(feature = "hydrate")]
    Effect::new(|_| browser::begin());
}

#[cfg(feature = "hydrate")]
pub(super) use browser::renew_soon;

#[cfg(feature = "hydrate")]
mod browser {
    use std::time::Duration;

    use leptos::{ev, prelude::*, task::spawn_local, wasm_bindgen::JsCast, web_sys};
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{
        DomParser, Element, Event, FormData, HtmlElement, HtmlFormElement, HtmlInputElement, NodeList, Response,
        SupportedType, UrlSearchParams,
    };

    use crate::i18n::{Language, since_in};

    /// How often times are told anew.
    const TICK: Duration = Duration::from_secs(20);
    /// How often the server is asked for what has changed.
    const LOOK: Duration = Duration::from_secs(10);
    /// The same where it changes while one looks.
    const LOOK_SOON: Duration = Duration::from_secs(1);
    /// How long typing must pause until a list follows it.
    const PAUSE: Duration = Duration::from_millis(200);
    /// How long a button tells of what it did.
    const ECHO: Duration = Duration::from_secs(2);

    pub(super) fn begin() {
        crate::components::uploads::begin();
        // Browsers give pages a clipboard that are local or https.
        if window().is_secure_context()
            && let Some(html) = document().document_element()
        {
            // An attribute of this name can always be set.
            let _ = html.set_attribute("data-copies", "");
        }
        offer_time_zone();
        let clicks = window_event_listener(ev::click, |event| {
            if let Some(button) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) {
                press(&button);
            }
        });
        let waiting = StoredValue::new(None::<TimeoutHandle>);
        let follow = move |event: &Event, pause| {
            let Some(form) = searched(event) else { return };
            if let Some(timer) = waiting.try_update_value(Option::take).flatten() {
                timer.clear();
            }
            waiting.try_set_value(set_timeout_with_handle(move || search(&form), pause).ok());
        };
        let inputs = window_event_listener(ev::input, move |event| {
            // Half a word of pinyin means nothing; it ends with an event of its own.
            if !event.unchecked_ref::<leptos::web_sys::InputEvent>().is_composing() {
                follow(&event, PAUSE);
            }
        });
        let compositions = window_event_listener(ev::compositionend, move |event| follow(&event, PAUSE));
        let submits = window_event_listener(ev::submit, move |event| {
            if searched(&event).is_some() {
                event.prevent_default();
                follow(&event, Duration::ZERO);
            }
        });
        let ticks = set_interval_with_handle(tell_times, TICK);
        let looks = set_interval_with_handle(|| look_again("[data-live]"), LOOK);
        let soon = set_interval_with_handle(|| look_again("[data-live='soon']"), LOOK_SOON);
        on_cleanup(move || {
            clicks.remove();
            inputs.remove();
            compositions.remove();
            submits.remove();
            for interval in [ticks, looks, soon].into_iter().flatten() {
                interval.clear();
            }
        });
    }

    fn press(target: &Element) {
        if let Ok(Some(button)) = target.closest("button.copy") {
            spawn_local(copy(button));
        } else if let Ok(Some(button)) = target.closest("button[data-time-zone-for]") {
            fill_in_time_zone(&button);
        }
    }

    /// The form whose list follows it, if it is in one that something happens.
    fn searched(event: &Event) -> Option<HtmlFormElement> {
        let target = event.target()?.dyn_into::<Element>().ok()?;
        target.closest("form[data-live-search]").ok()??.dyn_into().ok()
    }

    /// Makes what a form asks for the address of the page, and lets the list follow.
    fn search(form: &HtmlFormElement) {
        let Some(query) = FormData::new_with_form(form)
            .ok()
            .and_then(|fields| UrlSearchParams::new_with_str_sequence_sequence(&fields).ok())
        else {
            return;
        };
        for name in ["q", "namespace", "client", "time"] {
            // What narrows nothing is not told.
            if query.get(name).is_some_and(|value| value.trim().is_empty()) {
                query.delete(name);
            }
        }
        let query = String::from(query.to_string());
        let address = if query.is_empty() { form.action() } else { format!("{}?{query}", form.action()) };
        if let Ok(history) = window().history() {
            let state = history.state().unwrap_or_default();
            let _ = history.replace_state_with_url(&state, "", Some(&address));
        }
        let list = form.get_attribute("data-live-search").and_then(|id| document().get_element_by_id(&id));
        if let Some(list) = &list {
            let _ = list.set_attribute("aria-busy", "true");
        }
        spawn_local(async move {
            if renew("[data-live][id]").await.is_none() {
                // A page that can't be loaded tells so itself.
                let _ = window().location().reload();
            }
            if let Some(list) = list {
                let _ = list.remove_attribute("aria-busy");
            }
        });
    }

    async fn copy(button: Element) {
        let Ok(Some(figure)) = button.closest("figure") else { return };
        let text = figure.query_selector("code").ok().flatten().and_then(|code| code.text_content());
        let copied = write_to_clipboard(&text.unwrap_or_default()).await;
        let messages = &Language::of_page().messages().copy;
        let said = if copied { messages.copied } else { messages.failed };
        button.set_text_content(Some(said));
        let status = figure.query_selector("[role=status]").ok().flatten();
        if let Some(status) = &status {
            status.set_text_content(Some(said));
        }
        set_timeout(
            move || {
                button.set_text_content(Some(messages.copy));
                if let Some(status) = status {
                    status.set_text_content(None);
                }
            },
            ECHO,
        );
    }

    /// Whether the browser took the text.
    async fn write_to_clipboard(text: &str) -> bool {
        JsFuture::from(window().navigator().clipboard().write_text(text)).await.is_ok()
    }

    fn tell_times() {
        let Ok(times) = document().query_selector_all(".on-server time") else { return };
        let language = Language::of_page();
        for time in elements(&times) {
            let at = time.get_attribute("datetime").map(|at| js_sys::Date::parse(&at));
            if let Some(at) = at.filter(|at| at.is_finite()) {
                let seconds = ((js_sys::Date::now() - at) / 1000.0) as i64;
                time.set_text_content(Some(&since_in(language, seconds)));
            }
        }
    }

    fn look_again(selector: &str) {
        let live = document().query_selector(selector).ok().flatten();
        // Whoever is at something in it is not to lose that.
        let focused = document().active_element();
        let is_in_use = live.as_ref().is_some_and(|live| live.contains(focused.as_deref()));
        if live.is_some() && !is_in_use && !document().hidden() {
            renew_now();
        }
    }

    pub(super) fn renew_now() {
        if document().query_selector("[data-live]").is_ok_and(|element| element.is_some()) {
            spawn_local(async {
                // Where the server does not answer, what was known last is still the best there is.
                let _ = renew("[data-live][id]").await;
            });
        }
    }

    /// Shows anew what these selectors choose, which must have ids, as the server would make it now.
    pub(in crate::components) fn renew_soon(selector: &'static str) {
        spawn_local(async move {
            let _ = renew(selector).await;
        });
    }

    /// Asks for this page once more and takes over what these selectors choose in it.
    async fn renew(selector: &str) -> Option<()> {
        let address = window().location().href().ok()?;
        let response: Response = JsFuture::from(window().fetch_with_str(&address)).await.ok()?.dyn_into().ok()?;
        // After a redirect it is another page.
        if !response.ok() || response.redirected() {
            return None;
        }
        let html = JsFuture::from(response.text().ok()?).await.ok()?.as_string()?;
        if window().location().href().ok()? != address {
            // It is not that page any more; who changed the address asks for the other one.
            return Some(());
        }
        let page = DomParser::new().ok()?.parse_from_string(&html, SupportedType::TextHtml).ok()?;
        for old in elements(&document().query_selector_all(selector).ok()?) {
            let Some(new) = page.get_element_by_id(&old.id()) else { continue };
            if new.inner_html() != old.inner_html() {
                old.set_inner_html(&new.inner_html());
            }
            if !new.has_attribute("data-live") {
                // It has come to rest.
                let _ = old.remove_attribute("data-live");
            }
        }
        Some(())
    }

    fn offer_time_zone() {
        let button = document().query_selector("button[data-time-zone-for]").ok().flatten();
        if let (Some(button), Some(zone)) =
            (button.and_then(|button| button.dyn_into::<HtmlElement>().ok()), time_zone())
        {
            button.set_text_content(Some(&format!("{} {zone}", button.inner_text())));
            button.set_hidden(false);
        }
    }

    fn fill_in_time_zone(button: &Element) {
        let field = button.get_attribute("data-time-zone-for").and_then(|id| document().get_element_by_id(&id));
        if let (Some(field), Some(zone)) =
            (field.and_then(|field| field.dyn_into::<HtmlInputElement>().ok()), time_zone())
        {
            field.set_value(&zone);
        }
    }

    /// The time zone that the browser is in.
    fn time_zone() -> Option<String> {
        let format = js_sys::Intl::DateTimeFormat::new(&js_sys::Array::new(), &js_sys::Object::new());
        js_sys::Reflect::get(&format.resolved_options(), &"timeZone".into()).ok()?.as_string()
    }

    fn elements(list: &NodeList) -> impl Iterator<Item = Element> {
        (0..list.length()).filter_map(|index| list.get(index)?.dyn_into().ok())
    }
}
