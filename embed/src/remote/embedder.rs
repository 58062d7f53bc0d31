//! The [`Embedder`] of a provider, and its loader.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::batches::Outcome;
use super::jobs::Offer;
use super::profile::Purpose;
use super::provider::{Provider, another_model, no_vector, refused};
use crate::embedder::Embedder;
use crate::error::{Error, Result};
use crate::identity::ModelIdentity;
use crate::jobs::BatchJobs;
use crate::loader::Loader;
use crate::plan::{Plan, WITHOUT_MODEL};
use crate::progress::{NoProgress, Progress};
use crate::provider::RemoteSettings;

/// Makes the embedder of a provider. Nothing is sent before the first text, but for a model of unknown dimensions.
pub(crate) struct RemoteLoader {
    provider: Arc<Provider>,
}

/// Embeds with a provider.
struct RemoteEmbedder {
    provider: Arc<Provider>,
    identity: ModelIdentity,
    jobs: Option<Offer>,
}

impl RemoteLoader {
    pub(crate) fn new(settings: &RemoteSettings) -> Result<Self> {
        Ok(RemoteLoader { provider: Arc::new(Provider::new(settings)?) })
    }

    fn require_key(&self) -> Result<()> {
        let settings = &self.provider.profile.settings;
        match (&settings.key, &settings.key_from) {
            (None, Some(from)) => Err(Error::Unavailable(format!(
                "the embedding provider {} needs a key: {from}; {WITHOUT_MODEL}",
                settings.name
            ))),
            _ => Ok(()),
        }
    }

    fn embedder(&self) -> Result<Arc<dyn Embedder>> {
        let dims = self.provider.dims().ok_or_else(|| Error::Failed("it made no vector".to_owned()))?;
        let identity = self.provider.profile.identity(dims);
        self.provider.note_state();
        let jobs = Offer::of(&self.provider);
        Ok(Arc::new(RemoteEmbedder { provider: self.provider.clone(), identity, jobs }))
    }
}

impl Loader for RemoteLoader {
    fn identity(&self) -> Option<ModelIdentity> {
        self.provider.dims().map(|dims| self.provider.profile.identity(dims))
    }

    fn is_local(&self) -> Result<bool> {
        self.require_key()?;
        self.provider.breaker.check(Instant::now())?;
        Ok(true)
    }

    fn verify(&self) -> Result<Option<String>> {
        self.verify_within(Duration::MAX)
    }

    fn verify_within(&self, most: Duration) -> Result<Option<String>> {
        self.require_key()?;
        let known = self.provider.dims();
        let until = Instant::now().checked_add(most);
        let gives_up = || until.is_some_and(|until| Instant::now() >= until);
        let found = self.provider.learn(until, &gives_up).map_err(|error| match error {
            Error::Cancelled => {
                let why = format!("it did not answer within {} s, as long as a check waits", most.as_secs_f64());
                self.provider.breaker.slow(&why, Instant::now())
            }
            error => error,
        })?;
        if let Some(known) = known.filter(|known| *known != found) {
            let name = self.provider.profile.name();
            return Err(Error::Replaced(format!("the embedding provider {name}: {}", another_model(found, known))));
        }
        Ok(Some(format!("{} answers", self.provider.profile.name())))
    }

    fn takes_batch_jobs(&self) -> bool {
        Offer::of(&self.provider).is_some()
    }

    fn is_quick(&self) -> bool {
        false
    }

    fn load(&self, _announce: &mut dyn FnMut(&Plan), progress: &dyn Progress) -> Result<Arc<dyn Embedder>> {
        self.require_key()?;
        if self.provider.dims().is_none() {
            self.provider.learn(None, &|| progress.cancelled())?;
        }
        self.embedder()
    }

    fn load_for_search(&self, _announce: &mut dyn FnMut(&Plan)) -> Result<Arc<dyn Embedder>> {
        self.require_key()?;
        if self.provider.dims().is_none() {
            self.provider.breaker.check(Instant::now())?;
            in_time(&self.provider, |provider| provider.learn(None, &|| false))?;
        }
        self.embedder()
    }
}

impl Embedder for RemoteEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        let (dims, text) = (self.identity.dims, text.to_owned());
        let ask = move |provider: &Provider| provider.embed(&[&text], Purpose::Query, dims, &|| false);
        in_time(&self.provider, ask)?.pop().ok_or_else(no_vector)?.map_err(refused)
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let mut made = Vec::with_capacity(texts.len());
        while made.len() < texts.len() {
            let outcomes = self.embed_each(&texts[made.len()..], &NoProgress)?;
            if outcomes.is_empty() {
                return Err(no_vector());
            }
            for outcome in outcomes {
                made.push(outcome.map_err(refused)?);
            }
        }
        Ok(made)
    }

    fn embed_each(&self, texts: &[&str], progress: &dyn Progress) -> Result<Vec<Outcome>> {
        self.provider.embed(texts, Purpose::Document, self.identity.dims, &|| progress.cancelled())
    }

    fn is_available(&self) -> bool {
        self.provider.breaker.check(Instant::now()).is_ok()
    }

    fn is_quick(&self) -> bool {
        false
    }

    fn batch_jobs(&self) -> Option<&dyn BatchJobs> {
        self.jobs.as_ref().map(|jobs| jobs as &dyn BatchJobs)
    }
}

/// Returns the provider's answer, if it comes in the time that a search has. The request goes on: a model that had to be loaded
/// first is ready for the next search, and the vector is kept.
fn in_time<T: Send + 'static>(
    provider: &Arc<Provider>,
    ask: impl FnOnce(&Provider) -> Result<T> + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = mpsc::channel();
    let asked = provider.clone();
    let ask = move || {
        // The search may have ended.
        let _ = sender.send(ask(&asked));
    };
    let thread = std::thread::Builder::new().name("memorist-query".into()).spawn(ask);
    thread.map_err(|error| Error::Provider(format!("no thread can be started: {error}")))?;
    let most = provider.profile.settings.query_timeout;
    match receiver.recv_timeout(most) {
        Ok(made) => made,
        Err(RecvTimeoutError::Disconnected) => Err(no_vector()),
        Err(RecvTimeoutError::Timeout) => {
            let why = format!("it did not answer within {} s, the `query_timeout_seconds`", most.as_secs_f64());
            Err(provider.breaker.slow(&why, Instant::now()))
        }
    }
}
