//! The store's model, and the vectors of texts: one for each text, whoever has it.

use super::log::append;
use super::refused;
use crate::error::{Error, Result};
use crate::records::log::Change;
use crate::records::models;
use crate::records::transaction::{Authority, SelectExt, Tx};
use crate::text::Hash;
use crate::types::embedding::LARGEST;
use crate::types::{Model, ModelId, RecordId, embedding_bytes};

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

/// Stores the vectors of texts. Returns how many records waited for them.
pub(crate) fn store_embeddings(
    authority: &impl Authority,
    model: ModelId,
    embeddings: &[(Hash, Vec<f32>)],
) -> Result<usize> {
    authority.write(|tx| {
        let dims = models::require_current(tx, model)?.dims;
        let mut ready = 0;
        for (hash, vector) in embeddings {
            check_vector(vector, dims)?;
            ready += store(tx, model, hash, vector)?;
        }
        Ok(ready)
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

/// Stores the vector of a text that a record is about to have.
pub(super) fn store_ahead(tx: &dyn Tx, model: ModelId, hash: &Hash, vector: &[f32]) -> Result<()> {
    if find(tx, hash)?.is_none() && store(tx, model, hash, vector)? == 0 {
        insert(tx, model, hash, vector)?;
    }
    Ok(())
}

fn insert(tx: &dyn Tx, model: ModelId, hash: &Hash, vector: &[f32]) -> Result<i64> {
    let sql = "INSERT INTO embeddings (model_id, hash, vector) VALUES (?1, ?2, ?3) RETURNING id";
    tx.insert(sql, &[model.into(), hash.into(), (&embedding_bytes(vector)).into()])
}

/// Stores a vector for the records that wait for it, and logs each of them. Returns how many.
fn store(tx: &dyn Tx, model: ModelId, hash: &Hash, vector: &[f32]) -> Result<usize> {
    let sql = "SELECT id FROM records WHERE embedding_hash = ?1 AND embedding_id IS NULL ORDER BY id";
    let waiting: Vec<RecordId> = tx.all(sql, &[hash.into()], |row| row.get(0))?;
    if waiting.is_empty() {
        return Ok(0);
    }
    let embedding_id = insert(tx, model, hash, vector)?;
    for &id in &waiting {
        tx.execute("UPDATE records SET embedding_id = ?1 WHERE id = ?2", &[embedding_id.into(), id.into()])?;
        append(tx, id, &Change::Embed { model })?;
    }
    Ok(waiting.len())
}

/// The row of the embedding that the store's model has made of the text with this hash.
pub(super) fn find(tx: &dyn Tx, hash: &Hash) -> Result<Option<i64>> {
    let sql = "SELECT id FROM embeddings WHERE model_id = (SELECT value FROM meta WHERE key = 'model') AND hash = ?1";
    tx.first(sql, &[hash.into()], |row| row.get(0))
}

/// Drops the embeddings of a text that no record and no version has any more.
pub(super) fn remove_unused(tx: &dyn Tx, hash: &Hash) -> Result<()> {
    let sql = "DELETE FROM embeddings WHERE hash = ?1 AND model_id IN (SELECT id FROM models)
         AND NOT EXISTS (SELECT 1 FROM records WHERE embedding_hash = ?1)
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
