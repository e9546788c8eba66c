use polymnemo_memory::{Ctx, MemoryService};
use polymnemo_types::{ApiError, BlobBackend, EmbedderStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Definition, Effect, Tool};
use crate::answer::{Answer, Lines};

/// The tool `ping`.
pub(crate) struct Ping;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {}

/// The state of the server, and who the caller is to it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Pong {
    /// The server's version.
    version: String,
    /// The user whose memory this is.
    user: String,
    /// The namespace that remember uses when none is given.
    default_namespace: String,
    /// The user's time zone.
    time_zone: String,
    /// The database in use.
    store: String,
    /// The embedding model in use.
    embedder: String,
    /// The length of its vectors.
    dimension: u32,
    /// ready: recall and remember work; loading: they wait for the model; failed: see reason.
    embedder_status: Status,
    /// Where files are kept: local, s3, or none where they can't be.
    files: BlobBackend,
    /// Why the model does not work, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Status {
    Loading,
    Ready,
    Failed,
}

impl Tool for Ping {
    type Answer = Pong;
    type Arguments = Arguments;

    const DEFINITION: Definition = Definition {
        name: "ping",
        aliases: &[],
        title: "Check the memory server",
        description: "Tells whether the memory server works and who it takes the caller for: user, default namespace, \
            time zone, version, database, embedding model and whether the model is loaded, and whether files can be kept. Takes no arguments and \
            changes nothing.",
        effect: Effect::Reads,
        when_timed_out: "The server is up, but its database does not answer. Try again in a minute.",
    };

    async fn call(service: &MemoryService, ctx: &Ctx, _: Arguments) -> Result<Pong, ApiError> {
        let ping = service.ping(ctx).await?;
        let (embedder_status, reason) = match ping.embedder_status {
            EmbedderStatus::Loading => (Status::Loading, None),
            EmbedderStatus::Ready => (Status::Ready, None),
            EmbedderStatus::Failed(reason) => (Status::Failed, Some(reason)),
        };
        Ok(Pong {
            version: ping.version,
            user: ping.user,
            default_namespace: ping.default_namespace,
            time_zone: ping.time_zone,
            store: ping.store,
            embedder: ping.embedder,
            dimension: ping.dimension,
            embedder_status,
            files: ping.files.backend,
            reason,
        })
    }
}

impl Answer for Pong {
    fn short_text(&self) -> Lines {
        let model = match (self.embedder_status, &self.reason) {
            (Status::Ready, _) => "is ready".to_owned(),
            (Status::Loading, _) => "is still being loaded; recall and remember wait for it".to_owned(),
            (Status::Failed, reason) => {
                format!("does not work: {}", reason.as_deref().unwrap_or("see the server's log"))
            }
        };
        Lines::one(format!(
            "polymnemo {} works for {} (namespace {}, time zone {}) on {}. The model {} {model}.",
            self.version, self.user, self.default_namespace, self.time_zone, self.store, self.embedder,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_how_the_model_is_doing() {
        let mut pong = Pong {
            version: "0.1.0".into(),
            user: "ada".into(),
            default_namespace: "personal".into(),
            time_zone: "Europe/Berlin".into(),
            store: "PostgreSQL 18.6".into(),
            embedder: "multilingual-e5-small".into(),
            dimension: 384,
            embedder_status: Status::Ready,
            files: BlobBackend::Local,
            reason: None,
        };
        assert_eq!(
            pong.full_text(),
            "polymnemo 0.1.0 works for ada (namespace personal, time zone Europe/Berlin) on PostgreSQL 18.6. \
             The model multilingual-e5-small is ready."
        );
        pong.embedder_status = Status::Failed;
        pong.reason = Some("model.onnx is damaged; run polymnemo setup".into());
        assert!(pong.full_text().ends_with("does not work: model.onnx is damaged; run polymnemo setup."));
    }
}
