//! Kernels for 64-bit ARM: NEON.
#![expect(unsafe_code, reason = "SIMD loads take raw pointers; calls need proof of the CPU's features")]

use std::arch::aarch64::*;

use super::query::EdgeQuery;
use super::scalar::{GROUPS_PER_CARRY, finish};
use crate::format::node::{BATCH, Edges};

/// Proof that this processor has NEON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Neon(());

impl Neon {
    pub(super) fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }

    #[inline]
    pub(super) fn dot_codes(self, a: &[i8], b: &[i8]) -> i32 {
        // SAFETY: `self` is made by `detect` only, after it found the feature.
        unsafe { dot_codes_neon(a, b) }
    }

    #[inline]
    pub(super) fn estimate(
        self,
        edges: Edges<'_>,
        query: &EdgeQuery,
        base: f32,
        bar: f32,
        estimates: &mut [f32; BATCH],
    ) -> u32 {
        // SAFETY: `self` is made by `detect` only, after it found the feature.
        unsafe { estimate_neon(edges, query, base, bar, estimates) }
    }
}

#[target_feature(enable = "neon")]
fn dot_codes_neon(a: &[i8], b: &[i8]) -> i32 {
    let (a_chunks, a_rest) = a.as_chunks::<16>();
    let (b_chunks, b_rest) = b.as_chunks::<16>();
    let mut low = vdupq_n_s32(0);
    let mut high = vdupq_n_s32(0);
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        // SAFETY: each chunk is 16 bytes long.
        let (x, y) = unsafe { (vld1q_s8(x.as_ptr()), vld1q_s8(y.as_ptr())) };
        // A product of two codes fits an i16: 127 * 127 = 16,129.
        low = vpadalq_s16(low, vmull_s8(vget_low_s8(x), vget_low_s8(y)));
        high = vpadalq_s16(high, vmull_high_s8(x, y));
    }
    vaddvq_s32(vaddq_s32(low, high)) + super::scalar::dot_codes(a_rest, b_rest)
}

/// Sums of table entries, 16 bits each: those of the bytes at even places together with 256 times those at odd places,
/// and those at odd places alone. The first are freed from the second at the end; what overflows meanwhile comes back
/// by it.
#[target_feature(enable = "neon")]
fn estimate_neon(edges: Edges<'_>, query: &EdgeQuery, base: f32, bar: f32, estimates: &mut [f32; BATCH]) -> u32 {
    let nibble = vdupq_n_u8(15);
    let mut totals = [0u32; BATCH];
    let spans = edges.signs.chunks(16 * GROUPS_PER_CARRY).zip(query.tables.chunks(16 * GROUPS_PER_CARRY));
    for (signs, tables) in spans {
        let mut sums = [vdupq_n_u16(0); 4];
        for (signs, table) in signs.as_chunks::<16>().0.iter().zip(tables.as_chunks::<16>().0) {
            // SAFETY: each chunk is 16 bytes long.
            let (signs, table) = unsafe { (vld1q_u8(signs.as_ptr()), vld1q_u8(table.as_ptr())) };
            let low = vreinterpretq_u16_u8(vqtbl1q_u8(table, vandq_u8(signs, nibble)));
            let high = vreinterpretq_u16_u8(vqtbl1q_u8(table, vshrq_n_u8::<4>(signs)));
            sums[0] = vaddq_u16(sums[0], low);
            sums[1] = vsraq_n_u16::<8>(sums[1], low);
            sums[2] = vaddq_u16(sums[2], high);
            sums[3] = vsraq_n_u16::<8>(sums[3], high);
        }
        sums[0] = vsubq_u16(sums[0], vshlq_n_u16::<8>(sums[1]));
        sums[2] = vsubq_u16(sums[2], vshlq_n_u16::<8>(sums[3]));
        for (eight, sum) in totals.as_chunks_mut::<8>().0.iter_mut().zip(sums) {
            let mut numbers = [0u16; 8];
            // SAFETY: eight numbers of 16 bits are as long as the register.
            unsafe { vst1q_u16(numbers.as_mut_ptr(), sum) };
            eight.iter_mut().zip(numbers).for_each(|(total, number)| *total += u32::from(number));
        }
    }
    finish(edges, query, base, bar, &totals, estimates)
}
