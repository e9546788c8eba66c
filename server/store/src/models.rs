use polymnemo_memory::{Result, ports::Model};

use crate::{
    MIGRATION_LOCK, PgStore,
    error::from_db,
    transaction::{Scope, get, to_int},
};
use sea_orm::{ConnectionTrait as _, TransactionTrait as _};

impl PgStore {
    /// The database's number for a model. The first time a model is seen, its index is made and all passages that
    /// lack a vector of it are queued.
    pub(crate) async fn model_number(&self, model: &Model) -> Result<i16> {
        let known = self.models.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(&model.id).copied();
        if let Some(number) = known {
            return Ok(number);
        }
        let number = self.add_model(model).await?;
        self.models.write().unwrap_or_else(std::sync::PoisonError::into_inner).insert(model.id.clone(), number);
        Ok(number)
    }

    async fn add_model(&self, model: &Model) -> Result<i16> {
        let transaction = self.begin(Scope::Background).await?;
        transaction.run_unprepared(&format!("select pg_advisory_xact_lock({MIGRATION_LOCK})")).await?;
        transaction
            .run(
                "insert into models (name, dimension) values ($1, $2) on conflict (name) do nothing",
                vec![model.id.clone().into(), to_int(model.dimension).into()],
            )
            .await?;
        let row = transaction
            .one("select id from models where name = $1", vec![model.id.clone().into()])
            .await?
            .ok_or_else(|| polymnemo_memory::Error::internal("a model just made is not there"))?;
        let number: i16 = get(&row, "id")?;
        transaction
            .run(
                "insert into embedding_queue (model_id, chunk_id, namespace_id)
                 select $1, c.id, c.namespace_id from chunks c
                 where not exists (select from vectors v where v.model_id = $1 and v.chunk_id = c.id)
                 on conflict do nothing",
                vec![number.into()],
            )
            .await?;
        transaction.commit().await?;
        self.make_vector_index(number, model.dimension).await?;
        Ok(number)
    }

    /// Makes the HNSW index of a model. It is partial and on an expression, so that models of any dimension share a
    /// table. Only the tables' owner may, so this does not take on the restricted role.
    async fn make_vector_index(&self, number: i16, dimension: u32) -> Result<()> {
        let transaction = self.db.begin().await.map_err(from_db)?;
        transaction
            .execute_unprepared(&format!(
                "set local client_min_messages = warning;
                 select pg_advisory_xact_lock({MIGRATION_LOCK});
                 create index if not exists vectors_hnsw_{number} on vectors
                     using hnsw ((embedding::halfvec({dimension})) halfvec_cosine_ops) where model_id = {number}"
            ))
            .await
            .map_err(from_db)?;
        transaction.commit().await.map_err(from_db)
    }
}
