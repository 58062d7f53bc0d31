//! How many candidates a walk through a segment has to keep for a recall, and how long it goes on.

/// The recalls that a walk's effort is measured for.
pub(crate) const TARGETS: [f32; 8] = [0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999];
/// The patience of a walk for each of [`TARGETS`], as `factor` and `more`: measured on queries unlike the stored vectors.
const PATIENCE: [(f32, usize); TARGETS.len()] =
    [(1.4, 10), (1.6, 20), (1.8, 30), (2.0, 40), (2.3, 50), (2.8, 60), (3.3, 80), (4.0, 150)];
/// A walk that has patience ends at this share of the effort at the earliest.
const LEAST: f64 = 0.5;
/// The number of neighbours that it is measured with.
pub(crate) const K: usize = 10;
/// An effort is at least this, divided by the share that may be missed: where questions near the vectors are easy, others, as
/// about what the store knows nothing of, are harder, and an effort as small costs little.
const RESERVE: f64 = 2.0;
/// Stands for a recall that no walk reaches before a scan is cheaper.
pub(crate) const SCAN: u32 = u32::MAX;

/// Candidates that a walk has to keep, for each of [`TARGETS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Efforts(pub(crate) [u32; TARGETS.len()]);

impl Efforts {
    /// The efforts of a segment without a graph.
    pub(crate) const NONE: Self = Self([0; TARGETS.len()]);

    /// How many candidates a walk has to keep for a recall of the `k` nearest; more than there are vectors where a scan
    /// is better.
    pub(crate) fn ef(&self, recall: f32, k: usize) -> usize {
        let target = target(recall);
        match target.map(|target| (TARGETS[target], self.0[target])) {
            None | Some((_, SCAN)) => usize::MAX,
            Some((target, ef)) => {
                let ef = f64::from(ef).max(RESERVE / (1.0 - f64::from(target)));
                // As was measured on sentence embeddings, for 50 and 100 of them.
                (ef * (k.max(K) as f64 / K as f64).sqrt()) as usize + k.saturating_sub(K) / 2
            }
        }
    }
}

/// How long a walk goes on after the best that it has found have changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Patience {
    /// The number of slots that it accepts in any case.
    pub(crate) least: usize,
    /// It ends when it has accepted so many times as many slots as when they changed last, and [`more`](Self::more).
    pub(crate) factor: f32,
    /// Slots that it accepts beyond these.
    pub(crate) more: usize,
}

/// The patience of a walk for a recall of the `k` nearest, which keeps `ef` candidates.
pub(crate) fn patience(recall: f32, k: usize, ef: u64) -> Patience {
    let (factor, more) = target(recall).map_or((f32::INFINITY, 0), |target| PATIENCE[target]);
    // Of more than are watched, the last ones are found later.
    let share = if k > K { 1.0 } else { LEAST };
    Patience { least: (ef as f64 * share).ceil() as usize, factor, more }
}

/// The first of [`TARGETS`] that is high enough.
fn target(recall: f32) -> Option<usize> {
    TARGETS.iter().position(|&target| target >= recall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_target_that_is_high_enough_decides() {
        let efforts = Efforts([20, 30, 50, 60, 70, 80, 900, SCAN]);
        assert_eq!(efforts.ef(0.5, 10), 20);
        assert_eq!(efforts.ef(0.9, 10), 30);
        assert_eq!(efforts.ef(0.91, 3), 50);
        assert_eq!(efforts.ef(0.91, 40), 115);
        assert_eq!(efforts.ef(0.99, 10), 200, "the reserve");
        assert_eq!([efforts.ef(0.999, 10), efforts.ef(1.0, 10)], [usize::MAX; 2]);
    }
}
