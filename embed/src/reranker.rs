//! The reranker in memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::embedder::Reranker;
use crate::settings::ModelSettings;

/// A search that found none, or none that works, looks again after this long.
const LOOK_AFTER: Duration = Duration::from_secs(5);

/// Finds the reranker when it is needed, once it is set up. Its weights are mapped, so that it is not released.
pub struct RerankerHost {
    settings: Option<ModelSettings>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    found: Option<Arc<dyn Reranker>>,
    looked: Option<Instant>,
}

impl RerankerHost {
    /// That of these settings.
    pub fn new(settings: &ModelSettings) -> Self {
        RerankerHost { settings: Some(settings.clone()), state: Mutex::default() }
    }

    /// One that is there already.
    pub fn ready(reranker: Arc<dyn Reranker>) -> Self {
        RerankerHost { settings: None, state: Mutex::new(State { found: Some(reranker), looked: None }) }
    }

    /// The reranker, if it is on this machine. Fetches nothing.
    pub fn get(&self) -> Option<Arc<dyn Reranker>> {
        let mut state = self.state.lock();
        let may_look = state.looked.is_none_or(|at| at.elapsed() >= LOOK_AFTER);
        if state.found.is_none() && may_look {
            state.looked = Some(Instant::now());
            state.found = self.settings.as_ref().and_then(find);
        }
        state.found.clone()
    }
}

#[cfg(feature = "onnx")]
fn find(settings: &ModelSettings) -> Option<Arc<dyn Reranker>> {
    match crate::local::LocalReranker::find(settings) {
        Ok(found) => found.map(|found| Arc::new(found) as Arc<dyn Reranker>),
        Err(error) => {
            tracing::warn!("the reranker cannot be used: {error}");
            None
        }
    }
}

#[cfg(not(feature = "onnx"))]
fn find(_settings: &ModelSettings) -> Option<Arc<dyn Reranker>> {
    None
}

impl std::fmt::Debug for RerankerHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RerankerHost").field("is_loaded", &self.state.lock().found.is_some()).finish_non_exhaustive()
    }
}
