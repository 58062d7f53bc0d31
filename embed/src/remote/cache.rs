//! Embeddings that are kept in a file, so that none is paid twice: by what made them and by the text, of which only a hash
//! is kept.
//!
//! A cache that cannot be used is done without: it saves time and money, and decides nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use directories::ProjectDirs;
use parking_lot::Mutex;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::profile::Purpose;
use crate::provider::CacheSettings;

/// The folder of all caches, within the cache folder.
const FOLDER: &str = "embeddings";
const ENDING: &str = "db";
/// Another process writes for a moment only.
const BUSY: Duration = Duration::from_secs(2);
/// So many more entries than allowed are dropped together.
const SLACK: usize = 100;
const SCHEMA: &str = "PRAGMA auto_vacuum = FULL; PRAGMA secure_delete = ON;
    CREATE TABLE IF NOT EXISTS embeddings (
        identity TEXT NOT NULL, hash BLOB NOT NULL, vector BLOB NOT NULL, used_at INTEGER NOT NULL,
        UNIQUE (identity, hash)
    ) STRICT;
    CREATE INDEX IF NOT EXISTS embeddings_by_use ON embeddings (used_at);
    CREATE TABLE IF NOT EXISTS models (identity TEXT PRIMARY KEY, dims INTEGER NOT NULL) STRICT;";

/// What a cache holds.
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
pub(super) struct Cache {
    settings: CacheSettings,
    /// Of what makes the embeddings.
    identity: String,
    opened: Mutex<Opened>,
}

enum Opened {
    NotYet,
    Open(Connection),
    /// It cannot be used.
    Unusable,
}

impl Cache {
    pub fn new(settings: CacheSettings, identity: String) -> Self {
        Cache { settings, identity, opened: Mutex::new(Opened::NotYet) }
    }

    /// The kept vectors of these texts. One that is not of so many numbers and of length 1 is dropped.
    pub fn find(&self, texts: &[&str], purpose: Purpose, dims: usize) -> Vec<Option<Vec<f32>>> {
        let found = self.with(|conn| {
            let now = now();
            let tx = conn.transaction()?;
            let mut found = Vec::with_capacity(texts.len());
            {
                let mut find =
                    tx.prepare_cached("SELECT rowid, vector FROM embeddings WHERE identity = ?1 AND hash = ?2")?;
                let mut touch = tx.prepare_cached("UPDATE embeddings SET used_at = ?1 WHERE rowid = ?2")?;
                let mut drop = tx.prepare_cached("DELETE FROM embeddings WHERE rowid = ?1")?;
                for text in texts {
                    let key = params![self.identity, hash(text, purpose)];
                    let row =
                        find.query_row(key, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))).optional()?;
                    let vector = row.as_ref().and_then(|(_, bytes)| from_bytes(bytes, dims));
                    match (&row, &vector) {
                        (Some((id, _)), Some(_)) => touch.execute([now, *id])?,
                        (Some((id, _)), None) => drop.execute([*id])?,
                        (None, _) => 0,
                    };
                    found.push(vector);
                }
            }
            tx.commit()?;
            Ok(found)
        });
        found.unwrap_or_else(|| vec![None; texts.len()])
    }

    /// Keeps vectors, and drops the least recently used where there are too many.
    pub fn keep(&self, vectors: &[(&str, &[f32])], purpose: Purpose) {
        let most = i64::try_from(self.settings.max_entries).unwrap_or(i64::MAX);
        self.with(|conn| {
            let now = now();
            let tx = conn.transaction()?;
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

    /// Numbers per vector, if they were learnt before.
    pub fn dims(&self) -> Option<usize> {
        let sql = "SELECT dims FROM models WHERE identity = ?1";
        let dims = self.with(|conn| conn.query_row(sql, [&self.identity], |row| row.get::<_, i64>(0)).optional());
        dims.flatten().and_then(|dims| usize::try_from(dims).ok()).filter(|dims| *dims > 0)
    }

    /// Keeps how many numbers a vector has.
    pub fn keep_dims(&self, dims: usize) {
        let sql = "INSERT INTO models VALUES (?1, ?2) ON CONFLICT DO UPDATE SET dims = excluded.dims";
        self.with(|conn| conn.execute(sql, params![self.identity, i64::try_from(dims).unwrap_or(i64::MAX)]));
    }

    /// Forgets how many numbers a vector has, if it is still this many.
    pub fn forget_dims(&self, dims: usize) {
        let sql = "DELETE FROM models WHERE identity = ?1 AND dims = ?2";
        self.with(|conn| conn.execute(sql, params![self.identity, i64::try_from(dims).unwrap_or(i64::MAX)]));
    }

    /// Runs `work` on the file. `None` if it cannot be used: a damaged one is made again once.
    fn with<T>(&self, work: impl Fn(&mut Connection) -> rusqlite::Result<T>) -> Option<T> {
        let mut opened = self.opened.lock();
        for _ in 0..2 {
            if let Opened::NotYet = *opened {
                *opened = open(&self.settings.file).map_or_else(|why| self.refuse(&why), Opened::Open);
            }
            let Opened::Open(conn) = &mut *opened else { return None };
            match work(conn) {
                Ok(done) => return Some(done),
                Err(error) if is_damage(&error) => {
                    tracing::warn!(
                        "the cache of embeddings {} is damaged and is made again: {error}",
                        self.settings.file.display()
                    );
                    *opened = Opened::NotYet;
                    let _ = fs::remove_file(&self.settings.file);
                }
                Err(error) => {
                    tracing::debug!("the cache of embeddings was not used: {error}");
                    return None;
                }
            }
        }
        None
    }

    fn refuse(&self, why: &str) -> Opened {
        tracing::warn!("the cache of embeddings {} cannot be used: {why}", self.settings.file.display());
        Opened::Unusable
    }
}

fn open(file: &Path) -> Result<Connection, String> {
    let open = || -> rusqlite::Result<Connection> {
        let conn = Connection::open(file)?;
        conn.busy_timeout(BUSY)?;
        conn.execute_batch(SCHEMA)?;
        Ok(conn)
    };
    make_private(file).map_err(|error| error.to_string())?;
    open()
        .or_else(|error| match is_damage(&error) {
            true => fs::remove_file(file).map_err(|_| error).and_then(|()| open()),
            false => Err(error),
        })
        .map_err(|error| error.to_string())
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

fn is_damage(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    let is_other = matches!(error, rusqlite::Error::SqlInputError { .. } | rusqlite::Error::InvalidColumnType(..));
    is_other || matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// What a cache holds; nothing if there is none.
pub fn cache_stats(settings: &CacheSettings) -> CacheStats {
    let max_entries = settings.max_entries as u64;
    let Ok(file) = fs::metadata(&settings.file) else { return CacheStats { max_entries, ..CacheStats::default() } };
    let count = open(&settings.file)
        .ok()
        .and_then(|conn| conn.query_row("SELECT count(*) FROM embeddings", [], |row| row.get::<_, i64>(0)).ok());
    CacheStats { entries: count.unwrap_or(0).unsigned_abs(), bytes: file.len(), max_entries }
}

/// The folder of all caches within the cache folder: this one, or that of the platform. `None` if the account has none.
pub fn embeddings_dir(cache_dir: Option<&Path>) -> Option<PathBuf> {
    let usual = || ProjectDirs::from("", "", "memorist").map(|dirs| dirs.cache_dir().to_owned());
    cache_dir.map(Path::to_owned).or_else(usual).map(|cache| cache.join(FOLDER))
}

/// Empties every cache in this folder, and forgets what was learnt of models: after a purge, as nobody can tell which vectors were of the purged text, its earlier
/// versions, or searches for it. Returns how many vectors went.
///
/// # Errors
/// Names the file that could not be emptied.
pub fn clear_caches(folder: &Path) -> crate::Result<u64> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(0) };
    let files =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == ENDING));
    let mut removed = 0;
    for file in files {
        let emptied = open(&file).and_then(|conn| {
            let emptied = conn.execute("DELETE FROM embeddings", []);
            let vacuum = |count| conn.execute_batch("DELETE FROM models; VACUUM").map(|()| count);
            emptied.and_then(vacuum).map_err(|error| error.to_string())
        });
        match emptied {
            Ok(count) => removed += count as u64,
            Err(why) => fs::remove_file(&file).map_err(|error| {
                crate::Error::io(&file, std::io::Error::new(error.kind(), format!("it cannot be emptied: {why}")))
            })?,
        }
    }
    Ok(removed)
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

/// The vector, if it is one: `dims` numbers, of length 1.
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

    fn cache(folder: &Path, max_entries: usize, identity: &str) -> Cache {
        Cache::new(CacheSettings::new(folder, None, max_entries), identity.to_owned())
    }

    /// R21, Z11.
    #[test]
    fn vectors_are_kept_by_what_made_them_and_the_least_used_go() {
        let folder = tempfile::tempdir().unwrap();
        let one = cache(folder.path(), 3, "one");
        assert_eq!(one.find(&["a"], Purpose::Document, 2), [None]);
        let vector = [0.6f32, 0.8];
        one.keep(&[("a", &vector), ("b", &vector)], Purpose::Document);
        assert_eq!(one.find(&["a", "z"], Purpose::Document, 2), [Some(vector.to_vec()), None]);
        assert_eq!(one.find(&["a"], Purpose::Query, 2), [None], "of another purpose");
        let other = cache(folder.path(), 3, "other");
        assert_eq!(other.find(&["a"], Purpose::Document, 2), [None], "of another model");
        other.keep_dims(7);
        assert_eq!((other.dims(), one.dims()), (Some(7), None));
        // "b" was used least recently.
        one.find(&["a"], Purpose::Document, 2);
        one.keep(&[("c", &vector), ("d", &vector)], Purpose::Document);
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
            kept.keep(&[("wrong", vector), ("right", &right)], Purpose::Document);
            assert_eq!(
                kept.find(&["wrong", "right"], Purpose::Document, 2),
                [None, Some(right.to_vec())],
                "{vector:?}"
            );
            assert_eq!(cache_stats(&kept.settings).entries, 1, "{vector:?}");
        }
        let odd = "UPDATE embeddings SET vector = CAST('12345678' || 'x' AS BLOB)";
        open(&kept.settings.file).unwrap().execute(odd, []).unwrap();
        assert_eq!(kept.find(&["right"], Purpose::Document, 2), [None]);
    }

    /// Z11.
    #[test]
    fn a_purge_empties_every_cache_and_leaves_no_byte() {
        let folder = tempfile::tempdir().unwrap();
        let kept = cache(folder.path(), 99, "one");
        let vector: Vec<f32> = (0..64).map(|number| number as f32 + 0.123_456).collect();
        kept.keep(&[("secret", &vector)], Purpose::Document);
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
    fn a_damaged_cache_is_made_again_and_one_of_no_use_is_done_without() {
        let folder = tempfile::tempdir().unwrap();
        let first = cache(folder.path(), 9, "one");
        fs::create_dir_all(first.settings.file.parent().unwrap()).unwrap();
        fs::write(&first.settings.file, "no database at all, but long enough to be read as one").unwrap();
        first.keep(&[("a", &[1.0])], Purpose::Document);
        assert_eq!(first.find(&["a"], Purpose::Document, 1), [Some(vec![1.0])]);
        fs::write(folder.path().join("file"), "").unwrap();
        let nowhere = cache(&folder.path().join("file"), 9, "one");
        nowhere.keep(&[("a", &[1.0])], Purpose::Document);
        assert_eq!(nowhere.find(&["a"], Purpose::Document, 2), [None]);
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let kept = cache(folder.path(), 9, "one");
        kept.keep(&[("a", &[1.0])], Purpose::Document);
        assert_eq!(fs::metadata(&kept.settings.file).unwrap().permissions().mode() & 0o077, 0);
    }
}
