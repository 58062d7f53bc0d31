//! The change to another model: its embeddings are gathered beside those in use, and replace them in one transaction.
//! Until then the model in use serves as before, new texts included.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use roaring::RoaringTreemap;

use super::embeddings;
use super::log::append;
use super::refused;
use crate::error::Result;
use crate::passages::PassageKey;
use crate::records::log::Change;
use crate::records::rows;
use crate::records::transaction::{Authority, Tx};
use crate::records::{meta, models};
use crate::text::Hash;
use crate::types::{Millis, Model, ModelId, RecordId, embedding_bytes};

/// This many texts may lack their vector when the model is changed: those written in the last moments wait for it as
/// every new text does. Writers that never rest must not keep the change from happening.
pub const MAX_UNEMBEDDED_AT_SWITCH: usize = 32;

/// Begins the change to `model`, or continues it. `None` when there is nothing to change.
pub(crate) fn begin_next_model(authority: &impl Authority, model: &Model) -> Result<Option<ModelId>> {
    authority.write(|tx| {
        let Some((current, stored)) = models::current(tx)? else { return Ok(None) };
        let next = if stored.is_comparable_to(model) { None } else { Some(embeddings::row_of(tx, model)?) };
        match next {
            Some(next) => meta::put(tx, "next_model", next.into())?,
            None => meta::remove(tx, "next_model")?,
        }
        drop_others(tx, current, next.unwrap_or(current))?;
        Ok(next)
    })
}

/// Stores vectors of the next model, beside those in use. One of a text that is gone is dropped.
///
/// # Errors
/// As [`change_model`]; [`Embedding`](crate::Error::Embedding) if a vector does not fit.
pub(crate) fn store_next(authority: &impl Authority, next: ModelId, vectors: &[(Hash, Vec<f32>)]) -> Result<()> {
    let sql = "INSERT INTO embeddings (model_id, hash, vector) SELECT ?1, ?2, ?3
         WHERE EXISTS (SELECT 1 FROM records WHERE embedding_hash = ?2)
             OR EXISTS (SELECT 1 FROM passages WHERE hash = ?2)
             OR EXISTS (SELECT 1 FROM versions WHERE embedding_hash = ?2)
         ON CONFLICT DO NOTHING";
    authority.write(|tx| {
        let Some(model) = models::require_next(tx, next)? else { return Ok(()) };
        for (hash, vector) in vectors {
            embeddings::check_vector(vector, model.dims)?;
            tx.execute(sql, &[next.into(), hash.into(), (&embedding_bytes(vector)).into()])?;
        }
        Ok(())
    })
}

/// Makes the next model the store's, and drops the embeddings of the one before. Returns false while more texts than
/// `most_missing` lack their vector. `indexed` are the keys that the vector index of the next model has: [`Change::Embed`] is
/// logged for the records that have another vector. Without such an index nothing is logged.
///
/// # Errors
/// [`ModelChanging`](crate::Error::ModelChanging) if the change to another model has begun meanwhile.
pub(crate) fn change_model(
    authority: &impl Authority,
    next: ModelId,
    indexed: Option<&RoaringTreemap>,
    most_missing: usize,
    now: Millis,
) -> Result<bool> {
    authority.write(|tx| {
        if models::require_next(tx, next)?.is_none() {
            return Ok(true);
        }
        let missing = models::lacking_any(tx, next, most_missing + 1, now)?;
        if missing.len() > most_missing {
            return Ok(false);
        }
        meta::put(tx, "model", next.into())?;
        meta::remove(tx, "next_model")?;
        refused::keep_only(tx, next)?;
        for (table, hash) in [("records", "embedding_hash"), ("passages", "hash")] {
            let sql = format!(
                "UPDATE {table} SET embedding_id =
                     (SELECT e.id FROM embeddings e WHERE e.model_id = ?1 AND e.hash = {table}.{hash})"
            );
            tx.execute(&sql, &[next.into()])?;
        }
        drop_others(tx, next, next)?;
        if let Some(indexed) = indexed {
            log_all_but(tx, indexed, next)?;
        }
        Ok(true)
    })
}

/// Drops the embeddings of all models but these two.
fn drop_others(tx: &dyn Tx, current: ModelId, next: ModelId) -> Result<()> {
    let sql = "DELETE FROM embeddings WHERE model_id IN (SELECT id FROM models WHERE id NOT IN (?1, ?2))";
    tx.execute(sql, &[current.into(), next.into()]).map(drop)
}

/// Logs [`Change::Embed`] for the records that have a vector which is not `indexed`.
fn log_all_but(tx: &dyn Tx, indexed: &RoaringTreemap, model: ModelId) -> Result<()> {
    let mut missed: BTreeSet<RecordId> = BTreeSet::new();
    for sql in [
        "SELECT id, 0 FROM records WHERE embedding_id IS NOT NULL",
        "SELECT record_id, number FROM passages WHERE embedding_id IS NOT NULL",
    ] {
        tx.select(sql, &[], &mut |row| {
            let (id, number) = (row.get(0)?, rows::to_passage(row, 1)?);
            if !indexed.contains(PassageKey::new(id, number).get()) {
                missed.insert(id);
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    missed.into_iter().try_for_each(|id| append(tx, id, &Change::Embed { model }))
}
