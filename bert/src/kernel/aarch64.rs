//! Kernels for 64-bit ARM: NEON.
#![expect(unsafe_code, reason = "SIMD loads take raw pointers; calls need proof of the CPU's features")]

use std::arch::aarch64::*;

use crate::format::PANEL;

/// Rows at once with 32 registers of 128 bits: of 16 outputs, 16 sums, four of weights.
pub const ROWS: usize = 4;

/// Proof that this processor has NEON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neon(());

impl Neon {
    pub fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }

    /// See [`Kernel::multiply`](super::Kernel::multiply), which checks the lengths.
    #[inline]
    pub fn multiply(self, rows: &[i16], panel: &[i8], products: &mut [[i32; PANEL]]) {
        // SAFETY: `self` is made by `detect` only, after it found the feature.
        unsafe {
            match products.len() {
                1 => tile::<1>(rows, panel, products),
                2 => tile::<2>(rows, panel, products),
                3 => tile::<3>(rows, panel, products),
                4 => tile::<4>(rows, panel, products),
                _ => unreachable!("more rows than a tile has"),
            }
        }
    }
}

#[target_feature(enable = "neon")]
fn tile<const ROWS: usize>(rows: &[i16], panel: &[i8], products: &mut [[i32; PANEL]]) {
    let pairs = rows.len() / ROWS / 2;
    for half in 0..2 {
        let mut sums = [[vdupq_n_s32(0); 4]; ROWS];
        for pair in 0..pairs {
            let at = pair * 2 * PANEL + half * PANEL;
            // The weights of the first inputs of the pairs, and of the second ones, for 16 outputs.
            // SAFETY: a panel has 64 bytes for each pair of inputs, 32 for each half of its outputs.
            let int8x16x2_t(first, second) = unsafe { vld2q_s8(panel.as_ptr().add(at)) };
            let first = [vmovl_s8(vget_low_s8(first)), vmovl_high_s8(first)];
            let second = [vmovl_s8(vget_low_s8(second)), vmovl_high_s8(second)];
            for (sums, row) in sums.iter_mut().zip(rows.chunks_exact(2 * pairs)) {
                let (one, other) = (row[2 * pair], row[2 * pair + 1]);
                for eight in 0..2 {
                    let (low, high) = (2 * eight, 2 * eight + 1);
                    sums[low] = vmlal_n_s16(sums[low], vget_low_s16(first[eight]), one);
                    sums[low] = vmlal_n_s16(sums[low], vget_low_s16(second[eight]), other);
                    sums[high] = vmlal_high_n_s16(sums[high], first[eight], one);
                    sums[high] = vmlal_high_n_s16(sums[high], second[eight], other);
                }
            }
        }
        for (sums, products) in sums.iter().zip(products.iter_mut()) {
            for (part, sums) in sums.iter().enumerate() {
                // SAFETY: a row of products has 32 places, 16 for each half, of which each store fills 4.
                unsafe { vst1q_s32(products.as_mut_ptr().cast::<i32>().add(half * 16 + part * 4), *sums) };
            }
        }
    }
}
