//! Files: those that are there, and those that are on their way here.
//!
//! What the browser asks while it uploads is asked by who is signed in, or, on the page of an upload link, by whoever has
//! the link. The link's secret is never part of a URL of these functions.

use leptos::{prelude::*, server_fn::codec::GetUrl};
use polymnemo_types::MemoryId;
use serde::{Deserialize, Serialize};

use super::{WebError, changes::Notice};

#[cfg(feature = "ssr")]
pub(crate) use reading::{
    FoundFile, FoundFiles, Glimpse, MediaSelection, PageOfFile, Unfinished, find_files, kinds, read_file, unfinished,
    upload_of_link,
};

/// The path of a file's page.
#[must_use]
pub fn media_path(id: &str) -> String {
    format!("/media/{id}")
}

/// The parts of a file to send next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartsToSend {
    /// How many bytes need not be sent any more, rounded up to whole parts.
    pub sent: u64,
    /// The next few parts. Where there are none, all of the file is there.
    pub parts: Vec<Part>,
}

/// A part of a file, and how to send it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its number, from 1.
    pub number: u32,
    /// Where it begins in the file, in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub size: u64,
    /// The HTTP method.
    pub method: String,
    /// Where it goes: a secret, for a little while.
    pub url: String,
    /// Names and values of the headers to send.
    pub headers: Vec<(String, String)>,
}

impl std::fmt::Debug for Part {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Part").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Announces a file that the browser is about to send; gives the id of its upload.
///
/// # Errors
///
/// Those of [`create_upload`](polymnemo_memory::MemoryService::create_upload).
#[server(endpoint = "begin_upload")]
pub async fn begin_upload(
    /// The name of the file.
    filename: String,
    /// Its media type, as far as the browser knows.
    content_type: String,
    /// Its length in bytes.
    size: u64,
    /// What it is; its name where empty.
    description: String,
    /// Where it goes; to the default namespace where empty.
    namespace: String,
) -> Result<String, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let new = polymnemo_types::NewUpload {
        description: if description.trim().is_empty() { filename.clone() } else { description },
        filename,
        content_type: if content_type.is_empty() { "application/octet-stream".to_owned() } else { content_type },
        size: Some(size),
        namespace: Some(namespace).filter(|name| !name.trim().is_empty()),
        in_parts: true,
        ..Default::default()
    };
    Ok(service.create_upload(&ctx, new).await?.upload.id.to_string())
}

/// The next parts of an upload to send: those that are missing, or, to send all of it again, those after one.
///
/// # Errors
///
/// Those of [`upload_parts`](polymnemo_memory::MemoryService::upload_parts).
#[server(endpoint = "next_parts", input = GetUrl)]
pub async fn next_parts(
    /// The upload.
    id: String,
    /// The part that was sent last; 0 before the first.
    after: u32,
    /// Whether to send also what is there.
    again: bool,
) -> Result<PartsToSend, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let id = sending::id_of(&id)?;
    let there = service.upload_parts(&ctx, id, &[]).await?;
    let wanted = sending::wanted(&there, after, again);
    let parts = if wanted.is_empty() { there } else { service.upload_parts(&ctx, id, &wanted).await? };
    Ok(sending::next(&service, parts, after, again))
}

/// Says that all bytes of an upload have been sent; gives the path of the page of the file.
///
/// # Errors
///
/// Those of [`confirm_upload`](polymnemo_memory::MemoryService::confirm_upload).
#[server(endpoint = "confirm_upload")]
pub async fn confirm_upload(
    /// The upload.
    id: String,
) -> Result<String, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let media = service.confirm_upload(&ctx, sending::id_of(&id)?).await?;
    Ok(media_path(&media.memory.id.to_string()))
}

/// Gives an upload up.
///
/// # Errors
///
/// Those of [`cancel_upload`](polymnemo_memory::MemoryService::cancel_upload).
#[server(endpoint = "cancel_upload")]
pub async fn cancel_upload(
    /// The upload.
    id: String,
) -> Result<Notice, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    service.cancel_upload(&ctx, sending::id_of(&id)?).await?;
    Ok(Notice::of(super::changes::Deed::UploadCancelled))
}

/// [`next_parts`] for whoever has the link to an upload. Where that comes in one go, all of it is the only part.
///
/// # Errors
///
/// Those of [`upload_parts_of_page`](polymnemo_memory::MemoryService::upload_parts_of_page).
#[server(endpoint = "next_link_parts")]
pub async fn next_link_parts(
    /// The secret of the link.
    secret: String,
    /// The part that was sent last; 0 before the first.
    after: u32,
    /// Whether to send also what is there.
    again: bool,
) -> Result<PartsToSend, WebError> {
    let service = expect_context::<crate::WebContext>().service;
    let upload = service.upload_of_page(&secret).await?;
    if !upload.in_parts {
        let request = if after == 0 { Some(service.upload_request_of_page(&secret).await?) } else { None };
        return Ok(sending::in_one_go(&service, upload.file.size, request));
    }
    let there = service.upload_parts_of_page(&secret, &[]).await?;
    let wanted = sending::wanted(&there, after, again);
    let parts = if wanted.is_empty() { there } else { service.upload_parts_of_page(&secret, &wanted).await? };
    Ok(sending::next(&service, parts, after, again))
}

/// [`confirm_upload`] for whoever has the link to an upload; the link is used up then.
///
/// # Errors
///
/// Those of [`confirm_upload_of_page`](polymnemo_memory::MemoryService::confirm_upload_of_page).
#[server(endpoint = "confirm_link_upload")]
pub async fn confirm_link_upload(
    /// The secret of the link.
    secret: String,
) -> Result<(), WebError> {
    let service = expect_context::<crate::WebContext>().service;
    service.confirm_upload_of_page(&secret).await?;
    Ok(())
}

/// Changes the description of a file, where it is and its labels; what else its memory says stays.
///
/// # Errors
///
/// Those of [`update`](polymnemo_memory::MemoryService::update).
#[server(endpoint = "describe_file")]
pub async fn describe_file(
    /// The file's memory.
    id: MemoryId,
    /// The revision that the person read.
    revision: u32,
    /// What the file is.
    content: String,
    /// The namespace.
    namespace: String,
    /// The labels, with commas between them.
    tags: String,
) -> Result<Notice, WebError> {
    use super::changes::Deed;

    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let request = polymnemo_types::UpdateRequest {
        id,
        content: Some(super::changes::unix_lines(content)),
        tags: Some(super::changes::tags_of(&tags)),
        source: None,
        namespace: super::changes::given(namespace),
        occurred_at: None,
        expected_revision: Some(revision),
    };
    let updated = service.update(&ctx, request).await?;
    Ok(Notice::of(if updated.changed { Deed::Saved } else { Deed::Unchanged }))
}

/// A signed URL as a page uses it. Where files are on this server itself, that is wherever the page came from: people may
/// reach it under another name than the one in the settings.
#[cfg(feature = "ssr")]
fn seen_from_page(service: &polymnemo_memory::MemoryService, url: String) -> String {
    if service.file_storage().origin.is_some() {
        return url;
    }
    let path = url.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    path.map_or(url.clone(), |(_, path)| format!("/{path}"))
}

/// Which parts to send, and what is known of them.
#[cfg(feature = "ssr")]
mod sending {
    use polymnemo_memory::MemoryService;
    use polymnemo_types::{ApiError, ErrorCode, Header, MemoryId, PartRequest, SignedRequest, UploadParts};

    use super::{Part, PartsToSend, seen_from_page};

    /// How many parts one answer is about. Few, so that their URLs are used long before they expire.
    const AT_ONCE: usize = 8;

    pub(super) fn id_of(id: &str) -> Result<MemoryId, ApiError> {
        id.parse().map_err(|_| ApiError {
            code: ErrorCode::NotFound,
            message: "There is no such upload. Choose the file again.".to_owned(),
        })
    }

    /// The numbers of the parts to send next.
    pub(super) fn wanted(parts: &UploadParts, after: u32, again: bool) -> Vec<u32> {
        let all = 1..=parts.count;
        if again {
            all.skip_while(|number| *number <= after).take(AT_ONCE).collect()
        } else {
            all.filter(|number| !parts.present.contains(number)).take(AT_ONCE).collect()
        }
    }

    pub(super) fn next(service: &MemoryService, parts: UploadParts, after: u32, again: bool) -> PartsToSend {
        let sent = sent(&parts, after, again);
        PartsToSend { sent, parts: parts.requests.into_iter().map(|request| part(service, request)).collect() }
    }

    /// All of a file, while it is to be sent.
    pub(super) fn in_one_go(service: &MemoryService, size: u64, request: Option<SignedRequest>) -> PartsToSend {
        let sent = if request.is_none() { size } else { 0 };
        let parts = request.map(|request| part(service, PartRequest { number: 1, offset: 0, size, request }));
        PartsToSend { sent, parts: parts.into_iter().collect() }
    }

    /// The last part may be shorter; whoever shows the sum knows how long the file is.
    fn sent(parts: &UploadParts, after: u32, again: bool) -> u64 {
        let sent = if again { after } else { u32::try_from(parts.present.len()).unwrap_or(parts.count) };
        u64::from(sent) * parts.part_bytes
    }

    fn part(service: &MemoryService, part: PartRequest) -> Part {
        let PartRequest { number, offset, size, request } = part;
        let headers = request.headers.into_iter().filter(|header| !is_of_browser(header));
        let headers = headers.map(|Header { name, value }| (name, value)).collect();
        Part { number, offset, size, method: request.method, url: seen_from_page(service, request.url), headers }
    }

    /// Browsers set these themselves, and let nobody else.
    fn is_of_browser(header: &Header) -> bool {
        matches!(header.name.to_ascii_lowercase().as_str(), "content-length" | "host")
    }

    #[cfg(test)]
    mod tests {
        use polymnemo_types::UploadParts;

        use super::{sent, wanted};

        fn parts(count: u32, present: &[u32]) -> UploadParts {
            UploadParts { part_bytes: 8, count, present: present.to_vec(), requests: Vec::new() }
        }

        #[test]
        fn what_is_missing_is_sent() {
            assert_eq!(wanted(&parts(4, &[1, 3]), 0, false), [2, 4]);
            assert_eq!(wanted(&parts(100, &[1]), 0, false), [2, 3, 4, 5, 6, 7, 8, 9]);
            assert!(wanted(&parts(2, &[1, 2]), 0, false).is_empty());
            assert_eq!(sent(&parts(4, &[1, 3]), 0, false), 16);
        }

        #[test]
        fn everything_is_sent_again() {
            assert_eq!(wanted(&parts(3, &[1, 2, 3]), 0, true), [1, 2, 3]);
            assert_eq!(wanted(&parts(3, &[1, 2, 3]), 2, true), [3]);
            assert!(wanted(&parts(3, &[1, 2, 3]), 3, true).is_empty());
            assert_eq!(sent(&parts(3, &[1, 2, 3]), 2, true), 16);
        }
    }
}

/// What pages read; there is no server function for it.
#[cfg(feature = "ssr")]
mod reading {
    use futures::future::{join_all, try_join3};
    use leptos::prelude::*;
    use leptos_router::params::ParamsMap;
    use polymnemo_memory::{Ctx, Error, MemoryService};
    use polymnemo_types::{
        FileStorage, Kind, ListMediaRequest, ListRequest, Media, MediaDetails, MediaText, MemoryId, Page, ShownAs,
        Upload,
    };
    use serde::{Deserialize, Serialize};

    use crate::{
        WebContext,
        api::{WebError, caller, media::seen_from_page},
        paths::encoded,
    };

    /// The files on a page.
    const LISTED: u32 = 24;
    /// The most unfinished uploads that are told of.
    const UNFINISHED: usize = 10;
    /// The most characters of a text that stand for it in a list.
    const GLIMPSE: usize = 400;
    /// The size of an image, in bytes, up to which it stands for itself in a list where there is no smaller one.
    const SMALL_IMAGE: u64 = 1_000_000;
    /// The size of a document, in bytes, up to which its first page is shown in a list.
    const SMALL_DOCUMENT: u64 = 5_000_000;
    /// The most namespaces that one can choose from; others can be typed.
    const NAMESPACES: u32 = 200;

    /// What the list shows: the query of the URL.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub(crate) struct MediaSelection {
        /// What names or descriptions hold.
        pub(crate) q: String,
        /// A family of media types, one of [`kinds`].
        pub(crate) kind: String,
        pub(crate) namespace: String,
        pub(crate) tag: String,
        pub(crate) cursor: String,
    }

    /// The families of media types that one can choose from, as they are in the query.
    pub(crate) fn kinds() -> [&'static str; 5] {
        ["image", "video", "audio", "application/pdf", "text"]
    }

    impl MediaSelection {
        pub(crate) fn of_query(query: &ParamsMap) -> Self {
            let value = |name: &str| query.get_str(name).map(str::trim).unwrap_or_default().to_owned();
            Self {
                q: value("q"),
                kind: value("kind"),
                namespace: value("namespace"),
                tag: value("tag"),
                cursor: value("cursor"),
            }
        }

        /// Whether it leaves files out.
        pub(crate) fn is_narrowed(&self) -> bool {
            [&self.q, &self.kind, &self.namespace, &self.tag].into_iter().any(|value| !value.is_empty())
        }

        /// The path of its page that begins at a cursor.
        pub(crate) fn page(&self, cursor: Option<&str>) -> String {
            let fields = [
                ("q", self.q.as_str()),
                ("kind", &self.kind),
                ("namespace", &self.namespace),
                ("tag", &self.tag),
                ("cursor", cursor.unwrap_or_default()),
            ];
            let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
            let query: Vec<String> = fields.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
            if query.is_empty() { "/media".to_owned() } else { format!("/media?{}", query.join("&")) }
        }

        fn request(&self) -> ListMediaRequest {
            let given = |value: &String| Some(value.clone()).filter(|value| !value.is_empty());
            ListMediaRequest {
                namespace: given(&self.namespace),
                tags: given(&self.tag).into_iter().collect(),
                content_type: given(&self.kind),
                text: given(&self.q),
                limit: Some(LISTED),
                cursor: given(&self.cursor),
            }
        }
    }

    /// A page of files.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(crate) struct FoundFiles {
        pub(crate) files: Vec<FoundFile>,
        pub(crate) total: u64,
        pub(crate) next_cursor: Option<String>,
        /// What one can choose from to narrow the list.
        pub(crate) namespaces: Vec<String>,
        pub(crate) tags: Vec<String>,
    }

    /// A file in a list.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(crate) struct FoundFile {
        pub(crate) media: Media,
        pub(crate) glimpse: Glimpse,
    }

    /// What is to be seen of a file before it is opened.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub(crate) enum Glimpse {
        /// An image of it, at this URL.
        Image(String),
        /// The video at this URL.
        Video(String),
        /// The sound at this URL.
        Audio(String),
        /// The document at this URL, of which the first page is shown.
        Pdf(String),
        /// The beginning of its text.
        Text(String),
        Nothing,
    }

    pub(crate) async fn find_files(selection: MediaSelection) -> Result<FoundFiles, WebError> {
        let ctx = caller()?;
        let service = expect_context::<WebContext>().service;
        let all = ListRequest { kind: Some(Kind::Media), ..Default::default() };
        let (found, namespaces, facets) = try_join3(
            service.list_media(&ctx, selection.request()),
            service.namespaces(&ctx, "", NAMESPACES),
            service.facets(&ctx, &all),
        )
        .await?;
        let Page { mut items, total, next_cursor } = found;
        for media in &mut items {
            media.thumbnail_url = media.thumbnail_url.take().map(|url| seen_from_page(&service, url));
        }
        let files = items.into_iter().map(|media| glimpse(&service, &ctx, media));
        Ok(FoundFiles {
            files: join_all(files).await,
            total,
            next_cursor,
            namespaces: namespaces.into_iter().map(|namespace| namespace.name).collect(),
            tags: facets.tags.into_iter().map(|tag| tag.value).collect(),
        })
    }

    /// What is to be seen of a file. Where the storage does not answer, that is nothing; the page of the file says why.
    async fn glimpse(service: &MemoryService, ctx: &Ctx, media: Media) -> FoundFile {
        let id = media.memory.id;
        let view = async || Some(seen_from_page(service, service.media(ctx, id).await.ok()?.view_url?));
        let glimpse = match (&media.thumbnail_url, media.file.shown_as) {
            (Some(url), _) => Some(Glimpse::Image(url.clone())),
            (None, ShownAs::Image) if media.file.size <= SMALL_IMAGE => view().await.map(Glimpse::Image),
            (None, ShownAs::Video) => view().await.map(Glimpse::Video),
            (None, ShownAs::Audio) => view().await.map(Glimpse::Audio),
            (None, ShownAs::Pdf) if media.file.size <= SMALL_DOCUMENT => view().await.map(Glimpse::Pdf),
            (None, ShownAs::Text) => service
                .media_text(ctx, id)
                .await
                .ok()
                .flatten()
                .map(|text| Glimpse::Text(text.text.chars().take(GLIMPSE).collect())),
            (None, ShownAs::Image | ShownAs::Pdf | ShownAs::Download) => None,
        };
        FoundFile { media, glimpse: glimpse.unwrap_or(Glimpse::Nothing) }
    }

    /// A file, to be looked at.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(crate) struct PageOfFile {
        pub(crate) details: MediaDetails,
        /// The beginning of its text, where it is one.
        pub(crate) text: Option<MediaText>,
    }

    pub(crate) async fn read_file(id: MemoryId) -> Result<PageOfFile, WebError> {
        let ctx = caller()?;
        let service = expect_context::<WebContext>().service;
        let mut details = service.media(&ctx, id).await?;
        details.media.thumbnail_url = details.media.thumbnail_url.map(|url| seen_from_page(&service, url));
        details.view_url = details.view_url.map(|url| seen_from_page(&service, url));
        details.download_url = seen_from_page(&service, details.download_url);
        let text = match details.media.file.shown_as {
            // Without it, the file can still be opened and saved.
            ShownAs::Text => service.media_text(&ctx, id).await.ok().flatten(),
            _ => None,
        };
        Ok(PageOfFile { details, text })
    }

    /// The upload of a link; `None` where the link is over, or never was.
    pub(crate) async fn upload_of_link(secret: &str) -> Result<Option<Upload>, WebError> {
        let service = expect_context::<WebContext>().service;
        match service.upload_of_page(secret).await {
            Ok(upload) => Ok(Some(upload)),
            Err(Error::Missing(_) | Error::Forbidden(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What uploading needs to know.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(crate) struct Unfinished {
        pub(crate) storage: FileStorage,
        /// Uploads of the caller's own that broke off, or are under way elsewhere.
        pub(crate) uploads: Vec<Upload>,
    }

    pub(crate) async fn unfinished() -> Result<Unfinished, WebError> {
        let ctx = caller()?;
        let service = expect_context::<WebContext>().service;
        let mut uploads = service.pending_uploads(&ctx).await?;
        // The others are sent by whoever announced them.
        uploads.retain(|upload| upload.in_parts);
        uploads.truncate(UNFINISHED);
        Ok(Unfinished { storage: service.file_storage(), uploads })
    }

    #[cfg(test)]
    mod tests {
        use super::MediaSelection;

        #[test]
        fn a_selection_is_the_query_of_its_page() {
            let selection = MediaSelection { q: "a&b".to_owned(), kind: "image".to_owned(), ..Default::default() };
            assert_eq!(selection.page(None), "/media?q=a%26b&kind=image");
            assert_eq!(selection.page(Some("c=")), "/media?q=a%26b&kind=image&cursor=c%3D");
            assert_eq!(MediaSelection::default().page(None), "/media");
        }
    }
}
