//! Exports of memory systems, and notes.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use polymnemo_imports::{Limits, Reason, Source};
use serde_json::json;

use crate::common::{folder, read, read_file, read_files, read_within, zip};

#[test]
fn mem0_is_read_in_every_shape() {
    let row = json!({"id": "m1", "memory": "Works at Acme.", "user_id": "sam", "hash": "x", "metadata": {"category": "work", "tags": ["t"]},
        "categories": ["jobs"], "created_at": "2024-07-20T01:30:36.275141-07:00", "updated_at": null});
    let lines = format!(
        "{row}\n{}\n",
        json!({"id": "m2", "content": "Second.", "categories": [], "app": "claude", "state": "active"})
    );
    for file in [
        json!([row]).to_string(),
        json!({"results": [row]}).to_string(),
        json!({"count": 1, "results": [row], "relations": []}).to_string(),
        json!({"memories": [row]}).to_string(),
        lines,
        row.to_string(),
    ] {
        let all = read_file("x.json", &file);
        let memory = &all.memories[0];
        assert_eq!(
            (memory.source, memory.source_id.as_str(), memory.content.as_str()),
            (Source::Mem0, "m1", "Works at Acme."),
            "{file}"
        );
        assert_eq!(memory.tags, ["jobs", "work", "t"]);
        assert_eq!(memory.namespace_hint.as_deref(), Some("sam"));
        assert_eq!(memory.created_at.unwrap().to_string(), "2024-07-20T08:30:36.275141Z");
        assert!(all.skipped.is_empty(), "{file}: {:?}", all.skipped);
    }
}

#[test]
fn a_backup_of_openmemory_is_read_once() {
    let document = json!({"user": {"id": "u"}, "apps": [], "categories": [{"id": "c", "name": "jobs"}], "memories": [
        {"id": "m1", "user_id": "u", "content": "Works at Acme.", "state": "active", "category_ids": ["c"], "deleted_at": null},
        {"id": "m2", "user_id": "u", "content": "Gone.", "state": "deleted"}, {"id": "m3", "user_id": "u", "content": " "}],
        "memory_categories": [], "status_history": [], "access_controls": []});
    let mut lines = GzEncoder::new(Vec::new(), Compression::default());
    writeln!(lines, "{}", json!({"id": "m1", "content": "Works at Acme.", "metadata": {}, "state": "active", "app": "a", "categories": ["jobs"]})).unwrap();
    writeln!(
        lines,
        "{}",
        json!({"id": "m4", "content": "Only here.", "state": "active", "app": null, "categories": []})
    )
    .unwrap();
    let lines = lines.finish().unwrap();
    let all = read_file(
        "memories_export_sam.zip",
        zip(&[("memories.json", document.to_string().as_bytes()), ("memories.jsonl.gz", &lines)]),
    );
    assert_eq!(all.contents(), ["Works at Acme.", "Only here."]);
    assert_eq!(all.memories[0].tags, ["jobs"]);
    assert_eq!(all.reasons(), [Reason::NotForImport("it was deleted there".into()), Reason::NothingInIt]);
}

#[test]
fn a_graph_is_a_memory_for_each_entity() {
    let entity = json!({"type": "entity", "name": "Ines", "entityType": "person", "observations": ["plays cello", " ", "plays cello", {"content": "tall"}]});
    let again = json!({"type": "entity", "name": "Ines", "entityType": "friend", "observations": ["moved"]});
    let relation = json!({"type": "relation", "from": "Ines", "to": "Porto", "relationType": "lives_in"});
    let lost = json!({"type": "relation", "from": "x", "to": "y", "relationType": "knows"});
    let place = json!({"type": "entity", "name": "Porto", "entityType": "city", "observations": []});
    let lines = [&entity, &relation, &lost, &place, &again].map(|line| line.to_string()).join("\n");
    let all = read_file("memory.jsonl", format!("{lines}\n{{}}\n"));
    assert_eq!(
        all.contents(),
        ["Ines (person)\n- plays cello\n- tall\n- moved\n- Ines lives_in Porto", "Porto (city)\n- Ines lives_in Porto",]
    );
    assert_eq!(all.memories[0].tags, ["person"]);
    assert_eq!(all.skipped.len(), 2);
    let whole =
        read_file("graph.json", json!({"entities": [entity, place, again], "relations": [relation]}).to_string());
    assert_eq!(whole.contents(), all.contents());
}

#[test]
fn notes_of_basic_memory_are_memories() {
    let note = "---\ntitle: Coffee Brewing\ntype: note\npermalink: drinks/coffee\ntags:\n- coffee\n- 'brewing'\n---\n\n# Coffee\n\n- [method] Pour over is clean #brewing #slow (morning)\n- pairs_with [[Biscuits]]\n";
    let all = read_files(&[("drinks/Coffee Brewing.md", note.as_bytes())]);
    let memory = &all.memories[0];
    assert_eq!((memory.source, memory.source_id.as_str()), (Source::BasicMemory, "drinks/coffee"));
    assert_eq!(memory.content, note);
    assert_eq!(memory.title.as_deref(), Some("Coffee Brewing"));
    assert_eq!(memory.tags, ["coffee", "brewing", "slow"]);
    assert_eq!(memory.namespace_hint.as_deref(), Some("drinks"));
}

#[test]
fn plain_notes_are_memories() {
    let all = read_files(&[
        ("a.md", b"---\ntags: [one, \"two\"]\ndate: 2024-05-06\n---\ntext"),
        ("b.TXT", b"plain\r\nwith\0out".as_slice()),
        ("c.md", b"```\n# no heading\n```\n# A heading\n"),
        ("d.md", b"[link](x) comes first"),
        ("e.md", b" \n"),
        ("f.md", b"\xef\xbb\xbfwith a mark"),
        ("g.md", b"--- no front matter\nx: y"),
        ("h.md", b"na\xefve in Latin-1, which is longer than a hundred bytes so that a byte that is not UTF-8 is the exception in it."),
        (".obsidian/x.md", b"settings"),
        ("picture.png", b"\x89PNG"),
        ("table.csv", b"a,b"),
    ]);
    let found: Vec<(&str, &str)> =
        all.memories.iter().map(|memory| (memory.path.as_deref().unwrap(), memory.title.as_deref().unwrap())).collect();
    assert_eq!(
        found,
        [("a.md", "a"), ("c.md", "A heading"), ("d.md", "d"), ("f.md", "f"), ("g.md", "g"), ("h.md", "h")]
    );
    assert_eq!(all.memories[0].tags, ["one", "two"]);
    assert_eq!(all.memories[0].created_at.unwrap().to_string(), "2024-05-06T00:00:00Z");
    assert_eq!(all.memories[3].content, "with a mark");
    let mut reasons = all.reasons();
    reasons.sort_by_key(ToString::to_string);
    assert_eq!(
        reasons,
        [
            Reason::NothingInIt,
            Reason::NotRecognised,
            Reason::NotRecognised,
            Reason::NotForImport("1 file with pictures, sounds or other data".into()),
        ]
    );
}

#[test]
fn a_note_is_known_by_where_it_is() {
    let folder = folder(&[("vault/a.md", b"x"), ("vault/sub/a.md", b"y"), ("other/a.md", b"z")]);
    let all = read(&[folder.path().join("vault"), folder.path().join("other")]);
    let mut ids: Vec<_> = all.memories.iter().map(|memory| memory.source_id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["other/a.md", "vault/a.md", "vault/sub/a.md"]);
    let zipped = zip(&[("vault/a.md", b"x"), ("top.md", b"t")]);
    let all = read_file("vault (1).zip", zipped);
    let ids: Vec<_> = all.memories.iter().map(|memory| memory.source_id.as_str()).collect();
    assert_eq!(ids, ["vault (1)/top.md", "vault/a.md"]);
}

#[test]
fn long_notes_come_in_parts() {
    let note = format!("# One\n{}\n# Two\n{}", "word ".repeat(100), "more ".repeat(100));
    let folder = folder(&[("long.md", note.as_bytes())]);
    let all = read_within(&[folder.path().join("long.md")], Limits { memory_bytes: 600, ..Limits::default() });
    assert_eq!(all.contents().concat(), note);
    let found: Vec<_> =
        all.memories.iter().map(|memory| (memory.source_id.as_str(), memory.title.as_deref().unwrap())).collect();
    assert_eq!(found, [("long.md", "One (1/2)"), ("long.md#2", "One (2/2)")]);
    assert!(all.memories[1].content.starts_with("# Two"));
}
