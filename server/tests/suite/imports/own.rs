use std::{fs::File, ops::ControlFlow, sync::Arc};

use polymnemo_imports::Input;
use polymnemo_memory::{
    OnRestore,
    ports::{Imports as _, NewImport},
};
use polymnemo_store::{PgOptions, PgStore};
use polymnemo_types::{EraseTarget, ImportId, ImportOptions, ImportOutcome, ImportState, RememberRequest};
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

use crate::{
    imports::{counts, import, memories, plan, undo},
    support::TestApp,
};

/// What was erased comes back from an export of our own, with its id and its times, and goes again when the import is undone.
#[tokio::test]
async fn an_export_of_our_own_brings_back_what_is_not_here() {
    let app = TestApp::start().await;
    let service = app.service();
    let ctx = app.person("alice").await;
    let mut ids = Vec::new();
    for content in ["The shed is green.", "The key hangs behind the door.", "奶奶的生日是三月八日。"] {
        let request = RememberRequest { content: content.into(), ..RememberRequest::default() };
        ids.push(service.remember(&ctx, request).await.unwrap().id);
    }
    let before = memories(service, &ctx).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("polymnemo.zip");
    service.write_export(&ctx, File::create_new(&path).unwrap(), &|_| {}).await.unwrap();

    let paths = [path];
    let told = plan(service, &ctx, &paths, &ImportOptions::default()).await;
    assert!(told.is_own_export && told.to_write() == 0 && told.sources[0].unchanged == 3, "{told:?}");
    let nothing = import(service, &ctx, &paths).await;
    assert_eq!(counts(&nothing, &[ImportOutcome::Created, ImportOutcome::Unchanged]), [0, 3]);
    // It comes back to where it was, or not at all.
    let elsewhere = ImportOptions { namespace: Some("work".into()), ..ImportOptions::default() };
    let input = Arc::new(Input::open(&paths).unwrap());
    let refused = service.plan_import(&ctx, input, &elsewhere, &mut |_, _| {}).await.unwrap_err();
    assert!(refused.to_string().contains("comes back as a whole"), "{refused}");

    service.forget(&ctx, &ids[..2]).await.unwrap();
    service.erase(&ctx, &ids[..2]).await.unwrap();
    let told = plan(service, &ctx, &paths, &ImportOptions::default()).await;
    assert!(told.to_write() == 2 && told.seconds.is_some(), "{told:?}");
    let done = import(service, &ctx, &paths).await;
    assert_eq!(counts(&done, &[ImportOutcome::Created, ImportOutcome::Skipped]), [2, 0]);
    assert_eq!(memories(service, &ctx).await, before);
    assert_eq!(undo(service, &ctx, &done).await.count(ImportOutcome::Undone), 2);
    assert_eq!(memories(service, &ctx).await.len(), 1);
}

/// It may have been unpacked since, or packed anew in a folder, as by macOS.
#[tokio::test]
async fn an_export_of_our_own_comes_back_unpacked_and_packed_anew() {
    let app = TestApp::start().await;
    let service = app.service();
    let ctx = app.person("alice").await;
    let request = RememberRequest { content: "The shed is green.".into(), ..RememberRequest::default() };
    let id = service.remember(&ctx, request).await.unwrap().id;
    let before = memories(service, &ctx).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("polymnemo.zip");
    service.write_export(&ctx, File::create_new(&path).unwrap(), &|_| {}).await.unwrap();

    let unpacked = folder.path().join("unpacked");
    let mut zip = ZipArchive::new(File::open(&path).unwrap()).unwrap();
    zip.extract(&unpacked).unwrap();
    let packed = folder.path().join("packed.zip");
    let mut anew = ZipWriter::new(File::create_new(&packed).unwrap());
    for number in 0..zip.len() {
        let mut file = zip.by_index(number).unwrap();
        let name = format!("polymnemo 2026-12-01/{}", file.name().unwrap());
        anew.start_file(name, SimpleFileOptions::default()).unwrap();
        std::io::copy(&mut file, &mut anew).unwrap();
    }
    anew.finish().unwrap();

    for path in [unpacked.clone(), packed] {
        service.forget(&ctx, &[id]).await.unwrap();
        service.erase(&ctx, &[id]).await.unwrap();
        let paths = [path];
        assert_eq!(plan(service, &ctx, &paths, &ImportOptions::default()).await.to_write(), 1);
        assert_eq!(import(service, &ctx, &paths).await.count(ImportOutcome::Created), 1);
        assert_eq!(memories(service, &ctx).await, before);
    }

    // A file that leads out of the folder is none.
    let records = unpacked.join("memories.jsonl");
    std::fs::rename(&records, folder.path().join("elsewhere.jsonl")).unwrap();
    std::os::unix::fs::symlink("../elsewhere.jsonl", &records).unwrap();
    let input = Arc::new(Input::open(&[unpacked]).unwrap());
    let refused = service.plan_import(&ctx, input, &ImportOptions::default(), &mut |_, _| {}).await.unwrap_err();
    assert!(refused.to_string().contains("memories.jsonl: it is missing"), "{refused}");
}

/// Whatever is there was noted in the same moment, so an import that was killed knows all that it brought.
#[tokio::test]
async fn what_came_back_is_known_as_brought_however_the_import_ended() {
    let app = TestApp::start().await;
    let service = app.service();
    let ctx = app.person("alice").await;
    let mut ids = Vec::new();
    for number in 0..3 {
        let request = RememberRequest { content: format!("The shed, {number}."), ..RememberRequest::default() };
        ids.push(service.remember(&ctx, request).await.unwrap().id);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("polymnemo.zip");
    service.write_export(&ctx, File::create_new(&path).unwrap(), &|_| {}).await.unwrap();
    service.forget(&ctx, &ids).await.unwrap();
    service.erase(&ctx, &ids).await.unwrap();

    let paths = [path.clone()];
    let store = PgStore::connect(app.database_url(), PgOptions::default()).await.unwrap();
    let new = NewImport {
        id: ImportId(uuid::Uuid::now_v7()),
        state: ImportState::Running,
        files: vec![path.display().to_string()],
        options: ImportOptions::default(),
        plan: None,
        folder: None,
        total_bytes: Input::open(&paths).unwrap().total_bytes(),
        at: jiff::Timestamp::now(),
    };
    let id = new.id;
    store.create_import(&ctx, new, None).await.unwrap();
    let quiet: OnRestore = Arc::new(|_| ControlFlow::Continue(()));
    let checked = service.check_export(&ctx, File::open(&path).unwrap(), quiet).await.unwrap();
    let at_once: OnRestore = Arc::new(|_| ControlFlow::Break(()));
    assert!(service.restore_export(&ctx, checked, Some(id), at_once).await.unwrap().stopped);

    let done = import(service, &ctx, &paths).await;
    assert_eq!((done.id, done.count(ImportOutcome::Created), done.count(ImportOutcome::Unchanged)), (id, 3, 0));
    assert_eq!(undo(service, &ctx, &done).await.count(ImportOutcome::Undone), 3);
}

/// An export of our own holds whatever is erased, so one that waits or comes in goes with it.
#[tokio::test]
async fn an_export_that_waits_does_not_bring_back_what_is_erased() {
    let app = TestApp::start().await;
    let service = app.service();
    let ctx = app.person("alice").await;
    let request = RememberRequest { content: "The shed is green.".into(), ..RememberRequest::default() };
    let id = service.remember(&ctx, request).await.unwrap().id;
    let (import, folder) = service.folder_for_import(&ctx).await.unwrap();
    std::fs::create_dir(folder.join("000")).unwrap();
    let file = File::create_new(folder.join("000/polymnemo.zip")).unwrap();
    service.write_export(&ctx, file, &|_| {}).await.unwrap();
    service.begin_import(&ctx, import, vec!["polymnemo.zip".into()], ImportOptions::default()).await.unwrap();
    while service.import(&ctx, import).await.unwrap().state == ImportState::Planning {
        service.work_on_imports().await.unwrap();
    }
    assert_eq!(service.import(&ctx, import).await.unwrap().state, ImportState::Planned);

    service.begin_erasure(&ctx, EraseTarget::Memories(vec![id]), None).await.unwrap();
    service.import(&ctx, import).await.unwrap_err();
    assert!(!folder.exists());
}
