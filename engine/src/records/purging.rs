//! The mark of a purge whose traces are not all removed: `purging` in `meta`. It does not say what is purged.
//!
//! Each transaction of a purge writes a new mark in the place of the one that is there, so nothing is ever removed without
//! a mark. A mark stands for all that was removed up to it: who ends it has cleaned the files since, and ends no other, so
//! that what was removed meanwhile keeps its mark. A purge that finds a mark which is not its own last one takes over what
//! another has left, of which it does not know what to look for. So purges may run at once or one after another, and any
//! process may be killed at any step: what is not cleaned has a mark, and whoever ends that mark has cleaned it.
//!
//! A purge cleans up itself, as it knows what to look for. When its mark is no longer new, it has been killed, or something
//! keeps it; then the worker of any open store does it. Both doing it costs time and nothing else.
//!
//! Once the database is written anew the mark says so, and only the write-ahead log is left to be emptied. Readers may keep
//! that from being done for long, and nobody writes the database anew again meanwhile.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction};
use ulid::Ulid;

use super::Records;
use crate::error::Result;
use crate::types::Millis;

/// A purge that has not written a new mark for longer is gone on with by others. Its steps take much less.
const NEW: Duration = Duration::from_secs(2);
/// Follows the id of a mark once the database is written anew.
const WRITTEN_ANEW: &str = " written anew";

/// Stands for all that purges have removed up to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeMark {
    /// A ULID: of no other mark, and it has the time.
    id: String,
    is_written_anew: bool,
}

impl PurgeMark {
    /// One that is not in the database.
    pub(super) fn unwritten() -> Self {
        PurgeMark { id: Ulid::generate().to_string(), is_written_anew: false }
    }

    /// Writes a new mark. Returns whether it takes the place of another's.
    pub(super) fn renew(&mut self, tx: &Transaction<'_>) -> Result<bool> {
        let before = read(tx)?;
        let last = std::mem::replace(self, Self::unwritten());
        tx.execute("INSERT OR REPLACE INTO meta VALUES ('purging', ?)", [&self.id])?;
        Ok(before.is_some_and(|before| before.id != last.id))
    }

    /// Whether the purge is to be gone on with by others. A mark of the future is of a clock that was set back.
    pub fn is_left(&self, now: Millis) -> bool {
        let written = Ulid::from_string(&self.id).map_or(0, |id| id.timestamp_ms());
        now.unsigned_abs().abs_diff(written) >= NEW.as_millis() as u64
    }

    /// Whether nothing is left but the write-ahead log.
    pub fn is_written_anew(&self) -> bool {
        self.is_written_anew
    }
}

impl Records {
    /// What purges have left to do, where there is something.
    pub fn unfinished_purge(&self) -> Result<Option<PurgeMark>> {
        let reader = self.reader()?;
        read(&reader)
    }

    /// Writes down that the database was written anew since this mark, unless more has been removed meanwhile.
    pub(super) fn note_written_anew(&self, mark: &PurgeMark) -> Result<()> {
        let noted = [&mark.id, WRITTEN_ANEW].concat();
        let sql = "UPDATE meta SET value = ? WHERE key = 'purging' AND value = ?";
        self.write(|tx| Ok(tx.execute(sql, [&noted, &mark.id])?)).map(drop)
    }

    /// Writes down that nothing is left of what was removed up to this mark. What was removed meanwhile has another.
    pub fn end_purge(&self, mark: &PurgeMark) -> Result<()> {
        let sql = "DELETE FROM meta WHERE key = 'purging' AND value IN (?1, ?1 || ?2)";
        self.write(|tx| Ok(tx.execute(sql, [&mark.id, WRITTEN_ANEW])?)).map(drop)
    }
}

fn read(conn: &Connection) -> Result<Option<PurgeMark>> {
    let mut statement = conn.prepare_cached("SELECT value FROM meta WHERE key = 'purging'")?;
    let value: Option<String> = statement.query_row([], |row| row.get(0)).optional()?;
    Ok(value.map(|value| match value.strip_suffix(WRITTEN_ANEW) {
        Some(id) => PurgeMark { id: id.into(), is_written_anew: true },
        None => PurgeMark { id: value, is_written_anew: false },
    }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Store;
    use super::*;

    fn renew(store: &Store, mark: &mut PurgeMark) -> bool {
        store.write(|tx| mark.renew(tx)).unwrap()
    }

    #[test]
    fn who_ends_a_mark_ends_no_other() {
        let store = Store::new();
        assert_eq!(store.unfinished_purge().unwrap(), None);
        let mut mark = PurgeMark::unwritten();
        assert!(!renew(&store, &mut mark));
        let first = mark.clone();
        assert_eq!(store.again().unfinished_purge().unwrap(), Some(first.clone()));
        assert!(!renew(&store, &mut mark), "its own");
        store.end_purge(&first).unwrap();
        assert_eq!(store.unfinished_purge().unwrap(), Some(mark.clone()), "more was removed meanwhile");
        store.end_purge(&mark).unwrap();
        assert_eq!(store.unfinished_purge().unwrap(), None);
        assert!(!renew(&store, &mut mark), "all of it was cleaned");
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_another_purge_has_left_is_taken_over_by_whoever_writes_over_its_mark() {
        let store = Store::new();
        let [mut one, mut other] = [PurgeMark::unwritten(), PurgeMark::unwritten()];
        assert!(!renew(&store, &mut one));
        assert!(renew(&store, &mut other));
        assert!(renew(&store, &mut one), "they run at once");
        store.end_purge(&other).unwrap();
        assert_eq!(store.unfinished_purge().unwrap(), Some(one));
    }

    #[test]
    fn a_mark_says_that_the_database_was_written_anew_until_more_is_removed() {
        let store = Store::new();
        let mut mark = PurgeMark::unwritten();
        renew(&store, &mut mark);
        store.note_written_anew(&mark).unwrap();
        assert!(store.unfinished_purge().unwrap().unwrap().is_written_anew());
        let before = mark.clone();
        assert!(!renew(&store, &mut mark), "its own still");
        store.note_written_anew(&before).unwrap();
        assert_eq!(store.unfinished_purge().unwrap(), Some(mark.clone()));
        store.note_written_anew(&mark).unwrap();
        store.end_purge(&mark).unwrap();
        assert_eq!(store.unfinished_purge().unwrap(), None);
    }

    #[test]
    fn a_purge_is_left_when_its_mark_is_not_new() {
        let mark = PurgeMark::unwritten();
        let written = Ulid::from_string(&mark.id).unwrap().timestamp_ms() as Millis;
        let new = NEW.as_millis() as Millis;
        assert_eq!(
            [0, new - 1, new, 1 - new, -new].map(|since| mark.is_left(written + since)),
            [false, false, true, false, true]
        );
        assert!(PurgeMark { id: "?".into(), is_written_anew: false }.is_left(written));
    }
}
