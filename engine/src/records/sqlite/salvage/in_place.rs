//! The new database replaces the damaged one, which is kept. If the process is killed at any point, one of the two is
//! there, whole.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use memorist_durable::{NewFile, crash, folder_of, sync_folder};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::doubts::Doubts;
use super::headless::{Headless, lock_error};
use super::report::{Kept, Salvage};
use super::transfer::transfer;
use crate::error::{Error, Result};
use crate::files::remove_file_if_present;
use crate::paths::{StorePaths, companions};
use crate::progress::Progress;
use crate::records::sqlite::backup::{beside, copy_pages, remove_indexes, replace};
use crate::records::sqlite::connection::{connect, enable_incremental_vacuum};
use crate::records::sqlite::errors::{damaged as damaged_error, database_error, explain, is_no_database, open_error};
use crate::records::sqlite::{integrity, migrate};

/// Time that other processes have to finish their writes.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// The error for a file that SQLite does not recognize.
const NOTHING_OF_OURS: &str = "it is not an SQLite database, and has nothing to salvage; move the file and the \
     indexes away to start with an empty store, or restore a backup";

/// Reports what a salvage would save. Changes nothing; others may use the store meanwhile.
///
/// # Errors
/// [`Error::Database`] when the file is not a database of memorist; [`Error::Store`] while another process has it open,
/// if not even its header can be read.
pub fn survey(paths: &StorePaths, progress: &dyn Progress) -> Result<Salvage> {
    let damaged = DamagedDatabase::open(&paths.database())?;
    SalvageOutput::from(&damaged, paths, &damaged.time()?, progress).map(|saved| saved.salvage)
}

/// Saves what can be read into a new database, which replaces the damaged one; that is kept beside it. Removes the
/// indexes: they are rebuilt when the store is opened.
///
/// # Errors
/// Errors of [`survey`], and [`Error::Store`] while another process has the store open: its writes into the old file
/// would be lost. Nothing is changed then.
pub fn salvage(paths: &StorePaths, progress: &dyn Progress) -> Result<Salvage> {
    let database = paths.database();
    let damaged = DamagedDatabase::open(&database)?;
    damaged.lock_out_others(&database)?;
    let now = damaged.time()?;
    let saved = SalvageOutput::from(&damaged, paths, &now, progress)?;
    let mut kept = Kept { damaged: paths.damaged(&now), doubtful: None };
    damaged.keep(&database, &kept.damaged)?;
    if saved.doubts > 0 {
        let place = paths.doubtful(&now);
        replace(saved.doubtful, &place)?;
        kept.doubtful = Some(place);
    }
    // They are of the old database, and must not pass for those of the new one.
    remove_indexes(paths)?;
    crash::point("damaged database kept");
    // The lock must hold until the old file cannot be found by its name; where an open file has to stay, almost.
    let is_headless = matches!(damaged, DamagedDatabase::Headless(_));
    let mut lock = Some(damaged);
    if cfg!(not(unix)) {
        lock = None;
    }
    if is_headless {
        // Its write-ahead log is there still.
        for companion in companions(&database) {
            remove_file_if_present(&companion)?;
        }
    }
    replace(saved.database, &database)?;
    crash::point("salvaged database in place");
    drop(lock);
    Ok(Salvage { kept: Some(kept), ..saved.salvage })
}

/// A damaged database.
pub(super) enum DamagedDatabase {
    /// SQLite can read its pages.
    Readable(Connection),
    /// SQLite cannot read its header.
    Headless(Headless),
}

impl DamagedDatabase {
    /// Opens a database that need not make sense.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let refuse = |error| open_error(path, error);
        let conn = connect(path, WRITE_TIMEOUT).map_err(refuse)?;
        // Nothing but pages is read of it, so the schema does no harm. Defensive mode would forbid what comes now.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).map_err(refuse)?;
        // This makes SQLite accept a file that is too short or has a schema that makes no sense.
        conn.pragma_update(None, "writable_schema", true).map_err(refuse)?;
        match conn.pragma_query_value(None, "user_version", |_| Ok(())) {
            Err(error) if is_no_database(&error) => Headless::open(path, conn).map(DamagedDatabase::Headless),
            _ if migrate::check_owner(&conn, path)? == 0 => Err(damaged_error(path, "it is empty")),
            _ => Ok(DamagedDatabase::Readable(conn)),
        }
    }

    fn conn(&self) -> &Connection {
        match self {
            DamagedDatabase::Readable(conn) => conn,
            DamagedDatabase::Headless(headless) => &headless.lock,
        }
    }

    /// The time of a repair, as it stands in the names of what is kept.
    pub(super) fn time(&self) -> Result<String> {
        Ok(self.conn().query_row("SELECT strftime('%Y%m%dT%H%M%fZ', 'now')", [], |row| row.get(0))?)
    }

    /// Takes SQLite's lock on the whole file, which is free only when nobody else has it open, and keeps it.
    fn lock_out_others(&self, path: &Path) -> Result<()> {
        let DamagedDatabase::Readable(conn) = self else { return Ok(()) };
        // A write-ahead log that is shared already would stay shared.
        let locked = conn.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()));
        locked.and_then(|()| conn.execute_batch("BEGIN EXCLUSIVE; COMMIT")).map_err(|error| lock_error(path, error))
    }

    /// Copies all pages: those of a database in use are partly in its write-ahead log.
    fn copy(&self, path: &Path, to: &NewFile, progress: &dyn Progress) -> Result<()> {
        let damaged = match self {
            DamagedDatabase::Readable(conn) => conn,
            DamagedDatabase::Headless(headless) => return headless.copy(to),
        };
        let mut copy = Connection::open(to.path())?;
        copy.pragma_update(None, "synchronous", "OFF")?;
        damaged.execute_batch("BEGIN; PRAGMA schema_version")?;
        let copied = copy_pages(damaged, &mut copy, progress);
        damaged.execute_batch("COMMIT")?;
        copied.map_err(|error| explain(path, error))
    }

    /// Gives the database a second name, under which it stays, and frees its first name of its write-ahead log, which would
    /// be played into another database in its place.
    fn keep(&self, database: &Path, kept: &Path) -> Result<()> {
        let [wal, ..] = companions(database);
        let [kept_wal, ..] = companions(kept);
        let failed = |path: &Path, error| Error::io(path, error);
        fs::hard_link(database, kept).map_err(|error| {
            let why = format!(
                "the damaged database cannot be kept as {} ({error}); copy the folder to another disk, and repair it there",
                kept.display()
            );
            Error::Store { path: database.to_owned(), why }
        })?;
        // What SQLite cannot read any more at the end of the log goes when the log goes.
        if wal.metadata().is_ok_and(|wal| wal.len() > 0) {
            let copied =
                fs::copy(&wal, &kept_wal).and_then(|_| File::options().write(true).open(&kept_wal)?.sync_all());
            copied.map_err(|error| failed(&kept_wal, error))?;
        }
        sync_folder(folder_of(database)).map_err(|error| failed(database, error))?;
        let DamagedDatabase::Readable(conn) = self else { return Ok(()) };
        // Each leaves no file behind that a later process could lose to this one.
        for mode in ["DELETE", "MEMORY"] {
            conn.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(()))
                .map_err(|error| open_error(database, error))?;
        }
        Ok(())
    }
}

/// The salvaged data, in files that are deleted unless they are put in their place.
pub(super) struct SalvageOutput {
    pub(super) database: NewFile,
    pub(super) doubtful: NewFile,
    doubts: u64,
    pub(super) salvage: Salvage,
}

impl SalvageOutput {
    /// Salvages a damaged database, as a repair at `when`.
    pub(super) fn from(
        damaged: &DamagedDatabase,
        paths: &StorePaths,
        when: &str,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let database = paths.database();
        let source = beside(&database)?;
        damaged.copy(&database, &source, progress)?;
        let (new, doubtful) = (beside(&database)?, beside(&paths.doubtful(when))?);
        let mut doubts = Doubts::into_file(doubtful.path())?;
        let salvage = fill(source.path(), new.path(), &mut doubts, progress)?;
        if matches!(damaged, DamagedDatabase::Headless(_)) && salvage.total() + salvage.deleted == 0 {
            return Err(database_error(&database, NOTHING_OF_OURS));
        }
        let lines = doubts.lines;
        doubts.finish().map_err(|error| Error::io(doubtful.path(), error))?;
        Ok(SalvageOutput { database: new, doubtful, doubts: lines, salvage })
    }
}

/// Makes the empty file `new` a database with everything that can be saved of the pages in `source`.
fn fill(source: &Path, new: &Path, doubts: &mut Doubts, progress: &dyn Progress) -> Result<Salvage> {
    let mut conn = connect(new, WRITE_TIMEOUT)?;
    enable_incremental_vacuum(&conn)?;
    // It is thrown away if anything fails, and synced when it is done.
    conn.pragma_update_and_check(None, "journal_mode", "MEMORY", |_| Ok(()))?;
    conn.pragma_update(None, "synchronous", "OFF")?;
    migrate::prepare(&mut conn, new)?;
    let tx = conn.transaction()?;
    let salvage = transfer(source, &tx, doubts, progress)?;
    tx.commit()?;
    progress.start("checking what is saved", None);
    let findings = integrity::findings(&conn);
    progress.finish();
    if let Some(finding) = findings?.first() {
        let why = format!("the salvaged database is corrupt, too ({finding}); nothing was changed; restore a backup");
        return Err(Error::Database { path: new.to_owned(), why, remedy: None });
    }
    conn.close().map_err(|(_, error)| error)?;
    Ok(salvage)
}
