//! Exports of Claude, and the neighbours of what is known of them.

use polymnemo_imports::{MemoryKind, MessageContent, Reason};
use serde_json::{Value, json};

use crate::common::{All, claude, pairs, read_file, seen};

const ROOT: &str = "00000000-0000-4000-8000-000000000000";

fn read(rows: &Value) -> All {
    read_file("conversations.json", rows.to_string())
}

/// A conversation of one message.
fn message(message: Value) -> All {
    read(&json!([{"uuid": "c", "name": "n", "chat_messages": [message]}]))
}

#[test]
fn a_conversation_without_parents_is_in_the_order_given() {
    let mut row = claude("c", &[("1", "", "human", "a"), ("2", "", "assistant", "b"), ("3", "", "human", "c")]);
    for message in row["chat_messages"].as_array_mut().unwrap() {
        message.as_object_mut().unwrap().remove("parent_message_uuid");
        // All at the same instant, or at none.
        message["created_at"] = json!(null);
    }
    let all = read(&json!([row]));
    assert_eq!(seen(&all.conversations[0].messages), pairs(&[("user", "a"), ("assistant", "b"), ("user", "c")]));
    assert!(all.conversations[0].branches.is_empty());
}

#[test]
fn other_branches_are_kept_with_where_they_begin() {
    let row = claude(
        "c",
        &[
            ("1", ROOT, "human", "q"),
            ("2", "1", "assistant", "first answer"),
            ("3", "1", "assistant", "second answer"),
            ("4", "3", "human", "more"),
            ("5", ROOT, "human", "an edit of the beginning"),
            ("6", "4", "assistant", "end"),
        ],
    );
    let all = read(&json!([row]));
    let conversation = &all.conversations[0];
    assert_eq!(seen(&conversation.messages).len(), 4);
    let branches: Vec<_> =
        conversation.branches.iter().map(|branch| (branch.off.as_deref(), branch.messages[0].said_text())).collect();
    assert_eq!(branches, [(Some("1"), "first answer".to_owned()), (None, "an edit of the beginning".to_owned())]);
}

#[test]
fn a_leaf_that_is_not_there_is_no_leaf() {
    let mut row = claude("c", &[("1", ROOT, "human", "q"), ("2", "1", "assistant", "a")]);
    row["current_leaf_message_uuid"] = json!("gone");
    assert_eq!(seen(&read(&row).conversations[0].messages).len(), 2);
}

#[test]
fn a_parent_that_is_not_there_breaks_no_conversation() {
    let row = claude(
        "c",
        &[
            ("1", ROOT, "human", "q"),
            ("2", "1", "assistant", "a"),
            ("3", "gone", "human", "r"),
            ("4", "3", "assistant", "b"),
        ],
    );
    assert_eq!(seen(&read(&json!([row])).conversations[0].messages).len(), 4);
}

#[test]
fn messages_without_ids_are_messages() {
    let all = message(json!({"sender": "human", "text": "hello"}));
    assert_eq!(seen(&all.conversations[0].messages), pairs(&[("user", "hello")]));
    assert_eq!(all.conversations[0].messages[0].id, None);
}

#[test]
fn a_turn_of_tools_only_is_kept_and_not_seen() {
    let all = read(&json!([{"uuid": "c", "name": "n", "chat_messages": [
        {"uuid": "1", "parent_message_uuid": ROOT, "sender": "human", "text": "q", "content": []},
        {"uuid": "2", "parent_message_uuid": "1", "sender": "assistant", "text": "```\nThis block is not supported on your current device yet.\n```",
         "content": [{"type": "tool_use", "id": "t", "name": "search", "input": {"q": ["x"]}},
                     {"type": "tool_result", "tool_use_id": "t", "content": "a string"}]},
        {"uuid": "3", "parent_message_uuid": "2", "sender": "human", "text": "thanks", "content": null},
    ]}]));
    let messages = &all.conversations[0].messages;
    assert_eq!(messages.len(), 3);
    assert_eq!(messages[1].visible_text(), "");
    assert!(
        matches!(&messages[1].content, MessageContent::Blocks(json) if json.contains("a string") && !json.contains("not supported"))
    );
}

#[test]
fn the_text_is_used_only_where_there_are_no_blocks() {
    let old = message(
        json!({"sender": "assistant", "text": "The answer.\n```\nThis block is not supported on your current device yet.\n```\n"}),
    );
    assert_eq!(old.conversations[0].messages[0].said_text(), "The answer.\n");
    let thinking = message(
        json!({"sender": "assistant", "text": "Secret musing", "content": [{"type": "thinking", "thinking": "Secret musing"}]}),
    );
    assert_eq!(thinking.conversations[0].messages[0].visible_text(), "");
    let human = message(
        json!({"sender": "human", "text": "my words", "content": [{"type": "injected_prompt_block", "prompt": "It is Tuesday."}]}),
    );
    assert_eq!(human.conversations[0].messages[0].visible_text(), "my words");
    let string = message(json!({"sender": "human", "text": "", "content": "as a string"}));
    assert_eq!(string.conversations[0].messages[0].visible_text(), "as a string");
    let bare = message(json!({"sender": "human", "content": ["bare", {"text": "typeless"}, null, 5]}));
    assert_eq!(bare.conversations[0].messages[0].visible_text(), "bare\n\ntypeless");
}

#[test]
fn a_block_that_is_not_known_passes_for_nothing_said() {
    for kind in ["message", "refusal", "block_from_next_year", "input_text", "hidden"] {
        let all = message(
            json!({"sender": "assistant", "content": [{"type": "text", "text": "said"}, {"type": kind, "text": "unsaid"}]}),
        );
        assert_eq!(all.conversations[0].messages[0].visible_text(), "said", "{kind}");
    }
}

#[test]
fn files_are_named_once_and_their_words_are_seen() {
    let all = message(json!({"sender": "human", "text": "look",
        "attachments": [{"file_name": "a.txt", "extracted_content": "words of a"}, {"file_name": "", "extracted_content": ""}, null],
        "files": [{"file_name": "a.txt"}, {"file_name": "b.png"}], "files_v2": [{"file_name": "b.png"}, {"file_uuid": "f"}]}));
    let message = &all.conversations[0].messages[0];
    let names: Vec<String> = message.attachments().into_iter().map(|attachment| attachment.name).collect();
    assert_eq!(names, ["a.txt", "b.png", "f"]);
    assert_eq!(message.visible_text(), "look\n\nwords of a");
}

#[test]
fn titles_are_made_of_the_first_words_of_the_user() {
    let title = |name: Value, text: &str| {
        let mut row = claude("c", &[("1", ROOT, "assistant", "Welcome."), ("2", "1", "human", text)]);
        row["name"] = name;
        read(&json!([row])).conversations.remove(0)
    };
    assert_eq!(title(json!("  two\n lines "), "x").title, "two lines");
    let made = title(json!(null), "\n\n  How   deep\nshould it be?");
    assert_eq!((made.title.as_str(), made.is_title_given), ("How deep", false));
    let long = title(json!(" "), &"word ".repeat(100)).title;
    assert!(long.ends_with("word…") && long.chars().count() <= 81, "{long}");
    assert!(title(json!(""), &"日本語".repeat(100)).title.chars().count() == 81);
}

#[test]
fn conversations_without_an_id_keep_the_one_that_is_made() {
    let mut row = claude("c", &[("1", ROOT, "human", "q")]);
    row.as_object_mut().unwrap().remove("uuid");
    let mut longer = claude("c", &[("1", ROOT, "human", "q"), ("2", "1", "assistant", "a")]);
    longer.as_object_mut().unwrap().remove("uuid");
    let (one, other) = (read(&json!([row])).conversations.remove(0), read(&json!([longer])).conversations.remove(0));
    assert_eq!(one.source_id, other.source_id);
    assert_ne!(one.digest, other.digest);
}

#[test]
fn the_digest_tells_what_changed_from_what_did_not() {
    let row = claude("c", &[("1", ROOT, "human", "q"), ("2", "1", "assistant", "a")]);
    let digest = |row: &Value| read(&json!([row])).conversations[0].digest;
    let mut touched = row.clone();
    touched["updated_at"] = json!("2026-06-01T00:00:00Z");
    touched["settings"] = json!({"x": 1});
    assert_eq!(digest(&row), digest(&touched));
    for (member, value) in [("name", json!("other")), ("summary", json!("s")), ("project_uuid", json!("p"))] {
        let mut changed = row.clone();
        changed[member] = value;
        assert_ne!(digest(&row), digest(&changed), "{member}");
    }
}

#[test]
fn artifacts_are_what_they_are_in_the_end() {
    let call = |id: &str, input: Value| json!({"sender": "assistant", "content": [{"type": "tool_use", "id": id, "name": "artifacts", "input": input}]});
    let all = read(&json!([{"uuid": "c", "name": "n", "chat_messages": [
        call("1", json!({"command": "create", "id": "a", "title": "A", "content": "one two two"})),
        call("2", json!({"command": "update", "id": "a", "old_str": "two", "new_str": "three"})),
        call("3", json!({"command": "update", "id": "a", "old_str": "not there", "new_str": "x"})),
        call("4", json!({"command": "create", "id": "b", "content": "old", "title": "B"})),
        call("5", json!({"command": "rewrite", "id": "b", "content": "new"})),
        call("6", json!({"command": "update", "id": "lost", "old_str": "x", "new_str": "y"})),
        call("7", json!({"command": "update", "id": "b"})),
        call("8", json!([])),
    ]}]));
    let artifacts: Vec<_> = all.conversations[0]
        .artifacts
        .iter()
        .map(|artifact| {
            (artifact.id.as_str(), artifact.content.as_str(), artifact.title.as_deref(), artifact.is_complete)
        })
        .collect();
    assert_eq!(
        artifacts,
        [("a", "one three two", Some("A"), false), ("b", "new", Some("B"), false), ("lost", "y", None, false)]
    );
}

#[test]
fn empty_rows_are_told_from_broken_ones() {
    let all = read(&json!([
        {"uuid": "1", "name": "silent", "chat_messages": []},
        {"uuid": "2", "name": "no list", "chat_messages": "x"},
        {"uuid": "3", "name": "null", "chat_messages": null},
        {"uuid": "4", "name": "", "chat_messages": [null, 5, {"text": " \u{200b}"}]},
        "text", 7, [], null,
    ]));
    let is_empty: Vec<bool> = all.reasons().iter().map(|reason| *reason == Reason::NothingInIt).collect();
    assert_eq!(is_empty, [true, false, true, true, false, false, false, true]);
    assert_eq!(all.skipped[0].item.as_deref(), Some("silent"));
    assert_eq!(all.skipped[3].item.as_deref(), Some("4"));
}

#[test]
fn memories_come_in_every_shape() {
    let all = read_file("x.json", json!({"conversations_memory": null, "project_memories": {"p": {"content": "as an object"}, "q": ""},
        "memory_files": [{"path": "..\\..\\x.md", "content": "a", "updated_at": null}, {"path": "", "content": " "}, {"content": "no path"}, null],
        "account_uuid": "u"}).to_string());
    assert_eq!(all.contents(), ["as an object", "a", "no path"]);
    assert_eq!(all.memories[1].path.as_deref(), Some("x.md"));
    let nothing = read_file(
        "x.json",
        json!([{"conversations_memory": "", "project_memories": {}, "account_uuid": "u"}]).to_string(),
    );
    assert_eq!(nothing.reasons(), [Reason::NothingInIt]);
}

#[test]
fn projects_are_instructions_and_documents() {
    let all = read_file("x.json", json!([
        {"uuid": "p", "name": "Choir", "description": "A trip.", "prompt_template": "Be brief.", "is_starter_project": false,
         "docs": [{"uuid": "d", "filename": "../a.md", "content": "x"}, {"filename": "empty.md", "content": ""}, {"filename": "b.md", "content": "y"}]},
        {"uuid": "e", "name": "Empty", "prompt_template": "", "docs": []},
    ]).to_string());
    let found: Vec<_> =
        all.memories.iter().map(|memory| (memory.kind, memory.content.as_str(), memory.source_id.as_str())).collect();
    assert_eq!(
        found,
        [
            (MemoryKind::ProjectInstructions, "A trip.\n\nBe brief.", "project/p"),
            (MemoryKind::ProjectDocument, "x", "project/p/d"),
            (MemoryKind::ProjectDocument, "y", "project/p/b.md"),
        ]
    );
    assert!(all.memories.iter().all(|memory| memory.tags == ["Choir"]));
    assert_eq!(all.memories[1].path.as_deref(), Some("a.md"));
    assert_eq!(all.reasons(), [Reason::NothingInIt]);
    assert_eq!(all.skipped[0].item.as_deref(), Some("Empty"));
}
