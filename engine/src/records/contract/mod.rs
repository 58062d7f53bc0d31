//! Tests that every [`Authority`] must pass: the rules, run over each implementation.
//!
//! A test takes a [`Subject`], an empty store, and looks at it through [`Authority`] alone, with SQL that the rules could
//! use. A second implementation adds its `Subject` and one line to [`on_every_database`]. Reading, maintenance and repair
//! of a database are not tested here.
//!
//! | file | rules |
//! |---|---|
//! | `transactions.rs` | all or nothing; work that runs twice |
//! | `saving.rs` | twins, versions, deletion |
//! | `links.rs` | links |
//! | `merging.rs` | several records that become one |
//! | `references.rs` | references in bodies; one profile a scope |
//! | `embeddings.rs` | the store's model, and vectors |
//! | `passages.rs` | the passages of long texts |
//! | `model_change.rs` | the change to another model |
//! | `import.rs` | import |
//! | `deleting.rs` | expiry and purge |
//! | `accesses.rs` | the access log |
//! | `searches.rs` | the search log |
//! | `recalled.rs` | memories injected into sessions |
//! | `threads.rs` | the place of a record in a thread |
//! | `files.rs` | records that are read from files |

mod accesses;
mod deleting;
mod embeddings;
mod files;
mod import;
mod links;
mod merging;
mod model_change;
mod passages;
mod recalled;
mod references;
mod saving;
mod searches;
mod threads;
mod transactions;

use std::ops::ControlFlow;

use super::log::Change;
use super::models::{self, Pending};
#[cfg(all(unix, feature = "postgres"))]
use super::postgres::{
    testing::{TeamMember, TeamStore},
    transaction::Server,
};
use super::rules::{add, embeddings as embedding_rules, links as link_rules, trash};
use super::sqlite::testing::{NOW, TestStore, add_one, model, new, update_one};
use super::transaction::{Authority, Select, SelectExt, Tx, Value};
use super::{lookup, rows};
use crate::error::{Error, Result};
use crate::text::{self, Hash};
use crate::types::{
    AddOutcome, EmbeddingState, Link, Millis, ModelId, NewRecord, Record, RecordId, RecordUpdate, Scope, Viewer,
    embedding_of,
};

/// The tables that the rules write, and what a row of each is ordered by.
const TABLES: [(&str, &str); 20] = [
    ("records", "id"),
    ("versions", "record_id, version"),
    ("version_causes", "record_id, version"),
    ("trash", "id"),
    ("trash_versions", "record_id, version"),
    ("trash_links", "record_id, from_id, kind, to_id"),
    ("scopes", "id"),
    ("links", "from_id, kind, to_id"),
    ("models", "id"),
    ("embeddings", "id"),
    ("passages", "record_id, number"),
    ("access_log", "id"),
    ("searches", "id"),
    ("search_hits", "search_id, record_id"),
    ("recalled", "session, record_id"),
    ("sources", "id"),
    ("files", "id"),
    ("forgotten", "origin"),
    ("sync_log", "seq"),
    ("meta", "key"),
];

/// An empty store to be tested.
trait Subject: Sized {
    type Authority: Authority;

    /// `None` where its database is not on this machine: the test is left out, and its name is printed.
    fn empty(test: &str) -> Option<Self>;

    fn authority(&self) -> &Self::Authority;

    /// Asserts whatever the database can check of itself.
    fn assert_sound(&self);

    /// The columns of a table that the rules know.
    fn columns(_tx: &dyn Tx, _table: &str) -> Result<String> {
        Ok("*".into())
    }

    /// Runs work that may fail. Failed work must not use up ids, so that two stores can be compared.
    fn keeping_numbers<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        work()
    }

    fn write<T>(&self, work: impl FnMut(&dyn Tx) -> Result<T>) -> T {
        self.authority().write(work).unwrap()
    }

    fn add(&self, new: &NewRecord, now: Millis) -> AddOutcome {
        add_one(self.authority(), new, now).unwrap()
    }

    fn update(&self, id: impl Into<RecordId>, change: &RecordUpdate, now: Millis) -> Result<Record> {
        update_one(self.authority(), id.into(), change, &Viewer::OWNER, now).map(|changed| changed.after)
    }

    fn delete(&self, id: impl Into<RecordId>) -> bool {
        trash::delete(self.authority(), id.into(), None, &Viewer::OWNER, NOW).unwrap().is_some()
    }

    fn link(&self, link: Link, viewer: &Viewer, now: Millis) -> Result<bool> {
        link_rules::link(self.authority(), link, viewer, now)
    }

    /// A live record.
    fn record(&self, id: impl Into<RecordId>, now: Millis) -> Option<Record> {
        let id = id.into();
        self.write(|tx| lookup::live(tx, id, &Viewer::OWNER, now))
    }

    /// The number that a query gives.
    fn number(&self, sql: &str) -> i64 {
        self.write(|tx| tx.first(sql, &[], |row| row.get(0))).expect("a row")
    }

    /// How many rows a table has.
    fn count(&self, table: &str) -> i64 {
        self.number(&format!("SELECT count(*) FROM {table}"))
    }

    /// The log entries after `after`: the records, and how they changed.
    fn log(&self, after: i64) -> Vec<(RecordId, Change)> {
        let sql = "SELECT op, record_id, payload FROM sync_log WHERE seq > ?1 ORDER BY seq";
        self.write(|tx| {
            tx.all(sql, &[after.into()], |row| {
                Ok((row.get(1)?, Change::decode(row.get(0)?, row.get(2)?).expect("a change")))
            })
        })
    }

    /// The newest number of the log, which has not been trimmed.
    fn head(&self) -> i64 {
        self.number("SELECT coalesce(max(seq), 0) FROM sync_log")
    }

    /// The texts that wait for the store's model.
    fn pending(&self, now: Millis) -> Vec<Pending> {
        self.write(|tx| models::pending(tx, usize::MAX, now))
    }

    /// The vectors of these records under a model.
    fn vectors(&self, model: ModelId, ids: &[RecordId]) -> Vec<(RecordId, Vec<f32>)> {
        let sql = "SELECT e.vector, m.dims FROM records r JOIN embeddings e ON e.hash = r.embedding_hash
             JOIN models m ON m.id = e.model_id WHERE r.id = ?1 AND e.model_id = ?2";
        let vector = |tx: &dyn Tx, id: RecordId| {
            tx.first(sql, &[id.into(), model.into()], |row| {
                Ok((id, embedding_of(row.get(0)?, row.get::<i64>(1)? as usize).expect("a vector")))
            })
        };
        self.write(|tx| {
            Ok(ids.iter().map(|id| vector(tx, *id)).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
        })
    }

    /// Makes a model of so many dimensions the store's.
    fn adopt(&self, dims: usize) -> ModelId {
        embedding_rules::adopt_model(self.authority(), &model(dims)).unwrap()
    }

    /// Stores a vector of so many dimensions for each text that waits. Returns how many records waited.
    fn embed(&self, model: ModelId, dims: usize) -> usize {
        let vectors = vectors_of(&self.pending(NOW), dims);
        embedding_rules::store_embeddings(self.authority(), model, &vectors).unwrap()
    }

    fn embedding_state(&self, id: impl Into<RecordId>) -> EmbeddingState {
        let id = id.into();
        let sql = "SELECT 1 FROM records WHERE id = ?1 AND embedding_id IS NOT NULL";
        let is_ready = self.write(|tx| tx.exists(sql, &[id.into()]));
        if is_ready { EmbeddingState::Ready } else { EmbeddingState::Pending }
    }

    /// All rows of all tables.
    fn contents(&self) -> Vec<String> {
        let mut contents = Vec::new();
        self.write(|tx| {
            for (table, order) in TABLES {
                let columns = Self::columns(tx, table)?;
                let sql = format!("SELECT {columns} FROM {table} ORDER BY {order}");
                tx.select(&sql, &[], &mut |row| {
                    let values = (0..).map_while(|column| row.value(column).ok());
                    let values: Vec<String> = values.map(written).collect();
                    contents.push(format!("{table}: {}", values.join(", ")));
                    Ok(ControlFlow::Continue(()))
                })?;
            }
            Ok(())
        });
        contents
    }
}

impl Subject for TestStore {
    type Authority = super::Records;

    fn empty(_test: &str) -> Option<Self> {
        Some(TestStore::new())
    }

    fn authority(&self) -> &super::Records {
        self
    }

    fn assert_sound(&self) {
        assert_eq!(self.integrity().unwrap(), Vec::<String>::new());
    }
}

#[cfg(all(unix, feature = "postgres"))]
impl Subject for TeamStore {
    type Authority = Server;

    fn empty(test: &str) -> Option<Self> {
        TeamStore::new(test)
    }

    fn authority(&self) -> &Server {
        &self.server
    }

    /// Asserts that each log entry has the rows of `changes` that nodes pull.
    fn assert_sound(&self) {
        let unnoted = "SELECT count(*) FROM sync_log l WHERE NOT EXISTS
             (SELECT 1 FROM changes c WHERE c.xid = l.xid AND c.number IN (4, 7, 3) )";
        assert_eq!(self.number(unnoted), 0);
    }

    /// Without the columns that serve the nodes.
    fn columns(tx: &dyn Tx, table: &str) -> Result<String> {
        let sql = "SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute
             WHERE attrelid = ('memorist.' || ?1)::regclass AND attnum > 0 AND NOT attisdropped
                 AND attname NOT IN ('stamp', 'xid')";
        Ok(tx.first(sql, &[table.into()], |row| row.get(0))?.expect("a table"))
    }

    /// A sequence of PostgreSQL does not go back when a transaction does.
    fn keeping_numbers<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let sql = "SELECT sequencename::text, coalesce(last_value, 0) FROM pg_sequences WHERE schemaname = 'memorist'";
        let before = Subject::write(self, |tx| tx.all(sql, &[], |row| Ok((row.get::<String>(0)?, row.get::<i64>(1)?))));
        let outcome = work();
        if outcome.is_err() {
            let sql = "SELECT setval('memorist.' || ?1, greatest(?2, 1), ?2 > 0)";
            Subject::write(self, |tx| {
                before.iter().try_for_each(|(name, last)| tx.exists(sql, &[name.into(), (*last).into()]).map(drop))
            });
        }
        outcome
    }
}

/// The rules work for a member as they do for the owner of the tables.
#[cfg(all(unix, feature = "postgres"))]
impl Subject for TeamMember {
    type Authority = Server;

    fn empty(test: &str) -> Option<Self> {
        TeamMember::new(test)
    }

    fn authority(&self) -> &Server {
        &self.server
    }

    fn assert_sound(&self) {
        self.owner.assert_sound();
    }

    fn keeping_numbers<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.owner.keeping_numbers(work)
    }

    /// All rows, also those that a member does not see.
    fn contents(&self) -> Vec<String> {
        self.owner.contents()
    }
}

/// Runs tests of this contract over every database. Those `of the owner` do what is not for members: they change the model, set
/// texts aside, keep searches, or look at what members do not see.
macro_rules! on_every_database {
    (in $module:ident, $store:ident: $($test:ident)*) => {
        mod $module {
            $(
                #[test]
                fn $test() {
                    use super::super::{$store, Subject};
                    if let Some(store) = <$store as Subject>::empty(stringify!($test)) {
                        super::$test(&store);
                    }
                }
            )*
        }
    };
    ($($test:ident),* $(,)? $(; of the owner: $($own:ident),* $(,)?)?) => {
        on_every_database!(in on_sqlite, TestStore: $($test)* $($($own)*)?);
        #[cfg(all(unix, feature = "postgres"))]
        on_every_database!(in on_postgres, TeamStore: $($test)* $($($own)*)?);
        #[cfg(all(unix, feature = "postgres"))]
        on_every_database!(in as_a_member, TeamMember: $($test)*);
    };
}
use on_every_database;

fn content(text: &str) -> RecordUpdate {
    RecordUpdate { content: Some(text.into()), ..RecordUpdate::default() }
}

fn scope(agent: Option<&str>, project: Option<&str>) -> Scope {
    Scope { agent: agent.map(Into::into), project: project.map(Into::into) }
}

/// A value as SQL has it.
fn written(value: Value<'_>) -> String {
    match value {
        Value::Blob(bytes) => format!("x'{}'", text::to_hex(bytes)),
        other => format!("{other:?}"),
    }
}

/// A vector for each text: all numbers its length.
fn vectors_of(texts: &[Pending], dims: usize) -> Vec<(Hash, Vec<f32>)> {
    texts.iter().map(|text| (text.hash, vec![text.text.len() as f32; dims])).collect()
}
