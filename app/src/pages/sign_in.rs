use leptos::{either::EitherOf4, prelude::*};
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use crate::{
    api::{
        sign_in::{SignInOffer, SignInProblem, offered_sign_in},
        signed_in,
    },
    components::{on_server, with_code},
    i18n,
    paths::{after_sign_in, with_next},
};

/// The page on which a person signs in; `?next=` says where they wanted to go, and `?problem=` why
/// the last attempt failed. Who is signed in already goes on at once.
#[component]
pub(crate) fn SignIn() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let text = &i18n::messages().on_server.sign_in;
    let query = use_query_map();
    let problem = move || query.with(|query| query.get_str("problem").and_then(|code| code.parse().ok()));
    let offer = Resource::new(|| (), |()| offered_sign_in());
    if problem().is_none() && signed_in().is_some() {
        query.with(|query| leptos_axum::redirect(after_sign_in(query.get_str("next"))));
    }

    view! {
        <Title text=text.title />
        <section class="notice">
            <h1>{text.title}</h1>
            {move || problem().map(|problem| view! { <p class="fault" role="alert">{with_code(told(problem))}</p> })}
            <Suspense>
                {move || Suspend::new(async move {
                    let next = query.with_untracked(|query| after_sign_in(query.get_str("next")).to_owned());
                    offer.await.ok().map(|offer| view! { <Ways offer next /> })
                })}
            </Suspense>
        </section>
    }
}

/// The way that this server offers.
#[component]
pub(crate) fn Ways(offer: SignInOffer, next: String) -> impl IntoView {
    let text = &i18n::messages().on_server.sign_in;
    match offer {
        SignInOffer::GitHub { host } => EitherOf4::A(view! {
            <p>{text.github}</p>
            <p>
                // `external` leaves the link to the browser: it leads to the server, and on to GitHub.
                <a class="button-main" href=with_next("/sign-in/github", &next) rel="external">
                    {text.github_button} {(host != "github.com").then(|| format!(" ({host})"))}
                </a>
            </p>
        }),
        SignInOffer::Oidc { host } => EitherOf4::B(view! {
            <p>{text.oidc}</p>
            <p>
                <a class="button-main" href=with_next("/sign-in/oidc", &next) rel="external">
                    {text.oidc_button.0} {host} {text.oidc_button.1}
                </a>
            </p>
        }),
        SignInOffer::Link => EitherOf4::C(view! {
            <p>{with_code(text.link)}</p>
            <form class="field" method="post" action="/sign-in/link">
                <label for="link">{text.link_label}</label>
                <input class="input" id="link" name="link" type="password" autocomplete="off" required />
                <input type="hidden" name="next" value=next />
                <button class="button-main">{text.link_button}</button>
            </form>
        }),
        SignInOffer::Closed => EitherOf4::D(view! { <p>{with_code(text.closed)}</p> }),
    }
}

/// What went wrong, in words.
fn told(problem: SignInProblem) -> &'static str {
    let text = &i18n::messages().on_server.sign_in;
    match problem {
        SignInProblem::Denied => text.denied,
        SignInProblem::Expired => text.expired,
        SignInProblem::NotAllowed => text.not_allowed,
        SignInProblem::Provider => text.provider,
        SignInProblem::Link => text.bad_link,
        SignInProblem::NotLocal => text.not_local,
        SignInProblem::TooMany => text.too_many,
        SignInProblem::Unavailable => text.unavailable,
    }
}
