//! Connections to `memory.db`: how they wait, what they trust, what they leave behind.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::errors::is_busy;

/// A write gives up after waiting this long for other writes, of this process and of others. Clients of a server give up
/// after 60 s, and a tool may write more than once.
pub(super) const WRITE_TIMEOUT: Duration = Duration::from_secs(15);
/// A write empties the write-ahead log itself only when it has more pages than this: the background thread is far behind.
const PAGES_BEHIND: i64 = 4_000;
/// Statements kept prepared per connection.
const STATEMENTS: usize = 64;
/// As SQLite numbers the modes of `auto_vacuum`.
pub(super) const INCREMENTAL: i64 = 2;

/// Opens a connection that can write.
pub(super) fn connect(path: &Path, timeout: Duration) -> rusqlite::Result<Connection> {
    connect_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX, timeout)
}

pub(super) fn connect_with(path: &Path, flags: OpenFlags, timeout: Duration) -> rusqlite::Result<Connection> {
    let mut conn = Connection::open_with_flags(path, flags)?;
    distrust(&conn)?;
    wait_at_most(&mut conn, timeout)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    // Else SQLite compiles a kept statement again whenever a value is bound that its plan might depend on.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    // Else a sync on macOS does not wait for the drive, and a power cut undoes what was confirmed. Others ignore it.
    conn.pragma_update(None, "fullfsync", true)?;
    conn.pragma_update(None, "checkpoint_fullfsync", true)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.pragma_update(None, "journal_size_limit", 64 << 20)?;
    conn.pragma_update_and_check(None, "wal_autocheckpoint", PAGES_BEHIND, |_| Ok(()))?;
    Ok(conn)
}

/// Lets a connection run nothing that a hostile database brings along.
pub(super) fn distrust(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    conn.pragma_update(None, "cell_size_check", true)
}

/// Has the connection wait for locks, for so long each time.
pub(super) fn wait_at_most(conn: &mut Connection, timeout: Duration) -> rusqlite::Result<()> {
    let mut since = Instant::now();
    conn.busy_handler(Some(move |attempt: i32| {
        if attempt == 0 {
            since = Instant::now();
        }
        // Short naps, unlike SQLite's own handler: the transactions waited for are short.
        thread::sleep(Duration::from_micros(200 * attempt.clamp(1, 20) as u64));
        since.elapsed() < timeout
    }))
}

/// Switches the database to the write-ahead log. SQLite does not call the busy handler here, so two processes that
/// create a store at the same time must try again.
pub(super) fn use_write_ahead_log(conn: &Connection) -> rusqlite::Result<()> {
    let since = Instant::now();
    loop {
        match conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
            Err(error) if is_busy(&error) && since.elapsed() < WRITE_TIMEOUT => thread::sleep(Duration::from_millis(2)),
            result => return result,
        }
    }
}

/// Makes a connection overwrite what it deletes with zeros: what is deleted shall be gone (`traces.rs`).
pub(super) fn enable_secure_delete(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))
}

/// Lets a database give free pages back (`space.rs`). Only one that has no page yet can learn it.
pub(super) fn enable_incremental_vacuum(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "auto_vacuum", INCREMENTAL)
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::super::testing::TestStore;

    #[test]
    fn a_kept_statement_is_not_compiled_again_for_other_values() {
        let store = TestStore::new();
        let snapshot = store.view();
        // SQLite compares what is bound with the condition of an index of links that supersede.
        let mut statement =
            snapshot.conn().prepare("SELECT from_id FROM links WHERE to_id = ?1 AND kind = ?2").unwrap();
        for kind in 0..3 {
            assert!(!statement.exists((1, kind)).unwrap());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
