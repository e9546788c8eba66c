//! Every request ends: with an answer, at the time limit, when the client is gone, or with a panic
//! that is caught.
//!
//! A panic inside a handler would otherwise leave its request without a response for ever, since
//! the protocol library waits for the handler and not for its task.

use std::{any::Any, panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt as _;
use tokio_util::sync::CancellationToken;

/// How long a request may take. Clients give up after 30 to 60 seconds; an answer that says what
/// to do must come before that.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(25);

/// How a request ended before it had an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Ended {
    /// It took too long.
    #[error("the request took longer than the time limit")]
    TimedOut,
    /// The client cancelled it or hung up.
    #[error("the request was cancelled")]
    Cancelled,
    /// There was a panic, which has been logged.
    #[error("the handler panicked")]
    Panicked,
}

/// Runs a request to its end. What is stopped here is dropped where it waits; the service's writes
/// are one transaction each, so they happen whole or not at all.
pub(crate) async fn run<T>(
    limit: Duration,
    cancelled: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, Ended> {
    let work = tokio::time::timeout(limit, AssertUnwindSafe(work).catch_unwind());
    let outcome = tokio::select! {
        // The work first: an answer that is ready is given, even if the client is just leaving.
        biased;
        outcome = work => outcome,
        () = cancelled.cancelled() => return Err(Ended::Cancelled),
    };
    match outcome {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(panic)) => {
            tracing::error!(panic = message(&*panic), "a request panicked");
            Err(Ended::Panicked)
        }
        Err(_) => Err(Ended::TimedOut),
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn gives_the_answer() {
        assert_eq!(run(SHORT, &CancellationToken::new(), async { 7 }).await, Ok(7));
    }

    #[tokio::test]
    async fn stops_at_the_limit() {
        let ended = run(SHORT, &CancellationToken::new(), std::future::pending::<()>()).await;
        assert_eq!(ended, Err(Ended::TimedOut));
    }

    #[tokio::test]
    async fn stops_when_the_client_is_gone() {
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        assert_eq!(run(TIME_LIMIT, &cancelled, std::future::pending::<()>()).await, Err(Ended::Cancelled));
    }

    #[tokio::test]
    async fn catches_a_panic() {
        let work = async {
            tokio::task::yield_now().await;
            assert_eq!(1, 2, "an invariant was broken");
        };
        assert_eq!(run(TIME_LIMIT, &CancellationToken::new(), work).await, Err(Ended::Panicked));
    }
}
