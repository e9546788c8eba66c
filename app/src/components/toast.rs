use std::time::Duration;

use leptos::{prelude::*, server_fn::ServerFn};

use super::{LiveForm, Sending, use_here};
use crate::{
    api::changes::{Notice, UndoChange, take_notice},
    i18n,
};

/// How long a toast stays, unless someone is at it.
const STAY: Duration = Duration::from_secs(20);

/// What the page says was done last.
#[derive(Clone, Copy)]
pub(crate) struct Toast {
    /// Nothing as long as nothing was done on this page: then it may have come with a notice.
    shown: RwSignal<Option<Option<Notice>>>,
}

impl Toast {
    /// Makes the toast known to everything on the page.
    pub(crate) fn provide() {
        provide_context(Self { shown: RwSignal::new(None) });
    }

    /// Tells of something that was done.
    pub(crate) fn show(self, notice: Notice) {
        self.shown.set(Some(Some(notice)));
    }

    fn hide(self) {
        self.shown.set(Some(None));
    }
}

/// The place where the page says what was done, with a way to undo it. It takes neither room nor
/// focus.
#[component]
pub(crate) fn Toasts() -> impl IntoView {
    let came_with = Resource::new(|| (), |()| take_notice());
    view! {
        <div class="toasts" role="status">
            <Suspense>
                {move || Suspend::new(async move {
                    let came_with = came_with.await.ok().flatten();
                    view! { <Shown came_with /> }
                })}
            </Suspense>
        </div>
    }
}

#[component]
fn Shown(came_with: Option<Notice>) -> impl IntoView {
    let toast = use_context::<Toast>();
    let text = &i18n::messages().notices;
    let shown = move || toast.and_then(|toast| toast.shown.get()).unwrap_or_else(|| came_with.clone());
    let here = use_here();
    let undoing = Sending::to(&[UndoChange::PATH]);
    move || {
        shown().map(|notice| {
            let box_of_it = NodeRef::<leptos::html::Div>::new();
            Effect::new(move |_| leave_in_a_while(toast, box_of_it));
            let said = (text.done)(notice.deed, notice.memories.into(), notice.skipped.into());
            let undo = notice.undo.map(|undo| {
                view! {
                    <LiveForm sending=undoing call=UndoChange::PATH then=Signal::derive(here)>
                        <input type="hidden" name="undo" value=undo />
                        <button class="toast-undo" data-key="u">{text.undo}</button>
                    </LiveForm>
                }
            });
            let failed = move || undoing.error().map(|error| view! { <span>{i18n::explain(&error, None)}</span> });
            view! {
                <div class="toast" node_ref=box_of_it>
                    <span>{said}</span>
                    {failed}
                    {undo}
                    <Dismiss />
                </div>
            }
        })
    }
}

/// Takes the toast away. Without a script it leaves with the page.
#[component]
fn Dismiss() -> impl IntoView {
    let toast = use_context::<Toast>();
    let text = &i18n::messages().notices;
    view! {
        <button
            type="button"
            class="toast-dismiss needs-script"
            aria-label=text.dismiss
            on:click=move |_| {
                if let Some(toast) = toast {
                    toast.hide();
                }
            }
        >
            "×"
        </button>
    }
}

/// Takes the toast away after a while, but not while the pointer or the focus is on it.
fn leave_in_a_while(toast: Option<Toast>, box_of_it: NodeRef<leptos::html::Div>) {
    let Some(toast) = toast else { return };
    let interval = set_interval_with_handle(
        move || {
            let busy =
                box_of_it.get_untracked().is_some_and(|toast| toast.matches(":hover, :focus-within").unwrap_or(false));
            if !busy {
                toast.hide();
            }
        },
        STAY,
    );
    if let Ok(interval) = interval {
        on_cleanup(move || interval.clear());
    }
}
