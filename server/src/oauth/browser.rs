//! By what a browser is known that brought a request of an app: a random value in a cookie.
//!
//! It is there before anyone is signed in, and stays when they are. Without it someone could begin a request in his own
//! browser, and have another person's browser end it.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderValue, header};
use polymnemo_app::BrowserKey;
use rand::RngExt;

use crate::config::NetworkConfig;

/// How long it lasts, in seconds: a little longer than any request.
const MAX_AGE: u32 = 3_600;
/// The length of the value.
const CHARS: usize = 43;
/// The name, behind https and elsewhere. Browsers take the first one from the very host only.
const SECURE: &str = "__Host-polymnemo_browser";
const PLAIN: &str = "polymnemo_browser";

/// The value that the browser has, or a new one.
pub(super) fn key_of(network: &NetworkConfig, headers: &HeaderMap) -> String {
    known(network, headers).unwrap_or_else(|| URL_SAFE_NO_PAD.encode(rand::rng().random::<[u8; 32]>()))
}

/// The cookie with the value. `Lax`: it comes along when another site leads the browser here.
pub(super) fn cookie(network: &NetworkConfig, key: &str) -> Option<HeaderValue> {
    let attribute = if network.is_https() { "; Secure" } else { "" };
    let name = name(network);
    HeaderValue::try_from(format!("{name}={key}; Path=/; Max-Age={MAX_AGE}; HttpOnly; SameSite=Lax{attribute}")).ok()
}

/// Puts the value into the request's extensions, for the page on which a person decides.
pub(crate) async fn recognize(State(network): State<Arc<NetworkConfig>>, mut request: Request, next: Next) -> Response {
    if let Some(key) = known(&network, request.headers()) {
        request.extensions_mut().insert(BrowserKey(key));
    }
    next.run(request).await
}

/// The name of the cookie. Behind https only the one with the prefix counts: another could come from a neighbouring host.
fn name(network: &NetworkConfig) -> &'static str {
    if network.is_https() { SECURE } else { PLAIN }
}

fn known(network: &NetworkConfig, headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split("; ")).filter_map(|pair| pair.split_once('='));
    let key = pairs.find(|(given, _)| *given == name(network)).map(|(_, value)| value)?;
    is_random(key).then(|| key.to_owned())
}

/// Whether a text can be one of our random values: 256 bits in base64url.
pub(super) fn is_random(text: &str) -> bool {
    text.len() == CHARS && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
