//! Seeded generators of unit vectors: one as hard as real sentence embeddings, and others that find an index's weak sides.

use crate::draws::{Draws, Purpose};

mod realistic;
mod shapes;

/// How the vectors lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// With neighbour distances like those of real sentence embeddings (see [`crate::profile`]).
    Realistic,
    /// Tight clusters of power-law sizes, far apart; within a cluster few directions vary.
    Clustered,
    /// Many times the same few vectors: the commonest makes up several percent, and every tenth is bent by one part in 10,000.
    Duplicated,
    /// Blocks, in the order of the index, of what graph indexes dislike: islands that arrive one after another, a curve on which
    /// only the next and the previous are near, near-orthogonal vectors without neighbours, and opposites.
    Adversarial,
    /// Evenly on the sphere: in many dimensions nothing is near.
    Uniform,
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 5] =
        [Shape::Realistic, Shape::Clustered, Shape::Duplicated, Shape::Adversarial, Shape::Uniform];
}

/// Makes the vectors of one shape and seed, in any order and from any thread: a vector depends on the shape, the seed, the dimensions and
/// its index only, so a smaller set is the beginning of a larger one.
///
/// Every operation is one that IEEE 754 rounds in one way, so the bits are the same on every platform. It keeps about a mebibyte,
/// and nothing grows with the number of vectors.
pub struct Generator {
    shape: Shape,
    seed: u64,
    directions: Directions,
}

impl Generator {
    /// A generator of vectors with `dims` dimensions, at least 2.
    pub fn new(shape: Shape, seed: u64, dims: usize) -> Self {
        Generator { shape, seed, directions: Directions::new(seed, dims) }
    }

    /// Vector `index`, of length 1.
    pub fn vector(&self, index: usize) -> Vec<f32> {
        let draws = Draws::of(self.seed, Purpose::Vector, index as u64);
        self.draw(draws, index)
    }

    /// Query `number` for the first `count` vectors: held out from the same distribution. (Of duplicated vectors, a query
    /// is a duplicate too.)
    pub fn query(&self, count: usize, number: usize) -> Vec<f32> {
        let mut draws = Draws::of(self.seed, Purpose::Query, number as u64);
        // where the place in the order matters, a query belongs to a place too
        let place = draws.below(count.max(1));
        self.draw(draws, place)
    }

    fn draw(&self, draws: Draws, place: usize) -> Vec<f32> {
        let directions = &self.directions;
        match self.shape {
            Shape::Realistic => realistic::vector(directions, draws),
            Shape::Clustered => shapes::clustered(directions, draws),
            Shape::Duplicated => shapes::duplicated(directions, draws),
            Shape::Adversarial => shapes::adversarial(directions, place, draws),
            Shape::Uniform => random_direction(directions.dims, draws),
        }
    }
}

/// The first `count` vectors of `shape`, one at a time.
pub fn vectors(shape: Shape, seed: u64, count: usize, dims: usize) -> impl Iterator<Item = Vec<f32>> {
    let generator = Generator::new(shape, seed, dims);
    (0..count).map(move |index| generator.vector(index))
}

/// `how_many` queries for the first `count` vectors of `shape`, one at a time.
pub fn queries_for(
    shape: Shape,
    seed: u64,
    count: usize,
    dims: usize,
    how_many: usize,
) -> impl Iterator<Item = Vec<f32>> {
    let generator = Generator::new(shape, seed, dims);
    (0..how_many).map(move |number| generator.query(count, number))
}

/// Adds `weight` times `direction` to `sum`.
fn add(sum: &mut [f32], weight: f32, direction: &[f32]) {
    for (value, component) in sum.iter_mut().zip(direction) {
        *value += weight * component;
    }
}

/// Scales to length 1. A zero vector, which the draws make with a chance of nearly nothing, becomes the first axis.
fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
    } else if let Some(first) = vector.first_mut() {
        *first = 1.0;
    }
    vector
}

/// An even direction, of length 1.
fn random_direction(dims: usize, mut draws: Draws) -> Vec<f32> {
    normalised((0..dims).map(|_| draws.normal()).collect())
}

/// Directions by number, as windows of one long row of draws: windows of different numbers are as good as independent, and
/// cost nothing to make. Each has a length of about 1.
struct Directions {
    seed: u64,
    dims: usize,
    pool: Vec<f32>,
}

impl Directions {
    const WINDOWS: usize = 1 << 18;

    fn new(seed: u64, dims: usize) -> Self {
        let mut draws = Draws::of(seed, Purpose::Direction, 0);
        let scale = 1.0 / (dims as f32).sqrt();
        let pool = (0..Self::WINDOWS + dims).map(|_| draws.normal() * scale).collect();
        Directions { seed, dims, pool }
    }

    /// The direction `number` (at least 1, below 2^56), and the draws that belong to it.
    fn get(&self, number: u64) -> (&[f32], Draws) {
        let mut draws = Draws::of(self.seed, Purpose::Direction, number);
        let start = draws.below(Self::WINDOWS);
        (&self.pool[start..][..self.dims], draws)
    }
}
