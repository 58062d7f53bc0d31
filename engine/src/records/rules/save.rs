//! Records are saved with their links and their vectors, all in one transaction.

use std::collections::HashMap;

use super::update::{self, Changed};
use super::{add, embeddings, links};
use crate::error::{Error, Result, refused};
use crate::records::models;
use crate::records::transaction::{Authority, Tx};
use crate::text::{self, Hash};
use crate::types::{AddOutcome, EmbeddingState, Link, Millis, ModelId, RecordUpdate, Save};

/// Vectors that a model has made of texts, by the hashes of the texts.
pub type Vectors = (ModelId, HashMap<Hash, Vec<f32>>);

/// The outcome of a [`Save`].
#[derive(Debug)]
pub struct Saving {
    /// The record.
    pub added: AddOutcome,
    /// For each link, whether it is new.
    pub links: Vec<Result<bool>>,
    /// The record that had the text already, before and after the update.
    pub updated: Option<Result<Changed>>,
}

/// Saves many records in one transaction. One that is refused does not stop the others.
pub(crate) fn save(
    authority: &impl Authority,
    saves: &[Save],
    vectors: Option<&Vectors>,
    now: Millis,
) -> Result<Vec<Result<Saving>>> {
    add::add_each(authority, saves, |save| &save.record, |tx, save| refused(save_one(tx, save, vectors, now)))
}

fn save_one(tx: &dyn Tx, save: &Save, vectors: Option<&Vectors>, now: Millis) -> Result<Saving> {
    let added = insert(tx, save, vectors, now)?;
    let (id, viewer) = (added.id, &save.viewer);
    let change = |update: &RecordUpdate| {
        update.validate()?;
        update::apply(tx, id, update, viewer, now)
    };
    let update = save.update.as_ref().filter(|_| !added.created);
    let updated = update.map(|update| refused(change(update))).transpose()?;
    // After the update, so that an undo removes a link first.
    let linked_at = if added.created { now } else { now + 1 };
    let link = |&(kind, to)| refused(links::insert(tx, Link { from: id, to, kind }, viewer, linked_at, now));
    let links = save.links.iter().map(link).collect::<Result<_>>()?;
    Ok(Saving { added, links, updated })
}

/// Inserts the record, with its vector if that is one of the store's model.
fn insert(tx: &dyn Tx, save: &Save, vectors: Option<&Vectors>, now: Millis) -> Result<AddOutcome> {
    let hash = text::embedding_hash(save.record.context.as_deref(), &save.record.content);
    let vector = vectors.and_then(|(model, vectors)| Some((*model, vectors.get(&hash)?.as_slice())));
    add::foresee(tx, &save.record, vector.map(|(model, _)| model), now)?;
    let Some((model, numbers)) = vector else { return add::insert(tx, &save.record, None, now) };
    let vector =
        match models::require_current(tx, model).and_then(|model| embeddings::check_vector(numbers, model.dims)) {
            Ok(()) => vector,
            // Then the text waits for the background.
            Err(Error::ModelMismatch { .. } | Error::Embedding(_)) => None,
            Err(error) => return Err(error),
        };
    let mut added = add::insert(tx, &save.record, vector, now)?;
    // One that has the text already may wait for its vector.
    let waits = !added.created && added.embedding == EmbeddingState::Pending;
    if let Some((model, vector)) = vector.filter(|_| waits)
        && embeddings::store_waited_for(tx, model, &hash, vector)?.contains(&added.id)
    {
        added.embedding = EmbeddingState::Ready;
    }
    Ok(added)
}
