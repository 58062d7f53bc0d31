//! The store's embedding model, the texts that wait for a vector, and the vectors.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Rows, ToSql, Transaction};

use super::log::{self, Change};
use super::{Records, Snapshot};
use crate::error::{Error, Result};
use crate::text::{self, Hash};
use crate::types::{EmbeddingState, Millis, Model, RecordId};

/// The row of a model in this store.
pub type ModelId = i64;

/// A live record that waits for its embedding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The record.
    pub record_id: RecordId,
    /// The key under which the vector of `text` is to be stored.
    pub hash: Hash,
    /// What is to be embedded.
    pub text: String,
}

impl Records {
    /// The row of this model. The first model a store meets becomes the store's own.
    ///
    /// # Errors
    /// [`Error::ModelMismatch`] when the store's vectors are another model's.
    pub fn model(&self, model: &Model) -> Result<ModelId> {
        if let Some((id, _)) = self.known_model(model)? {
            return Ok(id);
        }
        self.write(|tx| {
            if let Some((id, _)) = known(tx, model)? {
                return Ok(id); // another process was first
            }
            let id = row_of(tx, model)?;
            tx.execute("INSERT INTO meta VALUES ('model', ?)", [id])?;
            Ok(id)
        })
    }

    /// The store's model, which must be this one; `None` while it has none.
    ///
    /// # Errors
    /// [`Error::ModelMismatch`] when the store's vectors are another model's.
    pub fn known_model(&self, model: &Model) -> Result<Option<(ModelId, Model)>> {
        known(&*self.reader()?, model)
    }

    /// The model that made the store's vectors; `None` while it has had none.
    pub fn current_model(&self) -> Result<Option<(ModelId, Model)>> {
        current(&*self.reader()?)
    }

    /// Whether the record `id` has its embedding. One that does not exist has none.
    pub fn embedding_state(&self, id: RecordId) -> Result<EmbeddingState> {
        let reader = self.reader()?;
        let mut statement = reader.prepare_cached("SELECT embedding_id IS NOT NULL FROM records WHERE id = ?")?;
        let is_ready = statement.query_row([id], |row| row.get::<_, bool>(0)).optional()?;
        Ok(if is_ready == Some(true) { EmbeddingState::Ready } else { EmbeddingState::Pending })
    }

    /// The first live records that wait for their embedding, at most `limit`. Of several with one text only the first is
    /// named: its vector serves them all. Empty when none waits.
    pub fn pending(&self, model: ModelId, limit: usize, now: Millis) -> Result<Vec<Pending>> {
        let reader = self.reader()?;
        require_current(&reader, model)?;
        let mut statement = reader.prepare_cached(
            "SELECT id, embedding_hash, context, content FROM records
             WHERE embedding_id IS NULL AND (expires_at IS NULL OR expires_at > ?) ORDER BY id",
        )?;
        each_text_once(statement.query([now])?, limit)
    }

    /// Stores the vectors of texts, each under the hash that [`Records::pending`] gave for it, and logs
    /// [`Change::Embed`] for every record that waited for one of them. Returns how many did. A vector that no record
    /// wants any more is dropped.
    ///
    /// # Errors
    /// [`Error::Embedding`], and nothing is stored, when a vector has other dimensions than the model's or holds a
    /// number that is not finite.
    pub fn store_embeddings(&self, model: ModelId, embeddings: &[(Hash, Vec<f32>)]) -> Result<usize> {
        self.write(|tx| {
            let dims = require_current(tx, model)?.dims;
            let mut ready = 0;
            for (hash, vector) in embeddings {
                check_vector(vector, dims)?;
                ready += store(tx, model, hash, vector)?;
            }
            Ok(ready)
        })
    }
}

impl Snapshot {
    /// The store's model, which must be this one.
    ///
    /// # Errors
    /// [`Error::ModelMismatch`] when it is another, or none.
    pub fn require_model(&self, model: ModelId) -> Result<Model> {
        require_current(self.conn(), model)
    }

    /// The vectors that this model has made of the texts of these records, in the order asked, without those that have
    /// none yet.
    pub fn embeddings(&self, model: ModelId, ids: &[RecordId]) -> Result<Vec<(RecordId, Vec<f32>)>> {
        let mut statement = self.conn().prepare_cached(
            "SELECT e.vector FROM records r JOIN embeddings e ON e.hash = r.embedding_hash
             WHERE r.id = ?1 AND e.model_id = ?2",
        )?;
        let mut found = Vec::with_capacity(ids.len());
        for &id in ids {
            let vector =
                statement.query_row((id, model), |row| Ok(from_bytes(row.get_ref(0)?.as_blob()?))).optional()?;
            found.extend(vector.map(|vector| (id, vector)));
        }
        Ok(found)
    }
}

/// The waiting texts that a query gives (record, hash, context, content), at most `limit`, each once.
pub(super) fn each_text_once(rows: Rows<'_>, limit: usize) -> Result<Vec<Pending>> {
    let mut seen = HashSet::new();
    let texts = rows.mapped(|row| {
        let context = row.get_ref(2)?.as_str_or_null()?;
        let text = text::embedding_text(context, row.get_ref(3)?.as_str()?);
        Ok(Pending { record_id: row.get(0)?, hash: row.get(1)?, text })
    });
    texts
        .filter(|found| found.as_ref().map_or(true, |found| seen.insert(found.hash)))
        .take(limit)
        .map(|found| Ok(found?))
        .collect()
}

pub(super) fn check_vector(vector: &[f32], dims: usize) -> Result<()> {
    if vector.len() != dims {
        return Err(Error::Embedding(format!("it gave {} numbers where {dims} belong", vector.len())));
    }
    if vector.iter().any(|number| !number.is_finite()) {
        return Err(Error::Embedding("it gave a vector with a number that is not finite".into()));
    }
    Ok(())
}

/// Stores the vector of a text that a record is about to have.
pub(super) fn store_ahead(tx: &Transaction<'_>, model: ModelId, hash: &Hash, vector: &[f32]) -> Result<()> {
    if find(tx, hash)?.is_none() && store(tx, model, hash, vector)? == 0 {
        insert(tx, model, hash, vector)?;
    }
    Ok(())
}

fn insert(tx: &Transaction<'_>, model: ModelId, hash: &Hash, vector: &[f32]) -> Result<i64> {
    tx.prepare_cached("INSERT INTO embeddings (model_id, hash, vector) VALUES (?, ?, ?)")?.execute((
        model,
        hash,
        to_bytes(vector),
    ))?;
    Ok(tx.last_insert_rowid())
}

fn store(tx: &Transaction<'_>, model: ModelId, hash: &Hash, vector: &[f32]) -> Result<usize> {
    let mut statement =
        tx.prepare_cached("SELECT id FROM records WHERE embedding_hash = ? AND embedding_id IS NULL ORDER BY id")?;
    let waiting = statement.query_map([hash], |row| row.get(0))?.collect::<rusqlite::Result<Vec<RecordId>>>()?;
    if waiting.is_empty() {
        return Ok(0);
    }
    let embedding_id = insert(tx, model, hash, vector)?;
    for &id in &waiting {
        tx.prepare_cached("UPDATE records SET embedding_id = ? WHERE id = ?")?.execute((embedding_id, id))?;
        log::append(tx, id, &Change::Embed { model })?;
    }
    Ok(waiting.len())
}

/// The row of the embedding that the store's model has made of the text with this hash.
pub(super) fn find(tx: &Transaction<'_>, hash: &Hash) -> Result<Option<i64>> {
    let mut statement = tx.prepare_cached(
        "SELECT id FROM embeddings WHERE model_id = (SELECT value FROM meta WHERE key = 'model') AND hash = ?",
    )?;
    Ok(statement.query_row([hash], |row| row.get(0)).optional()?)
}

/// Drops the embeddings of a text that no record and no version has any more.
pub(super) fn remove_unused(tx: &Transaction<'_>, hash: &Hash) -> Result<()> {
    tx.prepare_cached(
        "DELETE FROM embeddings WHERE hash = ?1 AND model_id IN (SELECT id FROM models)
             AND NOT EXISTS (SELECT 1 FROM records WHERE embedding_hash = ?1)
             AND NOT EXISTS (SELECT 1 FROM versions WHERE embedding_hash = ?1)",
    )?
    .execute([hash])?;
    Ok(())
}

/// The store's model, which must be `model`; `None` while it has none.
fn known(conn: &Connection, model: &Model) -> Result<Option<(ModelId, Model)>> {
    match current(conn)? {
        Some((_, stored)) if !stored.is_comparable_to(model) => {
            Err(mismatch(stored.describe(), model.describe(), WAYS_OUT))
        }
        stored => Ok(stored),
    }
}

/// The row of `model`, made where it has none.
pub(super) fn row_of(tx: &Transaction<'_>, model: &Model) -> Result<ModelId> {
    let dims = i64::try_from(model.dims).unwrap_or(i64::MAX);
    tx.execute(
        "INSERT INTO models (name, weights_sha256, pooling, dims) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (&model.name, &model.weights_sha256, &model.pooling, dims),
    )?;
    let same = "SELECT id FROM models WHERE weights_sha256 = ? AND pooling = ? AND dims = ?";
    Ok(tx.query_row(same, (&model.weights_sha256, &model.pooling, dims), |row| row.get(0))?)
}

/// The store's model.
pub(super) fn current(conn: &Connection) -> Result<Option<(ModelId, Model)>> {
    named_by(conn, "model")
}

/// The model that an entry of `meta` names.
pub(super) fn named_by(conn: &Connection, key: &str) -> Result<Option<(ModelId, Model)>> {
    model_where(conn, "id = (SELECT value FROM meta WHERE key = ?)", key)
}

fn model_where(conn: &Connection, condition: &str, value: impl ToSql) -> Result<Option<(ModelId, Model)>> {
    let sql = format!("SELECT id, name, weights_sha256, pooling, dims FROM models WHERE {condition}");
    let model = conn.prepare_cached(&sql)?.query_row([value], |row| {
        let dims = usize::try_from(row.get::<_, i64>(4)?).unwrap_or(0);
        let model = Model { name: row.get(1)?, weights_sha256: row.get(2)?, pooling: row.get(3)?, dims };
        Ok((row.get(0)?, model))
    });
    Ok(model.optional()?)
}

const WAYS_OUT: &str = "Name the store's model in the setting `model`, or change the store to the one at hand \
                                   with `memorist reembed`.";

fn require_current(conn: &Connection, model: ModelId) -> Result<Model> {
    match current(conn)? {
        Some((id, stored)) if id == model => Ok(stored),
        stored => Err(not_of_the_store(conn, stored, model, WAYS_OUT)?),
    }
}

/// The refusal of `model`, where the store's is `stored`.
pub(super) fn not_of_the_store(
    conn: &Connection,
    stored: Option<(ModelId, Model)>,
    model: ModelId,
    way_out: &str,
) -> Result<Error> {
    let describe =
        |found: Option<(ModelId, Model)>, or: &str| found.map_or(or.to_owned(), |(_, model)| model.describe());
    let offered = model_where(conn, "id = ?", model)?;
    Ok(mismatch(describe(stored, "no model yet"), describe(offered, "an unknown one"), way_out))
}

fn mismatch(stored: String, offered: String, way_out: &str) -> Error {
    Error::ModelMismatch { stored, offered, way_out: way_out.to_owned() }
}

pub(super) fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub(super) fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers.iter().map(|&number| f32::from_le_bytes(number)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, Store, model, new};
    use super::*;
    use crate::types::{EmbeddingState, NewRecord, RecordUpdate, Scope, Viewer};

    fn embed_all(store: &Store, model: ModelId) -> usize {
        let pending = store.pending(model, 1_000, NOW).unwrap();
        // A vector that tells its text: all numbers its length.
        let vectors: Vec<_> = pending.iter().map(|p| (p.hash, vec![p.text.len() as f32; 3])).collect();
        store.store_embeddings(model, &vectors).unwrap()
    }

    /// R18, E11: the store keeps the identity of its model.
    #[test]
    fn the_first_model_is_the_store_s_and_another_is_refused() {
        let store = Store::new();
        assert_eq!(store.current_model().unwrap(), None);
        assert!(matches!(store.pending(1, 1, NOW), Err(Error::ModelMismatch { .. })));
        let id = store.model(&model(3)).unwrap();
        assert_eq!(store.model(&model(3)).unwrap(), id);
        assert_eq!(store.model(&Model { name: "renamed".into(), ..model(3) }).unwrap(), id, "a name is only a name");
        assert_eq!(store.current_model().unwrap(), Some((id, model(3))));
        for other in [
            model(4),
            Model { pooling: "cls".into(), ..model(3) },
            Model { weights_sha256: "f".repeat(64), ..model(3) },
        ] {
            let error = store.model(&other).unwrap_err();
            assert!(matches!(error, Error::ModelMismatch { .. }));
            assert!(error.to_string().contains("`memorist reembed`"), "{error}");
        }
        assert!(matches!(store.store_embeddings(id + 1, &[]), Err(Error::ModelMismatch { .. })));
    }

    #[test]
    fn texts_wait_until_their_vector_is_stored() {
        let store = Store::new();
        let model = store.model(&model(3)).unwrap();
        let in_context = NewRecord { context: Some("asked".into()), ..new("dark") };
        let first = store.add(&in_context, NOW).unwrap();
        assert_eq!(first.embedding, EmbeddingState::Pending);
        let pending = store.pending(model, 10, NOW).unwrap();
        assert_eq!(
            pending,
            [Pending {
                record_id: first.id,
                hash: text::embedding_hash(Some("asked"), "dark"),
                text: "asked\ndark".into(),
            }]
        );
        let before = store.head().unwrap();
        assert_eq!(embed_all(&store, model), 1);
        assert_eq!(store.pending(model, 10, NOW).unwrap(), []);
        let snapshot = store.snapshot().unwrap();
        assert_eq!(snapshot.embeddings(model, &[99, first.id]).unwrap(), [(first.id, vec![10.0; 3])]);
        assert_eq!(snapshot.embeddings(model + 1, &[first.id]).unwrap(), []);
        let log: Vec<_> =
            snapshot.tail(before, usize::MAX).unwrap().into_iter().map(|e| (e.record_id, e.change)).collect();
        assert_eq!(log, [(first.id, Change::Embed { model })]);
        assert_eq!(store.add(&in_context, NOW).unwrap().embedding, EmbeddingState::Ready);
    }

    #[test]
    fn equal_texts_are_embedded_once() {
        let store = Store::new();
        let model = store.model(&model(3)).unwrap();
        let of =
            |project: &str| NewRecord { scope: Scope { agent: None, project: Some(project.into()) }, ..new("same") };
        let one = store.add(&of("one"), NOW).unwrap().id;
        let two = store.add(&of("two"), NOW).unwrap().id;
        assert_eq!(store.pending(model, 10, NOW).unwrap().len(), 1);
        assert_eq!(embed_all(&store, model), 2);
        let three = store.add(&of("three"), NOW).unwrap();
        assert_eq!(three.embedding, EmbeddingState::Ready);
        let snapshot = store.snapshot().unwrap();
        assert_eq!(snapshot.embeddings(model, &[one, two, three.id]).unwrap().len(), 3);
        assert_eq!(snapshot.counts(NOW).unwrap().embeddings, 1);
    }

    #[test]
    fn a_wrong_vector_is_refused_with_its_whole_batch() {
        let store = Store::new();
        let model = store.model(&model(3)).unwrap();
        store.add(&new("text"), NOW).unwrap();
        let hash = store.pending(model, 1, NOW).unwrap()[0].hash;
        let good = (hash, vec![1.0, 0.0, 0.0]);
        for bad in [vec![1.0; 2], vec![1.0; 4], vec![], vec![f32::NAN; 3], vec![1.0, f32::INFINITY, 0.0]] {
            let error = store.store_embeddings(model, &[good.clone(), (hash, bad)]).unwrap_err();
            assert!(matches!(error, Error::Embedding(_)), "{error}");
            assert_eq!(store.pending(model, 1, NOW).unwrap().len(), 1);
        }
    }

    #[test]
    fn the_vector_of_a_text_that_is_gone_is_dropped() {
        let store = Store::new();
        let model = store.model(&model(3)).unwrap();
        let id = store.add(&new("fleeting"), NOW).unwrap().id;
        let hash = store.pending(model, 1, NOW).unwrap()[0].hash;
        store.delete(id, &Viewer::OWNER).unwrap();
        assert_eq!(store.store_embeddings(model, &[(hash, vec![0.0; 3])]).unwrap(), 0);
        assert_eq!(store.snapshot().unwrap().counts(NOW).unwrap().embeddings, 0);
    }

    #[test]
    fn an_expired_record_does_not_wait() {
        let store = Store::new();
        let model = store.model(&model(3)).unwrap();
        store.add(&NewRecord { expires_at: Some(NOW + 5), ..new("brief") }, NOW).unwrap();
        assert_eq!(store.pending(model, 1, NOW + 4).unwrap().len(), 1);
        assert_eq!(store.pending(model, 1, NOW + 5).unwrap(), []);
    }

    #[test]
    fn going_back_to_an_earlier_text_finds_its_vector() {
        let store = Store::new();
        let model = store.model(&model(3)).unwrap();
        let id = store.add(&new("first"), NOW).unwrap().id;
        embed_all(&store, model);
        let to = |text: &str| RecordUpdate { content: Some(text.into()), ..Default::default() };
        store.update(id, &to("the second"), &Viewer::OWNER, NOW).unwrap();
        assert_eq!(store.snapshot().unwrap().embeddings(model, &[id]).unwrap(), [], "not the vector of the old text");
        assert_eq!(embed_all(&store, model), 1);
        store.update(id, &to("first"), &Viewer::OWNER, NOW).unwrap();
        assert_eq!(store.pending(model, 1, NOW).unwrap(), []);
        assert_eq!(store.snapshot().unwrap().embeddings(model, &[id]).unwrap(), [(id, vec![5.0; 3])]);
        store.delete(id, &Viewer::OWNER).unwrap();
        assert_eq!(store.snapshot().unwrap().counts(NOW).unwrap().embeddings, 0);
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    }
}
