use std::sync::Arc;

use polymnemo_types::Ping;

use super::MemoryService;
use crate::{Ctx, Identity, Result, User, ports::Embedder};

impl MemoryService {
    /// Who the caller is to the service, and which parts are active.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Unavailable`].
    pub async fn ping(&self, ctx: &Ctx) -> Result<Ping> {
        let model = self.embedder.model();
        Ok(Ping {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            user: ctx.user.name.clone(),
            default_namespace: ctx.user.default_namespace.clone(),
            time_zone: ctx.user.time_zone.iana_name().unwrap_or("UTC").to_owned(),
            store: self.store.describe().await?,
            embedder: model.id.clone(),
            dimension: model.dimension,
            embedder_status: self.embedder.status(),
            files: self.file_storage(),
        })
    }

    /// The user of an identity, made when seen for the first time.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Unavailable`].
    pub async fn user(&self, identity: &Identity) -> Result<User> {
        self.store.user(identity, &self.defaults).await
    }

    /// Asks the database for a sign of life; gives its name and version.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Unavailable`].
    pub async fn check_store(&self) -> Result<String> {
        self.store.describe().await
    }

    /// The embedder in use.
    #[must_use]
    pub fn embedder(&self) -> &Arc<dyn Embedder> {
        &self.embedder
    }
}
