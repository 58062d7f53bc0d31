//! How many candidates a walk through a segment has to keep for a recall.

/// The recalls that a walk's effort is measured for.
pub(crate) const TARGETS: [f32; 8] = [0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999];
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
        let target = TARGETS.iter().position(|&target| target >= recall);
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
