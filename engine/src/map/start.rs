//! Where the points of a layout start: on the two directions in which a sample of the vectors differs most.

use super::descent::Coords;
use super::random::Random;

/// Rounds in which the two directions are turned to where they should be.
const ROUNDS: usize = 20;
/// How far from the middle the farthest point starts.
const REACH: f32 = 10.0;
/// How far points of one vector start from one another.
const APART: f32 = 1e-3;

/// The plane of a sample of vectors.
pub struct Axes {
    mean: Vec<f32>,
    directions: [Vec<f32>; 2],
}

impl Axes {
    /// The axes of a sample (principal components by orthogonal iteration), all of `dims` numbers.
    pub fn of(sample: &[Vec<f32>], dims: usize) -> Self {
        let mut mean = vec![0.0; dims];
        for vector in sample {
            add(&mut mean, vector, 1.0 / sample.len() as f32);
        }
        let mut random = Random::new(1);
        let mut directions = [0, 1].map(|_| (0..dims).map(|_| random.signed()).collect::<Vec<f32>>());
        for _ in 0..ROUNDS {
            let mut next = [vec![0.0; dims], vec![0.0; dims]];
            for vector in sample {
                for (next, direction) in next.iter_mut().zip(&directions) {
                    let along = dot(vector, direction) - dot(&mean, direction);
                    add(next, vector, along);
                    add(next, &mean, -along);
                }
            }
            let [mut first, mut second] = next;
            scale_to_one(&mut first);
            let shared = dot(&first, &second);
            add(&mut second, &first, -shared);
            scale_to_one(&mut second);
            directions = [first, second];
        }
        for direction in &mut directions {
            let largest = direction.iter().copied().reduce(|a, b| if b.abs() > a.abs() { b } else { a });
            if largest.is_some_and(|largest| largest < 0.0) {
                direction.iter_mut().for_each(|number| *number = -*number);
            }
        }
        Axes { mean, directions }
    }

    /// The place of a vector on the plane.
    pub fn place(&self, vector: &[f32]) -> Coords {
        [0, 1].map(|axis| {
            let direction = &self.directions[axis];
            dot(vector, direction) - dot(&self.mean, direction)
        })
    }
}

/// Gives the places the extent at which a layout starts, and those of equal vectors a little room.
pub fn spread(places: &mut [Coords]) {
    let farthest = places.iter().flatten().map(|at| at.abs()).fold(0.0, f32::max);
    let scale = if farthest > 0.0 { REACH / farthest } else { 0.0 };
    let mut random = Random::new(2);
    for at in places.iter_mut().flatten() {
        *at = *at * scale + APART * random.signed();
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for at in 0..8 {
            sums[at] += a[at] * b[at];
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

fn add(to: &mut [f32], vector: &[f32], times: f32) {
    to.iter_mut().zip(vector).for_each(|(to, number)| *to += times * number);
}

fn scale_to_one(vector: &mut [f32]) {
    let length = dot(vector, vector).sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number /= length);
    }
}
