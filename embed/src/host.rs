//! The model's life in memory: loaded on first use, shared by all callers, released when idle.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::embedder::Embedder;
use crate::error::{Error, Result};
use crate::identity::ModelIdentity;
use crate::loader::Loader;
use crate::plan::Plan;
use crate::progress::{NoProgress, Progress};
use crate::settings::{ModelSettings, ModelSource, NO_ONNX, NONE_SET};

/// A failed load is not retried for this long, so that not every search waits for another failure.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// Owns the model while it is in memory.
pub struct ModelHost {
    source: Source,
    idle: Duration,
    /// Locked while loading. Others wait here, and find the model loaded.
    loading: Mutex<()>,
    state: Mutex<HostState>,
}

enum Source {
    /// Never loaded, never released.
    Ready(Arc<dyn Embedder>),
    /// Loaded when it is needed.
    Loader(Box<dyn Loader>),
    /// Keyword search only; says why.
    Nothing(&'static str),
}

#[derive(Default)]
struct HostState {
    loaded: Option<Loaded>,
    failure: Option<LoadFailure>,
}

struct Loaded {
    embedder: Arc<dyn Embedder>,
    last_use: Instant,
}

struct LoadFailure {
    at: Instant,
    cause: Arc<Error>,
}

impl ModelHost {
    /// Creates a host by `settings`. Loads nothing.
    pub fn new(settings: &ModelSettings) -> Result<Self> {
        match settings.source {
            ModelSource::None => Ok(Self::from_source(Source::Nothing(NONE_SET), settings.idle)),
            ModelSource::Folder(_) if !cfg!(feature = "onnx") => {
                Ok(Self::from_source(Source::Nothing(NO_ONNX), settings.idle))
            }
            ModelSource::Default | ModelSource::Named(_) | ModelSource::Folder(_) => from_files(settings),
            #[cfg(feature = "remote")]
            ModelSource::Remote(ref remote) => {
                Ok(Self::loaded_by(Box::new(crate::remote::RemoteLoader::new(remote)?), settings.idle))
            }
        }
    }

    /// Wraps an embedder that exists already and is never released.
    pub fn ready(embedder: Arc<dyn Embedder>) -> Self {
        Self::from_source(Source::Ready(embedder), Duration::MAX)
    }

    /// Loads a model with `loader` on first use, and releases it after `idle` without use.
    pub fn loaded_by(loader: Box<dyn Loader>, idle: Duration) -> Self {
        Self::from_source(Source::Loader(loader), idle)
    }

    fn from_source(source: Source, idle: Duration) -> Self {
        ModelHost { source, idle, loading: Mutex::new(()), state: Mutex::default() }
    }

    /// The identity of the model. Loads nothing, except a custom model that was never loaded before.
    pub fn identity(&self) -> Result<ModelIdentity> {
        if let Some(loaded) = &self.state.lock().loaded {
            return Ok(loaded.embedder.identity().clone());
        }
        let known = match &self.source {
            Source::Loader(loader) => loader.identity(),
            _ => None,
        };
        match known {
            Some(identity) => Ok(identity),
            None => Ok(self.embedder()?.identity().clone()),
        }
    }

    /// The embedder. Loads it, and fetches it if that is allowed and needed, while other callers wait.
    ///
    /// Drop it soon: the model is not released while it is in use. After a failure, the same error is returned at once
    /// for half a minute.
    pub fn embedder(&self) -> Result<Arc<dyn Embedder>> {
        self.embedder_at(Instant::now())
    }

    /// The embedder if it is in memory: never waits, never loads.
    pub fn try_embedder(&self) -> Option<Arc<dyn Embedder>> {
        match &self.source {
            Source::Ready(embedder) => Some(embedder.clone()),
            _ => self.state.lock().take_use(Instant::now()),
        }
    }

    /// Like [`ModelHost::embedder`], for a caller that shows progress: `announce` is called before a download begins.
    /// Retries even right after a failure.
    pub fn prepare(&self, announce: &mut dyn FnMut(&Plan), progress: &dyn Progress) -> Result<Arc<dyn Embedder>> {
        self.load_once(Instant::now(), false, announce, progress)
    }

    /// Whether an embedder is available without a download.
    pub fn is_available(&self) -> bool {
        if let Some(loaded) = &self.state.lock().loaded {
            return loaded.embedder.is_available();
        }
        match &self.source {
            Source::Loader(loader) => loader.is_local().unwrap_or(false),
            Source::Ready(embedder) => embedder.is_available(),
            Source::Nothing(_) => false,
        }
    }

    /// Whether the model is quick, as [`Embedder::is_quick`]. Loads nothing.
    pub fn is_quick(&self) -> bool {
        match &self.source {
            Source::Loader(loader) => loader.is_quick(),
            Source::Ready(embedder) => embedder.is_quick(),
            Source::Nothing(_) => true,
        }
    }

    /// Why no embedder is available without a download: the last failure, if there was one.
    pub fn why_unavailable(&self) -> Error {
        if self.loading.is_locked() {
            return Error::Unavailable("the embedding model is being downloaded".into());
        }
        if let Some(failure) = &self.state.lock().failure {
            return Error::FailedBefore { cause: failure.cause.clone(), retry_in: None };
        }
        match &self.source {
            Source::Nothing(why) => Error::Unavailable((*why).to_owned()),
            Source::Loader(loader) => match loader.is_local() {
                Err(error) => error,
                Ok(false) => Error::NotSetUp("no embedding model is set up".to_owned()),
                Ok(true) => not_available(),
            },
            Source::Ready(_) => not_available(),
        }
    }

    /// Compares the model's files with their hashes, or asks the provider for a vector. Returns its name, or `None` if none
    /// is set up.
    pub fn verify(&self) -> Result<Option<String>> {
        self.verify_within(Duration::MAX)
    }

    /// Like [`ModelHost::verify`], but waits for a provider no longer than `most`.
    pub fn verify_within(&self, most: Duration) -> Result<Option<String>> {
        match &self.source {
            Source::Ready(embedder) => Ok(Some(embedder.identity().name.clone())),
            Source::Loader(loader) => loader.verify_within(most).inspect_err(|error| {
                if let Error::Replaced(_) = error.root() {
                    // What is in memory is of the model before.
                    *self.state.lock() = HostState::default();
                }
            }),
            Source::Nothing(_) => Ok(None),
        }
    }

    /// Whether the model is of a provider that takes batch jobs. Loads nothing.
    pub fn takes_batch_jobs(&self) -> bool {
        match &self.source {
            Source::Ready(embedder) => embedder.batch_jobs().is_some(),
            Source::Loader(loader) => loader.takes_batch_jobs(),
            Source::Nothing(_) => false,
        }
    }

    /// Whether an embedder is in memory.
    pub fn is_warm(&self) -> bool {
        matches!(self.source, Source::Ready(_)) || self.state.lock().loaded.is_some()
    }

    /// Drops the model if it is not in use and was not requested for the configured idle time. Returns whether it did.
    /// Call it from time to time.
    pub fn release_if_idle(&self, now: Instant) -> bool {
        let mut state = self.state.lock();
        let Some(loaded) = &mut state.loaded else { return false };
        if Arc::strong_count(&loaded.embedder) > 1 {
            loaded.last_use = now;
            return false;
        }
        if now.saturating_duration_since(loaded.last_use) < self.idle {
            return false;
        }
        let released = state.loaded.take();
        drop(state);
        drop(released);
        true
    }

    fn embedder_at(&self, now: Instant) -> Result<Arc<dyn Embedder>> {
        let mut announce = |plan: &Plan| tracing::info!("{plan}");
        self.load_once(now, true, &mut announce, &NoProgress)
    }

    fn load_once(
        &self,
        now: Instant,
        heed_failure: bool,
        announce: &mut dyn FnMut(&Plan),
        progress: &dyn Progress,
    ) -> Result<Arc<dyn Embedder>> {
        let loader = match &self.source {
            Source::Ready(embedder) => return Ok(embedder.clone()),
            Source::Nothing(why) => return Err(Error::Unavailable((*why).to_owned())),
            Source::Loader(loader) => loader,
        };
        if let Some(embedder) = self.state.lock().take_use(now) {
            return Ok(embedder);
        }
        let _loading = self.loading.lock();
        {
            let mut state = self.state.lock();
            if let Some(embedder) = state.take_use(now) {
                return Ok(embedder);
            }
            if heed_failure && let Some(failure) = &state.failure {
                let left = RETRY_AFTER.saturating_sub(now.saturating_duration_since(failure.at));
                if !left.is_zero() {
                    let retry_in = Some(left.as_secs() + 1);
                    return Err(Error::FailedBefore { cause: failure.cause.clone(), retry_in });
                }
            }
        }
        let loaded = if heed_failure { loader.load_for_search(announce) } else { loader.load(announce, progress) };
        let mut state = self.state.lock();
        match loaded {
            Ok(embedder) => {
                state.failure = None;
                state.loaded = Some(Loaded { embedder: embedder.clone(), last_use: now });
                Ok(embedder)
            }
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(error) => {
                let cause = Arc::new(error);
                state.failure = Some(LoadFailure { at: now, cause: cause.clone() });
                Err(Error::FailedBefore { cause, retry_in: None })
            }
        }
    }
}

impl fmt::Debug for ModelHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelHost").field("is_warm", &self.is_warm()).field("idle", &self.idle).finish_non_exhaustive()
    }
}

impl HostState {
    fn take_use(&mut self, now: Instant) -> Option<Arc<dyn Embedder>> {
        let loaded = self.loaded.as_mut()?;
        loaded.last_use = now;
        Some(loaded.embedder.clone())
    }
}

fn not_available() -> Error {
    Error::Unavailable("the embedding model is not available".to_owned())
}

#[cfg(feature = "models")]
fn from_files(settings: &ModelSettings) -> Result<ModelHost> {
    Ok(ModelHost::loaded_by(Box::new(crate::file_loader::FileLoader::new(settings)?), settings.idle))
}

#[cfg(not(feature = "models"))]
fn from_files(settings: &ModelSettings) -> Result<ModelHost> {
    let why = "this program is built without embedding models; give it an embedder of its own";
    Ok(ModelHost::from_source(Source::Nothing(why), settings.idle))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;
    use crate::hashed::HashEmbedder;

    const IDLE: Duration = Duration::from_secs(300);

    /// Loads by calling a function.
    struct Scripted<F>(F);

    impl<F: Fn() -> Result<Arc<dyn Embedder>> + Send + Sync> Loader for Scripted<F> {
        fn identity(&self) -> Option<ModelIdentity> {
            None
        }

        fn is_local(&self) -> Result<bool> {
            Ok(true)
        }

        fn verify(&self) -> Result<Option<String>> {
            Ok(None)
        }

        fn load(&self, _announce: &mut dyn FnMut(&Plan), _progress: &dyn Progress) -> Result<Arc<dyn Embedder>> {
            self.0()
        }
    }

    fn scripted(load: impl Fn() -> Result<Arc<dyn Embedder>> + Send + Sync + 'static) -> ModelHost {
        ModelHost::loaded_by(Box::new(Scripted(load)), IDLE)
    }

    /// A host that counts its loads, and fails on request.
    fn counting() -> (ModelHost, Arc<AtomicUsize>, Arc<AtomicBool>) {
        let (loads, fails) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, failing) = (loads.clone(), fails.clone());
        let load = move || {
            count.fetch_add(1, Ordering::SeqCst);
            match failing.load(Ordering::SeqCst) {
                true => Err(Error::Failed("out of order".to_owned())),
                false => Ok(Arc::new(HashEmbedder::new(8)) as Arc<dyn Embedder>),
            }
        };
        (scripted(load), loads, fails)
    }

    /// E2.
    #[test]
    fn a_model_is_loaded_once_and_only_when_needed() {
        const ASKERS: usize = 4;
        let (asking, loads) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (all, count) = (asking.clone(), loads.clone());
        let load = move || {
            count.fetch_add(1, Ordering::SeqCst);
            // The load takes until all callers are waiting.
            while all.load(Ordering::SeqCst) < ASKERS {
                std::thread::yield_now();
            }
            Ok(Arc::new(HashEmbedder::new(8)) as Arc<dyn Embedder>)
        };
        let host = scripted(load);
        assert!(!host.is_warm() && host.try_embedder().is_none());
        assert_eq!(loads.load(Ordering::SeqCst), 0);
        std::thread::scope(|scope| {
            for _ in 0..ASKERS {
                scope.spawn(|| {
                    asking.fetch_add(1, Ordering::SeqCst);
                    host.embedder().unwrap();
                });
            }
        });
        assert_eq!(loads.load(Ordering::SeqCst), 1);
        assert!(host.is_warm() && host.try_embedder().is_some());
    }

    #[test]
    fn it_is_released_after_the_idle_time_and_not_while_held() {
        let (host, loads, _) = counting();
        let start = Instant::now();
        assert!(!host.release_if_idle(start), "nothing to release");
        let held = host.embedder_at(start).unwrap();
        assert!(!host.release_if_idle(start + IDLE), "held");
        drop(held);
        assert!(!host.release_if_idle(start + IDLE * 2 - Duration::from_secs(1)), "it was in use until then");
        assert!(host.release_if_idle(start + IDLE * 2));
        assert!(!host.is_warm());
        host.embedder_at(start + IDLE * 3).unwrap();
        assert_eq!(loads.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_failure_is_remembered_for_a_while_and_then_tried_again() {
        let (host, loads, fails) = counting();
        let start = Instant::now();
        fails.store(true, Ordering::SeqCst);
        assert!(host.embedder_at(start).is_err_and(|error| matches!(error.root(), Error::Failed(_))));
        let again = host.embedder_at(start + Duration::from_secs(29)).err().unwrap();
        assert!(matches!(again, Error::FailedBefore { retry_in: Some(1..=2), .. }), "{again:?}");
        let expected = "the embedding model failed: out of order\n(it is tried again in ";
        assert!(again.to_string().starts_with(expected), "{again}");
        assert_eq!(loads.load(Ordering::SeqCst), 1);
        fails.store(false, Ordering::SeqCst);
        host.embedder_at(start + RETRY_AFTER).unwrap();
        assert_eq!(loads.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn an_explicit_request_does_not_wait_for_the_retry() {
        let (host, loads, fails) = counting();
        fails.store(true, Ordering::SeqCst);
        assert!(host.embedder().is_err());
        fails.store(false, Ordering::SeqCst);
        host.prepare(&mut |_| {}, &NoProgress).unwrap();
        assert_eq!(loads.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn without_a_model_the_error_says_so() {
        let host = ModelHost::new(&ModelSource::None.into()).unwrap();
        let error = host.embedder().err().unwrap();
        assert!(matches!(error, Error::Unavailable(_)) && error.to_string().contains("vector search"), "{error}");
        assert!(host.identity().is_err() && !host.is_warm());
    }

    #[cfg(not(feature = "onnx"))]
    #[test]
    fn a_folder_without_the_feature_says_which_is_missing() {
        let host = ModelHost::new(&ModelSource::Folder("/models/mine".into()).into()).unwrap();
        let error = host.embedder().err().unwrap().to_string();
        assert!(error.contains("`onnx`") && error.contains("model = \"none\""), "{error}");
        assert_eq!(host.why_unavailable().to_string(), error);
    }

    #[test]
    fn while_the_model_is_being_fetched_the_error_says_only_that() {
        let (host, ..) = counting();
        let fetching = host.loading.lock();
        assert_eq!(host.why_unavailable().to_string(), "the embedding model is being downloaded");
        drop(fetching);
        assert!(host.why_unavailable().to_string().contains("not available"));
    }

    #[test]
    fn a_wrapped_embedder_is_never_released() {
        let host = ModelHost::ready(Arc::new(HashEmbedder::new(8)));
        assert!(host.is_warm());
        assert!(!host.release_if_idle(Instant::now() + IDLE * 1000));
        assert_eq!(host.identity().unwrap().dims, 8);
        assert!(host.try_embedder().is_some());
    }
}
