use std::process::Command;

use reqwest::StatusCode;
use serde_json::json;

use crate::media::world::{World, announcement, bytes};

/// Names that a shell, a header, a path or an editor takes for something else.
const NAMES: [&str; 9] = [
    "年报 2026 终稿.pdf",
    "it's \"quoted\".txt",
    "line\nbreak\r.txt",
    "../../etc/passwd",
    "-o output",
    "$(touch pwned) `id` & ; | > x",
    "{a,b}[1-3]*?.txt",
    "50% {x}\\n.bin",
    "🫖\u{202E}gpj.exe",
];

async fn names_are_kept_and_the_printed_line_works(world: &World) {
    let alice = world.app.mcp("alice");
    for (place, name) in NAMES.into_iter().enumerate() {
        let sent = bytes(1000 + place);
        let announced = alice.call("create_upload", announcement(name, &sent)).await;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name.rsplit('/').next().unwrap()), &sent).unwrap();
        let line = announced["curl"].as_str().unwrap();
        let run = Command::new("sh").arg("-c").arg(line).current_dir(folder.path()).output().unwrap();
        assert!(run.status.success(), "{name:?}: {line}\n{}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{name:?}: the line did something else, too");
        let confirmed = alice.call("confirm_upload", json!({ "id": announced["id"] })).await;
        assert_eq!(confirmed["file"]["filename"], name);

        let id = announced["id"].as_str().unwrap();
        let url = alice.call("get_download_url", json!({ "id": id })).await["url"].as_str().unwrap().to_owned();
        let response = world.app.client().get(url).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{name:?}");
        let disposition = response.headers()["content-disposition"].to_str().unwrap().to_owned();
        assert!(disposition.starts_with("attachment; filename=\""), "{disposition}");
        assert!(!disposition.contains('/') && !disposition.contains('\n'), "{disposition}");
        assert!(response.bytes().await.unwrap() == sent, "{name:?}");
    }
    assert_eq!(world.count(&alice).await, NAMES.len() as u64);
}

#[tokio::test]
async fn names_are_kept_and_the_printed_line_works_with_the_directory() {
    names_are_kept_and_the_printed_line_works(&World::local().await).await;
}

#[tokio::test]
async fn names_are_kept_and_the_printed_line_works_with_s3() {
    names_are_kept_and_the_printed_line_works(&World::s3().await).await;
}
