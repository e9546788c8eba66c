use std::{
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::Trouble;

/// After a failure, how long until it is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(3);
/// How often something younger than its time is fetched anew at most, because something is missing in
/// it. Whoever sends tokens with made-up key ids makes the issuer no more work than this.
const NEWER_EVERY: Duration = Duration::from_secs(60);

/// Something of the issuer's that is fetched when it is first needed, and again when it is old. The last
/// good copy stays until there is another one.
pub(super) struct Cached<T> {
    what: &'static str,
    time: Duration,
    kept: Mutex<Kept<T>>,
    /// Held by whoever fetches, so that the others don't.
    fetching: tokio::sync::Mutex<()>,
}

struct Kept<T> {
    good: Option<(Arc<T>, Instant)>,
    /// When fetching failed last, and why, if it did not succeed since.
    failed: Option<(Instant, Trouble)>,
    /// When it was last fetched before its time.
    newer_at: Option<Instant>,
}

/// What to do for a request that needs the value.
enum Plan<T> {
    Use(Arc<T>),
    Fail(Trouble),
    /// Fetch it; this one will do where someone does already.
    Fetch(Option<Arc<T>>),
}

impl<T> Kept<T> {
    fn plan(&self, time: Duration, now: Instant) -> Plan<T> {
        let good = self.good.as_ref();
        if let Some((value, _)) = good.filter(|(_, since)| now < *since + time) {
            return Plan::Use(value.clone());
        }
        let good = good.map(|(value, _)| value.clone());
        match (&self.failed, good) {
            (Some((at, _)), Some(good)) if now < *at + RETRY_AFTER => Plan::Use(good),
            (Some((at, trouble)), None) if now < *at + RETRY_AFTER => Plan::Fail(trouble.clone()),
            (_, good) => Plan::Fetch(good),
        }
    }
}

impl<T> Cached<T> {
    /// Nothing yet. What is fetched is good for this time.
    pub(super) fn new(what: &'static str, time: Duration) -> Self {
        let kept = Kept { good: None, failed: None, newer_at: None };
        Self { what, time, kept: Mutex::new(kept), fetching: tokio::sync::Mutex::default() }
    }

    /// The value, fetched where it isn't known or too old.
    ///
    /// # Errors
    ///
    /// Where it was never fetched and can't be now.
    pub(super) async fn get(&self, fetch: impl Future<Output = Result<T, Trouble>>) -> Result<Arc<T>, Trouble> {
        let old = match self.plan() {
            Plan::Use(value) => return Ok(value),
            Plan::Fail(trouble) => return Err(trouble),
            Plan::Fetch(old) => old,
        };
        let _fetching = match (self.fetching.try_lock(), &old) {
            (Ok(fetching), _) => fetching,
            (Err(_), Some(old)) => return Ok(old.clone()),
            (Err(_), None) => self.fetching.lock().await,
        };
        // Another request may have done it meanwhile.
        match self.plan() {
            Plan::Use(value) => Ok(value),
            Plan::Fail(trouble) => Err(trouble),
            Plan::Fetch(old) => self.fetch(fetch).await.or_else(|trouble| old.ok_or(trouble)),
        }
    }

    /// A newer value than this one, in which something is missing; the same where there was none within
    /// the last minute.
    ///
    /// # Errors
    ///
    /// Where it can't be fetched now.
    pub(super) async fn newer(
        &self,
        known: &Arc<T>,
        fetch: impl Future<Output = Result<T, Trouble>>,
    ) -> Result<Arc<T>, Trouble> {
        let _fetching = self.fetching.lock().await;
        let now = Instant::now();
        {
            let mut kept = self.kept();
            if let Some((value, _)) = kept.good.as_ref().filter(|(value, _)| !Arc::ptr_eq(value, known)) {
                return Ok(value.clone());
            }
            if kept.newer_at.is_some_and(|at| now < at + NEWER_EVERY) {
                return kept.failed.as_ref().map_or_else(|| Ok(known.clone()), |(_, trouble)| Err(trouble.clone()));
            }
            kept.newer_at = Some(now);
        }
        self.fetch(fetch).await
    }

    async fn fetch(&self, fetch: impl Future<Output = Result<T, Trouble>>) -> Result<Arc<T>, Trouble> {
        match fetch.await {
            Ok(value) => {
                let value = Arc::new(value);
                let mut kept = self.kept();
                kept.good = Some((value.clone(), Instant::now()));
                kept.failed = None;
                Ok(value)
            }
            Err(trouble) => {
                tracing::warn!(reason = %trouble, what = self.what, "the issuer of POLYMNEMO_OIDC_ISSUER can't be asked");
                self.kept().failed = Some((Instant::now(), trouble.clone()));
                Err(trouble)
            }
        }
    }

    fn plan(&self) -> Plan<T> {
        self.kept().plan(self.time, Instant::now())
    }

    fn kept(&self) -> MutexGuard<'_, Kept<T>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use super::*;

    const TIME: Duration = Duration::from_secs(600);

    fn trouble() -> Trouble {
        Trouble("it is down".to_owned())
    }

    #[tokio::test]
    async fn what_was_fetched_is_used_until_its_time_is_over_and_longer_where_the_issuer_is_down() {
        let cached = Cached::new("number", TIME);
        assert_eq!(*cached.get(ready(Ok(1))).await.unwrap(), 1);
        assert_eq!(*cached.get(ready(Ok(2))).await.unwrap(), 1);

        let now = Instant::now();
        let mut kept = cached.kept();
        assert!(matches!(kept.plan(TIME, now + TIME), Plan::Fetch(Some(old)) if *old == 1));
        kept.failed = Some((now + TIME, trouble()));
        assert!(matches!(kept.plan(TIME, now + TIME), Plan::Use(old) if *old == 1));
        assert!(matches!(kept.plan(TIME, now + TIME + RETRY_AFTER), Plan::Fetch(Some(_))));
    }

    #[tokio::test]
    async fn a_first_failure_is_told_and_soon_tried_again() {
        let cached: Cached<u8> = Cached::new("number", TIME);
        cached.get(ready(Err(trouble()))).await.unwrap_err();
        cached.get(ready(Ok(1))).await.expect_err("not yet");
        assert!(matches!(cached.kept().plan(TIME, Instant::now() + RETRY_AFTER), Plan::Fetch(None)));
    }

    #[tokio::test]
    async fn before_its_time_it_is_fetched_once_a_minute_at_most() {
        let cached = Cached::new("number", TIME);
        let first = cached.get(ready(Ok(1))).await.unwrap();
        let second = cached.newer(&first, ready(Ok(2))).await.unwrap();
        assert_eq!(*second, 2);
        assert_eq!(*cached.newer(&first, ready(Ok(3))).await.unwrap(), 2, "there is a newer one already");
        assert_eq!(*cached.newer(&second, ready(Ok(3))).await.unwrap(), 2, "not yet");
        cached.kept().newer_at = Instant::now().checked_sub(NEWER_EVERY);
        cached.newer(&second, ready(Err(trouble()))).await.unwrap_err();
        assert_eq!(*cached.get(ready(Ok(4))).await.unwrap(), 2, "what is good stays");
        cached.newer(&second, ready(Ok(4))).await.expect_err("what is missing may be there");
    }
}
