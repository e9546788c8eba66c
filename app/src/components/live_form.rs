use leptos::{ev::SubmitEvent, form::form_data_from_event, prelude::*};
use leptos_router::{
    hooks::{use_location, use_navigate},
    location::Location,
};
use polymnemo_types::ApiError;

use super::Toast;
use crate::{api::changes::Notice, form::SentForm};

/// Counts the changes that were made on this page, so that what shows memories looks at them again.
#[derive(Clone, Copy)]
pub(crate) struct Changes(RwSignal<u32>);

impl Changes {
    /// Makes the count known to everything on the page.
    pub(crate) fn provide() {
        provide_context(Self(RwSignal::new(0)));
    }

    /// Reads the count reactively.
    pub(crate) fn track() -> u32 {
        use_context::<Self>().map_or(0, |changes| changes.0.get())
    }

    /// Says that something has changed.
    pub(crate) fn note(self) {
        self.0.update(|count| *count = count.wrapping_add(1));
    }
}

/// How the sending of a [`LiveForm`] goes.
#[derive(Clone, Copy)]
pub(crate) struct Sending {
    calls: &'static [&'static str],
    busy: RwSignal<bool>,
    error: RwSignal<Option<ApiError>>,
}

impl Sending {
    /// For forms that call one of these server functions. One that was sent without a script may
    /// have failed just now.
    pub(crate) fn to(calls: &'static [&'static str]) -> Self {
        let failed = failed(calls).and_then(|sent| sent.error().cloned());
        Self { calls, busy: RwSignal::new(false), error: RwSignal::new(failed) }
    }

    /// Whether the answer is still to come.
    pub(crate) fn is_busy(self) -> bool {
        self.busy.get()
    }

    /// What went wrong the last time.
    pub(crate) fn error(self) -> Option<ApiError> {
        self.error.get()
    }

    /// What a field held when the form was sent without a script and failed.
    pub(crate) fn typed(self, name: &str) -> Option<String> {
        failed(self.calls)?.text(name).map(str::to_owned)
    }
}

/// The form that led to this page, where it called one of these server functions in vain.
fn failed(calls: &[&str]) -> Option<SentForm> {
    SentForm::any().filter(|sent| sent.error().is_some() && calls.contains(&sent.call.as_str()))
}

/// A form that calls a server function which answers with a [`Notice`].
///
/// Without a script it works as a [`CallForm`](super::CallForm) of the page that it is on. On a
/// living page it is sent without leaving the page, to the same server function and with the same
/// fields: the notice becomes a toast, what shows memories looks at them again, and the page
/// changes only where the server function or the form says where to go.
#[component]
pub(crate) fn LiveForm(
    /// How it goes.
    sending: Sending,
    /// The path of the server function; where there is none, each button of the form names its own.
    #[prop(optional)]
    call: Option<&'static str>,
    /// The path to go to when all went well, with its query.
    #[prop(optional, into)]
    then: Option<Signal<String>>,
    /// What else to do when all went well.
    #[prop(optional, into)]
    on_done: Option<Callback<()>>,
    /// Its id, for fields elsewhere on the page that belong to it.
    #[prop(optional)]
    id: Option<&'static str>,
    #[prop(optional)] class: Option<&'static str>,
    children: Children,
) -> impl IntoView {
    let submit = on_submit(sending, on_done);
    view! {
        // Without `action` it is sent to the address of the page, whatever that is by then.
        <form method="post" id=id class=class on:submit=submit aria-busy=move || sending.is_busy().then_some("true")>
            {children()}
            {call.map(|call| view! { <input type="hidden" name=SentForm::CALL value=call /> })}
            {then.map(|then| view! { <input type="hidden" name=SentForm::THEN value=then /> })}
        </form>
    }
    .into_any()
}

/// The address of the page: its path and query.
pub(crate) fn use_here() -> impl Fn() -> String + Copy + Send + Sync + 'static {
    let Location { pathname, search, .. } = use_location();
    move || {
        let (path, search) = (pathname.get(), search.get());
        if search.is_empty() { path } else { format!("{path}?{search}") }
    }
}

/// Sends a form without leaving the page.
fn on_submit(sending: Sending, on_done: Option<Callback<()>>) -> impl Fn(SubmitEvent) + 'static {
    let navigate = use_navigate();
    let here = use_here();
    let (toast, changes) = (use_context::<Toast>(), use_context::<Changes>());
    move |event| {
        // A button that leads to another page is left to the browser, and so is what can't be read.
        let leaves = event.submitter().is_some_and(|button| button.has_attribute("formaction"));
        if leaves {
            return;
        }
        let Ok(form) = form_data_from_event(&event) else { return };
        event.prevent_default();
        if sending.busy.get_untracked() {
            return;
        }
        sending.busy.set(true);
        let navigate = navigate.clone();
        leptos::task::spawn_local(async move {
            let outcome = post(&form).await;
            sending.busy.try_set(false);
            match outcome {
                Ok(Sent { notice, location, then }) => {
                    sending.error.try_set(None);
                    if let Some(on_done) = on_done {
                        on_done.try_run(());
                    }
                    if let Some(toast) = toast {
                        toast.show(notice);
                    }
                    if let Some(changes) = changes {
                        changes.note();
                    }
                    if let Some(path) = location.or(then).filter(|path| *path != untrack(here)) {
                        navigate(&path, Default::default());
                    }
                }
                Err(error) => {
                    sending.error.try_set(Some(error));
                }
            }
        });
    }
}

/// What came of a form.
pub(crate) struct Sent {
    pub(crate) notice: Notice,
    /// Where the server function says to go.
    pub(crate) location: Option<String>,
    /// Where the form says to go.
    pub(crate) then: Option<String>,
}

/// Calls the server function that a form names, just as the server itself does for a form that
/// comes without a script.
#[cfg(feature = "hydrate")]
pub(crate) async fn post(form: &web_sys::FormData) -> Result<Sent, ApiError> {
    use leptos::server_fn::{error::SERVER_FN_ERROR_HEADER, request::browser::Request};
    use polymnemo_types::ErrorCode;

    let unreachable =
        || ApiError { code: ErrorCode::Unavailable, message: crate::i18n::messages().errors.no_connection.to_owned() };
    let field = |name| form.get(name).as_string();
    let call = field(SentForm::CALL).unwrap_or_default();
    // A form with text fields alone, as all of ours are, can always become a query.
    let body = web_sys::UrlSearchParams::new_with_str_sequence_sequence(form).map_err(|_| unreachable())?;
    let request = Request::post(&call)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .header("Accept", "application/json")
        .body(String::from(body.to_string()))
        .map_err(|_| unreachable())?;
    let response = request.send().await.map_err(|_| unreachable())?;
    let (ok, headers) = (response.ok(), response.headers());
    let answer = response.text().await.map_err(|_| unreachable())?;
    if ok && !headers.has(SERVER_FN_ERROR_HEADER) {
        let notice = serde_json::from_str(&answer).map_err(|_| unreachable())?;
        return Ok(Sent { notice, location: headers.get("location"), then: field(SentForm::THEN) });
    }
    Err(serde_json::from_str(&answer).unwrap_or_else(|_| unreachable()))
}

/// The server renders forms and never sends them.
#[cfg(not(feature = "hydrate"))]
async fn post(_form: &leptos::web_sys::FormData) -> Result<Sent, ApiError> {
    use polymnemo_types::ErrorCode;

    Err(ApiError { code: ErrorCode::Internal, message: String::new() })
}
