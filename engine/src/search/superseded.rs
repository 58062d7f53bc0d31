//! A cache of the superseded records, which are live but not results.

use std::sync::Arc;

use parking_lot::Mutex;
use roaring::RoaringTreemap;

use crate::error::Result;
use crate::records::Snapshot;
use crate::types::Viewer;

/// The cache contains the sets of at most this many viewers.
const VIEWERS: usize = 8;

/// Caches the superseded records for the viewers of the last few searches. A set stays valid until a `supersedes` link
/// is created or removed.
#[derive(Default)]
pub struct SupersededCache {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The state of the links that the sets belong to.
    superseding: i64,
    /// The most recent viewer first.
    sets: Vec<(Viewer, Arc<RoaringTreemap>)>,
}

impl SupersededCache {
    /// The ids of the superseded records as `viewer` sees them, in `snapshot`.
    pub fn get(&self, viewer: &Viewer, snapshot: &Snapshot) -> Result<Arc<RoaringTreemap>> {
        let superseding = snapshot.superseding()?;
        if let Some(set) = self.kept.lock().find(superseding, viewer) {
            return Ok(set);
        }
        let set = Arc::new(snapshot.superseded(viewer)?);
        self.kept.lock().keep(superseding, viewer, &set);
        Ok(set)
    }
}

impl Kept {
    fn find(&mut self, superseding: i64, viewer: &Viewer) -> Option<Arc<RoaringTreemap>> {
        if self.superseding != superseding {
            return None;
        }
        let at = self.sets.iter().position(|(kept, _)| kept == viewer)?;
        self.sets[..=at].rotate_right(1);
        Some(self.sets[0].1.clone())
    }

    fn keep(&mut self, superseding: i64, viewer: &Viewer, set: &Arc<RoaringTreemap>) {
        // A search that started earlier must not undo the update of a later one.
        if superseding < self.superseding {
            return;
        }
        if superseding > self.superseding {
            *self = Kept { superseding, sets: Vec::new() };
        }
        self.sets.retain(|(kept, _)| kept != viewer);
        self.sets.truncate(VIEWERS - 1);
        self.sets.insert(0, (viewer.clone(), set.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_kept_for_the_last_few_viewers_and_for_the_newest_state_of_the_links() {
        let mut kept = Kept::default();
        let viewer = |at: usize| Viewer::in_project(at.to_string());
        let set = |id: u64| Arc::new(RoaringTreemap::from([id]));
        for at in 0..VIEWERS {
            kept.keep(5, &viewer(at), &set(at as u64));
        }
        assert_eq!(kept.find(5, &viewer(0)), Some(set(0)), "and now it is the most recently used");
        kept.keep(5, &viewer(99), &set(99));
        assert_eq!(kept.find(5, &viewer(1)), None);
        assert_eq!(kept.find(5, &viewer(0)), Some(set(0)));
        assert_eq!(kept.find(6, &viewer(0)), None);
        kept.keep(4, &viewer(0), &set(4));
        assert_eq!(
            (kept.find(5, &viewer(0)), kept.find(4, &viewer(0))),
            (Some(set(0)), None),
            "an older one is not kept"
        );
        kept.keep(6, &viewer(0), &set(6));
        assert_eq!((kept.find(6, &viewer(0)), kept.find(6, &viewer(99))), (Some(set(6)), None));
    }
}
