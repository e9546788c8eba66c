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
    /// Embed passages that someone waits for.
    Passages(Vec<String>, backlog::Reply),
    /// Embed passages that nobody waits for.
    WhenIdle(Vec<String>, backlog::Reply),
}

/// Someone is waiting for the answer, so these come before passages.
enum Urgent {
    Query { text: String, reply: oneshot::Sender<Result<Vec<f32>>> },
    Tokens { text: String, found: Vec<Range<usize>>, reply: oneshot::Sender<Result<Vec<Range<usize>>>>, start: usize },
}

/// Works until there is nobody left who could ask for anything.
///
/// A query waits for what is being done, at most one run of the network or one piece of a long text, but not for what
/// else is to be done. Passages wait for those that were there before them, but hardly for those that nobody waits for.
pub(super) fn work(mut network: Network, inbox: &Receiver<Job>) {
    let mut urgent = VecDeque::new();
    let mut backlogs = Backlogs::default();
    loop {
        if urgent.is_empty() && backlogs.are_empty() {
            let Ok(job) = inbox.recv() else { return };
            sort_in(job, &mut urgent, &mut backlogs);
        }
        loop {
            match inbox.try_recv() {
                Ok(job) => sort_in(job, &mut urgent, &mut backlogs),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
        if let Some(next) = urgent.pop_front() {
            urgent.extend(advance(&mut network, next));
        } else {
            let backlog = backlogs.next();
            let run = backlog.next_run(|text| network.measure(Role::Passage, text));
            if !run.is_empty() {
                let outcome = network.embed(Role::Passage, &run);
                backlog.finish_run(run, outcome);
            }
        }
    }
}

/// One run in so many is for passages that nobody waits for, however many others there are: they must not wait for ever.
const IDLE_TURN: u32 = 16;

/// The passages that wait, by whether someone waits for them.
#[derive(Default)]
struct Backlogs {
    awaited: Backlog,
    idle: Backlog,
    turn: u32,
}

impl Backlogs {
    fn are_empty(&self) -> bool {
        self.awaited.is_empty() && self.idle.is_empty()
    }

    /// The one whose turn it is.
    fn next(&mut self) -> &mut Backlog {
        self.turn = self.turn.wrapping_add(1);
        let is_idle_turn = self.turn.is_multiple_of(IDLE_TURN) && !self.idle.is_empty();
        if self.awaited.is_empty() || is_idle_turn { &mut self.idle } else { &mut self.awaited }
    }
}

fn sort_in(job: Job, urgent: &mut VecDeque<Urgent>, backlogs: &mut Backlogs) {
    match job {
        Job::Query(text, reply) => urgent.push_back(Urgent::Query { text, reply }),
        Job::Tokens(text, reply) => urgent.push_back(Urgent::Tokens { text, found: Vec::new(), start: 0, reply }),
        Job::Passages(texts, reply) => backlogs.awaited.add(texts, reply),
        Job::WhenIdle(texts, reply) => backlogs.idle.add(texts, reply),
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
