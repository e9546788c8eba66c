//! Transcripts of Claude Code.

use polymnemo_imports::{MessageContent, Reason, Source};
use serde_json::{Value, json};

use crate::common::{All, pairs, read_file, seen};

fn read(lines: &[Value]) -> All {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    read_file("s.jsonl", lines.join("\n"))
}

fn line(kind: &str, uuid: &str, parent: Option<&str>, content: Value) -> Value {
    json!({"type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": false, "sessionId": "s-1", "cwd": "/home/sam/code",
        "version": "2.1.0", "gitBranch": "main", "timestamp": "2026-01-20T11:57:17.716Z",
        "message": {"role": kind, "content": content}})
}

/// A line of an answer that comes in several.
fn answer(uuid: &str, parent: &str, answer: &str, block: Value) -> Value {
    let mut line = line("assistant", uuid, Some(parent), json!([block]));
    line["message"]["id"] = json!(answer);
    line["message"]["model"] = json!("claude-opus-4-5");
    line
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn a_session_is_a_conversation() {
    let all = read(&[
        json!({"type": "file-history-snapshot", "messageId": "x", "snapshot": {}}),
        json!({"type": "summary", "summary": "Fix the\nkettle", "leafUuid": "2"}),
        json!({"type": "queue-operation", "operation": "dequeue", "sessionId": "s-1"}),
        line("user", "1", None, json!("Fix the kettle.")),
        answer("2", "1", "m1", text("Done.")),
        json!({"type": "system", "uuid": "3", "parentUuid": "2", "content": "Conversation compacted", "sessionId": "s-1"}),
        line("user", "4", Some("3"), json!([text("Thanks.")])),
    ]);
    let conversation = &all.conversations[0];
    assert_eq!((conversation.source, conversation.source_id.as_str()), (Source::ClaudeCode, "s-1"));
    assert_eq!(conversation.title, "Fix the kettle");
    assert_eq!(
        seen(&conversation.messages),
        pairs(&[("user", "Fix the kettle."), ("assistant", "Done."), ("user", "Thanks.")])
    );
    assert_eq!(conversation.model.as_deref(), Some("claude-opus-4-5"));
    assert_eq!(conversation.metadata["cwd"], "/home/sam/code");
    assert!(conversation.branches.is_empty() && all.skipped.is_empty());
}

#[test]
fn an_answer_in_several_lines_is_one_message() {
    let all = read(&[
        line("user", "1", None, json!("q")),
        answer("2", "1", "m1", json!({"type": "thinking", "thinking": "hm"})),
        answer("3", "2", "m1", text("I")),
        answer("4", "3", "m1", text("I look.")),
        answer("4", "3", "m1", text("I look.")),
        answer("5", "4", "m1", json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {}})),
        answer("6", "5", "m1", json!({"type": "tool_use", "id": "t2", "name": "Read", "input": {}})),
        line("user", "7", Some("5"), json!([{"type": "tool_result", "tool_use_id": "t1", "content": "one"}])),
        line("user", "8", Some("6"), json!([{"type": "tool_result", "tool_use_id": "t2", "content": "two"}])),
        answer("9", "8", "m2", text("Done.")),
    ]);
    let conversation = &all.conversations[0];
    assert!(conversation.branches.is_empty(), "{:?}", conversation.branches);
    assert_eq!(conversation.messages.len(), 4);
    assert_eq!(conversation.messages[1].said_text(), "I look.");
    let MessageContent::Blocks(results) = &conversation.messages[2].content else { panic!("blocks") };
    assert!(results.contains("one") && results.contains("two"));
    assert_eq!(conversation.messages[2].visible_text(), "");
}

#[test]
fn what_the_program_says_in_the_name_of_the_user_is_not_seen() {
    let mut meta = line("user", "2", Some("1"), json!("Caveat: generated."));
    meta["isMeta"] = json!(true);
    let mut summary = line("user", "3", Some("2"), json!("This session goes on from another."));
    summary["isCompactSummary"] = json!(true);
    let mut error = line("assistant", "5", Some("4"), json!([text("API Error")]));
    error["message"]["model"] = json!("<synthetic>");
    let all = read(&[
        line("user", "1", None, json!("hello <system-reminder>secret</system-reminder>")),
        meta,
        summary,
        line("user", "4", Some("3"), json!("<command-name>/clear</command-name>")),
        error,
        line("user", "6", Some("5"), json!("a < b and <b>bold</b>")),
    ]);
    let conversation = &all.conversations[0];
    assert_eq!(seen(&conversation.messages), pairs(&[("user", "hello"), ("user", "a < b and <b>bold</b>")]));
    assert_eq!(conversation.messages.len(), 6);
    assert_eq!(conversation.model, None);
}

#[test]
fn prompts_that_were_edited_are_branches_and_tasks_are_marked() {
    let mut task = line("user", "t1", None, json!("Do the task."));
    task["isSidechain"] = json!(true);
    let all = read(&[
        line("user", "1", None, json!("q")),
        answer("2", "1", "m1", text("a")),
        line("user", "3", Some("2"), json!("first try")),
        task,
        line("user", "4", Some("2"), json!("second try")),
    ]);
    let conversation = &all.conversations[0];
    assert_eq!(seen(&conversation.messages).last().unwrap().1, "second try");
    let branches: Vec<_> = conversation
        .branches
        .iter()
        .map(|branch| (branch.off.as_deref(), branch.is_sidechain, branch.messages[0].said_text()))
        .collect();
    assert_eq!(branches, [(Some("2"), false, "first try".to_owned()), (None, true, "Do the task.".to_owned())]);
}

#[test]
fn a_file_of_an_agent_is_a_conversation_of_its_own() {
    let mut task = line("user", "t1", None, json!("Do the task."));
    task["isSidechain"] = json!(true);
    task["agentId"] = json!("a7");
    let all = read(&[task]);
    assert_eq!(all.conversations[0].source_id, "s-1/agent-a7");
    assert_eq!(all.conversations[0].metadata["sidechain"], true);
    assert_eq!(all.conversations[0].metadata["session"], "s-1");
}

#[test]
fn pictures_are_noted_and_not_kept() {
    let picture =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(4000)}});
    let all = read(&[line("user", "1", None, json!([text("look"), picture]))]);
    let MessageContent::Blocks(json) = &all.conversations[0].messages[0].content else { panic!("blocks") };
    assert!(json.contains("\"bytes\":3000") && !json.contains("AAAA"), "{json}");
}

#[test]
fn broken_lines_cost_only_themselves() {
    let good = line("user", "1", None, json!("q")).to_string();
    let middle =
        read_file("s.jsonl", format!("{good}\n{{broken\n\r\n[1]\n{}", line("user", "2", Some("1"), json!("r"))));
    assert_eq!(middle.conversations[0].messages.len(), 2);
    assert_eq!(
        middle.skipped.iter().map(|skipped| skipped.item.as_deref().unwrap()).collect::<Vec<_>>(),
        ["line 2", "line 4"]
    );
    let end = read_file("s.jsonl", format!("{good}\n{{\"type\": \"user\", \"mess"));
    assert_eq!((end.conversations.len(), end.reasons()), (1, vec![Reason::CutOff]));
    let nothing = read(&[json!({"type": "summary", "summary": "x", "leafUuid": "y"})]);
    assert_eq!(nothing.reasons(), [Reason::NothingInIt]);
    let history = read(&[json!({"display": "/clear", "pastedContents": {}, "timestamp": 1, "project": "/x"})]);
    assert!(matches!(&history.reasons()[..], [Reason::NotForImport(_)]));
}
