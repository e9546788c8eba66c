//! Files, folders and archives as people have them, and as those make them who mean harm.

use std::{
    io::{Cursor, Write},
    ops::ControlFlow,
    path::PathBuf,
};

use polymnemo_imports::{Input, Limits, OpenError, Reason};
use serde_json::json;
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::common::{chatgpt, claude, folder, read, read_file, read_files, read_within, says, zip};

const ROOT: &str = "00000000-0000-4000-8000-000000000000";

fn row(id: &str) -> serde_json::Value {
    claude(id, &[("1", ROOT, "human", "q"), ("2", "1", "assistant", "a")])
}

fn rows(ids: &[&str]) -> Vec<u8> {
    json!(ids.iter().map(|id| row(id)).collect::<Vec<_>>()).to_string().into_bytes()
}

#[test]
fn several_downloads_are_one_input() {
    let newer = {
        let mut row = row("b");
        row["updated_at"] = json!("2026-05-01T00:00:00Z");
        row["name"] = json!("newer");
        json!([row]).to_string()
    };
    let folder = folder(&[
        ("conversations-001.zip", &zip(&[("conversations.json", &rows(&["b", "c"]))])),
        ("conversations-000 (1).zip", &zip(&[("conversations.json", &rows(&["a"]))])),
        ("conversations-002.zip", &zip(&[("conversations.json", newer.as_bytes())])),
    ]);
    let paths = ["conversations-002.zip", "conversations-001.zip", "conversations-000 (1).zip"]
        .map(|name| folder.path().join(name));
    let all = read(&paths);
    assert_eq!(all.titles(), ["title of a", "title of c", "newer"]);
    assert_eq!(all.reasons(), [Reason::Double]);
    // The folder with the same zips in it is the same.
    assert_eq!(read(&[folder.path().to_owned()]).titles(), all.titles());
}

#[test]
fn the_same_conversation_twice_in_a_file_is_given_once() {
    let all = read_file("x.json", rows(&["a", "b", "a", "a"]));
    assert_eq!(all.conversations.len(), 2);
    assert_eq!(all.reasons(), [Reason::Double, Reason::Double]);
}

#[test]
fn two_products_in_one_archive_are_both_read() {
    let other = json!([chatgpt("g", "1", &[("1", None, says("user", "q"))])]).to_string();
    let all = read_file(
        "both.zip",
        zip(&[
            ("Claude/CONVERSATIONS.JSON", &rows(&["c"])),
            ("__MACOSX/x.json", b"x"),
            ("gpt/._x.json", b"x"),
            ("gpt/x.json", other.as_bytes()),
        ]),
    );
    assert_eq!(all.titles(), ["title of c", "title of g"]);
    assert!(all.skipped.is_empty());
}

#[test]
fn a_page_is_read_only_without_the_file() {
    let rows = json!([chatgpt("g", "1", &[("1", None, says("user", "q"))])]).to_string();
    let page = format!("<html><script>var jsonData = {rows};</script>");
    let both = read_file("e.zip", zip(&[("chat.html", page.as_bytes()), ("conversations.json", rows.as_bytes())]));
    assert_eq!(both.conversations.len(), 1);
    assert!(matches!(&both.reasons()[..], [Reason::NotForImport(_)]));
    assert_eq!(read_file("e.zip", zip(&[("chat.html", page.as_bytes())])).conversations.len(), 1);
}

#[test]
fn names_say_nothing() {
    assert_eq!(read_file("holiday.dat.txt", rows(&["a"])).conversations.len(), 1);
    assert_eq!(read_file("download", rows(&["a"])).conversations.len(), 1);
    assert_eq!(read_file("archive.json", zip(&[("x", &rows(&["a"]))])).conversations.len(), 1);
    for (name, content) in [
        ("conversations.json", "hello"),
        ("conversations.json", "{\"a\": 1}"),
        ("conversations.json", "[1, 2]"),
        ("x.zip", "no zip"),
    ] {
        assert_eq!(read_file(name, content).reasons(), [Reason::NotRecognised], "{name} {content}");
    }
    assert_eq!(read_file("conversations.json", "[]").reasons(), [Reason::NothingInIt]);
    assert_eq!(read_file("conversations.json", "").reasons(), [Reason::NothingInIt]);
}

#[test]
fn names_that_lead_out_are_refused() {
    let content = rows(&["a"]);
    let names = ["../../etc/cron.d/x.json", "/etc/x.json", "C:\\x.json", "a/../../x.json", "..\\x.json"];
    let files: Vec<(&str, &[u8])> = names.iter().map(|&name| (name, content.as_slice())).collect();
    let all = read_file("x.zip", zip(&files));
    assert!(all.conversations.is_empty());
    assert_eq!(all.reasons(), vec![Reason::UnsafeName; names.len()]);
    assert!(all.skipped.iter().all(|skipped| !skipped.file.contains("..")));
}

#[test]
fn links_are_not_followed() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("x.json", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    assert_eq!(read_file("x.zip", writer.finish().unwrap().into_inner()).reasons(), [Reason::Link]);
    #[cfg(unix)]
    {
        let folder = folder(&[("a.md", b"x")]);
        std::os::unix::fs::symlink(folder.path(), folder.path().join("ring")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("b.md")).unwrap();
        let all = read(&[folder.path().to_owned()]);
        assert_eq!((all.memories.len(), all.reasons()), (1, vec![Reason::Link, Reason::Link]));
    }
}

#[test]
fn bombs_are_refused() {
    let bomb = zip(&[("conversations.json", &vec![b' '; 64 << 20])]);
    assert!(bomb.len() < 100_000);
    assert_eq!(read_file("x.zip", &bomb).reasons(), [Reason::Bomb]);
    // One that says that it is small.
    let mut lies = bomb;
    let small = 1000u32.to_le_bytes();
    let directory = lies.windows(4).rposition(|window| window == b"PK\x01\x02").unwrap();
    lies[directory + 24..directory + 28].copy_from_slice(&small);
    let local = 22..26;
    lies[local].copy_from_slice(&small);
    let all = read_file("x.zip", &lies);
    assert!(all.conversations.is_empty() && !all.skipped.is_empty(), "{:?}", all.skipped);
    // A row that goes on and on.
    let mut large = b"[{\"chat_messages\": [\"".to_vec();
    large.resize(30 << 20, b'x');
    let folder = folder(&[("x.json", &large)]);
    let limits = Limits { element_bytes: 1 << 20, ..Limits::default() };
    let all = read_within(&[folder.path().join("x.json")], limits);
    assert_eq!(all.reasons(), [Reason::TooLarge(1 << 20), Reason::CutOff]);
}

#[test]
fn packed_lines_are_no_bomb_either() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let line = json!({"id": "m", "memory": "x", "user_id": "u"}).to_string();
    packed.write_all(format!("{line}\n{line}\n").as_bytes()).unwrap();
    packed.write_all(&vec![b' '; 64 << 20]).unwrap();
    let all = read_file("m.jsonl.gz", packed.finish().unwrap());
    assert_eq!((all.memories.len(), all.reasons()), (1, vec![Reason::Bomb]));
}

#[test]
fn there_is_an_end_to_files_and_bytes_and_folders() {
    let files: Vec<(String, Vec<u8>)> = (0..30).map(|number| (format!("{number}.md"), b"note".to_vec())).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    let few = Limits { entries: 10, ..Limits::default() };
    let folder = folder(&files);
    let all = read_within(&[folder.path().to_owned()], few);
    assert_eq!((all.memories.len(), all.reasons()), (10, vec![Reason::TooManyFiles(10)]));
    let path = folder.path().join("x.zip");
    std::fs::write(&path, zip(&files)).unwrap();
    assert!(matches!(
        Input::open_within(std::slice::from_ref(&path), few),
        Err(OpenError::Unusable { reason: Reason::TooManyFiles(10), .. })
    ));
    let small = Limits { total_bytes: 41, ..Limits::default() };
    let all = read_within(&[path], small);
    assert_eq!(all.memories.len(), 10);
    assert_eq!(all.reasons(), vec![Reason::TooMuch(41); 20]);
    let deep = format!("{}x.md", "d/".repeat(40));
    assert_eq!(read_files(&[(&deep, b"x")]).reasons(), [Reason::TooDeep(32)]);
    assert_eq!(read_file("x.zip", zip(&[(&deep, b"x")])).reasons(), [Reason::TooDeep(32)]);
}

#[test]
fn a_hundred_thousand_files_are_refused_at_once() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for number in 0..100_001 {
        writer.start_file(format!("{number}.md"), stored).unwrap();
    }
    let folder = folder(&[("x.zip", &writer.finish().unwrap().into_inner())]);
    let refused = Input::open(&[folder.path().join("x.zip")]);
    assert!(matches!(refused, Err(OpenError::Unusable { reason: Reason::TooManyFiles(100_000), .. })));
}

#[test]
fn encrypted_and_oddly_packed_files_say_what_to_do() {
    let mut bytes = zip(&[("conversations.json", &rows(&["a"]))]);
    let directory = bytes.windows(4).rposition(|window| window == b"PK\x01\x02").unwrap();
    let mut encrypted = bytes.clone();
    encrypted[directory + 8] |= 1;
    encrypted[6] |= 1;
    assert_eq!(read_file("x.zip", encrypted).reasons(), [Reason::Encrypted]);
    bytes[directory + 10] = 14;
    bytes[8] = 14;
    assert!(matches!(&read_file("x.zip", bytes).reasons()[..], [Reason::Packing(_)]));
}

#[test]
fn archives_in_archives_say_what_to_do() {
    let inner = zip(&[("conversations.json", &rows(&["a"]))]);
    assert_eq!(read_file("x.zip", zip(&[("inner.zip", &inner)])).reasons(), [Reason::NestedArchive]);
}

#[test]
fn what_is_cut_off_or_not_there_is_said() {
    let whole = zip(&[("conversations.json", &rows(&["a"]))]);
    let folder =
        folder(&[("cut.zip", &whole[..whole.len() - 30]), ("good.json", &rows(&["a"])), ("empty.zip", &zip(&[]))]);
    let path = |name: &str| folder.path().join(name);
    let reason = |paths: &[PathBuf]| match Input::open(paths).unwrap_err() {
        OpenError::Unusable { reason, .. } => Some(reason),
        OpenError::Nothing => None,
    };
    assert_eq!(reason(&[]), None);
    assert_eq!(reason(&[path("cut.zip")]), Some(Reason::CutOffDownload));
    assert_eq!(reason(&[path("gone")]), Some(Reason::Unreadable("there is no such file".into())));
    // With something that can be read beside it, it is only skipped.
    let all = read(&[path("cut.zip"), path("good.json"), path("gone"), path("good.json")]);
    assert_eq!(all.conversations.len(), 1);
    assert_eq!(all.skipped.len(), 2);
    assert_eq!(read(&[path("empty.zip")]).skipped.len(), 0);
}

#[test]
fn an_export_of_our_own_is_only_named() {
    let files: [(&str, &[u8]); 3] = [
        ("manifest.json", br#"{"format": "polymnemo-export", "version": 1}"#),
        ("memories.jsonl", b"{\"id\": 1}\n"),
        ("files/a.md", b"note"),
    ];
    let unpacked = read_files(&files);
    assert_eq!((unpacked.own.len(), unpacked.memories.len(), unpacked.skipped.len()), (1, 0, 0));
    assert!(!unpacked.own[0].is_archive && unpacked.own[0].prefix.is_empty());
    let packed = read_file("e.zip", zip(&files));
    assert!(packed.own[0].is_archive && packed.own[0].path.ends_with("e.zip"));
    let nested: Vec<(String, &[u8])> =
        files.iter().map(|(name, content)| (format!("export/{name}"), *content)).collect();
    let nested: Vec<(&str, &[u8])> = nested.iter().map(|(name, content)| (name.as_str(), *content)).collect();
    let nested = read_file("e.zip", zip(&nested));
    assert_eq!((nested.own[0].prefix.as_str(), nested.memories.len()), ("export/", 0));
}

#[test]
fn files_of_other_editors_are_read() {
    let text = String::from_utf8(rows(&["a"])).unwrap();
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(read_file("x.json", utf16).titles(), ["title of a"]);
    let marked = [b"\xef\xbb\xbf".as_slice(), text.replace(',', ",\r\n").as_bytes()].concat();
    assert_eq!(read_file("x.json", marked).titles(), ["title of a"]);
}

#[test]
fn whoever_has_enough_breaks_off() {
    let folder = folder(&[("a.json", &rows(&["a", "b", "c"])), ("b.md", b"note")]);
    let input = Input::open(&[folder.path().to_owned()]).unwrap();
    let mut count = 0;
    input
        .read(&mut |_| {
            count += 1;
            if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!(count, 2);
}

#[test]
fn a_file_that_is_gone_is_an_error() {
    let folder = folder(&[("a.json", &rows(&["a"]))]);
    let input = Input::open(&[folder.path().join("a.json")]).unwrap();
    std::fs::remove_file(folder.path().join("a.json")).unwrap();
    assert!(input.read(&mut |_| ControlFlow::Continue(())).is_err());
}
