//! Changes the embedding model of a store. The new embeddings are computed beside those in use, which serve until
//! nothing is missing. An interrupted change can be continued.
//!
//! 1. Every text is embedded and stored under the next model. The indexes stay available to others meanwhile. With a provider,
//!    its lock is held all the time, so that no other process pays for the same texts.
//! 2. Under the writer lock, a vector index is built beside the one in use.
//! 3. One transaction makes the next model the store's.
//! 4. The new index replaces the old one. After a crash before this, the old one is there, which is another model's: it
//!    is rebuilt from the records.

use memorist_durable::crash;
use memorist_embed::Embedder;

use super::backlog::{Made, ROUND, ROUND_OF_PROVIDER, embed};
use super::jobs::Target;
use super::lock::WriterGuard;
use super::store::{Store, as_stored};

use crate::error::{Error, Result};
use crate::progress::{Progress, cancel_point};
use crate::records::rules::{embeddings, next_model};
use crate::records::{MAX_UNEMBEDDED_AT_SWITCH, Model, ModelId, Pending};
use crate::types::RecordId;

/// The result of [`Store::reembed`].
#[derive(Debug)]
pub struct Reembedded {
    /// The store's previous model; `None` if it had none: then there was nothing to do.
    pub before: Option<Model>,
    /// Whether the store's model was another one than the configured one.
    pub changed: bool,
    /// Texts embedded by this call.
    pub texts: u64,
}

impl Store {
    /// How many texts the configured model has not embedded, and how many bytes they have.
    pub fn to_reembed(&self) -> Result<(u64, u64)> {
        self.learn_model()?;
        self.records.copy().snapshot()?.to_embed(&as_stored(&self.host.identity()?), self.now())
    }

    /// Changes the store's model to the configured one. If it is already, an unfinished change to another is abandoned,
    /// and texts that it refused are tried again.
    ///
    /// # Errors
    /// [`Error::Embedding`] without a model; [`Error::Cancelled`]; [`Error::ModelChanging`] if another process has
    /// started a change to a third model.
    pub fn reembed(&self, progress: &dyn Progress) -> Result<Reembedded> {
        if !self.host.is_available() {
            return Err(self.host.why_unavailable().into());
        }
        let cancelled = || cancel_point(progress).map(|()| false);
        let embedding = match self.host.is_quick() {
            true => None,
            false => Some(self.embedding.acquire_unless(progress, cancelled)?.ok_or(Error::Cancelled)?),
        };
        self.learn_model()?;
        let embedder = self.host.embedder()?;
        self.cut_texts(progress)?;
        let model = as_stored(embedder.identity());
        let before = self.model()?.map(|(_, model)| model);
        let (mut texts, mut changed) = (0, false);
        while let Some(id) = next_model::begin_next_model(&self.records, &model)? {
            changed = true;
            let next = Next { id, model: &model, embedder: &*embedder };
            texts += self.embed_in_jobs(&next, progress)?;
            texts += self.embed_missing(&next, progress)?;
            let Some(guard) = self.lock.acquire_unless(progress, cancelled)? else { return Err(Error::Cancelled) };
            texts += self.as_writer(guard, |guard| self.change_model(guard, &next, progress))?;
        }
        if !changed && before.is_some() {
            self.records.retry_refused()?;
        }
        if let Some(embedding) = embedding.filter(|_| changed) {
            // The few that were written in the last moment.
            texts += self.embed_with_provider(&embedding, u64::MAX, progress)?;
        }
        if changed && embedder.is_quick() {
            self.measure(&*embedder, &model, progress);
        }
        self.records.shorten_wal()?;
        Ok(Reembedded { before, changed, texts })
    }

    /// Makes sure that the model is known as it is now: a provider may have replaced it by another of the same name.
    fn learn_model(&self) -> Result<()> {
        if self.host.is_quick() {
            return Ok(());
        }
        match self.host.verify() {
            Err(error) if matches!(error.root(), memorist_embed::Error::Replaced(_)) => Ok(()),
            verified => Ok(verified.map(drop)?),
        }
    }

    /// Embeds what the next model lacks in batch jobs, if there is enough for them.
    fn embed_in_jobs(&self, next: &Next<'_>, progress: &dyn Progress) -> Result<u64> {
        if next.embedder.batch_jobs().is_none() {
            return Ok(0);
        }
        let guard = self.acquire_jobs(progress)?;
        let target = Target { embedder: next.embedder, model: next.id, is_next: true };
        self.submit_pending(&guard, &target, u64::MAX, progress)?;
        self.await_jobs(&guard, &target, progress, &mut || Ok(()))
    }

    /// Embeds what the next model lacks, except for up to a round that may be written meanwhile.
    fn embed_missing(&self, next: &Next<'_>, progress: &dyn Progress) -> Result<u64> {
        let unfinished = self.records.copy().snapshot()?.next_model(self.now())?;
        progress.start("embedding again", unfinished.map(|unfinished| unfinished.missing));
        let embedded = self.walk_missing(next, progress);
        progress.finish();
        embedded
    }

    fn walk_missing(&self, next: &Next<'_>, progress: &dyn Progress) -> Result<u64> {
        let (mut embedded, mut after) = (0, RecordId::START);
        let at_once = if next.embedder.is_quick() { ROUND } else { ROUND_OF_PROVIDER };
        loop {
            let texts = self.records.missing(next.id, after, at_once, self.now())?;
            let made = self.embed_next(next, &texts, progress)?;
            embedded += made.vectors.len() as u64;
            progress.advance(made.texts() as u64);
            cancel_point(progress)?;
            match texts[..made.texts()].last() {
                Some(last) if made.texts() < texts.len() || texts.len() == at_once => after = last.record_id,
                _ if after == RecordId::START => return Ok(embedded),
                // Once more from the beginning, for changes behind this walk.
                _ => after = RecordId::START,
            }
        }
    }

    /// Embeds the first of the texts, as many as the model makes at once.
    fn embed_next(&self, next: &Next<'_>, texts: &[Pending], progress: &dyn Progress) -> Result<Made> {
        let made = embed(next.embedder, texts, progress)?;
        next_model::store_next(&self.records, next.id, &made.vectors)?;
        self.records.set_aside(next.id, &made.refused)?;
        Ok(made)
    }

    /// Builds the next model's vector index and switches to it, unless so much was written meanwhile that it must be
    /// embedded first, without the lock. Returns how many texts were embedded.
    fn change_model(&self, proof: &WriterGuard<'_>, next: &Next<'_>, progress: &dyn Progress) -> Result<u64> {
        let rest = || self.records.missing(next.id, RecordId::START, ROUND, self.now());
        let is_done_by_another = self.model()?.is_some_and(|(id, _)| id == next.id);
        if is_done_by_another || rest()?.len() == ROUND {
            return Ok(0);
        }
        // The other backends are in the memory of each process, which fills its own.
        let layout = self.config.backend.layout();
        let build = |layout| self.build_vectors_aside(proof, next.id, next.model, layout, progress);
        let indexed = layout.map(build).transpose()?;
        crash::point("next model embedded");
        let is_quick = next.embedder.is_quick();
        // Others do not wait for a provider: what it has not embedded yet waits, as every new text does.
        let most_missing = if is_quick { MAX_UNEMBEDDED_AT_SWITCH } else { ROUND };
        let mut embedded = 0;
        while !next_model::change_model(&self.records, next.id, indexed.as_ref(), most_missing, self.now())? {
            let texts = rest()?;
            // Those that lack their vector are too many, or wait for a batch job or a provider.
            if texts.is_empty() || texts.len() == ROUND || !is_quick {
                return Ok(embedded);
            }
            embedded += self.embed_next(next, &texts, progress)?.vectors.len() as u64;
            cancel_point(progress)?;
        }
        crash::point("model changed");
        match indexed {
            Some(_) => self.swap_in_vectors(proof)?,
            None => drop(self.rebuild_vectors(proof, progress)?),
        }
        if is_quick {
            // The few that were written in the last moment.
            let texts = self.records.pending(next.id, ROUND, self.now())?;
            let made = embed(next.embedder, &texts, progress)?;
            embeddings::store_embeddings(&self.records, next.id, &made.vectors)?;
            self.records.set_aside(next.id, &made.refused)?;
            embedded += made.vectors.len() as u64;
        }
        self.catch_up(proof, progress)?;
        Ok(embedded)
    }
}

/// The model that the store is changing to.
struct Next<'a> {
    id: ModelId,
    model: &'a Model,
    embedder: &'a dyn Embedder,
}
