//! A provider: its cache, its breaker, its requests.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::Instant;

use parking_lot::Mutex;

use super::batches::{Batches, Outcome, PROBE};
use super::breaker::Breaker;
use super::cache::{CacheState, EmbeddingCache};
use super::failure::Failure;
use super::http::{Http, Stop};
use super::profile::{Profile, Purpose};
use super::retry::{self, Attempts};
use crate::embedder::Refusal;
use crate::error::{Error, Result};
use crate::provider::RemoteSettings;

/// A provider, shared by all who ask it.
pub(super) struct Provider {
    pub profile: Profile,
    pub breaker: Breaker,
    pub http: Http,
    cache: Option<EmbeddingCache>,
    /// The state of the cache before the next texts to be stored are read.
    seen: Mutex<Option<CacheState>>,
    /// Numbers per vector, where nobody says how many they are.
    learnt: Mutex<Option<usize>>,
    max_tokens: OnceLock<usize>,
    /// Held during a request where only one is sent at a time.
    turn: Mutex<()>,
}

/// How vectors are requested.
struct Call<'a> {
    purpose: Purpose,
    attempts: Attempts,
    /// Numbers per vector, if they are known.
    dims: Option<usize>,
    /// The state of the cache before the texts were read. Without it nothing is kept.
    since: Option<CacheState>,
    stop: Stop<'a>,
}

impl Provider {
    pub fn new(settings: &RemoteSettings) -> Result<Self> {
        let profile = Profile::new(settings)?;
        let cache = settings.cache.clone().filter(|cache| cache.max_entries > 0);
        Ok(Provider {
            breaker: Breaker::new(profile.name()),
            http: Http::new(&profile)?,
            cache: cache.map(|cache| EmbeddingCache::new(cache, profile.sha256().to_owned())),
            seen: Mutex::new(None),
            learnt: Mutex::new(None),
            max_tokens: OnceLock::new(),
            turn: Mutex::new(()),
            profile,
        })
    }

    /// Numbers per vector, where they are known without a request.
    pub fn dims(&self) -> Option<usize> {
        self.profile.dims().or_else(|| {
            let mut learnt = self.learnt.lock();
            *learnt = learnt.or_else(|| self.cache.as_ref()?.dims());
            *learnt
        })
    }

    /// Asks the provider itself for one vector, whatever is kept, to learn how many numbers it has. What it answers to a caller
    /// that gives up at `until` is not asked again if that would be later.
    pub fn learn(&self, until: Option<Instant>, stop: Stop<'_>) -> Result<usize> {
        let mut made = [None];
        let purpose = Purpose::Document;
        let call = Call { purpose, attempts: Attempts::of(purpose).until(until), dims: None, since: None, stop };
        self.make(&[PROBE], &[0], &call, &mut made)?;
        let [made] = made;
        let found = made.ok_or_else(no_vector)?.map_err(refused)?.len();
        match self.profile.dims() {
            Some(known) if known != found => return Err(self.other_length(found, known)),
            Some(_) => {}
            None => {
                *self.learnt.lock() = Some(found);
                if let Some(cache) = &self.cache {
                    cache.keep_dims(found);
                }
            }
        }
        Ok(found)
    }

    /// Notes the state of the cache before texts are read, which a purge may remove while they are embedded.
    pub fn note_state(&self) {
        *self.seen.lock() = self.state(Purpose::Query);
    }

    fn state(&self, purpose: Purpose) -> Option<CacheState> {
        self.cache.as_ref()?.state(purpose)
    }

    /// The kept vectors of `dims` numbers of texts.
    pub fn all_kept(&self, texts: &[&str], purpose: Purpose, dims: usize) -> Vec<Option<Vec<f32>>> {
        self.cache.as_ref().map_or_else(|| vec![None; texts.len()], |cache| cache.find(texts, purpose, dims))
    }

    /// Keeps vectors that a batch job has made.
    pub fn keep_of_job(&self, vectors: &[(&str, &[f32])]) {
        let since = self.seen.lock().take();
        if let (Some(cache), Some(since)) = (&self.cache, since) {
            cache.keep(vectors, Purpose::Document, since);
        }
        self.note_state();
    }

    /// Tokens of a text that the model reads, as far as that is known without a request.
    pub fn most_tokens(&self) -> usize {
        let set = self.profile.settings.max_tokens.or(self.max_tokens.get().copied());
        set.unwrap_or(self.profile.known.max_tokens).max(1)
    }

    /// Vectors of `dims` numbers of the first texts, in order: of those that are kept, and of one request.
    pub fn embed(&self, texts: &[&str], purpose: Purpose, dims: usize, stop: Stop<'_>) -> Result<Vec<Outcome>> {
        let since = match purpose {
            Purpose::Document => self.seen.lock().take(),
            Purpose::Query => None,
        };
        let since = since.or_else(|| self.state(purpose));
        let kept = self.all_kept(texts, purpose, dims);
        let mut outcomes: Vec<Option<Outcome>> = kept.into_iter().map(|vector| vector.map(Ok)).collect();
        let missing: Vec<usize> = (0..texts.len()).filter(|at| outcomes[*at].is_none()).collect();
        let failed = match missing.is_empty() {
            true => None,
            false => {
                let call = Call { purpose, attempts: Attempts::of(purpose), dims: Some(dims), since, stop };
                let asked = self.breaker.check(Instant::now());
                asked.and_then(|()| self.make(texts, &missing, &call, &mut outcomes)).err()
            }
        };
        if purpose == Purpose::Document {
            self.note_state();
        }
        let made: Vec<Outcome> = outcomes.into_iter().map_while(|outcome| outcome).collect();
        match failed {
            Some(error) if made.is_empty() => Err(error),
            _ => Ok(made),
        }
    }

    /// Makes the first missing vectors, as many as fit into a request. What was made before a failure is kept.
    fn make(&self, texts: &[&str], missing: &[usize], call: &Call<'_>, outcomes: &mut [Option<Outcome>]) -> Result<()> {
        let Call { purpose, attempts, dims, since, stop } = *call;
        let one_by_one = self.profile.dialect.limits().one_by_one && purpose == Purpose::Document;
        let _turn = one_by_one.then(|| self.turn.lock());
        let batches = Batches {
            http: &self.http,
            profile: &self.profile,
            dims,
            max_tokens: self.max_tokens(attempts, stop).map_err(|failure| self.failed(failure))?,
            purpose,
            attempts,
            stop,
            is_sound: Cell::new(false),
        };
        if stop() {
            return Err(Error::Cancelled);
        }
        let left: Vec<&str> = missing.iter().map(|at| texts[*at]).collect();
        let now = &missing[..batches.fitting(&left)];
        let mut made = Vec::with_capacity(now.len());
        let asked = batches.embed(&left[..now.len()], &mut made);
        // Also what was made before a failure: it is paid.
        self.keep(&left, &made, purpose, since);
        for (at, outcome) in now.iter().zip(made) {
            outcomes[*at] = Some(outcome);
        }
        asked.map_err(|failure| self.failed(failure))?;
        self.breaker.answered();
        Ok(())
    }

    fn keep(&self, texts: &[&str], made: &[Outcome], purpose: Purpose, since: Option<CacheState>) {
        let (Some(cache), Some(since)) = (&self.cache, since) else { return };
        let vectors: Vec<(&str, &[f32])> =
            texts.iter().zip(made).filter_map(|(text, made)| Some((*text, made.as_deref().ok()?))).collect();
        if !vectors.is_empty() {
            cache.keep(&vectors, purpose, since);
        }
    }

    fn failed(&self, failure: Failure) -> Error {
        let (why, demanded) = match failure {
            Failure::Cancelled => return Error::Cancelled,
            Failure::Later(why, demanded) | Failure::ServerError(why, demanded) => (why, demanded),
            Failure::OtherLength { found, known } => return self.other_length(found, known),
            Failure::Refused(why) | Failure::Never(why) => (why, None),
        };
        self.breaker.failed(&why, demanded, Instant::now())
    }

    /// Forgets dimensions that were learnt, so that those of now can be.
    fn other_length(&self, found: usize, known: usize) -> Error {
        if self.profile.dims().is_some() {
            let by = if self.profile.settings.dimensions.is_some() { "`dimensions`" } else { "its model" };
            let why = format!("its vectors have {found} numbers, and by {by} they should have {known}");
            let remedy = format!("set `dimensions = {found}`, or name another model");
            return self.breaker.failed(&format!("{why}; {remedy}"), None, Instant::now());
        }
        *self.learnt.lock() = None;
        if let Some(cache) = &self.cache {
            cache.forget_dims(known);
        }
        self.breaker.replaced(&another_model(found, known), Instant::now())
    }

    /// Tokens of a text that the model reads: as set, as it says, or as is known of it.
    fn max_tokens(&self, attempts: Attempts, stop: Stop<'_>) -> Result<usize, Failure> {
        if let Some(known) = self.max_tokens.get() {
            return Ok(*known);
        }
        let (settings, dialect) = (&self.profile.settings, &self.profile.dialect);
        let said = match dialect.window_request(&settings.model).filter(|_| settings.max_tokens.is_none()) {
            None => None,
            Some((operation, body)) => {
                match retry::send(&self.http, &self.profile, operation, &body, 0, attempts, stop) {
                    Ok(answer) => dialect.window(&answer),
                    // Servers that are only compatible may not have this question.
                    Err(Failure::Never(_) | Failure::Refused(_)) => None,
                    Err(other) => return Err(other),
                }
            }
        };
        let most = settings.max_tokens.or(said).unwrap_or(self.profile.known.max_tokens);
        Ok(*self.max_tokens.get_or_init(|| most.max(1)))
    }
}

pub(super) fn another_model(found: usize, known: usize) -> String {
    format!("its vectors have {found} numbers, and had {known}: it has another model by this name now")
}

pub(super) fn refused(Refusal(why): Refusal) -> Error {
    Error::Provider(format!("the embedding provider rejects the text: {why}"))
}

pub(super) fn no_vector() -> Error {
    Error::Provider("the embedding provider gave no vector".to_owned())
}
