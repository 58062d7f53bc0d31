//! Removes records and texts, and remembers that their traces are to be removed.
//!
//! A purge that has begun is written down under `purging` in `meta`, without saying what it is about, until no file of the
//! store has a trace of it any more: a process that is killed in the middle, or finds a file in use, leaves the rest to the
//! next one.

use memorist_index::crash;
use roaring::RoaringTreemap;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use ulid::Ulid;

use super::sought::{Needle, Sought};
use super::write::remove;
use super::{Records, embeddings, history, row};
use crate::error::Result;
use crate::progress::{Progress, cancel_point};
use crate::text::Hash;
use crate::types::{Purge, RecordId, Scope, Viewer};

/// Records, or entries of the access log, in one transaction: so few that other writers hardly wait.
const STEP: usize = 100;

/// The texts of a record or a version, in the order in which [`texts_of`] reads them.
macro_rules! texts {
    () => {
        "content, context, source, tags, body, provenance"
    };
}

/// Tells one unfinished purge from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeMark(String);

/// What was removed from the tables.
#[derive(Debug, Default)]
pub struct Removed {
    /// Records, with all their versions.
    pub records: u64,
    /// Versions of records that stay.
    pub versions: u64,
    /// Entries of the access log of records that stay.
    pub queries: u64,
    /// What the files may hold of it still.
    pub sought: Sought,
}

impl Records {
    /// Writes down that a purge has begun.
    pub fn begin_purge(&self) -> Result<PurgeMark> {
        let mark = Ulid::generate().to_string();
        self.write(|tx| Ok(tx.execute("INSERT OR REPLACE INTO meta VALUES ('purging', ?)", [&mark])?))?;
        Ok(PurgeMark(mark))
    }

    /// The purge that is not finished, where there is one: the last that was begun.
    pub fn unfinished_purge(&self) -> Result<Option<PurgeMark>> {
        let reader = self.reader()?;
        let mut statement = reader.prepare_cached("SELECT value FROM meta WHERE key = 'purging'")?;
        Ok(statement.query_row([], |row| row.get(0)).optional()?.map(PurgeMark))
    }

    /// Writes down that it is finished, unless another has begun since.
    pub fn end_purge(&self, mark: &PurgeMark) -> Result<()> {
        self.write(|tx| Ok(tx.execute("DELETE FROM meta WHERE key = 'purging' AND value = ?", [&mark.0])?)).map(drop)
    }

    /// Removes what is to be forgotten, of what `viewer` sees, from the tables, in short transactions. What others write
    /// meanwhile may stay.
    pub fn purge(&self, purge: &Purge, viewer: &Viewer, progress: &dyn Progress) -> Result<Removed> {
        match purge {
            Purge::Ids(ids) => self.purge_ids(ids, viewer, progress),
            Purge::Text(text) => self.purge_text(&Needle::new(text), viewer, progress),
        }
    }

    fn purge_ids(&self, ids: &[RecordId], viewer: &Viewer, progress: &dyn Progress) -> Result<Removed> {
        let mut removed = Removed::default();
        for step in ids.chunks(STEP) {
            self.write(|tx| {
                for &id in step {
                    if !is_seen(tx, id, viewer)? {
                        continue;
                    }
                    seek_texts(tx, id, &mut removed.sought)?;
                    removed.records += u64::from(remove(tx, id)?);
                }
                Ok(())
            })?;
            crash::point("some purged");
            cancel_point(progress)?;
        }
        Ok(removed)
    }

    fn purge_text(&self, needle: &Needle, viewer: &Viewer, progress: &dyn Progress) -> Result<Removed> {
        let mut removed = Removed { sought: Sought::of(needle), ..Removed::default() };
        let (records, queries) = self.holders(needle, viewer, progress)?;
        for step in steps(&records) {
            self.write(|tx| {
                for &id in &step {
                    if is_seen(tx, id, viewer)? {
                        forget(tx, id, needle, &mut removed)?;
                    }
                }
                Ok(())
            })?;
            crash::point("some purged");
            cancel_point(progress)?;
        }
        for step in steps(&queries) {
            self.write(|tx| {
                let mut delete = tx.prepare_cached("DELETE FROM access_log WHERE id = ?")?;
                for id in &step {
                    // One whose record was removed above is gone with it.
                    removed.queries += delete.execute([id])? as u64;
                }
                Ok(())
            })?;
            cancel_point(progress)?;
        }
        Ok(removed)
    }

    /// The records that have the text, now or in a version, and the entries of the access log that have it.
    fn holders(
        &self,
        needle: &Needle,
        viewer: &Viewer,
        progress: &dyn Progress,
    ) -> Result<(RoaringTreemap, RoaringTreemap)> {
        let snapshot = self.snapshot()?;
        let scan = |sql: &str, holds: &dyn Fn(&Row<'_>) -> rusqlite::Result<bool>, ids: &mut RoaringTreemap| {
            let mut statement = snapshot.conn().prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if holds(row)? {
                    ids.insert(row.get::<_, i64>("id")?.unsigned_abs());
                }
                cancel_point(progress)?;
            }
            Ok::<_, crate::Error>(())
        };
        let (mut records, mut queries) = (RoaringTreemap::new(), RoaringTreemap::new());
        let in_texts = |row: &Row<'_>| Ok(texts_of(row)?.hold(needle));
        scan(concat!("SELECT ", texts!(), ", id FROM records"), &in_texts, &mut records)?;
        let in_version = |row: &Row<'_>| Ok(in_texts(row)? || needle.is_in(&row.get::<_, String>("reason")?));
        scan(concat!("SELECT ", texts!(), ", reason, record_id AS id FROM versions"), &in_version, &mut records)?;
        let in_query = |row: &Row<'_>| {
            let scope = Scope { agent: row.get("agent")?, project: row.get("project")? };
            Ok(viewer.sees(&scope) && needle.is_in(&row.get::<_, String>("query_text")?))
        };
        let asked = "SELECT a.id AS id, a.query_text, s.agent, s.project FROM access_log a
             JOIN records r ON r.id = a.record_id JOIN scopes s ON s.id = r.scope_id WHERE a.query_text IS NOT NULL";
        scan(asked, &in_query, &mut queries)?;
        Ok((records, queries))
    }
}

fn is_seen(tx: &Transaction<'_>, id: RecordId, viewer: &Viewer) -> Result<bool> {
    Ok(row::scope_of(tx, id)?.is_some_and(|scope| viewer.sees(&scope)))
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
        let Texts { plain: [content, context, _], json: [_, body, provenance] } = texts_of(row)?;
        [content, context, body, provenance].into_iter().flatten().for_each(|text| sought.add(text));
    }
    Ok(())
}

/// The texts of a record or of a version.
struct Texts<'a> {
    plain: [Option<&'a str>; 3],
    json: [Option<&'a str>; 3],
}

fn texts_of<'a>(row: &'a Row<'_>) -> rusqlite::Result<Texts<'a>> {
    let text = |column: usize| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str_or_null()?);
    Ok(Texts { plain: [text(0)?, text(1)?, text(2)?], json: [text(3)?, text(4)?, text(5)?] })
}

impl Texts<'_> {
    fn hold(&self, needle: &Needle) -> bool {
        self.plain.iter().flatten().any(|text| needle.is_in(text))
            || self.json.iter().flatten().any(|json| needle.is_in_json(json))
    }

    /// Adds those that have the needle in another form than those that are looked for anyway.
    fn seek_unlike(&self, needle: &Needle, sought: &mut Sought) {
        let plain = self.plain.iter().flatten().filter(|text| needle.is_in(text));
        let json = self.json.iter().flatten().filter(|json| needle.is_in_json(json));
        plain.chain(json).filter(|text| !needle.is_in_as_it_is(text)).for_each(|text| sought.add(text));
    }
}

/// The ids of a set, a step at a time.
fn steps(ids: &RoaringTreemap) -> impl Iterator<Item = Vec<i64>> {
    let mut ids = ids.iter().map(|id| id as i64).peekable();
    std::iter::from_fn(move || ids.peek().is_some().then(|| ids.by_ref().take(STEP).collect()))
}

#[cfg(test)]
mod tests {
    use rusqlite::types::ValueRef;

    use super::super::testing::{NOW, Store, model, new};
    use super::*;
    use crate::progress::NoProgress;
    use crate::records::{Access, AccessKind};
    use crate::types::{NewRecord, RecordUpdate};

    const SECRET: &str = "kestrel \"vault\"";

    fn purge(store: &Store, purge: Purge) -> (u64, u64, u64) {
        let removed = store.purge(&purge, &Viewer::OWNER, &NoProgress).unwrap();
        (removed.records, removed.versions, removed.queries)
    }

    fn text(text: &str) -> Purge {
        Purge::Text(text.into())
    }

    fn update(store: &Store, id: RecordId, update: RecordUpdate) {
        store.update(id, &update, &Viewer::OWNER, NOW).unwrap();
    }

    fn content(text: &str) -> RecordUpdate {
        RecordUpdate { content: Some(text.into()), ..RecordUpdate::default() }
    }

    fn assert_sound(store: &Store) {
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }

    /// Whether any table has the text, however it is written there.
    fn is_anywhere(store: &Store, text: &str) -> bool {
        let escaped = serde_json::Value::from(text).to_string();
        let conn = rusqlite::Connection::open(store.paths().database()).unwrap();
        let holds = |value: ValueRef<'_>| {
            let (ValueRef::Text(bytes) | ValueRef::Blob(bytes)) = value else { return false };
            let value = String::from_utf8_lossy(bytes);
            value.contains(text) || value.contains(escaped.trim_matches('"'))
        };
        ["records", "versions", "record_tags", "access_log", "sync_log", "meta"].iter().any(|table| {
            let mut statement = conn.prepare(&format!("SELECT * FROM {table}")).unwrap();
            let columns = statement.column_count();
            let row = |row: &Row<'_>| Ok((0..columns).any(|at| holds(row.get_ref(at).unwrap())));
            statement.query_map([], row).unwrap().any(Result::unwrap)
        })
    }

    #[test]
    fn a_text_is_removed_from_every_field_and_nothing_else_is() {
        let store = Store::new();
        let holding = [
            new(&format!("before {SECRET} after")),
            NewRecord { context: Some(format!("in {SECRET}")), ..new("context") },
            NewRecord { source: SECRET.into(), ..new("source") },
            NewRecord { tags: vec!["other".into(), SECRET.into()], ..new("tag") },
            NewRecord { expires_at: Some(NOW - 1), ..new(&format!("expired {SECRET}")) },
        ];
        for new in &holding {
            store.add(new, NOW - 2).unwrap();
        }
        for column in ["body", "provenance"] {
            let id = store.add(&new(column), NOW).unwrap().id;
            store.sql(&format!(
                "UPDATE records SET {column} = json_object('k', json_array('{SECRET}')) WHERE id = {id}"
            ));
        }
        let kept = [new("kestrel vault"), new("Kestrel \"vault\""), new("a kestrel \"vaul")];
        let kept: Vec<_> = kept.iter().map(|new| store.add(new, NOW).unwrap().id).collect();
        let head = store.head().unwrap();
        assert!(is_anywhere(&store, SECRET));
        assert_eq!(purge(&store, text(SECRET)), (7, 0, 0));
        assert!(!is_anywhere(&store, SECRET));
        assert_eq!(store.view().live_ids_after(0, 99, i64::MIN).unwrap(), kept);
        assert_eq!(store.head().unwrap(), head + 7, "the indexes hear of each");
        assert_eq!(purge(&store, text(SECRET)), (0, 0, 0));
        assert_sound(&store);
    }

    #[test]
    fn only_the_versions_that_have_the_text_go_with_their_embeddings() {
        let store = Store::new();
        let models = [store.model(&model(1)).unwrap(), store.begin_next_model(&model(2)).unwrap().unwrap()];
        let id = store.add(&new("one"), NOW).unwrap().id;
        let other = store.add(&new("another"), NOW).unwrap().id;
        for text in [SECRET, "three", &format!("{SECRET} again"), "five"] {
            update(&store, id, content(text));
            let waiting = store.pending(models[0], 9, NOW).unwrap();
            let vectors: Vec<_> = waiting.iter().map(|waiting| (waiting.hash, vec![1.0])).collect();
            store.store_embeddings(models[0], &vectors).unwrap();
            let vectors: Vec<_> = waiting.iter().map(|waiting| (waiting.hash, vec![1.0; 2])).collect();
            store.store_next(models[1], &vectors).unwrap();
        }
        update(&store, other, content("another one"));
        let embeddings = "SELECT count(*) FROM embeddings";
        let before = store.number(embeddings);
        assert_eq!(purge(&store, text(SECRET)), (0, 2, 0));
        assert_eq!(store.number(embeddings), before - 4, "of both models");
        assert_eq!(store.number(&format!("SELECT sum(version * version) FROM versions WHERE record_id = {id}")), 1 + 9);
        assert_eq!(store.get(id, &Viewer::OWNER, NOW).unwrap().unwrap().content, "five");
        assert_sound(&store);

        update(&store, other, content(&format!("{SECRET} for a while")));
        update(&store, other, content("clean"));
        assert_eq!(purge(&store, text(SECRET)), (0, 1, 0));
        let lost =
            "SELECT group_concat(j.value) = '1,2' FROM meta m, json_each(m.value) j WHERE m.key = 'versions_lost'";
        assert_eq!(store.number(lost), 1);
        assert!(!is_anywhere(&store, SECRET));
        assert_sound(&store);
    }

    #[test]
    fn a_version_goes_for_the_reason_that_names_the_text() {
        let store = Store::new();
        let id = store.add(&new("one"), NOW).unwrap().id;
        update(&store, id, content("two"));
        update(&store, id, content("three"));
        store.sql("UPDATE versions SET reason = 'because of a kestrel' WHERE version = 2");
        assert_eq!(purge(&store, text("a kestrel")), (0, 1, 0));
        assert_sound(&store);
    }

    #[test]
    fn searches_for_the_text_go_from_the_access_log() {
        let store = Store::new();
        let [kept, gone] = ["kept", SECRET].map(|text| store.add(&new(text), NOW).unwrap().id);
        let access = |id, query| Access { id, kind: AccessKind::Search, score: None, query, counts: false };
        let asked = format!("where is the {SECRET}?");
        let accesses = [(kept, Some("kept")), (kept, None), (kept, Some(asked.as_str())), (gone, Some(asked.as_str()))];
        store.record_access(&accesses.map(|(id, query)| access(id, query)), NOW).unwrap();
        assert_eq!(purge(&store, text(SECRET)), (1, 0, 1), "the other went with its record");
        assert_eq!(store.number(&format!("SELECT count(*) FROM access_log WHERE record_id = {kept}")), 2);
        assert!(!is_anywhere(&store, SECRET));
    }

    #[test]
    fn records_are_purged_by_id_in_any_number() {
        let store = Store::new();
        let news: Vec<_> = (0..2 * STEP + 10).map(|n| new(&format!("text {n}"))).collect();
        let ids: Vec<_> = store.add_batch(&news, NOW).unwrap().into_iter().map(|outcome| outcome.unwrap().id).collect();
        let (kept, gone) = ids.split_at(5);
        let asked = [gone, &[99_999, -1, gone[0]]].concat();
        assert_eq!(purge(&store, Purge::Ids(asked)), (gone.len() as u64, 0, 0));
        assert_eq!(store.view().live_ids_after(0, 99, NOW).unwrap(), kept);
        assert_eq!(purge(&store, text("text ")), (5, 0, 0));
        assert_sound(&store);
    }

    #[test]
    fn what_the_viewer_does_not_see_is_neither_touched_nor_counted() {
        let store = Store::new();
        let of = |project: Option<&str>| Scope { agent: None, project: project.map(Into::into) };
        let asked = |id| Access { id, kind: AccessKind::Search, score: None, query: Some(SECRET), counts: false };
        let (mut holding, mut others) = (Vec::new(), Vec::new());
        for project in [None, Some("mine"), Some("theirs")] {
            holding.push(store.add(&NewRecord { scope: of(project), ..new(SECRET) }, NOW).unwrap().id);
            let other = store.add(&NewRecord { scope: of(project), ..new(&format!("was {SECRET}")) }, NOW).unwrap().id;
            update(&store, other, content("clean"));
            store.record_access(&[asked(other)], NOW).unwrap();
            others.push(other);
        }
        let mine = Viewer::in_project("mine");
        let purge = |purge| store.purge(&purge, &mine, &NoProgress).unwrap();
        let by_text = purge(text(SECRET));
        assert_eq!((by_text.records, by_text.versions, by_text.queries), (2, 2, 2));
        let by_id = purge(Purge::Ids(vec![holding[2], others[2], others[1]]));
        assert_eq!((by_id.records, by_id.versions), (1, 0));
        assert_eq!(store.view().live_ids_after(0, 9, NOW).unwrap(), [others[0], holding[2], others[2]]);
        assert_eq!(store.number("SELECT count(*) FROM versions"), 1);
        assert_eq!(store.number("SELECT count(*) FROM access_log"), 1);
        assert_sound(&store);
    }

    #[test]
    fn many_records_that_have_a_text_are_purged_in_steps() {
        let store = Store::new();
        let news: Vec<_> = (0..2 * STEP + 10).map(|n| new(&format!("{} {n}", n % 2))).collect();
        store.add_batch(&news, NOW).unwrap();
        assert_eq!(purge(&store, text("1 ")), (STEP as u64 + 5, 0, 0));
        assert_eq!(store.view().live_count(NOW).unwrap(), STEP as u64 + 5);
        assert_sound(&store);
    }

    #[test]
    fn the_last_purge_that_began_is_unfinished_until_it_ends() {
        let store = Store::new();
        assert_eq!(store.unfinished_purge().unwrap(), None);
        let first = store.begin_purge().unwrap();
        assert_eq!(store.again().unfinished_purge().unwrap(), Some(first.clone()));
        let second = store.begin_purge().unwrap();
        store.end_purge(&first).unwrap();
        assert_eq!(store.unfinished_purge().unwrap(), Some(second.clone()));
        store.end_purge(&second).unwrap();
        assert_eq!(store.unfinished_purge().unwrap(), None);
        assert_sound(&store);
    }
}
