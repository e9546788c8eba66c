//! Exports that were damaged, cut off, or made to harm.

use polymnemo_memory::{CountedKind, Error};
use sea_orm::ConnectionTrait as _;

use crate::{
    export::{
        everything::{keep_file, message, text},
        world::{
            Files, assert_same, column, count, erase, export, import, listed_anew, on_disk, packed, person, quietly,
            unpacked,
        },
    },
    support::TestApp,
};

/// A small store with something of everything that matters here.
async fn small(app: &TestApp) -> Vec<u8> {
    let service = app.service();
    let alice = person(app, "alice").await;
    let first = service.remember(&alice, text("One 一.")).await.unwrap().id;
    let edit = polymnemo_types::UpdateRequest {
        content: Some("Two 二.".into()),
        ..polymnemo_types::UpdateRequest::new(first)
    };
    service.update(&alice, edit).await.unwrap();
    let session = polymnemo_types::SaveSessionRequest {
        session_id: "chat".into(),
        messages: Some(vec![message("user", "Hello.", None), message("assistant", "Hi.", None)]),
        ..Default::default()
    };
    service.save_session(&alice, session).await.unwrap();
    keep_file(app, &alice, "a.png", "image/png", vec![7; 3_000]).await;
    export(service, &alice).await
}

async fn nothing_was_written(app: &TestApp, ctx: &polymnemo_memory::Ctx) {
    let sql = format!("select id::text from memories where user_id = '{}'", ctx.user.id);
    assert!(column(app, &sql).await.is_empty());
}

#[tokio::test]
async fn any_byte_that_is_flipped_or_missing_is_told_or_does_not_matter() {
    let app = TestApp::start().await;
    let service = app.service();
    let archive = small(&app).await;
    let alice = person(&app, "alice").await;
    erase(&app, &alice).await;
    let alice = person(&app, "alice").await;
    let (mut refused, mut left_out, mut fine) = (0, 0, 0);
    let mut damaged: Vec<Vec<u8>> = Vec::new();
    for place in 0..archive.len() {
        // Every byte of the lists at the end, some of the rest.
        if place % 7 != 0 && place + 400 < archive.len() {
            continue;
        }
        let mut flipped = archive.clone();
        flipped[place] ^= 1 << (place % 8);
        damaged.push(flipped);
    }
    damaged.extend((0..archive.len()).step_by(61).map(|length| archive[..length].to_vec()));
    let mut harmless = Vec::new();
    for archive in damaged {
        match service.check_export(&alice, on_disk(&archive), quietly()).await {
            Err(Error::Invalid(reason)) => {
                assert!(reason.contains("othing was imported"), "{reason}");
                refused += 1;
            }
            Err(error) => panic!("{error:?}"),
            Ok(checked) if checked.problems.is_empty() => {
                fine += 1;
                if fine % 40 == 1 {
                    harmless.push(archive);
                }
            }
            Ok(checked) => {
                assert!(checked.problems.iter().all(|problem| problem.kind == CountedKind::Media), "{checked:?}");
                left_out += 1;
            }
        }
    }
    assert!(refused > 100 && left_out > 5 && fine > 5, "{refused} {left_out} {fine}");
    nothing_was_written(&app, &alice).await;
    // What passes is all there.
    for damaged in harmless {
        erase(&app, &alice).await;
        let alice = person(&app, "alice").await;
        import(service, &alice, &damaged).await.unwrap();
        let (expected, now) = (unpacked(&archive), unpacked(&export(service, &alice).await));
        assert_same(&expected, &now);
    }
}

/// A change to the files of an export, and what is told of it.
type Case = (&'static str, fn(&mut Files), &'static str);

fn replace(files: &mut Files, path: &str, from: &str, to: &str) {
    let text = String::from_utf8(files[path].clone()).unwrap();
    assert!(text.contains(from), "{path} has no {from}");
    files.insert(path.to_owned(), text.replace(from, to).into_bytes());
}

const REFUSED: &[Case] = &[
    ("another format", |files| replace(files, "manifest.json", "polymnemo-export", "other-export"), "not an export"),
    ("a later version", |files| replace(files, "manifest.json", "\"version\":1", "\"version\":2"), "version 2"),
    ("no manifest", |files| drop(files.remove("manifest.json")), "manifest.json"),
    ("a file is missing", |files| drop(files.remove("revisions.jsonl")), "revisions.jsonl"),
    ("no JSON", |files| drop(files.insert("memories.jsonl".into(), b"{]\n".to_vec())), "memories.jsonl"),
    ("zeros", |files| drop(files.insert("memories.jsonl".into(), vec![0; 5 << 20])), "memories.jsonl"),
    ("no last line break", |files| drop(files.insert("tokens.jsonl".into(), b"{}".to_vec())), "tokens.jsonl"),
    (
        "twice the same",
        |files| {
            let twice = files["memories.jsonl"].repeat(2);
            files.insert("memories.jsonl".into(), twice);
        },
        "out of order",
    ),
    ("a message of no session", |files| drop(files.insert("sessions.jsonl".into(), Vec::new())), "belongs to nothing"),
    (
        "a revision of nothing",
        |files| {
            let revision = String::from_utf8(files["revisions.jsonl"].clone()).unwrap();
            let id = revision.get(7..43).unwrap().to_owned();
            replace(files, "revisions.jsonl", &id, "00000000-0000-7000-8000-000000000000");
        },
        "belongs to nothing",
    ),
    ("a gap", |files| replace(files, "messages.jsonl", "\"number\":2", "\"number\":3"), "out of order"),
];

#[tokio::test]
async fn what_does_not_fit_together_is_refused_as_a_whole() {
    let app = TestApp::start().await;
    let archive = small(&app).await;
    let bob = person(&app, "bob").await;
    for (case, change, told) in REFUSED {
        let mut files = unpacked(&archive);
        listed_anew(&mut files);
        change(&mut files);
        if !matches!(*case, "no manifest" | "a file is missing") {
            listed_anew(&mut files);
        }
        let error = import(app.service(), &bob, &packed(&files)).await.expect_err(case).to_string();
        assert!(error.contains(told) && error.contains("othing was imported"), "{case}: {error}");
        nothing_was_written(&app, &bob).await;
    }
}

const LEFT_OUT: &[Case] = &[
    (
        "an unknown namespace",
        |files| {
            replace(
                files,
                "memories.jsonl",
                "\"namespace\":\"personal\",\"content\":\"Two",
                "\"namespace\":\"nowhere\",\"content\":\"Two",
            )
        },
        "namespace",
    ),
    ("NUL", |files| replace(files, "memories.jsonl", "Two 二.", "Two\\u0000"), "character"),
    ("a text that is too long", |files| replace(files, "memories.jsonl", "Two 二.", &"x".repeat(1_100_000)), "longer"),
    (
        "too many labels",
        |files| {
            replace(
                files,
                "memories.jsonl",
                "\"Two 二.\",\"tags\":[]",
                &format!("\"Two\",\"tags\":[{}\"x\"]", "\"x\",".repeat(40)),
            )
        },
        "labels",
    ),
    (
        "a role that is none",
        |files| replace(files, "messages.jsonl", "\"role\":\"user\"", &format!("\"role\":\"{}\"", "r".repeat(99))),
        "message",
    ),
    (
        "a form that is none",
        |files| replace(files, "sessions.jsonl", "\"form\":\"messages\"", "\"form\":\"film\""),
        "session",
    ),
    ("a digest that is none", |files| replace(files, "media.jsonl", "\"sha256\":\"", "\"sha256\":\"zz"), "file"),
    (
        "bytes from elsewhere",
        |files| replace(files, "media.jsonl", "\"file\":\"files/", "\"file\":\"../../etc/passwd/"),
        "bytes",
    ),
];

#[tokio::test]
async fn a_record_that_can_not_be_kept_is_left_out_and_the_rest_comes_in() {
    let app = TestApp::start().await;
    let archive = small(&app).await;
    let bob = person(&app, "bob").await;
    for (case, change, told) in LEFT_OUT {
        let mut files = unpacked(&archive);
        change(&mut files);
        listed_anew(&mut files);
        let report =
            import(app.service(), &bob, &packed(&files)).await.unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!(report.problems.len(), 1, "{case}: {report:?}");
        assert!(report.problems[0].reason.contains(told), "{case}: {report:?}");
        let there = [CountedKind::Memory, CountedKind::Session, CountedKind::Media]
            .map(|kind| count(&report, kind).added)
            .iter()
            .sum::<u64>();
        assert_eq!(there, 2, "{case}: {report:?}");
        erase(&app, &bob).await;
    }
}

#[tokio::test]
async fn files_made_to_harm_are_refused_or_harmless() {
    let app = TestApp::start().await;
    let archive = small(&app).await;
    let bob = person(&app, "bob").await;
    let service = app.service();

    // Names that lead elsewhere name nothing: nothing is ever unpacked under its name.
    let mut files = unpacked(&archive);
    files.insert("../../../tmp/polymnemo-was-here".into(), b"x".to_vec());
    files.insert("/etc/polymnemo-was-here".into(), b"x".to_vec());
    let report = import(service, &bob, &packed(&files)).await.unwrap();
    assert!(report.problems.is_empty());
    assert!(!std::path::Path::new("/tmp/polymnemo-was-here").exists());

    // A hundred thousand files more, and one that unpacks to very much.
    erase(&app, &bob).await;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (path, content) in unpacked(&archive) {
        zip.start_file(path, options).unwrap();
        std::io::Write::write_all(&mut zip, &content).unwrap();
    }
    for number in 0..100_000 {
        zip.start_file(format!("x/{number}"), options.compression_method(zip::CompressionMethod::Stored)).unwrap();
    }
    let many = zip.finish().unwrap().into_inner();
    let started = std::time::Instant::now();
    import(service, &bob, &many).await.unwrap();
    assert!(started.elapsed() < std::time::Duration::from_secs(20));

    erase(&app, &bob).await;
    let mut files = unpacked(&archive);
    let line = String::from_utf8(files["memories.jsonl"].clone()).unwrap();
    let line = line.lines().next().unwrap();
    let bomb = line.replace("\"tags\":[", &format!("\"padding\":\"{}\",\"tags\":[", "x".repeat(140 << 20)));
    files.insert("memories.jsonl".into(), format!("{bomb}\n").into_bytes());
    listed_anew(&mut files);
    let error = import(service, &bob, &packed(&files)).await.unwrap_err().to_string();
    assert!(error.contains("memories.jsonl"), "{error}");
    for junk in [&b""[..], b"PK", b"PK\x05\x06", &[0; 100], b"hello"] {
        let error = import(service, &bob, junk).await.unwrap_err();
        assert!(matches!(error, Error::Invalid(_)), "{error:?}");
    }
    // A list that claims to be very long.
    let mut claims = archive.clone();
    let end = claims.len() - 22;
    claims[end + 12..end + 16].copy_from_slice(&0xF000_0000_u32.to_le_bytes());
    assert!(matches!(import(service, &bob, &claims).await.unwrap_err(), Error::Invalid(_)));
    nothing_was_written(&app, &bob).await;
    app.database().await.execute_unprepared("select").await.unwrap();
}
