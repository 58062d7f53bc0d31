//! Damage done on purpose: what is saved is what was there, and all of it that the damage left.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::sync::OnceLock;

use rusqlite::Connection;
use rusqlite::types::Value;

use super::super::integrity;
use super::super::testing::{NOW, Store, model, new};
use super::in_place::{self, Saved};
use super::{Salvage, salvage, survey};
use crate::error::Error;
use crate::paths::{StorePaths, companions};
use crate::progress::NoProgress;
use crate::records::Records;
use crate::records::{Access, AccessKind};
use crate::types::{
    Link, LinkKind, NewRecord, NewSource, Origin, Place, RecordId, RecordUpdate, Scope, SourceKind, Viewer,
};

const DIMS: usize = 24;
const PAGE: usize = 4_096;
/// Columns that neither a hash nor an index repeats.
const TAKEN_AS_THEY_STAND: [&str; 11] = [
    "version",
    "updated_at",
    "valid_from",
    "valid_to",
    "access_count",
    "last_accessed_at",
    "source",
    "provenance",
    "session",
    "turn",
    "origin",
];

type Rows<K> = BTreeMap<K, BTreeMap<String, Value>>;

/// Everything that a salvage must keep.
#[derive(Debug, Default, PartialEq)]
struct Contents {
    records: Rows<RecordId>,
    scopes: BTreeMap<RecordId, (Option<String>, Option<String>)>,
    versions: Rows<(RecordId, i64)>,
    vectors: BTreeMap<Vec<u8>, Vec<u8>>,
    accesses: BTreeSet<i64>,
    /// The rows of what can come back, in three tables.
    trash: BTreeSet<String>,
    links: Rows<(RecordId, i64, RecordId)>,
    store_id: String,
}

impl Contents {
    fn of(conn: &Connection) -> Self {
        let rows = |table: &str| {
            let mut statement = conn.prepare(&format!("SELECT * FROM {table}")).unwrap();
            let names: Vec<String> = statement.column_names().map(ToString::to_string).collect();
            let rows = statement.query_map([], |row| {
                names.iter().enumerate().map(|(at, name)| Ok((name.clone(), row.get(at)?))).collect()
            });
            rows.unwrap().collect::<rusqlite::Result<Vec<BTreeMap<String, Value>>>>().unwrap()
        };
        let number = |row: &BTreeMap<String, Value>, name: &str| super::transfer::integer(&row[name]).unwrap();
        let mut contents = Contents::default();
        for mut row in rows("records") {
            row.remove("embedding_id"); // a row of another table, counted again
            contents.records.insert(number(&row, "id").into(), row);
        }
        contents.versions = rows("versions")
            .into_iter()
            .map(|row| ((number(&row, "record_id").into(), number(&row, "version")), row))
            .collect();
        contents.links = rows("links")
            .into_iter()
            .map(|row| ((number(&row, "from_id").into(), number(&row, "kind"), number(&row, "to_id").into()), row))
            .collect();
        let trash = ["trash", "trash_versions", "trash_links"].map(|table| (table, rows(table)));
        contents.trash =
            trash.iter().flat_map(|(table, rows)| rows.iter().map(move |row| format!("{table} {row:?}"))).collect();
        contents.accesses = rows("access_log").iter().map(|row| number(row, "id")).collect();
        let mut scopes =
            conn.prepare("SELECT r.id, s.agent, s.project FROM records r JOIN scopes s ON s.id = r.scope_id").unwrap();
        let scopes = scopes.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))));
        contents.scopes = scopes.unwrap().collect::<rusqlite::Result<_>>().unwrap();
        let mut vectors = conn.prepare("SELECT hash, vector FROM embeddings").unwrap();
        let vectors = vectors.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        contents.vectors = vectors.unwrap().collect::<rusqlite::Result<_>>().unwrap();
        contents.store_id =
            conn.query_row("SELECT value FROM meta WHERE key = 'store_id'", [], |row| row.get(0)).unwrap();
        contents
    }
}

/// A sound database, as bytes, and what is where in it.
struct Sound {
    bytes: Vec<u8>,
    contents: Contents,
    /// The pages that a record is on: its leaf, and whatever overflows from it.
    pages: HashMap<RecordId, Vec<usize>>,
    /// Of every table and index.
    pages_of: HashMap<String, Vec<usize>>,
    last_id: RecordId,
    head: u64,
}

fn sound() -> &'static Sound {
    static SOUND: OnceLock<Sound> = OnceLock::new();
    SOUND.get_or_init(|| {
        let store = Store::new();
        let model = store.model(&model(DIMS)).unwrap();
        let add = |at: usize, text: String| {
            let scope = match at % 3 {
                0 => Scope::default(),
                1 => Scope { agent: None, project: Some("atlas".into()) },
                _ => Scope { agent: Some("scribe".into()), project: Some("atlas".into()) },
            };
            let record = NewRecord {
                context: at.is_multiple_of(5).then(|| format!("said on day {at}")),
                tags: (0..at % 4).map(|tag| format!("tag {tag} of {}", at % 9)).collect(),
                importance: 1 + (at % 10) as i64,
                confidence: (at % 11) as f64 / 10.0,
                expires_at: at.is_multiple_of(7).then_some(NOW + 1_000_000 + at as i64),
                session: (!at.is_multiple_of(4)).then(|| format!("session {}", at / 20)),
                scope,
                ..new(&text)
            };
            store.add(&record, NOW + at as i64).unwrap().id
        };
        let ids: Vec<_> = (0..200)
            .map(|at| {
                add(
                    at,
                    format!(
                        "memory {at}: {}",
                        "what was said ".repeat(if at.is_multiple_of(40) { 1_500 } else { at % 30 })
                    ),
                )
            })
            .collect();
        for id in ids.iter().step_by(4) {
            let change = |change: RecordUpdate| drop(store.update(*id, &change, &Viewer::OWNER, NOW + 9_000).unwrap());
            change(RecordUpdate { importance: Some(10), confidence: Some(0.33), ..Default::default() });
            change(RecordUpdate { content: Some(format!("memory {id} as it is now")), ..Default::default() });
        }
        let deleted: Vec<_> =
            (200..260).map(|at| add(at, format!("deleted {at} {}", "for ever ".repeat(40)))).collect();
        loop {
            let pending = store.pending(model, 1_000, NOW).unwrap();
            let vectors: Vec<_> = pending.iter().map(|text| (text.hash, unit(&text.hash))).collect();
            if store.store_embeddings(model, &vectors).unwrap() == 0 {
                break;
            }
        }
        for id in deleted.iter().step_by(3) {
            let update = RecordUpdate { importance: Some(9), ..Default::default() };
            store.update(*id, &update, &Viewer::OWNER, NOW + 9_000).unwrap();
            let link = Link { from: *id, to: ids[0], kind: LinkKind::Related };
            store.link(link, &Viewer::OWNER, NOW).unwrap();
        }
        for id in &deleted {
            store.delete(*id, &Viewer::OWNER, NOW).unwrap();
        }
        for (at, pair) in ids.windows(2).enumerate() {
            let link = Link { from: pair[0], to: pair[1], kind: LinkKind::ALL[at % LinkKind::ALL.len()] };
            assert!(store.link(link, &Viewer::OWNER, NOW + at as i64).unwrap());
        }
        let access = |id| Access { id, kind: AccessKind::Get, score: None, query: None, counts: true };
        store.record_access(&ids.iter().copied().map(access).collect::<Vec<_>>(), NOW).unwrap();
        let head = store.head().unwrap().get();
        store.trim_log((head - 5).into()).unwrap();
        store.sql("PRAGMA wal_checkpoint(TRUNCATE)");
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
        assert!(store.number("PRAGMA freelist_count") > 3, "what is deleted leaves pages behind");

        let bytes = fs::read(store.paths().database()).unwrap();
        let conn = Connection::open(store.paths().database()).unwrap();
        let mut statement = conn.prepare("SELECT name, path, pageno, pagetype = 'leaf' FROM dbstat").unwrap();
        let pages = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, u32>(2)? as usize, row.get(3)?)))
            .unwrap();
        let pages: Vec<(String, String, usize, bool)> = pages.collect::<rusqlite::Result<_>>().unwrap();
        let contents = Contents::of(&conn);
        let holder = |record: &BTreeMap<String, Value>| {
            let Value::Blob(ulid) = &record["ulid"] else { panic!("no ULID") };
            let holds = |page: usize| bytes[(page - 1) * PAGE..page * PAGE].windows(16).any(|window| window == ulid);
            let is_leaf =
                |(name, _, page, leaf): &&(String, String, usize, bool)| name == "records" && *leaf && holds(*page);
            let (_, leaf, ..) = pages.iter().find(is_leaf).unwrap();
            let of_leaf = pages.iter().filter(|(name, path, ..)| name == "records" && path.starts_with(leaf.as_str()));
            of_leaf.map(|(_, _, page, _)| *page).collect()
        };
        let mut pages_of: HashMap<String, Vec<usize>> = HashMap::new();
        for (name, _, page, _) in &pages {
            pages_of.entry(name.clone()).or_default().push(*page);
        }
        Sound {
            pages: contents.records.iter().map(|(id, record)| (*id, holder(record))).collect(),
            pages_of,
            last_id: *deleted.last().unwrap(),
            head,
            contents,
            bytes,
        }
    })
}

/// A vector of length 1 that differs from text to text.
fn unit(hash: &[u8; 32]) -> Vec<f32> {
    let raw: Vec<f32> = hash[..DIMS].iter().map(|byte| f32::from(*byte) - 127.5).collect();
    let length = raw.iter().map(|number| number * number).sum::<f32>().sqrt();
    raw.iter().map(|number| number / length).collect()
}

/// Numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| self.next() as u8);
    }
}

/// A store with a database of these bytes.
struct Damaged {
    folder: tempfile::TempDir,
}

impl Damaged {
    fn new(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(StorePaths::new(folder.path()).database(), bytes).unwrap();
        Damaged { folder }
    }

    fn paths(&self) -> StorePaths {
        StorePaths::new(self.folder.path())
    }

    /// What is saved of it, with what holds for every damage checked.
    fn saved(&self, case: &str) -> (Salvage, Contents) {
        let damaged = in_place::open(&self.paths().database()).unwrap();
        let saved =
            Saved::from(&damaged, &self.paths(), "now", &NoProgress).unwrap_or_else(|error| panic!("{case}: {error}"));
        let conn = Connection::open(saved.database.path()).unwrap();
        assert_eq!(integrity::findings(&conn).unwrap(), Vec::<String>::new(), "{case}");
        let doubts = fs::read_to_string(saved.doubtful.path()).unwrap();
        let (salvaged, saved) = (saved.salvage, Contents::of(&conn));
        assert_eq!(salvaged.records, saved.records.len() as u64, "{case}");
        assert_eq!(
            salvaged.deleted,
            saved.trash.iter().filter(|row| row.starts_with("trash {")).count() as u64,
            "{case}"
        );
        for (id, record) in &saved.records {
            let original = sound().contents.records.get(id).unwrap_or_else(|| panic!("{case}: {id} was deleted"));
            assert_eq!(differences(record, original), Vec::<&str>::new(), "{case}: memory {id}");
            assert_eq!(saved.scopes[id], sound().contents.scopes[id], "{case}: scope of {id}");
        }
        for (key, version) in &saved.versions {
            let original = &sound().contents.versions[key];
            assert_eq!(version["content"], original["content"], "{case}: {key:?}");
        }
        for (key, link) in &saved.links {
            // Its date is taken as it stands.
            for scope in ["from_scope", "to_scope"] {
                assert_eq!(link[scope], sound().contents.links[key][scope], "{case}: {key:?}");
            }
        }
        for id in &salvaged.doubtful {
            let listed = doubts.lines().any(|line| line.starts_with(&format!("{{\"id\":{id},")));
            assert!(listed, "{case}: {id} is not in the file of doubts");
        }
        (salvaged, saved)
    }
}

/// The columns in which two records differ, of those that a hash or an index repeats.
fn differences<'a>(one: &'a BTreeMap<String, Value>, other: &BTreeMap<String, Value>) -> Vec<&'a str> {
    // No index has the case of a tag.
    let lower = |value: &Value| format!("{value:?}").to_lowercase();
    let is_same =
        |name: &String, value: &Value| other[name] == *value || name == "tags" && lower(&other[name]) == lower(value);
    let names = one.iter().filter(|(name, value)| !is_same(name, value)).map(|(name, _)| name.as_str());
    names.filter(|name| !TAKEN_AS_THEY_STAND.contains(name)).collect()
}

/// Damage to whole pages changes no record, and loses none that is not on them.
fn check_pages(case: &str, damaged: &BTreeSet<usize>, bytes: &[u8]) -> Salvage {
    let store = Damaged::new(bytes);
    let (salvaged, saved) = store.saved(case);
    for (id, original) in &sound().contents.records {
        match saved.records.get(id) {
            Some(record) => assert_eq!(record, original, "{case}: memory {id}"),
            None => assert!(
                sound().pages[id].iter().any(|page| damaged.contains(page)),
                "{case}: memory {id} is lost, but its pages {:?} are sound",
                sound().pages[id]
            ),
        }
    }
    for (key, version) in &saved.versions {
        assert_eq!(version, &sound().contents.versions[key], "{case}: {key:?}");
    }
    for (hash, vector) in &saved.vectors {
        assert_eq!(vector, &sound().contents.vectors[hash], "{case}: a vector");
    }
    assert!(saved.trash.is_subset(&sound().contents.trash), "{case}: what was deleted");
    salvaged
}

fn with_pages(pages: &BTreeSet<usize>, mut change: impl FnMut(&mut [u8])) -> Vec<u8> {
    let mut bytes = sound().bytes.clone();
    for page in pages {
        change(&mut bytes[(page - 1) * PAGE..page * PAGE]);
    }
    bytes
}

#[test]
fn a_sound_database_is_salvaged_whole() {
    let (salvaged, saved) = Damaged::new(&sound().bytes).saved("sound");
    assert_eq!(saved, sound().contents);
    assert_eq!(salvaged, Salvage { records: saved.records.len() as u64, deleted: 60, ..Salvage::default() });
}

/// Every page but the first, destroyed alone.
#[test]
fn one_damaged_page_costs_what_is_on_it() {
    let everything: BTreeSet<_> = sound().contents.records.keys().copied().collect();
    let count = sound().bytes.len() / PAGE;
    let mut random = Random(1);
    for page in 2..=count {
        let damaged = BTreeSet::from([page]);
        let case = format!("page {page} of {count}");
        let bytes = if page.is_multiple_of(2) {
            with_pages(&damaged, |bytes| bytes.fill(0))
        } else {
            with_pages(&damaged, |bytes| random.fill(bytes))
        };
        let salvaged = check_pages(&case, &damaged, &bytes);
        let named = &salvaged.doubtful | &salvaged.unreadable;
        let saved = &everything - &named;
        assert_eq!(salvaged.records, saved.len() as u64, "{case}: each memory is saved or named");
        assert_eq!(salvaged.total(), everything.len() as u64, "{case}");
    }
}

/// The roots of the table, and pages on the way to its leaves: SQLite reaches nothing below them.
#[test]
fn what_lies_below_a_damaged_page_is_saved() {
    let leaves: BTreeSet<_> = sound().pages.values().flatten().copied().collect();
    for table in ["records", "versions", "embeddings"] {
        let inner: Vec<_> = sound().pages_of[table].iter().filter(|page| !leaves.contains(page)).take(1).collect();
        assert!(!inner.is_empty(), "{table} has a root of its own");
        let damaged = inner.into_iter().copied().collect();
        let bytes = with_pages(&damaged, |page| page.fill(0xA5));
        let (salvaged, saved) = Damaged::new(&bytes).saved(table);
        assert_eq!(saved, sound().contents, "{table}");
        assert_eq!((salvaged.doubtful.len(), salvaged.unreadable.len(), salvaged.to_embed), (0, 0, 0), "{table}");
    }
}

#[test]
fn damaged_indexes_cost_nothing() {
    for (index, pages) in &sound().pages_of {
        let tables =
            ["records", "versions", "embeddings", "links", "scopes", "models", "meta", "access_log", "sync_log"];
        let is_table =
            tables.contains(&index.as_str()) || ["trash", "trash_versions", "trash_links"].contains(&index.as_str());
        if is_table || index.starts_with("sqlite_s") {
            continue;
        }
        let bytes = with_pages(&pages.iter().copied().collect(), |page| page.fill(0));
        let (_, saved) = Damaged::new(&bytes).saved(index);
        assert_eq!(saved, sound().contents, "{index}");
    }
}

/// Rows that an index lacks or has alone, as after a lost write.
#[test]
fn an_index_that_misses_a_row_is_rebuilt() {
    let store = Damaged::new(&sound().bytes);
    let conn = Connection::open(store.paths().database()).unwrap();
    conn.pragma_update(None, "writable_schema", true).unwrap();
    let hide = "UPDATE sqlite_schema SET sql = sql || ' WHERE id > 0' WHERE name = 'records_by_embedding'";
    conn.execute_batch(hide).unwrap();
    drop(conn);
    let (_, saved) = store.saved("a changed index");
    assert_eq!(saved, sound().contents);
}

#[test]
fn ids_and_numbers_of_the_log_are_never_used_twice() {
    for (what, pages) in [("nothing", vec![]), ("the sequences", sound().pages_of["sqlite_sequence"].clone())] {
        let store = Damaged::new(&with_pages(&pages.into_iter().collect(), |page| page.fill(0)));
        salvage(&store.paths(), &NoProgress).unwrap();
        let records = Records::open(&store.paths()).unwrap();
        assert!(records.head().unwrap().get() >= sound().head, "{what}");
        assert!(records.add(&new("new"), NOW).unwrap().id > sound().last_id, "{what}");
    }
}

#[test]
fn many_random_damages_change_nothing_and_lose_only_what_they_hit() {
    let count = sound().bytes.len() / PAGE;
    for seed in 0..100 {
        let case = format!("seed {seed}");
        let mut random = Random(seed);
        let mut damaged: BTreeSet<_> = (0..1 + random.below(12)).map(|_| 2 + random.below(count - 1)).collect();
        let bytes = match seed % 4 {
            0 => with_pages(&damaged, |page| random.fill(page)),
            1 => with_pages(&damaged, |page| {
                let sector = 512 * random.below(8);
                random.fill(&mut page[sector..sector + 512]);
            }),
            // Written to the wrong place.
            2 => {
                let from = random.below(count);
                let other = sound().bytes[from * PAGE..(from + 1) * PAGE].to_vec();
                with_pages(&damaged, |page| page.copy_from_slice(&other))
            }
            _ => {
                let length = PAGE + random.below(sound().bytes.len() - PAGE);
                damaged = (length / PAGE + 1..=count).collect();
                sound().bytes[..length].to_vec()
            }
        };
        // Where the list of free pages or the scopes are hit too, what cannot be proven any more is in doubt, and said.
        let store = Damaged::new(&bytes);
        let (salvaged, saved) = store.saved(&case);
        for (id, original) in &sound().contents.records {
            let is_hit = sound().pages[id].iter().any(|page| damaged.contains(page));
            match saved.records.get(id) {
                Some(record) => assert_eq!(record, original, "{case}: memory {id}"),
                None => assert!(is_hit || salvaged.doubtful.contains(id), "{case}: memory {id} is lost"),
            }
        }
        for (hash, vector) in &saved.vectors {
            assert_eq!(vector, &sound().contents.vectors[hash], "{case}: a vector");
        }
    }
}

#[test]
fn flipped_bits_change_no_memory() {
    let mut doubts = 0;
    for seed in 0..200 {
        let mut random = Random(seed);
        let mut bytes = sound().bytes.clone();
        // A record and its entries in the indexes are not damaged together, nor where the indexes are: no one could tell which
        // is right.
        let is_spared = |name: &str| match seed % 2 {
            0 => name == "records",
            _ => name.starts_with("records_by_") || name == "sqlite_schema",
        };
        let spared: HashSet<usize> =
            sound().pages_of.iter().filter(|(name, _)| is_spared(name)).flat_map(|(_, pages)| pages.clone()).collect();
        for _ in 0..1 + random.below(60) {
            let at = 100 + random.below(bytes.len() - 100);
            let bit = 1 << random.below(8);
            if !spared.contains(&(at / PAGE + 1)) {
                bytes[at] ^= bit;
            }
        }
        let (salvaged, saved) = Damaged::new(&bytes).saved(&format!("seed {seed}"));
        doubts += salvaged.doubtful.len();
        let lost = sound().contents.records.keys().filter(|id| !saved.records.contains_key(id));
        assert!(lost.count() < 80, "seed {seed}: a bit costs a record, not a page");
    }
    assert!(doubts > 60, "{doubts} is too few for the flips to have met texts");
}

#[test]
fn a_changed_text_is_kept_apart_with_what_is_wrong() {
    let store = Damaged::new(&sound().bytes);
    let conn = Connection::open(store.paths().database()).unwrap();
    conn.execute_batch(
        "UPDATE records SET content = 'changed by nobody' WHERE id = 2;
         UPDATE records SET importance = 11 - importance WHERE id = 3;
         UPDATE versions SET content = 'changed too' WHERE record_id = 5 AND version = 1;",
    )
    .unwrap();
    drop(conn);
    // The index on importance followed the change: nothing is wrong with it.
    let salvaged = salvage(&store.paths(), &NoProgress).unwrap();
    assert_eq!(salvaged.doubtful, BTreeSet::from([2.into()]));
    assert_eq!(salvaged.versions_lost, [5.into()]);
    let lines = fs::read_to_string(salvaged.kept.unwrap().doubtful.unwrap()).unwrap();
    let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((lines[0]["id"].as_i64(), lines[0]["memory"]["content"].as_str()), (Some(2), Some("changed by nobody")));
    assert!(lines[0]["problem"].as_str().unwrap().contains("does not have the hash"), "{}", lines[0]);
    assert_eq!(lines[0]["memory"]["project"], "atlas");
    assert_eq!((lines[1]["id"].as_i64(), lines[1]["version"].as_i64()), (Some(5), Some(1)));
    // Known to be lost, so not found to be missing a second time.
    assert_eq!(Records::open(&store.paths()).unwrap().integrity().unwrap(), Vec::<String>::new());
}

#[test]
fn twins_that_a_damaged_index_let_through_do_not_stop_it() {
    let store = Damaged::new(&sound().bytes);
    let conn = Connection::open(store.paths().database()).unwrap();
    conn.execute_batch(
        "DROP INDEX records_by_content;
         INSERT INTO records SELECT 900, randomblob(16), version, kind, scope_id, importance, confidence, created_at,
             updated_at, expires_at, valid_from, valid_to, access_count, last_accessed_at, content_hash, embedding_hash,
             embedding_id, source, tags, provenance, body, context, content, session, turn, NULL FROM records WHERE id = 2;",
    )
    .unwrap();
    drop(conn);
    let salvaged = salvage(&store.paths(), &NoProgress).unwrap();
    assert_eq!(salvaged.doubtful, BTreeSet::from([900.into()]));
    assert_eq!(salvaged.records, sound().contents.records.len() as u64);
    let lines = fs::read_to_string(salvaged.kept.unwrap().doubtful.unwrap()).unwrap();
    assert!(lines.contains("memory 2 of its scope has the same text"), "{lines}");
}

#[test]
fn vectors_that_no_model_makes_are_made_again() {
    let store = Damaged::new(&sound().bytes);
    let conn = Connection::open(store.paths().database()).unwrap();
    conn.execute_batch(
        "UPDATE embeddings SET vector = x'007E' WHERE id = 1;
         UPDATE embeddings SET vector = zeroblob(48) WHERE id = 2;
         UPDATE embeddings SET vector = CAST(substr(vector, 1, 46) || x'007E' AS BLOB) WHERE id = 3;",
    )
    .unwrap();
    drop(conn);
    let (_, saved) = store.saved("vectors");
    assert_eq!(saved.vectors.len(), sound().contents.vectors.len() - 3);
    let salvaged = salvage(&store.paths(), &NoProgress).unwrap();
    assert_eq!((salvaged.to_embed, salvaged.kept.unwrap().doubtful), (3, None));
    let records = Records::open(&store.paths()).unwrap();
    let (model, _) = records.current_model().unwrap().expect("the model is kept");
    assert_eq!(records.pending(model, 100, 0).unwrap().len(), 3);
}

/// The sound database with a second model, that has embedded so many texts. Both it and the first are rows of the store;
/// `meta` is what the entries say that name them.
fn with_two_models(embedded: usize, meta: &str) -> Damaged {
    let store = Damaged::new(&sound().bytes);
    let conn = Connection::open(store.paths().database()).unwrap();
    conn.execute_batch(&format!(
        "INSERT INTO models VALUES (2, 'next', 'x', 'mean', {DIMS});
         INSERT INTO embeddings (model_id, hash, vector) SELECT 2, hash, vector FROM embeddings LIMIT {embedded};
         {meta}"
    ))
    .unwrap();
    store
}

/// Between two models, the store continues the change where the damage left its mark, and else stays with the
/// model in use. Nothing else is lost.
#[test]
fn a_store_between_two_models_is_salvaged() {
    let all = sound().contents.vectors.len();
    let next = "INSERT INTO meta VALUES ('next_model', 2);";
    let no_model = "DELETE FROM meta WHERE key = 'model';";
    // The mark, the number of texts that the second model has embedded, and the models and embeddings that are saved.
    let cases = [
        (next.to_owned(), 40, (1, Some(2)), all + 40, 0),
        (format!("{next} {no_model}"), all, (1, Some(2)), 2 * all, 0),
        (String::new(), 40, (1, None), all, 0),
        (no_model.to_owned(), 40, (1, None), all, 0),
        // The change is done, and a vector of the model before came back.
        ("UPDATE meta SET value = 2 WHERE key = 'model';".into(), 40, (2, None), 40, 1),
        (format!("{no_model} DELETE FROM embeddings WHERE model_id = 1;"), 40, (2, None), 40, 1),
        ("INSERT INTO meta VALUES ('next_model', 7);".into(), 40, (1, None), all, 0),
        ("INSERT INTO meta VALUES ('next_model', 1);".into(), 40, (1, None), all, 0),
    ];
    for (meta, embedded, (model, next), vectors, fewest_to_embed) in cases {
        let store = with_two_models(embedded, &meta);
        let salvaged = salvage(&store.paths(), &NoProgress).unwrap_or_else(|error| panic!("{meta}: {error}"));
        assert_eq!(salvaged.records, sound().contents.records.len() as u64, "{meta}");
        assert_eq!(salvaged.to_embed > 0, fewest_to_embed > 0, "{meta}: {}", salvaged.to_embed);
        let records = Records::open(&store.paths()).unwrap();
        assert_eq!(records.integrity().unwrap(), Vec::<String>::new(), "{meta}");
        assert_eq!(records.current_model().unwrap().map(|(id, _)| id), Some(model.into()), "{meta}");
        let view = records.snapshot().unwrap();
        let changing_to = view.next_model(NOW).unwrap().map(|next| next.model.name);
        assert_eq!(changing_to, next.map(|_| "next".to_owned()), "{meta}");
        assert_eq!(view.counts(NOW).unwrap().embeddings, vectors as u64, "{meta}");
    }
}

/// The same, with pages damaged.
#[test]
fn damaged_pages_of_a_store_between_two_models_cost_what_is_on_them() {
    let next = "INSERT INTO meta VALUES ('next_model', 2);";
    for table in ["meta", "models", "embeddings", "versions"] {
        let store = with_two_models(sound().contents.vectors.len() / 2, next);
        let path = store.paths().database();
        let mut bytes = fs::read(&path).unwrap();
        let page = *sound().pages_of[table].last().unwrap();
        bytes[(page - 1) * PAGE..page * PAGE].fill(0xA5);
        fs::write(&path, bytes).unwrap();
        let salvaged = salvage(&store.paths(), &NoProgress).unwrap_or_else(|error| panic!("{table}: {error}"));
        assert_eq!(salvaged.records, sound().contents.records.len() as u64, "{table}");
        assert_eq!(Records::open(&store.paths()).unwrap().integrity().unwrap(), Vec::<String>::new(), "{table}");
    }
}

#[test]
fn what_only_the_write_ahead_log_has_is_saved_too() {
    let store = Store::new();
    store.add(&new("in the file"), NOW).unwrap();
    store.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    store.add(&new("in the log"), NOW).unwrap();
    // As a killed process leaves it.
    let left = tempfile::tempdir().unwrap();
    let paths = StorePaths::new(left.path());
    fs::copy(store.paths().database(), paths.database()).unwrap();
    let [log, ..] = companions(&store.paths().database());
    let log_bytes = fs::read(&log).unwrap();
    fs::write(&companions(&paths.database())[0], &log_bytes).unwrap();
    let salvaged = salvage(&paths, &NoProgress).unwrap();
    assert_eq!(salvaged.records, 2);
    let kept = salvaged.kept.unwrap().damaged;
    assert_eq!(fs::read(&companions(&kept)[0]).unwrap(), log_bytes, "the log is kept beside");
    assert!(!companions(&paths.database())[0].exists(), "and not played into the new database");
    assert_eq!(Records::open(&paths).unwrap().snapshot().unwrap().live_count(NOW).unwrap(), 2);
}

#[test]
fn a_survey_says_what_a_salvage_does_and_changes_nothing() {
    let leaf = sound().pages[&40.into()][0];
    let store = Damaged::new(&with_pages(&BTreeSet::from([leaf]), |page| page.fill(0x55)));
    let before = fs::read(store.paths().database()).unwrap();
    let expected = survey(&store.paths(), &NoProgress).unwrap();
    assert_eq!(fs::read(store.paths().database()).unwrap(), before);
    let files: Vec<_> = fs::read_dir(store.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["memory.db"], "nothing is left behind");
    let salvaged = salvage(&store.paths(), &NoProgress).unwrap();
    assert_eq!(Salvage { kept: None, ..salvaged }, expected);
    assert!(expected.unreadable.contains(&40.into()));
}

#[test]
fn nothing_is_done_while_others_have_the_store_open() {
    let store = Store::new();
    store.add(&new("text"), NOW).unwrap();
    let error = salvage(&store.paths(), &NoProgress).unwrap_err();
    assert!(error.to_string().contains("other processes use this store; end them first"), "{error}");
    assert_eq!(survey(&store.paths(), &NoProgress).unwrap().records, 1, "to look is allowed");
    store.add(&new("another"), NOW).unwrap();
    assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
}

/// Who opens the store while it is repaired waits, and then has the new file, not the one that was moved away.
#[test]
fn who_opens_the_store_meanwhile_writes_into_the_new_database() {
    for _ in 0..5 {
        let store = Damaged::new(&sound().bytes);
        let done = std::sync::atomic::AtomicBool::new(false);
        let written: Vec<_> = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut written = Vec::new();
                for at in 0.. {
                    let last = done.load(std::sync::atomic::Ordering::Relaxed);
                    let records = Records::open(&store.paths()).unwrap();
                    written.push(records.add(&new(&format!("written meanwhile {at}")), NOW).unwrap().id);
                    if last {
                        break;
                    }
                }
                written
            });
            loop {
                match salvage(&store.paths(), &NoProgress) {
                    Ok(_) => break,
                    Err(Error::Store { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            writer.join().unwrap()
        });
        let records = Records::open(&store.paths()).unwrap();
        for id in written {
            assert!(records.get(id, &Viewer::OWNER, NOW).unwrap().is_some(), "{id} was acknowledged");
        }
    }
}

#[test]
fn what_is_no_database_of_ours_is_refused() {
    let mut headless = sound().bytes.clone();
    headless[..PAGE].fill(0);
    let other = {
        let folder = tempfile::tempdir().unwrap();
        Connection::open(folder.path().join("db")).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
        fs::read(folder.path().join("db")).unwrap()
    };
    for (bytes, why) in [
        (b"no database at all, but long enough for a header".repeat(30), "not an SQLite database"),
        (headless, "not an SQLite database"),
        (other, "database of another program"),
    ] {
        let store = Damaged::new(&bytes);
        for result in [survey(&store.paths(), &NoProgress), salvage(&store.paths(), &NoProgress)] {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::Database { .. }) && error.to_string().contains(why), "{error}");
        }
        assert_eq!(fs::read(store.paths().database()).unwrap(), bytes, "left as it was");
    }
}

/// Their rows end before the columns that the tables got later.
#[test]
fn records_from_before_threads_are_saved() {
    let store = Damaged::new(&sound().bytes);
    let conn = Connection::open(store.paths().database()).unwrap();
    conn.execute_batch(
        "DROP TABLE copied; DROP TABLE unsent_accesses; DROP TABLE tokens; DROP TABLE recalled; DROP TABLE passages; DELETE FROM meta WHERE key = 'cutter';
         DROP INDEX records_by_thread; DROP INDEX records_by_origin; DROP INDEX trash_by_origin;
         DROP TABLE files; DROP TABLE sources; DROP TABLE forgotten; DROP TABLE search_hits; DROP TABLE searches;
         ALTER TABLE records DROP COLUMN origin; ALTER TABLE trash DROP COLUMN origin;
         ALTER TABLE records DROP COLUMN session; ALTER TABLE records DROP COLUMN turn;
         ALTER TABLE trash DROP COLUMN session; ALTER TABLE trash DROP COLUMN turn;
         PRAGMA user_version = 5;",
    )
    .unwrap();
    drop(conn);
    drop(Records::open(&store.paths()).unwrap());
    let conn = Connection::open(store.paths().database()).unwrap();
    conn.execute_batch("UPDATE records SET session = 's', turn = id WHERE id % 5 = 0; PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    let before = Contents::of(&conn);
    drop(conn);
    salvage(&store.paths(), &NoProgress).unwrap();
    let after = Contents::of(&Connection::open(store.paths().database()).unwrap());
    assert_eq!((after.records, after.trash), (before.records, before.trash));
}

/// A damaged store of an older version is saved as one of the newest: its conversations get their threads, too.
#[test]
fn conversations_from_before_threads_get_theirs() {
    let store = Store::new();
    let body = serde_json::json!({ "session_id": "talk", "user_message": "Hi", "agent_response": "Yes" });
    let id = store.add(&NewRecord::of_body(crate::types::Kind::Conversation, body).unwrap(), NOW).unwrap().id;
    let folder = store.close();
    let paths = StorePaths::new(folder.path());
    let conn = Connection::open(paths.database()).unwrap();
    conn.execute_batch(
        "DROP TABLE copied; DROP TABLE unsent_accesses; DROP TABLE tokens; DROP TABLE recalled; DROP TABLE passages; DELETE FROM meta WHERE key = 'cutter';
         DROP INDEX records_by_thread; DROP INDEX records_by_origin; DROP INDEX trash_by_origin;
         DROP TABLE files; DROP TABLE sources; DROP TABLE forgotten; DROP TABLE search_hits; DROP TABLE searches;
         ALTER TABLE records DROP COLUMN origin; ALTER TABLE trash DROP COLUMN origin;
         ALTER TABLE records DROP COLUMN session; ALTER TABLE records DROP COLUMN turn;
         ALTER TABLE trash DROP COLUMN session; ALTER TABLE trash DROP COLUMN turn;
         PRAGMA user_version = 5;",
    )
    .unwrap();
    drop(conn);
    salvage(&paths, &NoProgress).unwrap();
    let saved = Records::open(&paths).unwrap().get(id, &Viewer::OWNER, NOW).unwrap().unwrap();
    assert_eq!((saved.session.as_deref(), saved.turn), (Some("talk"), Some(id.get())));
}

/// What is read from files stays known, so that it is not read a second time.
#[test]
fn sources_and_what_was_read_of_them_are_saved() {
    let store = Store::new();
    let place = |number: u8| Some(Place::new(Origin::from_bytes([number; 16]), "/notes/a.md", 1, 2));
    for number in 1..=3 {
        store.add(&NewRecord { place: place(number), ..new(&format!("chunk {number}")) }, NOW).unwrap();
    }
    assert!(store.delete(1.into(), &Viewer::OWNER, NOW).unwrap());
    let notes = NewSource {
        kind: SourceKind::Notes,
        path: "/notes".into(),
        format: None,
        globs: vec!["*.md".into()],
        scope: Scope::default(),
    };
    let source = store.add_source(&notes, NOW).unwrap().0;
    store.sql(
        "INSERT INTO files (source_id, path, thread, size, modified, device, inode, read_at)
             VALUES (1, '/notes/a.md', '/notes/a.md', 1, 2, 3, 4, 5);
         UPDATE records SET provenance = '{' WHERE id = 3",
    );
    let files = store.view().source_files(source).unwrap();
    let folder = store.close();
    let paths = StorePaths::new(folder.path());
    salvage(&paths, &NoProgress).unwrap();
    let saved = Records::open(&paths).unwrap();
    let snapshot = saved.snapshot().unwrap();
    assert_eq!(snapshot.sources().unwrap()[0].source, notes);
    assert_eq!(snapshot.source_files(source).unwrap(), files);
    assert_eq!(saved.get(2.into(), &Viewer::OWNER, NOW).unwrap().unwrap().place, place(2));
    assert_eq!(saved.get(3.into(), &Viewer::OWNER, NOW).unwrap().unwrap().place, None, "it could not be read");
    let conn = Connection::open(paths.database()).unwrap();
    let forgotten: i64 = conn.query_row("SELECT count(*) FROM forgotten", [], |row| row.get(0)).unwrap();
    assert_eq!((forgotten, saved.integrity().unwrap()), (1, Vec::new()));
}
