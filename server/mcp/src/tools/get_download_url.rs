use polymnemo_memory::{Ctx, MemoryService};
use polymnemo_types::ApiError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Definition, Effect, Tool, memory_id};
use crate::{
    answer::{Answer, Lines},
    view::{FileView, local_time},
};

/// The tool `get_download_url`.
pub(crate) struct GetDownloadUrl;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The id of a memory of the kind media, from recall or list_memories.
    #[schemars(regex(pattern = super::ID_PATTERN))]
    id: String,
}

/// Where to get the file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Download {
    /// The memory's id.
    id: String,
    /// The file.
    file: FileView,
    /// Where to get it, with GET and no other credential. Whoever has this can read the file, so it is a secret.
    url: String,
    /// Until when url is good, in the user's time zone.
    expires_at: String,
}

impl Tool for GetDownloadUrl {
    type Answer = Download;
    type Arguments = Arguments;

    const DEFINITION: Definition = Definition {
        name: "get_download_url",
        aliases: &[],
        title: "Get a file",
        description: "Returns a link that downloads the file of a memory of the kind media, for five minutes, without any \
            other credential; and the file's name, type and length. The bytes themselves never pass through here. What the \
            file is about is in the memory's text, which get_memory reads. An id of another user or of a forgotten memory \
            answers that there is no such memory.",
        effect: Effect::Reads,
        when_timed_out: "Nothing was changed. Try once more.",
    };

    async fn call(service: &MemoryService, ctx: &Ctx, arguments: Arguments) -> Result<Download, ApiError> {
        let download = service.get_download_url(ctx, memory_id(&arguments.id)?).await?;
        Ok(Download {
            id: download.id.to_string(),
            file: FileView::new(&download.file),
            url: download.url,
            expires_at: local_time(download.expires_at, &ctx.user.time_zone),
        })
    }
}

impl Answer for Download {
    fn short_text(&self) -> Lines {
        Lines {
            heading: format!("{} can be downloaded until {}:", self.file.label(), self.expires_at),
            records: vec![self.url.clone()],
        }
    }
}
