//! The store's embedding model, the next one while the store changes to it, and the texts that wait for either.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::jobs;
use super::transaction::{Select, SelectExt, Value};
use crate::error::{Error, Result};
use crate::text::{self, Hash};
use crate::types::{Millis, Model, ModelId, RecordId};

/// A live record that waits for its embedding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The record.
    pub record_id: RecordId,
    /// The key under which the vector of `text` is to be stored.
    pub hash: Hash,
    /// The text to embed.
    pub text: String,
}

/// The entry of `meta` with the texts that a model refused: by hash, with the model and the reason.
pub(super) const REFUSED: &str = "refused";

/// A condition: the text with this hash was not refused by the model of this entry of `meta`.
macro_rules! not_refused_by {
    ($model:literal) => {
        concat!(
            " AND lower(hex(embedding_hash)) NOT IN (SELECT j.key FROM meta m,
                 json_each(CASE WHEN json_valid(m.value) THEN m.value END) j WHERE m.key = 'refused'
                 AND json_extract(j.value, '$.model') = (SELECT value FROM meta WHERE key = '",
            $model,
            "'))"
        )
    };
}

/// A text that the store's model refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// A record that has it.
    pub record_id: RecordId,
    /// Why.
    pub why: String,
}

/// A change of the model that is not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextModel {
    /// What the store is changing to.
    pub model: Model,
    /// Different texts of live records.
    pub texts: u64,
    /// Those of them that it has not embedded yet.
    pub missing: u64,
}

/// The store's model; `None` while it has none.
pub(super) fn current(db: &dyn Select) -> Result<Option<(ModelId, Model)>> {
    named_by(db, "model")
}

/// The model that the store is changing to, where it is.
pub(super) fn next(db: &dyn Select) -> Result<Option<(ModelId, Model)>> {
    named_by(db, "next_model")
}

/// The store's model, which must be comparable to `model`; `None` while it has none.
///
/// # Errors
/// [`Error::ModelMismatch`] when it is another.
pub(super) fn known(db: &dyn Select, model: &Model) -> Result<Option<(ModelId, Model)>> {
    match current(db)? {
        Some((_, stored)) if !stored.is_comparable_to(model) => {
            Err(Error::ModelMismatch { stored: stored.describe(), offered: model.describe() })
        }
        stored => Ok(stored),
    }
}

/// The store's model, which must be this one.
///
/// # Errors
/// [`Error::ModelMismatch`] when it is another, or none.
pub(super) fn require_current(db: &dyn Select, model: ModelId) -> Result<Model> {
    match current(db)? {
        Some((id, stored)) if id == model => Ok(stored),
        stored => {
            let (stored, offered) = not_of_the_store(db, stored, model)?;
            Err(Error::ModelMismatch { stored, offered })
        }
    }
}

/// The model that the store is changing to, which must be this one; `None` when the change to it is done.
///
/// # Errors
/// [`Error::ModelChanging`] when the change to another model has begun meanwhile.
pub(super) fn require_next(db: &dyn Select, model: ModelId) -> Result<Option<Model>> {
    if let Some((_, next)) = next(db)?.filter(|(id, _)| *id == model) {
        return Ok(Some(next));
    }
    match current(db)? {
        Some((current, _)) if current == model => Ok(None),
        stored => {
            let (stored, offered) = not_of_the_store(db, stored, model)?;
            Err(Error::ModelChanging { stored, offered })
        }
    }
}

/// The first texts of live records that wait for the store's model and for no batch job, at most `limit`, each once.
pub(super) fn pending(db: &dyn Select, limit: usize, now: Millis) -> Result<Vec<Pending>> {
    let sql = concat!(
        "SELECT id, embedding_hash, context, content FROM records
         WHERE embedding_id IS NULL AND (expires_at IS NULL OR expires_at > ?1)",
        not_refused_by!("model"),
        " ORDER BY id"
    );
    let submitted = match current(db)? {
        Some((model, _)) => jobs::submitted(db, model)?,
        None => HashSet::new(),
    };
    each_text_once(db, sql, &[now.into()], limit, submitted)
}

/// The first texts of live records with ids above `after` that the next model has not embedded, and that wait for no batch
/// job, at most `limit`, each once.
pub(super) fn missing(
    db: &dyn Select,
    next: ModelId,
    after: RecordId,
    limit: usize,
    now: Millis,
) -> Result<Vec<Pending>> {
    lacking(db, next, after, limit, now, jobs::submitted(db, next)?)
}

/// The same, whether they wait for a batch job or not.
pub(super) fn lacking_any(db: &dyn Select, next: ModelId, limit: usize, now: Millis) -> Result<Vec<Pending>> {
    lacking(db, next, RecordId::START, limit, now, HashSet::new())
}

fn lacking(
    db: &dyn Select,
    next: ModelId,
    after: RecordId,
    limit: usize,
    now: Millis,
    passed: HashSet<Hash>,
) -> Result<Vec<Pending>> {
    let sql = concat!(
        "SELECT id, embedding_hash, context, content FROM records r
         WHERE id > ?1 AND (expires_at IS NULL OR expires_at > ?2)
             AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model_id = ?3 AND e.hash = r.embedding_hash)",
        not_refused_by!("next_model"),
        " ORDER BY id"
    );
    each_text_once(db, sql, &[after.into(), now.into(), next.into()], limit, passed)
}

/// The texts of live records that the store's model refused, each with its first record.
pub(super) fn refused(db: &dyn Select, now: Millis) -> Result<Vec<Refused>> {
    let sql = "SELECT min(r.id), json_extract(j.value, '$.why')
         FROM meta m, json_each(CASE WHEN json_valid(m.value) THEN m.value END) j
             JOIN records r ON r.embedding_hash = unhex(j.key)
         WHERE m.key = 'refused' AND json_extract(j.value, '$.model') = (SELECT value FROM meta WHERE key = 'model')
             AND r.embedding_id IS NULL AND (r.expires_at IS NULL OR r.expires_at > ?1)
         GROUP BY j.key ORDER BY 1";
    db.all(sql, &[now.into()], |row| Ok(Refused { record_id: row.get(0)?, why: row.get(1)? }))
}

/// The texts that a query gives (record, hash, context, content), at most `limit`, each once, without those of `seen`.
fn each_text_once(
    db: &dyn Select,
    sql: &str,
    values: &[Value<'_>],
    limit: usize,
    mut seen: HashSet<Hash>,
) -> Result<Vec<Pending>> {
    let mut texts = Vec::new();
    if limit == 0 {
        return Ok(texts);
    }
    db.select(sql, values, &mut |row| {
        let hash = row.get(1)?;
        if seen.insert(hash) {
            let text = text::embedding_text(row.get(2)?, row.get(3)?);
            texts.push(Pending { record_id: row.get(0)?, hash, text });
        }
        Ok(if texts.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(texts)
}

/// The model that an entry of `meta` names.
fn named_by(db: &dyn Select, key: &str) -> Result<Option<(ModelId, Model)>> {
    let sql = "SELECT id, name, weights_sha256, pooling, dims FROM models
         WHERE id = (SELECT value FROM meta WHERE key = ?1)";
    read(db, sql, key.into())
}

fn with_id(db: &dyn Select, id: ModelId) -> Result<Option<(ModelId, Model)>> {
    read(db, "SELECT id, name, weights_sha256, pooling, dims FROM models WHERE id = ?1", id.into())
}

fn read(db: &dyn Select, sql: &str, value: Value<'_>) -> Result<Option<(ModelId, Model)>> {
    db.first(sql, &[value], |row| {
        let dims = usize::try_from(row.get::<i64>(4)?).unwrap_or(0);
        let model = Model { name: row.get(1)?, weights_sha256: row.get(2)?, pooling: row.get(3)?, dims };
        Ok((row.get(0)?, model))
    })
}

/// The descriptions of the store's model `stored` and of `model`.
fn not_of_the_store(db: &dyn Select, stored: Option<(ModelId, Model)>, model: ModelId) -> Result<(String, String)> {
    let describe =
        |found: Option<(ModelId, Model)>, or: &str| found.map_or(or.to_owned(), |(_, model)| model.describe());
    let offered = with_id(db, model)?;
    Ok((describe(stored, "no model yet"), describe(offered, "an unknown one")))
}
