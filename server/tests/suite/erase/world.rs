use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use futures::StreamExt as _;
use polymnemo_adapters::blobs::LocalBlobs;
use polymnemo_memory::{
    Ctx, Door, Identity, MemoryService, UserDefaults,
    ports::{Embedder, Files, Origin, Store, SystemClock},
    testing::FakeEmbedder,
};
use polymnemo_store::{PgOptions, PgStore};
use polymnemo_types::{
    AppId, EraseTarget, Erasure, ErasureId, ErasureState, MemoryId, MessageContent, NewMessage, NewUpload,
    RecallRequest, RememberRequest, SaveSessionRequest, UpdateRequest,
};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement};
use tempfile::TempDir;

use crate::support::TestDatabase;

/// A service without a server: nothing goes on in the background but what a test does itself.
pub(crate) struct World {
    pub(crate) service: MemoryService,
    pub(crate) blobs: TempDir,
    // Dropped last: the database goes when nobody uses it any more.
    pub(crate) database: TestDatabase,
}

impl World {
    pub(crate) async fn new() -> Self {
        let database = TestDatabase::create().await;
        let blobs = tempfile::tempdir().unwrap();
        let service = service(database.url(), Some(blobs.path())).await;
        Self { service, blobs, database }
    }

    /// What the service is told of a request that this user sends from the web app.
    pub(crate) async fn person(&self, user: &str) -> Ctx {
        person(&self.service, user).await
    }

    /// Erases, and does all that follows in the background.
    pub(crate) async fn erase(&self, ctx: &Ctx, target: EraseTarget, confirm: Option<&str>) -> Erasure {
        let erasure = self.service.begin_erasure(ctx, target, confirm).await.unwrap();
        self.settle().await;
        self.done(ctx, erasure.id).await
    }

    pub(crate) async fn done(&self, ctx: &Ctx, id: ErasureId) -> Erasure {
        let erasure = self.service.erasure(ctx, id).await.unwrap();
        assert_eq!((erasure.state, &erasure.problem), (ErasureState::Done, &None));
        erasure
    }

    /// Goes on with what is under way until there is nothing left to do.
    pub(crate) async fn settle(&self) {
        while self.service.continue_erasures().await.unwrap() > 0 {}
    }

    /// Texts of a query's only column, read past all row-level security.
    pub(crate) async fn column(&self, sql: &str) -> Vec<String> {
        column(&self.database.connect_as_superuser().await, sql).await
    }

    pub(crate) async fn execute(&self, sql: &str) {
        self.database.connect_as_superuser().await.execute_unprepared(sql).await.unwrap();
    }

    /// Every row of every table that has this text anywhere in it.
    pub(crate) async fn rows_that_hold(&self, needle: &str) -> Vec<String> {
        rows_that_hold(&self.database.connect_as_superuser().await, needle).await
    }

    /// The files in the storage.
    pub(crate) fn stored(&self) -> Vec<PathBuf> {
        files_in(self.blobs.path())
    }
}

pub(crate) async fn service(database_url: &str, blobs: Option<&Path>) -> MemoryService {
    let store = PgStore::connect(database_url, PgOptions::default()).await.unwrap();
    let embedder = Arc::new(FakeEmbedder::default()) as Arc<dyn Embedder>;
    store.register_model(embedder.model()).await.unwrap();
    let defaults = UserDefaults { namespace: "personal".into(), time_zone: "Europe/Berlin".into() };
    let service = MemoryService::new(Arc::new(store), embedder, Arc::new(SystemClock), defaults);
    let Some(folder) = blobs else { return service };
    let origin = Origin::new("http://localhost");
    let blobs = LocalBlobs::new(folder.to_owned(), &[7; 32], origin.clone(), Arc::new(SystemClock)).unwrap();
    service.with_files(Files { store: Arc::new(blobs), max_bytes: 1 << 30, quota_bytes: None, origin })
}

pub(crate) async fn person(service: &MemoryService, user: &str) -> Ctx {
    let user = service.sign_in(&Identity::named(user), user).await.unwrap().user;
    Ctx::of_person(user)
}

/// The same user through an app.
pub(crate) fn through(ctx: &Ctx, app: AppId) -> Ctx {
    Ctx { door: Door::ApiToken, client: Some("robot".into()), app: Some(app), ..ctx.clone() }
}

pub(crate) fn text(content: &str) -> RememberRequest {
    RememberRequest { content: content.to_owned(), ..RememberRequest::default() }
}

pub(crate) fn within(namespace: &str, content: &str) -> RememberRequest {
    RememberRequest { namespace: Some(namespace.to_owned()), ..text(content) }
}

pub(crate) async fn remember(service: &MemoryService, ctx: &Ctx, request: RememberRequest) -> MemoryId {
    service.remember(ctx, request).await.unwrap().id
}

/// Changes what a memory says, so that it has a history.
pub(crate) async fn rewrite(service: &MemoryService, ctx: &Ctx, id: MemoryId, content: &str) {
    let request = UpdateRequest { content: Some(content.to_owned()), ..UpdateRequest::new(id) };
    service.update(ctx, request).await.unwrap();
}

/// A session of three messages, one of which was changed.
pub(crate) async fn converse(service: &MemoryService, ctx: &Ctx, key: &str, about: &str) -> MemoryId {
    let said = |id: &str, content: String| NewMessage {
        id: Some(id.into()),
        role: "user".into(),
        content: MessageContent::Text(content),
        ..NewMessage::default()
    };
    let request = |third: &str| SaveSessionRequest {
        session_id: key.into(),
        messages: Some(vec![
            said("1", format!("What about {about}?")),
            said("2", format!("I like {about}.")),
            said("3", format!("{third} {about}.")),
        ]),
        title: Some(format!("On {about}")),
        ..SaveSessionRequest::default()
    };
    service.save_session(ctx, request("Tell me more of")).await.unwrap();
    let saved = service.save_session(ctx, request("No, enough of")).await.unwrap();
    while service.index_sessions().await.unwrap() > 0 {}
    saved.id
}

/// A picture that says nothing, with a small image and a description.
pub(crate) async fn keep_picture(service: &MemoryService, ctx: &Ctx, description: &str) -> MemoryId {
    let mut png = Vec::new();
    let image = image::RgbImage::from_pixel(600, 300, image::Rgb([10, 120, 60]));
    image::DynamicImage::from(image).write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png).unwrap();
    keep_file(service, ctx, "a.png", "image/png", description, png).await
}

pub(crate) async fn keep_file(
    service: &MemoryService,
    ctx: &Ctx,
    filename: &str,
    content_type: &str,
    description: &str,
    bytes: Vec<u8>,
) -> MemoryId {
    let new = NewUpload {
        filename: filename.into(),
        content_type: content_type.into(),
        size: Some(bytes.len() as u64),
        description: description.into(),
        ..NewUpload::default()
    };
    let bytes = futures::stream::once(async { Ok(Bytes::from(bytes)) }).boxed();
    service.store_file(ctx, new, bytes).await.unwrap().memory.id
}

pub(crate) async fn found(service: &MemoryService, ctx: &Ctx, query: &str) -> Vec<MemoryId> {
    let request = RecallRequest { query: query.to_owned(), ..RecallRequest::default() };
    service.recall(ctx, request).await.unwrap().hits.into_iter().map(|hit| hit.memory.id).collect()
}

pub(crate) async fn column(database: &DatabaseConnection, sql: &str) -> Vec<String> {
    let rows = database.query_all_raw(Statement::from_string(database.get_database_backend(), sql)).await.unwrap();
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}

/// Every row of every table that has this text, or its bytes, in any column.
pub(crate) async fn rows_that_hold(database: &DatabaseConnection, needle: &str) -> Vec<String> {
    let tables = column(database, "select tablename::text from pg_tables where schemaname = 'public' order by 1").await;
    assert!(tables.len() > 25, "{tables:?}");
    let hex = hex::encode(needle);
    let mut rows = Vec::new();
    for table in tables {
        let sql = format!(
            "select '{table}: ' || r::text from {table} r
             where position(lower('{needle}') in lower(r::text)) > 0 or position('{hex}' in r::text) > 0"
        );
        rows.extend(column(database, &sql).await);
    }
    rows
}

pub(crate) fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] })
        .collect();
    files.sort();
    files
}
