//! The stand-in for GitHub that the tests use, as a program, for sign-in in a real browser.
//!
//! `cargo run --example github -- PORT [LOGIN [ID]]` serves until it is ended; LOGIN, `octocat` when
//! not given, is who is signed in there and always consents. The server under test needs
//! `POLYMNEMO_GITHUB_URL=http://127.0.0.1:PORT` and the id and secret that this prints.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "it is a tool of the tests")]

#[expect(dead_code, unreachable_pub, reason = "the tests use the rest")]
#[path = "../tests/suite/support/github.rs"]
mod github;

use github::{CLIENT_ID, CLIENT_SECRET, GitHub};

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().map_or(0, |port| port.parse().unwrap());
    let login = arguments.next().unwrap_or_else(|| "octocat".to_owned());
    let id = arguments.next().map_or(583_231, |id| id.parse().unwrap());
    let github = GitHub::start_at(port).await;
    github.person(id, &login);
    println!("POLYMNEMO_GITHUB_URL={}", github.url());
    println!("POLYMNEMO_GITHUB_CLIENT_ID={CLIENT_ID}");
    println!("POLYMNEMO_GITHUB_CLIENT_SECRET={CLIENT_SECRET}");
    std::future::pending::<()>().await;
}
