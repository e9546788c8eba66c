//! Sends one part of a file to the storage.
//!
//! By `XMLHttpRequest`, because `fetch` does not tell how much of a body has been sent.

use std::rc::Rc;

use futures::channel::oneshot;
use leptos::{
    prelude::set_timeout,
    wasm_bindgen::{JsCast as _, closure::Closure},
    web_sys::{Blob, ProgressEvent, XmlHttpRequest},
};

use crate::api::media::Part;

/// The slowest connection that is waited for, in bytes a millisecond.
const SLOWEST: u64 = 14;
/// The least time that is waited, in milliseconds.
const PATIENCE: u64 = 60_000;

/// Why a part did not arrive.
pub(super) enum Loss {
    /// The connection broke.
    Connection,
    /// The storage answered with this status.
    Refused(u16),
}

/// A request on its way. Dropping it does not end it.
pub(super) struct Sending {
    request: XmlHttpRequest,
    outcome: oneshot::Receiver<Result<(), Loss>>,
    /// What listens to the request; it must outlive that.
    _listeners: [Closure<dyn FnMut(ProgressEvent)>; 2],
}

impl Sending {
    /// Begins to send the part. `on_progress` is told how many bytes of it have been sent.
    pub(super) fn begin(part: &Part, bytes: &Blob, on_progress: impl Fn(f64) + 'static) -> Option<Self> {
        let request = XmlHttpRequest::new().ok()?;
        request.open(&part.method, &part.url).ok()?;
        request.set_timeout(u32::try_from(PATIENCE + part.size / SLOWEST).unwrap_or(u32::MAX));
        for (name, value) in &part.headers {
            request.set_request_header(name, value).ok()?;
        }
        let progress =
            Closure::<dyn FnMut(ProgressEvent)>::new(move |event: ProgressEvent| on_progress(event.loaded()));
        if let Ok(upload) = request.upload() {
            upload.set_onprogress(Some(progress.as_ref().unchecked_ref()));
        }
        let (send, outcome) = oneshot::channel();
        let (ended, mut send) = (request.clone(), Some(send));
        // It comes once, whatever became of the request; without an answer the status is 0.
        let end = Closure::<dyn FnMut(ProgressEvent)>::new(move |_| {
            let outcome = match ended.status().unwrap_or_default() {
                200..300 => Ok(()),
                0 => Err(Loss::Connection),
                status => Err(Loss::Refused(status)),
            };
            if let Some(send) = send.take() {
                let _ = send.send(outcome);
            }
        });
        request.set_onloadend(Some(end.as_ref().unchecked_ref()));
        request.send_with_opt_blob(Some(bytes)).ok()?;
        Some(Self { request, outcome, _listeners: [progress, end] })
    }

    /// What ends it at once.
    pub(super) fn stop(&self) -> Rc<dyn Fn()> {
        let request = self.request.clone();
        Rc::new(move || {
            // One that is over can't be ended, and need not be.
            let _ = request.abort();
        })
    }

    /// Waits for the end.
    pub(super) async fn end(&mut self) -> Result<(), Loss> {
        (&mut self.outcome).await.unwrap_or(Err(Loss::Connection))
    }
}

/// Waits a while.
pub(super) async fn pause(duration: std::time::Duration) {
    let (send, over) = oneshot::channel();
    set_timeout(
        move || {
            let _ = send.send(());
        },
        duration,
    );
    let _ = over.await;
}
