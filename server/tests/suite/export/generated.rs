//! Stores that nobody thought of come back as they were, too.

use proptest::{prelude::*, strategy::ValueTree as _, test_runner::TestRunner};

use crate::{
    export::{
        everything::{keep_file, text},
        world::{assert_added, assert_same, assert_unchanged, erase, export, import, person, unpacked},
    },
    support::TestApp,
};
use polymnemo_types::{MemoryId, MessageContent, NewMessage, RememberRequest, SaveSessionRequest, UpdateRequest};

#[derive(Debug, Clone)]
enum Deed {
    Remember { content: String, namespace: usize, tags: Vec<String>, source: Option<String>, at: i64 },
    Correct { which: usize, content: String },
    Update { which: usize, content: String, tags: Vec<String>, namespace: usize },
    Forget { which: usize },
    Save { key: usize, messages: Vec<(String, String, bool)>, namespace: usize },
    Keep { name: String, bytes: Vec<u8> },
}

const NAMESPACES: [&str; 4] = ["personal", "工作", "a/b", "A:B"];

fn words() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![
            "[a-zA-Z0-9 ,.]{1,20}",
            "[一-龥]{1,8}",
            "[ぁ-ん🧠🎉é\u{301}\u{200D}]{1,4}",
            Just("\"\\\n\t\u{1}\u{7f}\u{2028}".to_owned()),
            Just("\\u0000".to_owned()),
        ],
        1..6,
    )
    .prop_map(|parts| parts.concat())
}

fn tags() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[a-z标签]{1,6}", 0..4)
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (words(), 0..4_usize, tags(), proptest::option::of("[a-z 来源]{1,10}"), -2_000_000_000_i64..2_000_000_000)
            .prop_map(|(content, namespace, tags, source, at)| Deed::Remember { content, namespace, tags, source, at }),
        2 => (any::<usize>(), words()).prop_map(|(which, content)| Deed::Correct { which, content }),
        2 => (any::<usize>(), words(), tags(), 0..4_usize)
            .prop_map(|(which, content, tags, namespace)| Deed::Update { which, content, tags, namespace }),
        1 => any::<usize>().prop_map(|which| Deed::Forget { which }),
        2 => (0..3_usize, proptest::collection::vec(("(user|assistant|tool|)", words(), any::<bool>()), 1..5), 0..4_usize)
            .prop_map(|(key, messages, namespace)| Deed::Save { key, messages, namespace }),
        1 => ("[a-z./\\\\文件 ]{0,12}x", proptest::collection::vec(any::<u8>(), 1..2_000))
            .prop_map(|(name, bytes)| Deed::Keep { name, bytes }),
    ]
}

/// Does what can be done; what the service refuses is none of the store's.
async fn act(app: &TestApp, ctx: &polymnemo_memory::Ctx, deed: Deed, memories: &mut Vec<MemoryId>) {
    let service = app.service();
    let one_of = |which: usize| memories.get(which % memories.len().max(1)).copied();
    match deed {
        Deed::Remember { content, namespace, tags, source, at } => {
            let request = RememberRequest {
                namespace: Some(NAMESPACES[namespace].into()),
                tags,
                source,
                occurred_at: Some(jiff::Timestamp::new(at, 123_456_000).unwrap().to_string()),
                ..text(&content)
            };
            memories.extend(service.remember(ctx, request).await.ok().map(|stored| stored.id));
        }
        Deed::Correct { which, content } => {
            let supersedes = one_of(which).into_iter().collect();
            let stored = service.remember(ctx, RememberRequest { supersedes, ..text(&content) }).await;
            memories.extend(stored.ok().map(|stored| stored.id));
        }
        Deed::Update { which, content, tags, namespace } => {
            let Some(id) = one_of(which) else { return };
            let change = UpdateRequest {
                content: Some(content),
                tags: Some(tags),
                namespace: Some(NAMESPACES[namespace].into()),
                ..UpdateRequest::new(id)
            };
            let _ = service.update(ctx, change).await;
        }
        Deed::Forget { which } => {
            let Some(id) = one_of(which) else { return };
            let _ = service.forget(ctx, &[id]).await;
        }
        Deed::Save { key, messages, namespace } => {
            let messages = messages.into_iter().map(|(role, said, blocks)| NewMessage {
                role,
                content: match blocks {
                    true => MessageContent::Blocks(serde_json::json!([{ "type": "text", "text": said }]).to_string()),
                    false => MessageContent::Text(said),
                },
                ..NewMessage::default()
            });
            let request = SaveSessionRequest {
                session_id: format!("会话 {key}"),
                messages: Some(messages.collect()),
                namespace: Some(NAMESPACES[namespace].into()),
                ..SaveSessionRequest::default()
            };
            memories.extend(service.save_session(ctx, request).await.ok().map(|saved| saved.id));
        }
        Deed::Keep { name, bytes } => {
            memories.push(keep_file(app, ctx, &name, "application/octet-stream", bytes).await);
        }
    }
}

#[tokio::test]
async fn any_store_comes_back_as_it_was() {
    let app = TestApp::start().await;
    let service = app.service();
    let mut runner = TestRunner::deterministic();
    let deeds = proptest::collection::vec(deed(), 1..25);
    for case in 0..16 {
        let user = format!("user-{case}");
        let ctx = person(&app, &user).await;
        let deeds = deeds.new_tree(&mut runner).unwrap().current();
        let mut memories = Vec::new();
        for deed in deeds.clone() {
            act(&app, &ctx, deed, &mut memories).await;
        }
        let archive = export(service, &ctx).await;
        erase(&app, &ctx).await;
        let ctx = person(&app, &user).await;
        let report = import(service, &ctx, &archive).await.unwrap();
        assert_added(&report);
        assert_same(&unpacked(&archive), &unpacked(&export(service, &ctx).await));
        assert_unchanged(&import(service, &ctx, &archive).await.unwrap());
    }
}
