//! Moves points until those that belong together are near: stochastic gradient descent with negative samples, as in UMAP.
//! One thread, a fixed seed: the same graph and the same start give the same places, bit for bit, on one processor and with
//! one build.

use super::graph::Graph;
use super::random::Random;
use crate::error::Result;

/// Points that are pushed away for each that is pulled.
const NEGATIVES: usize = 5;
/// A step is no longer than this, in each direction.
const LONGEST: f32 = 4.0;

/// On the plane, in units of the layout.
pub type Coords = [f32; 2];

/// How far a layout goes, and how fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// Passes over all edges.
    pub epochs: u32,
    /// How far a point goes in the first pass. It declines to 0 in the last.
    pub rate: f32,
    /// Different ones make different maps.
    pub seed: u64,
}

/// Moves `places`, one for each row of `graph`. Calls `passed` after each pass.
///
/// # Errors
/// The first of `passed`, which ends it.
pub fn descend(
    graph: &Graph,
    places: &mut [Coords],
    schedule: Schedule,
    passed: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let mut random = Random::new(schedule.seed);
    for epoch in 0..schedule.epochs {
        let rate = schedule.rate_in(epoch);
        for row in 0..graph.len() {
            let mut own = places[row];
            for &(other, strength) in graph.of(row) {
                if !is_due(strength, row, other, epoch) {
                    continue;
                }
                let pull = pull(own, places[other as usize]);
                own = moved(own, pull, rate);
                places[other as usize] = moved(places[other as usize], pull, -rate);
                own = pushed(own, row, places, rate, &mut random);
            }
            places[row] = own;
        }
        passed()?;
    }
    Ok(())
}

/// Moves one point that is not one of `places`, which stay.
pub fn descend_alone(mut own: Coords, edges: &[(u32, f32)], places: &[Coords], schedule: Schedule) -> Coords {
    let mut random = Random::new(schedule.seed);
    for epoch in 0..schedule.epochs {
        let rate = schedule.rate_in(epoch);
        for &(other, strength) in edges {
            if is_due(strength, 0, other, epoch) {
                own = moved(own, pull(own, places[other as usize]), rate);
                own = pushed(own, usize::MAX, places, rate, &mut random);
            }
        }
    }
    own
}

impl Schedule {
    fn rate_in(&self, epoch: u32) -> f32 {
        self.rate * (1.0 - epoch as f32 / self.epochs as f32)
    }
}

/// Whether an edge of this strength, which is due in that share of the epochs, is due in this one. Weak edges are not all due
/// in the same ones, nor only in the last.
fn is_due(strength: f32, row: usize, other: u32, epoch: u32) -> bool {
    const WHOLE: u32 = 1 << 16;
    let share = (strength * WHOLE as f32) as u64;
    let phase = (row as u32).wrapping_mul(0x9E37_79B1) ^ other.wrapping_mul(0x85EB_CA6B);
    let before = share * u64::from(epoch) + u64::from(phase >> 16);
    (before + share) / u64::from(WHOLE) > before / u64::from(WHOLE)
}

/// Away from some points that have nothing to do with it.
fn pushed(mut own: Coords, row: usize, places: &[Coords], rate: f32, random: &mut Random) -> Coords {
    for _ in 0..NEGATIVES {
        let other = random.below(places.len());
        if other != row {
            own = moved(own, push(own, places[other]), rate);
        }
    }
    own
}

fn moved(place: Coords, by: Coords, rate: f32) -> Coords {
    [place[0] + rate * by[0], place[1] + rate * by[1]]
}

/// Nearness is `1 / (1 + SPREAD * squared ^ SHAPE)`: the two fit a minimal distance of 0.1, as in UMAP.
const SPREAD: f32 = 1.577;
const SHAPE: f32 = 0.895;

/// The step to a neighbour.
fn pull(from: Coords, to: Coords) -> Coords {
    let ([x, y], squared) = difference(from, to);
    let bent = bent(squared);
    let by = -2.0 * SPREAD * SHAPE * bent / (1.0 + SPREAD * squared * bent);
    [clipped(by * x), clipped(by * y)]
}

/// The step away from a point.
fn push(from: Coords, to: Coords) -> Coords {
    let ([x, y], squared) = difference(from, to);
    let by = 2.0 * SHAPE / ((0.001 + squared) * (1.0 + SPREAD * squared * bent(squared)));
    [clipped(by * x), clipped(by * y)]
}

/// `squared ^ (SHAPE - 1)`, to 1 in 2,000: by its exponent from a table, and by its mantissa from a parabola. The power of
/// the system takes most of the time of a layout, and is another one on another system.
fn bent(squared: f32) -> f32 {
    let bits = squared.to_bits();
    let mantissa = f32::from_bits(bits & 0x007F_FFFF | 0x3F80_0000);
    OF_EXPONENTS[(bits >> 23) as usize & 0xFF] * (1.120_653_1 + mantissa * (-0.147_072_22 + mantissa * 0.025_899_988))
}

/// `2 ^ ((SHAPE - 1) * exponent)`, for each exponent that a float has.
const OF_EXPONENTS: [f32; 256] = {
    const RATIO: f64 = 0.929_804_942_612_613;
    let (mut powers, mut at, mut power) = ([0.0; 256], 0, 10_333.203_733_145_6);
    while at < 256 {
        powers[at] = power as f32;
        power *= RATIO;
        at += 1;
    }
    powers
};

fn difference(from: Coords, to: Coords) -> (Coords, f32) {
    let [x, y] = [from[0] - to[0], from[1] - to[1]];
    ([x, y], x * x + y * y)
}

fn clipped(step: f32) -> f32 {
    step.clamp(-LONGEST, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_power_is_that_of_the_system_but_for_a_little() {
        for step in -400..=400 {
            let squared = 1.07_f32.powi(step);
            let exact = squared.powf(SHAPE - 1.0);
            assert!((bent(squared) / exact - 1.0).abs() < 1e-3, "{squared}: {} {exact}", bent(squared));
        }
        for place in [pull([1.0; 2], [1.0; 2]), push([1.0; 2], [1.0; 2]), push([0.0; 2], [1e-30, 1e30])] {
            assert!(place.iter().all(|at| at.is_finite()), "{place:?}");
        }
    }

    #[test]
    fn an_edge_is_due_as_often_as_it_is_strong() {
        for strength in [1.0_f32, 0.5, 0.1, 0.01] {
            let due = (0..1_000).filter(|epoch| is_due(strength, 7, 9, *epoch)).count();
            assert!((due as f32 - strength * 1_000.0).abs() <= 1.5, "{strength}: {due}");
        }
    }
}
