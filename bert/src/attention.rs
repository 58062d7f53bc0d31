//! Attention: each token of a text takes from all tokens of it, by how well its query fits their keys.

use crate::maths::{LANES, Lane, exp, fma};
use crate::shape::{HEAD, HEADS, WIDTH};

/// Tokens whose scores are computed at once.
const ROWS: usize = 6;

/// Memory that is used again.
#[derive(Default)]
pub struct AttentionScratch {
    /// The keys of a head, `[HEAD, tokens / LANES]`.
    keys: Vec<Lane>,
    /// The values of a head, in two halves: `[2, tokens]`.
    values: Vec<Lane>,
    /// The scores of some tokens, `[ROWS, tokens / LANES]`.
    scores: Vec<Lane>,
}

/// The attention of one text: from queries, keys and values, `[tokens, 3 * WIDTH]`, into `attended`, `[tokens, WIDTH]`.
#[inline(always)]
pub fn attend(fused: bool, projected: &[f32], attended: &mut [f32], scratch: &mut AttentionScratch) {
    let tokens = attended.len() / WIDTH;
    let chunks = tokens.div_ceil(LANES);
    scratch.keys.resize(HEAD * chunks, [0.0; LANES]);
    scratch.values.resize(2 * tokens, [0.0; LANES]);
    scratch.scores.resize(ROWS * chunks, [0.0; LANES]);
    let scale = 1.0 / (HEAD as f32).sqrt();
    let AttentionScratch { keys, values, scores } = scratch;
    for head in 0..HEADS {
        let [query_at, key_at, value_at] = [0, 1, 2].map(|part| part * WIDTH + head * HEAD);
        for token in 0..tokens {
            let row = &projected[token * 3 * WIDTH..][..3 * WIDTH];
            for d in 0..HEAD {
                keys[d * chunks + token / LANES][token % LANES] = row[key_at + d];
            }
            let (halves, _) = row[value_at..value_at + HEAD].as_chunks::<LANES>();
            values[token] = halves[0];
            values[tokens + token] = halves[1];
        }
        for first in (0..tokens).step_by(ROWS) {
            // The last token is computed again instead of those that are missing.
            let mut rows = [0; ROWS];
            for row in 0..ROWS {
                rows[row] = (first + row).min(tokens - 1);
            }
            let mut queries = [[0.0; HEAD]; ROWS];
            for row in 0..ROWS {
                let query = &projected[rows[row] * 3 * WIDTH + query_at..][..HEAD];
                for d in 0..HEAD {
                    queries[row][d] = query[d] * scale;
                }
            }
            for chunk in 0..chunks {
                let sums = score(fused, &queries, &keys[chunk..], chunks);
                for row in 0..ROWS {
                    scores[row * chunks + chunk] = sums[row];
                }
            }
            let mut shares = [0.0; ROWS];
            for row in 0..ROWS {
                shares[row] = 1.0 / weigh(fused, &mut scores[row * chunks..][..chunks], tokens);
            }
            for half in 0..2 {
                let values = &values[half * tokens..][..tokens];
                let taken = take(fused, scores.as_flattened(), chunks * LANES, values);
                for row in 0..ROWS {
                    let place = &mut attended[rows[row] * WIDTH + head * HEAD + half * LANES..][..LANES];
                    for lane in 0..LANES {
                        place[lane] = taken[row][lane] * shares[row];
                    }
                }
            }
        }
    }
}

/// How well each query fits the keys of a chunk of tokens.
#[inline(always)]
fn score(fused: bool, queries: &[[f32; HEAD]; ROWS], keys: &[Lane], chunks: usize) -> [Lane; ROWS] {
    let mut sums = [[0.0; LANES]; ROWS];
    for d in 0..HEAD {
        let key = &keys[d * chunks];
        for row in 0..ROWS {
            let query = queries[row][d];
            for lane in 0..LANES {
                sums[row][lane] = fma(fused, query, key[lane], sums[row][lane]);
            }
        }
    }
    sums
}

/// Turns scores into weights that are not divided by their sum yet. Returns that sum.
#[inline(always)]
fn weigh(fused: bool, scores: &mut [Lane], tokens: usize) -> f32 {
    scores.as_flattened_mut()[tokens..].fill(f32::NEG_INFINITY);
    let mut most = [f32::NEG_INFINITY; LANES];
    for score in &*scores {
        for lane in 0..LANES {
            most[lane] = most[lane].max(score[lane]);
        }
    }
    let mut peak = most[0];
    for lane in 1..LANES {
        peak = peak.max(most[lane]);
    }
    let mut sums = [0.0; LANES];
    for score in &mut *scores {
        for lane in 0..LANES {
            let weight = exp(fused, score[lane] - peak);
            score[lane] = weight;
            sums[lane] += weight;
        }
    }
    let mut sum = 0.0;
    for lane in 0..LANES {
        sum += sums[lane];
    }
    sum
}

/// The sums of the values of all tokens, by the weights of each row.
#[inline(always)]
fn take(fused: bool, weights: &[f32], stride: usize, values: &[Lane]) -> [Lane; ROWS] {
    let mut sums = [[0.0; LANES]; ROWS];
    for token in 0..values.len() {
        let value = &values[token];
        for row in 0..ROWS {
            let weight = weights[row * stride + token];
            for lane in 0..LANES {
                sums[row][lane] = fma(fused, weight, value[lane], sums[row][lane]);
            }
        }
    }
    sums
}
