//! The mark of a purge whose traces are not all removed: `purging` in `meta`. It does not contain the purged texts.
//!
//! Each transaction of a purge writes a new mark over the old one, so nothing is ever removed without a mark. A mark
//! stands for everything that was removed up to it: the process that ends it has cleaned the files since, and ends no
//! other, so that later removals keep their mark. A purge that finds a mark which is not its own last one takes over the
//! traces of another purge, without knowing its texts. So purges may run at once or one after another, and any process
//! may be killed at any step: traces that are not cleaned have a mark, and the process that ends that mark has cleaned
//! them.
//!
//! A purge cleans up itself, as it knows the texts. When its mark is no longer new, the purge has been killed, or is
//! blocked; then the worker of any open store cleans up. When both do it, that costs time and nothing else.
//!
//! Once the database is rewritten, the mark says so, and only the write-ahead log is left to be emptied. Readers may
//! delay that for long, and nobody rewrites the database again meanwhile.

use std::time::Duration;

use ulid::Ulid;

use crate::error::Result;
use crate::records::meta;
use crate::records::transaction::{Select, Tx};
use crate::types::Millis;

/// The entry of `meta` with the mark.
pub(in crate::records) const KEY: &str = "purging";
/// Age of a mark after which others finish its purge. The steps of a purge take much less.
const NEW: Duration = Duration::from_secs(2);
/// Follows the id of a mark once the database is rewritten. It is stored in databases, so it never changes.
const REWRITTEN: &str = " written anew";

/// The mark of an unfinished purge: it stands for everything that purges have removed up to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeMark {
    /// A ULID: no other mark has it, and it contains the time.
    id: String,
    is_rewritten: bool,
}

impl PurgeMark {
    /// A new mark, which is not in the database.
    pub(in crate::records) fn unwritten() -> Self {
        PurgeMark { id: Ulid::generate().to_string(), is_rewritten: false }
    }

    /// The mark that is there.
    pub(in crate::records) fn read(db: &dyn Select) -> Result<Option<Self>> {
        Ok(meta::text(db, KEY)?.map(|value| match value.strip_suffix(REWRITTEN) {
            Some(id) => PurgeMark { id: id.into(), is_rewritten: true },
            None => PurgeMark { id: value, is_rewritten: false },
        }))
    }

    /// Its ULID.
    #[cfg(feature = "postgres")]
    pub(in crate::records) fn id(&self) -> &str {
        &self.id
    }

    /// Writes this mark over the one in the database. Returns whether that was not `last`.
    pub(in crate::records) fn write(&self, tx: &dyn Tx, last: &PurgeMark) -> Result<bool> {
        let before = Self::read(tx)?;
        meta::put(tx, KEY, (&self.id).into())?;
        Ok(before.is_some_and(|before| before.id != last.id))
    }

    /// Notes that the database was rewritten since this mark, unless more has been removed meanwhile.
    pub(in crate::records) fn note_rewritten(&self, tx: &dyn Tx) -> Result<()> {
        let noted = [&self.id, REWRITTEN].concat();
        let sql = "UPDATE meta SET value = ?1 WHERE key = ?2 AND value = ?3";
        tx.execute(sql, &[(&noted).into(), KEY.into(), (&self.id).into()]).map(drop)
    }

    /// Removes this mark: nothing is left of what was removed up to it. What was removed meanwhile has another.
    pub(in crate::records) fn end(&self, tx: &dyn Tx) -> Result<()> {
        let noted = [&self.id, REWRITTEN].concat();
        let sql = "DELETE FROM meta WHERE key = ?1 AND value IN (?2, ?3)";
        tx.execute(sql, &[KEY.into(), (&self.id).into(), (&noted).into()]).map(drop)
    }

    /// Whether others have to finish the purge. A mark from the future is from a clock that was set back.
    pub fn is_abandoned(&self, now: Millis) -> bool {
        let written = Ulid::from_string(&self.id).map_or(0, |id| id.timestamp_ms());
        now.unsigned_abs().abs_diff(written) >= NEW.as_millis() as u64
    }

    /// Whether nothing is left but the write-ahead log.
    pub fn is_rewritten(&self) -> bool {
        self.is_rewritten
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::sqlite::testing::TestStore;
    use crate::records::transaction::Authority;

    fn renew(store: &TestStore, mark: &mut PurgeMark) -> bool {
        let last = std::mem::replace(mark, PurgeMark::unwritten());
        store.write(|tx| mark.write(tx, &last)).unwrap()
    }

    #[test]
    fn ending_a_purge_mark_leaves_a_newer_one() {
        let store = TestStore::new();
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
    fn a_purge_takes_over_traces_when_it_replaces_another_mark() {
        let store = TestStore::new();
        let [mut one, mut other] = [PurgeMark::unwritten(), PurgeMark::unwritten()];
        assert!(!renew(&store, &mut one));
        assert!(renew(&store, &mut other));
        assert!(renew(&store, &mut one), "they run at once");
        store.end_purge(&other).unwrap();
        assert_eq!(store.unfinished_purge().unwrap(), Some(one));
    }

    #[test]
    fn a_mark_notes_a_rewritten_database_until_the_next_removal() {
        let store = TestStore::new();
        let mut mark = PurgeMark::unwritten();
        renew(&store, &mut mark);
        store.write(|tx| mark.note_rewritten(tx)).unwrap();
        assert!(store.unfinished_purge().unwrap().unwrap().is_rewritten());
        let before = mark.clone();
        assert!(!renew(&store, &mut mark), "its own still");
        store.write(|tx| before.note_rewritten(tx)).unwrap();
        assert_eq!(store.unfinished_purge().unwrap(), Some(mark.clone()));
        store.write(|tx| mark.note_rewritten(tx)).unwrap();
        store.end_purge(&mark).unwrap();
        assert_eq!(store.unfinished_purge().unwrap(), None);
    }

    #[test]
    fn a_purge_is_abandoned_when_its_mark_is_not_new() {
        let mark = PurgeMark::unwritten();
        let written = Ulid::from_string(&mark.id).unwrap().timestamp_ms() as Millis;
        let new = NEW.as_millis() as Millis;
        assert_eq!(
            [0, new - 1, new, 1 - new, -new].map(|since| mark.is_abandoned(written + since)),
            [false, false, true, false, true]
        );
        assert!(PurgeMark { id: "?".into(), is_rewritten: false }.is_abandoned(written));
    }
}
