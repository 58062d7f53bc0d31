//! Gives the room of what was deleted back to the file system.

use rusqlite::Connection;

use super::Records;
use crate::error::Result;

/// Fewer free pages than this (4 KiB each) are kept for what is written next.
const SPARE_PAGES: i64 = 1_000;
/// Pages given back in one transaction: short enough that nobody notices waiting for it.
const PAGES_PER_STEP: i64 = 1_000;

/// As SQLite numbers its modes.
const INCREMENTAL: i64 = 2;

/// Lets a database that has no page yet give pages back; later it could not learn it any more.
pub(super) fn prepare(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "auto_vacuum", INCREMENTAL)
}

impl Records {
    /// Whether the database has more free pages than it may keep, and can give them back: one that was not made with
    /// `prepare` cannot.
    pub fn has_room_to_give(&self) -> Result<bool> {
        let reader = self.reader()?;
        let number = |pragma: &str| reader.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        Ok(number("freelist_count")? > SPARE_PAGES && number("auto_vacuum")? == INCREMENTAL)
    }

    /// Gives some of the free pages back. The file is shorter after the next checkpoint.
    pub fn give_room(&self) -> Result<()> {
        self.write(|tx| {
            let mut vacuum = tx.prepare(&format!("PRAGMA incremental_vacuum({PAGES_PER_STEP})"))?;
            let mut steps = vacuum.query([])?;
            while steps.next()?.is_some() {}
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, Store, new};
    use super::*;
    use crate::types::Viewer;

    #[test]
    fn what_was_deleted_leaves_no_room_behind() {
        let store = Store::new();
        let news: Vec<_> = (0..500).map(|n| new(&format!("{n} {}", "long ".repeat(5_000)))).collect();
        let added = store.add_batch(&news, NOW).unwrap();
        let ids: Vec<_> = added.into_iter().map(|outcome| outcome.unwrap().id).collect();
        let pages = || store.number("PRAGMA page_count");
        let full = pages();
        assert!(full > 3 * SPARE_PAGES && !store.has_room_to_give().unwrap());
        for id in &ids[10..] {
            store.delete(*id, &Viewer::OWNER).unwrap();
        }
        assert_eq!(pages(), full, "by itself SQLite keeps the pages");
        let mut steps = 0;
        while store.has_room_to_give().unwrap() {
            store.give_room().unwrap();
            steps += 1;
        }
        assert!(pages() < full / 2 && steps > 1, "{full} pages, now {}, in {steps} steps", pages());
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }
}
