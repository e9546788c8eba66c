//! Exports of ChatGPT, and the neighbours of what is known of them.

use polymnemo_imports::{MessageContent, Reason};
use serde_json::{Value, json};

use crate::common::{All, chatgpt, pairs, read_file, says, seen};

fn read(rows: &Value) -> All {
    read_file("conversations-000.json", rows.to_string())
}

/// A conversation of one message.
fn message(message: Value) -> All {
    read(&json!([chatgpt("c", "m", &[("m", None, message)])]))
}

fn visible(all: &All) -> String {
    all.conversations[0].messages[0].visible_text()
}

#[test]
fn children_tell_the_parent_where_it_is_not_named() {
    let mut row = chatgpt(
        "c",
        "3",
        &[("1", None, says("user", "a")), ("2", None, says("assistant", "b")), ("3", None, says("user", "c"))],
    );
    row["mapping"]["1"]["children"] = json!(["2"]);
    row["mapping"]["2"]["children"] = json!(["3", 5, null]);
    assert_eq!(seen(&read(&json!([row])).conversations[0].messages).len(), 3);
}

#[test]
fn rings_and_parents_that_are_missing_lose_nothing() {
    let ring = chatgpt("c", "1", &[("1", Some("2"), says("user", "a")), ("2", Some("1"), says("assistant", "b"))]);
    let own = chatgpt("d", "1", &[("1", Some("1"), says("user", "a"))]);
    let lost = chatgpt("e", "2", &[("1", None, says("user", "a")), ("2", Some("gone"), says("assistant", "b"))]);
    let all = read(&json!([ring, own, lost]));
    let counts: Vec<usize> = all.conversations.iter().map(|conversation| conversation.messages.len()).collect();
    assert_eq!(counts, [2, 1, 2]);
}

#[test]
fn a_pointer_to_where_nothing_was_said_falls_back() {
    let row = chatgpt(
        "c",
        "r",
        &[("r", None, json!(null)), ("1", Some("r"), says("user", "a")), ("2", Some("1"), says("assistant", "b"))],
    );
    let all = read(&json!([row]));
    assert_eq!(seen(&all.conversations[0].messages), pairs(&[("user", "a"), ("assistant", "b")]));
}

#[test]
fn branches_begin_at_a_message_that_is_there() {
    let row = chatgpt(
        "c",
        "3",
        &[
            ("1", None, says("user", "a")),
            ("e", Some("1"), says("assistant", "")),
            ("2", Some("e"), says("assistant", "one")),
            ("3", Some("e"), says("assistant", "other")),
        ],
    );
    let all = read(&json!([row]));
    assert_eq!(all.conversations[0].branches[0].off.as_deref(), Some("1"));
    assert_eq!(all.conversations[0].branches[0].messages[0].said_text(), "one");
}

#[test]
fn what_is_spoken_is_said() {
    let all = message(json!({"author": {"role": "user"}, "content": {"content_type": "multimodal_text", "parts": [
        {"content_type": "audio_transcription", "text": "Spoken words.", "direction": "in"},
        {"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {"asset_pointer": "sediment://file_1"}},
        {"content_type": "audio_asset_pointer", "asset_pointer": "file-service://file-2"},
        {"content_type": "from_next_year", "x": 1}, {}, [], 7,
    ]}}));
    assert_eq!(visible(&all), "Spoken words.");
    let files: Vec<String> = all.conversations[0].messages[0].attachments().into_iter().map(|file| file.name).collect();
    assert_eq!(files, ["file_1", "file-2"]);
}

#[test]
fn files_that_are_only_named_beside_are_kept() {
    let all = message(json!({"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["see"]},
        "metadata": {"attachments": [{"id": "f", "name": "a.pdf", "mime_type": "application/pdf"}, {"id": "f2"}, null]}}));
    let files: Vec<String> = all.conversations[0].messages[0].attachments().into_iter().map(|file| file.name).collect();
    assert_eq!(files, ["a.pdf", "f2"]);
    assert_eq!(visible(&all), "see");
}

#[test]
fn calls_and_results_and_thoughts_are_kept_and_not_seen() {
    let hidden = [
        json!({"author": {"role": "assistant"}, "recipient": "web.run", "content": {"content_type": "text", "parts": ["{\"q\": 1}"]}}),
        json!({"author": {"role": "assistant"}, "content": {"content_type": "code", "text": "search()"}}),
        json!({"author": {"role": "assistant"}, "content": {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "c"}, "bare", null]}}),
        json!({"author": {"role": "assistant"}, "channel": "analysis", "recipient": "all", "content": {"content_type": "text", "parts": ["hm"]}}),
        json!({"author": {"role": "tool", "name": "web"}, "content": {"content_type": "text", "parts": ["found"]}}),
        json!({"author": {"role": "tool"}, "content": {"content_type": "from_next_year", "result": "found"}}),
        json!({"author": {"role": "assistant"}, "content": {"content_type": "from_next_year", "text": "what?"}}),
        json!({"author": {"role": "user"}, "metadata": {"is_visually_hidden_from_conversation": true}, "content": {"content_type": "text", "parts": ["context"]}}),
    ];
    for message in hidden {
        let row = chatgpt("c", "2", &[("1", None, says("user", "q")), ("2", Some("1"), message.clone())]);
        let all = read(&json!([row]));
        let messages = &all.conversations[0].messages;
        assert_eq!(messages.len(), 2, "{message}");
        assert_eq!(messages[1].visible_text(), "", "{message}");
        assert!(matches!(messages[1].content, MessageContent::Blocks(_)), "{message}");
    }
}

#[test]
fn odd_contents_are_read_as_far_as_they_go() {
    assert_eq!(visible(&message(json!({"author": {"role": "user"}, "content": "a string"}))), "a string");
    assert_eq!(visible(&message(json!({"author": null, "content": {"parts": ["typeless"]}}))), "typeless");
    assert_eq!(visible(&message(json!({"content": {"content_type": "text", "parts": "one string"}}))), "one string");
    assert_eq!(
        visible(&message(json!({"author": {"role": "user"}, "content": {"content_type": "text", "text": "no parts"}}))),
        "no parts"
    );
    for empty in [
        json!(null),
        json!(5),
        json!({"content": null}),
        json!({"content": {"content_type": "text", "parts": null}}),
        json!([]),
    ] {
        assert_eq!(message(empty.clone()).reasons(), [Reason::NothingInIt], "{empty}");
    }
}

#[test]
fn a_mapping_that_is_none_is_broken() {
    let all = read(
        &json!([{"title": "t", "mapping": [1]}, {"title": "u", "mapping": {}}, {"title": "v", "mapping": {"a": null, "b": 5}}]),
    );
    let [broken, empty, nodes] = all.reasons().try_into().unwrap();
    assert!(matches!(broken, Reason::Broken(_)));
    assert_eq!((empty, nodes), (Reason::NothingInIt, Reason::NothingInIt));
}

#[test]
fn memories_are_found_wherever_they_are_written() {
    let bio = |text: &str| json!({"author": {"role": "assistant"}, "recipient": "bio", "content": {"content_type": "text", "parts": [text]}});
    let row = |id: &str| {
        chatgpt(
            id,
            "5",
            &[
                (
                    "1",
                    None,
                    json!({"author": {"role": "user"}, "content": {"content_type": "user_editable_context",
            "user_profile": "This is shown in all conversations.\nUser profile:\n```Likes tea.```", "user_instructions": "Be brief."}}),
                ),
                (
                    "2",
                    Some("1"),
                    json!({"author": {"role": "assistant"}, "content": {"content_type": "model_editable_context",
            "model_set_context": "1. [2026-01-04]. Has a sister.\n2. [2026-01-05]. Has\ntwo cats."}}),
                ),
                ("3", Some("2"), says("user", "q")),
                ("4", Some("3"), bio("Plays chess.")),
                ("b", Some("3"), bio("On another branch.")),
                ("f", Some("3"), bio("Forget that the user plays chess.")),
                ("5", Some("4"), says("assistant", "a")),
            ],
        )
    };
    let all = read(&json!([row("c"), row("d")]));
    assert_eq!(all.contents(), ["Likes tea.", "Has a sister.", "Has\ntwo cats.", "Plays chess.", "On another branch."]);
    assert_eq!(all.memories[1].created_at.unwrap().to_string(), "2026-01-04T00:00:00Z");
    assert_eq!(all.conversations.len(), 2);
    assert_eq!(all.conversations[0].metadata["instructions"], "Be brief.");
    assert_eq!(seen(&all.conversations[0].messages).len(), 2);
}

#[test]
fn canvases_are_what_they_are_in_the_end() {
    let call = |tool: &str, input: Value| {
        json!({"author": {"role": "assistant"}, "recipient": format!("canmore.{tool}"),
        "content": {"content_type": "code", "text": input.to_string()}})
    };
    let row = chatgpt(
        "c",
        "6",
        &[
            ("1", None, says("user", "write")),
            (
                "2",
                Some("1"),
                call("create_textdoc", json!({"name": "n", "type": "code/python", "content": "a.b (c)\na.b"})),
            ),
            (
                "3",
                Some("2"),
                call(
                    "update_textdoc",
                    json!({"updates": [{"pattern": "a\\.b", "multiple": true, "replacement": "x"}]}),
                ),
            ),
            (
                "4",
                Some("3"),
                call("update_textdoc", json!({"updates": [{"pattern": "x \\(c\\)", "replacement": "y"}]})),
            ),
            (
                "5",
                Some("4"),
                call("update_textdoc", json!({"updates": [{"pattern": "(\\d+)", "replacement": "z"}, null, {}]})),
            ),
            ("6", Some("5"), call("comment_textdoc", json!({"comments": []}))),
        ],
    );
    let all = read(&json!([row]));
    let document = &all.conversations[0].artifacts[0];
    assert_eq!((document.content.as_str(), document.is_complete), ("y\nx", false));
    assert_eq!(document.language.as_deref(), Some("python"));
}

#[test]
fn times_are_read_as_seconds_milliseconds_and_text() {
    for time in
        [json!(1_767_583_930), json!(1_767_583_930.0), json!(1_767_583_930_000_i64), json!("2026-01-05T03:32:10Z")]
    {
        let mut row = chatgpt("c", "1", &[("1", None, says("user", "q"))]);
        row["create_time"] = time.clone();
        let all = read(&json!([row]));
        assert_eq!(all.conversations[0].created_at.unwrap().to_string(), "2026-01-05T03:32:10Z", "{time}");
    }
    let mut row = chatgpt("c", "1", &[("1", None, says("user", "q"))]);
    row["create_time"] = json!(0);
    row["update_time"] = json!(null);
    assert_eq!(read(&json!([row])).conversations[0].created_at, None);
}

#[test]
fn the_model_is_the_one_that_answered_last() {
    let answer = |model: &str| json!({"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["a"]}, "metadata": {"model_slug": model}});
    let mut row = chatgpt(
        "c",
        "2",
        &[("1", None, answer("old")), ("2", Some("1"), answer("new")), ("b", Some("1"), answer("elsewhere"))],
    );
    row["default_model_slug"] = json!("auto");
    assert_eq!(read(&json!([row])).conversations[0].model.as_deref(), Some("new"));
}

#[test]
fn a_gpt_is_told_from_a_project() {
    let mut row = chatgpt("c", "1", &[("1", None, says("user", "q"))]);
    row["gizmo_id"] = json!("g-AbC");
    row["conversation_template_id"] = json!("g-p-1");
    row["is_archived"] = json!(true);
    let metadata = read(&json!([row])).conversations.remove(0).metadata;
    assert_eq!(Value::Object(metadata), json!({"gpt": "g-AbC", "project": "g-p-1", "archived": true}));
}

#[test]
fn one_object_and_other_wrappings_are_read() {
    let row = chatgpt("c", "1", &[("1", None, says("user", "q"))]);
    for file in [
        row.clone(),
        json!([row]),
        json!({"conversations": [row]}),
        json!({"version": 2, "account": {"mapping": []}, "conversations": [row], "more": [1]}),
        json!({"data": [row]}),
    ] {
        assert_eq!(read(&file).titles(), ["title of c"], "{file}");
    }
    let page = format!("<html><script>var jsonData = {};\nvar assetsJson = {{}};</script></html>", json!([row]));
    assert_eq!(read_file("chat.html", page).titles(), ["title of c"]);
}
