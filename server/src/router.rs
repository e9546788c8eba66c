//! Every route of the server, and what stands before each.
//!
//! ```text
//! request log, security headers, panics
//! ├── /healthz, /readyz                  nothing else
//! ├── /.well-known/…, /receipts/ID       host check, readable from everywhere
//! └── host check
//!     ├── /c/TOKEN/mcp                   identity by the path, then as /mcp; all else below /c/ is one 404
//!     ├── /mcp                           origin check, CORS, time limit, identity, Accept, JSON → the MCP handler
//!     ├── /blobs/KEY                      CORS, a signed URL → the bytes of a file, however long that takes
//!     ├── /media/files, /upload/SECRET/file   origin check → files that forms send; the first behind a session
//!     ├── /register, /token, /revoke      CORS for everyone, time and body limit → the authorization server
//!     └── everything else                errors become pages, origin check, time limit, body limit, compression
//!         ├── /pkg/…, /favicon.svg       the files of the web app
//!         ├── /authorize                 → the authorization server
//!         └── sessions, see `web`        → the web app
//! ```

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request},
    middleware,
};
use http::{HeaderName, HeaderValue, header};
use polymnemo_adapters::blobs::LocalBlobs;
use polymnemo_app::Site;
use polymnemo_memory::MemoryService;
use tokio_util::task::TaskTracker;
use tower::ServiceBuilder;
use tower_http::{
    catch_panic::CatchPanicLayer, compression::CompressionLayer, limit::RequestBodyLimitLayer,
    set_header::SetResponseHeaderLayer,
};

use crate::{
    auth::{self, Authenticator, StaticKeys},
    blobs, capability,
    config::NetworkConfig,
    health,
    http::{
        accept, callers, cors, in_flight, json_rpc, panics, request_log, security_headers, time_limit, unread_body,
    },
    oauth::AuthorizationServer,
    receipts, well_known,
};

/// How long a request may take before its answer begins, its own body included. Tools have a
/// shorter limit of their own, after which they say what to do.
const MCP_TIME: Duration = Duration::from_secs(60);
const PAGE_TIME: Duration = Duration::from_secs(30);

/// What the routes are made of.
pub(crate) struct Doors {
    /// The memory service.
    pub(crate) service: MemoryService,
    /// Who may use the MCP endpoint.
    pub(crate) authenticator: Arc<Authenticator>,
    /// Who may use it by a URL with a token in it.
    pub(crate) capabilities: StaticKeys,
    /// Where the server is.
    pub(crate) network: Arc<NetworkConfig>,
    /// The pages and their server functions behind sessions, their files, and the fallback for
    /// everything unknown.
    pub(crate) web: Router,
    /// Where forms send files, behind sessions where they need one.
    pub(crate) file_forms: Router,
    /// The storage for files whose URLs are ours to answer.
    pub(crate) blobs: Option<LocalBlobs>,
    /// How apps are let in, where they can be.
    pub(crate) apps: Option<AuthorizationServer>,
    /// The files of the pages.
    pub(crate) site: Site,
    /// The MCP handler, on its transport.
    pub(crate) mcp: Router,
    /// Where requests in flight are counted.
    pub(crate) requests: TaskTracker,
}

/// Puts everything in its place.
pub(crate) fn router(doors: Doors) -> Router {
    let Doors { service, authenticator, capabilities, network, web, file_forms, blobs, apps, site, mcp, requests } =
        doors;

    let check_origin = middleware::from_fn_with_state(network.clone(), callers::check_origin);

    let before_identity = ServiceBuilder::new()
        .layer(check_origin.clone())
        .layer(cors::for_mcp(network.clone()))
        .layer(middleware::from_fn_with_state(MCP_TIME, time_limit::enforce))
        // Proxies must pass events on as they come.
        .layer(SetResponseHeaderLayer::if_not_present(
            HeaderName::from_static("x-accel-buffering"),
            HeaderValue::from_static("no"),
        ));
    let after_identity = ServiceBuilder::new()
        .layer(middleware::from_fn(accept::complete))
        .layer(middleware::from_fn(json_rpc::check))
        .layer(middleware::from_fn_with_state(network.clone(), auth::require_scope));
    let mcp = mcp.layer(after_identity);
    let by_url =
        capability::routes(capabilities, service.clone(), &network, mcp.clone().layer(before_identity.clone()));
    let mcp = mcp.layer(middleware::from_fn_with_state(authenticator, auth::require_identity)).layer(before_identity);
    let for_browsers = apps.as_ref().map(AuthorizationServer::for_browsers).unwrap_or_default();
    let for_programs = apps.as_ref().map(AuthorizationServer::for_programs).unwrap_or_default();
    let web = web.merge(for_browsers).layer(
        ServiceBuilder::new()
            .layer(middleware::from_fn_with_state(site, polymnemo_app::explain_errors))
            .layer(check_origin.clone())
            .layer(middleware::from_fn_with_state(PAGE_TIME, time_limit::enforce))
            .layer(middleware::map_request(without_referrer))
            // What reads a body has a lower limit of its own unless it is told.
            .layer(DefaultBodyLimit::disable())
            .layer(RequestBodyLimitLayer::new(polymnemo_app::LONGEST_FORM))
            .layer(CompressionLayer::new()),
    );
    // A file may take hours, so neither time nor length has a limit here; what reads it sees to both.
    let file_forms = file_forms.layer(check_origin).layer(DefaultBodyLimit::disable());
    let blobs = blobs.map(|blobs| blobs::routes(blobs, network.clone())).unwrap_or_default();
    let metadata = well_known::routes(network.clone()).merge(receipts::routes(service.clone()));

    web.merge(mcp)
        .merge(for_programs)
        .merge(file_forms)
        .merge(blobs)
        .merge(by_url)
        .merge(metadata)
        .layer(middleware::from_fn_with_state(network.clone(), callers::check_host))
        .merge(health::routes(service))
        .layer(
            ServiceBuilder::new()
                .layer(middleware::from_fn_with_state(requests, in_flight::track))
                .layer(middleware::from_fn(unread_body::announce_close))
                .layer(middleware::from_fn_with_state(network.clone(), request_log::record))
                .layer(middleware::from_fn_with_state(network, security_headers::add))
                .layer(CatchPanicLayer::custom(panics::answer)),
        )
}

/// Forgets which page a request says it comes from: server functions would lead there whoever sends a plain form to
/// them, and any site can write what it likes into it.
async fn without_referrer(mut request: Request) -> Request {
    request.headers_mut().remove(header::REFERER);
    request
}

/// Mounts the MCP handler at its path, with and without a slash at the end: a client that adds one
/// must not be redirected, since many drop the key on the way.
pub(crate) fn mount<S>(path: &str, handler: S) -> Router
where
    S: tower::Service<Request, Error = std::convert::Infallible> + Clone + Send + Sync + 'static,
    S::Response: axum::response::IntoResponse,
    S::Future: Send + 'static,
{
    Router::new().route_service(path, handler.clone()).route_service(&format!("{path}/"), handler)
}
