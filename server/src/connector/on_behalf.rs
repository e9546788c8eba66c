use std::sync::Arc;

use http::header;
use polymnemo_app::ConnectionTest;
use polymnemo_memory::{Ctx, MemoryService};
use polymnemo_types::{AppGrants, ConnectionReport, Consent, NamespaceChoice};
use tokio::sync::Semaphore;
use url::Url;

use super::{Person, Test, UNUSED_REDIRECT, ask::Asker};

/// How many tests may run at once: each asks the server for some twenty answers.
const AT_ONCE: usize = 2;

/// A person who is signed in and asked for the test: that they did is their decision.
struct OnBehalf {
    service: MemoryService,
    ctx: Ctx,
    issuer: String,
    client: Option<String>,
}

/// Tests of the endpoint at this address for whoever is signed in, a few at a time.
pub(crate) fn tests(service: MemoryService, issuer: String, url: String) -> ConnectionTest {
    let free = Arc::new(Semaphore::new(AT_ONCE));
    ConnectionTest::new(move |ctx| {
        let (service, issuer, url, free) = (service.clone(), issuer.clone(), url.clone(), free.clone());
        Box::pin(async move {
            let Ok(_running) = free.try_acquire_owned() else { return None };
            run(service, ctx, issuer, &url).await
        })
    })
}

async fn run(service: MemoryService, ctx: Ctx, issuer: String, url: &str) -> Option<Vec<ConnectionReport>> {
    let mut person = OnBehalf { service: service.clone(), ctx: ctx.clone(), issuer, client: None };
    let reports = Test::new(url, &mut person).ok()?.run().await;
    if let Some(client) = person.client
        && let Err(error) = service.discard_app(&ctx, &client).await
    {
        tracing::warn!(%error, "the app that a connection test was could not be removed");
    }
    Some(reports)
}

impl Person for &mut OnBehalf {
    fn redirect_uri(&self) -> String {
        UNUSED_REDIRECT.to_owned()
    }

    async fn decide(&mut self, address: &str) -> Option<String> {
        // The way of a browser up to the page, and what its form would do from there on.
        let answer = Asker::new().ok()?.get(address).await.ok()?;
        let page = answer.header(header::LOCATION)?;
        let request = page.split_once("request=").map(|(_, id)| id.to_owned())?;
        let cookie = answer.headers(header::SET_COOKIE).filter_map(|cookie| cookie.split(';').next()?.split_once('='));
        let key =
            cookie.filter(|(name, _)| name.ends_with("polymnemo_browser")).map(|(_, key)| key.to_owned()).next()?;
        let request = self.service.end_authorization(&request, &key).await.ok()??;
        let state = request.state.clone().unwrap_or_default();
        self.client = Some(request.client_id.clone());
        let grants = AppGrants { can_read: true, can_write: false, namespaces: NamespaceChoice::All };
        let code = self.service.authorize(&self.ctx, request, &Consent { grants, days: 1 }).await.ok()?;
        let answer = [("code", &code), ("state", &state), ("iss", &self.issuer)];
        Url::parse_with_params(UNUSED_REDIRECT, answer).ok().map(String::from)
    }
}
