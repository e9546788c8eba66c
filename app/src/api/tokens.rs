//! The caller's API tokens.

use leptos::{prelude::*, server_fn::codec::GetUrl};
use polymnemo_types::{ApiToken, CreatedApiToken, Page, TokenId};

use super::WebError;

/// A page of the caller's tokens, the newest first.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "api_tokens", input = GetUrl)]
pub async fn api_tokens(
    /// From the page before.
    #[server(default)]
    cursor: Option<String>,
) -> Result<Page<ApiToken>, WebError> {
    use polymnemo_types::limits;

    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.list_tokens(&ctx, cursor.as_deref(), Some(limits::PAGE_MAX)).await?)
}

/// Makes a token. Its secret is in the answer and nowhere else.
///
/// # Errors
///
/// Those of the service: a name that is none, no namespace, too many tokens.
#[server(endpoint = "create_api_token")]
pub async fn create_api_token(
    /// What to call it.
    name: String,
    /// Whether it may write, too.
    can_write: bool,
    /// Whether it is good for all namespaces; then `namespaces` does not matter.
    all_namespaces: bool,
    /// The namespaces it is good for.
    #[server(default)]
    namespaces: Vec<String>,
    /// Whether it may be a part of a URL, for clients that can send no header.
    #[server(default)]
    in_url: bool,
    /// The number of days after which it expires; never, when empty.
    #[server(default)]
    days: String,
) -> Result<CreatedApiToken, WebError> {
    use polymnemo_types::NewApiToken;

    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let expires_at = expiry(&days, jiff::Timestamp::now())?;
    let namespaces = (!all_namespaces).then_some(namespaces);
    Ok(service.create_token(&ctx, NewApiToken { name, can_write, in_url, namespaces, expires_at }).await?)
}

/// Revokes a token.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "revoke_api_token")]
pub async fn revoke_api_token(
    /// The token.
    id: TokenId,
) -> Result<(), WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    service.revoke_token(&ctx, id).await?;
    Ok(())
}

/// The time that lies a number of days from now, as the service reads it; `None` for an empty text.
#[cfg(feature = "ssr")]
fn expiry(days: &str, now: jiff::Timestamp) -> Result<Option<String>, WebError> {
    use polymnemo_types::{ApiError, ErrorCode};

    if days.is_empty() {
        return Ok(None);
    }
    let span = days.parse::<u16>().map(|days| jiff::SignedDuration::from_hours(24 * i64::from(days)));
    match span {
        Ok(span) => Ok(Some((now + span).to_string())),
        Err(_) => {
            let message = "`days` must be a number of days, or empty for a token that never expires.".to_owned();
            Err(ApiError { code: ErrorCode::InvalidInput, message }.into())
        }
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::expiry;

    #[test]
    fn a_token_expires_after_whole_days_or_never() {
        let now = "2026-11-30T12:00:00Z".parse().expect("a time");
        assert_eq!(expiry("", now), Ok(None));
        assert_eq!(expiry("30", now), Ok(Some("2026-12-30T12:00:00Z".to_owned())));
        for wrong in ["-1", "soon", "1.5", "99999"] {
            assert!(expiry(wrong, now).is_err(), "{wrong}");
        }
    }
}
