//! The connections of the HTTP server. A connection is a stranger until a request on it was found good: strangers have
//! few places and little time, and the newest takes the place of the oldest, so that half-sent requests keep out nobody.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::time::{Sleep, sleep, timeout};

/// Connections on which no good request has come yet.
const STRANGERS: usize = 64;
/// How long a connection may be a stranger.
const STRANGER_PATIENCE: Duration = Duration::from_secs(5);
/// All other connections.
const MEMBERS: usize = 256;
/// How long a connection stays open without a request.
const IDLE: Duration = Duration::from_secs(60);
/// How long a client may leave an answer unread.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);
/// Longest head of a request, and what a connection holds of a body that nobody reads.
const BUFFER_BYTES: usize = 32 << 10;
/// How long to wait when the system has no more connections to give.
const SHORTAGE_PAUSE: Duration = Duration::from_millis(100);

/// An answer.
pub type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Answers the requests of all connections until `stop` ends; then waits, for `patience` at most, until each has been
/// answered.
pub async fn serve<F, A>(listener: TcpListener, answer: F, stop: impl Future<Output = ()>, patience: Duration)
where
    F: Fn(Request<Incoming>, Arc<Pass>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    let register = Arc::new(Mutex::new(Register::default()));
    let (ending, ended) = watch::channel(false);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(IDLE).max_buf_size(BUFFER_BYTES);
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
                sleep(SHORTAGE_PAUSE).await;
                continue;
            }
        };
        // An answer waits for nothing that the client has yet to acknowledge. Without it, it is slower, and no less right.
        let _ = stream.set_nodelay(true);
        let (pass, dismissed) = Pass::issue(&register);
        let pass = Arc::new(pass);
        let held = pass.clone();
        let answer = answer.clone();
        let service = service_fn(move |request| {
            let answered = answer(request, pass.clone());
            async move { Ok::<_, Infallible>(answered.await) }
        });
        let io = TokioIo::new(Prompt { stream, stalled: None });
        let connection = builder.serve_connection(io, service);
        let mut ended = ended.clone();
        tokio::spawn(async move {
            tokio::pin!(connection);
            tokio::select! {
                // How it ended matters to the client alone.
                _ = &mut connection => {}
                () = dismissal(dismissed, &held, STRANGER_PATIENCE) => {}
                () = told(&mut ended) => {
                    connection.as_mut().graceful_shutdown();
                    let _ = connection.await;
                }
            }
        });
    }
    drop((listener, ended));
    ending.send_replace(true);
    // Each connection has a receiver. Who has not been answered by then is not.
    let _ = timeout(patience, ending.closed()).await;
}

/// Ends when the server does.
async fn told(ended: &mut watch::Receiver<bool>) {
    // Without a sender it has ended as well.
    let _ = ended.wait_for(|ended| *ended).await;
}

/// Ends when a stranger must go; never for a member.
async fn dismissal(dismissed: oneshot::Receiver<()>, pass: &Pass, patience: Duration) {
    // Its good request may have come between being dismissed and hearing of it.
    let admitted = matches!(timeout(patience, dismissed).await, Ok(Err(_)));
    if admitted || pass.is_member() {
        pending::<()>().await;
    }
}

/// Who is connected.
#[derive(Default)]
struct Register {
    next: u64,
    /// The oldest first. Dropped, the sender tells that the stranger has become a member.
    strangers: BTreeMap<u64, oneshot::Sender<()>>,
    members: usize,
}

/// The place of one connection.
pub struct Pass {
    number: u64,
    register: Arc<Mutex<Register>>,
    member: Mutex<bool>,
}

impl Pass {
    /// Lets a stranger in; the oldest goes where there are too many.
    fn issue(register: &Arc<Mutex<Register>>) -> (Self, oneshot::Receiver<()>) {
        let (dismiss, dismissed) = oneshot::channel();
        let mut entries = register.lock().unwrap_or_else(PoisonError::into_inner);
        let number = entries.next;
        entries.next += 1;
        entries.strangers.insert(number, dismiss);
        if entries.strangers.len() > STRANGERS
            && let Some((_, oldest)) = entries.strangers.pop_first()
        {
            // It may have gone by itself.
            let _ = oldest.send(());
        }
        (Pass { number, register: register.clone(), member: Mutex::new(false) }, dismissed)
    }

    fn is_member(&self) -> bool {
        *self.member.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the connection a member, after a good request. Returns whether it is one: not when there are too many.
    pub fn admit(&self) -> bool {
        let mut member = self.member.lock().unwrap_or_else(PoisonError::into_inner);
        if !*member {
            let mut entries = self.register.lock().unwrap_or_else(PoisonError::into_inner);
            if entries.members < MEMBERS {
                // It is not among them when it was dismissed a moment ago.
                entries.strangers.remove(&self.number);
                entries.members += 1;
                *member = true;
            }
        }
        *member
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let member = *self.member.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut entries = self.register.lock().unwrap_or_else(PoisonError::into_inner);
        if member {
            entries.members -= 1;
        } else {
            entries.strangers.remove(&self.number);
        }
    }
}

/// A stream that fails when its reader has stopped reading.
struct Prompt {
    stream: TcpStream,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Prompt {
    fn in_time<T>(&mut self, written: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(WRITE_PATIENCE)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Prompt {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Prompt {
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

    fn dismissed(leave: &mut oneshot::Receiver<()>) -> bool {
        leave.try_recv().is_ok()
    }

    #[test]
    fn the_newest_stranger_takes_the_place_of_the_oldest() {
        let register = Arc::default();
        let mut strangers: Vec<_> = (0..=STRANGERS).map(|_| Pass::issue(&register)).collect();
        assert!(dismissed(&mut strangers[0].1), "the oldest goes");
        assert!(strangers[1..].iter_mut().all(|(_, leave)| !dismissed(leave)), "the others stay");
        assert!(strangers[1].0.admit() && strangers[1].0.admit());
        let newcomers: Vec<_> = (0..STRANGERS).map(|_| Pass::issue(&register)).collect();
        assert!(matches!(strangers[1].1.try_recv(), Err(oneshot::error::TryRecvError::Closed)), "a member stays");
        drop((strangers, newcomers));
        let entries = register.lock().unwrap();
        assert!(entries.strangers.is_empty() && entries.members == 0, "who goes leaves nothing behind");
    }

    #[test]
    fn there_are_so_many_members_and_no_more() {
        let register = Arc::default();
        let issue = || Pass::issue(&register);
        let mut members: Vec<_> = (0..MEMBERS).map(|_| issue()).inspect(|(pass, _)| assert!(pass.admit())).collect();
        let waiting = issue();
        assert!(!waiting.0.admit());
        members.pop();
        assert!(waiting.0.admit());
    }

    #[tokio::test]
    async fn a_stranger_goes_after_a_while_and_a_member_stays() {
        const PATIENCE: Duration = Duration::from_millis(20);
        let register = Arc::default();
        let (stranger, leave) = Pass::issue(&register);
        timeout(PATIENCE * 100, dismissal(leave, &stranger, PATIENCE)).await.unwrap();
        drop(stranger);
        let (member, leave) = Pass::issue(&register);
        assert!(member.admit());
        timeout(PATIENCE * 5, dismissal(leave, &member, PATIENCE)).await.unwrap_err();
    }

    #[tokio::test]
    async fn who_is_dismissed_while_its_good_request_is_read_stays() {
        const PATIENCE: Duration = Duration::from_millis(20);
        let register = Arc::default();
        let (late, mut leave) = Pass::issue(&register);
        let newer: Vec<_> = (0..STRANGERS).map(|_| Pass::issue(&register)).collect();
        assert!(matches!(leave.try_recv(), Ok(())), "it is dismissed");
        assert!(late.admit(), "members have room");
        let (tell, leave) = oneshot::channel();
        tell.send(()).unwrap();
        timeout(PATIENCE * 5, dismissal(leave, &late, PATIENCE)).await.unwrap_err();
        drop((late, newer));
        assert_eq!(register.lock().unwrap().members, 0);
    }
}
