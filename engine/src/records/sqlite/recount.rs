//! Totals and access counts that are wrong are counted again.

use super::integrity::{MORE_LIKE_THIS, WRONG_ACCESSES, WRONG_TALLY};
use super::schema::counted;
use super::store::Database;
use crate::error::Result;
use crate::records::rows::MOST_ACCESSES;
use crate::records::transaction::{Authority, Tx};

impl Database {
    /// Counts everything again, where the totals or access counts that are out of range are all that is wrong. Returns
    /// whether they were.
    pub fn recount(&self) -> Result<bool> {
        let findings = self.integrity()?;
        let is_of =
            |finding: &str, rule: &str| rule.split_once("{}").is_some_and(|(start, _)| finding.starts_with(start));
        let is_counted = |finding: &String| {
            is_of(finding, WRONG_TALLY) || is_of(finding, WRONG_ACCESSES) || finding.ends_with(MORE_LIKE_THIS)
        };
        if findings.is_empty() || !findings.iter().all(is_counted) {
            return Ok(false);
        }
        self.write(|tx| {
            limit_accesses(tx)?;
            tx.execute("DELETE FROM tallies", &[])?;
            tx.execute(concat!("INSERT INTO tallies ", counted!()), &[])?;
            Ok(true)
        })
    }
}

/// Brings access counts that are out of range to the nearest that is not.
pub(super) fn limit_accesses(tx: &dyn Tx) -> Result<usize> {
    let sql = "UPDATE records SET access_count = min(max(access_count, 0), ?1) WHERE access_count NOT BETWEEN 0 AND ?1";
    tx.execute(sql, &[MOST_ACCESSES.into()])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::types::{Filter, Viewer};

    #[test]
    fn access_counts_that_are_out_of_range_are_found_and_mended() {
        let store = TestStore::new();
        let ids: Vec<_> = (0..3).map(|n| store.add(&new(&format!("text {n}")), NOW).unwrap().id).collect();
        store.sql(&format!("UPDATE records SET access_count = {} WHERE id > {}", i64::MAX, ids[0]));
        let filters = [Filter::default(), Filter { min_confidence: Some(0.0), ..Filter::default() }];
        let totals = || filters.each_ref().map(|filter| store.view().stats(filter, NOW).unwrap().total_accesses);
        assert_eq!(totals(), [2 * MOST_ACCESSES.unsigned_abs(); 2]);
        let findings = store.integrity().unwrap();
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(findings[0].ends_with("is out of range"), "{findings:?}");
        assert!(store.recount().unwrap());
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
        assert_eq!(store.get(ids[2], &Viewer::OWNER, NOW).unwrap().unwrap().access_count, MOST_ACCESSES);
    }
}
