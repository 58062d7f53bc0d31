//! The connections of a listener. A connection is pending until its first valid request, and admitted after it.
//! Few connections may be pending, and only briefly; a new one evicts the oldest. So half-sent requests block nobody.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::time::{Sleep, sleep, timeout};

use super::answer::Answer;

const MAX_PENDING: usize = 64;
/// How long a connection may be pending.
const PENDING_TIMEOUT: Duration = Duration::from_secs(5);
/// Most admitted connections, beside those with a stream of notices.
const MAX_ADMITTED: usize = 256;
/// How long a connection stays open without a request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a client may leave a response unread.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest request head, and the most that is buffered of an unread body.
const BUFFER_BYTES: usize = 32 << 10;
/// Pause after a failed accept, such as when the process is out of file descriptors.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// Serves all connections until `stop` ends. Then waits at most `drain_timeout` for the requests in flight.
pub async fn serve<F, A>(listener: TcpListener, answer: F, stop: impl Future<Output = ()>, drain_timeout: Duration)
where
    F: Fn(Request<Incoming>, Arc<Slot>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    let connections = Arc::new(Mutex::new(Connections::default()));
    let (ending, ended) = watch::channel(false);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(IDLE_TIMEOUT).max_buf_size(BUFFER_BYTES);
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!("a connection was not accepted: {error}");
                sleep(ACCEPT_BACKOFF).await;
                continue;
            }
        };
        // Send responses at once (no Nagle). If this fails, they are slower but still correct.
        let _ = stream.set_nodelay(true);
        let (slot, evicted) = Slot::open(&connections);
        let slot = Arc::new(slot);
        let held = slot.clone();
        let answer = answer.clone();
        let service = service_fn(move |request| {
            let answered = answer(request, slot.clone());
            async move { Ok::<_, Infallible>(answered.await) }
        });
        let io = TokioIo::new(WriteTimeout { stream, stalled: None });
        let connection = builder.serve_connection(io, service);
        let mut ended = ended.clone();
        tokio::spawn(async move {
            tokio::pin!(connection);
            tokio::select! {
                // How it ended matters only to the client.
                _ = &mut connection => {}
                () = eviction(evicted, &held, PENDING_TIMEOUT) => {}
                () = shutdown(&mut ended) => {
                    connection.as_mut().graceful_shutdown();
                    let _ = connection.await;
                }
            }
        });
    }
    drop((listener, ended));
    ending.send_replace(true);
    // Each connection has a receiver. Requests that are still running after the timeout get no response.
    let _ = timeout(drain_timeout, ending.closed()).await;
}

/// Ends when the server shuts down.
async fn shutdown(ended: &mut watch::Receiver<bool>) {
    // A dropped sender means the same.
    let _ = ended.wait_for(|ended| *ended).await;
}

/// Ends when a pending connection must close; never for an admitted one.
async fn eviction(evicted: oneshot::Receiver<()>, slot: &Slot, pending_timeout: Duration) {
    // Its first valid request may have come after the eviction was sent and before it was received.
    let admitted = matches!(timeout(pending_timeout, evicted).await, Ok(Err(_)));
    if admitted || slot.is_admitted() {
        pending::<()>().await;
    }
}

#[derive(Default)]
struct Connections {
    next: u64,
    /// The oldest first. A dropped sender means that the connection was admitted.
    pending: BTreeMap<u64, oneshot::Sender<()>>,
    admitted: usize,
}

/// One connection among all, until it is dropped.
pub struct Slot {
    number: u64,
    connections: Arc<Mutex<Connections>>,
    admitted: Mutex<bool>,
}

impl Slot {
    /// Adds a pending connection, and evicts the oldest one if there are too many.
    fn open(connections: &Arc<Mutex<Connections>>) -> (Self, oneshot::Receiver<()>) {
        let (evict, evicted) = oneshot::channel();
        let mut entries = connections.lock().unwrap_or_else(PoisonError::into_inner);
        let number = entries.next;
        entries.next += 1;
        entries.pending.insert(number, evict);
        if entries.pending.len() > MAX_PENDING
            && let Some((_, oldest)) = entries.pending.pop_first()
        {
            // It may have closed already.
            let _ = oldest.send(());
        }
        (Slot { number, connections: connections.clone(), admitted: Mutex::new(false) }, evicted)
    }

    fn is_admitted(&self) -> bool {
        *self.admitted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits the connection after a valid request. Returns false when too many are admitted.
    pub fn admit(&self) -> bool {
        let mut admitted = self.admitted.lock().unwrap_or_else(PoisonError::into_inner);
        if !*admitted {
            let mut entries = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
            if entries.admitted < MAX_ADMITTED {
                // It is not there if it was evicted a moment ago.
                entries.pending.remove(&self.number);
                entries.admitted += 1;
                *admitted = true;
            }
        }
        *admitted
    }

    /// Counts this admitted connection apart for as long as it has a stream of notices, so that calls find room.
    pub fn stream(self: Arc<Self>) -> Streaming {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).admitted -= 1;
        Streaming(self)
    }
}

/// An admitted connection that is busy with a stream of notices, until this is dropped.
pub struct Streaming(Arc<Slot>);

impl Drop for Streaming {
    fn drop(&mut self) {
        self.0.connections.lock().unwrap_or_else(PoisonError::into_inner).admitted += 1;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let admitted = *self.admitted.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut entries = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        if admitted {
            entries.admitted -= 1;
        } else {
            entries.pending.remove(&self.number);
        }
    }
}

/// A stream on which a write fails when the peer stops reading.
struct WriteTimeout {
    stream: TcpStream,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl WriteTimeout {
    fn in_time<T>(&mut self, written: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(WRITE_TIMEOUT)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for WriteTimeout {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for WriteTimeout {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.in_time(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.in_time(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.in_time(flushed, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_evicted(leave: &mut oneshot::Receiver<()>) -> bool {
        leave.try_recv().is_ok()
    }

    #[test]
    fn a_new_pending_connection_evicts_the_oldest() {
        let connections = Arc::default();
        let mut pending: Vec<_> = (0..=MAX_PENDING).map(|_| Slot::open(&connections)).collect();
        assert!(is_evicted(&mut pending[0].1), "the oldest is evicted");
        assert!(pending[1..].iter_mut().all(|(_, leave)| !is_evicted(leave)), "the others stay");
        assert!(pending[1].0.admit() && pending[1].0.admit());
        let newer: Vec<_> = (0..MAX_PENDING).map(|_| Slot::open(&connections)).collect();
        assert!(matches!(pending[1].1.try_recv(), Err(oneshot::error::TryRecvError::Closed)), "an admitted one stays");
        drop((pending, newer));
        let entries = connections.lock().unwrap();
        assert!(entries.pending.is_empty() && entries.admitted == 0, "a closed connection leaves no entry");
    }

    #[test]
    fn no_more_are_admitted_than_the_limit() {
        let connections = Arc::default();
        let open = || Slot::open(&connections);
        let mut admitted: Vec<_> =
            (0..MAX_ADMITTED).map(|_| open()).inspect(|(slot, _)| assert!(slot.admit())).collect();
        let waiting = open();
        assert!(!waiting.0.admit());
        admitted.pop();
        assert!(waiting.0.admit());
    }

    #[test]
    fn streams_take_no_room_of_calls() {
        let connections = Arc::default();
        let open = || Arc::new(Slot::open(&connections).0);
        let mut admitted: Vec<_> = (0..MAX_ADMITTED).map(|_| open()).inspect(|slot| assert!(slot.admit())).collect();
        let stream = admitted.remove(0).stream();
        let waiting = open();
        assert!(waiting.admit(), "a stream has made room");
        assert!(!open().admit());
        drop((admitted, waiting));
        assert_eq!(connections.lock().unwrap().admitted, 0);
        drop(stream);
        assert_eq!(connections.lock().unwrap().admitted, 0, "its connection was closed, too");
    }

    #[tokio::test]
    async fn a_pending_connection_times_out_and_an_admitted_one_stays() {
        const LIMIT: Duration = Duration::from_millis(20);
        let connections = Arc::default();
        let (pending, leave) = Slot::open(&connections);
        timeout(LIMIT * 100, eviction(leave, &pending, LIMIT)).await.unwrap();
        drop(pending);
        let (admitted, leave) = Slot::open(&connections);
        assert!(admitted.admit());
        timeout(LIMIT * 5, eviction(leave, &admitted, LIMIT)).await.unwrap_err();
    }

    #[tokio::test]
    async fn a_connection_evicted_while_its_first_request_is_read_stays() {
        const LIMIT: Duration = Duration::from_millis(20);
        let connections = Arc::default();
        let (late, mut leave) = Slot::open(&connections);
        let newer: Vec<_> = (0..MAX_PENDING).map(|_| Slot::open(&connections)).collect();
        assert!(matches!(leave.try_recv(), Ok(())), "it is evicted");
        assert!(late.admit(), "there is room");
        let (evict, leave) = oneshot::channel();
        evict.send(()).unwrap();
        timeout(LIMIT * 5, eviction(leave, &late, LIMIT)).await.unwrap_err();
        drop((late, newer));
        assert_eq!(connections.lock().unwrap().admitted, 0);
    }
}
