//! The thread on which the model works.

use std::{
    collections::VecDeque,
    ops::Range,
    sync::mpsc::{Receiver, TryRecvError},
};

use polymnemo_memory::Result;
use tokio::sync::oneshot;

use super::{
    backlog::{self, Backlog},
    network::{Network, Role},
    pieces,
};

/// Something to do for a caller.
pub(super) enum Job {
    /// Embed what someone looks for.
    Query(String, oneshot::Sender<Result<Vec<f32>>>),
    /// Count out the tokens of a text.
    Tokens(String, oneshot::Sender<Result<Vec<Range<usize>>>>),
    /// Embed passages.
    Passages(Vec<String>, backlog::Reply),
}

/// Someone is waiting for the answer, so these come before passages.
enum Urgent {
    Query { text: String, reply: oneshot::Sender<Result<Vec<f32>>> },
    Tokens { text: String, found: Vec<Range<usize>>, reply: oneshot::Sender<Result<Vec<Range<usize>>>>, start: usize },
}

/// Works until there is nobody left who could ask for anything.
///
/// A query waits for what is being done, at most one run of the network or one piece of a long text, but not for what
/// else is to be done.
pub(super) fn work(mut network: Network, inbox: &Receiver<Job>) {
    let mut urgent = VecDeque::new();
    let mut backlog = Backlog::default();
    loop {
        if urgent.is_empty() && backlog.is_empty() {
            let Ok(job) = inbox.recv() else { return };
            sort_in(job, &mut urgent, &mut backlog);
        }
        loop {
            match inbox.try_recv() {
                Ok(job) => sort_in(job, &mut urgent, &mut backlog),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
        if let Some(next) = urgent.pop_front() {
            urgent.extend(advance(&mut network, next));
        } else {
            let run = backlog.next_run(|text| network.measure(Role::Passage, text));
            if !run.is_empty() {
                let outcome = network.embed(Role::Passage, &run);
                backlog.finish_run(run, outcome);
            }
        }
    }
}

fn sort_in(job: Job, urgent: &mut VecDeque<Urgent>, backlog: &mut Backlog) {
    match job {
        Job::Query(text, reply) => urgent.push_back(Urgent::Query { text, reply }),
        Job::Tokens(text, reply) => urgent.push_back(Urgent::Tokens { text, found: Vec::new(), start: 0, reply }),
        Job::Passages(texts, reply) => backlog.add(texts, reply),
    }
}

/// Does an urgent job, or one piece of a long one; then the rest is given back.
fn advance(network: &mut Network, job: Urgent) -> Option<Urgent> {
    match job {
        Urgent::Query { reply, .. } if reply.is_closed() => None,
        Urgent::Tokens { reply, .. } if reply.is_closed() => None,
        Urgent::Query { text, reply } => {
            let vector = network
                .measure(Role::Query, &text)
                .and_then(|_| network.embed(Role::Query, &[text]))
                .map(|vectors| vectors.into_iter().next().unwrap_or_default());
            // Nobody to tell where the caller has gone meanwhile; here and below.
            let _ = reply.send(vector);
            None
        }
        Urgent::Tokens { text, mut found, start, reply } => {
            let piece = pieces::piece(&text, start);
            match network.tokens(text.get(piece.clone()).unwrap_or_default()) {
                Err(error) => {
                    let _ = reply.send(Err(error));
                    return None;
                }
                Ok(tokens) => found.extend(tokens.into_iter().map(|token| start + token.start..start + token.end)),
            }
            if piece.end < text.len() {
                return Some(Urgent::Tokens { text, found, start: piece.end, reply });
            }
            let _ = reply.send(Ok(found));
            None
        }
    }
}
