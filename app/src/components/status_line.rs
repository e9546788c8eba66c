use std::time::Duration;

use leptos::prelude::*;

use super::with_code;
use crate::{
    api::{
        WebError,
        status::{Readiness, server_status},
    },
    i18n,
};

/// How often to look again while something is missing.
const WHILE_WAITING: Duration = Duration::from_secs(2);
/// How often to look again when all is well.
const WHILE_READY: Duration = Duration::from_secs(30);

/// One line on how the memory is doing. It is right when the page is rendered, and keeps itself
/// right once the page is alive.
#[component]
pub(crate) fn StatusLine() -> impl IntoView {
    let status = Resource::new(|| (), |()| server_status());
    view! {
        <Suspense>
            {move || Suspend::new(async move {
                let first = status.await;
                view! { <LiveStatus first /> }
            })}
        </Suspense>
    }
}

#[component]
fn LiveStatus(first: Result<Readiness, WebError>) -> impl IntoView {
    let (status, set_status) = signal(first);

    let look_again = move || {
        leptos::task::spawn_local(async move {
            // While nobody looks at the page, the last known status is good enough.
            let next = if document().hidden() { status.try_get_untracked() } else { Some(server_status().await) };
            if let Some(next) = next {
                set_status.try_set(next);
            }
        });
    };
    Effect::new(move |_| {
        let wait = if status.get() == Ok(Readiness::Ready) { WHILE_READY } else { WHILE_WAITING };
        if let Ok(timer) = set_timeout_with_handle(look_again, wait) {
            on_cleanup(move || timer.clear());
        }
    });

    let text = &i18n::messages().status;
    let (state, sentence) = (
        move || match status.get() {
            Ok(Readiness::Ready) => "ready",
            Ok(Readiness::ModelLoading) => "waiting",
            Ok(Readiness::ModelFailed | Readiness::StoreUnavailable) | Err(_) => "failed",
        },
        Memo::new(move |_| match status.get() {
            Ok(Readiness::Ready) => text.ready,
            Ok(Readiness::ModelLoading) => text.model_loading,
            Ok(Readiness::ModelFailed) => text.model_failed,
            Ok(Readiness::StoreUnavailable) => text.store_unavailable,
            Err(_) => text.unreachable,
        }),
    );
    view! {
        <p class="status-line" role="status" data-state=state>
            {move || with_code(sentence.get())}
        </p>
    }
}
