//! One request and its answer.

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
/// How often it is checked whether the caller has given up.
const LOOK: Duration = Duration::from_millis(20);
/// Most bytes of an answer: of any, of each text (16,384 numbers), and of all.
const BYTES: u64 = 1 << 20;
const BYTES_PER_TEXT: u64 = 16_384 * 24;
const MOST_BYTES: u64 = 256 << 20;

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
        let (sender, receiver) = mpsc::channel();
        let send = move || {
            let answer = request.send(body).and_then(|response| read(response, most));
            // The caller may have given up.
            let _ = sender.send(answer.map_err(|error| explain(error, timeout)));
        };
        let thread = std::thread::Builder::new().name("memorist-http".into()).spawn(send);
        thread.map_err(|error| Failure::Later(format!("no thread can be started: {error}"), None))?;
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if stop() => return Err(Failure::Cancelled),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::Later("the request ended early".into(), None));
                }
            }
        }
    }
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
