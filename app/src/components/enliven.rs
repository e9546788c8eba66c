//! Life for what the server made, see [`on_server`](mod@super::on_server).
//!
//! | markup | what happens |
//! | --- | --- |
//! | a `button.copy` in a `figure` | copies the text of the figure's `code` |
//! | a `time` | tells anew how long ago it was |
//! | an element with an id and `data-live` | is kept as the server would make it now |
//! | a `button` with `data-time-zone-for` | puts the browser's time zone into the field of that id |

#[cfg(feature = "hydrate")]
use leptos::prelude::Effect;

/// Brings to life what there is of this on the page, now and later.
pub(crate) fn enliven() {
    #[cfg(feature = "hydrate")]
    Effect::new(|_| browser::begin());
}

#[cfg(feature = "hydrate")]
mod browser {
    use std::time::Duration;

    use leptos::{ev, prelude::*, task::spawn_local, wasm_bindgen::JsCast, web_sys};
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{DomParser, Element, HtmlElement, HtmlInputElement, NodeList, Response, SupportedType};

    use crate::i18n::{Language, since_in};

    /// How often times are told anew.
    const TICK: Duration = Duration::from_secs(20);
    /// How often the server is asked for what has changed.
    const LOOK: Duration = Duration::from_secs(10);
    /// How long a button tells of what it did.
    const ECHO: Duration = Duration::from_secs(2);

    pub(super) fn begin() {
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
        let ticks = set_interval_with_handle(tell_times, TICK);
        let looks = set_interval_with_handle(look_again, LOOK);
        on_cleanup(move || {
            clicks.remove();
            for interval in [ticks, looks].into_iter().flatten() {
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

    fn look_again() {
        let is_live = document().query_selector("[data-live]").is_ok_and(|element| element.is_some());
        if is_live && !document().hidden() {
            spawn_local(async {
                // Where the server does not answer, what was known last is still the best there is.
                let _ = renew().await;
            });
        }
    }

    /// Asks for this page once more and takes over what is live in it.
    async fn renew() -> Option<()> {
        let address = window().location().href().ok()?;
        let response: Response = JsFuture::from(window().fetch_with_str(&address)).await.ok()?.dyn_into().ok()?;
        // After a redirect it is another page.
        if !response.ok() || response.redirected() {
            return None;
        }
        let html = JsFuture::from(response.text().ok()?).await.ok()?.as_string()?;
        let page = DomParser::new().ok()?.parse_from_string(&html, SupportedType::TextHtml).ok()?;
        for old in elements(&document().query_selector_all("[data-live][id]").ok()?) {
            if let Some(new) = page.get_element_by_id(&old.id())
                && new.inner_html() != old.inner_html()
            {
                old.set_inner_html(&new.inner_html());
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
