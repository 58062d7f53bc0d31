//! A purge as a whole: finds the rows with what is to be removed, and has the rules of `rules/purge.rs` remove them.

use std::collections::BTreeSet;

use super::purge::columns::{self, Care};
use super::purge::patterns::PurgeText;
use super::rules::purge::{self, Removed};
use super::store::Records;
use crate::error::Result;
use crate::progress::Progress;
use crate::types::{Purge, Purged, Stays, Viewer};

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
