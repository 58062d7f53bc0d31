//! Facts that change: an old statement, and a new one that supersedes it.

use serde::{Deserialize, Serialize};

use crate::draws::{Draws, Purpose};
use crate::phrases::{About, Phrases};

/// A fact that has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The old fact.
    pub old: String,
    /// The new fact, which supersedes the old.
    pub new: String,
    /// A query that only the new one answers.
    pub query: String,
}

/// The first `count` changes of `seed`; 576 are all. A change depends on the seed and its index only.
pub fn changes(seed: u64, count: usize) -> impl Iterator<Item = Change> {
    (0..count).map_while(move |index| {
        let mut draws = Draws::of(seed, Purpose::Change, index as u64);
        let phrases = Phrases::get();
        let parts = phrases.instance(seed, phrases.changed, About::Known, index, &mut draws)?;
        let [old, new, query] = <[String; 3]>::try_from(parts).ok()?;
        Some(Change { old, new, query })
    })
}
