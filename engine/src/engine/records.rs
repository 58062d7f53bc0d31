//! Saving, fetching, changing and deleting records.
//!
//! A record belongs to a **scope**: a project and an agent, each of which may be none ([`Scope`](crate::types::Scope)).
//!
//! A record is **live** until it expires or is deleted. Then it is **gone**, and can be brought back for a while. An
//! expired record is removed permanently if a save, a change or a restore gives another record its text in its scope.
//!
//! A text has one vector for its beginning, and one for each further passage if it is long. If the model is loaded and
//! quick, a save or a change embeds the beginning at once. The worker embeds the rest. A quick model is fast enough for
//! a caller to wait for it: local models are, providers are not (`Embedder::is_quick`).

use std::borrow::Cow;

use super::{Engine, Memories};
use crate::error::{Error, Result};
use crate::keywords::significant_words;
use crate::records::rules::{add, save, trash, update};
use crate::records::{Access, AccessKind, Changed, Commits, StoredSave, Vectors};
use crate::sensitive::{Sensitive, logged_query};
use crate::sync::Message;
use crate::text::{self, Hash};
use crate::types::bounds::check_limit;
use crate::types::{
    AddOutcome, EmbeddingState, Expect, Filter, Gone, Link, ListQuery, Millis, NewRecord, Record, RecordId,
    RecordUpdate, Save, Saved, Stats, UpdateOutcome, Version, Viewer,
};

impl Engine {
    /// Saves a record, and returns when it is on disk.
    ///
    /// A scope contains each text only once, with two exceptions: records of a kind that repeats
    /// ([`Kind::repeats`](crate::types::Kind::repeats)), and records that are both turns, either of different sessions
    /// or with different numbers in one session. If a live record already has the text, the outcome names that record.
    /// Its update time is set, and it joins the session of `new` if it has none. If it was superseded, it becomes
    /// current again, and supersedes the records that superseded it.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the field that is out of bounds, or that has a secret which the setting `secrets`
    /// refuses.
    pub fn add(&self, new: &NewRecord) -> Result<AddOutcome> {
        let viewer = Viewer::of(&new.scope);
        // `given` names the fields that overwrite those of an existing record with the same text: here none.
        let save = Save { record: new.clone(), links: Vec::new(), given: None, viewer };
        Ok(self.save(&[save])?.swap_remove(0)?.added)
    }

    /// Saves records with their links, each as by [`Engine::add`]. Returns one outcome per record, in order: a refused
    /// record has an error there, and does not stop the others. All accepted records are written in one transaction.
    ///
    /// # Errors
    /// One save fails like [`Engine::add`], and with [`Error::NotFound`] for a link to a record that is not live, or that its
    /// viewer does not see.
    pub fn save(&self, saves: &[Save]) -> Result<Vec<Result<Saved>>> {
        let sensitive = self.config.sensitive;
        let screen = |save| refuse_or_redact(save, sensitive);
        let outcomes = screen_and_save(saves, screen, |screened| {
            let texts = screened.iter().map(|save| hash_and_text(save.record.context.as_deref(), &save.record.content));
            let vectors = self.quick_vectors(texts.collect());
            save::save(&self.store.records, &screened, vectors.as_ref(), self.store.now())
        })?;
        self.worker.send(Message::Written);
        Ok(outcomes.into_iter().map(|outcome| Ok(self.finish_save(outcome?))).collect())
    }

    /// Embeds the beginnings of the texts, if the model is loaded and quick. If not, or after an error, returns `None`:
    /// the worker embeds them later.
    pub(super) fn quick_vectors(&self, texts: Vec<(Hash, String)>) -> Option<Vectors> {
        self.store.quick_vectors(texts).unwrap_or_else(|error| {
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

    /// Returns a watcher of the local database. [`Commits::any`] tells whether any process has written to it since the
    /// last call. In a team store, that is the replica: it reports a change by another node only after the replica has
    /// received the change.
    ///
    /// # Errors
    /// [`Error::Store`] if the files of the store were replaced; [`Error::DatabaseFailed`] if SQLite fails.
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

    /// Applies the setting `secrets` to an update, and checks its bounds.
    pub(super) fn checked<'a>(&self, update: &'a RecordUpdate) -> Result<Cow<'a, RecordUpdate>> {
        let update = self.config.sensitive.update(update)?;
        update.validate()?;
        Ok(update)
    }

    /// Finishes a change that is already on disk: embeds the text if the model is quick, wakes the worker, and builds the
    /// outcome. `before` is the record before the change, and `None` for a record that was deleted and is restored.
    ///
    /// # Errors
    /// If the embedding state cannot be read: a late error (see [`Memories::update`]).
    pub(super) fn finish_change(&self, before: Option<Record>, record: Record) -> Result<UpdateOutcome> {
        let embedding = match self.store.records.embedding_state(record.id)? {
            EmbeddingState::Ready => EmbeddingState::Ready,
            EmbeddingState::Pending => self.embed_now(record.id, record.context.as_deref(), &record.content),
        };
        self.worker.send(Message::Written);
        let nothing_in_common = before.as_ref().is_some_and(|before| has_nothing_in_common(before, &record));
        Ok(UpdateOutcome { record, before, nothing_in_common, embedding })
    }

    /// Returns a page of the live records that match a query, in the order of the query.
    pub fn list(&self, query: &ListQuery) -> Result<Vec<Record>> {
        query.filter.validate()?;
        check_limit(query.limit)?;
        self.store.records.snapshot()?.list(query, self.store.now())
    }

    /// Returns a page of the gone records that pass the filter: with `deleted` the deleted ones, else the expired ones. The
    /// most recently deleted or expired come first; `offset` of them are skipped.
    pub fn list_gone(&self, filter: &Filter, deleted: bool, offset: usize, limit: usize) -> Result<Vec<Gone>> {
        filter.validate()?;
        check_limit(limit)?;
        self.store.records.snapshot()?.list_gone(filter, deleted, offset, limit, self.store.now())
    }

    /// Counts all records that match a list query. Its fields for paging (`limit`, `offset`, `after`, `expires_after`)
    /// have no effect.
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
    /// error, the worker embeds it later. A save and an update embed before the write; only a text that they did not
    /// foresee is left to this.
    fn embed_now(&self, id: RecordId, context: Option<&str>, content: &str) -> EmbeddingState {
        let (hash, text) = hash_and_text(context, content);
        let embedded = match self.store.embed_now(hash, text) {
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

impl Memories<'_> {
    /// Returns a live record, and logs and counts the access. If that fails, for example because the store is busy, the
    /// record is returned anyway.
    ///
    /// # Errors
    /// [`Error::NotFound`] when no live record that the viewer sees has this id.
    pub fn access(&self, id: RecordId) -> Result<Record> {
        // An access to a record that the viewer does not see is not counted.
        self.require(id)?;
        // `counts`: the access also adds to the access count of the record.
        let access = Access { id, kind: AccessKind::Get, score: None, query: None, counts: true };
        if let Err(error) = self.engine.store.records.record_access(&[access], self.engine.store.now()) {
            tracing::debug!("an access was not counted: {error}");
        }
        // With the new count.
        self.require(id)
    }

    /// Returns the live record with this id, if the viewer sees it. Counts and logs no access. In a team store, it first
    /// brings the local replica up to date, unless the setting `reads` allows an older state.
    pub fn get(&self, id: RecordId) -> Result<Option<Record>> {
        self.viewer.validate()?;
        self.engine.store.records.get(id, self.viewer, self.engine.store.now())
    }

    /// Returns the live record with this id.
    ///
    /// # Errors
    /// [`Error::NotFound`], also if the viewer does not see it.
    pub(super) fn require(&self, id: RecordId) -> Result<Record> {
        self.get(id)?.ok_or(Error::NotFound(id))
    }

    /// Returns the live record with this id, if the viewer sees it, and at most `max_links` of its links. Meant for
    /// polling: counts no access, and unlike [`Memories::get`] reads the replica of a team store as it is, perhaps out
    /// of date.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a name of the viewer is out of bounds; [`Error::Store`] if the files of the store were
    /// replaced; [`Error::DatabaseFailed`] if SQLite fails.
    pub fn get_local(&self, id: RecordId, max_links: usize) -> Result<Option<(Record, Vec<Link>)>> {
        self.viewer.validate()?;
        // `Records::copy` returns the local database, in a team store the replica. It copies nothing.
        let (local, now) = (self.engine.store.records.copy(), self.engine.store.now());
        let Some(record) = local.get(id, self.viewer, now)? else { return Ok(None) };
        // `None` if the record was deleted since the line above.
        let links = local.snapshot()?.links(id, self.viewer, max_links, now)?;
        Ok(links.map(|links| (record, links)))
    }

    /// Changes a live record, or an expired one if the update moves its expiry to the future or removes it. The previous
    /// version is kept. An update that changes no field makes no version.
    ///
    /// # Errors
    /// [`Error::NotFound`], also if the viewer does not see the record; [`Error::Duplicate`] if another record of the scope has
    /// the new text. [`Error::Invalid`] in three cases: as in [`Engine::add`]; the viewer may not change the record; the
    /// record does not match the `expect` of the update.
    ///
    /// After most errors the record is unchanged. After a *late* error, from reading the embedding state, it is
    /// changed. It may be changed after an error with an *open outcome*: PostgreSQL did not confirm the COMMIT, or
    /// somebody replaced the files of the store meanwhile.
    pub fn update(&self, id: RecordId, update: &RecordUpdate) -> Result<UpdateOutcome> {
        self.viewer.validate()?;
        Ok(self.change(&[(id, self.engine.checked(update)?)])?.swap_remove(0))
    }

    /// Changes several records in one transaction, each as by [`Memories::update`]: all, or none.
    ///
    /// # Errors
    /// The errors of [`Memories::update`]. After a late error all records are changed, and after one with an open outcome
    /// perhaps all. After any other error none is.
    pub fn update_all(&self, updates: &[(RecordId, RecordUpdate)]) -> Result<Vec<UpdateOutcome>> {
        self.viewer.validate()?;
        let checked = updates.iter().map(|(id, update)| Ok((*id, self.engine.checked(update)?)));
        self.change(&checked.collect::<Result<Vec<_>>>()?)
    }

    fn change(&self, updates: &[(RecordId, Cow<'_, RecordUpdate>)]) -> Result<Vec<UpdateOutcome>> {
        let texts = updates.iter().filter_map(|(id, update)| self.text_after(*id, update));
        let vectors = self.engine.quick_vectors(texts.collect());
        let changed = update::update(
            &self.engine.store.records,
            updates,
            vectors.as_ref(),
            self.viewer,
            self.engine.store.now(),
        )?;
        changed.into_iter().map(|Changed { before, after }| self.engine.finish_change(Some(before), after)).collect()
    }

    /// Predicts the new text of a record after an update, from the record as it is now in the local database. `None` if the
    /// text stays, or the update will be refused. If another writer changes the record first, the vector of this text is not
    /// used.
    pub(super) fn text_after(&self, id: RecordId, update: &RecordUpdate) -> Option<(Hash, String)> {
        if update.content.is_none() && update.context.is_none() {
            return None;
        }
        // Also an expired one, which the update may revive.
        let before = self.engine.store.records.copy().get(id, self.viewer, Millis::MIN).ok()??;
        let after = update::changed(update, &before).ok()?;
        Some(hash_and_text(after.context.as_deref(), &after.content))
    }

    /// Checks whether [`Memories::update`] would succeed, without changing the record.
    ///
    /// # Errors
    /// The errors of [`Memories::update`], except late ones.
    pub fn check_update(&self, id: RecordId, update: &RecordUpdate) -> Result<()> {
        self.viewer.validate()?;
        let update = self.engine.checked(update)?;
        update::check(&self.engine.store.records, id, &update, self.viewer, self.engine.store.now())
    }

    /// Returns at most `limit` versions of a record, the newest first. With `before_version`, begins at the version before
    /// that one; without it, at the current version. `limit` is 1 to [`MAX_LIMIT`](crate::types::MAX_LIMIT).
    ///
    /// # Errors
    /// [`Error::NotFound`], also if the viewer does not see the record.
    pub fn history(&self, id: RecordId, before_version: Option<i64>, limit: usize) -> Result<Vec<Version>> {
        self.viewer.validate()?;
        check_limit(limit)?;
        let snapshot = self.engine.store.records.snapshot()?;
        snapshot.history(id, self.viewer, before_version, limit, self.engine.store.now())?.ok_or(Error::NotFound(id))
    }

    /// Makes an earlier version of a live record current again, as a new version. The scope stays, and an expiry that has
    /// passed is not restored. The replaced version is kept, with `reason`. If nothing would change, there is no new
    /// version.
    ///
    /// `expect` guards against a wrong id: it is either words that the record must contain, or the version that it must
    /// have.
    ///
    /// # Errors
    /// The errors of [`Memories::update`]. [`Error::Invalid`] also if there is no such version; the error names those that
    /// exist.
    pub fn roll_back(
        &self,
        id: RecordId,
        version: i64,
        reason: Option<&str>,
        expect: Option<&Expect>,
    ) -> Result<UpdateOutcome> {
        self.viewer.validate()?;
        let reason = reason.map(|reason| self.engine.config.sensitive.reason(reason)).transpose()?;
        let Changed { before, after } = update::roll_back(
            &self.engine.store.records,
            id,
            version,
            reason.as_deref(),
            expect,
            self.viewer,
            self.engine.store.now(),
        )?;
        self.engine.finish_change(Some(before), after)
    }

    /// Deletes a live or expired record. Returns false if the viewer sees no such record. A deleted record can be
    /// restored for [`Config::trash_grace`]; [`Memories::purge`] removes it permanently.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the viewer sees the record but may not change it.
    ///
    /// [`Config::trash_grace`]: crate::config::Config::trash_grace
    pub fn delete(&self, id: RecordId) -> Result<bool> {
        Ok(self.delete_expected(id, None)?.is_some())
    }

    /// Deletes a record. With `expect`, does so only if the record matches it. Returns the deleted record; `None` if
    /// the viewer sees no live or expired record with this id.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the record does not match `expect`, or the viewer may not change it.
    pub fn delete_expected(&self, id: RecordId, expect: Option<&Expect>) -> Result<Option<Record>> {
        self.viewer.validate()?;
        let deleted = trash::delete(&self.engine.store.records, id, expect, self.viewer, self.engine.store.now())?;
        self.engine.worker.send(Message::Written);
        Ok(deleted)
    }

    /// Deletes several live or expired records in one transaction if each matches its [`Expect`]: all, or none.
    ///
    /// # Errors
    /// [`Error::NotFound`] names a record that the viewer does not see; [`Error::Invalid`] names one that does not match, or
    /// that the viewer may not change. Then nothing is deleted.
    pub fn delete_all(&self, expected: &[(RecordId, Expect)]) -> Result<()> {
        self.viewer.validate()?;
        trash::delete_all(&self.engine.store.records, expected, self.viewer, self.engine.store.now())?;
        self.engine.worker.send(Message::Written);
        Ok(())
    }

    /// Restores a deleted record with its id, its versions, and its links to records that still exist. A link to a deleted
    /// record comes back when that record is restored.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the viewer sees no deleted record with this id, or its grace period is over;
    /// [`Error::Duplicate`] if a live record has its text, or another record its ULID, from an import;
    /// [`Error::Invalid`] if its text came from an indexed file and was indexed again as another record, or if the viewer
    /// may not change it. A late error as in [`Memories::update`].
    pub fn restore(&self, id: RecordId) -> Result<UpdateOutcome> {
        self.viewer.validate()?;
        let record = trash::restore(&self.engine.store.records, id, self.viewer, self.engine.store.now())?;
        self.engine.finish_change(None, record)
    }

    /// Returns the gone record with this id: it was deleted or has expired, and [`Memories::undo`] can bring it back. `None`
    /// if the viewer sees no such record.
    pub fn get_gone(&self, id: RecordId) -> Result<Option<Gone>> {
        self.viewer.validate()?;
        self.engine.store.records.snapshot()?.gone(id, self.viewer, self.engine.store.now())
    }
}

/// The text that is embedded for a record, and the hash under which its vector is stored.
fn hash_and_text(context: Option<&str>, content: &str) -> (Hash, String) {
    (text::embedding_hash(context, content), text::embedding_text(context, content))
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
