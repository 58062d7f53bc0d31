//! Saving, fetching, changing and deleting records.
//!
//! A record is **live** until it expires or is deleted. Then it is **gone**, and can be brought back for a while. If a save
//! takes the text of an expired record, that record is removed for good.
//!
//! A text has one vector for its beginning, and one for each further passage if it is long. If the model is loaded and
//! quick (a caller may wait for it: `Embedder::is_quick`), a save or a change embeds the beginning at once. The worker
//! embeds the rest.

use std::borrow::Cow;

use super::Engine;
use crate::error::{Error, Result};
use crate::keywords::significant_words;
use crate::records::rules::{add, save, trash, update};
use crate::records::{Access, AccessKind, Changed, Commits, StoredSave, Vectors};
use crate::sensitive::{Sensitive, logged_query};
use crate::sync::Message;
use crate::text;
use crate::types::bounds::check_limit;
use crate::types::{
    AddOutcome, EmbeddingState, Expect, Filter, Gone, Link, ListQuery, NewRecord, Record, RecordId, RecordUpdate, Save,
    Saved, Stats, UpdateOutcome, Version, Viewer,
};

impl Engine {
    /// Saves a record, and returns when it is on disk.
    ///
    /// A text is saved once in a scope, except as another turn of a session or a turn of another session, and except for
    /// kinds that repeat ([`Kind::repeats`](crate::types::Kind::repeats)). If a live record already has the text, the
    /// outcome names that record. Its update time is set, and it joins the session of `new` if it has none. If it was
    /// superseded, it becomes current again, and supersedes the records that superseded it.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the field that is out of bounds, or that has a secret which the setting `secrets`
    /// refuses.
    pub fn add(&self, new: &NewRecord) -> Result<AddOutcome> {
        let viewer = Viewer::of(&new.scope);
        // `given` are the fields that an existing record with this text takes over: here none.
        let save = Save { record: new.clone(), links: Vec::new(), given: None, viewer };
        Ok(self.save(&[save])?.swap_remove(0)?.added)
    }

    /// Saves records with their links, each as by [`Engine::add`]. Returns one outcome per record, in order: a refused
    /// record has an error there, and does not stop the others. All accepted records are written in one transaction.
    pub fn save(&self, saves: &[Save]) -> Result<Vec<Result<Saved>>> {
        let sensitive = self.config.sensitive;
        let screen = |save| refuse_or_redact(save, sensitive);
        let outcomes = screen_and_save(saves, screen, |screened| {
            let vectors = self.quick_vectors(&screened);
            save::save(&self.store.records, &screened, vectors.as_ref(), self.store.now())
        })?;
        self.worker.send(Message::Written);
        Ok(outcomes.into_iter().map(|outcome| Ok(self.finish_save(outcome?))).collect())
    }

    /// Embeds the beginnings of the texts, if the model is loaded and quick. If not, or after an error, returns `None`:
    /// the worker embeds them later.
    fn quick_vectors(&self, saves: &[Cow<'_, Save>]) -> Option<Vectors> {
        let hash_and_text = |save: &Cow<'_, Save>| {
            let NewRecord { context, content, .. } = &save.record;
            let context = context.as_deref();
            (text::embedding_hash(context, content), text::embedding_text(context, content))
        };
        self.store.quick_vectors(saves.iter().map(hash_and_text).collect()).unwrap_or_else(|error| {
            tracing::debug!("not embedded at once: {error}");
            None
        })
    }

    /// Turns the outcome of a save in the database into the outcome for the caller. If the save updated a record that
    /// had the text already, finishes that update.
    fn finish_save(&self, StoredSave { added, links, updated }: StoredSave) -> Saved {
        let finish = |Changed { before, after }| self.finish_change(Some(before), after);
        Saved { added, links, updated: updated.map(|changed| changed.and_then(finish)) }
    }

    /// Saves many records, for imports: without links. They are embedded later, by the worker or
    /// [`Engine::embed_pending`]. Outcomes and transaction are as in [`Engine::save`].
    pub fn add_batch(&self, new: &[NewRecord]) -> Result<Vec<Result<AddOutcome>>> {
        let sensitive = self.config.sensitive;
        let screen = |new| sensitive.new_record(new);
        let outcomes =
            screen_and_save(new, screen, |screened| add::add_batch(&self.store.records, &screened, self.store.now()))?;
        self.worker.send(Message::Written);
        Ok(outcomes)
    }

    /// Returns a live record, and logs and counts the access. If that fails, for example because the store is busy, the
    /// record is returned anyway.
    ///
    /// # Errors
    /// [`Error::NotFound`] when no live record that `viewer` sees has this id.
    pub fn get(&self, id: RecordId, viewer: &Viewer) -> Result<Record> {
        // An access to a record that the viewer does not see is not counted.
        self.peek(id, viewer)?.ok_or(Error::NotFound(id))?;
        // `counts`: the access also adds to the access count of the record.
        let access = Access { id, kind: AccessKind::Get, score: None, query: None, counts: true };
        if let Err(error) = self.store.records.record_access(&[access], self.store.now()) {
            tracing::debug!("an access was not counted: {error}");
        }
        // With the new count.
        self.peek(id, viewer)?.ok_or(Error::NotFound(id))
    }

    /// Returns the live record with this id, if `viewer` sees it. Counts and logs no access.
    pub fn peek(&self, id: RecordId, viewer: &Viewer) -> Result<Option<Record>> {
        viewer.validate()?;
        self.store.records.get(id, viewer, self.store.now())
    }

    /// Returns the live record with this id, if `viewer` sees it, and at most `max_links` of its links. Meant for polling: counts no
    /// access. In a team store, it reads the local replica, which may be out of date, without asking the server.
    ///
    /// # Errors
    /// [`Error::DatabaseFailed`] if the store cannot be read.
    pub fn glance(&self, id: RecordId, viewer: &Viewer, max_links: usize) -> Result<Option<(Record, Vec<Link>)>> {
        viewer.validate()?;
        // `copy` is the local database: in a team store the replica. It copies nothing.
        let (local, now) = (self.store.records.copy(), self.store.now());
        let Some(record) = local.get(id, viewer, now)? else { return Ok(None) };
        // `None` if the record was deleted since the line above.
        let links = local.snapshot()?.links(id, viewer, max_links, now)?;
        Ok(links.map(|links| (record, links)))
    }

    /// Returns a watcher of the local database. [`Commits::any`] tells whether any process has written to it since the
    /// last call. In a team store, that is the replica: a change by another node counts once the replica has it.
    ///
    /// # Errors
    /// [`Error::DatabaseFailed`] if the store cannot be read.
    pub fn commits(&self) -> Result<Commits> {
        self.store.records.copy().commits()
    }

    /// Logs and counts an access to a record. Does nothing if there is no record with this id.
    ///
    /// # Errors
    /// [`Error::Store`] or [`Error::Held`] if the store is busy.
    pub fn log_access(&self, id: RecordId, kind: AccessKind, score: Option<f64>, query: Option<&str>) -> Result<()> {
        let query = query.map(logged_query);
        let access = Access { id, kind, score, query: query.as_deref(), counts: true };
        self.store.records.record_access(&[access], self.store.now())
    }

    /// Counts an access to each of these records, without logging it. Skips ids without a record. The worker
    /// does it later, so the caller does not wait for the disk. Under very heavy load, some accesses may not be counted.
    pub fn count_accesses(&self, ids: Vec<RecordId>) {
        if !ids.is_empty() {
            self.worker.send(Message::Used(ids));
        }
    }

    /// Changes a live record, or an expired one if the update moves its expiry to the future or removes it. The previous
    /// version is kept. An update that changes no field makes no version.
    ///
    /// # Errors
    /// [`Error::NotFound`], also if `viewer` does not see the record; [`Error::Duplicate`] if another record of the scope has
    /// the new text; [`Error::Invalid`] as in [`Engine::add`], if `viewer` may not change the record, or if the record
    /// does not match the `expect` of the update.
    ///
    /// A late error, from reading the embedding state, comes after the transaction: then the record is changed.
    pub fn update(&self, id: RecordId, update: &RecordUpdate, viewer: &Viewer) -> Result<UpdateOutcome> {
        viewer.validate()?;
        let update = self.config.sensitive.update(update)?;
        let Changed { before, after } = update::update(&self.store.records, id, &update, viewer, self.store.now())?;
        self.finish_change(Some(before), after)
    }

    /// Changes several records in one transaction, each as by [`Engine::update`]: all, or none.
    ///
    /// # Errors
    /// The errors of [`Engine::update`]: after a late one all records are changed, after any other none.
    pub fn update_all(&self, updates: &[(RecordId, RecordUpdate)], viewer: &Viewer) -> Result<Vec<UpdateOutcome>> {
        viewer.validate()?;
        let allowed = updates.iter().map(|(id, update)| Ok((*id, self.config.sensitive.update(update)?)));
        let allowed: Vec<_> = allowed.collect::<Result<_>>()?;
        let changed = update::update_all(&self.store.records, &allowed, viewer, self.store.now())?;
        changed.into_iter().map(|Changed { before, after }| self.finish_change(Some(before), after)).collect()
    }

    /// Checks whether [`Engine::update`] would succeed, without changing the record.
    ///
    /// # Errors
    /// The errors of [`Engine::update`], except late ones.
    pub fn check_update(&self, id: RecordId, update: &RecordUpdate, viewer: &Viewer) -> Result<()> {
        viewer.validate()?;
        let update = self.config.sensitive.update(update)?;
        update::check(&self.store.records, id, &update, viewer, self.store.now())
    }

    /// Returns at most `limit` versions of a record, the newest first. With `before_version`, begins at the version before
    /// that one; without it, at the current version. `limit` is 1 to [`MAX_LIMIT`](crate::types::MAX_LIMIT).
    ///
    /// # Errors
    /// [`Error::NotFound`], also if `viewer` does not see the record.
    pub fn history(
        &self,
        id: RecordId,
        viewer: &Viewer,
        before_version: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Version>> {
        viewer.validate()?;
        check_limit(limit)?;
        let snapshot = self.store.records.snapshot()?;
        snapshot.history(id, viewer, before_version, limit, self.store.now())?.ok_or(Error::NotFound(id))
    }

    /// Makes an earlier version of a live record current again, as a new version. The scope stays, and an expiry that has
    /// passed is not restored. The replaced version is kept, with `reason`. If the record already is as the earlier
    /// version was, there is no new version.
    ///
    /// `expect` guards against a wrong id: it is words that the record must have, or its version.
    ///
    /// # Errors
    /// The errors of [`Engine::update`]. [`Error::Invalid`] also if there is no such version; the error names those that
    /// exist.
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
        self.finish_change(Some(before), after)
    }

    /// Finishes a change that is already on disk: embeds the text if the model is quick, wakes the worker, and builds the
    /// outcome. `before` is the record before the change, and `None` for a record that was deleted and is restored.
    ///
    /// # Errors
    /// If the embedding state cannot be read: a late error (see [`Engine::update`]).
    pub(super) fn finish_change(&self, before: Option<Record>, record: Record) -> Result<UpdateOutcome> {
        let embedding = match self.store.records.embedding_state(record.id)? {
            EmbeddingState::Ready => EmbeddingState::Ready,
            EmbeddingState::Pending => self.embed_now(record.id, record.context.as_deref(), &record.content),
        };
        self.worker.send(Message::Written);
        let nothing_in_common = before.as_ref().is_some_and(|before| has_nothing_in_common(before, &record));
        Ok(UpdateOutcome { record, before, nothing_in_common, embedding })
    }

    /// Deletes a live or expired record. Returns false if `viewer` sees no such record. A deleted record can be
    /// restored for [`Config::trash_grace`]; [`Engine::purge`] removes it permanently.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `viewer` sees the record but may not change it.
    ///
    /// [`Config::trash_grace`]: crate::config::Config::trash_grace
    pub fn delete(&self, id: RecordId, viewer: &Viewer) -> Result<bool> {
        viewer.validate()?;
        let deleted = self.store.records.delete(id, viewer, self.store.now())?;
        self.worker.send(Message::Written);
        Ok(deleted)
    }

    /// Deletes a record if it matches `expect`, or without `expect` in any case. Returns the deleted record; `None` if `viewer` sees
    /// no live or expired record with this id.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the record does not match `expect`, or `viewer` may not change it.
    pub fn delete_expected(&self, id: RecordId, expect: Option<&Expect>, viewer: &Viewer) -> Result<Option<Record>> {
        viewer.validate()?;
        let deleted = self.store.records.delete_expected(id, expect, viewer, self.store.now())?;
        self.worker.send(Message::Written);
        Ok(deleted)
    }

    /// Deletes several live or expired records in one transaction if each matches its [`Expect`]: all, or none.
    ///
    /// # Errors
    /// [`Error::NotFound`] names a record that `viewer` does not see; [`Error::Invalid`] names one that does not match, or
    /// that `viewer` may not change. Then nothing is deleted.
    pub fn delete_all(&self, expected: &[(RecordId, Expect)], viewer: &Viewer) -> Result<()> {
        viewer.validate()?;
        trash::delete_all(&self.store.records, expected, viewer, self.store.now())?;
        self.worker.send(Message::Written);
        Ok(())
    }

    /// Restores a deleted record with its id, its versions, and its links to records that still exist. A link to a deleted
    /// record comes back when that record is restored.
    ///
    /// # Errors
    /// [`Error::NotFound`] if `viewer` sees no deleted record with this id, or its grace period is over;
    /// [`Error::Duplicate`] if its text was saved again, or it was imported again; [`Error::Invalid`] if it was read again
    /// from its file, or `viewer` may not change it. A late error as in [`Engine::update`].
    pub fn restore(&self, id: RecordId, viewer: &Viewer) -> Result<UpdateOutcome> {
        viewer.validate()?;
        let record = self.store.records.restore(id, viewer, self.store.now())?;
        self.finish_change(None, record)
    }

    /// Returns a page of the live records that match a query, in the order of the query.
    pub fn list(&self, query: &ListQuery) -> Result<Vec<Record>> {
        query.filter.validate()?;
        check_limit(query.limit)?;
        self.store.records.snapshot()?.list(query, self.store.now())
    }

    /// Returns the gone record with this id: it was deleted or has expired, and [`Engine::undo`] can bring it back. `None`
    /// if `viewer` sees no such record.
    pub fn gone(&self, id: RecordId, viewer: &Viewer) -> Result<Option<Gone>> {
        viewer.validate()?;
        self.store.records.snapshot()?.gone(id, viewer, self.store.now())
    }

    /// Returns a page of the gone records that pass the filter: with `deleted` the deleted ones, else the expired ones. The
    /// most recently deleted or expired come first; `offset` of them are skipped.
    pub fn list_gone(&self, filter: &Filter, deleted: bool, offset: usize, limit: usize) -> Result<Vec<Gone>> {
        filter.validate()?;
        check_limit(limit)?;
        self.store.records.snapshot()?.list_gone(filter, deleted, offset, limit, self.store.now())
    }

    /// Counts the records that match a list query, ignoring its `limit`, `offset`, `after` and `expires_after`.
    pub fn list_count(&self, query: &ListQuery) -> Result<u64> {
        query.filter.validate()?;
        self.store.records.snapshot()?.list_count(query, self.store.now())
    }

    /// Returns statistics of the records that pass the filter.
    pub fn stats(&self, filter: &Filter) -> Result<Stats> {
        filter.validate()?;
        self.store.records.snapshot()?.stats(filter, self.store.now())
    }

    /// Embeds the beginning of a text that is already on disk, if the model is loaded and quick. If not, or after an
    /// error, the worker embeds it later. For a new record, `quick_vectors` embeds before the write.
    fn embed_now(&self, id: RecordId, context: Option<&str>, content: &str) -> EmbeddingState {
        let hash = text::embedding_hash(context, content);
        let embedded = match self.store.embed_now(hash, text::embedding_text(context, content)) {
            // The vector is stored. The state is still pending if the text has more passages.
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

/// Whether the contents of two versions have no significant word in common, though each has some.
fn has_nothing_in_common(before: &Record, after: &Record) -> bool {
    let (old, new) = (significant_words(&before.content), significant_words(&after.content));
    !old.is_empty() && !new.is_empty() && old.is_disjoint(&new)
}

/// Applies the setting `secrets` to a record with secrets: refuses it with an error, or redacts it. Other records stay
/// as they are.
fn refuse_or_redact(save: &Save, sensitive: Sensitive) -> Result<Cow<'_, Save>> {
    Ok(match sensitive.new_record(&save.record)? {
        Cow::Borrowed(_) => Cow::Borrowed(save),
        Cow::Owned(record) => Cow::Owned(Save { record, ..save.clone() }),
    })
}

/// Calls `save` with the items as `screen` returns them, redacted if need be; `save` must return one outcome per item, in
/// order. Returns one outcome per item of `all`, in order: for an item that `screen` refuses its error.
pub(super) fn screen_and_save<'a, T, Screened, Outcome>(
    all: &'a [T],
    screen: impl Fn(&'a T) -> Result<Screened>,
    save: impl FnOnce(Vec<Screened>) -> Result<Vec<Result<Outcome>>>,
) -> Result<Vec<Result<Outcome>>> {
    let mut refused = Vec::new();
    let mut screened = Vec::with_capacity(all.len());
    for (at, item) in all.iter().enumerate() {
        match screen(item) {
            Ok(item) => screened.push(item),
            Err(error) => refused.push((at, error)),
        }
    }
    let mut outcomes = save(screened)?;
    // In ascending order, so that each error is inserted at the position of its item.
    refused.into_iter().for_each(|(at, error)| outcomes.insert(at, Err(error)));
    Ok(outcomes)
}
