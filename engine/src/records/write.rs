//! Adding, changing and deleting records.

use rusqlite::{OptionalExtension, Transaction};

use super::log::{self, Change};
use super::row::{self, select_records};
use super::{Records, embeddings};
use crate::error::{Error, Result};
use crate::text::{self, Hash};
use crate::types::{AddOutcome, EmbeddingState, Millis, NewRecord, Record, RecordId, RecordUpdate};

impl Records {
    /// Saves a record; it is on the disk when this returns. A text that a live record of the same scope already has is
    /// not saved again: the outcome names that record, whose `updated_at` becomes `now`.
    pub fn add(&self, new: &NewRecord, now: Millis) -> Result<AddOutcome> {
        new.validate()?;
        self.write(|tx| insert(tx, new, now))
    }

    /// Saves many records in one transaction. The outcomes are in the order of `news`; an invalid one does not stop the
    /// others, a failure of the database stops them all.
    pub fn add_batch(&self, news: &[NewRecord], now: Millis) -> Result<Vec<Result<AddOutcome>>> {
        let valid: Vec<Result<()>> = news.iter().map(NewRecord::validate).collect();
        self.write(|tx| {
            news.iter()
                .zip(valid)
                .map(|(new, valid)| match valid {
                    Ok(()) => insert(tx, new, now).map(Ok),
                    Err(error) => Ok(Err(error)),
                })
                .collect()
        })
    }

    /// Changes a live record and keeps the version before. An update to what the record is already changes nothing.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Duplicate`] when another live record of the scope has the new text.
    pub fn update(&self, id: RecordId, update: &RecordUpdate, now: Millis) -> Result<Record> {
        update.validate()?;
        self.write(|tx| {
            let before = live(tx, id, now)?.ok_or(Error::NotFound(id))?;
            let mut after = before.clone();
            apply(update, &mut after);
            if after == before {
                return Ok(before);
            }
            let content_hash = row::hash_of_content(&after.content);
            if after.content != before.content {
                let scope = row::scope_id(tx, &after.scope)?;
                match twin(tx, &content_hash, scope, now)? {
                    Some(twin) if twin.id != id && twin.live => return Err(Error::Duplicate(twin.id)),
                    Some(twin) if twin.id != id => remove(tx, twin.id).map(drop)?,
                    _ => {}
                }
            }
            after.content_hash = text::to_hex(&content_hash);
            after.version += 1;
            after.updated_at = now;
            keep_version(tx, id, "update", now)?;
            replace(tx, &after, &content_hash, &before)?;
            Ok(after)
        })
    }

    /// Deletes a record for good: its versions, its access rows, and its embeddings that no other record uses. Returns
    /// whether there was one (an expired one counts).
    pub fn delete(&self, id: RecordId) -> Result<bool> {
        self.write(|tx| remove(tx, id))
    }
}

/// A record with the same text in the same scope.
struct Twin {
    id: RecordId,
    live: bool,
    embedding: EmbeddingState,
}

fn twin(tx: &Transaction<'_>, hash: &Hash, scope: i64, now: Millis) -> Result<Option<Twin>> {
    let mut statement = tx.prepare_cached(
        "SELECT id, expires_at IS NULL OR expires_at > ?3, embedding_id
         FROM records WHERE content_hash = ?1 AND scope_id = ?2",
    )?;
    let twin = statement.query_row((hash, scope, now), |row| {
        Ok(Twin { id: row.get(0)?, live: row.get(1)?, embedding: state(row.get(2)?) })
    });
    Ok(twin.optional()?)
}

fn state(embedding_id: Option<i64>) -> EmbeddingState {
    if embedding_id.is_some() { EmbeddingState::Ready } else { EmbeddingState::Pending }
}

fn insert(tx: &Transaction<'_>, new: &NewRecord, now: Millis) -> Result<AddOutcome> {
    let scope = row::scope_id(tx, &new.scope)?;
    let content_hash = row::hash_of_content(&new.content);
    if let Some(twin) = twin(tx, &content_hash, scope, now)? {
        if twin.live {
            tx.prepare_cached("UPDATE records SET updated_at = ? WHERE id = ?")?.execute((now, twin.id))?;
            return Ok(AddOutcome { id: twin.id, created: false, embedding: twin.embedding });
        }
        remove(tx, twin.id)?;
    }
    let embedding_hash = match new.context.as_deref() {
        None => content_hash,
        context => text::embedding_hash(context, &new.content),
    };
    let embedding_id = embeddings::find(tx, &embedding_hash)?;
    tx.prepare_cached(
        "INSERT INTO records (ulid, version, kind, scope_id, importance, confidence, created_at, updated_at, expires_at,
             content_hash, embedding_hash, embedding_id, source, tags, context, content)
         VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?
    .execute((
        row::new_ulid(now),
        row::kind_code(new.kind),
        scope,
        new.importance,
        new.confidence,
        now,
        new.expires_at,
        content_hash,
        embedding_hash,
        embedding_id,
        &new.source,
        row::tags_json(&row::unique_tags(&new.tags)),
        &new.context,
        &new.content,
    ))?;
    let id = tx.last_insert_rowid();
    log::append(tx, id, &Change::Put { version: 1, new_text: true })?;
    Ok(AddOutcome { id, created: true, embedding: state(embedding_id) })
}

fn live(tx: &Transaction<'_>, id: RecordId, now: Millis) -> Result<Option<Record>> {
    let mut statement =
        tx.prepare_cached(select_records!("WHERE r.id = ?1 AND (r.expires_at IS NULL OR r.expires_at > ?2)"))?;
    Ok(statement.query_row((id, now), row::to_record).optional()?)
}

fn apply(update: &RecordUpdate, record: &mut Record) {
    fn set<T: Clone>(field: &mut T, value: &Option<T>) {
        if let Some(value) = value {
            field.clone_from(value);
        }
    }
    set(&mut record.content, &update.content);
    set(&mut record.kind, &update.kind);
    set(&mut record.source, &update.source);
    set(&mut record.context, &update.context);
    set(&mut record.confidence, &update.confidence);
    set(&mut record.importance, &update.importance);
    set(&mut record.tags, &update.tags.as_deref().map(row::unique_tags));
    set(&mut record.expires_at, &update.expires_at);
}

/// Keeps the record as it is now as one of its versions.
fn keep_version(tx: &Transaction<'_>, id: RecordId, reason: &str, now: Millis) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO versions (record_id, version, replaced_at, reason, kind, scope_id, importance, confidence,
             updated_at, expires_at, valid_from, valid_to, content_hash, embedding_hash, source, tags, provenance, body,
             context, content)
         SELECT id, version, ?2, ?3, kind, scope_id, importance, confidence,
             updated_at, expires_at, valid_from, valid_to, content_hash, embedding_hash, source, tags, provenance, body,
             context, content
         FROM records WHERE id = ?1",
    )?
    .execute((id, now, reason))?;
    Ok(())
}

/// Puts `after` in the place of `before`, and into the log.
fn replace(tx: &Transaction<'_>, after: &Record, content_hash: &Hash, before: &Record) -> Result<()> {
    let embedding_hash = text::embedding_hash(after.context.as_deref(), &after.content);
    tx.prepare_cached(
        "UPDATE records SET version = ?2, kind = ?3, importance = ?4, confidence = ?5, updated_at = ?6, expires_at = ?7,
             content_hash = ?8, embedding_hash = ?9, embedding_id = ?10, source = ?11, tags = ?12, context = ?13,
             content = ?14
         WHERE id = ?1",
    )?
    .execute((
        after.id,
        after.version,
        row::kind_code(after.kind),
        after.importance,
        after.confidence,
        after.updated_at,
        after.expires_at,
        content_hash,
        embedding_hash,
        embeddings::find(tx, &embedding_hash)?,
        &after.source,
        row::tags_json(&after.tags),
        &after.context,
        &after.content,
    ))?;
    let new_text = embedding_hash != text::embedding_hash(before.context.as_deref(), &before.content);
    log::append(tx, after.id, &Change::Put { version: after.version, new_text })
}

fn remove(tx: &Transaction<'_>, id: RecordId) -> Result<bool> {
    let mut statement = tx.prepare_cached("SELECT ulid FROM records WHERE id = ?")?;
    let Some(ulid) = statement.query_row([id], |row| row.get(0)).optional()? else { return Ok(false) };
    let mut statement = tx.prepare_cached(
        "SELECT embedding_hash FROM records WHERE id = ?1
         UNION SELECT embedding_hash FROM versions WHERE record_id = ?1",
    )?;
    let hashes = statement.query_map([id], |row| row.get(0))?.collect::<rusqlite::Result<Vec<Hash>>>()?;
    tx.prepare_cached("DELETE FROM records WHERE id = ?")?.execute([id])?;
    for hash in hashes {
        embeddings::remove_unused(tx, &hash)?;
    }
    log::append(tx, id, &Change::Delete { ulid })?;
    Ok(true)
}
