//! Vectors that test an index's weaknesses: clustered, duplicated, adversarial.

use super::directions::{Directions, add, normalised, random_direction};
use super::realistic;
use crate::draws::{Draws, Purpose};

/// A centre of Zipf's popularity, eight directions of its own in which its members vary, and a little noise.
pub(super) fn clustered(directions: &Directions, mut draws: Draws) -> Vec<f32> {
    const CLUSTERS: usize = 2_000;
    const VARYING: u64 = 8;
    let number = (1 + draws.zipf(CLUSTERS) as u64) << 8;
    let mut vector = directions.get(number).0.to_vec();
    for axis in 1..=VARYING {
        add(&mut vector, 0.08 * draws.normal(), directions.get(number | axis).0);
    }
    add(&mut vector, 0.05, &random_direction(directions.dims, draws));
    normalised(vector)
}

/// One of few originals, of Zipf's popularity; every tenth a hair beside it.
pub(super) fn duplicated(directions: &Directions, mut draws: Draws) -> Vec<f32> {
    const ORIGINALS: usize = 10_000;
    let original = draws.zipf(ORIGINALS) as u64;
    // originals are taken from query numbers that no measurement reaches, so that they are never a held-out query
    let mut vector = realistic::vector(directions, Draws::of(directions.seed, Purpose::Query, (1 << 40) + original));
    if draws.percent(10) {
        let dims = vector.len();
        add(&mut vector, 1e-4, &random_direction(dims, draws));
        vector = normalised(vector);
    }
    vector
}

/// Blocks in the order of `place`; see [`super::Shape::Adversarial`].
pub(super) fn adversarial(directions: &Directions, place: usize, mut draws: Draws) -> Vec<f32> {
    const BLOCK: usize = 1_000;
    let block = place / BLOCK;
    let dims = directions.dims;
    let island = directions.get(1 + block as u64).0;
    match block % 4 {
        // an island, complete before the next begins: later ones must still be reachable from the first
        0 => {
            let mut vector = island.to_vec();
            add(&mut vector, 0.02, &random_direction(dims, draws));
            normalised(vector)
        }
        // a curve from one far point through a second to the opposite of the first: one neighbour on either side
        1 => {
            let along = (place % BLOCK) as f32 / BLOCK as f32 + draws.unit() / BLOCK as f32;
            let mut vector = vec![0.0; dims];
            add(&mut vector, 1.0 - 2.0 * along, island);
            add(&mut vector, 4.0 * along * (1.0 - along), directions.get((1 << 32) + block as u64).0);
            add(&mut vector, 1e-3, &random_direction(dims, draws));
            normalised(vector)
        }
        // axes with a trace of noise: all about as far from each other as can be
        2 => {
            let mut vector = vec![0.0; dims];
            let axis = draws.below(dims);
            vector[axis] = if draws.percent(50) { 1.0 } else { -1.0 };
            add(&mut vector, 0.4, &random_direction(dims, draws));
            normalised(vector)
        }
        // two opposite caps: what is not near is as far as possible
        _ => {
            let side = if draws.percent(50) { 1.0 } else { -1.0 };
            let mut vector = random_direction(dims, draws);
            add(&mut vector, 2.0 * side, island);
            normalised(vector)
        }
    }
}
