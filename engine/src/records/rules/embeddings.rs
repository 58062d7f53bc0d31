//! The store's model, and the vectors of texts: one for each text, in whatever scope.

use std::collections::{BTreeSet, HashMap};

use super::log::append;
use super::refused;
use crate::error::{Error, Result};
use crate::records::log::Change;
use crate::records::models;
use crate::records::transaction::{Authority, SelectExt, Tx};
use crate::text::Hash;
use crate::types::embedding::LARGEST;
use crate::types::{Model, ModelId, RecordId, embedding_bytes, embedding_of};

/// The largest difference of a number in two vectors of one text: some roundings to 16 bits.
const ALIKE: f32 = 2e-3;

/// Vectors that a model has made of texts, by the hashes of the texts.
pub type Vectors = (ModelId, HashMap<Hash, Vec<f32>>);

const INSERT: &str = "INSERT INTO embeddings (model_id, hash, vector) VALUES (?1, ?2, ?3)";

/// Before a hash: the row of the embedding that the store's model has made of its text.
pub(super) const WITH_HASH: &str = "SELECT id FROM embeddings
     WHERE model_id = (SELECT CAST(value AS BIGINT) FROM meta WHERE key = 'model') AND hash =";

/// Makes `model` the store's own where it has none yet. Returns its row.
pub(crate) fn adopt_model(authority: &impl Authority, model: &Model) -> Result<ModelId> {
    authority.write(|tx| {
        if let Some((id, _)) = models::known(tx, model)? {
            return Ok(id); // another process was first
        }
        let id = row_of(tx, model)?;
        // Not over another: that one is damage.
        tx.execute("INSERT INTO meta (key, value) VALUES ('model', ?1)", &[id.into()])?;
        Ok(id)
    })
}

/// Stores the vectors of texts, each under its hash, and logs [`Change::Embed`] once for every record that waited for some of
/// them. Returns how many did. A vector that no record wants any more is dropped.
///
/// # Errors
/// [`Error::Embedding`], and nothing is stored, if a vector has other dimensions than the model's, or a number that is not
/// finite.
pub(crate) fn store_embeddings(
    authority: &impl Authority,
    model: ModelId,
    embeddings: &[(Hash, Vec<f32>)],
) -> Result<usize> {
    authority.write(|tx| {
        let dims = models::require_current(tx, model)?.dims;
        let mut ready = BTreeSet::new();
        for (hash, vector) in embeddings {
            check_vector(vector, dims)?;
            ready.extend(store(tx, model, hash, vector)?);
        }
        log_embedded(tx, model, &ready)?;
        Ok(ready.len())
    })
}

/// Checks a vector that a model has made.
pub(super) fn check_vector(vector: &[f32], dims: usize) -> Result<()> {
    if vector.len() != dims {
        return Err(Error::bad_vector(format!("it gave {} numbers where {dims} belong", vector.len())));
    }
    if !vector.iter().all(|number| number.abs() <= LARGEST) {
        return Err(Error::bad_vector("it gave a vector with a number that is not finite, or is too large"));
    }
    Ok(())
}

/// The vector of a text among `vectors`, if the store's model made it. Without it, the text waits for the worker.
pub(super) fn fitting<'a>(
    tx: &dyn Tx,
    vectors: Option<&'a Vectors>,
    hash: &Hash,
) -> Result<Option<(ModelId, &'a [f32])>> {
    let Some((model, vectors)) = vectors else { return Ok(None) };
    let Some(vector) = vectors.get(hash) else { return Ok(None) };
    match models::require_current(tx, *model).and_then(|model| check_vector(vector, model.dims)) {
        Ok(()) => Ok(Some((*model, vector.as_slice()))),
        Err(Error::ModelMismatch { .. } | Error::Embedding(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Stores the vector of a text that a record is about to have.
pub(super) fn store_ahead(tx: &dyn Tx, model: ModelId, hash: &Hash, vector: &[f32]) -> Result<()> {
    if find(tx, hash)?.is_some() {
        return Ok(());
    }
    if store_waited_for(tx, model, hash, vector)?.is_empty() {
        tx.queue(INSERT, &[model.into(), hash.into(), (&embedding_bytes(vector)).into()])?;
    }
    Ok(())
}

/// Stores a vector if records wait for it. Returns them.
pub(super) fn store_waited_for(tx: &dyn Tx, model: ModelId, hash: &Hash, vector: &[f32]) -> Result<BTreeSet<RecordId>> {
    let waited = store(tx, model, hash, vector)?;
    log_embedded(tx, model, &waited)?;
    Ok(waited)
}

/// Stores the vector that a program has made of a text which the record `own` has, or which one is about to get. There is one
/// vector for each text: a vector that only `own` has is replaced.
///
/// # Errors
/// [`Error::Invalid`], and nothing was changed, if another record has the text with another vector.
pub(super) fn store_own(tx: &dyn Tx, model: ModelId, hash: &Hash, vector: &[f32], own: Option<RecordId>) -> Result<()> {
    let dims = models::require_current(tx, model)?.dims;
    check_vector(vector, dims)?;
    let sql = "SELECT vector FROM embeddings WHERE model_id = ?1 AND hash = ?2";
    let stored = tx.first(sql, &[model.into(), hash.into()], |row| Ok(row.get::<&[u8]>(0)?.to_vec()))?;
    let Some(stored) = stored else { return store_ahead(tx, model, hash, vector) };
    if embedding_of(&stored, dims).is_some_and(|stored| are_alike(&stored, vector)) {
        return Ok(());
    }
    let own_id = own.unwrap_or_else(|| 0.into());
    let others = "SELECT id FROM records WHERE embedding_hash = ?1 AND id <> ?2
         UNION SELECT record_id FROM passages WHERE hash = ?1 ORDER BY 1";
    let other: Option<RecordId> = tx.first(others, &[hash.into(), own_id.into()], |row| row.get(0))?;
    if let Some(other) = other {
        let why = format!(
            "memory {other} has this text with another vector, and a text has one vector: update that memory, or, in \
             another project or session, give this one its own context"
        );
        return Err(Error::invalid("embedding", why));
    }
    // A store of a team lets nobody remove a vector that is in use.
    let sql = "DELETE FROM embeddings WHERE model_id = ?1 AND hash = ?2";
    if tx.execute(sql, &[model.into(), hash.into()])? == 0 {
        return Err(Error::invalid("embedding", "the vector of a text is not changed in the store of a team"));
    }
    let id = insert(tx, model, hash, vector)?;
    let Some(own) = own else { return Ok(()) };
    let sql = "UPDATE records SET embedding_id = ?1 WHERE id = ?2 AND embedding_hash = ?3";
    tx.execute(sql, &[id.into(), own.into(), hash.into()])?;
    append(tx, own, &Change::Embed { model })
}

/// Whether two vectors of length 1 are the same but for rounding: models differ a little from batch to batch.
fn are_alike(one: &[f32], other: &[f32]) -> bool {
    one.iter().zip(other).all(|(one, other)| (one - other).abs() < ALIKE)
}

fn log_embedded(tx: &dyn Tx, model: ModelId, records: &BTreeSet<RecordId>) -> Result<()> {
    records.iter().try_for_each(|&id| append(tx, id, &Change::Embed { model }))
}

fn insert(tx: &dyn Tx, model: ModelId, hash: &Hash, vector: &[f32]) -> Result<i64> {
    tx.insert(&format!("{INSERT} RETURNING id"), &[model.into(), hash.into(), (&embedding_bytes(vector)).into()])
}

/// Stores a vector for the records that wait for it, with their text or with a passage of it. Returns them.
fn store(tx: &dyn Tx, model: ModelId, hash: &Hash, vector: &[f32]) -> Result<BTreeSet<RecordId>> {
    let [whole, parts] = waiting(tx, hash)?;
    if whole.is_empty() && parts.is_empty() {
        return Ok(BTreeSet::new());
    }
    let embedding_id = insert(tx, model, hash, vector)?.into();
    for &id in &whole {
        tx.queue("UPDATE records SET embedding_id = ?1 WHERE id = ?2", &[embedding_id, id.into()])?;
    }
    if !parts.is_empty() {
        tx.queue("UPDATE passages SET embedding_id = ?1 WHERE hash = ?2", &[embedding_id, hash.into()])?;
    }
    Ok(whole.into_iter().chain(parts).collect())
}

/// The records that wait for the vector of a text: those that have it, and those with such a passage.
pub(super) fn waiting(tx: &dyn Tx, hash: &Hash) -> Result<[Vec<RecordId>; 2]> {
    let whole = "SELECT id FROM records WHERE embedding_hash = ?1 AND embedding_id IS NULL ORDER BY id";
    let passages = "SELECT record_id FROM passages WHERE hash = ?1 AND embedding_id IS NULL";
    Ok([tx.all(whole, &[hash.into()], |row| row.get(0))?, tx.all(passages, &[hash.into()], |row| row.get(0))?])
}

/// The row of the embedding that the store's model has made of the text with this hash.
pub(super) fn find(tx: &dyn Tx, hash: &Hash) -> Result<Option<i64>> {
    tx.first(&format!("{WITH_HASH} ?1"), &[hash.into()], |row| row.get(0))
}

/// Drops the embeddings of a text that no record, no passage and no version has any more.
pub(super) fn remove_unused(tx: &dyn Tx, hash: &Hash) -> Result<()> {
    let sql = "DELETE FROM embeddings WHERE hash = ?1 AND model_id IN (SELECT id FROM models)
         AND NOT EXISTS (SELECT 1 FROM records WHERE embedding_hash = ?1)
         AND NOT EXISTS (SELECT 1 FROM passages WHERE hash = ?1)
         AND NOT EXISTS (SELECT 1 FROM versions WHERE embedding_hash = ?1)";
    tx.execute(sql, &[hash.into()])?;
    refused::forget(tx, hash)
}

/// The row of `model`, made where it has none.
pub(super) fn row_of(tx: &dyn Tx, model: &Model) -> Result<ModelId> {
    let dims = i64::try_from(model.dims).unwrap_or(i64::MAX);
    let (name, weights, pooling) = (&model.name, &model.weights_sha256, &model.pooling);
    tx.execute(
        "INSERT INTO models (name, weights_sha256, pooling, dims) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
        &[name.into(), weights.into(), pooling.into(), dims.into()],
    )?;
    let sql = "SELECT id FROM models WHERE weights_sha256 = ?1 AND pooling = ?2 AND dims = ?3";
    let id = tx.first(sql, &[weights.into(), pooling.into(), dims.into()], |row| row.get(0))?;
    id.ok_or_else(|| Error::unreadable("a model is missing that was written just now"))
}
