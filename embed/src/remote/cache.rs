//! Embeddings that are kept in a file, so that none is paid twice. The key is a hash of the model's properties and a hash of
//! the text.
//!
//! A cache that cannot be used is ignored: it saves time and money, and decides nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use directories::ProjectDirs;
use parking_lot::Mutex;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use super::profile::Purpose;
use crate::provider::CacheSettings;

/// The folder of all caches, within the cache folder.
const FOLDER: &str = "embeddings";
const ENDING: &str = "db";
/// Longest wait for another process, which writes for a moment only: when texts are embedded, and in a search.
const BUSY: Duration = Duration::from_secs(5);
const BUSY_SEARCH: Duration = Duration::from_millis(100);
/// Longest wait of a purge, which must succeed.
const BUSY_PURGE: Duration = Duration::from_secs(10);
/// Entries above the maximum that are dropped together.
const SLACK: usize = 100;
/// The states that a file can note.
const STATES: i64 = 0x7fff_ffff;
/// Settings of every connection: deleted bytes are overwritten.
const SETTINGS: &str = "PRAGMA secure_delete = ON";
const SCHEMA: &str = "PRAGMA auto_vacuum = FULL;
    CREATE TABLE IF NOT EXISTS embeddings (
        identity TEXT NOT NULL, hash BLOB NOT NULL, vector BLOB NOT NULL, used_at INTEGER NOT NULL,
        UNIQUE (identity, hash)
    ) STRICT;
    CREATE INDEX IF NOT EXISTS embeddings_by_use ON embeddings (used_at);
    CREATE TABLE IF NOT EXISTS models (identity TEXT PRIMARY KEY, dims INTEGER NOT NULL) STRICT;";

/// The size of a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Embeddings.
    pub entries: u64,
    /// Bytes of its file.
    pub bytes: u64,
    /// Most embeddings.
    pub max_entries: u64,
}

/// A cache in its file, opened when it is first used.
pub(super) struct EmbeddingCache {
    settings: CacheSettings,
    /// Identifies the model and its settings.
    identity: String,
    opened: Mutex<ConnectionState>,
}

enum ConnectionState {
    NotYet,
    Open(Connection),
    /// It cannot be used.
    Unusable,
}

/// Whether a purge has emptied the file: the number changes then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CacheState(i64);

/// Why a file was not opened.
#[derive(Debug)]
enum Unopened {
    /// Another process uses it now.
    Busy,
    Unusable(String),
}

impl EmbeddingCache {
    pub fn new(settings: CacheSettings, identity: String) -> Self {
        EmbeddingCache { settings, identity, opened: Mutex::new(ConnectionState::NotYet) }
    }

    /// The state of the file, to be passed to [`EmbeddingCache::keep`]; `None` if it cannot be read now.
    pub fn state(&self, purpose: Purpose) -> Option<CacheState> {
        self.with(wait(purpose), |conn| state(conn))
    }

    /// The kept vectors of these texts. Vectors that do not have `dims` numbers and the length 1 are dropped.
    pub fn find(&self, texts: &[&str], purpose: Purpose, dims: usize) -> Vec<Option<Vec<f32>>> {
        let found = self.with(wait(purpose), |conn| {
            let (mut found, mut used, mut wrong) = (Vec::with_capacity(texts.len()), Vec::new(), Vec::new());
            let tx = conn.transaction()?;
            {
                let mut find =
                    tx.prepare_cached("SELECT rowid, vector FROM embeddings WHERE identity = ?1 AND hash = ?2")?;
                for text in texts {
                    let key = params![self.identity, hash(text, purpose)];
                    let row =
                        find.query_row(key, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))).optional()?;
                    let vector = row.as_ref().and_then(|(_, bytes)| from_bytes(bytes, dims));
                    if let Some((id, _)) = row {
                        if vector.is_some() { used.push(id) } else { wrong.push(id) }
                    }
                    found.push(vector);
                }
            }
            tx.finish()?;
            // What was read is right also if another process writes for too long.
            if let Err(error) = note(conn, &used, &wrong) {
                tracing::debug!("the cache of embeddings was not written: {error}");
            }
            Ok(found)
        });
        found.unwrap_or_else(|| vec![None; texts.len()])
    }

    /// Keeps vectors, and drops the least recently used where there are too many. `since` is the state before their texts were
    /// read: after a purge since then, nothing is kept.
    pub fn keep(&self, vectors: &[(&str, &[f32])], purpose: Purpose, since: CacheState) {
        let most = i64::try_from(self.settings.max_entries).unwrap_or(i64::MAX);
        self.with(wait(purpose), |conn| {
            let now = now();
            let tx = write(conn)?;
            if state(&tx)? != since {
                return Ok(());
            }
            {
                let sql = "INSERT INTO embeddings VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT DO UPDATE SET vector = excluded.vector, used_at = excluded.used_at";
                let mut insert = tx.prepare_cached(sql)?;
                for (text, vector) in vectors {
                    insert.execute(params![self.identity, hash(text, purpose), to_bytes(vector), now])?;
                }
            }
            let count: i64 = tx.query_row("SELECT count(*) FROM embeddings", [], |row| row.get(0))?;
            if count > most.saturating_add(SLACK.min(self.settings.max_entries / 10) as i64) {
                let sql = "DELETE FROM embeddings WHERE rowid IN
                     (SELECT rowid FROM embeddings ORDER BY used_at, rowid LIMIT ?1)";
                tx.execute(sql, [count - most])?;
            }
            tx.commit()
        });
    }

    /// Numbers per vector, if they are kept.
    pub fn dims(&self) -> Option<usize> {
        let sql = "SELECT dims FROM models WHERE identity = ?1";
        let dims =
            self.with(BUSY_SEARCH, |conn| conn.query_row(sql, [&self.identity], |row| row.get::<_, i64>(0)).optional());
        dims.flatten().and_then(|dims| usize::try_from(dims).ok()).filter(|dims| *dims > 0)
    }

    /// Keeps the numbers per vector.
    pub fn keep_dims(&self, dims: usize) {
        let sql = "INSERT INTO models VALUES (?1, ?2) ON CONFLICT DO UPDATE SET dims = excluded.dims";
        self.with(BUSY_SEARCH, |conn| {
            conn.execute(sql, params![self.identity, i64::try_from(dims).unwrap_or(i64::MAX)])
        });
    }

    /// Forgets the numbers per vector, if they are still `dims`.
    pub fn forget_dims(&self, dims: usize) {
        let sql = "DELETE FROM models WHERE identity = ?1 AND dims = ?2";
        self.with(BUSY_SEARCH, |conn| {
            conn.execute(sql, params![self.identity, i64::try_from(dims).unwrap_or(i64::MAX)])
        });
    }

    /// Runs `work` on the file. `None` if it cannot be used, or not within this time. A damaged one is made again once.
    fn with<T>(&self, busy: Duration, work: impl Fn(&mut Connection) -> rusqlite::Result<T>) -> Option<T> {
        let mut opened = self.opened.try_lock_for(busy)?;
        for _ in 0..2 {
            if let ConnectionState::NotYet = *opened {
                *opened = match open(&self.settings.file, busy) {
                    Ok(conn) => ConnectionState::Open(conn),
                    Err(Unopened::Busy) => return None,
                    Err(Unopened::Unusable(why)) => self.refuse(&why),
                };
            }
            let ConnectionState::Open(conn) = &mut *opened else { return None };
            match conn.busy_timeout(busy).and_then(|()| work(conn)) {
                Ok(done) => return Some(done),
                Err(error) if is_damage(&error) => {
                    tracing::warn!(
                        "the cache of embeddings {} is corrupt and is recreated: {error}",
                        self.settings.file.display()
                    );
                    match reset(conn) {
                        Err(error) if !is_busy(&error) => *opened = self.refuse(&error.to_string()),
                        _ => {}
                    }
                }
                Err(error) => {
                    tracing::debug!("the cache of embeddings was not used: {error}");
                    return None;
                }
            }
        }
        None
    }

    fn refuse(&self, why: &str) -> ConnectionState {
        tracing::warn!("the cache of embeddings {} cannot be used: {why}", self.settings.file.display());
        ConnectionState::Unusable
    }
}

fn open(file: &Path, busy: Duration) -> Result<Connection, Unopened> {
    make_private(file).map_err(|error| Unopened::Unusable(error.to_string()))?;
    let open = || -> rusqlite::Result<Connection> {
        let conn = Connection::open(file)?;
        conn.busy_timeout(busy)?;
        match conn.execute_batch(SETTINGS).and_then(|()| prepare(&conn)) {
            Err(error) if is_damage(&error) => reset(&conn)?,
            prepared => prepared?,
        }
        Ok(conn)
    };
    open().map_err(|error| if is_busy(&error) { Unopened::Busy } else { Unopened::Unusable(error.to_string()) })
}

/// Makes missing tables. If there are none, nothing is written: a write would have to wait for other processes.
fn prepare(conn: &Connection) -> rusqlite::Result<()> {
    match conn.table_exists(None, "models")? {
        true => Ok(()),
        false => conn.execute_batch(SCHEMA),
    }
}

/// Makes a damaged file an empty cache. It stays the same file: another process may have it open, or have left a journal.
fn reset(conn: &Connection) -> rusqlite::Result<()> {
    conn.flush_prepared_statement_cache();
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
    let emptied = conn.execute_batch("VACUUM");
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
    emptied?;
    conn.execute_batch(SCHEMA)?;
    set_state(conn, CacheState(now() & STATES))
}

/// A transaction that writes. One that begins to read would fail at once where it has to wait for another.
fn write(conn: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    conn.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Notes which rows were used, and drops those that are wrong.
fn note(conn: &mut Connection, used: &[i64], wrong: &[i64]) -> rusqlite::Result<()> {
    if used.is_empty() && wrong.is_empty() {
        return Ok(());
    }
    let now = now();
    let tx = write(conn)?;
    {
        let mut touch = tx.prepare_cached("UPDATE embeddings SET used_at = ?1 WHERE rowid = ?2")?;
        used.iter().try_for_each(|id| touch.execute([now, *id]).map(drop))?;
        let mut drop = tx.prepare_cached("DELETE FROM embeddings WHERE rowid = ?1")?;
        wrong.iter().try_for_each(|id| drop.execute([*id]).map(|_| ()))?;
    }
    tx.commit()
}

fn state(conn: &Connection) -> rusqlite::Result<CacheState> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0)).map(CacheState)
}

fn set_state(conn: &Connection, CacheState(state): CacheState) -> rusqlite::Result<()> {
    conn.pragma_update(None, "user_version", state)
}

fn wait(purpose: Purpose) -> Duration {
    match purpose {
        Purpose::Document => BUSY,
        Purpose::Query => BUSY_SEARCH,
    }
}

/// Makes the file, and its folder, for this user alone: texts can be guessed from vectors.
fn make_private(file: &Path) -> std::io::Result<()> {
    let mut folders = fs::DirBuilder::new();
    folders.recursive(true);
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        folders.mode(0o700);
        options.mode(0o600);
    }
    if let Some(folder) = file.parent() {
        folders.create(folder)?;
    }
    options.open(file).map(drop)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn is_damage(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    let is_other = matches!(error, rusqlite::Error::SqlInputError { .. } | rusqlite::Error::InvalidColumnType(..));
    is_other || matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Returns the size of a cache; one that does not exist has no entries.
pub fn cache_stats(settings: &CacheSettings) -> CacheStats {
    let max_entries = settings.max_entries as u64;
    let Ok(file) = fs::metadata(&settings.file) else { return CacheStats { max_entries, ..CacheStats::default() } };
    let count = open(&settings.file, BUSY)
        .ok()
        .and_then(|conn| conn.query_row("SELECT count(*) FROM embeddings", [], |row| row.get::<_, i64>(0)).ok());
    CacheStats { entries: count.unwrap_or(0).unsigned_abs(), bytes: file.len(), max_entries }
}

/// The folder of all caches within the cache folder: this one, or that of the platform. `None` if the account has none.
pub fn embeddings_dir(cache_dir: Option<&Path>) -> Option<PathBuf> {
    let usual = || ProjectDirs::from("", "", "memorist").map(|dirs| dirs.cache_dir().to_owned());
    cache_dir.map(Path::to_owned).or_else(usual).map(|cache| cache.join(FOLDER))
}

/// Empties every cache in this folder, and forgets the numbers per vector. After a purge, nobody can tell which vectors were of
/// the purged text, its earlier versions, or searches for it. Returns how many vectors were deleted.
///
/// # Errors
/// Names the file that could not be emptied.
pub fn clear_caches(folder: &Path) -> crate::Result<u64> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(0) };
    let files =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == ENDING));
    let (mut removed, mut failed) = (0, None);
    for file in files {
        match empty(&file, BUSY_PURGE) {
            Ok(count) => removed += count,
            Err(why) => {
                let error = std::io::Error::other(format!("it cannot be emptied: {why}"));
                failed = Some(crate::Error::io(&file, error));
            }
        }
    }
    failed.map_or(Ok(removed), Err)
}

/// Empties a cache, which other processes may have open. Returns how many vectors were deleted.
fn empty(file: &Path, busy: Duration) -> Result<u64, String> {
    let mut conn = open(file, busy).map_err(|why| match why {
        Unopened::Busy => "another process uses it".to_owned(),
        Unopened::Unusable(why) => why,
    })?;
    let empty = |conn: &mut Connection| -> rusqlite::Result<usize> {
        let tx = write(conn)?;
        let count = tx.execute("DELETE FROM embeddings", [])?;
        tx.execute("DELETE FROM models", [])?;
        let CacheState(before) = state(&tx)?;
        set_state(&tx, CacheState((before + 1) & STATES))?;
        tx.commit()?;
        conn.execute_batch("VACUUM")?;
        Ok(count)
    };
    empty(&mut conn).map(|count| count as u64).map_err(|error| error.to_string())
}

impl CacheSettings {
    /// A file in `folder`: for all stores, or for the one in the folder `store`.
    pub fn new(folder: &Path, store: Option<&Path>, max_entries: usize) -> Self {
        let own = |store: &Path| {
            let path = std::path::absolute(store).unwrap_or_else(|_| store.to_owned());
            let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
            digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
        };
        let name = store.map_or_else(|| "shared".to_owned(), own);
        CacheSettings { file: folder.join(format!("{name}.{ENDING}")), max_entries }
    }
}

fn hash(text: &str, purpose: Purpose) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update([match purpose {
        Purpose::Document => b'd',
        Purpose::Query => b'q',
    }]);
    hash.update(text);
    hash.finalize().into()
}

fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_bits().to_le_bytes()).collect()
}

/// Reads a vector. `None` unless it has `dims` numbers and the length 1.
fn from_bytes(bytes: &[u8], dims: usize) -> Option<Vec<f32>> {
    const ROUNDED: f32 = 1e-3;
    let (numbers, rest) = bytes.as_chunks::<4>();
    let vector: Vec<f32> = numbers.iter().map(|bytes| f32::from_bits(u32::from_le_bytes(*bytes))).collect();
    let squares: f32 = vector.iter().map(|number| number * number).sum();
    // Not so of what is not finite.
    let is_one = (squares - 1.0).abs() < ROUNDED;
    (rest.is_empty() && vector.len() == dims && is_one).then_some(vector)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(folder: &Path, max_entries: usize, identity: &str) -> EmbeddingCache {
        EmbeddingCache::new(CacheSettings::new(folder, None, max_entries), identity.to_owned())
    }

    fn keep(cache: &EmbeddingCache, vectors: &[(&str, &[f32])]) {
        if let Some(state) = cache.state(Purpose::Document) {
            cache.keep(vectors, Purpose::Document, state);
        }
    }

    /// R21, Z11.
    #[test]
    fn vectors_are_kept_by_what_made_them_and_the_least_used_go() {
        let folder = tempfile::tempdir().unwrap();
        let one = cache(folder.path(), 3, "one");
        assert_eq!(one.find(&["a"], Purpose::Document, 2), [None]);
        let vector = [0.6f32, 0.8];
        keep(&one, &[("a", &vector), ("b", &vector)]);
        assert_eq!(one.find(&["a", "z"], Purpose::Document, 2), [Some(vector.to_vec()), None]);
        assert_eq!(one.find(&["a"], Purpose::Query, 2), [None], "of another purpose");
        let other = cache(folder.path(), 3, "other");
        assert_eq!(other.find(&["a"], Purpose::Document, 2), [None], "of another model");
        other.keep_dims(7);
        assert_eq!((other.dims(), one.dims()), (Some(7), None));
        // "b" was used least recently.
        one.find(&["a"], Purpose::Document, 2);
        keep(&one, &[("c", &vector), ("d", &vector)]);
        let left = one.find(&["a", "b", "c", "d"], Purpose::Document, 2);
        assert_eq!(left.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true, true]);
        assert_eq!(cache_stats(&one.settings).entries, 3);
    }

    #[test]
    fn a_vector_that_cannot_be_right_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let kept = cache(folder.path(), 99, "one");
        let right = [0.6f32, 0.8];
        let wrong: [&[f32]; 6] = [&[1.0], &[0.6, 0.8, 0.0], &[], &[f32::NAN, 1.0], &[f32::INFINITY, 0.0], &[3.0, 4.0]];
        for vector in wrong {
            keep(&kept, &[("wrong", vector), ("right", &right)]);
            assert_eq!(
                kept.find(&["wrong", "right"], Purpose::Document, 2),
                [None, Some(right.to_vec())],
                "{vector:?}"
            );
            assert_eq!(cache_stats(&kept.settings).entries, 1, "{vector:?}");
        }
        let odd = "UPDATE embeddings SET vector = CAST('12345678' || 'x' AS BLOB)";
        open(&kept.settings.file, BUSY).unwrap().execute(odd, []).unwrap();
        assert_eq!(kept.find(&["right"], Purpose::Document, 2), [None]);
    }

    /// Z11.
    #[test]
    fn a_purge_empties_every_cache_and_leaves_no_byte() {
        let folder = tempfile::tempdir().unwrap();
        let kept = cache(folder.path(), 99, "one");
        let vector: Vec<f32> = (0..64).map(|number| number as f32 + 0.123_456).collect();
        keep(&kept, &[("secret", &vector)]);
        let needle = to_bytes(&vector);
        let has = || fs::read(&kept.settings.file).unwrap().windows(needle.len()).any(|part| part == needle);
        assert!(has());
        kept.keep_dims(64);
        assert_eq!(clear_caches(folder.path()).unwrap(), 1);
        assert!(!has());
        assert_eq!(kept.dims(), None, "another model may have replaced it");
        assert_eq!(kept.find(&["secret"], Purpose::Document, 2), [None], "also where it was open");
        assert_eq!(clear_caches(folder.path()).unwrap(), 0);
    }

    #[test]
    fn a_damaged_cache_is_recreated_and_an_unusable_one_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let first = cache(folder.path(), 9, "one");
        fs::create_dir_all(first.settings.file.parent().unwrap()).unwrap();
        fs::write(&first.settings.file, "no database at all, but long enough to be read as one").unwrap();
        keep(&first, &[("a", &[1.0])]);
        assert_eq!(first.find(&["a"], Purpose::Document, 1), [Some(vec![1.0])]);
        assert_ne!(first.state(Purpose::Document), Some(CacheState(0)), "as after a purge");
        fs::write(folder.path().join("file"), "").unwrap();
        let nowhere = cache(&folder.path().join("file"), 9, "one");
        keep(&nowhere, &[("a", &[1.0])]);
        assert_eq!(nowhere.find(&["a"], Purpose::Document, 2), [None]);
    }

    /// Two processes that write at the same time wait for each other.
    #[test]
    fn concurrent_writers_lose_nothing() {
        const EACH: usize = 60;
        let folder = tempfile::tempdir().unwrap();
        let vector = [0.6f32, 0.8];
        std::thread::scope(|scope| {
            for writer in 0..3 {
                // A handle each is as a process each.
                let cache = cache(folder.path(), 999, "one");
                scope.spawn(move || {
                    for number in 0..EACH {
                        keep(&cache, &[(&format!("{writer} {number}"), &vector)]);
                        let [before, now] = [number.saturating_sub(1), number].map(|at| format!("{writer} {at}"));
                        let found = cache.find(&[&before, &now], Purpose::Document, 2);
                        assert_eq!(found, [Some(vector.to_vec()), Some(vector.to_vec())], "{writer} {number}");
                    }
                });
            }
        });
        assert_eq!(cache_stats(&cache(folder.path(), 999, "one").settings).entries, 3 * EACH as u64);
    }

    /// A search waits briefly for another process, and uses the cache again afterwards.
    #[test]
    fn a_file_that_is_in_use_is_done_without_for_that_moment_only() {
        let folder = tempfile::tempdir().unwrap();
        let [opened, unopened] = [0, 1].map(|_| cache(folder.path(), 9, "one"));
        for purpose in [Purpose::Document, Purpose::Query] {
            opened.keep(&[("a", &[1.0])], purpose, opened.state(purpose).unwrap());
        }
        let other = open(&opened.settings.file, BUSY).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let started = std::time::Instant::now();
        for cache in [&opened, &unopened] {
            assert_eq!(cache.find(&["a"], Purpose::Query, 1), [None]);
            assert_eq!(cache.state(Purpose::Query), None);
            assert_eq!(cache.dims(), None);
        }
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| unopened.find(&["a"], Purpose::Document, 1));
            std::thread::sleep(Duration::from_millis(300));
            other.execute_batch("COMMIT").unwrap();
            assert_eq!(waiting.join().unwrap(), [Some(vec![1.0])], "the embedding process waits");
        });
        // Of one that only writes, what is read is right.
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert_eq!(opened.find(&["a"], Purpose::Query, 1), [Some(vec![1.0])]);
    }

    fn holds(folder: &Path, needle: &[u8]) -> bool {
        let files = fs::read_dir(folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
        files.into_iter().any(|bytes| bytes.windows(needle.len()).any(|part| part == needle))
    }

    /// Z11: a process that was killed while it wrote has left a journal, which belongs to the file.
    #[test]
    fn a_purge_leaves_no_journal_of_a_killed_process() {
        let [folder, copy] = [0, 1].map(|_| tempfile::tempdir().unwrap());
        let kept = cache(folder.path(), 9_999, "one");
        let vector: Vec<f32> = (0..512).map(|number| number as f32 + 0.123_456).collect();
        let texts: Vec<String> = (0..200).map(|number| number.to_string()).collect();
        keep(&kept, &texts.iter().map(|text| (text.as_str(), &vector[..])).collect::<Vec<_>>());
        let killed = open(&kept.settings.file, BUSY).unwrap();
        killed.execute_batch("PRAGMA cache_size = 1; BEGIN IMMEDIATE; DELETE FROM embeddings").unwrap();
        for entry in fs::read_dir(folder.path()).unwrap() {
            let from = entry.unwrap().path();
            fs::copy(&from, copy.path().join(from.file_name().unwrap())).unwrap();
        }
        assert_eq!(fs::read_dir(copy.path()).unwrap().count(), 2, "the file and its journal");
        assert_eq!(clear_caches(copy.path()).unwrap(), 200, "what was deleted was not committed");
        assert!(!holds(copy.path(), &to_bytes(&vector[..64])));
    }

    /// Z11: others that have the file open, or write to it, keep the same file.
    #[cfg(unix)]
    #[test]
    fn a_purge_empties_the_file_that_others_have_open() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let kept = cache(folder.path(), 9, "one");
        let file = &kept.settings.file;
        let inode = || fs::metadata(file).unwrap().ino();
        keep(&kept, &[("a", &[1.0])]);
        let (before, other) = (inode(), open(file, BUSY).unwrap());
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let error = empty(file, Duration::from_millis(50)).unwrap_err();
        assert!(error.contains("locked"), "{error}");
        std::thread::scope(|scope| {
            let purge = scope.spawn(|| clear_caches(folder.path()).unwrap());
            std::thread::sleep(Duration::from_millis(300));
            other.execute_batch("COMMIT").unwrap();
            assert_eq!(purge.join().unwrap(), 1);
        });
        assert_eq!((kept.find(&["a"], Purpose::Document, 1), inode()), (vec![None], before));
        // Damaged, while it is open elsewhere.
        keep(&kept, &[("a", &[1.0])]);
        fs::write(file, "no database at all, but long enough to be read as one").unwrap();
        assert_eq!(clear_caches(folder.path()).unwrap(), 0);
        keep(&kept, &[("a", &[1.0])]);
        assert_eq!(cache(folder.path(), 9, "one").find(&["a"], Purpose::Document, 1), [Some(vec![1.0])]);
        assert_eq!(inode(), before);
        let state = kept.state(Purpose::Document);
        fs::write(file, "no database at all, but long enough to be read as one").unwrap();
        assert_eq!(kept.find(&["a"], Purpose::Document, 1), [None]);
        assert_eq!(inode(), before);
        assert_ne!(kept.state(Purpose::Document), state, "what is in flight may have been purged");
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let kept = cache(folder.path(), 9, "one");
        keep(&kept, &[("a", &[1.0])]);
        assert_eq!(fs::metadata(&kept.settings.file).unwrap().permissions().mode() & 0o077, 0);
    }
}
