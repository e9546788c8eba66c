//! How often something may be done, by one client and by all together.

use std::{net::IpAddr, num::NonZeroU32, time::Duration};

use governor::{
    DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};

/// What may be done at once, and how long until one more may be.
type Share = (NonZeroU32, Duration);

/// Signing in, for one client: enough for a household behind one address, and for someone who tries again and again.
const SIGN_IN: Share = (at_once(30), Duration::from_secs(2));
/// The requests of apps, for one client: the apps of one maker reach many servers from a few addresses.
const APPS: Share = (at_once(120), Duration::from_millis(500));
/// The same for all clients together, which bounds what the identity provider and the database see.
const ALL: Share = (at_once(300), Duration::from_millis(100));
/// From this number of clients on, those that used nothing of their share are forgotten.
const MANY_CLIENTS: usize = 10_000;

/// Counts what is done.
pub(crate) struct Throttle {
    each: DefaultKeyedRateLimiter<IpAddr>,
    all: DefaultDirectRateLimiter,
}

const fn at_once(number: u32) -> NonZeroU32 {
    match NonZeroU32::new(number) {
        Some(number) => number,
        None => NonZeroU32::MIN,
    }
}

fn quota((burst, period): Share) -> Quota {
    // Only a period of zero has no quota.
    Quota::with_period(period).unwrap_or_else(|| Quota::per_second(burst)).allow_burst(burst)
}

impl Throttle {
    /// For attempts to sign in.
    pub(crate) fn for_sign_in() -> Self {
        Self::new(SIGN_IN)
    }

    /// For the requests of apps.
    pub(crate) fn for_apps() -> Self {
        Self::new(APPS)
    }

    fn new(each: Share) -> Self {
        Self { each: RateLimiter::keyed(quota(each)), all: RateLimiter::direct(quota(ALL)) }
    }

    /// Counts an attempt.
    ///
    /// # Errors
    ///
    /// How long to wait where there were too many.
    pub(crate) fn try_pass(&self, client: IpAddr) -> Result<(), Duration> {
        if self.each.len() >= MANY_CLIENTS {
            self.each.retain_recent();
        }
        let now = DefaultClock::default().now();
        // The client's own share comes first, so that one who has none left takes nothing from the others.
        self.each.check_key(&client).map_err(|wait| wait.wait_time_from(now))?;
        self.all.check().map_err(|wait| wait.wait_time_from(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_a_share_and_all_together_have_one() {
        let throttle = Throttle::for_sign_in();
        let client = |number: u32| IpAddr::from(number.to_be_bytes());
        for _ in 0..SIGN_IN.0.get() {
            assert_eq!(throttle.try_pass(client(0)), Ok(()));
        }
        let wait = throttle.try_pass(client(0)).unwrap_err();
        assert!(wait <= SIGN_IN.1, "{wait:?}");
        assert_eq!(throttle.try_pass(client(1)), Ok(()), "another client has its own share");
        // The limit on all holds however many addresses there are.
        let refused = (2..2_000).filter(|number| throttle.try_pass(client(*number)).is_err()).count();
        assert!(refused > 1_000, "{refused}");
    }
}
