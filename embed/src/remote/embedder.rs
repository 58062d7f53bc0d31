//! The [`Embedder`] of a provider, and what loads it.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Instant;

use super::batches::Outcome;
use super::jobs::Offer;
use super::profile::Purpose;
use super::provider::Provider;
use crate::embedder::{Embedder, Refusal};
use crate::error::{Error, Result};
use crate::identity::ModelIdentity;
use crate::jobs::BatchJobs;
use crate::loader::Loader;
use crate::plan::{Plan, WITHOUT_MODEL};
use crate::progress::Progress;
use crate::provider::RemoteSettings;

/// A text to learn the dimensions with.
const PROBE: &str = "test";

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
        self.require_key()?;
        let [made] =
            self.provider.embed(&[PROBE], Purpose::Document, &|| false)?.try_into().map_err(|_| no_vector())?;
        made.map_err(|Refusal(why)| Error::Provider(why))?;
        Ok(Some(format!("{} answers", self.provider.profile.name())))
    }

    fn takes_batch_jobs(&self) -> bool {
        Offer::of(&self.provider).is_some()
    }

    fn load(&self, _announce: &mut dyn FnMut(&Plan), progress: &dyn Progress) -> Result<Arc<dyn Embedder>> {
        self.require_key()?;
        if self.provider.dims().is_none() {
            self.provider.embed(&[PROBE], Purpose::Document, &|| progress.cancelled())?;
        }
        self.embedder()
    }

    fn load_for_search(&self, _announce: &mut dyn FnMut(&Plan)) -> Result<Arc<dyn Embedder>> {
        self.require_key()?;
        if self.provider.dims().is_none() {
            in_time(&self.provider, PROBE, Purpose::Document)?.map_err(refused)?;
        }
        self.embedder()
    }
}

impl Embedder for RemoteEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        match self.provider.kept(text, Purpose::Query) {
            Some(vector) => Ok(vector),
            None => in_time(&self.provider, text, Purpose::Query)?.map_err(refused),
        }
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let outcomes = self.provider.embed(texts, Purpose::Document, &|| false)?;
        if outcomes.len() < texts.len() {
            self.provider.breaker.check(Instant::now())?;
            return Err(no_vector());
        }
        outcomes.into_iter().map(|outcome| outcome.map_err(refused)).collect()
    }

    fn embed_each(&self, texts: &[&str], progress: &dyn Progress) -> Result<Vec<Outcome>> {
        self.provider.embed(texts, Purpose::Document, &|| progress.cancelled())
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

/// The vector of one text, if it comes in the time that a search has. The request goes on: a model that had to be loaded
/// first is there for the next search, and the vector is kept.
fn in_time(provider: &Arc<Provider>, text: &str, purpose: Purpose) -> Result<Outcome> {
    provider.breaker.check(Instant::now())?;
    let (sender, receiver) = mpsc::channel();
    let (asked, owned) = (provider.clone(), text.to_owned());
    let ask = move || {
        // The search may have ended.
        let _ = sender.send(asked.embed(&[&owned], purpose, &|| false));
    };
    let thread = std::thread::Builder::new().name("memorist-query".into()).spawn(ask);
    thread.map_err(|error| Error::Provider(format!("no thread can be started: {error}")))?;
    let most = provider.profile.settings.query_timeout;
    match receiver.recv_timeout(most) {
        Ok(made) => made?.pop().ok_or_else(no_vector),
        Err(RecvTimeoutError::Disconnected) => Err(no_vector()),
        Err(RecvTimeoutError::Timeout) => {
            let why = format!("it did not answer within {} s, the `query_timeout_seconds`", most.as_secs_f64());
            Err(provider.breaker.slow(&why, Instant::now()))
        }
    }
}

fn refused(Refusal(why): Refusal) -> Error {
    Error::Provider(format!("the embedding provider refuses the text: {why}"))
}

fn no_vector() -> Error {
    Error::Provider("the embedding provider gave no vector".to_owned())
}
