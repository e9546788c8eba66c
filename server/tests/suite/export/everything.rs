//! A store in which every feature was used.

use bytes::Bytes;
use futures::StreamExt as _;
use image::{Rgb, RgbImage};
use polymnemo_memory::Ctx;
use polymnemo_types::{
    LanguageSetting, MemoryId, MessageContent, MessagePlace, NewApiToken, NewMessage, NewUpload, RememberRequest,
    SaveSessionRequest, SettingsChange, Theme, UpdateRequest,
};
use sea_orm::ConnectionTrait as _;
use serde_json::json;

use crate::{export::world::column, support::TestApp};

pub(crate) fn text(content: &str) -> RememberRequest {
    RememberRequest {
        content: content.into(),
        namespace: None,
        tags: Vec::new(),
        source: None,
        occurred_at: None,
        supersedes: Vec::new(),
        idempotency_key: None,
        origin: None,
    }
}

pub(crate) fn message(role: &str, content: &str, at: Option<&str>) -> NewMessage {
    NewMessage { role: role.into(), content: MessageContent::Text(content.into()), at: at.map(str::to_owned), id: None }
}

pub(crate) async fn keep_file(
    app: &TestApp,
    ctx: &Ctx,
    filename: &str,
    content_type: &str,
    bytes: Vec<u8>,
) -> MemoryId {
    let new = NewUpload {
        filename: filename.into(),
        content_type: content_type.into(),
        size: Some(bytes.len() as u64),
        description: format!("What {filename} is. 这是一个文件。"),
        namespace: Some("工作".into()),
        tags: vec!["file".into()],
        ..NewUpload::default()
    };
    let pieces: Vec<_> = bytes.chunks(100_000).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    app.service().store_file(ctx, new, futures::stream::iter(pieces).boxed()).await.unwrap().memory.id
}

pub(crate) fn picture() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let image = RgbImage::from_fn(600, 300, |x, y| Rgb([x as u8, y as u8, (x ^ y) as u8]));
    image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// Uses everything there is, as this user, who has a key of the settings, too.
pub(crate) async fn fill(app: &TestApp, ctx: &Ctx, user: &str) {
    let service = app.service();
    let stored = |request| async { service.remember(ctx, request).await.unwrap().id };

    service.create_namespace(ctx, "shown").await.unwrap();
    service.share_namespace(ctx, "shown", true).await.unwrap();
    service.create_namespace(ctx, "empty").await.unwrap();
    stored(RememberRequest { namespace: Some("shown".into()), ..text("Everyone may read this.") }).await;

    // Texts of all kinds, and histories.
    let long = "段落。 A paragraph that goes on. 🧠\r\n\n\t\"quoted\" \\ \\u0000 \u{1}\u{7f}\u{FEFF}".repeat(400);
    stored(text(&long)).await;
    let edited = stored(RememberRequest {
        namespace: Some("work/2026".into()),
        tags: vec!["rust".into(), "标签".into(), "🧪".into()],
        source: Some("a meeting".into()),
        occurred_at: Some("2024-02-29T23:59:59.123456Z".into()),
        idempotency_key: Some("key-1".into()),
        ..text("The build takes eleven minutes.")
    })
    .await;
    for content in ["The build takes nine minutes.", "构建需要九分钟。"] {
        let change = UpdateRequest { content: Some(content.into()), ..UpdateRequest::new(edited) };
        service.update(ctx, change).await.unwrap();
    }
    let change = UpdateRequest {
        namespace: Some("工作".into()),
        tags: Some(vec!["moved".into()]),
        source: Some(String::new()),
        ..UpdateRequest::new(edited)
    };
    service.update(ctx, change).await.unwrap();
    service.rename_namespace(ctx, "work/2026", "work:2026").await.unwrap();
    let old = stored(text("The office is in Berlin.")).await;
    let newer = stored(RememberRequest { supersedes: vec![old], ..text("The office is in Leipzig.") }).await;
    stored(RememberRequest { supersedes: vec![newer], ..text("The office is in Shanghai. 上海。") }).await;
    let gone = stored(RememberRequest { tags: vec!["gone".into()], ..text("Forgotten.") }).await;
    let edit = UpdateRequest { content: Some("Forgotten, too.".into()), ..UpdateRequest::new(gone) };
    service.update(ctx, edit).await.unwrap();
    service.forget(ctx, &[gone]).await.unwrap();

    // Sessions, one of them changed, one forgotten, one as a text.
    let blocks = json!([
        { "type": "thinking", "thinking": "They want tea.", "signature": "abc" },
        { "type": "text", "text": "Green tea, 绿茶, then." },
        { "type": "tool_use", "id": "t1", "name": "kettle", "input": { "grams": 3.10, "n": 12345678901234567890_u64 } },
    ]);
    let session = |messages| SaveSessionRequest {
        session_id: "tea-chat".into(),
        messages: Some(messages),
        namespace: Some("工作".into()),
        title: Some("About tea / 关于茶: a \"title\"".into()),
        metadata: Some("{\"model\": \"x\",  \"n\": 1.50}".into()),
        ..SaveSessionRequest::default()
    };
    let answer = NewMessage {
        role: "assistant".into(),
        content: MessageContent::Blocks(blocks.to_string()),
        at: Some("2026-01-02T03:04:05.678901Z".into()),
        id: Some("m2".into()),
    };
    let first = message("user", "Which tea? \0 with a NUL", Some("2026-01-02T03:04:00Z"));
    service.save_session(ctx, session(vec![first.clone(), answer.clone()])).await.unwrap();
    let changed = NewMessage { content: MessageContent::Text("Black tea.".into()), ..answer.clone() };
    let further = message("user", &"Thanks! 谢谢。".repeat(800), None);
    let saved = service.save_session(ctx, session(vec![first, changed, further])).await.unwrap();
    assert_eq!(saved.revised, 1, "{saved:?}");
    let as_text = SaveSessionRequest {
        session_id: "a text".into(),
        content: Some("User: hello\nAssistant: hi\nUser: bye\n".into()),
        ..SaveSessionRequest::default()
    };
    service.save_session(ctx, as_text.clone()).await.unwrap();
    let cut = SaveSessionRequest { content: Some("User: hello\nAssistant: good day\n".into()), ..as_text };
    service.save_session(ctx, cut).await.unwrap();
    let forgotten = SaveSessionRequest {
        session_id: "forgotten".into(),
        messages: Some(vec![message("user", "Never mind.", None)]),
        ..SaveSessionRequest::default()
    };
    let forgotten = service.save_session(ctx, forgotten).await.unwrap().id;
    service.forget(ctx, &[forgotten]).await.unwrap();
    let origin = MessagePlace { session: saved.id, number: 2 };
    stored(RememberRequest { origin: Some(origin), ..text("They drink black tea.") }).await;

    // Files, one of them forgotten.
    keep_file(app, ctx, "照片 1.png", "image/png", picture()).await;
    keep_file(app, ctx, "../../notes: a?.txt", "text/plain", b"plain".to_vec()).await;
    let large: Vec<u8> = (0..9_500_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    keep_file(app, ctx, "large.bin", "application/octet-stream", large).await;
    let file = keep_file(app, ctx, "gone.pdf", "application/pdf", b"%PDF-1.4".to_vec()).await;
    service.forget(ctx, &[file]).await.unwrap();

    // Tokens and apps, and what they did.
    let token = |name: &str| NewApiToken { name: name.into(), ..NewApiToken::default() };
    let used =
        service.create_token(ctx, NewApiToken { can_write: true, in_url: true, ..token("used 令牌") }).await.unwrap();
    let narrow =
        NewApiToken {
            namespaces: Some(vec!["工作".into()]), expires_at: Some("2099-01-01".into()), ..token("narrow")
        };
    service.create_token(ctx, narrow).await.unwrap();
    let revoked = service.create_token(ctx, token("revoked")).await.unwrap();
    service.revoke_token(ctx, revoked.token.id).await.unwrap();
    let mcp = app.mcp_with(&used.secret);
    mcp.call("remember", json!({ "content": "From a token." })).await;
    mcp.call("recall", json!({ "query": "office tea 上海" })).await;
    app.mcp(user).call("list_memories", json!({})).await;
    let database = app.database().await;
    let insert = format!(
        "insert into apps (id, user_id, door, client_id, name, domain, redirect_host, can_read, can_write, namespaces,
             all_but, granted_at, expires_at, last_used_at, calls, paused_at)
         values (gen_random_uuid(), '{}', 'oauth_app', 'https://app.example/id', 'An app', 'app.example', 'app.example',
             true, false, '{{工作}}', true, '2026-01-01T00:00:00.000001Z', '2099-01-01T00:00:00Z', null, 0,
             '2026-01-02T00:00:00Z')",
        ctx.user.id
    );
    database.execute_unprepared(&insert).await.unwrap();

    let settings = SettingsChange {
        time_zone: Some("Asia/Shanghai".into()),
        language: Some(LanguageSetting::Chinese),
        theme: Some(Theme::Dark),
        default_namespace: Some("工作".into()),
    };
    service.change_settings(ctx, settings).await.unwrap();
    settled(app, ctx).await;
}

/// Waits until what is noted later is noted: calls of apps, and the clients that were seen.
async fn settled(app: &TestApp, ctx: &Ctx) {
    let sql = format!(
        "select concat(count(*), ' ', coalesce((select sum(calls) from apps where user_id = '{0}'), 0)
             + coalesce((select sum(calls) from api_tokens where user_id = '{0}'), 0)) from app_calls where user_id = '{0}'",
        ctx.user.id
    );
    for _ in 0..100 {
        if column(app, &sql).await == ["3 3"] {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("calls were not noted: {:?}", column(app, &sql).await);
}
