//! Files as large as people have them.

use std::{io::Write, ops::ControlFlow, time::Instant};

use polymnemo_imports::{Input, Item};
use serde_json::json;

use crate::common::{chatgpt, says};

/// Run it by itself, optimised: `cargo test --release -p polymnemo-imports --test reading -- --ignored --nocapture`.
#[test]
#[ignore = "it writes a gigabyte"]
fn a_gigabyte_is_read_in_little_memory() {
    const CONVERSATIONS: usize = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("conversations.json");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    file.write_all(b"[").unwrap();
    for number in 0..CONVERSATIONS {
        let nodes: Vec<(String, Option<String>, serde_json::Value)> = (0..100)
            .map(|message: usize| {
                let parent = message.checked_sub(1).map(|parent| parent.to_string());
                (message.to_string(), parent, says("user", &"what is said at some length, ".repeat(30)))
            })
            .collect();
        let nodes: Vec<_> =
            nodes.iter().map(|(id, parent, message)| (id.as_str(), parent.as_deref(), message.clone())).collect();
        let separator = if number == 0 { "" } else { "," };
        write!(file, "{separator}{}", chatgpt(&number.to_string(), "99", &nodes)).unwrap();
    }
    file.write_all(b"]").unwrap();
    file.into_inner().unwrap();

    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned();
        line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).unwrap_or_default() / 1024
    };
    let before = peak();
    let start = Instant::now();
    let input = Input::open(&[path]).unwrap();
    let mut count = 0;
    input
        .read(&mut |found| {
            count += usize::from(matches!(found.item, Item::Conversation(_)));
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(count, CONVERSATIONS);
    let megabytes = input.total_bytes() / 1_000_000;
    let took = start.elapsed();
    println!(
        "{}",
        json!({"megabytes": megabytes, "seconds": took.as_secs_f64(), "peak_before": before, "peak": peak()})
    );
    assert!(peak() < before + 100, "{} MB", peak());
}
