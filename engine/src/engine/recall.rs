//! What a turn of an agent is given unasked.

use std::collections::HashMap;

use super::Engine;
use crate::error::Result;
use crate::recall;
use crate::types::{Query, Recall, RecallRequest};

impl Engine {
    /// What is known that a turn needs: mostly nothing. A session gets no memory twice unless it has changed since, also if
    /// other processes ask, until [`Engine::forget_recalled`]. Nothing else changes: no access is counted, and no search is
    /// kept. Where the store cannot be written at once, the session may get a memory again.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names the field that is out of bounds.
    pub fn recall(&self, request: &RecallRequest) -> Result<Recall> {
        request.validate()?;
        let Some(text) = recall::searched(&request.message) else { return Ok(Recall::default()) };
        let known = match &request.session {
            Some(session) => self.store.records.snapshot()?.recalled(session)?,
            None => HashMap::new(),
        };
        let query = Query {
            tool: "recall",
            limit: recall::CANDIDATES,
            filter: request.filter.clone(),
            min_relevance: Some(request.min_score),
            substring_tier: false,
            ..Query::new(text)
        };
        let vector = Some(self.query_vector(&query.text));
        let reply = self.search_by(&query, vector.clone())?;
        let hits = self.with_share(&query, vector, reply)?.hits;
        let recall = recall::choose(hits, &query.text, request, &known);
        if let Some(session) =
            request.session.as_deref().filter(|_| !recall.is_silent() && self.store.records.can_write())
        {
            let given: Vec<_> =
                recall.memories.iter().map(|memory| (memory.record.id, memory.record.version)).collect();
            if let Err(error) = self.store.records.note_recalled(session, &given, self.store.now()) {
                tracing::warn!("what a session was given could not be noted: {error}");
            }
        }
        Ok(recall)
    }

    /// Forgets what a session was given: after a compaction or a clear, it has lost it.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) when the store cannot be written.
    pub fn forget_recalled(&self, session: &str) -> Result<()> {
        self.store.records.forget_recalled(session)
    }
}
