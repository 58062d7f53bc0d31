//! Automatic recall: the memories that are injected into a turn of an agent.

use std::cell::LazyCell;
use std::collections::HashMap;

use super::Engine;
use crate::error::Result;
use crate::recall;
use crate::records::rules::recalled;
use crate::types::{Mode, Query, Recall, RecallRequest, RecordId};

impl Engine {
    /// The memories that a turn needs: usually none. A session gets no memory twice unless it has changed since, also if other
    /// processes ask, until [`Engine::forget_recalled`]. Nothing else changes: no access is counted, and no search is logged.
    /// Where the store cannot be written at once, the session may get a memory again.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names the field that is out of bounds.
    pub fn recall(&self, request: &RecallRequest) -> Result<Recall> {
        let recall = self.recall_unnoted(request)?;
        if let Some(session) = &request.session
            && let Err(error) = self.note_recalled(session, &recall.given())
        {
            tracing::warn!("the memories given to a session could not be recorded: {error}");
        }
        Ok(recall)
    }

    /// Does what [`Engine::recall`] does, but records nothing: a caller that learns only later whether the session gets the
    /// memories calls [`Engine::note_recalled`] then.
    ///
    /// # Errors
    /// As [`Engine::recall`].
    pub fn recall_unnoted(&self, request: &RecallRequest) -> Result<Recall> {
        request.validate()?;
        // Once for all words; the search that follows needs it, too.
        let embedder = LazyCell::new(|| (request.mode != Mode::Keyword).then(|| self.store.embedder().ok()).flatten());
        let is_ordinary =
            |word: &str| embedder.as_ref().and_then(|(embedder, _)| embedder.has_word(word)).unwrap_or(true);
        let searched = recall::message_query(&request.message, &request.before, is_ordinary);
        drop(embedder);
        let Some(searched) = searched else { return Ok(Recall::default()) };
        let known = match &request.session {
            Some(session) => self.store.records.copy().snapshot()?.recalled(session)?,
            None => HashMap::new(),
        };
        let query = Query {
            tool: "recall".into(),
            limit: recall::CANDIDATES,
            filter: request.filter.clone(),
            substring_tier: false,
            mode: request.mode,
            ..Query::new(&*searched.text)
        };
        let mut embedded = None;
        let embed = || (query.mode != Mode::Keyword).then(|| self.query_vector(&query.text));
        let reply = self.answer(&query, || embedded.get_or_insert_with(embed).clone())?;
        let warnings = reply.warnings.clone();
        Ok(Recall { warnings, ..recall::choose(reply, searched, request, &known) })
    }

    /// Notes that a session was given these versions of memories, unless the store can only be read.
    ///
    /// # Errors
    /// If another process writes to the store: the call does not wait for long.
    pub fn note_recalled(&self, session: &str, given: &[(RecordId, i64)]) -> Result<()> {
        if given.is_empty() || !self.store.records.can_write() {
            return Ok(());
        }
        recalled::note(&self.store.records, session, given, self.store.now())
    }

    /// Forgets what a session was given: after a compaction or a clear, it has lost it.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) when the store cannot be written.
    pub fn forget_recalled(&self, session: &str) -> Result<()> {
        recalled::forget(&self.store.records, session)
    }
}
