//! Logs: one event a line on standard error, for a person or as JSON.

use std::io::IsTerminal;

use tracing::{Level, Metadata};
use tracing_subscriber::{
    EnvFilter, Layer,
    filter::{FilterExt, LevelFilter, filter_fn},
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

use crate::config::{LogConfig, LogFormat};

/// Libraries that log what users store, or whole statements, below these levels. The filter from
/// the settings can make them quieter, never louder: whoever turns on `debug` to look for a fault
/// does not ask for everyone's memories in the log.
const CAPS: &[(&str, Level)] = &[
    ("rmcp", Level::WARN),
    // A burst of requests waits for connections; a warning for each would only make it worse.
    ("sqlx::pool", Level::ERROR),
    ("sqlx", Level::WARN),
    ("sea_orm", Level::WARN),
    ("sea_orm_migration", Level::WARN),
    ("hyper", Level::INFO),
    // They speak of every cookie that is too old, and wrap each line of a request into spans of their own.
    ("axum_login", Level::WARN),
    ("tower_sessions", Level::WARN),
    ("tower_sessions_core", Level::ERROR),
    ("h2", Level::INFO),
];

/// Starts logging. Only the first call in a process has an effect.
pub(crate) fn init(config: &LogConfig) {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).parse_lossy(&config.filter);
    let filter = filter.and(filter_fn(within_caps));
    let to_terminal = std::io::stderr().is_terminal();
    let format = config.format.unwrap_or(if to_terminal { LogFormat::Human } else { LogFormat::Json });
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = match format {
        LogFormat::Human => lines.with_ansi(to_terminal).boxed(),
        // All spans, not only the innermost: a line must carry the id of its request wherever in the
        // code it is written.
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).with_span_list(true).boxed(),
    };
    if tracing_subscriber::registry().with(lines.with_filter(filter)).try_init().is_ok() {
        log_panics();
    }
}

fn within_caps(metadata: &Metadata<'_>) -> bool {
    let is_of = |library: &str| {
        metadata.target().strip_prefix(library).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    CAPS.iter().find(|(library, _)| is_of(library)).is_none_or(|(_, most)| metadata.level() <= most)
}

/// A panic is an event like any other, so that a log of JSON stays one and the request's id is with it.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.payload_as_str().unwrap_or("without a message");
        let place = panic.location().map(ToString::to_string);
        tracing::error!(panic.message = message, panic.place = place, "a task panicked");
    }));
}
