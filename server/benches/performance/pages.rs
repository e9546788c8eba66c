//! Pages of the web app, as the server makes them for someone who is signed in.

use std::time::{Duration, Instant};

use reqwest::{Client, StatusCode, Url, header, redirect::Policy};
use serde_json::json;

use crate::{
    app::App,
    embedders::TimedEmbedder,
    queries::{Class, Queries},
    sample::Sample,
    setup::Failure,
    table::Table,
};

/// Visits that are not counted, so that every cache is warm.
const WARM_UP: usize = 3;

/// A browser that is signed in, as far as the server can tell.
struct Visitor {
    http: Client,
    base: String,
    cookie: String,
}

impl Visitor {
    async fn sign_in(app: &App) -> Result<Self, Failure> {
        let http = Client::builder().redirect(Policy::none()).build()?;
        let response = http.get(app.sign_in_link().await?).send().await?;
        let cookies = response.headers().get_all(header::SET_COOKIE).iter().filter_map(|cookie| cookie.to_str().ok());
        let cookie = cookies.filter_map(|cookie| cookie.split(';').next()).collect::<Vec<_>>().join("; ");
        if response.status() != StatusCode::SEE_OTHER || cookie.is_empty() {
            return Err(format!("the sign-in link answers {}", response.status()).into());
        }
        Ok(Self { http, base: app.base(), cookie })
    }

    /// Visits a path; gives what it answers, and the time until all of it had arrived.
    async fn visit(&self, path: &str, query: &[(&str, &str)]) -> Result<(String, Duration), Failure> {
        let url = Url::parse_with_params(&format!("{}{path}", self.base), query)?;
        // A server function answers whoever reads pages with a redirect.
        let accept = if path.starts_with("/api/") { "application/json" } else { "text/html" };
        let request = self.http.get(url).header(header::COOKIE, &self.cookie).header(header::ACCEPT, accept);
        let started = Instant::now();
        let response = request.send().await?;
        let status = response.status();
        let text = response.text().await?;
        let elapsed = started.elapsed();
        if status != StatusCode::OK {
            return Err(format!("{path}: {status}, {text}").into());
        }
        Ok((text, elapsed))
    }
}

pub(crate) async fn measure(
    app: &App,
    embedder: &TimedEmbedder,
    mut queries: Queries<'_>,
    size: u32,
    number: usize,
) -> Result<(), Failure> {
    let visitor = Visitor::sign_in(app).await?;
    let listed = app.client().call("list_memories", json!({ "limit": 50 })).await?;
    let ids: Vec<&str> =
        listed["items"].as_array().into_iter().flatten().filter_map(|memory| memory["id"].as_str()).collect();
    let (mut list, mut detail) = (Sample::default(), Sample::default());
    let (mut page, mut typed, mut embedding) = (Sample::default(), Sample::default(), Sample::default());
    for (round, id) in ids.iter().cycle().take(number + WARM_UP).enumerate() {
        let (_, listing) = visitor.visit("/memories", &[]).await?;
        let (_, reading) = visitor.visit(&format!("/memories/{id}"), &[]).await?;
        let question = queries.next(Class::ALL[round % 4]);
        let text = question["query"].as_str().unwrap_or_default();
        let (_, searching) = visitor.visit("/memories", &[("q", text)]).await?;
        let question = queries.next(Class::ALL[round % 4]);
        let text = question["query"].as_str().unwrap_or_default();
        embedder.take_time();
        let (_, typing) = visitor.visit("/api/find_memories", &[("selection[q]", text)]).await?;
        let embedded = embedder.take_time();
        if round >= WARM_UP {
            list.push(listing);
            detail.push(reading);
            page.push(searching);
            typed.push(typing);
            embedding.push(embedded);
        }
    }
    let mut table = Table::new(["pages, ms", "visits", "p50", "p95", "p99"]);
    for (name, sample) in [
        ("/memories", list),
        ("/memories/{id}", detail),
        ("/memories?q=, as a page", page),
        ("the same as it is typed", typed),
        ("of which embedding", embedding),
    ] {
        table.row([name.to_owned(), sample.len().to_string()].into_iter().chain(sample.columns()));
    }
    println!("{size} memories of one user\n\n{table}");
    Ok(())
}
