//! Embeds the records that wait for it, and binds a store to its model.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use memorist_durable::crash;
use memorist_embed::{Embedder, ModelHost, Refusal};

use super::lock::{EmbeddingGuard, WriterGuard};
use super::scale::TEXTS_WORTH_A_SCALE;
use super::store::{Store, as_stored};
use crate::error::{Error, Result};
use crate::progress::{NoProgress, Progress, cancel_point};
use crate::records::rules::{embeddings, passages};
use crate::records::{Model, ModelId, Pending, Vectors};
use crate::text::Hash;
use crate::types::Filter;

/// Texts per round: enough to sort by length before batching, few enough that little is lost if the process is killed.
pub(super) const ROUND: usize = 1_024;
/// Texts that are read at once for a provider, which is given those of one request and is read for again: what is purged
/// meanwhile is not sent.
pub(super) const ROUND_OF_PROVIDER: usize = 256;
/// Vectors stored in one transaction. Saves wait for it.
const STORED_AT_ONCE: usize = 128;
/// The log is applied after this many embeddings, so that the tail stays short.
const APPLY_AFTER: usize = 4_096;

impl Store {
    /// The model, loaded, and the store bound to it: its row.
    ///
    /// # Errors
    /// [`Error::Embedding`] without a model, [`Error::ModelMismatch`] if the store's vectors are another model's.
    pub fn embedder(&self) -> Result<(Arc<dyn Embedder>, ModelId)> {
        self.embedder_for(&NoProgress)
    }

    fn embedder_for(&self, progress: &dyn Progress) -> Result<(Arc<dyn Embedder>, ModelId)> {
        let host = self.host_in_use()?;
        if !host.is_available() {
            return Err(host.why_unavailable().into());
        }
        if self.is_undecided()? {
            return Err(memorist_embed::Error::Unavailable("no memory has an embedding yet".to_owned()).into());
        }
        // Before it is loaded: a model other than the store's cannot be used.
        self.model_at_hand()?;
        let embedder = host.embedder()?;
        let model = self.bind(&*embedder)?;
        if embedder.is_quick() {
            self.measure(&*embedder, &as_stored(embedder.identity()), progress);
        }
        Ok((embedder, model))
    }

    /// Measures the model that saves were embedded with at once, unless that was done. Where no text waits, nothing else does.
    ///
    /// # Errors
    /// As [`Store::embedder`].
    pub fn measure_used(&self, progress: &dyn Progress) -> Result<()> {
        match self.has_embedded.swap(false, Ordering::Relaxed) {
            true => self.embedder_for(progress).map(drop),
            false => Ok(()),
        }
    }

    /// The store's model, which must be the configured one; `None` if it has none yet. Loads nothing, except a custom
    /// model that was never loaded before.
    ///
    /// # Errors
    /// As [`Store::embedder`].
    pub fn model_at_hand(&self) -> Result<Option<(ModelId, Model)>> {
        self.records.known_model(&as_stored(&self.host_in_use()?.identity()?))
    }

    /// The model that serves this store: the configured one; or the fallback, if the store's vectors are the fallback's, or if
    /// the store has none and the configured one is a provider that makes none.
    pub fn host_in_use(&self) -> Result<&ModelHost> {
        let Some(fallback) = &self.fallback else { return Ok(&self.host) };
        let falls_back = match self.model()? {
            Some((_, model)) => fallback.identity().is_ok_and(|identity| as_stored(&identity).is_comparable_to(&model)),
            None => !self.host.is_quick() && !self.host.is_available(),
        };
        Ok(if falls_back { fallback } else { &self.host })
    }

    /// Whether a provider has to make a vector before it becomes the model of this store, which could have the fallback's.
    fn is_undecided(&self) -> Result<bool> {
        Ok(self.fallback.is_some() && self.model()?.is_none() && !self.host_in_use()?.is_quick())
    }

    /// Decides between a provider and its fallback, for a store that has no vectors yet: the first that makes one.
    ///
    /// # Errors
    /// Errors of the last one that was asked.
    pub fn decide(&self) -> Result<()> {
        while self.is_undecided()? {
            let host = self.host_in_use()?;
            match host.verify().map_err(Error::from).and_then(|_| self.bind(&*host.embedder()?)) {
                Ok(_) => break,
                Err(error) if std::ptr::eq(host, self.host_in_use()?) => return Err(error),
                Err(error) => tracing::warn!("the fallback embeds the memories of this store: {error}"),
            }
        }
        Ok(())
    }

    /// The row of the model behind another store's embeddings, if they can be used here: it is the store's model, or
    /// the store has none yet and the configured one is not another.
    pub fn shared_model(&self, model: &Model) -> Result<Option<ModelId>> {
        match self.records.known_model(model) {
            Ok(Some((id, _))) => return Ok(Some(id)),
            Ok(None) => {}
            Err(Error::ModelMismatch { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
        if self.host.is_available() && !as_stored(&self.host.identity()?).is_comparable_to(model) {
            return Ok(None);
        }
        self.records.model(model).map(Some)
    }

    /// Makes the model the store's own, if the store has none; refuses another.
    fn bind(&self, embedder: &dyn Embedder) -> Result<ModelId> {
        self.records.model(&as_stored(embedder.identity()))
    }

    /// Loads the model if it is on this machine and quick, so that the next save is embedded at once. Downloads nothing.
    ///
    /// # Errors
    /// As [`Store::embedder`].
    pub fn warm_up(&self) -> Result<()> {
        let host = self.host_in_use()?;
        if host.is_quick() && host.is_available() {
            // As above: one that cannot be used is not loaded.
            self.model_at_hand()?;
            host.embedder()?;
        }
        Ok(())
    }

    /// Whether records wait for an embedding that this process can compute.
    ///
    /// # Errors
    /// [`Error::ModelMismatch`] if records wait, and the configured model is not the store's.
    pub fn can_embed(&self) -> Result<bool> {
        if self.pending_count()? == 0 || !self.host_in_use()?.is_available() {
            return Ok(false);
        }
        let jobs = self.records.batch_jobs()?.len();
        let state = Some((self.records.head()?, jobs)).filter(|_| jobs > 0);
        if state.is_some() && *self.nothing_to_embed.lock() == state {
            return Ok(false);
        }
        let Some((model, _)) = self.model_at_hand()? else { return Ok(true) };
        // All that wait may have been refused, or wait for a batch job, which takes a while to find out.
        let can_embed = !self.records.pending(model, 1, self.now())?.is_empty();
        *self.nothing_to_embed.lock() = state.filter(|_| !can_embed);
        Ok(can_embed)
    }

    /// How many texts of live records wait for an embedding that this process can compute at once.
    ///
    /// # Errors
    /// If records wait and there is no model available, or another than the store's.
    pub fn embeddable_count(&self) -> Result<u64> {
        let waiting = self.pending_count()?;
        if waiting == 0 {
            return Ok(0);
        }
        let (_, model) = self.embedder()?;
        if self.records.pending(model, 1, self.now())?.is_empty() {
            // All that wait were refused, or wait for a batch job.
            return Ok(0);
        }
        Ok(waiting.saturating_sub(self.records.refused(self.now())?.len() as u64 + self.texts_in_jobs()?))
    }

    /// Whether the model of this store is so quick that others can wait for it. Loads nothing.
    pub fn embeds_quickly(&self) -> Result<bool> {
        Ok(self.host_in_use()?.is_quick())
    }

    /// How many live records and further passages of them wait for an embedding. Without a model, all of them do.
    pub fn pending_count(&self) -> Result<u64> {
        let (records, now) = (self.records.copy().snapshot()?, self.now());
        Ok(records.pending_count(now)? + records.pending_passages(&Filter::default(), now)?)
    }

    /// Cuts the texts of records into passages that were saved before there were any: these wait for their embeddings then.
    pub fn cut_texts(&self, progress: &dyn Progress) -> Result<()> {
        while self.records.has_uncut()? && passages::cut_some(&self.records)? {
            crash::point("some texts cut");
            cancel_point(progress)?;
        }
        Ok(())
    }

    /// Embeds what waits, at most so many texts, and applies it along the way. Returns how many texts were embedded. It
    /// can be interrupted and continued: each round is stored in a separate transaction.
    pub fn embed_backlog(&self, proof: &WriterGuard<'_>, most: u64, progress: &dyn Progress) -> Result<u64> {
        self.embed_waiting(Some(proof), most, progress)
    }

    /// As [`Store::embed_backlog`], with a model that takes long: others may write the indexes meanwhile. What each request
    /// has made is stored at once.
    pub fn embed_with_provider(&self, _proof: &EmbeddingGuard<'_>, most: u64, progress: &dyn Progress) -> Result<u64> {
        self.embed_waiting(None, most, progress)
    }

    fn embed_waiting(&self, proof: Option<&WriterGuard<'_>>, most: u64, progress: &dyn Progress) -> Result<u64> {
        let waiting = self.pending_count()?.saturating_sub(self.texts_in_jobs()?).min(most);
        if waiting == 0 {
            return Ok(0);
        }
        self.decide()?;
        let (embedder, model) = self.embedder_for(progress)?;
        cancel_point(progress)?;
        if self.vectors.is_unusable() {
            self.as_writer_if_free(proof, |proof| self.repair_indexes(proof, progress))?;
        }
        progress.start("embedding", Some(waiting));
        let embedded = self.embed_rounds(proof, &*embedder, model, most, progress);
        progress.finish();
        embedded
    }

    fn embed_rounds(
        &self,
        proof: Option<&WriterGuard<'_>>,
        embedder: &dyn Embedder,
        model: ModelId,
        most: u64,
        progress: &dyn Progress,
    ) -> Result<u64> {
        let at_once = if proof.is_some() { ROUND } else { ROUND_OF_PROVIDER };
        let (mut embedded, mut unapplied) = (0, 0);
        // Refused texts count too: they are not offered again.
        let mut left = most;
        loop {
            let round = at_once.min(usize::try_from(left).unwrap_or(at_once));
            let pending = self.records.pending(model, round, self.now())?;
            if pending.is_empty() {
                return Ok(embedded);
            }
            let made = embed(embedder, &pending, progress)?;
            for some in made.vectors.chunks(STORED_AT_ONCE) {
                embeddings::store_embeddings(&self.records, model, some)?;
            }
            self.records.set_aside(model, &made.refused)?;
            if made.vectors.len() >= TEXTS_WORTH_A_SCALE {
                self.measure(embedder, &as_stored(embedder.identity()), progress);
            }
            left -= made.texts() as u64;
            embedded += made.vectors.len() as u64;
            unapplied += made.vectors.len();
            progress.advance(made.texts() as u64);
            self.records.shorten_wal()?;
            if unapplied >= APPLY_AFTER {
                self.as_writer_if_free(proof, |proof| self.catch_up(proof, &NoProgress))?;
                unapplied = 0;
            }
            if progress.cancelled() {
                return Err(Error::Cancelled);
            }
        }
    }

    /// Works as the one index writer, with this proof or with the lock if it is free: else its holder does the same.
    fn as_writer_if_free(
        &self,
        proof: Option<&WriterGuard<'_>>,
        work: impl FnOnce(&WriterGuard<'_>) -> Result<()>,
    ) -> Result<()> {
        match proof {
            Some(proof) => work(proof),
            None => self.lock.try_acquire()?.map_or(Ok(()), |guard| self.as_writer(guard, work)),
        }
    }

    /// Embeds one text at once and stores it, if that is quick. Returns whether it did.
    pub fn embed_now(&self, hash: Hash, text: String) -> Result<bool> {
        let Some((model, vectors)) = self.quick_vectors(vec![(hash, text)])? else { return Ok(false) };
        let made: Vec<_> = vectors.into_iter().collect();
        embeddings::store_embeddings(&self.records, model, &made)?;
        Ok(!made.is_empty())
    }

    /// The vectors of texts that have none yet, if that costs no more than the embedding itself: the model is in memory and
    /// the store is bound to it.
    pub fn quick_vectors(&self, mut texts: Vec<(Hash, String)>) -> Result<Option<Vectors>> {
        if texts.is_empty() {
            return Ok(None);
        }
        if self.vectors.is_unusable() && !self.is_unbuilt(&self.paths.vectors())? {
            return Ok(None);
        }
        let Some(embedder) = self.host_in_use()?.try_embedder().filter(|embedder| embedder.is_quick()) else {
            return Ok(None);
        };
        texts.retain(|(_, text)| !is_unread(&*embedder, text));
        let model = self.bind(&*embedder)?;
        let without = self.records.without_vector(model, texts.iter().map(|(hash, _)| *hash))?;
        texts.retain(|(hash, _)| without.contains(hash));
        if texts.is_empty() {
            return Ok(None);
        }
        let vectors = embedder.embed_batch(&texts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>())?;
        self.has_embedded.store(true, Ordering::Relaxed);
        Ok(Some((model, texts.into_iter().map(|(hash, _)| hash).zip(vectors).collect())))
    }
}

/// The results of a model for the first of some texts, each under its hash.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// Their vectors.
    pub vectors: Vec<(Hash, Vec<f32>)>,
    /// Why it refused others.
    pub refused: Vec<(Hash, String)>,
}

impl Made {
    /// How many of the first texts it was given.
    pub fn texts(&self) -> usize {
        self.vectors.len() + self.refused.len()
    }
}

/// Why such a text has no vector.
const UNREAD: &str = "the model knows none of its characters";

/// Whether the model reads nothing of a text but unknown tokens: then its vector would be that of all such texts.
fn is_unread(embedder: &dyn Embedder, text: &str) -> bool {
    embedder.unknown_share(text).is_some_and(|share| share >= 1.0)
}

/// Embeds the texts: all of them, or the first, if the model makes no more at once.
pub(super) fn embed(embedder: &dyn Embedder, pending: &[Pending], progress: &dyn Progress) -> Result<Made> {
    if pending.is_empty() {
        return Ok(Made::default());
    }
    let texts: Vec<&str> = pending.iter().map(|pending| pending.text.as_str()).collect();
    let mut made = Made::default();
    for (outcome, Pending { hash, text, .. }) in embedder.embed_each(&texts, progress)?.into_iter().zip(pending) {
        match outcome {
            Ok(_) if is_unread(embedder, text) => made.refused.push((*hash, UNREAD.to_owned())),
            Ok(vector) => made.vectors.push((*hash, vector)),
            Err(Refusal(why)) => made.refused.push((*hash, why)),
        }
    }
    if made.texts() == 0 {
        return Err(Error::bad_vector("it made no vector"));
    }
    Ok(made)
}
