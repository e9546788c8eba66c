//! The parts of the first page that are made on the server alone.

use leptos::prelude::*;

use crate::{
    api::{
        connection::connection_details,
        sign_in::{SignInOffer, offered_sign_in},
        signed_in,
    },
    clients::{self, YOUR_TOKEN},
    components::{CodeBlock, on_server, with_code},
    i18n,
    pages::sign_in::Ways,
};

/// Leads whoever is signed in to their memories.
pub(super) fn lead_on() {
    if signed_in().is_some() {
        leptos_axum::redirect("/memories");
    }
}

/// What it is.
#[component]
pub(super) fn Lead() -> impl IntoView {
    on_server(|| {
        let text = &i18n::messages().welcome;
        view! {
            <h1>{text.title}</h1>
            <p class="lead">{text.lead}</p>
        }
        .into_any()
    })
}

/// What to know about it.
#[component]
pub(super) fn Facts() -> impl IntoView {
    on_server(|| {
        let facts = i18n::messages().on_server.first_steps.facts.iter().map(|fact| {
            view! {
                <dt>{fact.title}</dt>
                <dd>{fact.text}</dd>
            }
        });
        view! { <dl class="facts">{facts.collect_view()}</dl> }.into_any()
    })
}

/// How a person gets in, and after them their clients.
#[component]
pub(super) fn Begin() -> impl IntoView {
    on_server(|| {
        let offer = Resource::new(|| (), |()| offered_sign_in());
        let connection = Resource::new(|| (), |()| connection_details());
        view! {
            <Suspense>
                {move || Suspend::new(async move {
                    let (offer, connection) = (offer.await.ok()?, connection.await.ok()?);
                    Some(view! { <WaysIn offer mcp_url=connection.mcp_url /> })
                })}
            </Suspense>
        }
        .into_any()
    })
}

#[component]
fn WaysIn(offer: SignInOffer, mcp_url: String) -> impl IntoView {
    let text = &i18n::messages().on_server.first_steps;
    // Where people sign in elsewhere, tokens are all that clients need, and the app has them.
    let has_keys = !matches!(offer, SignInOffer::GitHub { .. } | SignInOffer::Oidc { .. });
    view! {
        <section class="welcome-sign-in" aria-labelledby="sign-in">
            <h2 id="sign-in">{i18n::messages().on_server.sign_in.title}</h2>
            <Ways offer next="/".to_owned() />
        </section>
        {has_keys.then(|| view! { <FirstSteps mcp_url /> })}
        <p class="hint">{text.more}</p>
    }
}

/// How a client is connected with the key from the settings. The page shows a placeholder for it:
/// a page never shows a secret that was not made for the person who looks at it.
#[component]
fn FirstSteps(mcp_url: String) -> impl IntoView {
    let text = &i18n::messages().on_server.first_steps;
    view! {
        <section aria-labelledby="connect">
            <h2 id="connect">{text.connect}</h2>
            <ol class="steps">
                <li>
                    <p>{text.step_settings}</p>
                    <CodeBlock label="mcp.json" text=clients::mcp_servers(&mcp_url, YOUR_TOKEN) />
                </li>
                <li>
                    <p>{with_code(text.step_key)}</p>
                </li>
                <li>
                    <p>{text.step_try}</p>
                    <blockquote>{text.try_first}</blockquote>
                    <p>{text.try_then}</p>
                    <blockquote>{text.try_second}</blockquote>
                </li>
            </ol>
        </section>
    }
}
