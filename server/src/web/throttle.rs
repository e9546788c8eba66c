use std::{
    net::{IpAddr, SocketAddr},
    num::NonZeroU32,
    sync::Arc,
    time::Duration,
};

use axum::{
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::Response,
};
use governor::{
    DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};
use http::{HeaderValue, StatusCode, header};
use polymnemo_app::api::sign_in::SignInProblem;

use super::{Shared, client_address::network_of};

/// What one client may do at once, and how long until it may do one more: enough for a household
/// behind one address, and for someone who tries again and again.
const EACH: (NonZeroU32, Duration) = (at_once(30), Duration::from_secs(2));
/// The same for all clients together, which bounds what the identity provider and the database see.
const ALL: (NonZeroU32, Duration) = (at_once(300), Duration::from_millis(100));
/// From this number of clients on, those that used nothing of their share are forgotten.
const MANY_CLIENTS: usize = 10_000;

/// How often anyone may try to sign in.
pub(super) struct Throttle {
    each: DefaultKeyedRateLimiter<IpAddr>,
    all: DefaultDirectRateLimiter,
}

impl Default for Throttle {
    fn default() -> Self {
        Self { each: RateLimiter::keyed(quota(EACH)), all: RateLimiter::direct(quota(ALL)) }
    }
}

const fn at_once(number: u32) -> NonZeroU32 {
    match NonZeroU32::new(number) {
        Some(number) => number,
        None => NonZeroU32::MIN,
    }
}

fn quota((burst, period): (NonZeroU32, Duration)) -> Quota {
    // Only a period of zero has no quota.
    Quota::with_period(period).unwrap_or_else(|| Quota::per_second(burst)).allow_burst(burst)
}

impl Throttle {
    /// Counts an attempt.
    ///
    /// # Errors
    ///
    /// How long to wait where there were too many.
    fn try_pass(&self, client: IpAddr) -> Result<(), Duration> {
        if self.each.len() >= MANY_CLIENTS {
            self.each.retain_recent();
        }
        let now = DefaultClock::default().now();
        // The client's own share comes first, so that one who has none left takes nothing from the others.
        self.each.check_key(&client).map_err(|wait| wait.wait_time_from(now))?;
        self.all.check().map_err(|wait| wait.wait_time_from(now))
    }
}

/// Answers 429 where a client, or all of them together, try to sign in too often.
pub(super) async fn limit(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let Err(wait) = shared.throttle.try_pass(network_of(peer, request.headers())) else {
        return next.run(request).await;
    };
    let mut response = polymnemo_app::sign_in_page(&shared.web, SignInProblem::TooMany, request.headers()).await;
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    let seconds = wait.as_secs() + 1;
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_a_share_and_all_together_have_one() {
        let throttle = Throttle::default();
        let client = |number: u32| IpAddr::from(number.to_be_bytes());
        for _ in 0..EACH.0.get() {
            assert_eq!(throttle.try_pass(client(0)), Ok(()));
        }
        let wait = throttle.try_pass(client(0)).unwrap_err();
        assert!(wait <= EACH.1, "{wait:?}");
        assert_eq!(throttle.try_pass(client(1)), Ok(()), "another client has its own share");
        // The limit on all holds however many addresses there are.
        let refused = (2..2_000).filter(|number| throttle.try_pass(client(*number)).is_err()).count();
        assert!(refused > 1_000, "{refused}");
    }
}
