//! Which rows have a text that is to be purged: every record, version, logged query and search is looked through.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use roaring::RoaringTreemap;

use super::searches::searcher;
use super::store::Database;
use crate::error::Result;
use crate::progress::{Progress, cancel_point};
use crate::records::purge::patterns::{PurgePatterns, PurgeText};
use crate::records::purge::quoted::Quoted;
use crate::records::purge::row::{RowTexts, text_columns};
use crate::records::transaction::{Row, Select};
use crate::types::{Scope, Viewer};

impl Database {
    /// The records that have the text, now or in a version, and the deleted ones.
    pub(in crate::records) fn records_with(&self, text: &PurgeText, progress: &dyn Progress) -> Result<RoaringTreemap> {
        let in_record = |row: &dyn Row| Ok(RowTexts::of(row)?.have(text));
        let in_version = |row: &dyn Row| Ok(in_record(row)? || text.is_in(row.get(9)?));
        let records = concat!("SELECT ", text_columns!(), ", id FROM records");
        let versions = concat!("SELECT ", text_columns!(versions), ", record_id, reason FROM versions");
        let deleted = concat!("SELECT ", text_columns!(), ", id FROM trash");
        let deleted_versions = concat!("SELECT ", text_columns!(versions), ", record_id, reason FROM trash_versions");
        // One state of all tables: a record that is restored meanwhile would be in neither.
        let snapshot = self.snapshot()?;
        let db = snapshot.conn();
        Ok(ids_where(db, records, 8, in_record, progress)?
            | ids_where(db, versions, 8, in_version, progress)?
            | ids_where(db, deleted, 8, in_record, progress)?
            | ids_where(db, deleted_versions, 8, in_version, progress)?)
    }

    /// The entries of the access log that have the text, of records that `viewer` may change.
    pub(in crate::records) fn queries_with(
        &self,
        text: &PurgeText,
        viewer: &Viewer,
        progress: &dyn Progress,
    ) -> Result<RoaringTreemap> {
        let sql = "SELECT a.id, a.query_text, s.agent, s.project FROM access_log a
             JOIN records r ON r.id = a.record_id JOIN scopes s ON s.id = r.scope_id WHERE a.query_text IS NOT NULL";
        let in_query = |row: &dyn Row| {
            let scope = Scope { agent: row.get(2)?, project: row.get(3)? };
            Ok(viewer.changes(&scope) && text.is_in(row.get(1)?))
        };
        ids_where(&*self.reader()?, sql, 0, in_query, progress)
    }

    /// The searches that `viewer` made and whose query, filters or tool have the text.
    pub(in crate::records) fn searches_with(
        &self,
        text: &PurgeText,
        viewer: &Viewer,
        progress: &dyn Progress,
    ) -> Result<RoaringTreemap> {
        self.searches_where(viewer, progress, |search| {
            let names = [search.get::<Option<&str>>(1)?, search.get(2)?];
            let filters: Option<&str> = search.get(4)?;
            Ok(text.is_in(search.get(3)?)
                || text.is_in(search.get(5)?)
                || names.into_iter().flatten().any(|name| text.is_in(name))
                || filters.is_some_and(|filters| text.is_in_member(filters, "tags")))
        })
    }

    /// The searches that `viewer` made and whose query has one of the texts as a whole.
    pub(in crate::records) fn searches_quoting(
        &self,
        texts: &BTreeSet<String>,
        viewer: &Viewer,
        progress: &dyn Progress,
    ) -> Result<RoaringTreemap> {
        let quoted = Quoted::new(texts)?;
        self.searches_where(viewer, progress, |search| Ok(quoted.is_in(search.get(3)?)))
    }

    fn searches_where(
        &self,
        viewer: &Viewer,
        progress: &dyn Progress,
        holds: impl Fn(&dyn Row) -> Result<bool>,
    ) -> Result<RoaringTreemap> {
        let sql = "SELECT id, agent, project, query, filters, tool FROM searches";
        let in_search = |row: &dyn Row| Ok(viewer.made(&searcher(row)?) && holds(row)?);
        ids_where(&*self.reader()?, sql, 0, in_search, progress)
    }

    /// The rows of a table that have the text in a column, which may be JSON, by their ids. What has it in another form than
    /// those of the text is added to `patterns`.
    pub(in crate::records) fn rows_with(
        &self,
        (table, column): (&str, &str),
        text: &PurgeText,
        patterns: &mut PurgePatterns,
        progress: &dyn Progress,
    ) -> Result<RoaringTreemap> {
        let sql = format!("SELECT id, {column} FROM {table} WHERE {column} IS NOT NULL");
        let mut other_forms = Vec::new();
        let found = RefCell::new(&mut other_forms);
        let in_row = |row: &dyn Row| {
            let value: &str = row.get(1)?;
            let is_in = text.is_in(value) || text.is_in_json(value, &[]);
            if is_in && !text.is_in_as_it_is(value) {
                found.borrow_mut().push(value.to_owned());
            }
            Ok(is_in)
        };
        let ids = ids_where(&*self.reader()?, &sql, 0, in_row, progress)?;
        other_forms.iter().for_each(|value| patterns.add(value));
        Ok(ids)
    }

    /// The values of a column that have the text.
    pub(in crate::records) fn values_with(
        &self,
        (table, column): (&str, &str),
        condition: &str,
        text: &PurgeText,
    ) -> Result<BTreeSet<String>> {
        let sql = format!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL AND {condition}");
        let mut values = BTreeSet::new();
        self.reader()?.select(&sql, &[], &mut |row| {
            let value: &str = row.get(0)?;
            if text.is_in(value) || text.is_in_json(value, &[]) {
                values.insert(value.to_owned());
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(values)
    }
}

/// The ids, in the column `id`, of the rows of a query for which `holds` is true.
fn ids_where(
    db: &dyn Select,
    sql: &str,
    id: usize,
    holds: impl Fn(&dyn Row) -> Result<bool>,
    progress: &dyn Progress,
) -> Result<RoaringTreemap> {
    let mut ids = RoaringTreemap::new();
    db.select(sql, &[], &mut |row| {
        if holds(row)? {
            ids.insert(row.get::<i64>(id)?.cast_unsigned());
        }
        cancel_point(progress)?;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(ids)
}
