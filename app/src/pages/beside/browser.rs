use futures::future::{AbortHandle, abortable};
use leptos::{
    ev::{MouseEvent, SubmitEvent},
    form::form_data_from_event,
    html::Div,
    prelude::*,
    server_fn::request::browser::Request,
    wasm_bindgen::JsCast as _,
    web_sys::{DomParser, Element, HtmlElement, HtmlFormElement, SupportedType, Url},
};
use leptos_meta::Title;
use leptos_router::{hooks::use_location, hooks::use_navigate, hooks::use_query_map, params::ParamsMap};
use polymnemo_types::ErrorCode;

use super::ALONE;
use crate::{
    api::memories::Selection,
    app::TITLE_END,
    components::{Changes, Sent, Toast, draft, post, title_of_page, use_here},
    i18n,
    pages::memories::selection,
};

/// The place beside the list, and what happens in it.
#[component]
pub(crate) fn Beside() -> impl IntoView {
    let place = NodeRef::<Div>::new();
    let title = RwSignal::new(title_of_page());
    follow(place, title);
    let selection = selection();
    view! {
        <Title text=move || title.get() />
        <div
            class="on-server"
            inner_html=""
            node_ref=place
            on:click=move |event| clicked(&event, selection)
            on:input=move |event| draft::typed(&event)
            on:submit=on_submit(selection)
        ></div>
    }
}

/// Puts in place what the address says, whenever it says something else, and when something was
/// changed on this page.
fn follow(place: NodeRef<Div>, title: RwSignal<String>) {
    let came_with_page = Owner::current_shared_context().is_some_and(|context| context.during_hydration());
    let path = use_location().pathname;
    let query = use_query_map();
    // The window learns the address a moment later, when all is in place.
    let here = use_here();
    // What only the list is about changes nothing here.
    let address = Memo::new(move |_| {
        let mut own = ParamsMap::new();
        query.with(|query| {
            for (name, value) in query.latest_values().filter(|(name, _)| !Selection::has_field(name)) {
                own.insert(name.to_string(), value.to_owned());
            }
        });
        (path.get(), own)
    });
    let running = StoredValue::new(None::<AbortHandle>);
    let stop = move || {
        if let Some(request) = running.try_update_value(Option::take).flatten() {
            request.abort();
        }
    };
    on_cleanup(stop);
    Effect::new(move |before: Option<((String, ParamsMap), u32)>| {
        let now = (address.get(), Changes::track());
        let Some(place) = place.get() else { return now };
        match before {
            None if came_with_page => {
                draft::restore(&place);
                return now;
            }
            Some(before) if before == now => return now,
            _ => {}
        }
        stop();
        let path_changed = before.is_none_or(|before| before.0 != now.0);
        let (request, handle) = abortable(fetch(untrack(here)));
        running.set_value(Some(handle));
        leptos::task::spawn_local(async move {
            let Ok(part) = request.await else { return };
            match part {
                Some(part) => {
                    // Where nothing stands beside the list, it is the list's page.
                    let of_list = i18n::messages().memories.title;
                    title.try_set(if part.title.is_empty() { of_list.to_owned() } else { part.title });
                    if path_changed || part.html != place.inner_html() {
                        place.set_inner_html(&part.html);
                        draft::restore(&place);
                    }
                    if path_changed {
                        take_focus(&place);
                    }
                }
                // Whoever is not signed in any more, or can't reach the server, is told by a page.
                None => {
                    let _ = window().location().reload();
                }
            }
        });
        now
    });
}

struct Part {
    html: String,
    title: String,
}

/// Fetches what stands beside the list at an address of the page.
async fn fetch(address: String) -> Option<Part> {
    let response = Request::get(&address).header(ALONE, "1").send().await.ok()?;
    if response.redirected() {
        return None;
    }
    let html = response.text().await.ok()?;
    let page = DomParser::new().ok()?.parse_from_string(&html, SupportedType::TextHtml).ok()?;
    let part = page.query_selector(".on-server").ok()??;
    let title = page.title();
    Some(Part { html: part.inner_html(), title: title.strip_suffix(TITLE_END).unwrap_or(&title).to_owned() })
}

/// Gives the focus to the field that asks for it; else to the part itself, where it took the place
/// of the list that had the focus.
fn take_focus(place: &Element) {
    let find = |selector| {
        let found = place.query_selector(selector).ok().flatten();
        found.and_then(|found| found.dyn_into::<HtmlElement>().ok())
    };
    if let Some(field) = find("[autofocus]") {
        let _ = field.focus();
        return;
    }
    let list = document().query_selector(".list-pane").ok().flatten();
    if list.is_some_and(|list| list.client_height() == 0)
        && let Some(part) = find(".detail")
    {
        let _ = part.focus();
    }
}

fn clicked(event: &MouseEvent, selection: Memo<Selection>) {
    let Some(target) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else { return };
    draft::clicked(&target);
    // The list may show something else by now than when the link was made.
    if let Ok(Some(link)) = target.closest("a[data-list]")
        && let Some(href) = link.get_attribute("href")
    {
        let _ = link.set_attribute("href", &with_list(&href, &selection.get_untracked()));
    }
}

/// An address with another selection of the list.
fn with_list(address: &str, selection: &Selection) -> String {
    let Ok(url) = Url::new_with_base(address, &window().location().origin().unwrap_or_default()) else {
        return address.to_owned();
    };
    let mut with_list = selection.at(&url.pathname());
    for own in url.search().trim_start_matches('?').split('&').filter(|own| !own.is_empty()) {
        if !Selection::has_field(own.split('=').next().unwrap_or_default()) {
            with_list.push(if with_list.contains('?') { '&' } else { '?' });
            with_list.push_str(own);
        }
    }
    with_list
}

/// Sends a form without leaving the page.
fn on_submit(selection: Memo<Selection>) -> impl Fn(SubmitEvent) + 'static {
    let navigate = use_navigate();
    let (toast, changes) = (use_context::<Toast>(), use_context::<Changes>());
    move |event| {
        let form = event.target().and_then(|form| form.dyn_into::<HtmlFormElement>().ok());
        let (Some(form), Ok(data)) = (form, form_data_from_event(&event)) else { return };
        event.prevent_default();
        if form.has_attribute("aria-busy") {
            return;
        }
        let _ = form.set_attribute("aria-busy", "true");
        let navigate = navigate.clone();
        leptos::task::spawn_local(async move {
            match post(&data).await {
                Ok(Sent { notice, location, then }) => {
                    draft::forget(&form);
                    let _ = form.remove_attribute("aria-busy");
                    if let Some(toast) = toast {
                        toast.show(notice);
                    }
                    if let Some(changes) = changes {
                        changes.note();
                    }
                    let then = then.map(|then| with_list(&then, &selection.get_untracked()));
                    if let Some(path) = location.or(then) {
                        navigate(&path, Default::default());
                    }
                }
                Err(error) if matches!(error.code, ErrorCode::Unavailable | ErrorCode::NotSignedIn) => {
                    let _ = form.remove_attribute("aria-busy");
                    if let Ok(Some(place)) = form.query_selector("[data-trouble]") {
                        place.set_text_content(Some(&i18n::explain(&error, None)));
                    }
                }
                // Nothing was changed; the page that the server answers with tells where the fault is.
                Err(_) => {
                    let _ = form.submit();
                }
            }
        });
    }
}
