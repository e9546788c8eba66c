use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use polymnemo_types::{ClientSighting, Door, UserId, limits};

use super::{MemoryService, validate};
use crate::{Ctx, Result};

/// The greatest length of a client's name, in characters; a longer one is cut.
const NAME_CHARS: usize = 100;

/// A sighting is noted again after this time.
const AGAIN_AFTER: SignedDuration = SignedDuration::from_mins(1);

/// As many clients are kept in mind; then those whose time is over are dropped.
const KEPT: usize = 10_000;

/// What this process has noted lately. It only saves writing the same again: another process has its own.
#[derive(Default)]
pub(super) struct Seen(Mutex<Notes>);

#[derive(Default)]
struct Notes {
    /// When each client was last noted.
    noted_at: HashMap<Client, Timestamp>,
    /// When those were last dropped whose time was over.
    swept_at: Option<Timestamp>,
}

/// Whose client, at which door, by which name.
type Client = (UserId, Door, Option<String>);

impl Seen {
    /// Whether it is time to note this client.
    fn is_due(&self, user: UserId, door: Door, client: Option<&str>, now: Timestamp) -> bool {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (user, door, client.map(str::to_owned));
        let is_recent = |at: Timestamp| now < at + AGAIN_AFTER;
        if notes.noted_at.get(&key).is_some_and(|&at| is_recent(at)) {
            return false;
        }
        if notes.noted_at.len() >= KEPT && !notes.swept_at.is_some_and(is_recent) {
            notes.noted_at.retain(|_, at| is_recent(*at));
            notes.swept_at = Some(now);
        }
        // Where someone makes up names faster than they are dropped, one that is not kept is noted once too often.
        if notes.noted_at.len() < KEPT {
            notes.noted_at.insert(key, now);
        }
        true
    }
}

impl MemoryService {
    /// Notes that the caller's client was seen, at most once a minute. The note is written after this returns, and a
    /// failure is told to the log: no request waits for it or fails by it.
    pub fn record_seen(&self, ctx: &Ctx) {
        let client = ctx.client.as_deref().and_then(|name| validate::foreign_name(name, NAME_CHARS));
        let now = self.now();
        // A person's own browser is not a client that they connected.
        if ctx.door == Door::Browser || !self.seen.is_due(ctx.user.id, ctx.door, client.as_deref(), now) {
            return;
        }
        let (store, ctx) = (self.store.clone(), Ctx { client, ..ctx.clone() });
        tokio::spawn(async move {
            if let Err(error) = store.record_sighting(&ctx, now, limits::CLIENTS).await {
                tracing::warn!(%error, cause = ?std::error::Error::source(&error), "a client could not be noted as seen");
            }
        });
    }

    /// The caller's clients, the last seen one first; at most [`limits::CLIENTS`].
    ///
    /// # Errors
    ///
    /// [`crate::Error::Forbidden`], [`crate::Error::Unavailable`].
    pub async fn list_sightings(&self, ctx: &Ctx) -> Result<Vec<ClientSighting>> {
        ctx.check_person()?;
        self.store.sightings(ctx).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user() -> UserId {
        UserId(uuid::Uuid::nil())
    }

    #[test]
    fn a_client_is_due_once_a_minute_at_each_door() {
        let seen = Seen::default();
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().expect("a time");
        assert!(seen.is_due(user(), Door::ApiToken, Some("cron"), now));
        assert!(!seen.is_due(user(), Door::ApiToken, Some("cron"), now + SignedDuration::from_secs(59)));
        assert!(seen.is_due(user(), Door::StaticKey, Some("cron"), now));
        assert!(seen.is_due(user(), Door::ApiToken, None, now));
        assert!(seen.is_due(user(), Door::ApiToken, Some("cron"), now + SignedDuration::from_secs(60)));
    }

    #[test]
    fn names_made_up_in_a_row_take_a_bounded_room() {
        let seen = Seen::default();
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().expect("a time");
        for number in 0..2 * KEPT {
            assert!(seen.is_due(user(), Door::ApiToken, Some(&number.to_string()), now));
        }
        assert_eq!(seen.0.lock().expect("unpoisoned").noted_at.len(), KEPT);
        assert!(seen.is_due(user(), Door::ApiToken, Some("late"), now + AGAIN_AFTER));
        assert_eq!(seen.0.lock().expect("unpoisoned").noted_at.len(), 1);
    }
}
