//! An embedder that runs a model on this machine, with fastembed and ONNX Runtime.
//!
//! [`FastEmbedder`] keeps the model on a thread of its own and gives it work through a channel: no request
//! ever computes on the threads that serve everyone, and no request loads the model a second time. Queries and the
//! counting of tokens come before passages; passages of all requests together are put into small runs of nearly
//! equal length.

mod backlog;
mod manifest;
mod network;
mod pieces;
mod worker;

use std::{
    collections::VecDeque,
    fmt,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

use async_trait::async_trait;
use polymnemo_memory::{
    Error, Result,
    ports::{Embedder, Model},
};
use polymnemo_types::EmbedderStatus;
use tokio::sync::{Semaphore, oneshot, watch};

use self::{manifest::Manifest, network::Network, worker::Job};

/// How many requests may be with the worker at a time; further ones wait outside, where they take no memory of ours.
const REQUESTS: usize = 256;

/// How many queries are remembered with their vectors: turning the page repeats the query.
const REMEMBERED_QUERIES: usize = 128;

/// An embedder that runs a model on this machine.
pub struct FastEmbedder {
    model: Model,
    status: watch::Receiver<EmbedderStatus>,
    requests: Semaphore,
    /// The last queries and their vectors, the latest first.
    queries: Mutex<VecDeque<(String, Vec<f32>)>>,
    /// Taken only when this is dropped, so that the worker sees that nobody is left.
    jobs: Option<mpsc::Sender<Job>>,
    /// Tells the worker to stop loading.
    unwanted: Arc<AtomicBool>,
    worker: Option<thread::JoinHandle<()>>,
}

impl fmt::Debug for FastEmbedder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FastEmbedder")
            .field("model", &self.model)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl FastEmbedder {
    /// Opens the model in a directory: `manifest.json` is read at once, everything else in the background.
    ///
    /// `onnxruntime_library` is the shared library of ONNX Runtime, 1.24 or newer. A process loads only one: later
    /// calls use the library of the first that succeeded.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] where the manifest is missing or wrong. What is wrong with the other files shows
    /// in [`Embedder::status`] and in the outcome of [`Embedder::ready`].
    pub fn open(model_dir: &Path, onnxruntime_library: &Path) -> Result<Arc<Self>> {
        let manifest = Manifest::read(model_dir)?;
        let model = manifest.model();
        let (status_sender, status) = watch::channel(EmbedderStatus::Loading);
        let (jobs, inbox) = mpsc::channel();
        let (directory, library) = (model_dir.to_owned(), onnxruntime_library.to_owned());
        let id = model.id.clone();
        let unwanted = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&unwanted);
        let worker = thread::Builder::new()
            .name("embedder".into())
            .spawn(move || {
                let started = std::time::Instant::now();
                // What the worker held, its reply channels among them, is dropped when it panics: nothing is seen half-done.
                let outcome = catch_unwind(AssertUnwindSafe(|| {
                    let network = Network::load(&directory, &manifest, &library, &stop)?;
                    tracing::info!(
                        model.id = id,
                        elapsed.milliseconds = started.elapsed().as_millis(),
                        "the model is loaded"
                    );
                    status_sender.send_replace(EmbedderStatus::Ready);
                    worker::work(network, &inbox);
                    Ok(())
                }));
                let failure = match outcome {
                    Ok(Ok(())) => return,
                    _ if stop.load(Ordering::Relaxed) => return,
                    Ok(Err(Error::Model(reason))) => reason,
                    Ok(Err(other)) => other.to_string(),
                    Err(_) => STOPPED.to_owned(),
                };
                tracing::error!(model.id = id, reason = failure, "the embedding model does not work");
                status_sender.send_replace(EmbedderStatus::Failed(failure));
            })
            .map_err(|error| Error::Model(format!("no thread can be started for it ({error})")))?;
        Ok(Arc::new(Self {
            model,
            status,
            requests: Semaphore::new(REQUESTS),
            queries: Mutex::default(),
            jobs: Some(jobs),
            unwanted,
            worker: Some(worker),
        }))
    }

    /// Has the worker do something, as soon as the model is loaded and there is room for the request.
    async fn ask<T>(&self, job: impl FnOnce(oneshot::Sender<Result<T>>) -> Job) -> Result<T> {
        self.ready().await?;
        let stopped = || Error::Model(STOPPED.to_owned());
        let _permit = self.requests.acquire().await.map_err(|_| stopped())?;
        let (reply, answer) = oneshot::channel();
        self.jobs.as_ref().and_then(|jobs| jobs.send(job(reply)).ok()).ok_or_else(stopped)?;
        answer.await.map_err(|_| stopped())?
    }

    /// The vector of a query that was asked lately.
    fn remembered(&self, text: &str) -> Option<Vec<f32>> {
        let mut queries = self.queries.lock().unwrap_or_else(PoisonError::into_inner);
        let place = queries.iter().position(|(query, _)| query == text)?;
        let found = queries.remove(place)?;
        let vector = found.1.clone();
        queries.push_front(found);
        Some(vector)
    }

    fn remember(&self, text: &str, vector: &[f32]) {
        let mut queries = self.queries.lock().unwrap_or_else(PoisonError::into_inner);
        queries.push_front((text.to_owned(), vector.to_owned()));
        queries.truncate(REMEMBERED_QUERIES);
    }
}

const STOPPED: &str = "it broke down; the server's log tells more. Restart the server";

impl Drop for FastEmbedder {
    /// Waits for the worker, for at most one run of the network or one step of loading the model: ONNX Runtime must not be
    /// in the middle of something when the process ends.
    fn drop(&mut self) {
        self.unwanted.store(true, Ordering::Relaxed);
        self.jobs = None;
        if let Some(worker) = self.worker.take() {
            // Panics of the worker are caught and logged on its own thread.
            let _ = worker.join();
        }
    }
}

#[async_trait]
impl Embedder for FastEmbedder {
    fn model(&self) -> &Model {
        &self.model
    }

    fn status(&self) -> EmbedderStatus {
        self.status.borrow().clone()
    }

    async fn ready(&self) -> Result<()> {
        let mut status = self.status.clone();
        // The sender lives in the worker, which says how it ended.
        match status.wait_for(|status| *status != EmbedderStatus::Loading).await.as_deref() {
            Ok(EmbedderStatus::Failed(reason)) => Err(Error::Model(reason.clone())),
            Ok(_) => Ok(()),
            Err(_) => Err(Error::Model(STOPPED.to_owned())),
        }
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        if let Some(vector) = self.remembered(text) {
            return Ok(vector);
        }
        let vector = self.ask(|reply| Job::Query(text.to_owned(), reply)).await?;
        self.remember(text, &vector);
        Ok(vector)
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        self.ask(|reply| Job::Passages(texts, reply)).await
    }

    async fn embed_when_idle(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        self.ask(|reply| Job::WhenIdle(texts, reply)).await
    }

    async fn tokens(&self, text: &str) -> Result<Vec<Range<usize>>> {
        self.ask(|reply| Job::Tokens(text.to_owned(), reply)).await
    }
}
