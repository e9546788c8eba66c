//! What crosses a wire: ids, requests, answers and the one error that every door shows.
//!
//! Both doors of the service (the MCP tools and the web app's server functions) speak these
//! types, and so does the browser, so this crate does no I/O and builds for wasm. Sizes on the
//! wire are fixed (`u32`, `u64`), never `usize`, because the browser counts in 32 bits.

mod account;
mod app;
mod bulk;
mod client;
mod connection;
mod erase;
mod error;
mod export;
mod facets;
mod history;
mod ids;
mod import;
mod media;
mod memory;
mod namespace;
mod page;
mod recall;
mod session;
mod status;
mod token;

pub use account::{LanguageSetting, SettingsChange, Theme, UserSettings};
pub use app::{Action, App, AppCall, AppGrants, AuthorizationRequest, Consent, NamespaceChoice, SeenMemory};
pub use bulk::{BulkChange, BulkReport, BulkUndo, RevertChange, Skipped};
pub use client::{ClientSighting, Door};
pub use connection::{ConnectionOutcome, ConnectionProblem, ConnectionReport, ConnectionStep};
pub use erase::{
    BeforeAfter, ErasePreview, EraseTarget, ErasedBy, ErasedCounts, ErasedStore, Erasure, ErasureCheck, ErasureState,
    ErasureSubject, Receipt, ReceiptDocument, Survivor, SurvivorKind,
};
pub use error::{ApiError, ErrorCode};
pub use export::{Export, ExportCounts, ExportState};
pub use facets::{Facets, ValueCount};
pub use history::{DiffPart, Difference, RevisionChanges, RevisionView};
pub use ids::{AppId, ErasureId, ExportId, ImportId, InvalidId, MemoryId, TokenId, UserId};
pub use import::{
    Import, ImportLine, ImportOptions, ImportOutcome, ImportPlan, ImportState, OutcomeCount, SkippedPlan, SourcePlan,
};
pub use media::{
    BlobBackend, CreatedUpload, DownloadUrl, FileStorage, Header, ListMediaRequest, Media, MediaDetails, MediaFile,
    MediaText, NewUpload, PartRequest, ShownAs, SignedRequest, Upload, UploadParts,
};
pub use memory::{
    Erased, Forgotten, GetRequest, IndexState, Kind, ListRequest, Memory, MemoryText, RememberRequest, RememberStatus,
    Remembered, Revision, SimilarMemory, UpdateRequest, Updated,
};
pub use namespace::NamespaceDetails;
pub use page::{Page, limits};
pub use recall::{Hit, Recall, RecallRequest, Why};
pub use session::{
    IndexProgress, ListSessionsRequest, LoadSessionRequest, MessageBeginning, MessageContent, MessageFormat,
    MessageHit, MessagePart, MessagePlace, NewMessage, Origin, SaveSessionRequest, SavedSession, Session, SessionForm,
    SessionMatch, SessionPage,
};
pub use status::{EmbedderStatus, NamespaceSummary, Ping};
pub use token::{ApiToken, CreatedApiToken, NewApiToken};
