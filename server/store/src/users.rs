use jiff::tz::TimeZone;
use polymnemo_memory::{Identity, Result, User, UserDefaults};
use polymnemo_types::UserId;
use sea_orm::QueryResult;
use uuid::Uuid;

use crate::{
    PgStore,
    transaction::{Scope, get},
};

const BY_IDENTITY: &str = "
    select u.id, u.name, u.default_namespace, u.time_zone
    from identities i join users u on u.id = i.user_id
    where i.issuer = $1 and i.subject = $2";

impl PgStore {
    pub(crate) async fn user_of(&self, identity: &Identity, defaults: &UserDefaults) -> Result<User> {
        let transaction = self.begin(Scope::Background).await?;
        let key = || vec![identity.issuer.clone().into(), identity.subject.clone().into()];
        if let Some(row) = transaction.one(BY_IDENTITY, key()).await? {
            transaction.commit().await?;
            return user(&row);
        }
        // Two first requests at the same time: the second one waits for the lock and then finds the user.
        let lock = format!("{}\n{}", identity.issuer, identity.subject);
        transaction.run("select pg_advisory_xact_lock(hashtextextended($1, 0))", vec![lock.into()]).await?;
        if transaction.one(BY_IDENTITY, key()).await?.is_none() {
            let id = Uuid::now_v7();
            transaction
                .run(
                    "insert into users (id, name, default_namespace, time_zone) values ($1, $2, $3, $4)",
                    vec![
                        id.into(),
                        identity.subject.clone().into(),
                        defaults.namespace.clone().into(),
                        defaults.time_zone.clone().into(),
                    ],
                )
                .await?;
            let mut values = key();
            values.push(id.into());
            transaction.run("insert into identities (issuer, subject, user_id) values ($1, $2, $3)", values).await?;
        }
        let row = transaction
            .one(BY_IDENTITY, key())
            .await?
            .ok_or_else(|| polymnemo_memory::Error::internal("a user just made is not there"))?;
        transaction.commit().await?;
        user(&row)
    }
}

fn user(row: &QueryResult) -> Result<User> {
    let zone: String = get(row, "time_zone")?;
    Ok(User {
        id: UserId(get(row, "id")?),
        name: get(row, "name")?,
        default_namespace: get(row, "default_namespace")?,
        time_zone: TimeZone::get(&zone).unwrap_or(TimeZone::UTC),
    })
}
