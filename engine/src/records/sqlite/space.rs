//! Gives the space of what was deleted back to the file system.

use std::ops::ControlFlow;

use super::connection::INCREMENTAL;
use super::store::Database;
use crate::error::Result;
use crate::records::transaction::Authority;

/// Fewer free pages than this (4 KiB each) are kept for what is written next.
const SPARE_PAGES: i64 = 1_000;
/// Pages given back in one transaction: short enough that no one notices the wait.
const PAGES_PER_STEP: i64 = 1_000;

impl Database {
    /// Whether the database has more free pages than it may keep, and can give them back: one that was made by another
    /// program may not.
    pub fn can_shrink(&self) -> Result<bool> {
        let reader = self.reader()?;
        let number = |pragma: &str| reader.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        Ok(number("freelist_count")? > SPARE_PAGES && number("auto_vacuum")? == INCREMENTAL)
    }

    /// Gives some of the free pages back. The file is shorter after the next checkpoint.
    pub fn vacuum_step(&self) -> Result<()> {
        let vacuum = format!("PRAGMA incremental_vacuum({PAGES_PER_STEP})");
        self.write(|tx| tx.select(&vacuum, &[], &mut |_| Ok(ControlFlow::Continue(()))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::records::rules::trash;
    use crate::types::Viewer;

    #[test]
    fn the_space_of_what_was_deleted_is_given_back() {
        let store = TestStore::new();
        let news: Vec<_> = (0..500).map(|n| new(&format!("{n} {}", "long ".repeat(5_000)))).collect();
        let added = store.add_batch(&news, NOW).unwrap();
        let ids: Vec<_> = added.into_iter().map(|outcome| outcome.unwrap().id).collect();
        let pages = || store.number("PRAGMA page_count");
        let full = pages();
        assert!(full > 3 * SPARE_PAGES && !store.can_shrink().unwrap());
        for id in &ids[10..] {
            store.delete(*id, &Viewer::OWNER, NOW).unwrap();
            trash::empty(&*store, NOW, 9).unwrap();
        }
        assert!(pages() >= full, "by itself SQLite keeps the pages");
        let mut steps = 0;
        while store.can_shrink().unwrap() {
            store.vacuum_step().unwrap();
            steps += 1;
        }
        assert!(pages() < full / 2 && steps > 1, "{full} pages, now {}, in {steps} steps", pages());
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }
}
