//! A record is saved, and removed with all that belongs to it.

use std::borrow::Borrow;
use std::ops::ControlFlow;

use super::log::append;
use super::references::check_body;
use super::scopes::scope_id;
use super::versions::{self, Cause};
use super::{embeddings, links, origins, passages, threads};
use crate::body::Body;
use crate::error::{Error, Result};
use crate::passages::further;
use crate::records::log::Change;
use crate::records::transaction::{Authority, Each, SelectExt, Tx};
use crate::records::{models, rows};
use crate::text::{self, Hash};
use crate::types::{AddOutcome, EmbeddingState, Millis, ModelId, NewRecord, Record, RecordId, Viewer};

/// Saves many records in one transaction, each unless a live record of its scope has its text. An invalid one does not stop the
/// others.
pub(crate) fn add_batch(
    authority: &impl Authority,
    news: &[impl Borrow<NewRecord>],
    now: Millis,
) -> Result<Vec<Result<AddOutcome>>> {
    add_each(authority, news, |new| new.borrow(), |tx, new, body| insert(tx, new.borrow(), body, None, now).map(Ok))
}

/// Saves many records like [`add_batch`], with the vectors that `model` has made of their texts.
pub(crate) fn add_batch_with(
    authority: &impl Authority,
    model: ModelId,
    news: &[(impl Borrow<NewRecord>, Vec<f32>)],
    now: Millis,
) -> Result<Vec<Result<AddOutcome>>> {
    add_each(
        authority,
        news,
        |(new, _)| new.borrow(),
        |tx, (new, vector), body| match insert_with(tx, new.borrow(), body, (model, vector), now) {
            Err(refused @ Error::Invalid { field: "embedding", .. }) => Ok(Err(refused)),
            outcome => outcome.map(Ok),
        },
    )
}

/// Inserts a record with its vector. Changes nothing if the vector is rejected.
fn insert_with(
    tx: &dyn Tx,
    new: &NewRecord,
    body: Option<&Body>,
    (model, vector): (ModelId, &[f32]),
    now: Millis,
) -> Result<AddOutcome> {
    let hash = text::embedding_hash(new.context.as_deref(), &new.content);
    let content_hash = rows::hash_of_content(&new.content);
    let scope = scope_id(tx, &new.scope)?;
    let text = Text { hash: &content_hash, scope, session: new.session.as_deref(), turn: new.turn, own: None };
    let twin = if new.kind.repeats() { None } else { text.twin(tx, now)?.filter(|twin| twin.live) };
    // It keeps its context.
    let sql = "SELECT embedding_hash FROM records WHERE id = ?1";
    let of_twin = twin.map_or(Ok(None), |twin| tx.first(sql, &[twin.id.into()], |row| row.get(0)))?;
    embeddings::store_own(tx, model, &of_twin.unwrap_or(hash), vector, None)?;
    let outcome = insert(tx, new, body, None, now)?;
    if !outcome.created {
        embeddings::remove_unused(tx, &hash)?;
    }
    Ok(outcome)
}

/// Adds each valid record in one transaction, with its body.
pub(super) fn add_each<New, Added>(
    authority: &impl Authority,
    news: &[New],
    record: impl Fn(&New) -> &NewRecord,
    add: impl Fn(&dyn Tx, &New, Option<&Body>) -> Result<Result<Added>>,
) -> Result<Vec<Result<Added>>> {
    let bodies: Vec<Result<Option<Body>>> = news.iter().map(|new| record(new).validated()).collect();
    let added = authority.write(|tx| {
        let valid = news.iter().zip(&bodies).filter_map(|(new, body)| Some((new, body.as_ref().ok()?)));
        valid.map(|(new, body)| add(tx, new, body.as_ref())).collect::<Result<Vec<_>>>()
    })?;
    let mut added = added.into_iter();
    Ok(bodies.into_iter().map(|valid| valid.and_then(|_| added.next().expect("one for each valid record"))).collect())
}

/// A record with the same text in the same scope, of a kind that does not repeat, and no other turn of a session.
pub(super) struct Twin {
    pub(super) id: RecordId,
    live: bool,
    pub(super) version: i64,
    embedding: EmbeddingState,
}

/// A text in a scope, as a turn of a session or of none.
pub(super) struct Text<'a> {
    pub(super) hash: &'a Hash,
    pub(super) scope: i64,
    pub(super) session: Option<&'a str>,
    pub(super) turn: Option<i64>,
    /// The record that has the text or is to have it: it is not its own twin.
    pub(super) own: Option<RecordId>,
}

impl Text<'_> {
    /// Whether this text is another turn than the one of `session` at `turn`: a text said twice in a session makes two
    /// turns.
    fn is_another_turn(&self, session: Option<&str>, turn: Option<i64>) -> bool {
        let (Some(own), Some(other)) = (self.session, session) else { return false };
        own != other || self.turn.is_some() && self.turn != turn
    }

    /// Its live twin. Expired ones are removed if there is none.
    pub(super) fn claim(&self, tx: &dyn Tx, now: Millis) -> Result<Option<Twin>> {
        loop {
            match self.twin(tx, now)? {
                Some(twin) if !twin.live => drop(remove(tx, twin.id)?),
                outcome => return Ok(outcome),
            }
        }
    }

    /// Its twin, a live one first.
    fn twin(&self, tx: &dyn Tx, now: Millis) -> Result<Option<Twin>> {
        let mut twin = None;
        same_text(tx, self.hash, now, &mut |row| {
            if row.get::<i64>(7)? != self.scope {
                return Ok(ControlFlow::Continue(()));
            }
            let session: Option<String> = row.get(5)?;
            if self.own == Some(row.get(0)?)
                || rows::to_kind(row, 1)?.repeats()
                || self.is_another_turn(session.as_deref(), row.get(6)?)
            {
                return Ok(ControlFlow::Continue(()));
            }
            let live = row.get(2)?;
            twin = Some(Twin { id: row.get(0)?, live, version: row.get(4)?, embedding: state(row.get(3)?) });
            Ok(if live { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(twin)
    }
}

/// Reads the records of all scopes that have a text.
fn same_text(tx: &dyn Tx, hash: &Hash, now: Millis, each: &mut Each<'_>) -> Result<()> {
    // Not by the scope: a remote database finds its number in the same round trip.
    let sql = "SELECT id, kind, expires_at IS NULL OR expires_at > ?2, embedding_id, version, session, turn, scope_id
         FROM records WHERE content_hash = ?1";
    tx.select(sql, &[hash.into(), now.into()], each)
}

/// Claims its text for `record`: an expired record of its scope that has it is removed.
///
/// # Errors
/// [`Error::Duplicate`] when a live one has it.
pub(super) fn claim_text(tx: &dyn Tx, hash: &Hash, record: &Record, now: Millis) -> Result<()> {
    let scope = scope_id(tx, &record.scope)?;
    let (session, turn, own) = (record.session.as_deref(), record.turn, Some(record.id));
    match (Text { hash, scope, session, turn, own }).claim(tx, now)? {
        Some(twin) => Err(Error::Duplicate(twin.id)),
        None => Ok(()),
    }
}

fn state(embedding_id: Option<i64>) -> EmbeddingState {
    if embedding_id.is_some() { EmbeddingState::Ready } else { EmbeddingState::Pending }
}

/// Runs the queries of [`insert`], with a vector of this model, for [`Tx::prefetch`]. None has an answer then, so that each is
/// read to its first question at least.
pub(super) fn announce(tx: &dyn Tx, new: &NewRecord, model: Option<ModelId>, now: Millis) {
    let hash = text::embedding_hash(new.context.as_deref(), &new.content);
    _ = model.map(|model| models::require_current(tx, model).map(drop));
    _ = scope_id(tx, &new.scope);
    _ = new.place.as_ref().map(|place| origins::record_of(tx, place.origin));
    _ = same_text(tx, &rows::hash_of_content(&new.content), now, &mut |_| Ok(ControlFlow::Break(())));
    _ = embeddings::find(tx, &hash);
    _ = model.map(|_| embeddings::waiting(tx, &hash));
    let passages = further(new.context.as_deref(), &new.content);
    passages.iter().for_each(|passage| _ = embeddings::find(tx, &passage.hash));
}

/// Inserts a record that was validated, unless a live one of its scope has its text; with a vector that was checked, if there
/// is one.
pub(super) fn insert(
    tx: &dyn Tx,
    new: &NewRecord,
    body: Option<&Body>,
    vector: Option<(ModelId, &[f32])>,
    now: Millis,
) -> Result<AddOutcome> {
    check_body(tx, body, &new.scope, None, &[], now)?;
    let scope = scope_id(tx, &new.scope)?;
    let content_hash = rows::hash_of_content(&new.content);
    let known = new.place.as_ref().map_or(Ok(None), |place| origins::record_of(tx, place.origin))?;
    if let Some(id) = known {
        let sql = "SELECT embedding_id FROM records WHERE id = ?1";
        let embedding = state(tx.first(sql, &[id.into()], |row| row.get(0))?.flatten());
        return Ok(AddOutcome { id, created: false, supersedes_again: Vec::new(), embedding });
    }
    let text = Text { hash: &content_hash, scope, session: new.session.as_deref(), turn: new.turn, own: None };
    if !new.kind.repeats()
        && let Some(twin) = text.claim(tx, now)?
    {
        return save_again(tx, &twin, new, (scope, body), now);
    }
    let identity = Identity { ulid: rows::new_ulid(now), scope, version: 1, created_at: now, updated_at: now };
    let (id, embedding) = insert_row(tx, new, body, &content_hash, (&identity, vector))?;
    Ok(AddOutcome { id, created: true, supersedes_again: Vec::new(), embedding })
}

/// Saves the text of a live record again. A superseded record becomes current again, as a new version, and supersedes the
/// records that superseded it. A record without a session gets that of the new one.
fn save_again(
    tx: &dyn Tx,
    twin: &Twin,
    new: &NewRecord,
    (scope, body): (i64, Option<&Body>),
    now: Millis,
) -> Result<AddOutcome> {
    let viewer = Viewer::of(&new.scope);
    threads::join(tx, twin.id, scope, new, body)?;
    let mut supersedes_again = Vec::new();
    if let Some(turned) = links::make_current(tx, twin.id, &viewer, now)? {
        supersedes_again.clone_from(&turned.made);
        versions::keep_as_it_is(tx, twin.id, "current again", &Cause::CurrentAgain(turned), now)?;
    } else {
        tx.queue("UPDATE records SET updated_at = ?1 WHERE id = ?2", &[now.into(), twin.id.into()])?;
        append(tx, twin.id, &Change::Put { version: twin.version, new_text: false })?;
    }
    Ok(AddOutcome { id: twin.id, created: false, supersedes_again, embedding: twin.embedding })
}

/// Columns of a row of `records` that a [`NewRecord`] lacks.
pub(super) struct Identity {
    pub(super) ulid: [u8; 16],
    pub(super) scope: i64,
    pub(super) version: i64,
    pub(super) created_at: Millis,
    pub(super) updated_at: Millis,
}

/// Writes a record that was checked, with its vector if there is one, and logs it.
pub(super) fn insert_row(
    tx: &dyn Tx,
    new: &NewRecord,
    body: Option<&Body>,
    content_hash: &Hash,
    (identity, vector): (&Identity, Option<(ModelId, &[f32])>),
) -> Result<(RecordId, EmbeddingState)> {
    let embedding_hash = match new.context.as_deref() {
        None => *content_hash,
        context => text::embedding_hash(context, &new.content),
    };
    // Queries first: a remote database answers all of them at once.
    let is_known = embeddings::find(tx, &embedding_hash)?.is_some();
    let passages = passages::found(tx, further(new.context.as_deref(), &new.content))?;
    let thread = threads::place(tx, identity.scope, new, body)?;
    if let Some((model, vector)) = vector {
        embeddings::store_ahead(tx, model, &embedding_hash, vector)?;
    }
    let tags = rows::tags_json(&rows::unique_tags(&new.tags));
    let provenance = new.place.as_ref().map(rows::place_json);
    let body = body.map(Body::to_json);
    let sql = format!(
        "INSERT INTO records (ulid, version, kind, scope_id, importance, confidence, created_at, updated_at, expires_at,
             content_hash, embedding_hash, embedding_id, source, tags, context, content, body, valid_from, valid_to,
             session, turn, origin, provenance)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ({} ?11), ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
             ?22)
         RETURNING id",
        embeddings::WITH_HASH
    );
    let values = [
        (&identity.ulid).into(),
        identity.version.into(),
        rows::kind_code(new.kind).into(),
        identity.scope.into(),
        new.importance.into(),
        new.confidence.into(),
        identity.created_at.into(),
        identity.updated_at.into(),
        new.expires_at.into(),
        content_hash.into(),
        (&embedding_hash).into(),
        (&new.source).into(),
        tags.as_ref().into(),
        new.context.as_ref().into(),
        (&new.content).into(),
        body.as_ref().into(),
        new.valid.from.into(),
        new.valid.to.into(),
        thread.as_ref().map(|(session, _)| session).into(),
        thread.as_ref().map(|(_, turn)| *turn).into(),
        new.place.as_ref().map(|place| place.origin.as_bytes()).into(),
        provenance.as_ref().into(),
    ];
    let id = tx.insert(&sql, &values)?.into();
    passages::insert(tx, id, &passages)?;
    append(tx, id, &Change::Put { version: identity.version, new_text: true })?;
    let is_ready = (is_known || vector.is_some()) && passages.iter().all(|(_, embedding_id)| embedding_id.is_some());
    Ok((id, if is_ready { EmbeddingState::Ready } else { EmbeddingState::Pending }))
}

/// Indexes a record whose row was restored.
pub(super) fn insert_restored(tx: &dyn Tx, id: RecordId) -> Result<()> {
    let sql = "SELECT embedding_hash, version FROM records WHERE id = ?1";
    let row = tx.first(sql, &[id.into()], |row| Ok((row.get::<Hash>(0)?, row.get::<i64>(1)?)))?;
    let Some((hash, version)) = row else { return Ok(()) };
    let embedding = embeddings::find(tx, &hash)?;
    tx.execute("UPDATE records SET embedding_id = ?2 WHERE id = ?1", &[id.into(), embedding.into()])?;
    passages::set_again(tx, id)?;
    append(tx, id, &Change::Put { version, new_text: true })
}

/// Removes a record with its versions, accesses, links, and the embeddings that no other record uses, and logs it.
/// Returns whether there was one.
pub(super) fn remove(tx: &dyn Tx, id: RecordId) -> Result<bool> {
    let ulid = tx.first("SELECT ulid FROM records WHERE id = ?1", &[id.into()], |row| row.get(0))?;
    let Some(ulid) = ulid else { return Ok(false) };
    let hashes = embedding_hashes(tx, id)?;
    tx.execute("DELETE FROM records WHERE id = ?1", &[id.into()])?;
    for hash in hashes {
        embeddings::remove_unused(tx, &hash)?;
    }
    append(tx, id, &Change::Delete { ulid })?;
    Ok(true)
}

/// The hashes under which the texts of a record, its passages and its versions are embedded.
pub(super) fn embedding_hashes(tx: &dyn Tx, id: RecordId) -> Result<Vec<Hash>> {
    let sql = "SELECT embedding_hash FROM records WHERE id = ?1
         UNION SELECT hash FROM passages WHERE record_id = ?1
         UNION SELECT embedding_hash FROM versions WHERE record_id = ?1";
    tx.all(sql, &[id.into()], |row| row.get(0))
}
