//! The store's embedding model, the next one while the store changes to it, and the texts that wait for either.

use std::collections::HashSet;
use std::ops::ControlFlow;

use serde_json::{Map, Value as Json};

use super::transaction::{Select, SelectExt, Value};
use super::{jobs, meta, rows};
use crate::error::{Error, Result};
use crate::passages::{self, Passage};
use crate::text::{self, Hash};
use crate::types::{Millis, Model, ModelId, RecordId};

/// A text of a live record that waits for its embedding: the whole, of which the model reads the beginning, or a passage
/// after that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The record.
    pub record_id: RecordId,
    /// The key under which the vector of `text` is to be stored.
    pub hash: Hash,
    /// The text to embed.
    pub text: String,
}

/// The entry of `meta` with the version that cuts texts into passages.
pub(super) const CUTTER: &str = "cutter";
/// The entry of `meta` with the last id of the records whose texts that version has not cut; none when it has cut them all.
pub(super) const UNCUT: &str = "uncut";

/// The entry of `meta` with the texts that a model refused: by hash, with the model and the reason.
pub(super) const REFUSED: &str = "refused";

/// The entry for refused texts on a node whose role may not write [`REFUSED`].
pub(super) const REFUSED_HERE: &str = "refused_here";

/// A text that the store's model refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// A record that has the text.
    pub record_id: RecordId,
    /// Why.
    pub why: String,
}

/// A change of the model that is not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextModel {
    /// The model that the store is changing to.
    pub model: Model,
    /// Different texts of live records.
    pub texts: u64,
    /// Texts that it has not embedded yet.
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

/// The last id of the records whose texts this version of memorist has not cut into passages; `None` if it has cut all.
pub(super) fn uncut(db: &dyn Select) -> Result<Option<RecordId>> {
    match meta::integer(db, CUTTER)? {
        Some(passages::VERSION) => Ok(meta::integer(db, UNCUT)?.map(RecordId::from)),
        _ => Ok(Some(RecordId::MAX)),
    }
}

/// The passages of a record after its beginning.
pub(super) fn of_record(db: &dyn Select, id: RecordId) -> Result<Vec<Passage>> {
    let sql = "SELECT number, hash, starts_at, ends_at FROM passages WHERE record_id = ?1 ORDER BY number";
    db.all(sql, &[id.into()], |row| {
        Ok(Passage { number: rows::to_passage(row, 0)?, hash: row.get(1)?, bytes: rows::to_bytes(row, 2)? })
    })
}

/// The first texts of live records that wait for the store's model and for no batch job, at most `limit`, each once;
/// passages after the beginnings of all.
pub(super) fn pending(db: &dyn Select, limit: usize, now: Millis) -> Result<Vec<Pending>> {
    let beginnings = "SELECT id, embedding_hash, context, content, NULL, NULL FROM records
         WHERE embedding_id IS NULL AND (expires_at IS NULL OR expires_at > ?1) ORDER BY id";
    let passages = "SELECT p.record_id, p.hash, r.context, r.content, p.starts_at, p.ends_at
         FROM passages p JOIN records r ON r.id = p.record_id
         WHERE p.embedding_id IS NULL AND (r.expires_at IS NULL OR r.expires_at > ?1) ORDER BY p.record_id, p.number";
    let passed = match current(db)? {
        Some((model, _)) => {
            let refused = refused_by(db, model)?.into_iter().map(|(hash, _)| hash);
            jobs::submitted(db, model)?.into_iter().chain(refused).collect()
        }
        None => HashSet::new(),
    };
    each_text_once(db, [beginnings, passages], &[now.into()], limit, passed)
}

/// The first texts of live records with ids above `after` that the next model has not embedded, and that wait for no batch
/// job, at most `limit`, each once; passages after the beginnings of all.
pub(super) fn missing(
    db: &dyn Select,
    next: ModelId,
    after: RecordId,
    limit: usize,
    now: Millis,
) -> Result<Vec<Pending>> {
    lacking(db, next, after, limit, now, jobs::submitted(db, next)?)
}

/// Returns up to `limit` texts of live records that the next model has not embedded, whether they wait for a batch job or
/// not.
pub(super) fn lacking_any(db: &dyn Select, next: ModelId, limit: usize, now: Millis) -> Result<Vec<Pending>> {
    lacking(db, next, RecordId::START, limit, now, HashSet::new())
}

fn lacking(
    db: &dyn Select,
    next: ModelId,
    after: RecordId,
    limit: usize,
    now: Millis,
    mut passed: HashSet<Hash>,
) -> Result<Vec<Pending>> {
    passed.extend(refused_by(db, next)?.into_iter().map(|(hash, _)| hash));
    let beginnings = "SELECT id, embedding_hash, context, content, NULL, NULL FROM records r
         WHERE id > ?1 AND (expires_at IS NULL OR expires_at > ?2)
             AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model_id = ?3 AND e.hash = r.embedding_hash)
         ORDER BY id";
    let passages = "SELECT p.record_id, p.hash, r.context, r.content, p.starts_at, p.ends_at
         FROM passages p JOIN records r ON r.id = p.record_id
         WHERE p.record_id > ?1 AND (r.expires_at IS NULL OR r.expires_at > ?2)
             AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model_id = ?3 AND e.hash = p.hash)
         ORDER BY p.record_id, p.number";
    each_text_once(db, [beginnings, passages], &[after.into(), now.into(), next.into()], limit, passed)
}

/// The texts that this model refused, and why.
fn refused_by(db: &dyn Select, model: ModelId) -> Result<Vec<(Hash, String)>> {
    let mut all = Map::new();
    for key in [REFUSED, REFUSED_HERE] {
        // Damage to it must not keep the others from being embedded.
        let some = meta::text(db, key)?.and_then(|json| serde_json::from_str::<Map<String, Json>>(&json).ok());
        all.extend(some.unwrap_or_default());
    }
    let own = all.iter().filter(|(_, refusal)| refusal["model"] == model.get());
    let why = |refusal: &Json| refusal["why"].as_str().unwrap_or_default().to_owned();
    Ok(own.filter_map(|(hash, refusal)| Some((text::from_hex(hash)?, why(refusal)))).collect())
}

/// The texts of live records that the store's model refused, each with its first record.
pub(super) fn refused(db: &dyn Select, now: Millis) -> Result<Vec<Refused>> {
    let Some((model, _)) = current(db)? else { return Ok(Vec::new()) };
    let sql = "SELECT min(r.id) FROM records r
         WHERE (r.expires_at IS NULL OR r.expires_at > ?2)
             AND (r.embedding_hash = ?1 AND r.embedding_id IS NULL
                 OR r.id IN (SELECT record_id FROM passages WHERE hash = ?1 AND embedding_id IS NULL))";
    let mut refused = Vec::new();
    for (hash, why) in refused_by(db, model)? {
        if let Some(record_id) = db.first(sql, &[(&hash).into(), now.into()], |row| row.get(0))?.flatten() {
            refused.push(Refused { record_id, why });
        }
    }
    refused.sort_by_key(|refused| refused.record_id);
    Ok(refused)
}

/// The texts that queries give (record, hash, context, content, first byte and end of a passage), at most `limit`, each
/// once, without those of `seen`.
fn each_text_once(
    db: &dyn Select,
    queries: [&str; 2],
    values: &[Value<'_>],
    limit: usize,
    mut seen: HashSet<Hash>,
) -> Result<Vec<Pending>> {
    let mut texts = Vec::new();
    for sql in queries {
        if texts.len() == limit {
            break;
        }
        db.select(sql, values, &mut |row| {
            let (hash, content) = (row.get(1)?, row.get::<&str>(3)?);
            let part = match row.get::<Option<i64>>(4)? {
                Some(_) => content.get(rows::to_bytes(row, 4)?),
                None => Some(content),
            };
            // A damaged passage is skipped: the doctor names it.
            if let Some(part) = part.filter(|_| seen.insert(hash)) {
                let text = text::embedding_text(row.get(2)?, part);
                texts.push(Pending { record_id: row.get(0)?, hash, text });
            }
            Ok(if texts.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
    }
    Ok(texts)
}

/// The text of a record or a passage that is embedded under this hash.
pub(super) fn text_of(db: &dyn Select, hash: &Hash) -> Result<Option<String>> {
    let record =
        "SELECT id, embedding_hash, context, content, NULL, NULL FROM records WHERE embedding_hash = ?1 LIMIT 1";
    let passage = "SELECT p.record_id, p.hash, r.context, r.content, p.starts_at, p.ends_at
         FROM passages p JOIN records r ON r.id = p.record_id WHERE p.hash = ?1 LIMIT 1";
    let mut found = each_text_once(db, [record, passage], &[hash.into()], 1, HashSet::new())?;
    Ok(found.pop().map(|found| found.text))
}

/// The model that an entry of `meta` names.
fn named_by(db: &dyn Select, key: &str) -> Result<Option<(ModelId, Model)>> {
    let sql = "SELECT id, name, weights_sha256, pooling, dims FROM models
         WHERE id = (SELECT CAST(value AS BIGINT) FROM meta WHERE key = ?1)";
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
