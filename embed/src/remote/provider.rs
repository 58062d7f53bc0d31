//! A provider: its cache, its breaker, its requests.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::Instant;

use parking_lot::Mutex;

use super::batches::{Batches, Outcome};
use super::breaker::Breaker;
use super::cache::Cache;
use super::failure::Failure;
use super::http::{Http, Stop};
use super::profile::{Profile, Purpose};
use super::retry;
use crate::error::{Error, Result};
use crate::provider::RemoteSettings;

/// A provider, shared by all who ask it.
pub(super) struct Provider {
    pub profile: Profile,
    pub breaker: Breaker,
    pub http: Http,
    cache: Option<Cache>,
    dims: OnceLock<usize>,
    max_tokens: OnceLock<usize>,
    /// Held during a request where only one is sent at a time.
    turn: Mutex<()>,
}

impl Provider {
    pub fn new(settings: &RemoteSettings) -> Result<Self> {
        let profile = Profile::new(settings)?;
        let cache = settings.cache.clone().filter(|cache| cache.max_entries > 0);
        Ok(Provider {
            breaker: Breaker::new(profile.name()),
            http: Http::new(&profile)?,
            cache: cache.map(|cache| Cache::new(cache, profile.sha256().to_owned())),
            dims: OnceLock::new(),
            max_tokens: OnceLock::new(),
            turn: Mutex::new(()),
            profile,
        })
    }

    /// Numbers per vector, where they are known without a request.
    pub fn dims(&self) -> Option<usize> {
        let known = self.dims.get().copied().or(self.profile.dims());
        known.or_else(|| self.cache.as_ref()?.dims().map(|dims| *self.dims.get_or_init(|| dims)))
    }

    /// The kept vector of a text.
    pub fn kept(&self, text: &str, purpose: Purpose) -> Option<Vec<f32>> {
        self.cache.as_ref()?.find(&[text], purpose).pop()?
    }

    /// The kept vectors of texts.
    pub fn all_kept(&self, texts: &[&str], purpose: Purpose) -> Vec<Option<Vec<f32>>> {
        self.cache.as_ref().map_or_else(|| vec![None; texts.len()], |cache| cache.find(texts, purpose))
    }

    /// Keeps vectors.
    pub fn keep_made(&self, vectors: &[(&str, &[f32])], purpose: Purpose) {
        if let Some(cache) = &self.cache {
            cache.keep(vectors, purpose);
        }
    }

    /// Tokens of a text that the model reads, as far as that is known without a request.
    pub fn most_tokens(&self) -> usize {
        let set = self.profile.settings.max_tokens.or(self.max_tokens.get().copied());
        set.unwrap_or(self.profile.known.max_tokens).max(1)
    }

    /// Vectors of the first texts, in order: of all, unless the provider fails after some.
    pub fn embed(&self, texts: &[&str], purpose: Purpose, stop: Stop<'_>) -> Result<Vec<Outcome>> {
        let kept = self.all_kept(texts, purpose);
        let mut outcomes: Vec<Option<Outcome>> = kept.into_iter().map(|vector| vector.map(Ok)).collect();
        let missing: Vec<usize> = (0..texts.len()).filter(|at| outcomes[*at].is_none()).collect();
        let failed = match missing.is_empty() {
            true => None,
            false => self.make(texts, &missing, purpose, stop, &mut outcomes).err(),
        };
        let made: Vec<Outcome> = outcomes.into_iter().map_while(|outcome| outcome).collect();
        match failed {
            Some(error) if made.is_empty() => Err(error),
            _ => Ok(made),
        }
    }

    /// Makes the missing vectors, request by request. What was made before a failure is kept.
    fn make(
        &self,
        texts: &[&str],
        missing: &[usize],
        purpose: Purpose,
        stop: Stop<'_>,
        outcomes: &mut [Option<Outcome>],
    ) -> Result<()> {
        self.breaker.check(Instant::now())?;
        let one_by_one = self.profile.dialect.limits().one_by_one && purpose == Purpose::Document;
        let _turn = one_by_one.then(|| self.turn.lock());
        let had_dims = self.dims().is_some();
        let batches = Batches {
            http: &self.http,
            profile: &self.profile,
            dims: &self.dims,
            max_tokens: self.max_tokens(purpose, stop).map_err(|failure| self.failed(failure))?,
            purpose,
            stop,
            is_sound: Cell::new(false),
        };
        let mut missing = missing;
        while !missing.is_empty() {
            if stop() {
                return Err(Error::Cancelled);
            }
            let left: Vec<&str> = missing.iter().map(|at| texts[*at]).collect();
            let (now, later) = missing.split_at(batches.fitting(&left));
            let made = batches.embed(&left[..now.len()]).map_err(|failure| self.failed(failure))?;
            self.breaker.answered();
            self.keep(&left, &made, purpose, had_dims);
            for (at, outcome) in now.iter().zip(made) {
                outcomes[*at] = Some(outcome);
            }
            missing = later;
        }
        Ok(())
    }

    fn keep(&self, texts: &[&str], made: &[Outcome], purpose: Purpose, had_dims: bool) {
        let Some(cache) = &self.cache else { return };
        if let Some(dims) = self.dims.get().filter(|_| !had_dims) {
            cache.keep_dims(*dims);
        }
        let vectors: Vec<(&str, &[f32])> =
            texts.iter().zip(made).filter_map(|(text, made)| Some((*text, made.as_deref().ok()?))).collect();
        cache.keep(&vectors, purpose);
    }

    fn failed(&self, failure: Failure) -> Error {
        let (why, demanded) = match failure {
            Failure::Cancelled => return Error::Cancelled,
            Failure::Later(why, demanded) => (why, demanded),
            Failure::Refused(why) | Failure::Never(why) => (why, None),
        };
        self.breaker.failed(&why, demanded, Instant::now())
    }

    /// Tokens of a text that the model reads: as set, as it says, or as is known of it.
    fn max_tokens(&self, purpose: Purpose, stop: Stop<'_>) -> Result<usize, Failure> {
        if let Some(known) = self.max_tokens.get() {
            return Ok(*known);
        }
        let (settings, dialect) = (&self.profile.settings, &self.profile.dialect);
        let said = match dialect.window_request(&settings.model).filter(|_| settings.max_tokens.is_none()) {
            None => None,
            Some((operation, body)) => match retry::send(&self.http, &self.profile, operation, &body, 0, purpose, stop)
            {
                Ok(answer) => dialect.window(&answer),
                // Servers that are only compatible may not have this question.
                Err(Failure::Never(_) | Failure::Refused(_)) => None,
                Err(other) => return Err(other),
            },
        };
        let most = settings.max_tokens.or(said).unwrap_or(self.profile.known.max_tokens);
        Ok(*self.max_tokens.get_or_init(|| most.max(1)))
    }
}
