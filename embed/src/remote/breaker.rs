//! A provider that fails is left alone for a while.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::error::{Error, Result};

/// It is left alone for this long after a failure.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// However long a pause it demands, it is tried again after this long.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Whether a provider is asked.
#[derive(Debug)]
pub(super) struct Breaker {
    name: String,
    state: Mutex<BreakerState>,
}

#[derive(Debug, Default)]
struct BreakerState {
    open: Option<Open>,
    /// Whether its failure was logged.
    is_logged: bool,
}

#[derive(Debug)]
struct Open {
    until: Instant,
    cause: Arc<Error>,
}

impl Breaker {
    pub fn new(name: String) -> Self {
        Breaker { name, state: Mutex::default() }
    }

    /// Fails while the provider is left alone.
    pub fn check(&self, now: Instant) -> Result<()> {
        match &self.state.lock().open {
            Some(Open { until, cause }) if *until > now => {
                let retry_in = Some((*until - now).as_secs() + 1);
                Err(Error::FailedBefore { cause: cause.clone(), retry_in })
            }
            _ => Ok(()),
        }
    }

    /// It failed: it is left alone. Logged once, until it answers again.
    pub fn failed(&self, why: &str, demanded: Option<Duration>, now: Instant) -> Error {
        self.fail(Error::Provider(self.describe(why)), demanded, now)
    }

    /// It has another model by the same name. Otherwise as [`Breaker::failed`].
    pub fn replaced(&self, why: &str, now: Instant) -> Error {
        self.fail(Error::Replaced(self.describe(why)), None, now)
    }

    fn fail(&self, cause: Error, demanded: Option<Duration>, now: Instant) -> Error {
        let mut state = self.state.lock();
        let error = state.open(cause, demanded, now);
        if !std::mem::replace(&mut state.is_logged, true) {
            tracing::warn!("{}; keyword search only until it answers", error.root());
        }
        error
    }

    /// A search did not wait for it any longer. It may answer yet, so nothing is logged.
    pub fn slow(&self, why: &str, now: Instant) -> Error {
        self.state.lock().open(Error::Provider(self.describe(why)), None, now)
    }

    fn describe(&self, why: &str) -> String {
        format!("the embedding provider {} gives no vectors: {why}", self.name)
    }

    /// It answered.
    pub fn answered(&self) {
        let mut state = self.state.lock();
        state.open = None;
        if std::mem::replace(&mut state.is_logged, false) {
            tracing::warn!("the embedding provider {} answers again", self.name);
        }
    }
}

impl BreakerState {
    fn open(&mut self, cause: Error, demanded: Option<Duration>, now: Instant) -> Error {
        let cause = Arc::new(cause);
        let pause = demanded.unwrap_or_default().clamp(RETRY_AFTER, LONGEST);
        self.open = Some(Open { until: now + pause, cause: cause.clone() });
        Error::FailedBefore { cause, retry_in: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E14, X5.
    #[test]
    fn a_provider_that_failed_is_left_alone_for_a_while() {
        let (breaker, start) = (Breaker::new("openai".into()), Instant::now());
        assert!(breaker.check(start).is_ok());
        let error = breaker.failed("no connection", None, start);
        assert_eq!(error.to_string(), "the embedding provider openai gives no vectors: no connection");
        let again = breaker.check(start + Duration::from_secs(29)).unwrap_err().to_string();
        assert!(again.contains("no connection") && again.contains("tried again in 2 seconds"), "{again}");
        assert!(breaker.check(start + RETRY_AFTER).is_ok());
        breaker.failed("quota", Some(Duration::from_secs(90)), start);
        assert!(breaker.check(start + Duration::from_secs(89)).is_err());
        breaker.failed("quota", Some(Duration::from_secs(1 << 30)), start);
        assert!(breaker.check(start + LONGEST).is_ok());
        breaker.answered();
        assert!(breaker.check(start).is_ok());
        breaker.slow("slow", start);
        assert!(breaker.check(start).is_err());
    }
}
