use polymnemo_memory::{Ctx, MemoryService};
use polymnemo_types::ApiError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Definition, Effect, Tool, memory_id};
use crate::{
    answer::{Answer, Lines},
    view::{FileView, MemoryView},
};

/// The tool `confirm_upload`.
pub(crate) struct ConfirmUpload;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The id from the answer of create_upload.
    #[schemars(regex(pattern = super::ID_PATTERN))]
    id: String,
}

/// The file that is stored now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Confirmed {
    /// The memory's id, for get_memory, get_download_url, update and forget.
    id: String,
    /// The namespace it is in.
    namespace: String,
    /// The file.
    file: FileView,
    /// The SHA-256 of its bytes, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

impl Tool for ConfirmUpload {
    type Answer = Confirmed;
    type Arguments = Arguments;

    const DEFINITION: Definition = Definition {
        name: "confirm_upload",
        aliases: &[],
        title: "Store an uploaded file",
        description: "Makes the memory of a file whose bytes were sent with the request of create_upload: checks that they \
            are there and of the size, type and SHA-256 that were promised, and returns the memory's id, which is that of \
            the upload. Bytes that are not what was promised are deleted and the upload ends. Confirming twice gives the \
            same memory. A file that the user dropped on the upload page needs no confirming.",
        effect: Effect::Adds,
        when_timed_out: "It may still be stored in a moment. Repeat the same call in half a minute: confirming twice does \
            no harm.",
    };

    async fn call(service: &MemoryService, ctx: &Ctx, arguments: Arguments) -> Result<Confirmed, ApiError> {
        let media = service.confirm_upload(ctx, memory_id(&arguments.id)?).await?;
        let view = MemoryView::new(&media.memory, &ctx.user.time_zone);
        Ok(Confirmed {
            id: view.id,
            namespace: view.namespace,
            file: FileView::new(&media.file),
            sha256: media.file.sha256,
        })
    }
}

impl Answer for Confirmed {
    fn short_text(&self) -> Lines {
        Lines::one(format!("Stored {} in the namespace {} as [{}].", self.file.label(), self.namespace, self.id))
    }
}
