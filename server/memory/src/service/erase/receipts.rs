use polymnemo_types::{ErasureId, Receipt};

use crate::{
    Error, Result,
    receipt::{PublicKey, ReceiptKey},
    service::MemoryService,
};

impl MemoryService {
    /// A receipt, for whoever knows its id: it holds no word of what was erased, and its owner may be gone.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where there is none (yet); [`Error::Unavailable`].
    pub async fn receipt(&self, id: ErasureId) -> Result<Receipt> {
        self.store.receipt(id).await?.ok_or_else(|| {
            Error::Missing(format!("There is no receipt {id}, or not yet: it is issued when all is gone."))
        })
    }

    /// The key that receipts of this server are verified with.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn receipt_key(&self) -> Result<PublicKey> {
        Ok(self.receipt_signing_key().await?.public().clone())
    }

    pub(super) async fn receipt_signing_key(&self) -> Result<ReceiptKey> {
        ReceiptKey::from_seed(&self.store.receipt_seed(rand::random()).await?)
    }
}
