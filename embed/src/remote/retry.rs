//! Requests repeated, with growing pauses.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::failure::Failure;
use super::http::{Answer, Http, Stop};
use super::profile::{Profile, Purpose};
use super::reason;
use crate::hashed::next_random;

/// How often a request is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempts {
    /// Maximum number of attempts.
    most: u32,
    /// The pause before the second; each further one is twice as long.
    first_pause: Duration,
    /// The time at which the caller gives up.
    until: Option<Instant>,
}

impl Attempts {
    /// A single attempt.
    pub const ONE: Self = Attempts { most: 1, first_pause: Duration::ZERO, until: None };

    /// The attempts that suit the purpose.
    pub fn of(purpose: Purpose) -> Self {
        let (most, pause) = match purpose {
            Purpose::Document => (3, 500),
            // Somebody waits.
            Purpose::Query => (2, 100),
        };
        Attempts { most, first_pause: Duration::from_millis(pause), until: None }
    }

    /// Sets the time at which the caller gives up.
    pub fn until(self, until: Option<Instant>) -> Self {
        Attempts { until, ..self }
    }
}

/// If a provider demands a longer pause, the request fails instead.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Sends a request until it is answered well, or until it is clear that it will not be.
pub(super) fn send(
    http: &Http,
    profile: &Profile,
    operation: &str,
    body: &Value,
    texts: usize,
    attempts: Attempts,
    stop: Stop<'_>,
) -> Result<Vec<u8>, Failure> {
    let url = profile.address.join(operation);
    let ask = || http.post(&url, body, texts, stop).and_then(|answer| judge(profile, answer));
    repeat(profile, attempts, stop, ask)
}

/// Asks until there is an answer, or until it is clear that there will be none.
pub(super) fn repeat<T>(
    profile: &Profile,
    Attempts { most, first_pause, until }: Attempts,
    stop: Stop<'_>,
    ask: impl Fn() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut attempt = 1;
    loop {
        let failure = match ask() {
            Ok(answer) => return Ok(answer),
            Err(failure) => failure,
        };
        let (Failure::Later(why, demanded) | Failure::ServerError(why, demanded)) = &failure else {
            return Err(failure);
        };
        let pause = demanded.unwrap_or(first_pause * 2u32.pow(attempt - 1));
        let asked_again = Instant::now() + pause + jitter(pause);
        if pause > LONGEST_PAUSE || until.is_some_and(|until| asked_again >= until) {
            return Err(Failure::Later(why.clone(), *demanded));
        }
        if attempt == most {
            return Err(failure);
        }
        tracing::debug!("the embedding provider {} is asked again in {pause:?}: {why}", profile.name());
        attempt += 1;
        wait(asked_again, stop)?;
    }
}

/// The body of a good answer. The text of a bad one is not shown.
pub(super) fn judge(profile: &Profile, answer: Answer) -> Result<Vec<u8>, Failure> {
    let Answer { status, retry_after, body } = answer;
    if (200..300).contains(&status) {
        return Ok(body);
    }
    let Said { code, message } = said(&body);
    let why = reason::about(&message).map_or(format!("status {status}"), |about| format!("status {status}: {about}"));
    let later = || match retry_after {
        Some(pause) => format!("{why}; it asks to wait {} s", pause.as_secs_f64().ceil()),
        None => why.clone(),
    };
    let is_exhausted = code.contains("insufficient_quota") || code.contains("billing") || status == 402;
    Err(match status {
        _ if is_exhausted => Failure::Never(format!("its quota is exhausted ({why})")),
        300..400 => Failure::Never(format!("it redirects to another address ({why}); set `url` to that one")),
        401 | 403 => Failure::Never(format!("invalid API key ({why})")),
        404 | 405 => Failure::Never(format!("unknown model or address ({why})")),
        400 | 413 | 422 => Failure::Refused(why),
        _ if profile.dialect.is_about_texts(status, &message) => Failure::Refused(why),
        408 | 409 | 425 | 429 => Failure::Later(later(), retry_after),
        500.. => Failure::ServerError(later(), retry_after),
        _ => Failure::Never(why),
    })
}

struct Said {
    code: String,
    message: String,
}

/// Reads the code and the message of an error, in the shapes of all providers.
fn said(body: &[u8]) -> Said {
    let nothing = Said { code: String::new(), message: String::new() };
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return nothing };
    let error = body.get("error").unwrap_or(&body);
    let texts = |names: &[&str]| {
        let found = names.iter().filter_map(|name| error.get(name).and_then(Value::as_str));
        found.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    let message = match error.as_str() {
        Some(message) => message.to_owned(),
        None => texts(&["message", "detail"]),
    };
    Said { code: texts(&["code", "type", "status"]), message }
}

/// Waits, unless the caller gives up.
fn wait(until: Instant, stop: Stop<'_>) -> Result<(), Failure> {
    const STEP: Duration = Duration::from_millis(50);
    loop {
        if stop() {
            return Err(Failure::Cancelled);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(STEP));
    }
}

/// Up to a quarter more, so that several clients do not return together.
fn jitter(pause: Duration) -> Duration {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| u64::from(now.subsec_nanos()));
    pause.mul_f64((next_random(seed) % 1_000) as f64 / 4_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_in_every_shape() {
        for (body, code, message) in [
            (
                r#"{"error":{"message":"No more","type":"insufficient_quota","code":null}}"#,
                "insufficient_quota",
                "No more",
            ),
            (r#"{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}"#, "RESOURCE_EXHAUSTED", "slow"),
            (r#"{"error":"model \"x\" not found"}"#, "", "model \"x\" not found"),
            (r#"{"message":"invalid api token"}"#, "", "invalid api token"),
            (r#"{"detail":"Provided API key is invalid."}"#, "", "Provided API key is invalid."),
            ("<html>Bad gateway</html>", "", ""),
            ("[]", "", ""),
        ] {
            let said = said(body.as_bytes());
            assert_eq!((said.code.as_str(), said.message.as_str()), (code, message), "{body}");
        }
    }
}
