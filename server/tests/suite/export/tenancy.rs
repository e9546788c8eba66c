//! What is someone else's answers like what never was, at every function about exports.

use polymnemo_memory::Ctx;
use polymnemo_types::ExportId;
use uuid::Uuid;

use crate::{
    export::{
        asking::finished,
        everything::text,
        world::{export, import, person, rows_of, unpacked},
    },
    support::TestApp,
};

const SECRET: &str = "rhododendron";

fn said<T: std::fmt::Debug>(function: &str, answer: Result<T, polymnemo_memory::Error>, id: ExportId) -> String {
    let answer = answer.map_err(|error| error.to_string());
    format!("{function}: {answer:?}").replace(&id.to_string(), "ID")
}

async fn tries(app: &TestApp, bob: &Ctx, id: ExportId) -> Vec<String> {
    let service = app.service();
    vec![
        said("export_url", service.export_url(bob, id).await, id),
        said("delete_export", service.delete_export(bob, id).await, id),
        said("list_exports", service.list_exports(bob).await, id),
    ]
}

#[tokio::test]
async fn another_ones_export_is_none() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, bob) = (person(&app, "alice").await, person(&app, "bob").await);
    service.remember(&alice, text(&format!("The {SECRET} blooms."))).await.unwrap();
    service.remember(&bob, text("Mine.")).await.unwrap();
    let id = service.request_export(&alice).await.unwrap().id;
    finished(&app, &alice).await;
    let before = rows_of(&app, &alice).await;
    assert_eq!(tries(&app, &bob, id).await, tries(&app, &bob, ExportId(Uuid::now_v7())).await);

    let archive = export(service, &bob).await;
    for (path, content) in unpacked(&archive) {
        assert!(!String::from_utf8_lossy(&content).contains(SECRET), "{path}");
    }
    import(service, &bob, &archive).await.unwrap();
    assert_eq!(rows_of(&app, &alice).await, before);
}
