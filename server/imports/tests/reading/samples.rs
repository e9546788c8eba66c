//! Every sample of `exports/`, against what `exports/expected.json` says that it gives.

use crate::common::{All, read, samples, seen};
use polymnemo_imports::{Attachment, Conversation, Input, MemoryKind, OpenError, Reason, Source};
use serde_json::{Map, Value};

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

#[test]
fn every_sample_gives_what_is_expected() {
    let expected = std::fs::read(samples().join("expected.json")).unwrap();
    let expected: Map<String, Value> = serde_json::from_slice(&expected).unwrap();
    assert_eq!(expected.len(), 37);
    for (file, entry) in &expected {
        let path = samples().join(file);
        let expect = &entry["expect"];
        if let Some(error) = expect.get("error") {
            let OpenError::Unusable { reason, .. } = Input::open(&[path]).unwrap_err() else { panic!("{file}") };
            assert_eq!(reason, Reason::CutOffDownload);
            assert!(reason.to_string().contains(&text(error)), "{file}: {reason}");
            continue;
        }
        let all = read(&[path]);
        let source = Source::of_name(entry["source"].as_str().unwrap()).unwrap();
        assert!(all.conversations.iter().all(|conversation| conversation.source == source), "{file}");
        assert!(all.memories.iter().all(|memory| memory.source == source), "{file}");
        match expect {
            Value::Array(conversations) => {
                assert_eq!(all.conversations.len(), conversations.len(), "{file}: {all:?}");
                for (conversation, expected) in all.conversations.iter().zip(conversations) {
                    check(file, conversation, expected, &all);
                }
            }
            expect => counts(file, &all, expect),
        }
    }
}

/// Checks every member of what is expected of a conversation.
fn check(file: &str, conversation: &Conversation, expected: &Value, all: &All) {
    for (member, expected) in expected.as_object().unwrap() {
        match member.as_str() {
            "title" => match expected {
                Value::Null => assert!(!conversation.is_title_given && !conversation.title.is_empty(), "{file}"),
                title => assert_eq!(conversation.title, text(title), "{file}"),
            },
            "messages" => {
                let messages: Vec<(String, String)> =
                    expected.as_array().unwrap().iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
                assert_eq!(seen(&conversation.messages), messages, "{file}");
            }
            "must_not_contain" => {
                for message in &conversation.messages {
                    for words in texts(expected) {
                        assert!(!message.visible_text().contains(&words), "{file}: {words}");
                    }
                }
            }
            "attachments_text" => {
                let words: Vec<String> = attachments(conversation).filter_map(|attachment| attachment.text).collect();
                assert_eq!(words, texts(expected), "{file}");
                let visible: Vec<String> = conversation.messages.iter().map(|message| message.visible_text()).collect();
                assert!(texts(expected).iter().all(|words| visible.contains(words)), "{file}: {visible:?}");
            }
            "files" => {
                let names = attachments(conversation).filter(|attachment| attachment.text.is_none());
                assert_eq!(names.map(|attachment| attachment.name).collect::<Vec<_>>(), texts(expected), "{file}");
            }
            "artifacts" => {
                let artifacts: Map<String, Value> = conversation
                    .artifacts
                    .iter()
                    .inspect(|artifact| assert!(artifact.is_complete))
                    .map(|artifact| (artifact.id.clone(), artifact.content.clone().into()))
                    .collect();
                assert_eq!(&Value::Object(artifacts), expected, "{file}");
            }
            "documents" => {
                let documents: Vec<&str> =
                    conversation.artifacts.iter().map(|artifact| artifact.content.as_str()).collect();
                assert_eq!(documents, texts(expected), "{file}");
            }
            "model" => assert_eq!(conversation.model, Some(text(expected)), "{file}"),
            "project" => assert_eq!(&conversation.metadata["project"], expected, "{file}"),
            "memories" => {
                let (mut found, mut expected) = (all.contents(), texts(expected));
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected, "{file}");
            }
            "note" => {}
            member => panic!("{file}: {member} is not checked"),
        }
    }
}

fn attachments(conversation: &Conversation) -> impl Iterator<Item = Attachment> {
    let spoken = conversation.messages.iter().filter(|message| message.role != "tool");
    spoken.flat_map(|message| message.attachments())
}

/// Checks what is expected of a file as a whole.
fn counts(file: &str, all: &All, expected: &Value) {
    let of = |kind| all.memories.iter().filter(|memory| memory.kind == kind).count() as u64;
    for (member, expected) in expected.as_object().unwrap() {
        match member.as_str() {
            "conversations" => assert_eq!(all.conversations.len() as u64, expected.as_u64().unwrap(), "{file}"),
            "memories" => assert_eq!(of(MemoryKind::Memory), expected.as_u64().unwrap(), "{file}: {all:?}"),
            "projects" => assert_eq!(of(MemoryKind::ProjectInstructions), expected.as_u64().unwrap(), "{file}"),
            "docs" => assert_eq!(of(MemoryKind::ProjectDocument), expected.as_u64().unwrap(), "{file}"),
            "ignored" => {
                assert!(all.conversations.is_empty() && all.memories.is_empty(), "{file}");
                let is_aside = |reason: &Reason| matches!(reason, Reason::NotForImport(_) | Reason::DownloadList(_));
                assert!(!all.skipped.is_empty() && all.reasons().iter().all(is_aside), "{file}: {:?}", all.skipped);
            }
            "message" => {
                let [reason] = all.reasons().try_into().unwrap();
                let (list, _) =
                    text(expected).split_once(':').map(|(list, rest)| (list.to_owned(), rest.to_owned())).unwrap();
                assert!(reason.to_string().starts_with(&list), "{file}: {reason}");
                assert!(reason.to_string().contains("conversations-000.zip"), "{file}: {reason}");
            }
            "note" => {}
            member => panic!("{file}: {member} is not checked"),
        }
    }
}

#[test]
fn samples_give_the_same_each_time() {
    for entry in std::fs::read_dir(samples()).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with("broken-35-truncated.zip") {
            assert_eq!(read(std::slice::from_ref(&path)), read(std::slice::from_ref(&path)), "{path:?}");
        }
    }
}

#[test]
fn all_samples_are_one_input() {
    let all = read(&[samples()]);
    let mut ids: Vec<_> =
        all.conversations.iter().map(|conversation| (conversation.source, &conversation.source_id)).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "no conversation comes twice");
    assert!(count > 15, "{count}");
    assert!(all.reasons().contains(&Reason::CutOffDownload));
    assert!(all.reasons().contains(&Reason::Double));
}
