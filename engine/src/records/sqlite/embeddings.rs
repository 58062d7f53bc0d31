//! The store's model, the texts that wait for it or for the next one, and the vectors.

use std::collections::HashSet;
use std::ops::Range;

use rusqlite::{OptionalExtension, Row};

use super::snapshot::Snapshot;
use super::store::Database;
use crate::error::{Error, Result};
use crate::passages::{Passage, PassageKey};
use crate::records::models::{self, NextModel, Pending, Refused};
use crate::records::transaction::{Authority, SelectExt};
use crate::records::{meta, rows};
use crate::text::Hash;
use crate::types::{EmbeddingState, Millis, Model, ModelId, RecordId, embedding_of, of_length_one};

/// The entry of `meta` that is there once another model was suggested to the user.
const SUGGESTED: &str = "model_suggested";

impl Database {
    /// The store's model, which must be this one; `None` while it has none.
    ///
    /// # Errors
    /// [`ModelMismatch`](crate::Error::ModelMismatch) when the store's vectors are another model's.
    pub fn known_model(&self, model: &Model) -> Result<Option<(ModelId, Model)>> {
        models::known(&*self.reader()?, model)
    }

    /// The model that made the store's vectors; `None` while it has had none.
    pub fn current_model(&self) -> Result<Option<(ModelId, Model)>> {
        models::current(&*self.reader()?)
    }

    /// The model that the store is changing to, where it is.
    pub fn next_model(&self) -> Result<Option<(ModelId, Model)>> {
        models::next(&*self.reader()?)
    }

    /// Whether the record `id` has its embeddings. One that does not exist has none.
    pub fn embedding_state(&self, id: RecordId) -> Result<EmbeddingState> {
        let sql = "SELECT 1 FROM records WHERE id = ?1 AND embedding_id IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM passages WHERE record_id = ?1 AND embedding_id IS NULL)";
        let is_ready = self.reader()?.exists(sql, &[id.into()])?;
        Ok(if is_ready { EmbeddingState::Ready } else { EmbeddingState::Pending })
    }

    /// Returns the texts that this model has made no vector of.
    pub fn without_vector(&self, model: ModelId, texts: impl IntoIterator<Item = Hash>) -> Result<HashSet<Hash>> {
        let reader = self.reader()?;
        let sql = "SELECT 1 FROM embeddings WHERE model_id = ?1 AND hash = ?2";
        let mut without = HashSet::new();
        for hash in texts {
            if !reader.exists(sql, &[model.into(), (&hash).into()])? {
                without.insert(hash);
            }
        }
        Ok(without)
    }

    /// The first live records that wait for their embedding, at most `limit`. Of several with one text only the first is
    /// named: its vector serves them all. Empty when none waits.
    ///
    /// # Errors
    /// [`ModelMismatch`](crate::Error::ModelMismatch) when the store's model is not this one.
    pub fn pending(&self, model: ModelId, limit: usize, now: Millis) -> Result<Vec<Pending>> {
        let reader = self.reader()?;
        models::require_current(&*reader, model)?;
        models::pending(&*reader, limit, now)
    }

    /// Whether there are texts that this version of memorist has not cut into passages.
    pub fn has_uncut(&self) -> Result<bool> {
        Ok(models::uncut(&*self.reader()?)?.is_some())
    }

    /// The texts of live records that the store's model refused.
    pub fn refused(&self, now: Millis) -> Result<Vec<Refused>> {
        models::refused(&*self.reader()?, now)
    }

    /// Whether [`Database::note_suggestion`] was called.
    pub fn has_suggested_model(&self) -> Result<bool> {
        self.reader()?.exists("SELECT 1 FROM meta WHERE key = ?1", &[SUGGESTED.into()])
    }

    /// Notes that another model was suggested to the user.
    pub fn note_suggestion(&self) -> Result<()> {
        self.write(|tx| meta::put(tx, SUGGESTED, 1_i64.into()))
    }

    /// The first texts of live records with ids above `after` that the next model has not embedded, at most `limit`, each
    /// once. Empty when the change is done.
    ///
    /// # Errors
    /// [`ModelChanging`](crate::Error::ModelChanging) when the change to another model has begun meanwhile.
    pub fn missing(&self, next: ModelId, after: RecordId, limit: usize, now: Millis) -> Result<Vec<Pending>> {
        let reader = self.reader()?;
        match models::require_next(&*reader, next)? {
            Some(_) => models::missing(&*reader, next, after, limit, now),
            None => Ok(Vec::new()),
        }
    }
}

impl Snapshot {
    /// The store's model, which must be this one.
    ///
    /// # Errors
    /// [`ModelMismatch`](crate::Error::ModelMismatch) when it is another, or none.
    pub fn require_model(&self, model: ModelId) -> Result<Model> {
        models::require_current(self.conn(), model)
    }

    /// The vectors that this model has made of these records, in the order of `ids`, each with its further passages; without
    /// those that have none yet.
    pub fn embeddings(&self, model: ModelId, ids: &[RecordId]) -> Result<Vec<(PassageKey, Vec<f32>)>> {
        let stored = self.stored_embeddings(model, ids)?.into_iter();
        Ok(stored.map(|(key, vector)| (key, of_length_one(vector))).collect())
    }

    /// The vector that this model has made of a record: of its beginning, where the text is long.
    pub fn embedding(&self, model: ModelId, id: RecordId) -> Result<Option<Vec<f32>>> {
        Ok(self.stored_embedding(model, id)?.map(of_length_one))
    }

    /// [`Snapshot::embeddings`] with every bit as it is stored.
    pub(super) fn stored_embeddings(&self, model: ModelId, ids: &[RecordId]) -> Result<Vec<(PassageKey, Vec<f32>)>> {
        let mut statement = self.conn().prepare_cached(
            "SELECT p.number, e.vector, m.dims FROM passages p JOIN embeddings e ON e.hash = p.hash
                 JOIN models m ON m.id = e.model_id
             WHERE p.record_id = ?1 AND e.model_id = ?2 ORDER BY p.number",
        )?;
        let has_passages = self.conn().exists("SELECT 1 FROM passages", &[])?;
        let mut found = Vec::with_capacity(ids.len());
        for &id in ids {
            found.extend(self.stored_embedding(model, id)?.map(|vector| (id.into(), vector)));
            if !has_passages {
                continue;
            }
            let passages = statement.query_and_then((id, model), |row| {
                let key = PassageKey::new(id, rows::to_passage(row, 0)?);
                Ok::<_, Error>(vector(row, 1)?.map(|vector| (key, vector)))
            })?;
            for passage in passages {
                found.extend(passage?);
            }
        }
        Ok(found)
    }

    fn stored_embedding(&self, model: ModelId, id: RecordId) -> Result<Option<Vec<f32>>> {
        let mut statement = self.conn().prepare_cached(
            "SELECT e.vector, m.dims FROM records r JOIN embeddings e ON e.hash = r.embedding_hash
                 JOIN models m ON m.id = e.model_id
             WHERE r.id = ?1 AND e.model_id = ?2",
        )?;
        Ok(statement.query_row((id, model), |row| vector(row, 0)).optional()?.flatten())
    }

    /// The passages of a record after its beginning.
    pub fn passages(&self, id: RecordId) -> Result<Vec<Passage>> {
        models::of_record(self.conn(), id)
    }

    /// The bytes of a passage of a record after its beginning.
    pub fn passage(&self, id: RecordId, number: u8) -> Result<Option<Range<usize>>> {
        if number == 0 {
            return Ok(None);
        }
        Ok(self.passages(id)?.into_iter().find(|passage| passage.number == number).map(|passage| passage.bytes))
    }

    /// How many texts of live records this model has not embedded, and how many bytes they have.
    pub fn to_embed(&self, model: &Model, now: Millis) -> Result<(u64, u64)> {
        let dims = i64::try_from(model.dims).unwrap_or(i64::MAX);
        let (texts, bytes): (i64, i64) = self
            .conn()
            .prepare_cached(
                "SELECT count(*), coalesce(sum(bytes), 0) FROM
                     (SELECT embedding_hash AS hash, octet_length(content) + coalesce(octet_length(context), 0) AS bytes
                      FROM records WHERE expires_at IS NULL OR expires_at > ?1
                      UNION SELECT p.hash, p.ends_at - p.starts_at + coalesce(octet_length(r.context), 0)
                      FROM passages p JOIN records r ON r.id = p.record_id
                      WHERE r.expires_at IS NULL OR r.expires_at > ?1) t
                 WHERE NOT EXISTS (SELECT 1 FROM embeddings e JOIN models m ON m.id = e.model_id
                     WHERE e.hash = t.hash AND (m.weights_sha256, m.pooling, m.dims) = (?2, ?3, ?4))",
            )?
            .query_row((now, &model.weights_sha256, &model.pooling, dims), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok((texts.unsigned_abs(), bytes.unsigned_abs()))
    }

    /// The change of the model that is not finished, where there is one. Looks at every record then.
    pub fn next_model(&self, now: Millis) -> Result<Option<NextModel>> {
        let Some((next, model)) = models::next(self.conn())? else { return Ok(None) };
        let (texts, missing): (i64, i64) = self
            .conn()
            .prepare_cached(
                "SELECT count(*), count(*) FILTER (WHERE NOT EXISTS
                     (SELECT 1 FROM embeddings e WHERE e.model_id = ?1 AND e.hash = t.hash))
                 FROM (SELECT embedding_hash AS hash FROM records WHERE expires_at IS NULL OR expires_at > ?2
                       UNION SELECT p.hash FROM passages p JOIN records r ON r.id = p.record_id
                       WHERE r.expires_at IS NULL OR r.expires_at > ?2) t",
            )?
            .query_row((next, now), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Some(NextModel { model, texts: texts.unsigned_abs(), missing: missing.unsigned_abs() }))
    }
}

/// The vector in this column, whose dimensions are in the next; `None` if it is damaged.
fn vector(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Vec<f32>>> {
    let dims = usize::try_from(row.get::<_, i64>(column + 1)?).unwrap_or(0);
    Ok(embedding_of(row.get_ref(column)?.as_blob()?, dims))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, model, new};
    use crate::error::Error;
    use crate::records::NextModel;
    use crate::records::rules::next_model;
    use crate::types::EmbeddingState;

    #[test]
    fn texts_vectors_and_models_are_read() {
        let store = TestStore::new();
        assert_eq!(store.current_model().unwrap(), None);
        assert!(matches!(store.pending(1.into(), 1, NOW), Err(Error::ModelMismatch { .. })));
        let old = store.model(&model(2)).unwrap();
        assert_eq!(store.model(&model(2)).unwrap(), old);
        assert!(matches!(store.known_model(&model(3)), Err(Error::ModelMismatch { .. })));
        let ids = ["one", "two", "three"].map(|text| store.add(&new(text), NOW).unwrap().id);
        let texts = store.pending(old, 2, NOW).unwrap();
        assert_eq!(texts.iter().map(|text| text.text.as_str()).collect::<Vec<_>>(), ["one", "two"]);
        store.store_embeddings(old, &[(texts[1].hash, vec![0.0, 1.0])]).unwrap();
        assert_eq!(ids.map(|id| store.embedding_state(id).unwrap() == EmbeddingState::Ready), [false, true, false]);
        assert_eq!(
            store.view().embeddings(old, &[99.into(), ids[1], ids[0]]).unwrap(),
            [(ids[1].into(), vec![0.0, 1.0])]
        );

        let next = next_model::begin_next_model(&*store, &model(3)).unwrap().unwrap();
        next_model::store_next(&*store, next, &[(texts[0].hash, vec![1.0; 3])]).unwrap();
        assert_eq!(store.view().to_embed(&model(3), NOW).unwrap(), (2, 8), "two, three");
        assert_eq!(store.view().to_embed(&model(2), NOW).unwrap(), (2, 8), "one, three");
        let missing = store.missing(next, ids[0], 9, NOW).unwrap();
        assert_eq!(missing.iter().map(|text| text.record_id).collect::<Vec<_>>(), ids[1..]);
        let unfinished = NextModel { model: model(3), texts: 3, missing: 2 };
        assert_eq!(store.view().next_model(NOW).unwrap(), Some(unfinished));
        assert!(!next_model::change_model(&*store, next, None, 1, NOW).unwrap(), "two are missing");
        assert!(next_model::change_model(&*store, next, None, 2, NOW).unwrap());
        assert_eq!(store.current_model().unwrap(), Some((next, model(3))));
        assert_eq!(
            (store.missing(next, 0.into(), 9, NOW).unwrap(), store.view().next_model(NOW).unwrap()),
            (vec![], None)
        );
        assert!(matches!(store.view().require_model(old), Err(Error::ModelMismatch { .. })));
    }
}
