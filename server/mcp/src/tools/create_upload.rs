use polymnemo_memory::{Ctx, MemoryService};
use polymnemo_types::{ApiError, CreatedUpload, NewUpload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Definition, Effect, Tool};
use crate::{
    answer::{Answer, Lines},
    view::local_time,
};

/// The tool `create_upload`.
pub(crate) struct CreateUpload;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The file's name, as it is to be called when it is downloaded: invoice.pdf
    #[schemars(length(min = 1, max = 255))]
    filename: String,
    /// Its media type: image/png. Where nothing fits: application/octet-stream
    #[schemars(length(min = 3, max = 127))]
    content_type: String,
    /// Its exact length in bytes. Left out only where content_base64 is given.
    #[schemars(range(min = 1, max = 5_368_709_120_i64))]
    size: Option<u64>,
    /// What the file is and why it matters, understandable on its own: only this is searched by recall.
    #[schemars(length(min = 1, max = 32_000))]
    description: String,
    /// The namespace to store it in; a new name makes a new, private one. Left out: the user's own.
    #[schemars(length(min = 1, max = 64))]
    namespace: Option<String>,
    /// Labels to find it by.
    #[serde(default)]
    #[schemars(length(max = 32), inner(length(min = 1, max = 64)))]
    tags: Vec<String>,
    /// Its SHA-256 in hexadecimal digits, where known: other bytes are then refused.
    #[schemars(regex(pattern = "^[0-9a-fA-F]{64}$"))]
    sha256: Option<String>,
    /// The file itself in Base64, for small ones: at most 1,000,000 bytes before encoding. It is then stored at once.
    #[schemars(length(min = 4, max = 1_400_000))]
    content_base64: Option<String>,
}

/// How to send the file, or that it is stored.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Upload {
    /// The id of the upload, for confirm_upload; the memory that it becomes has the same.
    id: String,
    /// announced: send the bytes, then call confirm_upload; stored: the file came along, nothing is left to do.
    status: Status,
    /// The namespace it goes to.
    namespace: String,
    /// The HTTP method that sends the bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    /// Where to send them. Whoever has this can send this file, so it is a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The headers to send along, exactly so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headers: Vec<HeaderView>,
    /// Until when url is good, in the user's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// The same as a line for a shell, with the file in the working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    curl: Option<String>,
    /// For when the bytes can't be sent from here: a link to a page where the user drops the file. It is stored then,
    /// without confirm_upload.
    #[serde(skip_serializing_if = "Option::is_none")]
    upload_page: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Status {
    Announced,
    Stored,
}

/// A header of a request.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct HeaderView {
    /// Its name.
    name: String,
    /// Its value.
    value: String,
}

impl Upload {
    fn new(created: CreatedUpload, ctx: &Ctx) -> Self {
        let status = if created.stored.is_some() { Status::Stored } else { Status::Announced };
        let (mut method, mut url, mut headers, mut expires_at) = (None, None, Vec::new(), None);
        if let Some(request) = created.request {
            headers = request
                .headers
                .into_iter()
                .map(|header| HeaderView { name: header.name, value: header.value })
                .collect();
            expires_at = Some(local_time(request.expires_at, &ctx.user.time_zone));
            (method, url) = (Some(request.method), Some(request.url));
        }
        Self {
            id: created.upload.id.to_string(),
            status,
            namespace: created.upload.namespace,
            method,
            url,
            headers,
            expires_at,
            curl: created.curl,
            upload_page: created.upload_page,
        }
    }
}

impl Tool for CreateUpload {
    type Answer = Upload;
    type Arguments = Arguments;

    const DEFINITION: Definition = Definition {
        name: "create_upload",
        aliases: &[],
        title: "Keep a file",
        description: "Prepares to keep a file (an image, a PDF, a recording, any other) beside the user's memories, with a \
            description that recall finds it by. Returns an id and a request (method, url, headers; also as a curl line) \
            that sends the bytes straight to the storage, for an hour; after that, confirm_upload with the id makes the \
            memory. Where nothing can be sent from here, upload_page is a link for the user: they drop the file there, and \
            it is stored. A file up to 1 MB may come inside the call as content_base64 and is stored at once. What was \
            promised is what is kept: other bytes, another size or type are refused. What is not confirmed within a day \
            is deleted.",
        effect: Effect::AddsEachTime,
        when_timed_out: "A small file was stored whole or not at all; look with list_memories (kind media) before you \
            repeat the call. Nothing else was stored, and the call can be repeated.",
    };

    async fn call(service: &MemoryService, ctx: &Ctx, arguments: Arguments) -> Result<Upload, ApiError> {
        let new = NewUpload {
            filename: arguments.filename,
            content_type: arguments.content_type,
            size: arguments.size,
            description: arguments.description,
            namespace: arguments.namespace,
            tags: arguments.tags,
            sha256: arguments.sha256,
            content_base64: arguments.content_base64,
            in_parts: false,
        };
        Ok(Upload::new(service.create_upload(ctx, new).await?, ctx))
    }
}

impl Answer for Upload {
    fn short_text(&self) -> Lines {
        if self.status == Status::Stored {
            return Lines::one(format!("Stored in the namespace {} as [{}].", self.namespace, self.id));
        }
        let mut lines =
            Lines::one(format!("Announced as [{}]. Send the file, then call confirm_upload with this id.", self.id));
        lines.records.extend(self.curl.clone());
        lines.records.extend(self.upload_page.as_ref().map(|page| format!("Or let the user drop it here: {page}")));
        lines
    }

    fn full_text(&self) -> String {
        let mut text = self.short_text().to_string();
        if let (Some(method), Some(url), Some(until)) = (&self.method, &self.url, &self.expires_at) {
            text.push_str(&format!("\nWithout curl: {method} {url} until {until}, with the headers"));
            for header in &self.headers {
                text.push_str(&format!("\n{}: {}", header.name, header.value));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_how_to_send_it() {
        let mut upload = Upload {
            id: "0198c0de-7a11-7000-8000-000000000001".into(),
            status: Status::Announced,
            namespace: "work".into(),
            method: Some("PUT".into()),
            url: Some("https://x.example.com/a".into()),
            headers: vec![HeaderView { name: "content-type".into(), value: "image/png".into() }],
            expires_at: Some("2026-03-01T21:30:00+01:00".into()),
            curl: Some("curl …".into()),
            upload_page: Some("https://x.example.com/upload/b".into()),
        };
        insta::assert_snapshot!(upload.full_text(), @r"
        Announced as [0198c0de-7a11-7000-8000-000000000001]. Send the file, then call confirm_upload with this id.
        curl …
        Or let the user drop it here: https://x.example.com/upload/b
        Without curl: PUT https://x.example.com/a until 2026-03-01T21:30:00+01:00, with the headers
        content-type: image/png
        ");
        upload.status = Status::Stored;
        assert_eq!(
            upload.short_text().to_string(),
            "Stored in the namespace work as [0198c0de-7a11-7000-8000-000000000001]."
        );
    }
}
