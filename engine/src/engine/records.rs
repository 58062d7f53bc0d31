//! Saving, fetching, changing and deleting records.

use std::borrow::Cow;

use super::Engine;
use crate::error::{Error, Result};
use crate::keywords::significant_words;
use crate::records::rules::{add, save, trash, update};
use crate::records::{Access, AccessKind, Changed, Commits, Saving, Vectors};
use crate::sensitive::logged_query;
use crate::sync::Message;
use crate::text;
use crate::types::bounds::check_limit;
use crate::types::{
    AddOutcome, EmbeddingState, Expect, Filter, Gone, Link, ListQuery, NewRecord, Record, RecordId, RecordUpdate, Save,
    Saved, Stats, UpdateOutcome, Version, Viewer,
};

impl Engine {
    /// Saves a record. Returns when it is on disk, with its embedding if the model is in memory; otherwise that follows. A text
    /// that the scope already has is not saved again: the outcome names its record.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the field that is out of bounds.
    pub fn add(&self, new: &NewRecord) -> Result<AddOutcome> {
        let viewer = Viewer::of(&new.scope);
        let save = Save { record: new.clone(), links: Vec::new(), given: None, viewer };
        Ok(self.save(&[save])?.swap_remove(0)?.added)
    }

    /// Saves records with their links in one transaction: all are on disk when it returns, or none. One outcome per record,
    /// in order; a record that is refused does not stop the others. They are embedded as in [`Engine::add`].
    pub fn save(&self, saves: &[Save]) -> Result<Vec<Result<Saved>>> {
        let sensitive = self.config.sensitive;
        let allow = |save| {
            let save: &Save = save;
            Ok(match sensitive.new_record(&save.record)? {
                Cow::Borrowed(_) => Cow::Borrowed(save),
                Cow::Owned(record) => Cow::Owned(Save { record, ..save.clone() }),
            })
        };
        let outcomes = save_allowed(saves, allow, |allowed| {
            let vectors = self.vectors_of(&allowed);
            save::save(&self.store.records, &allowed, vectors.as_ref(), self.store.now())
        })?;
        self.worker.send(Message::Written);
        Ok(outcomes.into_iter().map(|outcome| self.saved(outcome?)).collect())
    }

    /// The vectors of the texts, as far as they are quickly made. The others wait for the worker, as further passages do.
    fn vectors_of(&self, saves: &[Cow<'_, Save>]) -> Option<Vectors> {
        let text = |save: &Cow<'_, Save>| {
            let NewRecord { context, content, .. } = &save.record;
            let context = context.as_deref();
            (text::embedding_hash(context, content), text::embedding_text(context, content))
        };
        self.store.quick_vectors(saves.iter().map(text).collect()).unwrap_or_else(|error| {
            tracing::debug!("not embedded at once: {error}");
            None
        })
    }

    fn saved(&self, Saving { added, links, updated }: Saving) -> Result<Saved> {
        let updated =
            updated.map(|changed| changed.and_then(|changed| self.changed(Some(changed.before), changed.after)));
        Ok(Saved { added, links, updated })
    }

    /// Saves many in one transaction. One outcome per record, in order; a refused record does not stop the others. They
    /// are embedded in the background, or by [`Engine::embed_pending`].
    pub fn add_batch(&self, new: &[NewRecord]) -> Result<Vec<Result<AddOutcome>>> {
        let sensitive = self.config.sensitive;
        let allow = |new| sensitive.new_record(new);
        let outcomes =
            save_allowed(new, allow, |allowed| add::add_batch(&self.store.records, &allowed, self.store.now()))?;
        self.worker.send(Message::Written);
        Ok(outcomes)
    }

    /// The record. Counts the access, unless the store is busy.
    ///
    /// # Errors
    /// [`Error::NotFound`] when no live record that `viewer` sees has this id.
    pub fn get(&self, id: RecordId, viewer: &Viewer) -> Result<Record> {
        self.peek(id, viewer)?.ok_or(Error::NotFound(id))?;
        let access = Access { id, kind: AccessKind::Get, score: None, query: None, counts: true };
        if let Err(error) = self.store.records.record_access(&[access], self.store.now()) {
            tracing::debug!("an access was not counted: {error}");
        }
        self.peek(id, viewer)?.ok_or(Error::NotFound(id))
    }

    /// The record, if a live one with this id exists that `viewer` sees. Counts nothing.
    pub fn peek(&self, id: RecordId, viewer: &Viewer) -> Result<Option<Record>> {
        viewer.validate()?;
        self.store.records.get(id, viewer, self.store.now())
    }

    /// The local state of a record that `viewer` sees, with at most `links` of its links. Counts no access, and does not ask the
    /// server of a team. For polling.
    ///
    /// # Errors
    /// [`Error::Database`] if the store cannot be read.
    pub fn glance(&self, id: RecordId, viewer: &Viewer, links: usize) -> Result<Option<(Record, Vec<Link>)>> {
        viewer.validate()?;
        let (copy, now) = (self.store.records.copy(), self.store.now());
        let Some(record) = copy.get(id, viewer, now)? else { return Ok(None) };
        let links = copy.snapshot()?.links(id, viewer, links, now)?;
        Ok(links.map(|links| (record, links)))
    }

    /// Tells whether something was written, by whichever process.
    ///
    /// # Errors
    /// [`Error::Database`] if the store cannot be read.
    pub fn commits(&self) -> Result<Commits> {
        self.store.records.copy().commits()
    }

    /// Writes an access to the access log, and counts it.
    ///
    /// # Errors
    /// [`Error::Store`] if the store is busy.
    pub fn log_access(&self, id: RecordId, kind: AccessKind, score: Option<f64>, query: Option<&str>) -> Result<()> {
        let query = query.map(logged_query);
        let access = Access { id, kind, score, query: query.as_deref(), counts: true };
        self.store.records.record_access(&[access], self.store.now())
    }

    /// Counts records as used, as a fetch by id does, but in the background: the caller does not wait for the disk. Not
    /// written to the access log. Under very heavy load some may be missed.
    pub fn count_use(&self, ids: Vec<RecordId>) {
        if !ids.is_empty() {
            self.worker.send(Message::Used(ids));
        }
    }

    /// Changes a record; the previous version is kept.
    ///
    /// # Errors
    /// [`Error::NotFound`], also if `viewer` does not see it; [`Error::Duplicate`] if another record of the scope has
    /// the new text.
    pub fn update(&self, id: RecordId, update: &RecordUpdate, viewer: &Viewer) -> Result<UpdateOutcome> {
        viewer.validate()?;
        let update = self.config.sensitive.update(update)?;
        let Changed { before, after } = update::update(&self.store.records, id, &update, viewer, self.store.now())?;
        self.changed(Some(before), after)
    }

    /// Changes several records in one transaction: all, or none. The versions before are kept.
    ///
    /// # Errors
    /// As [`Engine::update`].
    pub fn update_all(&self, updates: &[(RecordId, RecordUpdate)], viewer: &Viewer) -> Result<Vec<UpdateOutcome>> {
        viewer.validate()?;
        let allowed = updates.iter().map(|(id, update)| Ok((*id, self.config.sensitive.update(update)?)));
        let allowed: Vec<_> = allowed.collect::<Result<_>>()?;
        let changed = update::update_all(&self.store.records, &allowed, viewer, self.store.now())?;
        changed.into_iter().map(|Changed { before, after }| self.changed(Some(before), after)).collect()
    }

    /// Says whether [`Engine::update`] would change a record. Nothing is changed.
    ///
    /// # Errors
    /// As [`Engine::update`].
    pub fn check_update(&self, id: RecordId, update: &RecordUpdate, viewer: &Viewer) -> Result<()> {
        viewer.validate()?;
        let update = self.config.sensitive.update(update)?;
        update::check(&self.store.records, id, &update, viewer, self.store.now())
    }

    /// The versions of a record, the newest first and including the current one: at most `limit`, 1 to
    /// [`MAX_LIMIT`](crate::types::MAX_LIMIT), optionally only those before version `before`.
    ///
    /// # Errors
    /// [`Error::NotFound`], also if `viewer` does not see it.
    pub fn history(&self, id: RecordId, viewer: &Viewer, before: Option<i64>, limit: usize) -> Result<Vec<Version>> {
        viewer.validate()?;
        check_limit(limit)?;
        self.store.records.snapshot()?.history(id, viewer, before, limit, self.store.now())?.ok_or(Error::NotFound(id))
    }

    /// Makes an earlier version of a record the newest again, as a new version; the one that it replaces is kept with the
    /// `reason`. The record must be what is expected. The scope stays, and an expiry that has passed is not restored.
    ///
    /// # Errors
    /// As [`Engine::update`], and [`Error::Invalid`] names the existing versions, or says what the record is otherwise.
    pub fn roll_back(
        &self,
        id: RecordId,
        version: i64,
        reason: Option<&str>,
        expect: Option<&Expect>,
        viewer: &Viewer,
    ) -> Result<UpdateOutcome> {
        viewer.validate()?;
        let reason = reason.map(|reason| self.config.sensitive.reason(reason)).transpose()?;
        let Changed { before, after } =
            update::roll_back(&self.store.records, id, version, reason.as_deref(), expect, viewer, self.store.now())?;
        self.changed(Some(before), after)
    }

    /// Embeds a changed record, if that is quick.
    pub(super) fn changed(&self, before: Option<Record>, record: Record) -> Result<UpdateOutcome> {
        let embedding = match self.store.records.embedding_state(record.id)? {
            EmbeddingState::Ready => EmbeddingState::Ready,
            EmbeddingState::Pending => self.embed_now(record.id, record.context.as_deref(), &record.content),
        };
        self.worker.send(Message::Written);
        let nothing_in_common = before.as_ref().is_some_and(|before| has_nothing_in_common(before, &record));
        Ok(UpdateOutcome { record, before, nothing_in_common, embedding })
    }

    /// Deletes a record. False if there was none that `viewer` sees. For [`Config::trash_grace`] it can be restored; for
    /// good it goes with [`Engine::purge`].
    ///
    /// [`Config::trash_grace`]: crate::config::Config::trash_grace
    pub fn delete(&self, id: RecordId, viewer: &Viewer) -> Result<bool> {
        viewer.validate()?;
        let deleted = self.store.records.delete(id, viewer, self.store.now())?;
        self.worker.send(Message::Written);
        Ok(deleted)
    }

    /// Deletes a record that is what is expected. Returns what it was; `None` if there was none that `viewer` sees.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is something else.
    pub fn delete_expected(&self, id: RecordId, expect: Option<&Expect>, viewer: &Viewer) -> Result<Option<Record>> {
        viewer.validate()?;
        let deleted = self.store.records.delete_expected(id, expect, viewer, self.store.now())?;
        self.worker.send(Message::Written);
        Ok(deleted)
    }

    /// Deletes several records that are what is expected, in one transaction: all, or none.
    ///
    /// # Errors
    /// [`Error::NotFound`] names one that `viewer` does not see; [`Error::Invalid`] one that is something else.
    pub fn delete_all(&self, expected: &[(RecordId, Expect)], viewer: &Viewer) -> Result<()> {
        viewer.validate()?;
        trash::delete_all(&self.store.records, expected, viewer, self.store.now())?;
        self.worker.send(Message::Written);
        Ok(())
    }

    /// Restores a deleted record, with its id, its versions, and its links to what is there.
    ///
    /// # Errors
    /// [`Error::NotFound`] if none that `viewer` sees was deleted, or too long ago; [`Error::Duplicate`] if its text was
    /// saved again.
    pub fn restore(&self, id: RecordId, viewer: &Viewer) -> Result<UpdateOutcome> {
        viewer.validate()?;
        let record = self.store.records.restore(id, viewer, self.store.now())?;
        self.changed(None, record)
    }

    /// A page of live records by id, ascending or (`newest_first`) descending.
    pub fn list(&self, query: &ListQuery) -> Result<Vec<Record>> {
        query.filter.validate()?;
        check_limit(query.limit)?;
        self.store.records.snapshot()?.list(query, self.store.now())
    }

    /// A record that has expired or was deleted, and can come back: `None` if there is none that `viewer` sees.
    pub fn gone(&self, id: RecordId, viewer: &Viewer) -> Result<Option<Gone>> {
        viewer.validate()?;
        self.store.records.snapshot()?.gone(id, viewer, self.store.now())
    }

    /// A page of the records that pass the filter and have expired, or were `deleted`: at most `limit` after the first `offset`,
    /// the last ones first. They can come back.
    pub fn all_gone(&self, filter: &Filter, deleted: bool, offset: usize, limit: usize) -> Result<Vec<Gone>> {
        filter.validate()?;
        check_limit(limit)?;
        self.store.records.snapshot()?.all_gone(filter, deleted, offset, limit, self.store.now())
    }

    /// How many records the pages of a list have together.
    pub fn list_count(&self, query: &ListQuery) -> Result<u64> {
        query.filter.validate()?;
        self.store.records.snapshot()?.list_count(query, self.store.now())
    }

    /// Statistics of the records that pass the filter.
    pub fn stats(&self, filter: &Filter) -> Result<Stats> {
        filter.validate()?;
        self.store.records.snapshot()?.stats(filter, self.store.now())
    }

    /// Embeds a text that was just saved, if that is quick: of a long one, the beginning. If it fails, the text waits for
    /// the worker, as the further passages do.
    fn embed_now(&self, id: RecordId, context: Option<&str>, content: &str) -> EmbeddingState {
        let hash = text::embedding_hash(context, content);
        let embedded = match self.store.embed_now(hash, text::embedding_text(context, content)) {
            Ok(true) => self.store.records.embedding_state(id),
            Ok(false) => Ok(EmbeddingState::Pending),
            Err(error) => Err(error),
        };
        embedded.unwrap_or_else(|error| {
            tracing::debug!("not embedded at once: {error}");
            EmbeddingState::Pending
        })
    }
}

/// Whether two texts have no significant word in common.
fn has_nothing_in_common(before: &Record, after: &Record) -> bool {
    let (old, new) = (significant_words(&before.content), significant_words(&after.content));
    !old.is_empty() && !new.is_empty() && old.is_disjoint(&new)
}

/// Saves those of many that are allowed. One outcome for each of `all`, in order; a refused one does not stop the
/// others.
pub(super) fn save_allowed<'a, T, Allowed, Outcome>(
    all: &'a [T],
    allow: impl Fn(&'a T) -> Result<Allowed>,
    save: impl FnOnce(Vec<Allowed>) -> Result<Vec<Result<Outcome>>>,
) -> Result<Vec<Result<Outcome>>> {
    let mut refused = Vec::new();
    let mut allowed = Vec::with_capacity(all.len());
    for (at, one) in all.iter().enumerate() {
        match allow(one) {
            Ok(one) => allowed.push(one),
            Err(error) => refused.push((at, error)),
        }
    }
    let mut outcomes = save(allowed)?;
    // In ascending order, so that each is inserted at its position.
    refused.into_iter().for_each(|(at, error)| outcomes.insert(at, Err(error)));
    Ok(outcomes)
}
