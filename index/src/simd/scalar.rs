//! The kernel that runs everywhere, and that all others are measured by.

use super::query::EdgeQuery;
use crate::format::node::{BATCH, Edges, OFFSET_STEP};

pub(super) fn dot_codes(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum()
}

/// Eight sums side by side, which a compiler can keep in registers, and which lose less precision than one.
#[inline(always)]
pub(super) fn dot_mixed(vector: &[f32], coarse: &[i8], fine: &[i8]) -> f32 {
    let code = |coarse: i8, fine: i8| ((i32::from(coarse) << 8) + i32::from(fine)) as f32;
    let (chunks, rest) = vector.as_chunks::<8>();
    let ((coarse, coarse_rest), (fine, fine_rest)) = (coarse.as_chunks::<8>(), fine.as_chunks::<8>());
    let mut sums = [0f32; 8];
    for ((x, coarse), fine) in chunks.iter().zip(coarse).zip(fine) {
        for lane in 0..8 {
            sums[lane] += x[lane] * code(coarse[lane], fine[lane]);
        }
    }
    let rest: f32 = rest.iter().zip(coarse_rest).zip(fine_rest).map(|((x, &c), &f)| x * code(c, f)).sum();
    sums.iter().sum::<f32>() + rest
}

/// Table entries that are summed up in 16 bits before the sum is carried over to 32: at most 256 * 255, which fits. A kernel
/// whose registers hold several groups adds these up in 16 bits too.
pub(super) const GROUPS_PER_CARRY: usize = 256;

pub(super) fn estimate(edges: Edges<'_>, query: &EdgeQuery, base: f32, bar: f32, estimates: &mut [f32; BATCH]) -> u32 {
    let mut sums = [0u32; BATCH];
    for (signs, table) in edges.signs.as_chunks::<16>().0.iter().zip(query.tables.as_chunks::<16>().0) {
        for at in 0..8 {
            for (neighbour, byte, shift) in
                [(at, 2 * at, 0), (at + 8, 2 * at + 1, 0), (at + 16, 2 * at, 4), (at + 24, 2 * at + 1, 4)]
            {
                sums[neighbour] += u32::from(table[usize::from(signs[byte] >> shift & 15)]);
            }
        }
    }
    finish(edges, query, base, bar, &sums, estimates)
}

/// Turns the sums of table entries into estimates.
#[inline(always)]
pub(super) fn finish(
    edges: Edges<'_>,
    query: &EdgeQuery,
    base: f32,
    bar: f32,
    sums: &[u32; BATCH],
    estimates: &mut [f32; BATCH],
) -> u32 {
    for at in 0..BATCH {
        let sum = sums[at] as i32 as f32 * query.step - query.shift;
        let (slope, offset) = (i32::from(edges.slopes[at]) as f32, i32::from(edges.offsets[at]) as f32);
        estimates[at] = base + slope * sum + offset * OFFSET_STEP;
    }
    let bits = estimates.iter().enumerate().map(|(at, &estimate)| u32::from(estimate > bar) << at);
    bits.fold(0, |all, bit| all | bit)
}
