//! Changes to records: the version before is kept, and can be restored.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::add::claim_text;
use super::embeddings::{self, Vectors};
use super::log::append;
use super::references::{check_body, references};
use super::{passages, threads, tombstones, versions};
use crate::body::{Body, METADATA, NO_METADATA};
use crate::error::{Error, Result};
use crate::records::log::Change;
use crate::records::transaction::{Authority, Tx};
use crate::records::{lookup, models, rows};
use crate::sensitive;
use crate::text::{self, Hash};
use crate::types::bounds::{check_label, check_tags};
use crate::types::{Expect, Kind, Millis, ModelId, Record, RecordId, RecordUpdate, Version, Viewer, is_same_tag};

/// A record before a change and after it.
#[derive(Debug)]
pub struct Changed {
    /// Before.
    pub before: Record,
    /// After.
    pub after: Record,
}

/// Changes live records in one transaction, all or none: the version before is kept, and a new text gets its vector if it is
/// among `vectors`. An expired record is changed if the update gives it another expiry. An update to what the record is
/// already changes nothing. The updates were validated.
///
/// # Errors
/// [`Error::NotFound`], also if `viewer` does not see it; [`Error::Invalid`] if `viewer` may not change it;
/// [`Error::Duplicate`] if another live record of the scope has the new text.
pub(crate) fn update(
    authority: &impl Authority,
    updates: &[(RecordId, Cow<'_, RecordUpdate>)],
    vectors: Option<&Vectors>,
    viewer: &Viewer,
    now: Millis,
) -> Result<Vec<Changed>> {
    if updates.is_empty() {
        return Ok(Vec::new());
    }
    authority.write(|tx| {
        prefetch(tx, updates, vectors, now)?;
        updates.iter().map(|(id, update)| apply(tx, *id, update, vectors, viewer, now)).collect()
    })
}

/// Announces the first queries of [`update`]. Only a remote database runs this.
fn prefetch(
    tx: &dyn Tx,
    updates: &[(RecordId, Cow<'_, RecordUpdate>)],
    vectors: Option<&Vectors>,
    now: Millis,
) -> Result<()> {
    tx.prefetch(&|tx| {
        for (id, update) in updates {
            _ = lookup::live(tx, *id, &Viewer::OWNER, live_at(update, now));
        }
        if let Some((model, vectors)) = vectors {
            _ = models::require_current(tx, *model);
            for hash in vectors.keys() {
                _ = embeddings::find(tx, hash);
                _ = embeddings::waiting(tx, hash);
            }
        }
    })
}

/// Checks whether an update would succeed: applies it, and rolls it back.
pub(crate) fn check(
    authority: &impl Authority,
    id: RecordId,
    update: &RecordUpdate,
    viewer: &Viewer,
    now: Millis,
) -> Result<()> {
    let mut tried = Ok(());
    let taken_back = authority.write(|tx| -> Result<()> {
        tried = apply(tx, id, update, None, viewer, now).map(drop);
        Err(Error::Cancelled)
    });
    match taken_back {
        Ok(()) | Err(Error::Cancelled) => tried,
        Err(error) => Err(error),
    }
}

/// Changes a record like [`update`], with the vector that the caller's model has made of its new text. It alone may be new.
pub(crate) fn update_with(
    authority: &impl Authority,
    id: RecordId,
    update: &RecordUpdate,
    viewer: &Viewer,
    (model, vector): (ModelId, &[f32]),
    now: Millis,
) -> Result<Changed> {
    authority.write(|tx| {
        let changed = apply(tx, id, update, None, viewer, now)?;
        let hash = text::embedding_hash(changed.after.context.as_deref(), &changed.after.content);
        embeddings::store_own(tx, model, &hash, vector, Some(id))?;
        Ok(changed)
    })
}

/// Changes a record like [`update`], within a transaction.
pub(super) fn apply(
    tx: &dyn Tx,
    id: RecordId,
    update: &RecordUpdate,
    vectors: Option<&Vectors>,
    viewer: &Viewer,
    now: Millis,
) -> Result<Changed> {
    let before = to_change(tx, id, viewer, live_at(update, now))?;
    let after = changed(update, &before)?;
    let after = change(tx, &before, after, vectors, &[], update.reason.as_deref().unwrap_or("update"), now)?;
    Ok(Changed { before, after })
}

/// The time at which a record must be live for an update: an expired one is revived by another expiry.
fn live_at(update: &RecordUpdate, now: Millis) -> Millis {
    let revives = update.expires_at.is_some_and(|at| at.is_none_or(|at| at > now));
    if revives { Millis::MIN } else { now }
}

/// Makes an earlier version of a live record the newest again, as a version of its own. The record must be what is expected. The
/// scope stays, an expiry that is over by now does not come back, and a reference to what is gone by now leads nowhere.
///
/// # Errors
/// Errors of [`update`], and [`Error::Invalid`], which names the existing versions.
pub(crate) fn roll_back(
    authority: &impl Authority,
    id: RecordId,
    version: i64,
    reason: Option<&str>,
    expect: Option<&Expect>,
    viewer: &Viewer,
    now: Millis,
) -> Result<Changed> {
    reason.map_or(Ok(()), |reason| check_label("reason", reason))?;
    let rolled_back = format!("rollback to {version}");
    authority.write(|tx| {
        if let Some(expect) = expect {
            expect.check(&to_change(tx, id, viewer, now)?)?;
        }
        back_to(tx, id, version, reason.unwrap_or(&rolled_back), viewer, now)
    })
}

/// Restores a version like [`roll_back`], within a transaction.
pub(super) fn back_to(
    tx: &dyn Tx,
    id: RecordId,
    version: i64,
    reason: &str,
    viewer: &Viewer,
    now: Millis,
) -> Result<Changed> {
    let before = to_change(tx, id, viewer, now)?;
    let Version { content, kind, source, context, confidence, importance, tags, expires_at, valid, body, .. } =
        versions::earlier(tx, id, version)?;
    let expires_at = expires_at.filter(|at| *at > now);
    let mut after = before.clone();
    (after.content, after.kind, after.source, after.context) = (content, kind, source, context);
    (after.confidence, after.importance, after.tags) = (confidence, importance, tags);
    (after.expires_at, after.valid, after.body) = (expires_at, valid, body);
    let mut gone = Vec::new();
    for id in references(&after) {
        if lookup::live(tx, id, &Viewer::OWNER, now)?.is_none() {
            gone.push(id);
        }
    }
    let after = change(tx, &before, after, None, &gone, reason, now)?;
    Ok(Changed { before, after })
}

/// A live record that `viewer` sees and may change.
fn to_change(tx: &dyn Tx, id: RecordId, viewer: &Viewer, now: Millis) -> Result<Record> {
    let record = lookup::live(tx, id, viewer, now)?.ok_or(Error::NotFound(id))?;
    viewer.check_change(id, &record.scope)?;
    Ok(record)
}

/// Replaces `before` by `after` where anything differs, and returns what the record is then. It may refer to what is
/// `gone`, and to what it referred to before: that was checked then, and may be gone since.
fn change(
    tx: &dyn Tx,
    before: &Record,
    mut after: Record,
    vectors: Option<&Vectors>,
    gone: &[RecordId],
    reason: &str,
    now: Millis,
) -> Result<Record> {
    if after == *before {
        return Ok(after);
    }
    let content_hash = rows::hash_of_content(&after.content);
    let had_expired = before.expires_at.is_some_and(|at| at <= now);
    let is_new_to_its_scope = after.content != before.content || before.kind.repeats() || had_expired;
    if is_new_to_its_scope && !after.kind.repeats() {
        claim_text(tx, &content_hash, &after, now)?;
    }
    let known = [&references(before), gone].concat();
    check_body(tx, after.body.as_ref(), &after.scope, Some(after.id), &known, now)?;
    threads::follow_body(tx, before, &mut after)?;
    // Nothing refuses the change from here on.
    let embedding_hash = text::embedding_hash(after.context.as_deref(), &after.content);
    if let Some((model, vector)) = embeddings::fitting(tx, vectors, &embedding_hash)? {
        embeddings::store_ahead(tx, model, &embedding_hash, vector)?;
    }
    after.content_hash = text::to_hex(&content_hash);
    after.version += 1;
    after.updated_at = now;
    versions::keep(tx, after.id, reason, tombstones::after_newest(tx, after.id, now)?)?;
    replace(tx, &after, &content_hash, before)?;
    Ok(after)
}

/// The record after `update`, if it is what the update expects.
pub(crate) fn changed(update: &RecordUpdate, before: &Record) -> Result<Record> {
    fn set<T: Clone>(field: &mut T, value: &Option<T>) {
        if let Some(value) = value {
            field.clone_from(value);
        }
    }
    update.expect.as_ref().map_or(Ok(()), |expect| expect.check(before))?;
    let mut record = before.clone();
    set(&mut record.content, &update.content);
    set(&mut record.kind, &update.kind);
    set(&mut record.source, &update.source);
    set(&mut record.context, &update.context);
    set(&mut record.confidence, &update.confidence);
    set(&mut record.importance, &update.importance);
    set(&mut record.tags, &update.tags);
    record.tags.extend(update.add_tags.iter().cloned());
    record.tags.retain(|tag| !update.remove_tags.iter().any(|gone| is_same_tag(gone, tag)));
    record.tags = rows::unique_tags(&record.tags);
    check_tags(&record.tags)?;
    set(&mut record.expires_at, &update.expires_at);
    set(&mut record.valid.from, &update.valid_from);
    set(&mut record.valid.to, &update.valid_to);
    record.valid.validate()?;
    if record.kind != Kind::Task
        && let Some(name) = update.body_fields.keys().find(|name| Body::is_of_tasks(name))
    {
        let why = format!(
            "{name}: applies to tasks only, and memory {} is a {}; make it a task, too",
            before.id, record.kind
        );
        return Err(Error::invalid("body", why));
    }
    if record.kind == Kind::Profile && update.body_fields.contains_key(METADATA) {
        return Err(Error::invalid("metadata", NO_METADATA));
    }
    let body = match &update.body {
        Some(body) => with_metadata_of(record.body.take(), body.clone()),
        None if before.kind == Kind::Task && record.kind != Kind::Task => {
            record.body.take().and_then(Body::without_task)
        }
        None => record.body.take().map(Body::into_value),
    };
    record.body = with_fields(body, &update.body_fields).map(|body| Body::new(record.kind, body)).transpose()?;
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

/// A body with new values of some of its fields.
fn with_fields(body: Option<Value>, fields: &Map<String, Value>) -> Option<Value> {
    if fields.is_empty() {
        return body;
    }
    let mut body = body.unwrap_or_else(|| Value::Object(Map::new()));
    if let Value::Object(members) = &mut body {
        members.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
        if fields.get(METADATA).is_some_and(Value::is_null) {
            members.remove(METADATA);
            if members.is_empty() {
                return None;
            }
        }
    }
    Some(body)
}

/// A body that replaces another one, of which it keeps the metadata unless it has its own.
fn with_metadata_of(before: Option<Body>, body: Option<Value>) -> Option<Value> {
    // All keys of a profile are its own.
    let before = before.filter(|before| before.kind() != Kind::Profile);
    let Some(metadata) = before.as_ref().and_then(|before| before.get(METADATA)) else { return body };
    let mut body = body.unwrap_or_else(|| Value::Object(Map::new()));
    if let Value::Object(members) = &mut body {
        members.entry(METADATA).or_insert_with(|| metadata.clone());
    }
    Some(body)
}

/// Replaces `before` by `after`, and logs it.
pub(super) fn replace(tx: &dyn Tx, after: &Record, content_hash: &Hash, before: &Record) -> Result<()> {
    let embedding_hash = text::embedding_hash(after.context.as_deref(), &after.content);
    let tags = rows::tags_json(&after.tags);
    let body = after.body.as_ref().map(Body::to_json);
    let provenance = after.place.as_ref().map(rows::place_json);
    let sql = "UPDATE records SET version = ?2, kind = ?3, importance = ?4, confidence = ?5, updated_at = ?6, expires_at = ?7,
             content_hash = ?8, embedding_hash = ?9, embedding_id = ?10, source = ?11, tags = ?12, context = ?13,
             content = ?14, body = ?15, valid_from = ?16, valid_to = ?17, session = ?18, turn = ?19,
             origin = ?20, provenance = ?21
         WHERE id = ?1";
    let values = [
        after.id.into(),
        after.version.into(),
        rows::kind_code(after.kind).into(),
        after.importance.into(),
        after.confidence.into(),
        after.updated_at.into(),
        after.expires_at.into(),
        content_hash.into(),
        (&embedding_hash).into(),
        embeddings::find(tx, &embedding_hash)?.into(),
        (&after.source).into(),
        tags.as_ref().into(),
        after.context.as_ref().into(),
        (&after.content).into(),
        body.as_ref().into(),
        after.valid.from.into(),
        after.valid.to.into(),
        after.session.as_ref().into(),
        after.turn.into(),
        after.place.as_ref().map(|place| place.origin.as_bytes()).into(),
        provenance.as_ref().into(),
    ];
    tx.queue(sql, &values)?;
    passages::set(tx, after.id, after.context.as_deref(), &after.content)?;
    let new_text = embedding_hash != text::embedding_hash(before.context.as_deref(), &before.content);
    append(tx, after.id, &Change::Put { version: after.version, new_text })
}
