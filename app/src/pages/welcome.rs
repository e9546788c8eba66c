#[cfg(feature = "ssr")]
mod parts;

use leptos::prelude::*;
use leptos_meta::{Meta, Title};

#[cfg(feature = "ssr")]
use self::parts::{Begin, Facts, Lead};
#[cfg(not(feature = "ssr"))]
use crate::components::{OnServer as Begin, OnServer as Facts, OnServer as Lead};
use crate::{components::StatusLine, i18n};

/// The first page: what polymnemo is, whether it is ready, and how to sign in and connect a client
/// to it. Who is signed in has their memories for a first page.
#[component]
pub(crate) fn Welcome() -> impl IntoView {
    #[cfg(feature = "ssr")]
    parts::lead_on();
    let text = &i18n::messages().welcome;

    view! {
        <Title text=text.title />
        <Meta name="description" content=text.lead />
        <div class="welcome">
            <section class="welcome-about">
                <Lead />
                <StatusLine />
                <Facts />
            </section>
            <div class="welcome-begin">
                <Begin />
            </div>
        </div>
    }
}
