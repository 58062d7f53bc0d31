//! Removes records and texts, and marks in each of its transactions that their traces are to be removed (`purging.rs`).

use memorist_durable::crash;
use roaring::RoaringTreemap;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};

use super::purging::PurgeMark;
use super::sought::{Needle, Sought};
use super::write::remove;
use super::{Records, embeddings, history, row};
use crate::body;
use crate::error::Result;
use crate::progress::{Progress, cancel_point};
use crate::text::Hash;
use crate::types::{Kind, Purge, RecordId, Scope, Viewer};

/// Records, or entries of the access log, in one transaction: so few that other writers hardly wait.
const STEP: usize = 100;

/// The texts of a record or a version, in the order in which [`texts_of`] reads them.
macro_rules! texts {
    () => {
        "content, context, source, tags, body, provenance, kind"
    };
}

/// What was removed from the tables.
#[derive(Debug)]
pub struct Removed {
    /// Records, with all their versions.
    pub records: u64,
    /// Versions of records that stay.
    pub versions: u64,
    /// Entries of the access log of records that stay.
    pub queries: u64,
    /// What the files may hold of it still, and of what another purge has left in them.
    pub sought: Sought,
    /// The mark of its last transaction.
    pub mark: PurgeMark,
}

impl Removed {
    fn nothing(sought: Sought) -> Self {
        Removed { records: 0, versions: 0, queries: 0, sought, mark: PurgeMark::unwritten() }
    }
}

impl Records {
    /// Removes the records and versions that are to be forgotten, of what `viewer` sees, from the tables, in short
    /// transactions. What others write meanwhile may stay, and so does what was searched for ([`Self::purge_queries`]).
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names a record that `viewer` sees and may not change.
    pub fn purge(&self, purge: &Purge, viewer: &Viewer, progress: &dyn Progress) -> Result<Removed> {
        match purge {
            Purge::Ids(ids) => self.purge_ids(ids, viewer, progress),
            Purge::Text(text) => self.purge_text(&Needle::new(text), viewer, progress),
        }
    }

    fn purge_ids(&self, ids: &[RecordId], viewer: &Viewer, progress: &dyn Progress) -> Result<Removed> {
        let mut removed = Removed::nothing(Sought::default());
        for step in ids.chunks(STEP) {
            self.purge_step(&mut removed, |tx, removed| {
                for &id in step {
                    if !row::may_change(tx, id, viewer)? {
                        continue;
                    }
                    seek_texts(tx, id, &mut removed.sought)?;
                    removed.records += u64::from(remove(tx, id)?);
                }
                Ok(())
            })?;
            cancel_point(progress)?;
        }
        Ok(removed)
    }

    fn purge_text(&self, needle: &Needle, viewer: &Viewer, progress: &dyn Progress) -> Result<Removed> {
        let mut removed = Removed::nothing(Sought::of(needle));
        let records = self.holders(needle, progress)?;
        // Also where no record has the text: the files may have it still.
        self.purge_step(&mut removed, |_, _| Ok(()))?;
        for step in steps(&records) {
            self.purge_step(&mut removed, |tx, removed| {
                for &id in &step {
                    if row::may_change(tx, id, viewer)? {
                        forget(tx, id, needle, removed)?;
                    }
                }
                Ok(())
            })?;
            cancel_point(progress)?;
        }
        Ok(removed)
    }

    /// Removes the searches for a text that is to be forgotten from the access log, of records that `viewer` may change:
    /// the log keeps the queries of those who may only read a record without their text.
    pub fn purge_queries(
        &self,
        text: &str,
        viewer: &Viewer,
        removed: &mut Removed,
        progress: &dyn Progress,
    ) -> Result<()> {
        let queries = self.askers(&Needle::new(text), viewer, progress)?;
        for step in steps(&queries) {
            self.purge_step(removed, |tx, removed| {
                let mut delete = tx.prepare_cached("DELETE FROM access_log WHERE id = ?")?;
                for id in &step {
                    // One whose record was removed meanwhile is gone with it.
                    removed.queries += delete.execute([id])? as u64;
                }
                Ok(())
            })?;
            cancel_point(progress)?;
        }
        Ok(())
    }

    /// One transaction of a purge, with a mark of its own.
    fn purge_step(
        &self,
        removed: &mut Removed,
        work: impl FnOnce(&Transaction<'_>, &mut Removed) -> Result<()>,
    ) -> Result<()> {
        self.write(|tx| {
            if removed.mark.renew(tx)? {
                removed.sought = Sought::unknown();
            }
            work(tx, removed)
        })?;
        crash::point("some purged");
        Ok(())
    }

    /// The records that have the text, now or in a version.
    fn holders(&self, needle: &Needle, progress: &dyn Progress) -> Result<RoaringTreemap> {
        let in_texts = |row: &Row<'_>| Ok(texts_of(row)?.hold(needle));
        let mut records = self.ids(concat!("SELECT ", texts!(), ", id FROM records"), in_texts, progress)?;
        let in_version = |row: &Row<'_>| Ok(in_texts(row)? || needle.is_in(&row.get::<_, String>("reason")?));
        let versions = concat!("SELECT ", texts!(), ", reason, record_id AS id FROM versions");
        records |= self.ids(versions, in_version, progress)?;
        Ok(records)
    }

    /// The entries of the access log that have the text, of records that `viewer` may change.
    fn askers(&self, needle: &Needle, viewer: &Viewer, progress: &dyn Progress) -> Result<RoaringTreemap> {
        let asked = "SELECT a.id AS id, a.query_text, s.agent, s.project FROM access_log a
             JOIN records r ON r.id = a.record_id JOIN scopes s ON s.id = r.scope_id WHERE a.query_text IS NOT NULL";
        let in_query = |row: &Row<'_>| {
            let scope = Scope { agent: row.get("agent")?, project: row.get("project")? };
            Ok(viewer.changes(&scope) && needle.is_in(&row.get::<_, String>("query_text")?))
        };
        self.ids(asked, in_query, progress)
    }

    /// The ids of the rows of a query for which `holds` says so.
    fn ids(
        &self,
        sql: &str,
        holds: impl Fn(&Row<'_>) -> rusqlite::Result<bool>,
        progress: &dyn Progress,
    ) -> Result<RoaringTreemap> {
        let reader = self.reader()?;
        let mut statement = reader.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut ids = RoaringTreemap::new();
        while let Some(row) = rows.next()? {
            if holds(row)? {
                ids.insert(row.get::<_, i64>("id")?.unsigned_abs());
            }
            cancel_point(progress)?;
        }
        Ok(ids)
    }
}

/// Removes a record that has the text, or its versions that have it.
fn forget(tx: &Transaction<'_>, id: RecordId, needle: &Needle, removed: &mut Removed) -> Result<()> {
    // Asked again behind the lock: it may have been changed since.
    let mut statement = tx.prepare_cached(concat!("SELECT ", texts!(), " FROM records WHERE id = ?"))?;
    let is_held = statement.query_row([id], |row| {
        let texts = texts_of(row)?;
        texts.seek_unlike(needle, &mut removed.sought);
        Ok(texts.hold(needle))
    });
    match is_held.optional()? {
        None => {}
        Some(true) => removed.records += u64::from(remove(tx, id)?),
        Some(false) => removed.versions += forget_versions(tx, id, needle, &mut removed.sought)?,
    }
    Ok(())
}

/// Removes the versions of a record that have the text. Returns how many.
fn forget_versions(tx: &Transaction<'_>, id: RecordId, needle: &Needle, sought: &mut Sought) -> Result<u64> {
    let sql = concat!("SELECT ", texts!(), ", reason, version, embedding_hash FROM versions WHERE record_id = ?");
    let mut statement = tx.prepare_cached(sql)?;
    let mut rows = statement.query([id])?;
    let mut held: Vec<(i64, Hash)> = Vec::new();
    while let Some(row) = rows.next()? {
        let texts = texts_of(row)?;
        if texts.hold(needle) || needle.is_in(&row.get::<_, String>("reason")?) {
            texts.seek_unlike(needle, sought);
            held.push((row.get("version")?, row.get("embedding_hash")?));
        }
    }
    for (version, hash) in &held {
        tx.prepare_cached("DELETE FROM versions WHERE record_id = ? AND version = ?")?.execute((id, version))?;
        embeddings::remove_unused(tx, hash)?;
    }
    if !held.is_empty() {
        history::mark_incomplete(tx, id)?;
    }
    Ok(held.len() as u64)
}

/// Adds what only this record and its versions are likely to say. Labels are left out: others share them, so they would be
/// found.
fn seek_texts(conn: &Connection, id: RecordId, sought: &mut Sought) -> Result<()> {
    let mut statement = conn.prepare_cached(concat!(
        "SELECT ",
        texts!(),
        " FROM records WHERE id = ?1 UNION ALL SELECT ",
        texts!(),
        " FROM versions WHERE record_id = ?1"
    ))?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        let Texts { plain: [content, context, _], json: [_, body, provenance], .. } = texts_of(row)?;
        [content, context, body, provenance].into_iter().flatten().for_each(|text| sought.add(text));
    }
    Ok(())
}

/// The texts of a record or of a version.
struct Texts<'a> {
    plain: [Option<&'a str>; 3],
    json: [Option<&'a str>; 3],
    kind: Option<Kind>,
}

fn texts_of<'a>(row: &'a Row<'_>) -> rusqlite::Result<Texts<'a>> {
    let text = |column: usize| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str_or_null()?);
    let kind = row::kind_of(row.get(6)?);
    Ok(Texts { plain: [text(0)?, text(1)?, text(2)?], json: [text(3)?, text(4)?, text(5)?], kind })
}

impl Texts<'_> {
    fn hold(&self, needle: &Needle) -> bool {
        self.holding(needle).next().is_some()
    }

    /// Adds those that have the needle in another form than those that are looked for anyway.
    fn seek_unlike(&self, needle: &Needle, sought: &mut Sought) {
        self.holding(needle).filter(|text| !needle.is_in_as_it_is(text)).for_each(|text| sought.add(text));
    }

    /// Those that have the needle.
    fn holding<'n>(&'n self, needle: &'n Needle) -> impl Iterator<Item = &'n str> {
        let [tags, body, provenance] = self.json;
        let fields = self.kind.map_or(&[][..], body::fields);
        let json = [(tags, &[][..]), (body, fields), (provenance, &[])];
        let plain = self.plain.into_iter().flatten().filter(|text| needle.is_in(text));
        let json = json.into_iter().filter_map(|(json, fields)| json.filter(|json| needle.is_in_json(json, fields)));
        plain.chain(json)
    }
}

/// The ids of a set, a step at a time.
fn steps(ids: &RoaringTreemap) -> impl Iterator<Item = Vec<i64>> {
    let mut ids = ids.iter().map(|id| id as i64).peekable();
    std::iter::from_fn(move || ids.peek().is_some().then(|| ids.by_ref().take(STEP).collect()))
}

#[cfg(test)]
mod tests;
