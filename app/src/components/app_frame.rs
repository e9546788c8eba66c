use leptos::prelude::*;
use leptos_router::components::Outlet;

use super::{Changes, Keyboard, KeyboardHelp, Navigation, Toast, Toasts, use_here};
use crate::{api::memories::count_memories, i18n};

/// The ids of what the navigation says that changes while the page lives.
pub(crate) const COUNT_OF_MEMORIES: &str = "count-of-memories";
pub(crate) const COUNT_OF_FORGOTTEN: &str = "count-of-forgotten";

/// What surrounds every page of a person who is signed in: the navigation beside or above it, and
/// the place where it says what was done.
#[component]
pub(crate) fn AppFrame() -> impl IntoView {
    #[cfg(feature = "ssr")]
    if crate::pages::is_asked_for_alone() {
        return view! { <Outlet /> }.into_any();
    }
    Changes::provide();
    Toast::provide();
    keep_navigation_true();
    let text = &i18n::messages().frame;
    view! {
        // `external` leaves the link to the browser: it moves the focus, the router would only scroll.
        <a class="skip-link" href="#content" rel="external">
            {text.skip_to_content}
        </a>
        <div class="app">
            <Navigation />
            <main id="content" tabindex="-1">
                <Outlet />
            </main>
        </div>
        <Toasts />
        <Keyboard />
        <KeyboardHelp />
    }
    .into_any()
}

/// The server makes the navigation once; what it says of the page that is open and of the memories
/// there are must stay true.
fn keep_navigation_true() {
    let here = use_here();
    Effect::new(move |_| {
        let here = here();
        if let Ok(Some(back)) = document().query_selector(".app-nav input[name=back]") {
            // Where one comes back to when the language is changed.
            let _ = back.set_attribute("value", &here);
        }
    });
    Effect::new(move |before: Option<u32>| {
        let changes = Changes::track();
        if before.is_some() {
            #[cfg(feature = "hydrate")]
            super::enliven::renew();
            leptos::task::spawn_local(async {
                // Where the server does not answer, the numbers stay as they are.
                if let Ok(counts) = count_memories().await {
                    for (id, count) in [(COUNT_OF_MEMORIES, counts.memories), (COUNT_OF_FORGOTTEN, counts.forgotten)] {
                        if let Some(element) = document().get_element_by_id(id) {
                            element.set_text_content(Some(&i18n::grouped(count)));
                        }
                    }
                }
            });
        } else if let Some(html) = document().document_element() {
            // The style sheet hides until now what would be of no use.
            let _ = html.set_attribute("data-alive", "");
        }
        changes
    });
}
