//! Seeded generators of unit vectors: one as hard as real sentence embeddings, and others that test an index's
//! weaknesses.

pub(crate) use self::directions::normalised;
use self::directions::{Directions, random_direction};
use crate::draws::{Draws, Purpose};

mod directions;
mod realistic;
mod shapes;

/// The distribution of the vectors.
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
    pub const ALL: [Shape; 5] =
        [Shape::Realistic, Shape::Clustered, Shape::Duplicated, Shape::Adversarial, Shape::Uniform];
}

/// Generates the vectors of one shape and seed, in any order and from any thread: a vector depends only on the shape,
/// the seed, the dimensions and its index, so a smaller set is a prefix of a larger one.
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

    /// Query `number` for the first `count` vectors: held out from the same distribution. (For duplicated vectors, a
    /// query is a duplicate too.)
    pub fn query(&self, count: usize, number: usize) -> Vec<f32> {
        let mut draws = Draws::of(self.seed, Purpose::Query, number as u64);
        // if the order matters, a query has a position too
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
