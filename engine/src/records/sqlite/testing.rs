//! Helpers for the tests of the records.

use std::borrow::Cow;
use std::ops::Deref;

use rusqlite::types::ValueRef;
use tempfile::TempDir;

use super::snapshot::Snapshot;
use crate::error::Result;
use crate::paths::StorePaths;
use crate::records::rules::{add, embeddings, links, save, trash, update};
use crate::records::transaction::Authority;
use crate::records::{Changed, Records};
use crate::text::Hash;
use crate::types::{AddOutcome, Link, Millis, Model, ModelId, NewRecord, RecordId, RecordUpdate, Save, Viewer};

/// The time of the tests.
pub(in crate::records) const NOW: Millis = 1_700_000_000_000;

/// A store in a folder that goes with it.
pub(in crate::records) struct TestStore {
    records: Records,
    folder: TempDir,
}

impl TestStore {
    pub(in crate::records) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        TestStore { records: Records::open(&StorePaths::new(folder.path())).unwrap(), folder }
    }

    /// Closes it, and keeps its folder.
    pub(in crate::records) fn close(self) -> TempDir {
        self.folder
    }

    pub(in crate::records) fn paths(&self) -> StorePaths {
        StorePaths::new(self.folder.path())
    }

    /// The store as another process would open it.
    pub(in crate::records) fn again(&self) -> Records {
        Records::open(&self.paths()).unwrap()
    }

    /// Runs statements behind the back of [`Records`].
    pub(in crate::records) fn sql(&self, statements: &str) {
        let conn = rusqlite::Connection::open(self.paths().database()).unwrap();
        conn.execute_batch(statements).unwrap();
    }

    /// The number that a query gives.
    pub(in crate::records) fn number(&self, query: &str) -> i64 {
        let conn = rusqlite::Connection::open(self.paths().database()).unwrap();
        conn.query_row(query, [], |row| row.get(0)).unwrap()
    }

    /// Whether any table has the text, however it is written there.
    pub(in crate::records) fn has_text(&self, text: &str) -> bool {
        let escaped = serde_json::Value::from(text).to_string();
        let conn = rusqlite::Connection::open(self.paths().database()).unwrap();
        let has_text = |value: ValueRef<'_>| {
            let (ValueRef::Text(bytes) | ValueRef::Blob(bytes)) = value else { return false };
            let value = String::from_utf8_lossy(bytes);
            value.contains(text) || value.contains(escaped.trim_matches('"'))
        };
        ["records", "versions", "record_tags", "access_log", "searches", "sync_log", "meta"].iter().any(|table| {
            let mut statement = conn.prepare(&format!("SELECT * FROM {table}")).unwrap();
            let columns = statement.column_count();
            let row = |row: &rusqlite::Row<'_>| Ok((0..columns).any(|at| has_text(row.get_ref(at).unwrap())));
            statement.query_map([], row).unwrap().any(Result::unwrap)
        })
    }

    pub(in crate::records) fn view(&self) -> Snapshot {
        self.records.snapshot().unwrap()
    }
}

impl Deref for TestStore {
    type Target = Records;

    fn deref(&self) -> &Records {
        &self.records
    }
}

/// A fact, with defaults.
pub(in crate::records) fn new(content: &str) -> NewRecord {
    NewRecord::new(content)
}

/// Saves a record.
pub(in crate::records) fn add_one(authority: &impl Authority, new: &NewRecord, now: Millis) -> Result<AddOutcome> {
    let save = Save { record: new.clone(), links: Vec::new(), given: None, viewer: Viewer::of(&new.scope) };
    save::save(authority, &[save], None, now)?.remove(0).map(|saved| saved.added)
}

/// Changes a record.
pub(in crate::records) fn update_one(
    authority: &impl Authority,
    id: RecordId,
    change: &RecordUpdate,
    viewer: &Viewer,
    now: Millis,
) -> Result<Changed> {
    Ok(update::update(authority, &[(id, Cow::Borrowed(change))], None, viewer, now)?.remove(0))
}

/// A model that does not exist.
pub(in crate::records) fn model(dims: usize) -> Model {
    Model { name: "test".into(), weights_sha256: "0".repeat(64), pooling: "mean".into(), dims }
}

/// Rules by the names that the tests give them.
impl Records {
    pub(crate) fn add(&self, new: &NewRecord, now: Millis) -> Result<AddOutcome> {
        add_one(self, new, now)
    }

    pub(crate) fn add_batch(&self, news: &[NewRecord], now: Millis) -> Result<Vec<Result<AddOutcome>>> {
        add::add_batch(self, news, now)
    }

    pub(crate) fn update(&self, id: RecordId, change: &RecordUpdate, viewer: &Viewer, now: Millis) -> Result<Changed> {
        update_one(self, id, change, viewer, now)
    }

    pub(crate) fn delete(&self, id: RecordId, viewer: &Viewer, now: Millis) -> Result<bool> {
        Ok(trash::delete(self, id, None, viewer, now)?.is_some())
    }

    pub(crate) fn link(&self, link: Link, viewer: &Viewer, now: Millis) -> Result<bool> {
        links::link(self, link, viewer, now)
    }

    pub(crate) fn store_embeddings(&self, model: ModelId, embeddings: &[(Hash, Vec<f32>)]) -> Result<usize> {
        embeddings::store_embeddings(self, model, embeddings)
    }
}
