//! The reranker in memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::embedder::Reranker;
use crate::error::{Error, Result};
use crate::settings::ModelSettings;

/// Pause after a search that did not find it.
const LOOK_AFTER: Duration = Duration::from_secs(5);
/// Pause after an attempt that failed.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// Finds the reranker when it is needed, once it is set up. Its weights are mapped, so that it is not released.
pub struct RerankerHost {
    settings: Option<ModelSettings>,
    state: Mutex<RerankerState>,
}

#[derive(Default)]
struct RerankerState {
    found: Option<Arc<dyn Reranker>>,
    failure: Option<Arc<Error>>,
    looked: Option<Instant>,
}

impl RerankerHost {
    /// Creates a host that finds the reranker by these settings.
    pub fn new(settings: &ModelSettings) -> Self {
        RerankerHost { settings: Some(settings.clone()), state: Mutex::default() }
    }

    /// Wraps a reranker that exists already.
    pub fn ready(reranker: Arc<dyn Reranker>) -> Self {
        RerankerHost {
            settings: None,
            state: Mutex::new(RerankerState { found: Some(reranker), ..RerankerState::default() }),
        }
    }

    /// The reranker, if it is on this machine. Fetches nothing.
    ///
    /// # Errors
    /// Why it cannot be used. The same error is returned at once for half a minute.
    pub fn get(&self) -> Result<Option<Arc<dyn Reranker>>> {
        let mut state = self.state.lock();
        let pause = if state.failure.is_some() { RETRY_AFTER } else { LOOK_AFTER };
        let may_look = state.looked.is_none_or(|at| at.elapsed() >= pause);
        if let Some(settings) = self.settings.as_ref().filter(|_| state.found.is_none() && may_look) {
            state.looked = Some(Instant::now());
            match find(settings) {
                Ok(found) => (state.found, state.failure) = (found, None),
                Err(error) => state.failure = Some(Arc::new(error)),
            }
        }
        match &state.failure {
            Some(cause) => Err(Error::FailedBefore { cause: cause.clone(), retry_in: None }),
            None => Ok(state.found.clone()),
        }
    }
}

#[cfg(feature = "models")]
fn find(settings: &ModelSettings) -> Result<Option<Arc<dyn Reranker>>> {
    let found = crate::local::LocalReranker::find(settings)?;
    Ok(found.map(|found| Arc::new(found) as Arc<dyn Reranker>))
}

#[cfg(not(feature = "models"))]
fn find(_settings: &ModelSettings) -> Result<Option<Arc<dyn Reranker>>> {
    Ok(None)
}

impl std::fmt::Debug for RerankerHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RerankerHost").field("is_loaded", &self.state.lock().found.is_some()).finish_non_exhaustive()
    }
}
