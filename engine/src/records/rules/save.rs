//! Records are saved with their links and their vectors, all in one transaction.

use std::borrow::Borrow;

use super::embeddings::{self, Vectors};
use super::update::{self, Changed};
use super::{add, links};
use crate::body::Body;
use crate::error::{Result, refused};
use crate::records::lookup::is_live;
use crate::records::transaction::{Authority, Tx};
use crate::text;
use crate::types::{AddOutcome, EmbeddingState, Link, Millis, Save};

/// The outcome of a [`Save`] in the database. The engine makes a `Saved` of it.
#[derive(Debug)]
pub struct StoredSave {
    /// The record.
    pub added: AddOutcome,
    /// For each link, whether it is new, or why it was not made.
    pub links: Vec<Result<bool>>,
    /// The record that had the text already, before and after the update.
    pub updated: Option<Result<Changed>>,
}

/// Saves many records with their links and `vectors` in one transaction. The outcomes are in the order of `saves`; one that is
/// refused does not stop the others, a failure of the database stops them all. A save that links to a record which is not
/// there is refused as a whole.
pub(crate) fn save(
    authority: &impl Authority,
    saves: &[impl Borrow<Save>],
    vectors: Option<&Vectors>,
    now: Millis,
) -> Result<Vec<Result<StoredSave>>> {
    let save = |tx: &dyn Tx, save: &_, body: Option<&Body>| {
        refused(save_one(tx, Borrow::<Save>::borrow(save), body, vectors, now))
    };
    add::add_each(authority, saves, |save| &save.borrow().record, save)
}

fn save_one(
    tx: &dyn Tx,
    save: &Save,
    body: Option<&Body>,
    vectors: Option<&Vectors>,
    now: Millis,
) -> Result<StoredSave> {
    let Save { record, viewer, .. } = save;
    let hash = text::embedding_hash(record.context.as_deref(), &record.content);
    let model = vectors.filter(|(_, vectors)| vectors.contains_key(&hash)).map(|(model, _)| *model);
    tx.prefetch(&|tx| {
        add::announce(tx, record, model, now);
        save.links.iter().for_each(|(_, to)| _ = is_live(tx, *to, viewer, now));
    })?;
    for (_, to) in &save.links {
        links::check_live(tx, *to, viewer, now)?;
    }
    let vector = embeddings::fitting(tx, vectors, &hash)?;
    let mut added = add::insert(tx, record, body, vector, now)?;
    let id = added.id;
    let update = save.given.filter(|_| !added.created).and_then(|given| given.update(record));
    let updated = update.map(|update| refused(update::apply(tx, id, &update, None, viewer, now))).transpose()?;
    // A record that was there may wait for its vector, since before or since the update.
    let may_wait = !added.created && (added.embedding == EmbeddingState::Pending || updated.is_some());
    if let Some((model, vector)) = vector.filter(|_| may_wait)
        && embeddings::store_waited_for(tx, model, &hash, vector)?.contains(&id)
    {
        added.embedding = EmbeddingState::Ready;
    }
    // After the update, so that an undo removes a link first.
    let linked_at = if added.created { now } else { now + 1 };
    let link = |&(kind, to)| refused(links::insert(tx, Link { from: id, to, kind }, viewer, linked_at, now));
    let links = save.links.iter().map(link).collect::<Result<_>>()?;
    Ok(StoredSave { added, links, updated })
}
