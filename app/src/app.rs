use leptos::{either::Either, prelude::*};
use leptos_meta::{Title, provide_meta_context};
use leptos_router::{
    SsrMode,
    components::{Outlet, ParentRoute, Route, Router, Routes},
    path,
};
use polymnemo_types::ErrorCode;

use crate::{
    components::{AppFrame, Frame, Now, enliven},
    form::SentForm,
    i18n::Language,
    pages::{
        AppCalls, Apps, BelowMemories, Connect, Consent, Erase, ErasureDetail, Exports, ImportDetail, Imports,
        KeptForm, MediaFile, MediaFiles, Memories, MessageDetail, Namespaces, NotFound, SessionDetail, Sessions,
        Settings, SignIn, Tokens, Trash, Upload, Welcome,
    },
};

/// What the titles of all pages end with.
pub(crate) const TITLE_END: &str = " · polymnemo";

/// The whole web app, from the skip link to the footer; the server renders it into the body of
/// its [`shell`](crate::shell), and the browser hydrates it there.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    provide_context(Language::of_page());
    SentForm::provide();
    Now::provide();
    enliven();
    #[cfg(not(feature = "ssr"))]
    crate::components::keep_title();

    view! {
        <Title formatter=whole_title />
        <Router>
            <Pages />
        </Router>
    }
}

/// The title of the document, for the title of a page.
fn whole_title(page: String) -> String {
    let title = page + TITLE_END;
    // The server puts it into the markup as it is, and a title can hold what anyone stored.
    #[cfg(feature = "ssr")]
    let title = crate::components::escaped(&title);
    title
}

/// The page of this address, unless a form was sent to it by someone who is not signed in any more.
#[component]
fn Pages() -> impl IntoView {
    SentForm::forget_on_leaving();
    let unsigned =
        SentForm::any().filter(|sent| sent.error().is_some_and(|error| error.code == ErrorCode::NotSignedIn));
    if unsigned.is_some() {
        return Either::Left(view! {
            <Frame>
                <KeptForm />
            </Frame>
        });
    }
    Either::Right(view! {
        <Routes fallback=|| view! { <Frame><NotFound /></Frame> }>
            <ParentRoute path=path!("") view=Public>
                <Route path=path!("/") view=Welcome ssr=SsrMode::Async />
                <Route path=path!("/sign-in") view=SignIn ssr=SsrMode::Async />
                <Route path=path!("/consent") view=Consent ssr=SsrMode::Async />
                <Route path=path!("/upload/:secret") view=Upload ssr=SsrMode::Async />
                <Route path=path!("/erase/:id") view=ErasureDetail ssr=SsrMode::Async />
            </ParentRoute>
            <ParentRoute path=path!("") view=AppFrame>
                <ParentRoute path=path!("/memories") view=Memories>
                    <Route path=path!("") view=BelowMemories ssr=SsrMode::Async />
                    <Route path=path!("/new") view=BelowMemories ssr=SsrMode::Async />
                    <Route path=path!("/:id") view=BelowMemories ssr=SsrMode::Async />
                    <Route path=path!("/:id/edit") view=BelowMemories ssr=SsrMode::Async />
                    <Route path=path!("/:id/history") view=BelowMemories ssr=SsrMode::Async />
                </ParentRoute>
                <Route path=path!("/sessions") view=Sessions ssr=SsrMode::Async />
                <Route path=path!("/sessions/:id") view=SessionDetail ssr=SsrMode::Async />
                <Route path=path!("/sessions/:id/messages/:number") view=MessageDetail ssr=SsrMode::Async />
                <Route path=path!("/media") view=MediaFiles ssr=SsrMode::Async />
                <Route path=path!("/media/:id") view=MediaFile ssr=SsrMode::Async />
                <Route path=path!("/trash") view=Trash ssr=SsrMode::Async />
                <Route path=path!("/namespaces") view=Namespaces ssr=SsrMode::Async />
                <Route path=path!("/apps") view=Apps ssr=SsrMode::Async />
                <Route path=path!("/apps/:id") view=AppCalls ssr=SsrMode::Async />
                <Route path=path!("/tokens") view=Tokens ssr=SsrMode::Async />
                <Route path=path!("/connect") view=Connect ssr=SsrMode::Async />
                <Route path=path!("/import") view=Imports ssr=SsrMode::Async />
                <Route path=path!("/import/:id") view=ImportDetail ssr=SsrMode::Async />
                <Route path=path!("/erase") view=Erase ssr=SsrMode::Async />
                <Route path=path!("/export") view=Exports ssr=SsrMode::Async />
                <Route path=path!("/settings") view=Settings ssr=SsrMode::Async />
            </ParentRoute>
        </Routes>
    })
}

/// The pages outside the app: those for everyone, and where an app asks to be let in.
#[component]
fn Public() -> impl IntoView {
    view! {
        <Frame>
            <Outlet />
        </Frame>
    }
}
