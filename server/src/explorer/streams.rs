//! Answers that are sent piece by piece: what changes, as it does; and exports.

use std::convert::Infallible;
use std::io::{self, BufWriter, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame};
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Export, RecordId};
use serde_json::{Map, Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use super::answers;
use crate::exit::{Failure, Kind};
use crate::http::{Answer, Refusal, Slot, holding, plain};
use crate::ops;
use crate::serving::{Access, Changes, Dispatcher};
use crate::tools::{Problem, parse_params};
use crate::wire::ListParams;

/// Most pages that are sent events.
pub const MOST_EVENTS: usize = 32;
/// Most exports at once.
pub const MOST_EXPORTS: usize = 3;
/// Most memories that an export names.
const MOST_IDS: usize = 1_000;
/// How often a stream without events sends something, so that its end is noticed.
const ALIVE: Duration = Duration::from_secs(15);
/// Pieces that wait to be sent.
const PIECES: usize = 8;
/// Bytes of a piece of an export.
const PIECE_BYTES: usize = 64 << 10;

/// The limit of open streams.
#[derive(Clone)]
pub struct StreamLimit(Arc<Semaphore>);

impl StreamLimit {
    /// Allows `most` streams at once.
    pub fn of(most: usize) -> Self {
        StreamLimit(Arc::new(Semaphore::new(most)))
    }

    fn take(&self) -> Option<OwnedSemaphorePermit> {
        self.0.clone().try_acquire_owned().ok()
    }
}

/// Streams the changes of the store, by any process.
pub fn events(
    changes: Changes,
    mut map: watch::Receiver<Option<Value>>,
    streams: &StreamLimit,
    slot: Arc<Slot>,
) -> Answer {
    let Some(room) = streams.take() else { return answers::refused(&Refusal::busy()) };
    let (sender, pieces) = mpsc::channel(PIECES);
    tokio::spawn(async move {
        let mut changed = changes.subscribe();
        let mut seen = changes.round();
        // Since the page looked something may have changed.
        let mut piece = "event: changed\ndata: {}\n\n".to_owned();
        while sender.send(Bytes::from(piece)).await.is_ok() {
            let goes_on = tokio::select! {
                goes_on = changed.changed(Some(ALIVE)) => goes_on,
                Ok(()) = map.changed() => {
                    let state = map.borrow_and_update().clone().unwrap_or_default();
                    piece = format!("event: map\ndata: {state}\n\n");
                    continue;
                }
                () = sender.closed() => false,
            };
            if !goes_on {
                break;
            }
            let round = changes.round();
            let line = if round == seen { ": nothing has changed" } else { "event: changed\ndata: {}" };
            piece = format!("{line}\n\n");
            seen = round;
        }
    });
    holding(streamed(pieces, "text/event-stream"), (room, slot.stream()))
}

/// Memories as the lines of an export.
pub fn export(
    dispatcher: Dispatcher,
    context: &ops::Context,
    mut given: Map<String, Value>,
    streams: &StreamLimit,
    slot: Arc<Slot>,
) -> Answer {
    let ids = given.shift_remove("ids");
    let read = parse_params::<ListParams>(given).and_then(|params| Ok(ops::plain_filter(context, &params)?));
    let (filter, ids) = match (read, ids.map(serde_json::from_value::<Option<Vec<i64>>>).transpose()) {
        (Ok(filter), Ok(ids)) => (filter, ids.flatten()),
        (Err(problem), _) => return answers::problem(&problem, None),
        (_, Err(error)) => return answers::problem(&Problem::input(format!("ids: {error}")), None),
    };
    if ids.as_ref().is_some_and(|ids| ids.len() > MOST_IDS) {
        return answers::problem(&Problem::input(format!("ids: at most {MOST_IDS}; or name filters")), None);
    }
    let Some(room) = streams.take() else { return answers::refused(&Refusal::busy()) };
    let (sender, pieces) = mpsc::channel(PIECES);
    tokio::spawn(async move {
        let failing = sender.clone();
        let written = dispatcher.call(Access::Read, move |engine| {
            let failure = |error: io::Error| Failure::new(Kind::Io, error.to_string());
            let mut out = BufWriter::with_capacity(PIECE_BYTES, Pieces(sender));
            let ids = ids.map(|ids| ids.into_iter().map(RecordId::from).collect());
            let export = Export { embeddings: false, accesses: false, filter, ids };
            ops::write_lines(engine, &export, &NoProgress, &mut out, failure)
        });
        let why = match written.await {
            Ok(Ok(_)) => return,
            Ok(Err(failure)) => failure.to_string(),
            Err(unavailable) => unavailable.message().to_owned(),
        };
        // The answer has begun: a line that no import takes for a memory says that it is not whole.
        let _ = failing.send(format!("{}\n", json!({ "error": why })).into()).await;
    });
    holding(streamed(pieces, "application/x-ndjson"), (room, slot.stream()))
}

fn streamed(pieces: mpsc::Receiver<Bytes>, kind: &'static str) -> Answer {
    plain(StatusCode::OK, Bytes::new(), kind).map(|_| Received(pieces).boxed())
}

/// A body of pieces, as they come.
struct Received(mpsc::Receiver<Bytes>);

impl Body for Received {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

/// Writes pieces, on a thread that may wait for who reads them.
struct Pieces(mpsc::Sender<Bytes>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Bytes::copy_from_slice(bytes));
        sent.map(|()| bytes.len()).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
