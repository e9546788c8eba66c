use leptos::{prelude::*, server_fn::ServerFn};

use super::use_here;
use crate::{
    api::language::ChooseLanguage,
    i18n::{self, language},
};

/// What surrounds every page: the skip link, the header, the footer.
#[component]
pub(crate) fn Frame(children: Children) -> impl IntoView {
    let text = &i18n::messages().frame;
    view! {
        // `external` leaves the link to the browser: it moves the focus, the router would only scroll.
        <a class="skip-link" href="#content" rel="external">
            {text.skip_to_content}
        </a>
        <header class="frame-header">
            <a class="brand" href="/" aria-label=text.home>
                <Mark />
                "polymnemo"
            </a>
            <OtherLanguage />
        </header>
        <main id="content" tabindex="-1">
            {children()}
        </main>
        <footer class="frame-footer">
            <span>{concat!("polymnemo ", env!("CARGO_PKG_VERSION"))}</span>
            <span>{text.licence}</span>
        </footer>
    }
}

/// The sign of polymnemo: many that meet in one.
#[component]
pub(crate) fn Mark() -> impl IntoView {
    view! {
        <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
            <path d="M12 13V3.5M12 13 4 18M12 13l8 5" />
            <circle cx="12" cy="13" r="4.5" />
            <circle cx="12" cy="3.5" r="2.5" />
            <circle cx="4" cy="18" r="2.5" />
            <circle cx="20" cy="18" r="2.5" />
        </svg>
    }
}

/// Switches to the other language: a plain form, which loads the page anew in that language.
#[component]
pub(crate) fn OtherLanguage() -> impl IntoView {
    let other = language().other();
    view! {
        <form method="post" action=ChooseLanguage::PATH>
            <input type="hidden" name="language" value=other.code() />
            <input type="hidden" name="back" value=use_here() />
            <button class="button-quiet" lang=other.tag()>
                {other.name()}
            </button>
        </form>
    }
}
