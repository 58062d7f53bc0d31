//! What [`Records`] writes, by role: saving, links, another store's records, embeddings, accesses, and what is deleted for
//! good. Each runs a rule on the database.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use roaring::RoaringTreemap;

use super::purge::columns::{self, Care};
use super::purge::patterns::PurgeText;
use super::rules::access::{self, Access};
use super::rules::import::{self, Aliases};
use super::rules::purge::{self, Removed};
use super::rules::save::{self, Saving, Vectors};
use super::rules::undo::{self, Undoing};
use super::rules::update::Changed;
use super::rules::{
    add, embeddings, expiry, files, jobs, links, merge, next_model, passages, recalled, refused, searches, tombstones,
    trash, update,
};
use super::store::Records;
#[cfg(feature = "postgres")]
use super::{meta, models::REFUSED_HERE, transaction::Authority};
use crate::error::Result;
use crate::progress::Progress;
use crate::text::Hash;
use crate::types::{
    AddOutcome, BatchJob, Expect, FileChanges, FileReading, Imported, JobEnd, Link, Merge, Millis, Model, ModelId,
    NewRecord, NewSource, PassedOver, Portable, PortableLink, PortableTombstone, Purge, Purged, Record, RecordId,
    RecordUpdate, Save, SearchTrace, SourceId, Stays, Viewer,
};

/// Saving, changing, deleting.
impl Records {
    /// Saves a record; it is on the disk when this returns. A text that a live record of the same scope already has is
    /// not saved again: the outcome names that record, and its `updated_at` becomes `now`.
    pub fn add(&self, new: &NewRecord, now: Millis) -> Result<AddOutcome> {
        add::add(self, new, now)
    }

    /// Saves many records with their links and `vectors` in one transaction. The outcomes are in the order of `saves`; one
    /// that is refused does not stop the others, a failure of the database stops them all.
    pub fn save(
        &self,
        saves: &[impl Borrow<Save>],
        vectors: Option<&Vectors>,
        now: Millis,
    ) -> Result<Vec<Result<Saving>>> {
        save::save(self, saves, vectors, now)
    }

    /// Saves many records in one transaction. The outcomes are in the order of `news`; an invalid one does not stop the
    /// others, a failure of the database stops them all.
    pub fn add_batch(&self, news: &[impl Borrow<NewRecord>], now: Millis) -> Result<Vec<Result<AddOutcome>>> {
        add::add_batch(self, news, now)
    }

    /// The same with vectors that `model`, the store's, has made of their texts.
    pub fn add_batch_with(
        &self,
        model: ModelId,
        news: &[(impl Borrow<NewRecord>, Vec<f32>)],
        now: Millis,
    ) -> Result<Vec<Result<AddOutcome>>> {
        add::add_batch_with(self, model, news, now)
    }

    /// Changes a live record and keeps the version before. An update to what the record is already changes nothing.
    ///
    /// # Errors
    /// [`NotFound`](crate::Error::NotFound), also when `viewer` does not see it; [`Invalid`](crate::Error::Invalid) when
    /// `viewer` may not change it; [`Duplicate`](crate::Error::Duplicate) when another live record of the scope has the
    /// new text.
    pub fn update(&self, id: RecordId, update: &RecordUpdate, viewer: &Viewer, now: Millis) -> Result<Changed> {
        update::update(self, id, update, viewer, now)
    }

    /// The error of that update, if it would fail. Nothing is changed.
    pub fn check_update(&self, id: RecordId, update: &RecordUpdate, viewer: &Viewer, now: Millis) -> Result<()> {
        update::check(self, id, update, viewer, now)
    }

    /// The same with the vector that `model`, the store's, has made of the text that the record has afterwards.
    ///
    /// # Errors
    /// As [`Records::update`]; [`Invalid`](crate::Error::Invalid) when another record has the text with another vector.
    pub fn update_with(
        &self,
        id: RecordId,
        update: &RecordUpdate,
        viewer: &Viewer,
        own: (ModelId, &[f32]),
        now: Millis,
    ) -> Result<Changed> {
        update::update_with(self, id, update, viewer, own, now)
    }

    /// Makes an earlier version of a live record the newest again, as a version of its own. The record must be what is expected.
    /// The scope stays, an expiry that is over by now does not come back, and a reference to what is gone by now leads nowhere.
    ///
    /// # Errors
    /// As [`Records::update`], and [`Invalid`](crate::Error::Invalid) names the versions that there are.
    pub fn roll_back(
        &self,
        id: RecordId,
        version: i64,
        reason: Option<&str>,
        expect: Option<&Expect>,
        viewer: &Viewer,
        now: Millis,
    ) -> Result<Changed> {
        update::roll_back(self, id, version, reason, expect, viewer, now)
    }

    /// Deletes a record: it goes to the trash with its versions and links; its access rows go, and its embeddings that no
    /// other record uses. Returns whether there was one that `viewer` sees (an expired one counts).
    ///
    /// # Errors
    /// [`Invalid`](crate::Error::Invalid) when `viewer` sees it and may not change it.
    pub fn delete(&self, id: RecordId, viewer: &Viewer, now: Millis) -> Result<bool> {
        trash::delete(self, id, None, viewer, now).map(|deleted| deleted.is_some())
    }

    /// The same of a record that is what is expected. Returns what it was.
    ///
    /// # Errors
    /// As [`Records::delete`], and [`Invalid`](crate::Error::Invalid) when it is something else.
    pub fn delete_expected(
        &self,
        id: RecordId,
        expect: Option<&Expect>,
        viewer: &Viewer,
        now: Millis,
    ) -> Result<Option<Record>> {
        trash::delete(self, id, expect, viewer, now)
    }

    /// Restores a record from the trash, with its id.
    ///
    /// # Errors
    /// [`NotFound`](crate::Error::NotFound), also when `viewer` does not see it; [`Invalid`](crate::Error::Invalid) when
    /// `viewer` may not change it; [`Duplicate`](crate::Error::Duplicate) when its text was saved again.
    pub fn restore(&self, id: RecordId, viewer: &Viewer, now: Millis) -> Result<Record> {
        trash::restore(self, id, viewer, now)
    }

    /// Merges records: one gets the text of `update` and supersedes the others. Returns what became of it, and whose last change
    /// has to be undone, in this order, to take all of it back.
    ///
    /// # Errors
    /// [`NotFound`](crate::Error::NotFound) names a record that is not there; [`Invalid`](crate::Error::Invalid) says of
    /// `expect` which one has changed.
    pub fn merge(
        &self,
        merge: &Merge,
        update: &RecordUpdate,
        viewer: &Viewer,
        now: Millis,
    ) -> Result<(Changed, Vec<RecordId>)> {
        merge::merge(self, merge, update, viewer, now)
    }

    /// Undoes the last deletion, expiry, change or link of a record.
    ///
    /// # Errors
    /// [`NotFound`](crate::Error::NotFound) if there is none that `viewer` sees; [`Invalid`](crate::Error::Invalid) if nothing
    /// was done to it since it was saved, or that was undone already.
    pub fn undo(&self, id: RecordId, expect: Option<&Expect>, viewer: &Viewer, now: Millis) -> Result<Undoing> {
        undo::undo(self, id, expect, viewer, now)
    }
}

/// Links.
impl Records {
    /// Makes a link between two live records that `viewer` sees. Returns whether it is new.
    ///
    /// # Errors
    /// [`NotFound`](crate::Error::NotFound) names the record that is missing; [`Invalid`](crate::Error::Invalid) when it
    /// is one and the same, or would come to supersede itself.
    pub fn link(&self, link: Link, viewer: &Viewer, now: Millis) -> Result<bool> {
        links::link(self, link, viewer, now)
    }

    /// Makes many links in one transaction. The outcomes are in the order of `links`; one that is refused does not stop
    /// the others, a failure of the database stops them all.
    pub fn link_batch(&self, links: &[Link], viewer: &Viewer, now: Millis) -> Result<Vec<Result<bool>>> {
        links::link_batch(self, links, viewer, now)
    }

    /// Removes a link between two records that `viewer` sees. Returns whether there was one.
    pub fn unlink(&self, link: Link, viewer: &Viewer, now: Millis) -> Result<bool> {
        links::unlink(self, link, viewer, now)
    }
}

/// What is read from files.
impl Records {
    /// Adds a source, unless it is there already: then it gets the globs and the scope of this one. Returns its id, and
    /// whether it is new.
    ///
    /// # Errors
    /// [`Invalid`](crate::Error::Invalid) names the bound that is violated.
    pub fn add_source(&self, new: &NewSource, now: Millis) -> Result<(SourceId, bool)> {
        self.note_source(new)?;
        files::add_source(self, new, now)
    }

    /// Removes a source. What was read of it stays. Returns the paths of its files that no other source has, if there was one.
    /// If `with_copies`, the other transcripts of its format are read again: they may repeat turns of it.
    pub fn remove_source(&self, id: SourceId, with_copies: bool) -> Result<Option<Vec<String>>> {
        let known = self.copy().snapshot()?.sources()?.into_iter().find(|source| source.id == id);
        let removed = files::remove_source(self, id, with_copies)?;
        known.map_or(Ok(()), |known| self.forget_source(&known.source))?;
        Ok(removed)
    }

    /// Saves what was read of files of a source, in one transaction. The outcomes are in their order. `None` if there is no
    /// such source any more.
    pub fn save_readings(
        &self,
        source: SourceId,
        readings: &[FileReading],
        now: Millis,
    ) -> Result<Option<Vec<FileChanges>>> {
        files::save_readings(self, source, readings, now)
    }

    /// Files of a source that are gone: their chunks are deleted, their turns stay.
    pub fn miss_files(&self, source: SourceId, files: &[i64], now: Millis) -> Result<FileChanges> {
        files::miss_files(self, source, files, now)
    }

    /// Notes that all files of a source were looked at, and how many were passed over, by reason.
    pub fn finish_sync(&self, id: SourceId, skipped: &PassedOver, now: Millis) -> Result<()> {
        files::finish_sync(self, id, skipped, now)
    }

    /// Deletes records that were read from files, so that they may be read again. Returns how many there were.
    pub fn remove_read(&self, ids: &[RecordId]) -> Result<u64> {
        files::remove_read(self, ids)
    }
}

/// Records and links of another store.
impl Records {
    /// Merges records into the store, in one transaction, for a `viewer` who must see the scope of each. `model` is that
    /// of their embeddings; without it these are passed over. With `keep_shared`, what belongs to no agent is not
    /// replaced. The outcomes are in the order of `records`; one that is refused does not stop the others, a failure of
    /// the database stops them all.
    pub fn import(
        &self,
        records: &[impl Borrow<Portable>],
        model: Option<ModelId>,
        viewer: &Viewer,
        keep_shared: bool,
        aliases: &mut Aliases,
        now: Millis,
    ) -> Result<Vec<Result<Imported>>> {
        import::import(self, records, model, viewer, keep_shared, aliases, now)
    }

    /// Makes links between records that `viewer` sees, in one transaction; one that is there stays as it is. The outcomes
    /// are in the order of `links`; one that is refused does not stop the others.
    pub fn import_links(
        &self,
        links: &[PortableLink],
        viewer: &Viewer,
        aliases: &Aliases,
        now: Millis,
    ) -> Result<Vec<Result<Imported>>> {
        import::import_links(self, links, viewer, aliases, now)
    }

    /// What is here of what was purged on another machine: records, and earlier versions of records.
    pub fn to_purge(&self) -> Result<(Vec<RecordId>, Vec<(RecordId, i64)>)> {
        tombstones::to_purge(self)
    }

    /// Takes over what is gone in another store, in one transaction. The outcomes are in the order of `tombstones`; one that is
    /// refused does not stop the others.
    pub fn import_tombstones(
        &self,
        tombstones: &[PortableTombstone],
        viewer: &Viewer,
        aliases: &Aliases,
        now: Millis,
    ) -> Result<Vec<Result<Imported>>> {
        import::import_tombstones(self, tombstones, viewer, aliases, now)
    }
}

/// Embeddings, and the model that makes them.
impl Records {
    /// The row of this model. The first model of a store becomes the store's own.
    ///
    /// # Errors
    /// [`ModelMismatch`](crate::Error::ModelMismatch) when the store's vectors are another model's.
    pub fn model(&self, model: &Model) -> Result<ModelId> {
        match self.known_model(model)? {
            Some((id, _)) => Ok(id),
            None => embeddings::adopt_model(self, model),
        }
    }

    /// Stores the vectors of texts, each under the hash that [`Records::pending`] gave for it, and logs
    /// [`Change::Embed`](super::Change::Embed) once for every record that waited for some of them. Returns how many did. A
    /// vector that no record wants any more is dropped.
    ///
    /// # Errors
    /// [`Embedding`](crate::Error::Embedding), and nothing is stored, when a vector has other dimensions than the model's
    /// or holds a number that is not finite.
    pub fn store_embeddings(&self, model: ModelId, embeddings: &[(Hash, Vec<f32>)]) -> Result<usize> {
        embeddings::store_embeddings(self, model, embeddings)
    }

    /// Cuts the texts of some records into passages that were saved before there were any, or that another version has cut.
    /// Returns whether more remain.
    pub fn cut_some(&self) -> Result<bool> {
        passages::cut_some(self)
    }

    /// Sets texts aside that a model refused, each with the reason: they wait no longer for that model.
    pub fn set_aside(&self, model: ModelId, refused: &[(Hash, String)]) -> Result<()> {
        #[cfg(feature = "postgres")]
        if self.is_member()? {
            return refused::set_aside_in(&**self, REFUSED_HERE, model, refused);
        }
        refused::set_aside(self, model, refused)
    }

    /// Every text that was refused waits again.
    pub fn retry_refused(&self) -> Result<()> {
        #[cfg(feature = "postgres")]
        if self.is_member()? {
            return self.copy().write(|tx| meta::remove(tx, REFUSED_HERE));
        }
        refused::retry(self)
    }

    /// Notes a batch job that is about to be submitted, with its texts: they wait for it alone.
    pub fn begin_job(&self, job: &BatchJob, texts: &[Hash]) -> Result<()> {
        jobs::begin(self, job, texts)
    }

    /// Notes what has become known of a batch job.
    pub fn update_job(&self, job: &BatchJob) -> Result<()> {
        jobs::update(self, job)
    }

    /// Drops a batch job that is over. The texts that it has `left` wait for no job any more. Returns how many jobs failed one
    /// after another.
    pub fn end_job(&self, job: &BatchJob, how: JobEnd, left: &[Hash]) -> Result<u64> {
        jobs::end(self, job, how, left)
    }

    /// Of what jobs have left over, remembers these texts alone.
    pub fn keep_left(&self, kept: &[Hash]) -> Result<()> {
        jobs::keep_left(self, kept)
    }

    /// Forgets that batch jobs have failed.
    pub fn forgive_jobs(&self) -> Result<()> {
        jobs::forgive(self)
    }

    /// Begins the change to `model`, or continues it; embeddings gathered for a third one are dropped. `None` when
    /// there is nothing to change: the store's model is this one, or it has none.
    pub fn begin_next_model(&self, model: &Model) -> Result<Option<ModelId>> {
        next_model::begin_next_model(self, model)
    }

    /// Stores vectors of the next model, each under the hash that [`Records::missing`] gave for its text. One of a text that
    /// is gone is dropped, and so are all when the change is done.
    ///
    /// # Errors
    /// [`Embedding`](crate::Error::Embedding) as [`Records::store_embeddings`];
    /// [`ModelChanging`](crate::Error::ModelChanging) when the change to another model has begun meanwhile.
    pub fn store_next(&self, next: ModelId, vectors: &[(Hash, Vec<f32>)]) -> Result<()> {
        next_model::store_next(self, next, vectors)
    }

    /// Makes the next model the store's, and drops the embeddings of the one before. Changes nothing and returns false
    /// while more than `most_missing` texts of live records lack their vector:
    /// [`MAX_UNEMBEDDED_AT_SWITCH`](super::MAX_UNEMBEDDED_AT_SWITCH), where they can be embedded quickly.
    ///
    /// `indexed` are the keys that the vector index of the next model has; [`Change::Embed`](super::Change::Embed) is
    /// logged for the records that have a vector which is not among them. Without such an index nothing is logged.
    ///
    /// # Errors
    /// [`ModelChanging`](crate::Error::ModelChanging) when the change to another model has begun meanwhile.
    pub fn change_model(
        &self,
        next: ModelId,
        indexed: Option<&RoaringTreemap>,
        most_missing: usize,
        now: Millis,
    ) -> Result<bool> {
        next_model::change_model(self, next, indexed, most_missing, now)
    }
}

/// Accesses.
impl Records {
    /// Writes accesses to the log, in one transaction that does not wait for the disk: a power cut may forget the last
    /// of them. The oldest rows beyond [`MAX_ACCESS_ROWS`](super::MAX_ACCESS_ROWS) go.
    pub fn record_access(&self, accesses: &[Access<'_>], now: Millis) -> Result<()> {
        access::record_access(self, accesses, now)?;
        self.note_unsent(accesses.iter().filter(|access| access.counts).map(|access| access.id), now)
    }

    /// Counts an access of each of these records, without a row in the log; as with [`Records::record_access`], a power
    /// cut may forget it. One that is gone is passed over.
    pub fn count_accesses(&self, ids: &[RecordId], now: Millis) -> Result<()> {
        access::count_accesses(self, ids, now)?;
        self.note_unsent(ids.iter().copied(), now)
    }

    /// Writes searches with the records that each found, in one transaction that does not wait for the disk. The oldest
    /// beyond [`MAX_SEARCHES`](super::MAX_SEARCHES) go, and one whose record is gone is passed over.
    pub fn record_searches(&self, searches: &[(SearchTrace, Vec<RecordId>)]) -> Result<()> {
        searches::record_searches(self, searches)
    }

    /// Notes that a session was given these records unasked, each at its version. Gives up at once where others write.
    pub fn note_recalled(&self, session: &str, given: &[(RecordId, i64)], now: Millis) -> Result<()> {
        recalled::note(self, session, given, now)
    }

    /// Forgets what a session was given.
    pub fn forget_recalled(&self, session: &str) -> Result<()> {
        recalled::forget(self, session)
    }
}

/// What is deleted permanently.
impl Records {
    /// Deletes at most `limit` records that have expired by `by`, the longest expired first, in one transaction. Returns
    /// how many.
    pub fn remove_expired(&self, by: Millis, limit: usize) -> Result<usize> {
        expiry::remove_expired(self, by, limit)
    }

    /// Drops at most `limit` records from the trash that were deleted by `by`, in one transaction. Returns how many.
    pub fn empty_trash(&self, by: Millis, limit: usize) -> Result<usize> {
        trash::empty(self, by, limit)
    }

    /// Removes the records and versions that are to be purged, of what `viewer` sees, from the tables, in short
    /// transactions. What others write meanwhile may stay, and so do the queries in the access log
    /// ([`Self::purge_queries`]).
    ///
    /// # Errors
    /// [`Invalid`](crate::Error::Invalid) names a record that `viewer` sees and may not change.
    pub fn purge(&self, purge: &Purge, viewer: &Viewer, progress: &dyn Progress) -> Result<Removed> {
        self.purging(|| match purge {
            Purge::Ids(ids) => purge::purge_ids(self, ids, viewer, progress),
            Purge::Versions(versions) => purge::purge_versions(self, versions, viewer, progress),
            Purge::Text(text) => {
                let text = PurgeText::new(text);
                let candidates = self.records_with(&text, progress)?;
                let mut removed = purge::purge_text(self, &text, &candidates, viewer, progress)?;
                self.purge_beside(&text, viewer, &mut removed, progress)?;
                Ok(removed)
            }
        })
    }

    /// Removes a text from what is kept beside memories. What belongs to nobody is left to a viewer that sees everything.
    fn purge_beside(
        &self,
        text: &PurgeText,
        viewer: &Viewer,
        removed: &mut Removed,
        progress: &dyn Progress,
    ) -> Result<()> {
        let rows = |of, removed: &mut Removed| self.rows_with(of, text, &mut removed.patterns, progress);
        for (table, column, _) in columns::cared_for(|care| care == Care::Emptied) {
            let rows = rows((table, column), removed)?;
            purge::empty_column(self, (table, column), &rows, removed, progress)?;
        }
        if *viewer != Viewer::OWNER {
            return Ok(());
        }
        let there = self.values_with(("files", "path"), "gone_at IS NULL", text)?;
        let files = rows(("files", "path"), removed)? | rows(("files", "thread"), removed)?;
        purge::forget_files(self, &files, removed, progress)?;
        let scopes = rows(("scopes", "agent"), removed)? | rows(("scopes", "project"), removed)?;
        purge::forget_scopes(self, &scopes, removed, progress)?;
        removed.stays = self.stays(text, there)?;
        Ok(())
    }

    /// What has the text and stays, and the paths of files that are `there` and will be seen again.
    fn stays(&self, text: &PurgeText, there: BTreeSet<String>) -> Result<Vec<Stays>> {
        let mut stays = Vec::new();
        for (table, column, care) in columns::cared_for(|care| matches!(care, Care::Named(_))) {
            let Care::Named(what) = care else { continue };
            let found = self.values_with((table, column), "true", text)?;
            stays.extend(found.into_iter().map(|text| Stays { what, text }));
        }
        stays.extend(there.into_iter().map(|text| Stays { what: "the path of a file of a source", text }));
        stays.truncate(Purged::MOST_STAYS);
        Ok(stays)
    }

    /// Removes the queries that have a purged text from the access log, of records that `viewer` may change (the log
    /// keeps the queries of those who may only read a record without their text); and the searches of `viewer` that have
    /// it, or that quote a purged record. Those that found a purged record went with it.
    pub fn purge_queries(
        &self,
        purge: &Purge,
        viewer: &Viewer,
        removed: &mut Removed,
        progress: &dyn Progress,
    ) -> Result<()> {
        let searches = match purge {
            Purge::Ids(_) | Purge::Versions(_) => self.searches_quoting(&removed.texts, viewer, progress)?,
            Purge::Text(text) => {
                let text = PurgeText::new(text);
                let entries = self.queries_with(&text, viewer, progress)?;
                purge::purge_queries(&**self, &entries, removed, progress)?;
                self.searches_with(&text, viewer, progress)?
            }
        };
        purge::purge_searches(&**self, &searches, removed, progress)
    }
}
