//! Replaces the 32-bit floats of embeddings by 16-bit ones, in a store of an earlier version: some at a time, in the
//! background. Each embedding moves to a new row, so that its old page becomes free as a whole; rows that shrank where
//! they are would leave every page half empty.

use super::integrity::vector_of;
use super::store::Database;
use crate::error::Result;
use crate::records::meta;
use crate::records::transaction::{Authority, SelectExt, Tx};
use crate::types::embedding_bytes;

/// The entry of `meta` with the last row that may have 32-bit floats.
const WIDE_TO: &str = "wide_to";
/// Embeddings moved in one transaction: short enough that no save notices the wait.
const PER_STEP: i64 = 500;

impl Database {
    /// Whether embeddings may have 32-bit floats.
    pub fn can_narrow(&self) -> Result<bool> {
        self.reader()?.exists("SELECT 1 FROM meta WHERE key = ?1", &[WIDE_TO.into()])
    }

    /// Moves the first of them. Bytes that are not a vector of their model stay as they are, for the check of the
    /// database to find.
    pub fn narrow_step(&self) -> Result<()> {
        self.write(|tx| {
            let sql = "SELECT e.id, e.vector, m.dims FROM embeddings e LEFT JOIN models m ON m.id = e.model_id
                 WHERE e.id <= CAST((SELECT value FROM meta WHERE key = ?1) AS INTEGER) ORDER BY e.id LIMIT ?2";
            let first = tx.all(sql, &[WIDE_TO.into(), PER_STEP.into()], |row| {
                let bytes: &[u8] = row.get(1)?;
                let vector = vector_of(bytes, row.get::<Option<i64>>(2)?.unwrap_or(0));
                Ok((row.get::<i64>(0)?, vector.map_or_else(|| bytes.to_vec(), |vector| embedding_bytes(&vector))))
            })?;
            if first.is_empty() {
                return meta::remove(tx, WIDE_TO);
            }
            first.iter().try_for_each(|(id, vector)| move_to_end(tx, *id, vector))
        })
    }
}

/// Moves an embedding to a new row with these bytes.
fn move_to_end(tx: &dyn Tx, id: i64, vector: &[u8]) -> Result<()> {
    let sql = "UPDATE embeddings SET id = (SELECT max(id) + 1 FROM embeddings), vector = ?2 WHERE id = ?1 RETURNING id";
    let moved: i64 = tx.insert(sql, &[id.into(), vector.into()])?;
    for (table, hash) in [("records", "embedding_hash"), ("passages", "hash")] {
        let sql = format!(
            "UPDATE {table} SET embedding_id = ?2 WHERE embedding_id = ?1
                 AND {hash} = (SELECT hash FROM embeddings WHERE id = ?2)"
        );
        tx.execute(&sql, &[id.into(), moved.into()])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, model, new};
    use crate::types::{RecordId, Viewer, embedding};

    const DIMS: usize = 384;
    const TEXTS: usize = 1_200;

    /// A vector of 32-bit floats, which are close to the stored ones, but not equal.
    fn vector(of: usize) -> Vec<f32> {
        let raw: Vec<f32> = (0..DIMS).map(|at| ((of * 31 + at * 17) % 101) as f32 - 50.0).collect();
        raw.iter().map(|number| number / embedding::length(&raw)).collect()
    }

    #[test]
    fn old_wide_embeddings_are_narrowed_and_free_their_space() {
        let store = TestStore::new();
        let made = store.model(&model(DIMS)).unwrap();
        let news: Vec<_> = (0..TEXTS).map(|n| new(&format!("text {n}"))).collect();
        let ids: Vec<RecordId> =
            store.add_batch(&news, NOW).unwrap().into_iter().map(|added| added.unwrap().id).collect();
        let texts = store.pending(made, TEXTS, NOW).unwrap();
        let vectors: Vec<_> = texts.iter().enumerate().map(|(n, text)| (text.hash, vector(n))).collect();
        store.store_embeddings(made, &vectors).unwrap();
        assert!(!store.can_narrow().unwrap(), "a new store has none of 32 bits");

        // As version 7 wrote them. The last one is damaged.
        let conn = rusqlite::Connection::open(store.paths().database()).unwrap();
        for (hash, vector) in &vectors {
            let wide: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
            conn.execute("UPDATE embeddings SET vector = ? WHERE hash = ?", (wide, hash)).unwrap();
        }
        conn.execute("UPDATE embeddings SET vector = x'00' WHERE id = ?", [TEXTS as i64]).unwrap();
        conn.execute("INSERT INTO meta VALUES ('wide_to', ?)", [TEXTS as i64]).unwrap();
        conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let used = || store.number("PRAGMA page_count") - store.number("PRAGMA freelist_count");
        let (before, head) = (used(), store.head().unwrap());
        let wide = store.view().embeddings(made, &ids).unwrap();

        // One that is saved meanwhile is not moved.
        let later = store.add(&new("later"), NOW).unwrap().id;
        let hash = store.pending(made, 1, NOW).unwrap()[0].hash;
        store.narrow_step().unwrap();
        store.store_embeddings(made, &[(hash, vector(0))]).unwrap();
        assert!(store.delete(ids[0], &Viewer::OWNER, NOW).unwrap());
        let mut steps = 1;
        while store.can_narrow().unwrap() {
            store.narrow_step().unwrap();
            steps += 1;
        }
        assert_eq!(steps, 4, "500, 500, 200, and none left");
        assert_eq!(store.number("SELECT count(*) FROM embeddings WHERE length(vector) = 768"), TEXTS as i64 - 1);
        let narrow = store.view().embeddings(made, &ids).unwrap();
        assert_eq!(narrow.len(), TEXTS - 2);
        for (wide, narrow) in wide[1..].iter().zip(&narrow) {
            let product: f32 = wide.1.iter().zip(&narrow.1).map(|(a, b)| a * b).sum();
            let cosine = product / embedding::length(&narrow.1);
            assert!(wide.0 == narrow.0 && (cosine - 1.0).abs() < 1e-5, "{cosine}");
        }
        assert_eq!(store.view().embeddings(made, &[later]).unwrap().len(), 1);
        let damaged = store.integrity().unwrap();
        assert_eq!(damaged.len(), 1, "{damaged:?}");
        assert!(damaged[0].contains("is not a vector of 384 finite numbers"), "{damaged:?}");
        assert!(used() < before * 7 / 10, "{before} pages, now {}", used());
        assert!(store.head().unwrap().since(head) <= 3, "the indexes have nothing to do");
    }
}
