//! The server on stdin and stdout: one client, which ends it by closing stdin, or by ending.

use std::io;
use std::sync::Arc;
#[cfg(unix)]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::ServerInitializeError;
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt};
#[cfg(unix)]
use rustix::process::{Pid, getppid};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, mpsc};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::handler::Handler;
use super::message::{self, Envelope, MESSAGE_BYTES, Unreadable};
use crate::exit::{Failure, Kind};

/// Messages that wait to be handled.
const MESSAGES: usize = 16;
/// How long a client may leave a response unread.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long shutdown waits for a client that reads no responses.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);
/// How often the parent is looked at.
#[cfg(unix)]
const PARENT_INTERVAL: Duration = Duration::from_secs(1);
/// Buffer capacity that is kept for the next line.
const KEPT_BYTES: usize = 64 << 10;

/// Serves until stdin ends, `stop` does, or the process that started this one. A client that leaves without a word is not an
/// error.
pub async fn serve(handler: Handler, stop: impl Future<Output = ()>) -> Result<(), Failure> {
    let stop = async {
        tokio::select! {
            () = stop => {}
            () = parent_ended() => tracing::info!("the process that started this one has ended"),
        }
    };
    tokio::pin!(stop);
    let changes = handler.changes();
    let ending = changes.clone();
    // A subscription of a client that has gone would be waited for.
    let lines = LineTransport::new(tokio::io::stdin(), tokio::io::stdout(), move || changes.end());
    let begun = lines.begun.clone();
    let started = tokio::select! {
        started = handler.of_session().serve(lines) => started,
        () = &mut stop => return Ok(()),
    };
    let running = match started {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::TransportError { .. }) => return Ok(()),
        Err(error) => return Err(Failure::input(format!("the client did not speak MCP: {error}"))),
    };
    begun.store(true, Ordering::Relaxed);
    let cancel = running.cancellation_token();
    let ended = running.waiting();
    tokio::pin!(ended);
    let ended = tokio::select! {
        ended = &mut ended => ended,
        () = &mut stop => {
            // Pending responses are still sent, to a client that reads them.
            ending.end();
            cancel.cancel();
            match timeout(STOP_TIMEOUT, ended).await {
                Ok(ended) => ended,
                Err(_) => return Ok(()),
            }
        }
    };
    ended.map(drop).map_err(|error| Failure::new(Kind::Internal, error.to_string()))
}

/// The process that started this one.
#[cfg(unix)]
static PARENT: OnceLock<Option<Pid>> = OnceLock::new();

/// Notes the process that started this one. Call it first: one that has ended by then is not known any more.
pub fn note_parent() {
    #[cfg(unix)]
    PARENT.get_or_init(getppid);
}

/// Ends when the process that started this one has: stdin does not if another process has the pipe, too, as one that the
/// client has started beside this one may. The parent of an orphan is process 1, which ends last.
#[cfg(unix)]
async fn parent_ended() {
    let parent = *PARENT.get_or_init(getppid);
    while getppid() == parent {
        tokio::time::sleep(PARENT_INTERVAL).await;
    }
}

/// Windows keeps the number of a parent that has ended, and gives it to another process.
#[cfg(not(unix))]
async fn parent_ended() {
    std::future::pending().await
}

/// Messages as lines. An unreadable line gets a response here; the library would drop it and let the client wait.
struct LineTransport<W> {
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    out: Arc<Mutex<Option<W>>>,
    /// Reads independently, so that nothing is lost when the library stops waiting for the next message.
    reader: AbortHandle,
    /// Whether the client has started to speak MCP. Before that, the library ends on anything but a request.
    begun: Arc<AtomicBool>,
    /// Is called when the client has gone.
    at_end: Box<dyn Fn() + Send>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> LineTransport<W> {
    fn new(input: impl AsyncRead + Send + Unpin + 'static, out: W, at_end: impl Fn() + Send + 'static) -> Self {
        let (sender, messages) = mpsc::channel(MESSAGES);
        let out = Arc::new(Mutex::new(Some(out)));
        let reader = tokio::spawn(read_lines(BufReader::new(input), sender, out.clone())).abort_handle();
        LineTransport { messages, out, reader, begun: Arc::default(), at_end: Box::new(at_end) }
    }
}

impl<W> Drop for LineTransport<W> {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for LineTransport<W> {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (out, reader) = (self.out.clone(), self.reader.clone());
        async move {
            let written = write_line(&out, serde_json::to_vec(&message)?).await;
            if written.is_err() {
                // The client has gone.
                reader.abort();
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let Some(message) = self.messages.recv().await else {
                (self.at_end)();
                return None;
            };
            if let JsonRpcMessage::Request(request) = &message {
                if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                    self.begun.store(true, Ordering::Relaxed);
                }
                return Some(message);
            }
            if self.begun.load(Ordering::Relaxed) {
                return Some(message);
            }
            tracing::debug!("dropped: only requests come before the handshake");
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.reader.abort();
        // It is held by a write to a client that does not read.
        if let Ok(mut out) = timeout(STOP_TIMEOUT, self.out.lock()).await {
            out.take();
        }
        Ok(())
    }
}

async fn write_line<W: AsyncWrite + Unpin>(out: &Mutex<Option<W>>, mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    let mut place = out.lock().await;
    let Some(out) = place.as_mut() else { return Err(io::ErrorKind::NotConnected.into()) };
    let write = async {
        out.write_all(&line).await?;
        out.flush().await
    };
    let written = timeout(WRITE_TIMEOUT, write).await.unwrap_or_else(|late| Err(late.into()));
    if written.is_err() {
        // Part of the line may have been sent: nothing that follows could be parsed.
        place.take();
    }
    written
}

async fn read_lines<W: AsyncWrite + Unpin>(
    mut input: impl AsyncBufRead + Unpin,
    messages: mpsc::Sender<ClientJsonRpcMessage>,
    out: Arc<Mutex<Option<W>>>,
) {
    let mut line = Vec::new();
    loop {
        let read = match next_line(&mut input, &mut line).await {
            Ok(LineRead::Whole) => message::read(&message::repair(&line)),
            Ok(LineRead::TooLong(envelope)) => Err(envelope.too_long()),
            Ok(LineRead::End) => return,
            Err(error) => {
                tracing::warn!("stdin cannot be read: {error}");
                return;
            }
        };
        let passed_on = match read {
            Ok(message) => messages.send(message).await.is_ok(),
            Err(Unreadable::Refused(answer)) => write_line(&out, answer.into_bytes()).await.is_ok(),
            Err(Unreadable::Silent) => true,
        };
        if !passed_on {
            return;
        }
        line.clear();
        line.shrink_to(KEPT_BYTES);
    }
}

/// The result of reading a line.
enum LineRead {
    /// It is in the buffer. The last one need not have a line end.
    Whole,
    /// It was dropped, except for its id.
    TooLong(Envelope),
    End,
}

/// Reads the next line into an empty buffer, which never grows beyond the longest message.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> io::Result<LineRead> {
    let mut too_long: Option<Envelope> = None;
    loop {
        let bytes = input.fill_buf().await?;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let ended = end.is_some() || bytes.is_empty();
        let taken = end.map_or(bytes.len(), |end| end + 1);
        let text = &bytes[..end.unwrap_or(bytes.len())];
        match &mut too_long {
            Some(envelope) => envelope.feed(text),
            None if line.len() + text.len() > MESSAGE_BYTES => {
                let mut envelope = Envelope::default();
                envelope.feed(line);
                envelope.feed(text);
                *line = Vec::new();
                too_long = Some(envelope);
            }
            None => line.extend_from_slice(text),
        }
        input.consume(taken);
        if ended {
            return Ok(match too_long {
                Some(envelope) => LineRead::TooLong(envelope),
                None if taken == 0 && line.is_empty() => LineRead::End,
                None => LineRead::Whole,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::{AsyncReadExt, duplex};

    use super::*;

    /// The messages and responses for these bytes of stdin.
    async fn pass(input: Vec<u8>) -> (Vec<Value>, Vec<Value>) {
        let (client, server) = duplex(1 << 20);
        let mut lines = LineTransport::new(io::Cursor::new(input), server, || {});
        let mut messages = Vec::new();
        while let Some(message) = lines.receive().await {
            messages.push(serde_json::to_value(message).unwrap());
        }
        lines.close().await.unwrap();
        let mut answers = String::new();
        BufReader::new(client).read_to_string(&mut answers).await.unwrap();
        (messages, answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    fn ids(messages: &[Value]) -> Vec<&Value> {
        messages.iter().map(|message| &message["id"]).collect()
    }

    #[tokio::test]
    async fn a_request_with_half_a_surrogate_pair_comes_through() {
        let line =
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":"\ud83d"}}}"#;
        let (messages, answers) = pass(line.to_vec()).await;
        assert_eq!(messages[0]["params"]["arguments"]["a"], "\u{FFFD}");
        assert!(answers.is_empty(), "{answers:?}");
    }

    #[tokio::test]
    async fn every_line_is_handled_or_answered() {
        let deep = format!(r#"{{"id":3,"method":"x","params":{}{}}}"#, "[".repeat(9999), "]".repeat(9999));
        let ping = br#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#;
        let lines = [
            &b"{\"id\":2,\"method\":\"x\",\"p\":\"\xFF\"}"[..],
            deep.as_bytes(),
            b"junk",
            b"",
            b"\r",
            ping,
            b"{\"id\":4",
        ];
        let (messages, answers) = pass(lines.join(&b'\n')).await;
        assert_eq!(ids(&messages), [&json!("ping")]);
        assert_eq!(ids(&answers), [&json!(2), &json!(3), &Value::Null, &Value::Null]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_refused_and_the_next_one_read() {
        let text = "x".repeat(MESSAGE_BYTES * 3);
        let input = format!(
            "{{\"method\":\"x\",\"params\":\"{text}\",\"id\":7}}\r\n{{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}}\n"
        );
        let (messages, answers) = pass(input.into_bytes()).await;
        assert_eq!((ids(&messages), ids(&answers)), (vec![&json!(8)], vec![&json!(7)]));
        assert!(answers[0]["error"]["message"].as_str().unwrap().contains("4 MiB"), "{answers:?}");
    }

    #[tokio::test]
    async fn a_line_of_the_greatest_length_is_read() {
        let frame = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":""}}"#;
        let line = frame.replace("\"\"}}", &format!("\"{}\"}}}}", "x".repeat(MESSAGE_BYTES - frame.len())));
        assert_eq!(line.len(), MESSAGE_BYTES);
        let (messages, answers) = pass(line.into_bytes()).await;
        assert_eq!((messages.len(), answers.len()), (1, 0));
    }
}
