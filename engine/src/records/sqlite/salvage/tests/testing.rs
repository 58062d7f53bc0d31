//! A sound database, damage to it, and the contents that must be kept.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::sync::OnceLock;

use rusqlite::Connection;
use rusqlite::types::Value;

use super::super::super::integrity;
use super::super::super::testing::{NOW, TestStore, model, new};
use super::super::Salvage;
use super::super::in_place::{self, SalvageOutput};
use super::super::rows::integer;
use crate::paths::StorePaths;
use crate::progress::NoProgress;
use crate::records::{Access, AccessKind};
use crate::types::{Link, LinkKind, NewRecord, RecordId, RecordUpdate, Scope, Viewer};

pub(super) const DIMS: usize = 24;
pub(super) const PAGE: usize = 4_096;
/// Columns that neither a hash nor an index repeats.
pub(super) const TAKEN_AS_THEY_STAND: [&str; 11] = [
    "version", "updated_at", "valid_from", "valid_to", "access_count", "last_accessed_at", "source", "provenance",
    "session", "turn", "origin",
];

pub(super) type RowsByKey<K> = BTreeMap<K, BTreeMap<String, Value>>;

/// Everything that a salvage must keep.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Contents {
    pub(super) records: RowsByKey<RecordId>,
    pub(super) scopes: BTreeMap<RecordId, (Option<String>, Option<String>)>,
    pub(super) versions: RowsByKey<(RecordId, i64)>,
    pub(super) vectors: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(super) accesses: BTreeSet<i64>,
    /// The rows of the three tables of the trash.
    pub(super) trash: BTreeSet<String>,
    pub(super) links: RowsByKey<(RecordId, i64, RecordId)>,
    pub(super) store_id: String,
}

impl Contents {
    pub(super) fn of(conn: &Connection) -> Self {
        let rows = |table: &str| {
            let mut statement = conn.prepare(&format!("SELECT * FROM {table}")).unwrap();
            let names: Vec<String> = statement.column_names().map(ToString::to_string).collect();
            let rows = statement.query_map([], |row| {
                names.iter().enumerate().map(|(at, name)| Ok((name.clone(), row.get(at)?))).collect()
            });
            rows.unwrap().collect::<rusqlite::Result<Vec<BTreeMap<String, Value>>>>().unwrap()
        };
        let number = |row: &BTreeMap<String, Value>, name: &str| integer(&row[name]).unwrap();
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

/// A sound database, as bytes, and the positions of its contents.
pub(super) struct Sound {
    pub(super) bytes: Vec<u8>,
    pub(super) contents: Contents,
    /// The pages that a record is on: its leaf, and whatever overflows from it.
    pub(super) pages: HashMap<RecordId, Vec<usize>>,
    /// The pages of every table and index.
    pub(super) pages_of: HashMap<String, Vec<usize>>,
    pub(super) last_id: RecordId,
    pub(super) head: u64,
}

pub(super) fn sound() -> &'static Sound {
    static SOUND: OnceLock<Sound> = OnceLock::new();
    SOUND.get_or_init(|| {
        let store = TestStore::new();
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
pub(super) fn unit(hash: &[u8; 32]) -> Vec<f32> {
    let raw: Vec<f32> = hash[..DIMS].iter().map(|byte| f32::from(*byte) - 127.5).collect();
    let length = raw.iter().map(|number| number * number).sum::<f32>().sqrt();
    raw.iter().map(|number| number / length).collect()
}

/// Numbers from a seed (SplitMix64).
pub(super) struct SplitMix64(pub(super) u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(super) fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| self.next() as u8);
    }
}

/// A store with a database of these bytes.
pub(super) struct DamagedStore {
    pub(super) folder: tempfile::TempDir,
}

impl DamagedStore {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(StorePaths::new(folder.path()).database(), bytes).unwrap();
        DamagedStore { folder }
    }

    pub(super) fn paths(&self) -> StorePaths {
        StorePaths::new(self.folder.path())
    }

    /// Salvages it, and checks what must hold for every damage.
    pub(super) fn saved(&self, case: &str) -> (Salvage, Contents) {
        let damaged =
            in_place::DamagedDatabase::open(&self.paths().database()).unwrap_or_else(|error| panic!("{case}: {error}"));
        let saved = SalvageOutput::from(&damaged, &self.paths(), "now", &NoProgress)
            .unwrap_or_else(|error| panic!("{case}: {error}"));
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
            let original = sound().contents.versions.get(key);
            let original = original.unwrap_or_else(|| panic!("{case}: {key:?} is unknown: {version:?}"));
            assert_eq!(version["content"], original["content"], "{case}: {key:?}");
        }
        for (key, link) in &saved.links {
            assert!(sound().contents.links.contains_key(key), "{case}: no link {key:?}: {link:?}");
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
pub(super) fn differences<'a>(one: &'a BTreeMap<String, Value>, other: &BTreeMap<String, Value>) -> Vec<&'a str> {
    // No index has the case of a tag.
    let lower = |value: &Value| format!("{value:?}").to_lowercase();
    let is_same =
        |name: &String, value: &Value| other[name] == *value || name == "tags" && lower(&other[name]) == lower(value);
    let names = one.iter().filter(|(name, value)| !is_same(name, value)).map(|(name, _)| name.as_str());
    names.filter(|name| !TAKEN_AS_THEY_STAND.contains(name)).collect()
}

/// Damage to whole pages changes no record, and loses none that is not on them.
pub(super) fn check_pages(case: &str, damaged: &BTreeSet<usize>, bytes: &[u8]) -> Salvage {
    let store = DamagedStore::new(bytes);
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

pub(super) fn with_pages(pages: &BTreeSet<usize>, mut change: impl FnMut(&mut [u8])) -> Vec<u8> {
    let mut bytes = sound().bytes.clone();
    for page in pages {
        change(&mut bytes[(page - 1) * PAGE..page * PAGE]);
    }
    bytes
}
