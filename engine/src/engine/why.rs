//! Why a search does not find a memory.

use super::{Engine, Memories};
use crate::error::Result;
use crate::search::judge;
use crate::types::{EmbeddingState, Gone, KeptOut, LinkKind, MAX_LIMIT, Mode, Query, Record, RecordId, Scores, Why};

impl Engine {
    /// The reason why the query excludes a live record, whatever its scores.
    fn refused(&self, record: &Record, query: &Query) -> Result<Option<KeptOut>> {
        match query.filter.refusing(record) {
            Some("viewer") => return Ok(Some(KeptOut::Scope)),
            Some(field) => return Ok(Some(KeptOut::Filter(field))),
            None if query.include_superseded => return Ok(None),
            None => {}
        }
        let (snapshot, viewer) = (self.store.records.copy().snapshot()?, &query.filter.viewer);
        if !self.sets.superseded(viewer, &snapshot)?.contains(record.id.key()) {
            return Ok(None);
        }
        let mut by = snapshot.linked_from(&[record.id], LinkKind::Supersedes, viewer, self.store.now())?;
        Ok(Some(KeptOut::Superseded(by.remove(&record.id).unwrap_or_default())))
    }
}

impl Memories<'_> {
    /// How a memory fares in a search, and what keeps it out of its results. What the viewer does not see is
    /// [unknown](KeptOut::Unknown), whether it exists or not; the viewer of the query may be another. Nothing is kept or counted.
    ///
    /// # Errors
    /// As [`Engine::search`].
    pub fn why(&self, id: RecordId, query: &Query) -> Result<Why> {
        query.validate()?;
        self.viewer.validate()?;
        let mut embedded = None;
        self.engine.store.records.read(|| {
            let (copy, now) = (self.engine.store.records.copy(), self.engine.store.now());
            let nothing = |kept_out| Why {
                id,
                found: false,
                kept_out: Some(kept_out),
                rank: None,
                scores: None,
                terms: Vec::new(),
            };
            let Some(record) = copy.get(id, self.viewer, now)? else {
                return Ok(nothing(match copy.snapshot()?.gone(id, self.viewer, now)? {
                    Some(Gone { deleted_at: Some(at), .. }) => KeptOut::Deleted(at),
                    Some(Gone { record, .. }) => KeptOut::Expired(record.expires_at.unwrap_or(now)),
                    None => KeptOut::Unknown,
                }));
            };
            let vector = embedded
                .get_or_insert_with(|| (query.mode != Mode::Keyword).then(|| self.engine.query_vector(&query.text)));
            let judge_in = |query: &Query| {
                self.engine.with_indexes(|context| judge(context, query, vector.clone(), id, &self.engine.config, now))
            };
            let reply = self
                .engine
                .search_by(query, vector.clone())
                .and_then(|reply| self.engine.with_share(query, vector.clone(), reply))?;
            let at = reply.hits.iter().position(|hit| hit.record.id == id);
            let own = judge_in(query)?;
            // The scores are those of this search; the ranks are of a deeper one.
            let deep = judge_in(&Query { pool: Some(own.pool.max(MAX_LIMIT)), ..query.clone() })?;
            let is_match = own.vector.is_some() || own.keyword.is_some_and(|score| score > 0.0);
            let waits = || {
                Ok::<_, crate::Error>(
                    own.has_vector && own.vector.is_none() && copy.embedding_state(id)? == EmbeddingState::Pending,
                )
            };
            let kept_out = match at {
                Some(_) => None,
                None => Some(match self.engine.refused(&record, query)? {
                    Some(refused) => refused,
                    None if waits()? => KeptOut::NotEmbedded,
                    None if !is_match => KeptOut::NoMatch,
                    None => match own.below {
                        Some((threshold, least)) => KeptOut::Threshold(threshold, least),
                        None if own.is_candidate => KeptOut::Limit,
                        None => KeptOut::Pool { size: own.pool, deeper: deep.pool },
                    },
                }),
            };
            Ok(Why {
                id,
                found: at.is_some(),
                kept_out,
                rank: at.map(|at| query.offset + at + 1).or(deep.rank.filter(|_| is_match)),
                scores: Some(Scores {
                    score: own.score,
                    parts: own.parts,
                    relevance: own.relevance,
                    vector: own.vector,
                    keyword: own.keyword,
                    vector_rank: deep.vector_rank,
                    keyword_rank: deep.keyword_rank,
                    weights: own.weights,
                }),
                terms: own.terms,
            })
        })
    }
}
