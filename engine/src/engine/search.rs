//! Searching, and the model behind it.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::own_vectors::unit;
use super::{Engine, searches};
use crate::error::{Error, Result};
use crate::records::ModelId;
use crate::search::{self, Embedded, NoVector, QueryVector, SearchContext};
use crate::sync::{Message, Searched, SearchedHit};
use crate::types::{Filter, Hit, Mode, Query, RecordId, SearchReply};

/// Up to this many records, a search that finds an index unusable rebuilds it first instead of skipping it.
const REBUILD_BEFORE_SEARCH: u64 = 5_000;

/// A search waits for such a rebuild by another thread or process no longer than this, and looks this often whether it has ended.
const REBUILD_WAIT: Duration = Duration::from_secs(1);
const REBUILD_LOOK: Duration = Duration::from_millis(5);

/// How many damaged indexes a search rebuilds: each of the two once.
const MENDED_AT_MOST: usize = 2;

impl Engine {
    /// Searches. An unusable index or an unavailable model is a warning in the reply, not an error. The search is kept
    /// ([`Engine::searches`]), unless [`Config::log_searches`](crate::config::Config::log_searches) says otherwise.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the field that is out of bounds.
    pub fn search(&self, query: &Query) -> Result<SearchReply> {
        let reply = self.search_unlogged(query)?;
        if self.config.log_searches {
            let viewer = &query.filter.viewer;
            let hit = |hit: &Hit| SearchedHit {
                id: hit.record.id,
                score: hit.score,
                // A purge by this viewer must reach every query that is kept.
                keeps_query: viewer.changes(&hit.record.scope),
            };
            let hits = reply.hits.iter().map(hit).collect();
            let trace = searches::trace(query, &reply, self.store.now());
            // A later page is no search of its own.
            self.worker.send(Message::Searched(Box::new(Searched { trace, hits, is_first: query.offset == 0 })));
        }
        Ok(reply)
    }

    /// Searches, and keeps nothing of it: for a person who looks.
    ///
    /// # Errors
    /// As [`Engine::search`].
    pub fn search_unlogged(&self, query: &Query) -> Result<SearchReply> {
        query.validate()?;
        let (mut embedded, mut embed_us) = (None, 0);
        let mut reply = self.answer(query, || {
            let embed = || {
                let started = Instant::now();
                let vector = (query.mode != Mode::Keyword).then(|| self.query_vector(&query.text));
                embed_us = started.elapsed().as_micros() as u64;
                vector
            };
            embedded.get_or_insert_with(embed).clone()
        })?;
        reply.explain.embed_us = embed_us;
        reply.explain.total_us += embed_us;
        Ok(reply)
    }

    /// Searches with a given embedding: what [`Engine::search`] does after the model. `None` searches by keywords only,
    /// and so does a vector while the configured model is not the store's; a query without text finds nothing then.
    ///
    /// # Errors
    /// As [`Engine::search`], and when `vector` has other dimensions than the model, or a number that is not finite.
    pub fn search_with(&self, query: &Query, vector: Option<Vec<f32>>) -> Result<SearchReply> {
        let Some(vector) = vector else {
            query.validate()?;
            return self.answer(query, || None);
        };
        query.validate_with_vector()?;
        let vector = match self.model_of_own_vectors() {
            Ok(Some((model, dims))) => Ok(self.with_scale(model, unit(&vector, dims)?)),
            Ok(None) => Err(NoVector::because("no embedding model has been used yet")),
            Err(error) => Err(error.into()),
        };
        self.answer(query, || Some(vector.clone()))
    }

    /// The nearest records to a vector that pass `filter`, nearest first, each with its cosine distance, 0 to 2: the
    /// vector part of a search.
    ///
    /// # Errors
    /// Errors of [`Engine::search_with`].
    pub fn vector_search(&self, vector: Vec<f32>, limit: usize, filter: Filter) -> Result<Vec<(RecordId, f64)>> {
        let query = Query { limit, filter, include_superseded: true, ..Query::of_vector() };
        let hits = self.search_with(&query, Some(vector))?.hits.into_iter();
        Ok(hits.filter_map(|hit| hit.vector_score.map(|cosine| (hit.record.id, 1.0 - cosine))).collect())
    }

    /// The records with words of `text` that pass `filter`, best first, each with its BM25 score: the keyword part of a
    /// search.
    ///
    /// # Errors
    /// Errors of [`Engine::search`].
    pub fn keyword_search(&self, text: &str, limit: usize, filter: Filter) -> Result<Vec<(RecordId, f64)>> {
        let query = Query { mode: Mode::Keyword, limit, filter, include_superseded: true, ..Query::new(text) };
        let hits = self.search_with(&query, None)?.hits.into_iter().filter(|hit| !hit.matched_by.is_empty());
        Ok(hits.filter_map(|hit| hit.keyword_score.map(|score| (hit.record.id, score))).collect())
    }

    /// How many records that pass `filter` a search for the words of `text` finds, without a limit.
    ///
    /// # Errors
    /// Errors of [`Engine::search`].
    pub fn keyword_count(&self, text: &str, filter: Filter) -> Result<u64> {
        let one = Query { mode: Mode::Keyword, limit: 1, filter, ..Query::new(text) };
        one.validate()?;
        let records = &self.store.records;
        records.read(|| {
            let live = records.copy().snapshot()?.live_count(self.store.now())?;
            let all = usize::try_from(live).unwrap_or(usize::MAX).max(1);
            let one = Query { pool: Some(all), ..one.clone() };
            match self.search_by(&one, None)?.explain.keyword_candidates {
                // No word occurs: then parts of words are searched.
                0 => Ok(self.search_by(&Query { limit: all, ..one }, None)?.hits.len() as u64),
                found => Ok(found as u64),
            }
        })
    }

    /// The vector that [`Engine::search`] would use for this text.
    ///
    /// # Errors
    /// [`Error::Embedding`] if there is no model.
    pub fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        self.embed_for_search(text).map(|embedded| embedded.vector)
    }

    /// Whether the embedding model is in memory.
    pub fn is_model_loaded(&self) -> bool {
        self.store.host.is_warm()
    }

    /// Loads the embedding model if it is on this machine and is no provider's: what is saved next is embedded at once, and
    /// compared with what is near. Downloads nothing.
    ///
    /// # Errors
    /// [`Error::Embedding`] if it cannot be loaded, [`Error::ModelMismatch`] if the store's vectors are another model's.
    pub fn warm_up(&self) -> Result<()> {
        self.store.warm_up()
    }

    /// Dimensions of the store's model, or of the configured one if the store has none yet.
    ///
    /// # Errors
    /// Errors of the model, if it has to be loaded.
    pub fn dimensions(&self) -> Result<usize> {
        match self.store.model()? {
            Some((_, model)) => Ok(model.dims),
            None => Ok(self.store.host.identity()?.dims),
        }
    }

    /// The answer as of now, with its share of memories. `vector` may be needed twice.
    pub(super) fn answer(&self, query: &Query, mut vector: impl FnMut() -> Option<QueryVector>) -> Result<SearchReply> {
        self.store.records.read(|| {
            let vector = vector();
            let reply = self.search_by(query, vector.clone())?;
            let mut reply = self.with_share(query, vector, reply)?;
            search::order::explain(&mut reply.hits);
            Ok(reply)
        })
    }

    /// Searches what is here.
    pub(super) fn search_by(&self, query: &Query, vector: Option<QueryVector>) -> Result<SearchReply> {
        // Finding it opens its weights: a search that it does not serve does not need them.
        let may_rerank = query.rerank && query.mode == Mode::Hybrid;
        let (reranker, warning) = match may_rerank.then(|| self.reranker.get()).transpose() {
            Ok(found) => (found.flatten(), None),
            Err(error) => (None, Some(search::not_reranked(&error))),
        };
        let mut reply = self.with_indexes(|context| {
            search::search(context, query, vector.clone(), reranker.as_ref(), &self.config, self.store.now())
        })?;
        reply.warnings.extend(warning);
        Ok(reply)
    }

    /// Runs what reads the indexes.
    pub(super) fn with_indexes<T>(&self, work: impl Fn(&SearchContext<'_>) -> Result<T>) -> Result<T> {
        // Damage is found when it is read: then the index becomes unusable, and the search continues without it. Each
        // index may be rebuilt once; one that is found damaged again is skipped.
        let mut mended = 0;
        loop {
            if mended < MENDED_AT_MOST {
                self.mend_if_quick()?;
                mended += 1;
            }
            let context = SearchContext { store: &self.store, tails: &self.tails, sets: &self.sets };
            match work(&context) {
                Err(damaged @ Error::IndexUnusable { .. }) => self.store.mark_unusable(damaged)?,
                outcome => return outcome,
            }
        }
    }

    pub(super) fn query_vector(&self, text: &str) -> QueryVector {
        self.embed_for_search(text).map_err(NoVector::from)
    }

    fn embed_for_search(&self, text: &str) -> Result<Embedded> {
        let (embedder, model) = self.store.embedder()?;
        let unknown = embedder.unknown_share(text).unwrap_or_default();
        if unknown >= 1.0 {
            let why = "the embedding model knows none of the characters of the query";
            return Err(memorist_embed::Error::Unavailable(why.to_owned()).into());
        }
        let Embedded { model, vector, scale } = self.with_scale(model, embedder.embed_query(text)?);
        Ok(Embedded { model, vector, scale: scale.reading(1.0 - unknown) })
    }

    pub(super) fn with_scale(&self, model: ModelId, vector: Vec<f32>) -> Embedded {
        Embedded { model, scale: self.store.query_scale(model, &vector), vector }
    }

    /// Whether an index is missing, damaged or of another version, in a store so large that no search waits for its rebuild.
    /// Searches do without it until it is rebuilt: in the background by an open engine, or by
    /// [`Engine::flush`].
    pub fn needs_rebuild(&self) -> Result<bool> {
        Ok(self.is_unusable_when_reopened()? && !self.is_small()?)
    }

    fn is_small(&self) -> Result<bool> {
        Ok(self.store.records.snapshot()?.live_count(self.store.now())? <= REBUILD_BEFORE_SEARCH)
    }

    /// A small store's index is rebuilt faster than anybody could read the warning that it is missing.
    fn mend_if_quick(&self) -> Result<()> {
        if !self.store.has_unusable_index()? || !self.is_unusable_when_reopened()? {
            return Ok(());
        }
        if !self.store.records.can_write() {
            return self.store.index_in_memory();
        }
        if !self.config.index_writer || !self.is_small()? {
            return Ok(());
        }
        let until = Instant::now() + REBUILD_WAIT;
        loop {
            if let Some(guard) = self.store.lock.try_acquire()? {
                let mended =
                    self.store.as_writer(guard, |guard| self.store.repair_indexes(guard, &crate::progress::NoProgress));
                if let Err(error) = mended {
                    // The search continues without that index, with a warning.
                    tracing::warn!("an index could not be rebuilt: {error}");
                }
                return Ok(());
            }
            // One search waits in vain for a process that is paused, and the next ones no more.
            if self.is_rebuild_late.load(Ordering::Relaxed) || Instant::now() >= until {
                self.is_rebuild_late.store(true, Ordering::Relaxed);
                return Ok(());
            }
            thread::sleep(REBUILD_LOOK);
            if !self.is_unusable_when_reopened()? {
                return Ok(());
            }
        }
    }

    /// Whether an index is unusable, and nobody has rebuilt it.
    fn is_unusable_when_reopened(&self) -> Result<bool> {
        self.store.reopen()?;
        self.store.has_unusable_index()
    }
}
