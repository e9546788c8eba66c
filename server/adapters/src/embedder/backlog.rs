//! The passages that wait to be embedded, of all requests together.
//!
//! Each run of the network takes the passage that has waited longest, and with it others of nearly the
//! same length: all passages of a run are padded to the longest, so unequal ones would waste time. Runs
//! are small. That costs no throughput, keeps memory flat, and a query never waits long for its turn.

use std::collections::{HashMap, VecDeque};

use polymnemo_memory::{Error, Result};
use tokio::sync::oneshot;

/// The most tokens in a run of the network, padding included, unless a single passage has more.
const RUN_TOKENS: usize = 256;

/// The most passages in a run.
const RUN_PASSAGES: usize = 8;

/// What a run takes beside the time for its tokens, as a number of tokens: a passage that would be padded with more, or
/// would have others padded, is better off in a run of its own. Measured on two cores.
const RUN_COST: usize = 16;

/// How many passages are looked through for ones of the same length.
const WINDOW: usize = 128;

/// How many passages are measured before each run: more than a run takes, so the window fills up.
const MEASURED_AT_ONCE: usize = 2 * RUN_PASSAGES;

/// Where the vectors of a request go.
pub(super) type Reply = oneshot::Sender<Result<Vec<Vec<f32>>>>;

/// The passages that wait.
#[derive(Default)]
pub(super) struct Backlog {
    requests: HashMap<u64, Request>,
    last_request: u64,
    /// Not measured yet, the oldest first.
    arrived: VecDeque<Arrived>,
    /// Measured, the oldest first.
    window: VecDeque<Passage>,
}

/// The passages of one caller.
struct Request {
    vectors: Vec<Vec<f32>>,
    missing: usize,
    reply: Reply,
}

struct Arrived {
    request: u64,
    place: usize,
    text: String,
}

/// A passage that is about to be embedded.
pub(super) struct Passage {
    request: u64,
    /// Its place among the passages of its request.
    place: usize,
    /// Its length in tokens.
    tokens: usize,
    /// Its text.
    pub(super) text: String,
}

impl AsRef<str> for Passage {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl Backlog {
    /// Takes a request.
    pub(super) fn add(&mut self, texts: Vec<String>, reply: Reply) {
        if texts.is_empty() {
            // Nobody to tell where the caller has gone.
            let _ = reply.send(Ok(Vec::new()));
            return;
        }
        self.last_request += 1;
        let request = self.last_request;
        self.requests.insert(request, Request { vectors: vec![Vec::new(); texts.len()], missing: texts.len(), reply });
        self.arrived.extend(texts.into_iter().enumerate().map(|(place, text)| Arrived { request, place, text }));
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.arrived.is_empty() && self.window.is_empty()
    }

    /// The passages for the next run of the network; none where nothing waits any more.
    ///
    /// `measure` counts the tokens of a text, or says why it can't be embedded; then its request fails.
    pub(super) fn next_run(&mut self, mut measure: impl FnMut(&str) -> Result<usize>) -> Vec<Passage> {
        self.requests.retain(|_, request| !request.reply.is_closed());
        self.window.retain(|passage| self.requests.contains_key(&passage.request));
        let mut measured = 0;
        while self.window.len() < WINDOW && measured < MEASURED_AT_ONCE {
            let Some(Arrived { request, place, text }) = self.arrived.pop_front() else { break };
            if !self.requests.contains_key(&request) {
                continue;
            }
            measured += 1;
            match measure(&text) {
                Ok(tokens) => self.window.push_back(Passage { request, place, tokens, text }),
                Err(error) => self.fail(request, error),
            }
        }

        let Some(oldest) = self.window.front().map(|passage| passage.tokens) else { return Vec::new() };
        let mut longest = oldest;
        let mut chosen = vec![0];
        let mut others: Vec<(usize, usize)> = self
            .window
            .iter()
            .enumerate()
            .skip(1)
            .map(|(place, passage)| (passage.tokens.abs_diff(oldest), place))
            .filter(|(difference, _)| *difference <= RUN_COST)
            .collect();
        others.sort_unstable();
        for (_, place) in others {
            let tokens = self.window.get(place).map_or(0, |passage| passage.tokens);
            let (before, after) = (chosen.len() * longest, (chosen.len() + 1) * longest.max(tokens));
            let has_room = chosen.len() < RUN_PASSAGES && after <= RUN_TOKENS;
            if has_room && after - before - tokens <= RUN_COST {
                longest = longest.max(tokens);
                chosen.push(place);
            }
        }
        // From the back, so that the places of the others stay right.
        chosen.sort_unstable_by(|left, right| right.cmp(left));
        chosen.into_iter().filter_map(|place| self.window.remove(place)).collect()
    }

    /// Takes the outcome of a run, and answers the requests that are complete by it.
    pub(super) fn finish_run(&mut self, run: Vec<Passage>, outcome: Result<Vec<Vec<f32>>>) {
        match outcome {
            Ok(vectors) => {
                for (passage, vector) in run.into_iter().zip(vectors) {
                    self.put(passage.request, passage.place, vector);
                }
            }
            Err(error) => {
                let reason = match error {
                    Error::Model(reason) => reason,
                    other => other.to_string(),
                };
                for passage in run {
                    self.fail(passage.request, Error::Model(reason.clone()));
                }
            }
        }
    }

    fn put(&mut self, request: u64, place: usize, vector: Vec<f32>) {
        let Some(found) = self.requests.get_mut(&request) else { return };
        if let Some(slot) = found.vectors.get_mut(place) {
            *slot = vector;
            found.missing -= 1;
        }
        if found.missing == 0
            && let Some(request) = self.requests.remove(&request)
        {
            let _ = request.reply.send(Ok(request.vectors));
        }
    }

    /// Fails a request; its other passages are passed over when their turn comes.
    fn fail(&mut self, request: u64, error: Error) {
        if let Some(request) = self.requests.remove(&request) {
            let _ = request.reply.send(Err(error));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts here are measured by their letters, and their vectors hold their first letter's number.
    fn measure(text: &str) -> Result<usize> {
        if text.len() > 512 { Err(Error::Model("too long".into())) } else { Ok(text.len()) }
    }

    fn run(backlog: &mut Backlog) -> Vec<String> {
        let run = backlog.next_run(measure);
        let texts: Vec<String> = run.iter().map(|passage| passage.text.clone()).collect();
        let vectors = texts.iter().map(|text| vec![text.len() as f32]).collect();
        backlog.finish_run(run, Ok(vectors));
        texts
    }

    fn request(backlog: &mut Backlog, lengths: &[usize]) -> oneshot::Receiver<Result<Vec<Vec<f32>>>> {
        let (reply, answer) = oneshot::channel();
        backlog.add(lengths.iter().map(|length| "x".repeat(*length)).collect(), reply);
        answer
    }

    #[test]
    fn vectors_come_back_in_the_order_of_the_texts_whatever_the_runs() {
        let lengths: Vec<usize> = (0..500).map(|number| 1 + number * 37 % 300).collect();
        let mut backlog = Backlog::default();
        let mut answer = request(&mut backlog, &lengths);
        while !backlog.is_empty() {
            let texts = run(&mut backlog);
            let longest = texts.iter().map(String::len).max().unwrap_or_default();
            assert!(texts.len() == 1 || texts.len() * longest <= RUN_TOKENS, "{} of {longest}", texts.len());
            assert!(texts.len() <= RUN_PASSAGES);
        }
        let vectors = answer.try_recv().expect("an answer").expect("vectors");
        let expected: Vec<Vec<f32>> = lengths.iter().map(|length| vec![*length as f32]).collect();
        assert_eq!(vectors, expected);
    }

    #[test]
    fn passages_of_several_requests_share_a_run_and_the_oldest_goes_first() {
        let mut backlog = Backlog::default();
        let mut first = request(&mut backlog, &[200]);
        let mut second = request(&mut backlog, &[30, 200]);
        let mut third = request(&mut backlog, &[31]);
        assert_eq!(run(&mut backlog).iter().map(String::len).collect::<Vec<_>>(), [200]);
        assert!(first.try_recv().is_ok());
        let mut lengths: Vec<usize> = run(&mut backlog).iter().map(String::len).collect();
        lengths.sort_unstable();
        assert_eq!(lengths, [30, 31]);
        assert!(third.try_recv().is_ok());
        assert!(second.try_recv().is_err());
        run(&mut backlog);
        assert_eq!(second.try_recv().expect("an answer").expect("vectors"), [vec![30.0], vec![200.0]]);
        assert!(backlog.is_empty());
    }

    #[test]
    fn a_run_takes_in_what_is_padded_by_less_than_another_run_would_cost() {
        for (lengths, runs) in [
            (&[10, 26][..], &[&[10, 26][..]][..]),
            (&[10, 27], &[&[10], &[27]]),
            // The longer one would have each of the others padded.
            (&[20, 20, 20, 20, 25], &[&[20, 20, 20, 20], &[25]]),
            // Too long for the run, but a shorter one is not.
            (&[30, 30, 30, 30, 30, 30, 30, 36, 23], &[&[23, 30, 30, 30, 30, 30, 30, 30], &[36]]),
        ] {
            let mut backlog = Backlog::default();
            let _answer = request(&mut backlog, lengths);
            let mut found: Vec<Vec<usize>> = Vec::new();
            while !backlog.is_empty() {
                found.push(run(&mut backlog).iter().map(String::len).collect());
            }
            found.iter_mut().for_each(|run| run.sort_unstable());
            assert_eq!(found, runs, "{lengths:?}");
        }
    }

    #[test]
    fn one_bad_text_fails_its_request_and_no_other() {
        let mut backlog = Backlog::default();
        let mut bad = request(&mut backlog, &[10, 600, 10]);
        let mut good = request(&mut backlog, &[11]);
        while !backlog.is_empty() {
            run(&mut backlog);
        }
        assert!(bad.try_recv().expect("an answer").is_err());
        assert_eq!(good.try_recv().expect("an answer").expect("vectors"), [vec![11.0]]);
    }

    #[test]
    fn nothing_is_done_for_callers_who_have_gone() {
        let mut backlog = Backlog::default();
        drop(request(&mut backlog, &[10; 400]));
        let mut patient = request(&mut backlog, &[12]);
        assert_eq!(run(&mut backlog), ["x".repeat(12)]);
        assert!(patient.try_recv().is_ok());
    }

    #[test]
    fn a_failed_run_fails_its_requests() {
        let mut backlog = Backlog::default();
        let mut answer = request(&mut backlog, &[10]);
        let run = backlog.next_run(measure);
        backlog.finish_run(run, Err(Error::Model("it broke".into())));
        assert!(answer.try_recv().expect("an answer").is_err());
    }

    #[test]
    fn a_request_for_nothing_is_answered_at_once() {
        let mut backlog = Backlog::default();
        let mut answer = request(&mut backlog, &[]);
        assert!(answer.try_recv().expect("an answer").expect("vectors").is_empty());
        assert!(backlog.is_empty());
    }
}
