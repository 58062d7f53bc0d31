//! Directions by number, and sums of them: the basis of all shapes.

use crate::draws::{Draws, Purpose};

/// Adds `weight` times `direction` to `sum`.
pub(super) fn add(sum: &mut [f32], weight: f32, direction: &[f32]) {
    for (value, component) in sum.iter_mut().zip(direction) {
        *value += weight * component;
    }
}

/// Scales to length 1. A zero vector, which the draws make with a chance of nearly nothing, becomes the first axis.
pub(crate) fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
    } else if let Some(first) = vector.first_mut() {
        *first = 1.0;
    }
    vector
}

/// An even direction, of length 1.
pub(super) fn random_direction(dims: usize, mut draws: Draws) -> Vec<f32> {
    normalised((0..dims).map(|_| draws.normal()).collect())
}

/// Directions by number, as windows of one long row of draws: windows of different numbers are practically independent,
/// and cost nothing. Each has a length of about 1.
pub(super) struct Directions {
    pub(super) seed: u64,
    pub(super) dims: usize,
    pool: Vec<f32>,
}

impl Directions {
    const WINDOWS: usize = 1 << 18;

    pub(super) fn new(seed: u64, dims: usize) -> Self {
        let mut draws = Draws::of(seed, Purpose::Direction, 0);
        let scale = 1.0 / (dims as f32).sqrt();
        let pool = (0..Self::WINDOWS + dims).map(|_| draws.normal() * scale).collect();
        Directions { seed, dims, pool }
    }

    /// The direction `number` (at least 1, below 2^56), and the draws that belong to it.
    pub(super) fn get(&self, number: u64) -> (&[f32], Draws) {
        let mut draws = Draws::of(self.seed, Purpose::Direction, number);
        let start = draws.below(Self::WINDOWS);
        (&self.pool[start..][..self.dims], draws)
    }
}
