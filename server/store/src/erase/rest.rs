//! What is left when all memories are gone: what names them elsewhere, namespaces, the account.

use polymnemo_memory::{Result, ports::ErasureStep};
use polymnemo_types::{ErasedCounts, ErasedStore, ErasureId, ErasureSubject, UserId};
use sea_orm::Value;

use super::batch::Locked;
use crate::{
    PgStore,
    transaction::{Scope, Transaction},
};

impl PgStore {
    pub(super) async fn delete_rest(&self, id: ErasureId) -> Result<ErasureStep> {
        let transaction = self.begin(Scope::Background).await?;
        let Some(locked) = transaction.lock_erasure(id).await? else { return Ok(ErasureStep::Busy) };
        if locked.subject == ErasureSubject::Account {
            transaction.delete_account(&locked).await?;
        } else {
            transaction.scrub_calls(&locked).await?;
            transaction.scrub_imports(&locked).await?;
            if let ErasureSubject::Import { id } = &locked.subject {
                // With its report, which names what was left out.
                let values = vec![id.0.into(), locked.user.0.into()];
                transaction.run("delete from imports where id = $1 and user_id = $2", values).await?;
            }
            if !transaction.delete_namespaces(&locked).await? {
                transaction.commit().await?;
                return Ok(ErasureStep::More);
            }
        }
        transaction.commit().await?;
        Ok(ErasureStep::Through)
    }
}

impl Transaction {
    /// Takes what is gone out of what is noted of clients' calls. That there was a call, and when, stays; what was searched
    /// for in one that found any of it goes, for that may say what it was.
    pub(super) async fn scrub_calls(&self, locked: &Locked) -> Result<()> {
        if let ErasureSubject::App { id } = &locked.subject {
            self.run(
                "delete from app_calls where user_id = $1 and app_id = $2",
                vec![locked.user.0.into(), id.0.into()],
            )
            .await?;
        }
        let scrubbed = self
            .run(
                "update app_calls set query = null, memories = array(
                     select given.id from unnest(memories) with ordinality given (id, place)
                     where not exists (select from erased_memories e where e.erasure_id = $1 and e.memory_id = given.id)
                     order by given.place
                 )
                 where user_id = $2 and exists (
                     select from unnest(memories) as id join erased_memories e on e.erasure_id = $1 and e.memory_id = id
                 )",
                vec![locked.id.0.into(), locked.user.0.into()],
            )
            .await?;
        self.add_erased(locked.id, ErasedStore::AppCalls, scrubbed).await
    }

    /// Takes what is gone out of the reports of imports: of its name only a digest is left, by which it is known when it is
    /// read again, and so does not come back.
    async fn scrub_imports(&self, locked: &Locked) -> Result<()> {
        self.run(
            "update import_items t set label = null, reason = null, digest = null,
                 source_id = case when source_id like 'sha256-%' then source_id
                     else 'sha256-' || encode(sha256(convert_to(source_id, 'UTF8')), 'hex') end
             where t.user_id = $2 and exists (
                 select from erased_memories e where e.erasure_id = $1 and e.memory_id = t.memory_id
             )",
            vec![locked.id.0.into(), locked.user.0.into()],
        )
        .await?;
        if let ErasureSubject::Namespace { name_sha256, .. } = &locked.subject {
            self.run(
                "update imports set options = (options::jsonb - 'namespace')::text
                 where user_id = $1
                   and encode(sha256(convert_to(options::jsonb ->> 'namespace', 'UTF8')), 'hex') = $2",
                vec![locked.user.0.into(), name_sha256.clone().into()],
            )
            .await?;
        }
        Ok(())
    }

    /// Deletes the namespaces that were marked; false where one holds memories that came meanwhile.
    async fn delete_namespaces(&self, locked: &Locked) -> Result<bool> {
        let erasure = || -> Vec<Value> { vec![locked.id.0.into()] };
        self.run("select id from namespaces where erasure_id = $1 order by id for update", erasure()).await?;
        let held = self
            .one(
                "select from memories where namespace_id in (select id from namespaces where erasure_id = $1) limit 1",
                erasure(),
            )
            .await?;
        if held.is_some() {
            return Ok(false);
        }
        let gone = self.run("delete from namespaces where erasure_id = $1", erasure()).await?;
        if matches!(locked.subject, ErasureSubject::Namespace { default: false, .. }) {
            self.add_erased(locked.id, ErasedStore::Namespaces, gone).await?;
        }
        Ok(true)
    }

    /// Deletes a user with all that is theirs. Whatever was still under way when nobody could get in any more came to an
    /// end, or waits for this and then finds no user.
    async fn delete_account(&self, locked: &Locked) -> Result<()> {
        let user = || -> Vec<Value> { vec![locked.user.0.into()] };
        if self.one("select id from users where id = $1 for update", user()).await?.is_some() {
            let counts = self.count_account(locked.user).await?;
            self.run(
                "update namespaces set erasure_id = $2 where user_id = $1 and erasure_id is distinct from $2",
                vec![locked.user.0.into(), locked.id.0.into()],
            )
            .await?;
            while self.delete_some(locked).await? {}
            self.run(
                "insert into erased_objects (erasure_id, object_key, parts_handle)
                 select $2, object_key, parts_handle from uploads where user_id = $1
                 union all
                 select $2, object_key, parts_handle from objects_to_delete where user_id = $1
                 on conflict do nothing",
                vec![locked.user.0.into(), locked.id.0.into()],
            )
            .await?;
            self.run("delete from users where id = $1", user()).await?;
            self.note_erased(locked.id, &counts).await?;
        }
        self.end_browser_sessions(locked.user).await
    }

    /// Ends the sign-in sessions of a user, and what was begun to sign in.
    pub(super) async fn end_browser_sessions(&self, user: UserId) -> Result<()> {
        for table in ["browser_sessions", "one_time_secrets"] {
            self.run(
                &format!("delete from {table} where position($1 in data::text) > 0"),
                vec![user.to_string().into()],
            )
            .await?;
        }
        Ok(())
    }

    /// How much there is now of what an erasure counted before.
    pub(super) async fn recount(&self, locked: &Locked) -> Result<ErasedCounts> {
        let erasure = || -> Vec<Value> { vec![locked.id.0.into()] };
        let (mut counts, _) =
            self.count_rows("m.id in (select memory_id from erased_memories where erasure_id = $1)", erasure()).await?;
        let passages = "c.id in (select chunk_id from erased_passages where erasure_id = $1)";
        counts.add(&self.count_passages(passages, erasure()).await?);
        if locked.subject == ErasureSubject::Account {
            counts.add(&self.count_account(locked.user).await?);
            counts.add(&self.count_browser_sessions(locked.user).await?);
        } else {
            let marked = self.all("select id from namespaces where erasure_id = $1", erasure()).await?.len() as u64;
            counts.0.insert(ErasedStore::Namespaces, marked);
        }
        Ok(counts)
    }
}
