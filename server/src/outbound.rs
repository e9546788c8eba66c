//! HTTP to an identity provider, with limits: on time, on length, and without redirects, which have
//! no place there.

use std::{future::Future, pin::Pin, time::Duration};

use http::{StatusCode, header};
use oauth2::{AsyncHttpClient, HttpRequest, HttpResponse};

/// How long a connection, and a whole answer, may take.
const CONNECT_TIME: Duration = Duration::from_secs(5);
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// The longest answer that is read, in bytes. A user or a set of keys is a few thousand.
const ANSWER_BYTES: usize = 256 << 10;

/// A client for one provider.
pub(crate) struct Outbound(reqwest::Client);

/// What went wrong on the way. It doesn't tell addresses.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutboundError {
    #[error("it can't be reached: {0}")]
    Unreachable(String),
    #[error("its answer is longer than {ANSWER_BYTES} bytes")]
    TooLong,
    #[error("its answer is malformed")]
    Malformed,
}

impl Outbound {
    /// Only https is spoken, unless the provider is a program on this machine.
    pub(crate) fn new(is_on_this_machine: bool) -> reqwest::Result<Self> {
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIME)
            .timeout(ANSWER_TIME)
            .user_agent(concat!("polymnemo/", env!("CARGO_PKG_VERSION")))
            .https_only(!is_on_this_machine);
        // What is on this machine is not reached by way of a proxy.
        let client = if is_on_this_machine { client.no_proxy() } else { client };
        Ok(Self(client.build()?))
    }

    /// Reads a document; status and body of the answer.
    pub(crate) async fn get(&self, url: &str) -> Result<(StatusCode, Vec<u8>), OutboundError> {
        let request = http::Request::get(url).header(header::ACCEPT, "application/json").body(Vec::new());
        let response = self.send(request.map_err(|_| OutboundError::Malformed)?).await?;
        Ok((response.status(), response.into_body()))
    }

    /// Sends a request.
    pub(crate) async fn send(&self, request: HttpRequest) -> Result<HttpResponse, OutboundError> {
        let unreachable =
            |error: reqwest::Error| OutboundError::Unreachable(crate::error::in_one_line(&error.without_url()));
        let request = reqwest::Request::try_from(request).map_err(unreachable)?;
        let mut response = self.0.execute(request).await.map_err(unreachable)?;
        let mut answer = http::Response::builder().status(response.status());
        if let Some(content_type) = response.headers().get(header::CONTENT_TYPE) {
            answer = answer.header(header::CONTENT_TYPE, content_type);
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > ANSWER_BYTES {
                return Err(OutboundError::TooLong);
            }
            body.extend_from_slice(&chunk);
        }
        answer.body(body).map_err(|_| OutboundError::Malformed)
    }
}

impl<'client> AsyncHttpClient<'client> for Outbound {
    type Error = OutboundError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, OutboundError>> + Send + 'client>>;

    fn call(&'client self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}
