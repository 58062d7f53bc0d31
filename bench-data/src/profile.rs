//! How hard a set of vectors is: how near the neighbours are, against how near random pairs are.

use crate::draws::{Draws, Purpose};

/// Mean and percentiles of some cosines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub mean: f32,
    /// The 5th percentile.
    pub low: f32,
    pub median: f32,
    /// The 95th percentile.
    pub high: f32,
}

/// Distances of a set of vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The cosine with the n-th neighbour over the queries, for n = 1, 10, 100 (as far as there are so many vectors).
    pub neighbours: Vec<(usize, Spread)>,
    /// The mean cosine of two random vectors of the set.
    pub random_mean: f32,
    pub random_deviation: f32,
}

/// The profile of `base` seen from `queries`; both hold unit vectors of `dims` dimensions, one after another. Exact: every query is compared
/// with every vector.
///
/// # Panics
/// When `dims` is 0, there is no query or fewer than two vectors, or the lengths are not multiples of `dims`.
pub fn neighbour_profile(base: &[f32], queries: &[f32], dims: usize) -> Profile {
    assert!(dims > 0 && base.len() >= 2 * dims && queries.len() >= dims, "a profile needs vectors and queries");
    assert!(base.len().is_multiple_of(dims) && queries.len().is_multiple_of(dims), "rows of {dims} values");
    let count = base.len() / dims;
    let ranks: Vec<usize> = [1, 10, 100].into_iter().filter(|&rank| rank <= count).collect();
    let mut by_rank = vec![Vec::new(); ranks.len()];
    for query in queries.chunks_exact(dims) {
        let mut cosines: Vec<f32> = base.chunks_exact(dims).map(|row| dot(query, row)).collect();
        let (nearest, _, _) = cosines.select_nth_unstable_by(count.min(100) - 1, |a, b| b.total_cmp(a));
        let mut nearest = nearest.to_vec();
        nearest.push(cosines[count.min(100) - 1]);
        nearest.sort_unstable_by(|a, b| b.total_cmp(a));
        for (rank, values) in ranks.iter().zip(&mut by_rank) {
            values.push(nearest[rank - 1]);
        }
    }
    let mut draws = Draws::of(0, Purpose::Permutation, 2);
    let pairs: Vec<f64> = (0..20_000)
        .map(|_| {
            let first = draws.below(count);
            let second = (first + 1 + draws.below(count - 1)) % count;
            f64::from(dot(&base[first * dims..][..dims], &base[second * dims..][..dims]))
        })
        .collect();
    let mean = pairs.iter().sum::<f64>() / pairs.len() as f64;
    let variance = pairs.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / pairs.len() as f64;
    Profile {
        neighbours: ranks.into_iter().zip(by_rank.into_iter().map(spread)).collect(),
        random_mean: mean as f32,
        random_deviation: variance.sqrt() as f32,
    }
}

fn spread(mut values: Vec<f32>) -> Spread {
    values.sort_unstable_by(f32::total_cmp);
    let percentile = |percent: usize| values[(values.len() - 1) * percent / 100];
    let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64;
    Spread { mean: mean as f32, low: percentile(5), median: percentile(50), high: percentile(95) }
}

/// In eight lanes, so that the compiler can use vector instructions; the order of the sums is fixed.
fn dot(left: &[f32], right: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0.0f32; LANES];
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    for (a, b) in left.iter().zip(right) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
