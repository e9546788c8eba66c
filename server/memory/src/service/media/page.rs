//! Upload pages: where a person drops a file that a client announced, without signing in. The secret in the address is
//! good for this one upload, and for nothing when it is confirmed.

use polymnemo_types::{Door, Media, SignedRequest, Upload, UploadParts};

use super::store::received_as_promised;
use crate::{
    Ctx, Error, Grants, NamespaceGrant, Result,
    ports::{FileBytes, StoredUpload},
    service::{MemoryService, tokens},
};

impl MemoryService {
    /// The upload of an upload page, which is known by the secret in its address (`/upload/SECRET`). Nobody needs to be
    /// signed in for this and for the methods below.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where there is none, where it was confirmed or given up, or its time is over;
    /// [`Error::Forbidden`] where the client that announced it was turned away; [`Error::Unavailable`].
    pub async fn upload_of_page(&self, secret: &str) -> Result<Upload> {
        Ok(self.page(secret).await?.1.upload)
    }

    /// [`MemoryService::upload_request`] for an upload page.
    ///
    /// # Errors
    ///
    /// As there, and as [`MemoryService::upload_of_page`].
    pub async fn upload_request_of_page(&self, secret: &str) -> Result<SignedRequest> {
        let (_, stored) = self.page(secret).await?;
        self.signed_put(&stored).await
    }

    /// [`MemoryService::upload_parts`] for an upload page.
    ///
    /// # Errors
    ///
    /// As there, and as [`MemoryService::upload_of_page`].
    pub async fn upload_parts_of_page(&self, secret: &str, numbers: &[u32]) -> Result<UploadParts> {
        let (ctx, stored) = self.page(secret).await?;
        self.parts_of(&ctx, &stored, numbers).await
    }

    /// [`MemoryService::confirm_upload`] for an upload page, whose address is used up afterwards.
    ///
    /// # Errors
    ///
    /// As there, and as [`MemoryService::upload_of_page`].
    pub async fn confirm_upload_of_page(&self, secret: &str) -> Result<Media> {
        let (ctx, stored) = self.page(secret).await?;
        self.confirm_upload(&ctx, stored.upload.id).await
    }

    /// Takes the bytes of an upload page's file through here, and confirms it.
    ///
    /// # Errors
    ///
    /// As [`MemoryService::confirm_upload_of_page`]. The upload goes on where other bytes came than were promised.
    pub async fn store_file_of_page(&self, secret: &str, bytes: FileBytes) -> Result<Media> {
        let (ctx, stored) = self.page(secret).await?;
        let file = &stored.upload.file;
        let kept = self.take_in(&ctx, &file.content_type, bytes, file.size).await?;
        if let Err(broken) = received_as_promised(Some(file.size), file.sha256.as_deref(), &kept) {
            self.release(&ctx, &kept.key).await;
            return Err(broken);
        }
        self.finish_upload(&ctx, &stored, kept).await
    }

    /// Who an upload page works for, and its upload.
    async fn page(&self, secret: &str) -> Result<(Ctx, StoredUpload)> {
        let (user, stored) = self.store.upload_of_page(&tokens::hash(secret), self.now()).await?.ok_or_else(no_page)?;
        let namespace = stored.upload.namespace.clone();
        let grants = Grants { read: false, write: true, namespaces: NamespaceGrant::Only(vec![namespace.clone()]) };
        let ctx =
            Ctx { user, door: Door::CapabilityPath, client: stored.upload.client.clone(), app: stored.app, grants };
        if let Some(id) = stored.app {
            // What its owner decides about a client holds for what it announced before, too.
            let app = self.store.app(&ctx, id).await?;
            let app = app.filter(|app| app.is_active(self.now()) && app.paused_at.is_none());
            let may = app.map(|app| Ctx { grants: app.grants.into(), ..ctx.clone() });
            if may.is_none_or(|ctx| ctx.check_write(&namespace).is_err()) {
                return Err(Error::Forbidden(
                    "The app that announced this file may no longer store anything, so the link is not good any more."
                        .into(),
                ));
            }
        }
        Ok((ctx, stored))
    }
}

fn no_page() -> Error {
    Error::Missing(
        "This link is not good any more: the file has arrived already, or the time for it is over. Ask the assistant that \
         gave it to you for a new one."
            .into(),
    )
}
