use jiff::tz::TimeZone;
use polymnemo_memory::{Account, Error, Identity, Result, SessionSecret, User, UserDefaults};
use polymnemo_types::UserId;
use sea_orm::QueryResult;
use uuid::Uuid;

use crate::{
    PgStore,
    settings::{language_from_sql, theme_from_sql},
    transaction::{Scope, Transaction, get},
};

/// The columns of `users u` that [`user`] and [`account`] read.
pub(crate) const USER_COLUMNS: &str = "u.id as user_id, u.name as user_name, u.default_namespace, u.time_zone,
    u.language, u.theme, u.session_secret";

impl PgStore {
    pub(crate) async fn user_of(&self, identity: &Identity, defaults: &UserDefaults) -> Result<User> {
        let transaction = self.begin(Scope::Background).await?;
        let row = transaction.user_of(identity, &identity.subject, defaults).await?;
        transaction.commit().await?;
        user(&row)
    }

    pub(crate) async fn account_of(&self, identity: &Identity, name: &str, defaults: &UserDefaults) -> Result<Account> {
        let transaction = self.begin(Scope::Background).await?;
        let account = account(&transaction.user_of(identity, name, defaults).await?)?;
        let id = account.user.id;
        transaction
            .run("update users set name = $2 where id = $1 and name <> $2", vec![id.0.into(), name.to_owned().into()])
            .await?;
        // Whoever sees the list of their namespaces finds the one there that they would store in.
        let namespace = &account.user.default_namespace;
        transaction
            .run(
                "insert into namespaces (user_id, name, shared_by_setting) values ($1, $2, $3) on conflict do nothing",
                vec![id.0.into(), namespace.clone().into(), self.shared_by_setting(namespace).into()],
            )
            .await?;
        transaction.commit().await?;
        Ok(Account { user: User { name: name.to_owned(), ..account.user }, ..account })
    }

    pub(crate) async fn account_by_id(&self, id: UserId) -> Result<Option<Account>> {
        let transaction = self.begin(Scope::Background).await?;
        let row =
            transaction.one(&format!("select {USER_COLUMNS} from users u where u.id = $1"), vec![id.0.into()]).await?;
        transaction.commit().await?;
        row.as_ref().map(account).transpose()
    }
}

impl Transaction {
    /// The user of an identity, made under this name when seen for the first time.
    pub(crate) async fn user_of(
        &self,
        identity: &Identity,
        name: &str,
        defaults: &UserDefaults,
    ) -> Result<QueryResult> {
        if let Some(row) = self.user_by_identity(identity).await? {
            return Ok(row);
        }
        // Two first requests at the same time: the second one waits for the lock and then finds the user.
        let lock = format!("{}\n{}", identity.issuer, identity.subject);
        self.run("select pg_advisory_xact_lock(hashtextextended($1, 0))", vec![lock.into()]).await?;
        if let Some(row) = self.user_by_identity(identity).await? {
            return Ok(row);
        }
        let id = Uuid::now_v7();
        self.run(
            "insert into users (id, name, default_namespace, time_zone) values ($1, $2, $3, $4)",
            vec![
                id.into(),
                name.to_owned().into(),
                defaults.namespace.clone().into(),
                defaults.time_zone.clone().into(),
            ],
        )
        .await?;
        self.run(
            "insert into identities (issuer, subject, user_id) values ($1, $2, $3)",
            vec![identity.issuer.clone().into(), identity.subject.clone().into(), id.into()],
        )
        .await?;
        let row = self.user_by_identity(identity).await?;
        row.ok_or_else(|| Error::internal("a user just made is not there"))
    }

    async fn user_by_identity(&self, identity: &Identity) -> Result<Option<QueryResult>> {
        self.one(
            &format!(
                "select {USER_COLUMNS} from identities i join users u on u.id = i.user_id
                 where i.issuer = $1 and i.subject = $2"
            ),
            vec![identity.issuer.clone().into(), identity.subject.clone().into()],
        )
        .await
    }
}

/// Reads a row with [`USER_COLUMNS`].
pub(crate) fn user(row: &QueryResult) -> Result<User> {
    let zone: String = get(row, "time_zone")?;
    Ok(User {
        id: UserId(get(row, "user_id")?),
        name: get(row, "user_name")?,
        default_namespace: get(row, "default_namespace")?,
        time_zone: TimeZone::get(&zone).unwrap_or(TimeZone::UTC),
    })
}

fn account(row: &QueryResult) -> Result<Account> {
    Ok(Account {
        user: user(row)?,
        language: language_from_sql(get::<Option<String>>(row, "language")?.as_deref())?,
        theme: theme_from_sql(&get::<String>(row, "theme")?)?,
        session_secret: SessionSecret::new(get(row, "session_secret")?),
    })
}
