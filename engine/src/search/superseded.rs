//! What a search leaves out although it is live: memories that others have taken the place of.

use std::sync::Arc;

use parking_lot::Mutex;
use roaring::RoaringTreemap;

use crate::error::Result;
use crate::records::Snapshot;
use crate::types::Viewer;

/// What is superseded is kept for so many viewers.
const VIEWERS: usize = 8;

/// Keeps what is superseded for the viewers of the last few searches: as long as no link that supersedes is made or goes,
/// nothing needs to be read again.
#[derive(Default)]
pub struct HiddenCache {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The state of the links that the sets are of.
    superseding: i64,
    /// The viewer of the last search first.
    sets: Vec<(Viewer, Arc<RoaringTreemap>)>,
}

impl HiddenCache {
    /// The ids of what is superseded to the eyes of `viewer`, as `snapshot` has it.
    pub fn superseded(&self, viewer: &Viewer, snapshot: &Snapshot) -> Result<Arc<RoaringTreemap>> {
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
        // A search that began earlier must not take back what a later one has found.
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
        assert_eq!(kept.find(5, &viewer(0)), Some(set(0)), "and now it is the last that was asked for");
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
