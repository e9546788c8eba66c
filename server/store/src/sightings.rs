use jiff::Timestamp;
use polymnemo_memory::{Ctx, Error, Result};
use polymnemo_types::{ClientSighting, Door};
use sea_orm::Value;

use crate::{
    PgStore,
    memories::{from_sql, to_sql},
    transaction::{Scope, get},
};

impl PgStore {
    pub(crate) async fn insert_sighting(&self, ctx: &Ctx, at: Timestamp, most: u32) -> Result<()> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        transaction
            .run(
                "insert into client_sightings as seen (user_id, client, door, last_seen_at) values ($1, $2, $3, $4)
                 on conflict (user_id, client, door) do update set last_seen_at = excluded.last_seen_at
                     where seen.last_seen_at <= excluded.last_seen_at - interval '1 minute'",
                vec![
                    ctx.user.id.0.into(),
                    ctx.client.clone().unwrap_or_default().into(),
                    door_to_sql(ctx.door),
                    to_sql(at),
                ],
            )
            .await?;
        transaction
            .run(
                "delete from client_sightings where user_id = $1 and (client, door) in (
                     select client, door from client_sightings where user_id = $1
                     order by last_seen_at desc, client, door offset $2
                 )",
                vec![ctx.user.id.0.into(), i64::from(most).into()],
            )
            .await?;
        transaction.commit().await
    }

    pub(crate) async fn list_sightings(&self, ctx: &Ctx) -> Result<Vec<ClientSighting>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let rows = transaction
            .all(
                "select client, door, last_seen_at from client_sightings where user_id = $1
                 order by last_seen_at desc, client, door",
                vec![ctx.user.id.0.into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter()
            .map(|row| {
                Ok(ClientSighting {
                    client: Some(get::<String>(row, "client")?).filter(|client| !client.is_empty()),
                    door: door_from_sql(&get::<String>(row, "door")?)?,
                    last_seen_at: from_sql(get(row, "last_seen_at")?)?,
                })
            })
            .collect()
    }
}

pub(crate) fn door_to_sql(door: Door) -> Value {
    let name = match door {
        Door::Browser => "browser",
        Door::ApiToken => "api_token",
        Door::OauthApp => "oauth_app",
        Door::StaticKey => "static_key",
        Door::CapabilityPath => "capability_path",
        Door::Stdio => "stdio",
    };
    name.into()
}

pub(crate) fn door_from_sql(name: &str) -> Result<Door> {
    match name {
        "browser" => Ok(Door::Browser),
        "api_token" => Ok(Door::ApiToken),
        "oauth_app" => Ok(Door::OauthApp),
        "static_key" => Ok(Door::StaticKey),
        "capability_path" => Ok(Door::CapabilityPath),
        "stdio" => Ok(Door::Stdio),
        _ => Err(Error::internal("the database holds a client at an unknown door")),
    }
}
