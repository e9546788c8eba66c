use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::Request,
    middleware::Next,
    response::Response,
};
use http::{HeaderValue, Version, header};

/// Says `Connection: close` where the answer comes before all of the request was read: an early 401, 413 or 429.
///
/// The connection is closed then anyway, since nothing marks where the next request begins (RFC 9112, section 9.3). A client
/// that is not told sends its next request into the closing connection and sees it break.
pub(crate) async fn announce_close(request: Request, next: Next) -> Response {
    // Later versions have a stream for each request.
    if request.version() > Version::HTTP_11 || request.body().is_end_stream() {
        return next.run(request).await;
    }
    let is_read = Arc::new(AtomicBool::new(false));
    let request = request.map(|body| Body::new(Watched { body, is_read: is_read.clone() }));
    let mut response = next.run(request).await;
    if !is_read.load(Ordering::Relaxed) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// A body that notes when it was read to its end.
struct Watched {
    body: Body,
    is_read: Arc<AtomicBool>,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let frame = std::task::ready!(Pin::new(&mut this.body).poll_frame(context));
        if frame.is_none() || this.body.is_end_stream() {
            this.is_read.store(true, Ordering::Relaxed);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
