//! Files that are broken: something is reported, the rest is read, and nothing panics or goes on for ever.

use std::{ops::ControlFlow, sync::LazyLock};

use polymnemo_imports::{Input, Limits, Reason};
use proptest::prelude::*;
use serde_json::json;

use crate::common::{All, chatgpt, claude, folder, read_file, read_within, samples, says};

const ROOT: &str = "00000000-0000-4000-8000-000000000000";

/// Reads whatever can be read; how many items there are.
fn survive(name: &str, content: &[u8]) -> usize {
    let folder = folder(&[(name, content)]);
    let Ok(input) = Input::open(&[folder.path().join(name)]) else { return 1 };
    let mut count = 0;
    input
        .read(&mut |found| {
            count += 1;
            assert!(count < 10_000, "{name} goes on and on");
            assert!(found.bytes_read <= input.total_bytes());
            ControlFlow::Continue(())
        })
        .unwrap();
    count
}

static SAMPLES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(samples())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name() != "expected.json")
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).unwrap()))
        .collect();
    files.push(("s.jsonl".into(), b"{\"type\":\"user\",\"uuid\":\"1\",\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"q\"}}\n{\"type\":\"assistant\",\"uuid\":\"2\",\"parentUuid\":\"1\",\"sessionId\":\"s\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}}\n".to_vec()));
    files.push(("memory.jsonl".into(), b"{\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"b\",\"observations\":[\"c\"]}\n{\"type\":\"relation\",\"from\":\"a\",\"to\":\"d\",\"relationType\":\"e\"}\n".to_vec()));
    files.push((
        "note.md".into(),
        "---\ntitle: x\ntags: [a]\npermalink: p\n---\n- [b] c #d\n日本語".as_bytes().to_vec(),
    ));
    files.sort();
    files
});

#[test]
fn every_sample_cut_anywhere_gives_something() {
    for (name, content) in SAMPLES.iter() {
        // Many places near the ends, and some between.
        let near = 60.min(content.len());
        let places =
            (0..near).chain((near..content.len()).step_by(97)).chain(content.len().saturating_sub(near)..content.len());
        for place in places.step_by(3) {
            assert!(survive(name, &content[..place]) > 0, "{name} cut at {place}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn every_sample_with_bytes_flipped_gives_something(
        file in any::<prop::sample::Index>(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let (name, mut content) = file.get(&SAMPLES).clone();
        for (place, byte) in flips {
            let place = place.index(content.len());
            content[place] = byte;
        }
        if let Some(cut) = cut {
            content.truncate(cut.index(content.len()));
        }
        prop_assert!(survive(&name, &content) > 0);
    }

    #[test]
    fn any_json_of_known_names_gives_something(value in documents()) {
        survive("x.json", value.to_string().as_bytes());
        survive("x.jsonl", format!("{value}\n{value}\n").as_bytes());
    }
}

/// Documents with the names that are looked for, and anything as their values.
fn documents() -> impl Strategy<Value = serde_json::Value> {
    let names = [
        "chat_messages",
        "mapping",
        "uuid",
        "name",
        "title",
        "content",
        "text",
        "type",
        "parent",
        "message",
        "author",
        "role",
        "parts",
        "content_type",
        "current_node",
        "id",
        "memory",
        "results",
        "sender",
        "parent_message_uuid",
        "attachments",
        "files",
        "conversations",
        "memory_files",
        "docs",
        "parentUuid",
        "sessionId",
        "isSidechain",
        "entities",
        "relations",
        "observations",
        "recipient",
        "metadata",
        "create_time",
        "input",
        "command",
        "thoughts",
        "children",
    ];
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        any::<f64>().prop_map(|value| json!(value)),
        prop::sample::select(vec!["text", "user", "human", "tool_use", "bio", "assistant", "1", "2", ""])
            .prop_map(|value| json!(value)),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            prop::collection::vec((prop::sample::select(names.to_vec()), inner), 0..6)
                .prop_map(|members| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

/// Three conversations, with something done to the text of the second one.
fn with_broken(change: impl Fn(&str) -> String) -> All {
    let rows: Vec<String> = ["a", "b", "c"]
        .iter()
        .map(|id| claude(id, &[("1", ROOT, "human", "q"), ("2", "1", "assistant", "a {\"uuid\": [")]).to_string())
        .collect();
    read_file("conversations.json", format!("[{}, {}, {}]", rows[0], change(&rows[1]), rows[2]))
}

#[test]
fn a_broken_row_costs_only_itself() {
    type Change = fn(&str) -> String;
    let changes: [(&str, Change); 9] = [
        ("without its end", |row| row[..row.len() - 1].to_owned()),
        ("without the last quarter", |row| row[..row.len() * 3 / 4].to_owned()),
        ("without its beginning", |row| row[1..].to_owned()),
        ("without a quotation mark", |row| row.replacen('"', "", 1)),
        ("without another", |row| row.replacen("\"human\"", "\"human", 1)),
        ("with a bracket too many", |row| row.replacen(']', "]]", 1)),
        ("with a brace too many", |row| format!("{row}}}")),
        ("with a word too many", |row| row.replacen(':', ": what", 1)),
        ("with nothing", |_| String::new()),
    ];
    for (what, change) in changes {
        let all = with_broken(change);
        assert!(
            all.titles().starts_with(&["title of a"]) && all.titles().ends_with(&["title of c"]),
            "{what}: {:?}",
            all
        );
        assert_eq!(all.skipped.is_empty(), matches!(what, "with nothing"), "{what}: {:?}", all.skipped);
    }
}

#[test]
fn a_row_that_is_nested_too_deep_is_broken() {
    let all = with_broken(|_| format!("{{\"uuid\": \"b\", \"name\": {}{}}}", "[".repeat(10_000), "]".repeat(10_000)));
    assert_eq!(all.conversations.len(), 2);
    assert!(matches!(&all.reasons()[..], [Reason::Broken(_)]));
}

#[test]
fn a_cut_file_gives_what_is_before_the_cut() {
    let row = |id: &str| claude(id, &[("1", ROOT, "human", "q")]).to_string();
    let all = read_file("x.json", format!("[{}, {}, {}", row("a"), row("b"), &row("c")[..100]));
    assert_eq!((all.titles(), all.reasons()), (vec!["title of a", "title of b"], vec![Reason::CutOff]));
    let all = read_file("x.json", format!("{{\"conversations\": [{}", row("a")));
    assert_eq!((all.titles(), all.reasons()), (vec!["title of a"], vec![Reason::CutOff]));
}

#[test]
fn what_python_writes_is_read() {
    let row = claude("a", &[("1", ROOT, "human", "MARK")]).to_string();
    for (given, seen) in
        [("\\ud83d", "\u{fffd}"), ("a\tb\nc", "a\tb\nc"), ("\\ud83d\\ude00", "😀"), ("a\\u0000b", "ab")]
    {
        let all = read_file(
            "x.json",
            format!("[{}]", row.replace("MARK", given).replacen("\"name\"", "\"x\": NaN, \"name\"", 1)),
        );
        assert_eq!(all.conversations[0].messages[0].visible_text(), seen, "{given}");
    }
    let mut latin = row.replace("MARK", "na@ve").into_bytes();
    latin.iter_mut().filter(|byte| **byte == b'@').for_each(|byte| *byte = 0xef);
    assert_eq!(read_file("x.json", latin).conversations[0].messages[0].visible_text(), "na\u{fffd}ve");
}

/// Files that make a reader that compares everything with everything go on for hours.
#[test]
fn nothing_takes_for_ever() {
    const MANY: usize = 20_000;
    let start = std::time::Instant::now();
    let nodes: serde_json::Map<String, serde_json::Value> = (0..MANY)
        .map(|number| {
            // A long way of places without a message, and as many branches at its end.
            let (parent, message) = if number < MANY / 2 {
                (number.checked_sub(1).map(|parent| parent.to_string()), json!(null))
            } else {
                (Some((MANY / 2 - 1).to_string()), says("user", "x"))
            };
            (number.to_string(), json!({"parent": parent, "message": message}))
        })
        .collect();
    let all = read_file("x.json", json!([{"title": "t", "mapping": nodes, "conversation_id": "c"}]).to_string());
    assert_eq!(all.conversations[0].branches.len(), MANY / 2 - 1);

    let marks = format!("{}{}", "\u{e200}\n【".repeat(MANY * 10), "\u{e201}】");
    assert!(
        survive("x.json", json!([chatgpt("c", "1", &[("1", None, says("user", &marks))])]).to_string().as_bytes()) > 0
    );

    let doubling =
        json!({"updates": vec![json!({"pattern": "a", "multiple": true, "replacement": "aa"}); 60]}).to_string();
    let call = |tool: &str, text: &str| json!({"author": {"role": "assistant"}, "recipient": format!("canmore.{tool}"), "content": {"content_type": "code", "text": text}});
    let row = chatgpt(
        "c",
        "2",
        &[
            ("1", None, call("create_textdoc", "{\"content\": \"a\"}")),
            ("2", Some("1"), call("update_textdoc", &doubling)),
        ],
    );
    let all = read_file("x.json", json!([row]).to_string());
    assert!(!all.conversations[0].artifacts[0].is_complete);

    let line = |number: usize| {
        json!({"type": "assistant", "uuid": number.to_string(), "sessionId": "s", "parentUuid": null,
            "message": {"id": "m", "content": [{"type": "text", "text": format!("{number}.")}]}})
        .to_string()
    };
    let lines: Vec<String> = (0..MANY).map(line).collect();
    assert_eq!(survive("s.jsonl", lines.join("\n").as_bytes()), 1);

    let hub: Vec<String> = (0..MANY)
        .map(|number| {
            json!({"type": "relation", "from": "hub", "to": number.to_string(), "relationType": "knows"}).to_string()
        })
        .chain([
            json!({"type": "entity", "name": "hub", "entityType": "e", "observations": (0..MANY).collect::<Vec<_>>()})
                .to_string(),
        ])
        .collect();
    assert_eq!(survive("m.jsonl", hub.join("\n").as_bytes()), 1);
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
}

#[test]
fn what_would_fill_the_memory_is_too_large() {
    let limits = Limits { element_bytes: 1 << 20, ..Limits::default() };
    let values = format!("[{{\"chat_messages\": [{}0]}}]", "0,".repeat(100_000));
    let folder = folder(&[("x.json", values.as_bytes())]);
    assert_eq!(read_within(&[folder.path().join("x.json")], limits).reasons(), [Reason::TooLarge(1 << 20)]);
}
