//! Writes of [`Records`] to the trash and the links, imports and purges. All others are in `rules/`, which their callers
//! run on it.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use super::purge::columns::{self, Care};
use super::purge::patterns::PurgeText;
use super::rules::import::{self, Aliases};
use super::rules::purge::{self, Removed};
use super::rules::{links, tombstones, trash};
use super::store::Records;
use crate::error::Result;
use crate::progress::Progress;
use crate::types::{
    Expect, Imported, Link, Millis, ModelId, Portable, PortableLink, PortableTombstone, Purge, Purged, Record,
    RecordId, Stays, Viewer,
};

/// The trash.
impl Records {
    /// Deletes a record: it goes to the trash with its versions and links; its access rows are removed, and its
    /// embeddings that no other record uses. Returns whether there was one that `viewer` sees (an expired one counts).
    ///
    /// # Errors
    /// [`Invalid`](crate::Error::Invalid) when `viewer` sees it and may not change it.
    pub fn delete(&self, id: RecordId, viewer: &Viewer, now: Millis) -> Result<bool> {
        trash::delete(self, id, None, viewer, now).map(|deleted| deleted.is_some())
    }

    /// Deletes a record if it is as expected. Returns the deleted record.
    ///
    /// # Errors
    /// Errors of [`Records::delete`], and [`Invalid`](crate::Error::Invalid) when it is not as expected.
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

    /// Drops at most `limit` records from the trash that were deleted by `by`, in one transaction. Returns how many.
    pub fn empty_trash(&self, by: Millis, limit: usize) -> Result<usize> {
        trash::empty(self, by, limit)
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

    /// Purges that other machines have made and this store has not: of records, and of earlier versions.
    pub fn to_purge(&self) -> Result<Vec<Purge>> {
        tombstones::to_purge(self)
    }

    /// Applies the tombstones of another store, in one transaction. The outcomes are in the order of `tombstones`; a
    /// rejected one does not stop the others.
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

/// Permanent deletion.
impl Records {
    /// Removes the records and versions that are to be purged and that `viewer` sees from the tables, in short
    /// transactions. Rows that others write meanwhile may stay, and so do the queries in the access log
    /// ([`Self::purge_queries`]).
    ///
    /// # Errors
    /// [`Invalid`](crate::Error::Invalid) names a record that `viewer` sees and may not change.
    pub fn purge(&self, purge: &Purge, viewer: &Viewer, progress: &dyn Progress) -> Result<Removed> {
        let removed = self.purging(|| match purge {
            Purge::Ids(ids) => purge::purge_ids(self, ids, viewer, progress),
            Purge::Versions(versions) => purge::purge_versions(self, versions, viewer, progress),
            Purge::Text(text) => {
                let text = PurgeText::new(text);
                let candidates = self.records_with(&text, progress)?;
                let mut removed = purge::purge_text(self, &text, &candidates, viewer, progress)?;
                self.purge_beside(&text, viewer, &mut removed, progress)?;
                Ok(removed)
            }
        })?;
        // Also one that found nothing: a file for other machines may have the text still.
        self.count_purge()?;
        Ok(removed)
    }

    /// Removes a text from tables other than those of memories; from sources and scopes only for a viewer that sees
    /// everything.
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

    /// Values that contain the text and stay, and the paths of files that still exist and will be read again.
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
