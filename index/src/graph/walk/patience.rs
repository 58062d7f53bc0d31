//! When a walk has found what it seeks. Queries of one index differ in how far a walk has to go: one that is unlike the stored
//! vectors, or whose nearest were deleted, needs many times as much as most. It shows while the walk runs: the best that it has
//! found go on changing.

use crate::efforts::Patience;

/// The number of the best that are watched. The best alone is mostly found soon, which says little about the query.
pub(crate) const WATCHED: usize = 10;

/// Watches the best that a walk has found.
pub(super) struct Watch {
    patience: Option<Patience>,
    best: [f32; WATCHED],
    /// The similarity that changes them.
    bar: f32,
    /// The number of accepted slots at which the walk ends.
    end: usize,
}

impl Watch {
    /// Without patience, the walk does not end before it has looked at all that it keeps.
    pub(super) fn new(patience: Option<Patience>) -> Self {
        let bar = if patience.is_some() { f32::NEG_INFINITY } else { f32::INFINITY };
        Self { patience, best: [f32::NEG_INFINITY; WATCHED], bar, end: usize::MAX }
    }

    /// Notes a slot that the walk has accepted as the one with this number. Returns whether the walk has found enough.
    #[inline]
    pub(super) fn ends_after(&mut self, similarity: f32, accepted: usize) -> bool {
        if similarity > self.bar {
            self.change(similarity, accepted);
        }
        accepted >= self.end
    }

    fn change(&mut self, similarity: f32, accepted: usize) {
        let Some(Patience { least, factor, more }) = self.patience else { return };
        if let Some(worst) = self.best.iter_mut().min_by(|a, b| a.total_cmp(b)) {
            *worst = similarity;
        }
        self.bar = self.best.iter().copied().fold(f32::INFINITY, f32::min);
        self.end = least.max((accepted as f32 * factor) as usize + more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_ends_when_the_best_have_not_changed_for_long() {
        let ends = |patience, last_change| {
            let mut watch = Watch::new(patience);
            let similarity = |accepted| match accepted {
                _ if accepted == last_change => 0.6,
                ..=WATCHED => 0.5,
                _ => 0.1,
            };
            (1..=200).find(|&accepted| watch.ends_after(similarity(accepted), accepted))
        };
        let patience = Patience { least: 30, factor: 2.0, more: 5 };
        assert_eq!(
            [10, 12, 13, 29, 31].map(|last_change| ends(Some(patience), last_change)),
            [30, 30, 31, 63, 30].map(Some)
        );
        assert_eq!(ends(None, 12), None);
    }
}
