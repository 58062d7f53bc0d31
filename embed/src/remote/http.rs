//! One request and its answer.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use ureq::{Agent, Timeout};

use super::failure::Failure;
use super::profile::Profile;
use crate::error::{Error, Result};

/// Longest time that a request takes: elsewhere, and on this machine, where a model may have to be loaded first.
const REMOTE: Duration = Duration::from_secs(60);
const LOCAL: Duration = Duration::from_secs(5 * 60);
const CONNECT: Duration = Duration::from_secs(10);
/// Interval between checks whether the caller has given up.
const LOOK: Duration = Duration::from_millis(20);
/// Most bytes of an answer: without vectors, for each text (16,384 numbers), and in total.
const BYTES: u64 = 1 << 20;
const BYTES_PER_TEXT: u64 = 16_384 * 24;
const MOST_BYTES: u64 = 256 << 20;
/// Most bytes of a line, which has one text, and in total, of an answer that is read line by line.
const BYTES_PER_LINE: u64 = BYTES + BYTES_PER_TEXT;
const MOST_BYTES_OF_LINES: u64 = 16 << 30;

/// An answer of any status.
#[derive(Debug)]
pub(super) struct Answer {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub body: Vec<u8>,
}

/// Whether the caller has given up.
pub(super) type Stop<'a> = &'a dyn Fn() -> bool;

/// Sends requests to one provider.
pub(super) struct Http {
    agent: Agent,
    headers: Vec<(String, String)>,
    timeout: Duration,
}

impl Http {
    pub fn new(profile: &Profile) -> Result<Self> {
        let settings = &profile.settings;
        let timeout = settings.timeout.unwrap_or(if profile.address.is_local { LOCAL } else { REMOTE });
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let mut config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            // Another address might get the key, and the texts.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT.min(timeout)))
            .timeout_global(Some(timeout))
            .user_agent(concat!("memorist/", env!("CARGO_PKG_VERSION")));
        if profile.address.is_local {
            config = config.proxy(None);
        }
        let mut headers = Vec::new();
        let mut add = |name: &str, value: String| {
            let is_valid = http::HeaderName::try_from(name).is_ok() && http::HeaderValue::try_from(&value).is_ok();
            if !is_valid {
                let what = format!("the header {name:?} of the embedding provider {}", settings.name);
                return Err(Error::Unavailable(format!("{what}, or its value, has characters that cannot be sent")));
            }
            headers.push((name.to_owned(), value));
            Ok(())
        };
        if let Some(key) = &settings.key {
            let (name, before) = profile.dialect.key_header();
            add(name, format!("{before}{}", key.expose()))?;
        }
        for (name, value) in &settings.headers {
            add(name, value.expose().to_owned())?;
        }
        Ok(Http { agent: config.build().new_agent(), headers, timeout })
    }

    /// Sends `body`, and waits for the answer to `texts` texts, unless the caller gives up before.
    pub fn post(&self, url: &str, body: &Value, texts: usize, stop: Stop<'_>) -> Result<Answer, Failure> {
        let mut request = self.agent.post(url).header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let (body, timeout) = (body.to_string(), self.timeout);
        let most = (BYTES + BYTES_PER_TEXT * texts as u64).min(MOST_BYTES);
        in_thread(stop, move || {
            request.send(body).and_then(|response| read(response, most)).map_err(|error| explain(error, timeout))
        })
    }

    /// Sends a request without vectors in its answer, which may take `timeout`.
    pub fn call(&self, request: Request, timeout: Duration, stop: Stop<'_>) -> Result<Answer, Failure> {
        let send = self.sender(request, timeout)?;
        in_thread(stop, move || {
            send().and_then(|response| read(response, MOST_BYTES)).map_err(|error| explain(error, timeout))
        })
    }

    /// Like [`Http::call`], for an answer of any length that is read line by line. Without success, the answer.
    pub fn lines(
        &self,
        request: Request,
        timeout: Duration,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
        stop: Stop<'_>,
    ) -> Result<Option<Answer>, Failure> {
        let send = self.sender(request, timeout)?;
        // A few lines ahead of the one who reads them.
        let (sender, receiver) = mpsc::sync_channel(64);
        let failing = sender.clone();
        spawn(move || {
            let sent = send().map_err(|error| explain(error, timeout)).and_then(|response| {
                match response.status().is_success() {
                    true => send_lines(response, &sender, timeout).map(|()| None),
                    false => read(response, MOST_BYTES).map(Some).map_err(|error| explain(error, timeout)),
                }
            });
            let _ = failing.send(AnswerPart::End(sent));
        })?;
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok(AnswerPart::Text(line)) => each(&line)?,
                Ok(AnswerPart::End(end)) => return end,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(ended_early()),
            }
            if stop() {
                return Err(Failure::Cancelled);
            }
        }
    }

    /// Returns a function that sends a request.
    fn sender(&self, request: Request, timeout: Duration) -> Result<impl FnOnce() -> Sent + Send + 'static, Failure> {
        let mut built = http::Request::builder().method(request.method).uri(request.url);
        for (name, value) in self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())) {
            built = built.header(name, value);
        }
        let (body, content_type) = request.body.unwrap_or_default();
        let has_body = !content_type.is_empty();
        if has_body {
            built = built.header("content-type", content_type);
        }
        let built = built.body(body).map_err(|error| Failure::Never(error.to_string()))?;
        let agent = self.agent.clone();
        Ok(move || {
            let (parts, body) = built.into_parts();
            match has_body {
                true => {
                    let request = agent.configure_request(http::Request::from_parts(parts, body));
                    agent.run(request.timeout_global(Some(timeout)).build())
                }
                false => {
                    let request = agent.configure_request(http::Request::from_parts(parts, ()));
                    agent.run(request.timeout_global(Some(timeout)).build())
                }
            }
        })
    }
}

/// A request that is not for vectors.
pub(super) struct Request {
    pub method: http::Method,
    pub url: String,
    /// The bytes and their content type.
    pub body: Option<(Vec<u8>, String)>,
}

type Sent = Result<http::Response<ureq::Body>, ureq::Error>;

/// Part of an answer.
enum AnswerPart {
    Text(Vec<u8>),
    End(Result<Option<Answer>, Failure>),
}

fn send_lines(
    response: http::Response<ureq::Body>,
    sender: &mpsc::SyncSender<AnswerPart>,
    timeout: Duration,
) -> Result<(), Failure> {
    let mut reader = BufReader::new(response.into_body().into_with_config().limit(MOST_BYTES_OF_LINES).reader());
    loop {
        let mut line = Vec::new();
        let read = reader.by_ref().take(BYTES_PER_LINE).read_until(b'\n', &mut line);
        read.map_err(|error| explain(error.into(), timeout))?;
        if line.is_empty() {
            return Ok(());
        }
        if line.len() as u64 == BYTES_PER_LINE && !line.ends_with(b"\n") {
            return Err(Failure::Never(format!("its answer has a line of more than {BYTES_PER_LINE} bytes")));
        }
        if sender.send(AnswerPart::Text(line)).is_err() {
            return Ok(()); // the caller gave up
        }
    }
}

/// Runs `work` on a thread of its own, unless the caller gives up before it is done.
fn in_thread<T: Send + 'static>(
    stop: Stop<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let (sender, receiver) = mpsc::channel();
    spawn(move || {
        // The caller may have given up.
        let _ = sender.send(work());
    })?;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) if stop() => return Err(Failure::Cancelled),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(ended_early()),
        }
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let thread = std::thread::Builder::new().name("memorist-http".into()).spawn(work);
    thread.map(drop).map_err(|error| Failure::Later(format!("no thread can be started: {error}"), None))
}

fn ended_early() -> Failure {
    Failure::Later("the request ended early".into(), None)
}

fn read(response: http::Response<ureq::Body>, most: u64) -> Result<Answer, ureq::Error> {
    let status = response.status().as_u16();
    let header = response.headers().get(http::header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = header.and_then(|value| pause(value, SystemTime::now()));
    let body = response.into_body().into_with_config().limit(most).read_to_vec()?;
    Ok(Answer { status, retry_after, body })
}

/// The pause that a header demands: seconds, or a date.
fn pause(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    let seconds = value.parse::<f64>().ok().filter(|seconds| (0.0..1e9).contains(seconds));
    seconds.map(Duration::from_secs_f64).or_else(|| {
        let date = httpdate::parse_http_date(value).ok()?;
        Some(date.duration_since(now).unwrap_or_default())
    })
}

fn explain(error: ureq::Error, timeout: Duration) -> Failure {
    let seconds = |duration: Duration| duration.as_secs_f64();
    match error {
        ureq::Error::Timeout(Timeout::Connect) => Failure::Later("no connection was made in time".to_owned(), None),
        ureq::Error::Timeout(_) => Failure::Later(format!("it took longer than {} s", seconds(timeout)), None),
        ureq::Error::BodyExceedsLimit(limit) => Failure::Never(format!("its answer is longer than {limit} bytes")),
        ureq::Error::HostNotFound => Failure::Later("its host is not found".to_owned(), None),
        ureq::Error::Io(error) => Failure::Later(error.to_string(), None),
        ureq::Error::Rustls(error) => Failure::Never(format!("no secure connection can be made: {error}")),
        ureq::Error::Tls(why) => Failure::Never(format!("no secure connection can be made: {why}")),
        other => Failure::Later(other.to_string(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let of = |value: &str| pause(value, now).map(|pause| pause.as_secs_f64());
        assert_eq!((of("7"), of(" 0.5 "), of("Sun, 06 Nov 1994 08:50:07 GMT")), (Some(7.0), Some(0.5), Some(30.0)));
        assert_eq!(of("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0.0));
        for wrong in ["", "soon", "-1", "NaN", "1e99"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
