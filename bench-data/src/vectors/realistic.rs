//! Vectors like sentence embeddings. A sentence is a sum of words; so is a vector, a sum of "concepts" that belong to a
//! topic, that are common or rare like words, and that share a smaller number of meanings ("latents").
//!
//! The sum reproduces properties of real embeddings: a common offset, a decaying spectrum, overlapping clusters of
//! power-law sizes, few degrees of freedom around a point, and neighbors that come closer as the corpus grows. The
//! constants are fitted to 100,000 short English texts embedded with all-MiniLM-L6-v2; the example `profile` prints
//! both.

use super::directions::{Directions, add, normalised, random_direction};
use crate::draws::Draws;

/// Meanings that all concepts share; the first ones more.
const LATENTS: usize = 130;
/// Fields of interest, of Zipf's sizes.
const AREAS: usize = 60;
/// Topics of an area, of Zipf's sizes.
const TOPICS_PER_AREA: usize = 20;
/// Concepts that belong to a topic.
const CONCEPTS_PER_TOPIC: usize = 40;
/// Concepts that may occur in any topic.
const COMMON_CONCEPTS: usize = 12_000;
/// Minimum and maximum number of concepts of a vector.
const CONCEPTS: std::ops::RangeInclusive<usize> = 3..=6;
/// Percentage of a vector's concepts that belong to its topic.
const PERCENT_OF_TOPIC: usize = 62;

const WEIGHT_OFFSET: f32 = 0.34;
const WEIGHT_AREA: f32 = 0.24;
const WEIGHT_TOPIC: f32 = 0.45;
const WEIGHT_CONCEPTS: f32 = 0.78;
const WEIGHT_OWN: f32 = 0.31;
/// Fraction of a concept that is made of shared meanings.
const SHARED: f32 = 0.74;

/// Ranges of the directions' numbers.
const OFFSET: u64 = 1;
const FIRST_LATENT: u64 = 1 << 10;
const FIRST_AREA: u64 = 1 << 12;
const FIRST_TOPIC: u64 = 1 << 20;
const FIRST_TOPICAL_CONCEPT: u64 = 1 << 32;
const FIRST_COMMON_CONCEPT: u64 = 1 << 40;

pub(super) fn vector(directions: &Directions, mut draws: Draws) -> Vec<f32> {
    let area = draws.zipf(AREAS);
    let topic = area * TOPICS_PER_AREA + draws.zipf(TOPICS_PER_AREA);
    let mut sum = vec![0.0; directions.dims];
    add(&mut sum, WEIGHT_OFFSET, directions.get(OFFSET).0);
    add_meaning(&mut sum, WEIGHT_AREA, directions, FIRST_AREA + area as u64);
    add_meaning(&mut sum, WEIGHT_TOPIC, directions, FIRST_TOPIC + topic as u64);

    let how_many = CONCEPTS.start() + draws.below(CONCEPTS.end() - CONCEPTS.start() + 1);
    let share = WEIGHT_CONCEPTS / (how_many as f32).sqrt();
    for _ in 0..how_many {
        let concept = if draws.percent(PERCENT_OF_TOPIC) {
            FIRST_TOPICAL_CONCEPT + (topic * CONCEPTS_PER_TOPIC + draws.zipf(CONCEPTS_PER_TOPIC)) as u64
        } else {
            FIRST_COMMON_CONCEPT + draws.zipf(COMMON_CONCEPTS) as u64
        };
        let weight = share * (0.6 + 0.8 * draws.unit());
        add_meaning(&mut sum, weight, directions, concept);
    }
    let own = WEIGHT_OWN * (0.9 + 0.2 * draws.unit());
    add(&mut sum, own, &random_direction(directions.dims, draws));
    normalised(sum)
}

/// Adds the meaning numbered `number`: a few shared latents and something of its own.
fn add_meaning(sum: &mut [f32], weight: f32, directions: &Directions, number: u64) {
    const TOGETHER: usize = 4;
    let (own, mut draws) = directions.get(number);
    add(sum, weight * (1.0 - SHARED * SHARED).sqrt(), own);
    for _ in 0..TOGETHER {
        let latent = draws.zipf(LATENTS) as u64;
        let sign = if draws.percent(50) { 1.0 } else { -1.0 };
        add(sum, weight * SHARED / (TOGETHER as f32).sqrt() * sign, directions.get(FIRST_LATENT + latent).0);
    }
}
