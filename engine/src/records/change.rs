//! Changing a record: the version before is kept, and can come back.

use rusqlite::Transaction;

use super::log::{self, Change};
use super::row;
use super::{Records, embeddings, write};
use crate::body::Body;
use crate::error::{Error, Result};
use crate::sensitive;
use crate::text::{self, Hash};
use crate::types::bounds::check_label;
use crate::types::{Millis, Record, RecordId, RecordUpdate, Version, Viewer};

impl Records {
    /// Changes a live record and keeps the version before. An update to what the record is already changes nothing.
    ///
    /// # Errors
    /// [`Error::NotFound`], also when `viewer` does not see it; [`Error::Invalid`] when `viewer` may not change it;
    /// [`Error::Duplicate`] when another live record of the scope has the new text.
    pub fn update(&self, id: RecordId, update: &RecordUpdate, viewer: &Viewer, now: Millis) -> Result<Record> {
        update.validate()?;
        self.write(|tx| {
            let before = row::live(tx, id, viewer, now)?.ok_or(Error::NotFound(id))?;
            viewer.check_change(id, &before.scope)?;
            let after = changed(update, &before)?;
            change(tx, before, after, &[], update.reason.as_deref().unwrap_or("update"), now)
        })
    }

    /// Makes an earlier version of a live record the newest again, as a version of its own. The scope stays, an expiry
    /// that is over by now does not come back, and a reference to what is gone by now leads nowhere.
    ///
    /// # Errors
    /// As [`Records::update`], and [`Error::Invalid`] names the versions that there are.
    pub fn roll_back(
        &self,
        id: RecordId,
        version: i64,
        reason: Option<&str>,
        viewer: &Viewer,
        now: Millis,
    ) -> Result<Record> {
        reason.map_or(Ok(()), |reason| check_label("reason", reason))?;
        self.write(|tx| {
            let before = row::live(tx, id, viewer, now)?.ok_or(Error::NotFound(id))?;
            viewer.check_change(id, &before.scope)?;
            let Version { content, kind, source, context, confidence, importance, tags, expires_at, body, .. } =
                super::history::earlier(tx, id, version)?;
            let expires_at = expires_at.filter(|at| *at > now);
            let mut after = before.clone();
            (after.content, after.kind, after.source, after.context) = (content, kind, source, context);
            (after.confidence, after.importance, after.tags) = (confidence, importance, tags);
            (after.expires_at, after.body) = (expires_at, body);
            let mut gone = Vec::new();
            for id in referred(&after) {
                if row::live(tx, id, &Viewer::OWNER, now)?.is_none() {
                    gone.push(id);
                }
            }
            let rolled_back = format!("rollback to {version}");
            change(tx, before, after, &gone, reason.unwrap_or(&rolled_back), now)
        })
    }
}

/// What a record refers to.
fn referred(record: &Record) -> Vec<RecordId> {
    record.body.iter().flat_map(Body::references).map(|(_, id)| id).collect()
}

/// Puts `after` in the place of `before`, where anything differs. Returns what the record is then. It may refer to what is
/// `gone`, and to what it referred to before: that was checked then, and may be gone since.
fn change(
    tx: &Transaction<'_>,
    before: Record,
    mut after: Record,
    gone: &[RecordId],
    reason: &str,
    now: Millis,
) -> Result<Record> {
    if after == before {
        return Ok(before);
    }
    let content_hash = row::hash_of_content(&after.content);
    let is_new_to_its_scope = after.content != before.content || before.kind.repeats();
    if is_new_to_its_scope && !after.kind.repeats() {
        write::take_place(tx, &content_hash, &after, now)?;
    }
    let known = [&referred(&before), gone].concat();
    write::check_body(tx, after.body.as_ref(), &after.scope, Some(after.id), &known, now)?;
    after.content_hash = text::to_hex(&content_hash);
    after.version += 1;
    after.updated_at = now;
    keep_version(tx, after.id, reason, now)?;
    replace(tx, &after, &content_hash, &before)?;
    Ok(after)
}

/// The record as `update` wants it.
fn changed(update: &RecordUpdate, before: &Record) -> Result<Record> {
    fn set<T: Clone>(field: &mut T, value: &Option<T>) {
        if let Some(value) = value {
            field.clone_from(value);
        }
    }
    let mut record = before.clone();
    set(&mut record.content, &update.content);
    set(&mut record.kind, &update.kind);
    set(&mut record.source, &update.source);
    set(&mut record.context, &update.context);
    set(&mut record.confidence, &update.confidence);
    set(&mut record.importance, &update.importance);
    set(&mut record.tags, &update.tags.as_deref().map(row::unique_tags));
    set(&mut record.expires_at, &update.expires_at);
    let body = match &update.body {
        Some(body) => body.clone(),
        None => record.body.take().map(Body::into_value),
    };
    record.body = body.map(|body| Body::new(record.kind, body)).transpose()?;
    let text_before = before.body.as_ref().and_then(Body::text);
    let text = record.body.as_ref().and_then(Body::text).filter(|text| text_before.as_ref() != Some(text));
    if let Some(text) = text {
        // Only here is the kind certain, on which it depends what stands beside what.
        sensitive::check_text_of_body(&text)?;
        if update.content.is_none() && text_before.as_ref() == Some(&before.content) {
            record.content = text;
        }
    }
    Ok(record)
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
pub(super) fn replace(tx: &Transaction<'_>, after: &Record, content_hash: &Hash, before: &Record) -> Result<()> {
    let embedding_hash = text::embedding_hash(after.context.as_deref(), &after.content);
    tx.prepare_cached(
        "UPDATE records SET version = ?2, kind = ?3, importance = ?4, confidence = ?5, updated_at = ?6, expires_at = ?7,
             content_hash = ?8, embedding_hash = ?9, embedding_id = ?10, source = ?11, tags = ?12, context = ?13,
             content = ?14, body = ?15
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
        after.body.as_ref().map(Body::to_json),
    ))?;
    let new_text = embedding_hash != text::embedding_hash(before.context.as_deref(), &before.content);
    log::append(tx, after.id, &Change::Put { version: after.version, new_text })
}
