//! Deletes what has expired.

use super::Records;
use super::write::remove;
use crate::error::Result;
use crate::types::{Millis, RecordId};

impl Records {
    /// Whether a record has expired by `by`.
    pub fn has_expired(&self, by: Millis) -> Result<bool> {
        let reader = self.reader()?;
        let mut statement = reader.prepare_cached("SELECT EXISTS (SELECT 1 FROM records WHERE expires_at <= ?)")?;
        Ok(statement.query_row([by], |row| row.get(0))?)
    }

    /// Deletes at most `limit` records that have expired by `by`, the longest expired first, in one transaction. Returns
    /// how many.
    pub fn remove_expired(&self, by: Millis, limit: usize) -> Result<usize> {
        self.write(|tx| {
            let mut statement =
                tx.prepare_cached("SELECT id FROM records WHERE expires_at <= ? ORDER BY expires_at LIMIT ?")?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let ids =
                statement.query_map((by, limit), |row| row.get(0))?.collect::<rusqlite::Result<Vec<RecordId>>>()?;
            for &id in &ids {
                remove(tx, id)?;
            }
            Ok(ids.len())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, Store, model, new};
    use crate::types::{NewRecord, RecordUpdate, Viewer};

    /// R26.
    #[test]
    fn what_has_expired_goes_with_all_that_belongs_to_it_and_nothing_else_does() {
        let store = Store::new();
        let model = store.model(&model(1)).unwrap();
        let add = |text: &str, expires_at| store.add(&NewRecord { expires_at, ..new(text) }, NOW).unwrap().id;
        let (kept, later) = (add("kept", None), add("later", Some(NOW + 11)));
        let gone: Vec<_> =
            [10, 9, 8].into_iter().map(|after| add(&format!("brief {after}"), Some(NOW + after))).collect();
        let vectors: Vec<_> =
            store.pending(model, 9, NOW).unwrap().iter().map(|waiting| (waiting.hash, vec![1.0])).collect();
        store.store_embeddings(model, &vectors).unwrap();
        let tags = RecordUpdate { tags: Some(vec!["t".into()]), ..RecordUpdate::default() };
        store.update(gone[0], &tags, &Viewer::OWNER, NOW).unwrap();
        let head = store.head().unwrap();

        assert!(!store.has_expired(NOW + 7).unwrap() && store.has_expired(NOW + 8).unwrap());
        assert_eq!(store.remove_expired(NOW + 7, 2).unwrap(), 0);
        assert_eq!(store.remove_expired(NOW + 10, 2).unwrap(), 2);
        assert_eq!(
            store.number(&format!("SELECT count(*) FROM records WHERE id = {}", gone[0])),
            1,
            "the last to expire"
        );
        assert_eq!(store.remove_expired(NOW + 10, 2).unwrap(), 1);
        assert!(!store.has_expired(NOW + 10).unwrap());
        assert_eq!(store.head().unwrap(), head + 3, "the indexes hear of it");
        assert_eq!(store.view().live_ids_after(0, 9, NOW).unwrap(), [kept, later]);
        for (table, left) in [("versions", 0), ("record_tags", 0), ("embeddings", 2)] {
            assert_eq!(store.number(&format!("SELECT count(*) FROM {table}")), left, "{table}");
        }
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }
}
