//! A purge removes rows from the tables, in short transactions. Each writes the mark of an unfinished purge, as the files
//! still hold the bytes (`purge/mark.rs`).

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use memorist_durable::crash;
use roaring::RoaringTreemap;

use super::add::remove;
use super::{embeddings, origins, searches, tombstones, trash, versions};
use crate::error::Result;
use crate::progress::{Progress, cancel_point};
use crate::records::lookup::{changeable, may_change};
use crate::records::purge::mark::PurgeMark;
use crate::records::purge::patterns::{PurgePatterns, PurgeText};
use crate::records::purge::row::{RowTexts, text_columns};
use crate::records::transaction::{Authority, Select, SelectExt, Tx};
use crate::sensitive::MAX_LOGGED_BYTES;
use crate::text::{Hash, one_line};
use crate::types::{Purged, RecordId, Stays, Viewer};

/// Records, or entries of a log, per transaction: few enough that other writers hardly wait.
pub(crate) const STEP: usize = 100;

/// The result of a purge of the tables.
#[derive(Debug)]
pub struct Removed {
    /// Records, with all their versions.
    pub records: u64,
    /// Versions of records that stay.
    pub versions: u64,
    /// Entries of the access log of records that stay, and searches.
    pub queries: u64,
    /// The beginnings of their contents ([`Purged::beginnings`](crate::types::Purged::beginnings)).
    pub beginnings: BTreeSet<String>,
    /// Values that contain the text and stay.
    pub stays: Vec<Stays>,
    /// Texts of the records, as far as a logged query may have them as a whole.
    pub texts: BTreeSet<String>,
    /// Texts that the files may still hold, also those that another purge has left in them.
    pub patterns: PurgePatterns,
    /// The mark of its last transaction.
    pub mark: PurgeMark,
}

impl Removed {
    fn nothing(patterns: PurgePatterns) -> Self {
        let (beginnings, texts, mark) = (BTreeSet::new(), BTreeSet::new(), PurgeMark::unwritten());
        Removed { records: 0, versions: 0, queries: 0, beginnings, stays: Vec::new(), texts, patterns, mark }
    }
}

/// Counts of one transaction.
#[derive(Default)]
struct PurgeStep {
    records: u64,
    versions: u64,
    queries: u64,
    beginnings: BTreeSet<String>,
}

/// Removes these records, of those that `viewer` sees.
pub(crate) fn purge_ids(
    authority: &impl Authority,
    ids: &[RecordId],
    viewer: &Viewer,
    progress: &dyn Progress,
) -> Result<Removed> {
    purge_each(authority, ids, progress, |tx, &id, found, step| {
        if may_change(tx, id, viewer)? {
            add_texts(tx, id, found)?;
            add_beginnings(tx, id, step)?;
            origins::forget(tx, id)?;
            searches::forget(tx, id)?;
            tombstones::purge(tx, id, "records")?;
            step.records += u64::from(remove(tx, id)?);
        } else if may_change_in_trash(tx, id, viewer)? {
            add_texts(tx, id, found)?;
            add_beginnings(tx, id, step)?;
            searches::forget(tx, id)?;
            tombstones::purge(tx, id, "trash")?;
            step.records += u64::from(trash::forget(tx, id)?);
        }
        Ok(())
    })
}

/// Removes these versions, of records that `viewer` sees.
pub(crate) fn purge_versions(
    authority: &impl Authority,
    versions: &[(RecordId, i64)],
    viewer: &Viewer,
    progress: &dyn Progress,
) -> Result<Removed> {
    purge_each(authority, versions, progress, |tx, &(id, number), found, step| {
        if may_change(tx, id, viewer)? {
            let sql = concat!(
                "SELECT ",
                text_columns!(versions),
                ", reason, version, embedding_hash FROM versions WHERE record_id = ?1 AND version = ?2"
            );
            let version = tx.first(sql, &[id.into(), number.into()], |row| {
                found.add(&RowTexts::of(row)?);
                step.beginnings.extend(RowTexts::of(row)?.content.map(beginning));
                row.get(10)
            })?;
            drop_versions(tx, id, version.map(|hash| (number, hash)).as_slice(), step)
        } else if may_change_in_trash(tx, id, viewer)? {
            remove_deleted_version(tx, (id, number), found, step)
        } else {
            Ok(())
        }
    })
}

/// Texts of rows that are removed by id.
struct PurgedTexts<'a> {
    patterns: &'a mut PurgePatterns,
    /// Texts that a logged query may have as a whole.
    texts: &'a mut BTreeSet<String>,
}

impl PurgedTexts<'_> {
    /// Adds the texts that only this row is likely to have. Labels are left out: other records share them, so they would be found.
    fn add(&mut self, row: &RowTexts<'_>) {
        let RowTexts { content, context, body, provenance, .. } = *row;
        [content, context, body, provenance].into_iter().flatten().for_each(|text| self.patterns.add(text));
        let short = [content, context].into_iter().flatten().filter(|text| text.len() <= MAX_LOGGED_BYTES);
        self.texts.extend(short.map(|text| text.trim().to_owned()));
    }
}

/// Removes each of these, few enough per transaction that other writers hardly wait.
fn purge_each<T>(
    authority: &impl Authority,
    all: &[T],
    progress: &dyn Progress,
    remove: impl Fn(&dyn Tx, &T, &mut PurgedTexts<'_>, &mut PurgeStep) -> Result<()>,
) -> Result<Removed> {
    let mut removed = Removed::nothing(PurgePatterns::default());
    let mut texts = BTreeSet::new();
    for some in all.chunks(STEP) {
        step(authority, &mut removed, |tx, patterns| {
            let (mut step, mut found) = (PurgeStep::default(), PurgedTexts { patterns, texts: &mut texts });
            some.iter().try_for_each(|one| remove(tx, one, &mut found, &mut step))?;
            Ok(step)
        })?;
        cancel_point(progress)?;
    }
    Ok(Removed { texts, ..removed })
}

/// Removes earlier versions of a record, by their numbers and the hashes of their embeddings.
fn drop_versions(tx: &dyn Tx, id: RecordId, versions: &[(i64, Hash)], step: &mut PurgeStep) -> Result<()> {
    if versions.is_empty() {
        return Ok(());
    }
    let numbers: Vec<i64> = versions.iter().map(|(number, _)| *number).collect();
    tombstones::purge_versions(tx, id, &numbers)?;
    for (number, hash) in versions {
        let sql = "DELETE FROM versions WHERE record_id = ?1 AND version = ?2";
        tx.execute(sql, &[id.into(), (*number).into()])?;
        embeddings::remove_unused(tx, hash)?;
    }
    step.versions += versions.len() as u64;
    versions::mark_incomplete(tx, id)
}

/// Removes a version of a deleted record, which goes as a whole if that is its newest. It stays deleted, and is not purged.
fn remove_deleted_version(
    tx: &dyn Tx,
    (id, number): (RecordId, i64),
    found: &mut PurgedTexts<'_>,
    step: &mut PurgeStep,
) -> Result<()> {
    let key = [id.into(), number.into()];
    if tx.exists("SELECT 1 FROM trash WHERE id = ?1 AND version = ?2", &key)? {
        add_texts(tx, id, found)?;
        add_beginnings(tx, id, step)?;
        trash::forget(tx, id)?;
    } else {
        let sql =
            concat!("SELECT ", text_columns!(versions), " FROM trash_versions WHERE record_id = ?1 AND version = ?2");
        tx.first(sql, &key, |row| {
            found.add(&RowTexts::of(row)?);
            step.beginnings.extend(RowTexts::of(row)?.content.map(beginning));
            Ok(())
        })?;
        tombstones::keep_moments_in_trash(tx, id, number)?;
        if tx.execute("DELETE FROM trash_versions WHERE record_id = ?1 AND version = ?2", &key)? > 0 {
            versions::mark_incomplete(tx, id)?;
        }
    }
    step.versions += 1;
    Ok(())
}

/// Whether there is a deleted record with this id that `viewer` sees.
fn may_change_in_trash(tx: &dyn Tx, id: RecordId, viewer: &Viewer) -> Result<bool> {
    Ok(changeable(trash::scope_of(tx, id)?, id, viewer)?.is_some())
}

/// Removes a text with the records that have it, or with their versions that do. `candidates` are the records that had it
/// when it was looked for.
pub(crate) fn purge_text(
    authority: &impl Authority,
    text: &PurgeText,
    candidates: &RoaringTreemap,
    viewer: &Viewer,
    progress: &dyn Progress,
) -> Result<Removed> {
    let mut removed = Removed::nothing(PurgePatterns::of(text));
    // Also where no record has the text: the files may have it still.
    step(authority, &mut removed, |_, _| Ok(PurgeStep::default()))?;
    for ids in steps(candidates, RecordId::from_key) {
        step(authority, &mut removed, |tx, patterns| {
            let mut step = PurgeStep::default();
            for &id in &ids {
                if may_change(tx, id, viewer)? {
                    remove_text(tx, id, text, patterns, &mut step)?;
                } else if may_change_in_trash(tx, id, viewer)? {
                    remove_from_trash(tx, id, text, patterns, &mut step)?;
                }
            }
            Ok(step)
        })?;
        cancel_point(progress)?;
    }
    Ok(removed)
}

/// Removes these entries of the access log.
pub(crate) fn purge_queries(
    authority: &impl Authority,
    entries: &RoaringTreemap,
    removed: &mut Removed,
    progress: &dyn Progress,
) -> Result<()> {
    let sql = "DELETE FROM access_log WHERE id = ?1";
    let count = |entries| PurgeStep { queries: entries, ..PurgeStep::default() };
    purge_rows(authority, sql, entries, count, removed, progress)
}

/// Removes these searches.
pub(crate) fn purge_searches(
    authority: &impl Authority,
    entries: &RoaringTreemap,
    removed: &mut Removed,
    progress: &dyn Progress,
) -> Result<()> {
    let sql = "DELETE FROM searches WHERE id = ?1";
    let count = |entries| PurgeStep { queries: entries, ..PurgeStep::default() };
    purge_rows(authority, sql, entries, count, removed, progress)
}

/// Empties a column of these rows.
pub(crate) fn empty_column(
    authority: &impl Authority,
    (table, column): (&str, &str),
    rows: &RoaringTreemap,
    removed: &mut Removed,
    progress: &dyn Progress,
) -> Result<()> {
    let sql = format!("UPDATE {table} SET {column} = NULL WHERE id = ?1");
    purge_rows(authority, &sql, rows, |_| PurgeStep::default(), removed, progress)
}

/// Forgets these files of sources: files that still exist are read as if they were new, without the purged records.
pub(crate) fn forget_files(
    authority: &impl Authority,
    files: &RoaringTreemap,
    removed: &mut Removed,
    progress: &dyn Progress,
) -> Result<()> {
    purge_rows(authority, "DELETE FROM files WHERE id = ?1", files, |_| PurgeStep::default(), removed, progress)
}

/// Removes these scopes, except those that a memory has.
pub(crate) fn forget_scopes(
    authority: &impl Authority,
    scopes: &RoaringTreemap,
    removed: &mut Removed,
    progress: &dyn Progress,
) -> Result<()> {
    let sql = "DELETE FROM scopes WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM records WHERE scope_id = ?1)
         AND NOT EXISTS (SELECT 1 FROM trash WHERE scope_id = ?1)";
    purge_rows(authority, sql, scopes, |_| PurgeStep::default(), removed, progress)
}

/// Runs a statement for each of these rows, by their ids.
fn purge_rows(
    authority: &impl Authority,
    sql: &str,
    rows: &RoaringTreemap,
    count: fn(u64) -> PurgeStep,
    removed: &mut Removed,
    progress: &dyn Progress,
) -> Result<()> {
    for rows in steps(rows, u64::cast_signed) {
        step(authority, removed, |tx, _| {
            // One is gone where its record was removed meanwhile.
            let changed = rows.iter().map(|&id| tx.execute(sql, &[id.into()])).sum::<Result<usize>>()?;
            Ok(count(changed as u64))
        })?;
        cancel_point(progress)?;
    }
    Ok(())
}

/// One transaction of a purge, with a mark of its own.
fn step(
    authority: &impl Authority,
    removed: &mut Removed,
    mut work: impl FnMut(&dyn Tx, &mut PurgePatterns) -> Result<PurgeStep>,
) -> Result<()> {
    let (last, patterns) = (&removed.mark, &mut removed.patterns);
    let (mark, takes_over, done) = authority.write(|tx| {
        // Within the transaction: it says when it was made, and a transaction may have to wait.
        let mark = PurgeMark::unwritten();
        let takes_over = mark.write(tx, last)?;
        Ok((mark, takes_over, work(tx, patterns)?))
    })?;
    removed.mark = mark;
    if takes_over {
        removed.patterns = PurgePatterns::unknown();
    }
    removed.records += done.records;
    removed.versions += done.versions;
    removed.queries += done.queries;
    removed.beginnings.extend(done.beginnings);
    crash::point("some purged");
    Ok(())
}

/// Removes a record that has the text, or its versions that have it.
fn remove_text(
    tx: &dyn Tx,
    id: RecordId,
    text: &PurgeText,
    patterns: &mut PurgePatterns,
    step: &mut PurgeStep,
) -> Result<()> {
    // Looked up again in the transaction: it may have been changed since.
    let sql = concat!("SELECT ", text_columns!(), " FROM records WHERE id = ?1");
    let has_text = tx.first(sql, &[id.into()], |row| {
        let texts = RowTexts::of(row)?;
        texts.add_other_forms(text, patterns);
        Ok(texts.have(text))
    })?;
    match has_text {
        None => {}
        Some(true) => {
            add_beginnings(tx, id, step)?;
            origins::forget(tx, id)?;
            searches::forget(tx, id)?;
            tombstones::purge(tx, id, "records")?;
            step.records += u64::from(remove(tx, id)?);
        }
        Some(false) => remove_versions(tx, id, text, patterns, step)?,
    }
    Ok(())
}

/// Removes a deleted record that has the text, now or in a version, as a whole.
fn remove_from_trash(
    tx: &dyn Tx,
    id: RecordId,
    text: &PurgeText,
    patterns: &mut PurgePatterns,
    step: &mut PurgeStep,
) -> Result<()> {
    let sql = concat!(
        "SELECT ",
        text_columns!(),
        ", '' FROM trash WHERE id = ?1 UNION ALL SELECT ",
        text_columns!(versions),
        ", reason FROM trash_versions WHERE record_id = ?1"
    );
    let mut has_text = false;
    tx.select(sql, &[id.into()], &mut |row| {
        let texts = RowTexts::of(row)?;
        texts.add_other_forms(text, patterns);
        has_text |= texts.have(text) || text.is_in(row.get(8)?);
        Ok(ControlFlow::Continue(()))
    })?;
    if has_text {
        add_beginnings(tx, id, step)?;
        searches::forget(tx, id)?;
        tombstones::purge(tx, id, "trash")?;
        step.records += u64::from(trash::forget(tx, id)?);
    }
    Ok(())
}

/// Removes the versions of a record that have the text.
fn remove_versions(
    tx: &dyn Tx,
    id: RecordId,
    text: &PurgeText,
    patterns: &mut PurgePatterns,
    step: &mut PurgeStep,
) -> Result<()> {
    let sql = concat!(
        "SELECT ",
        text_columns!(versions),
        ", reason, version, embedding_hash FROM versions WHERE record_id = ?1"
    );
    let mut having: Vec<(i64, Hash)> = Vec::new();
    tx.select(sql, &[id.into()], &mut |row| {
        let texts = RowTexts::of(row)?;
        if texts.have(text) || text.is_in(row.get(8)?) {
            texts.add_other_forms(text, patterns);
            step.beginnings.extend(texts.content.map(beginning));
            having.push((row.get(9)?, row.get(10)?));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    drop_versions(tx, id, &having, step)
}

/// Adds the beginnings of the contents of a removed record and of its versions.
fn add_beginnings(db: &dyn Select, id: RecordId, step: &mut PurgeStep) -> Result<()> {
    let sql = "SELECT content FROM records WHERE id = ?1 UNION ALL SELECT content FROM versions WHERE record_id = ?1
         UNION ALL SELECT content FROM trash WHERE id = ?1
         UNION ALL SELECT content FROM trash_versions WHERE record_id = ?1";
    let all = db.all(sql, &[id.into()], |row| Ok(beginning(row.get(0)?)))?;
    step.beginnings.extend(all);
    Ok(())
}

fn beginning(content: &str) -> String {
    one_line(content, Purged::BEGINNING)
}

/// Adds the texts of a record and its versions, live or deleted.
fn add_texts(db: &dyn Select, id: RecordId, found: &mut PurgedTexts<'_>) -> Result<()> {
    let sql = concat!(
        "SELECT ",
        text_columns!(),
        " FROM records WHERE id = ?1 UNION ALL SELECT ",
        text_columns!(versions),
        " FROM versions WHERE record_id = ?1 UNION ALL SELECT ",
        text_columns!(),
        " FROM trash WHERE id = ?1 UNION ALL SELECT ",
        text_columns!(versions),
        " FROM trash_versions WHERE record_id = ?1"
    );
    db.select(sql, &[id.into()], &mut |row| {
        found.add(&RowTexts::of(row)?);
        Ok(ControlFlow::Continue(()))
    })
}

/// The ids of a set, a step at a time.
fn steps<T>(ids: &RoaringTreemap, id: fn(u64) -> T) -> impl Iterator<Item = Vec<T>> {
    let mut ids = ids.iter().map(id).peekable();
    std::iter::from_fn(move || ids.peek().is_some().then(|| ids.by_ref().take(STEP).collect()))
}
