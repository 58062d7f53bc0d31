//! Kernels for 64-bit ARM: NEON.
#![expect(unsafe_code, reason = "SIMD loads take raw pointers; calls need proof of the CPU's features")]

use std::arch::aarch64::*;

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
    pub(super) fn dot(self, a: &[f32], b: &[f32]) -> f32 {
        // SAFETY: `self` is made by `detect` only, after it found the feature.
        unsafe { dot_neon(a, b) }
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

#[target_feature(enable = "neon")]
fn dot_neon(a: &[f32], b: &[f32]) -> f32 {
    let (a_chunks, a_rest) = a.as_chunks::<16>();
    let (b_chunks, b_rest) = b.as_chunks::<16>();
    let mut sums = [vdupq_n_f32(0.0); 4];
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..4 {
            // SAFETY: each chunk is 16 floats long, the loads read floats 4 * lane to 4 * lane + 3.
            let (x, y) = unsafe { (vld1q_f32(x.as_ptr().add(4 * lane)), vld1q_f32(y.as_ptr().add(4 * lane))) };
            sums[lane] = vfmaq_f32(sums[lane], x, y);
        }
    }
    let sum = vaddq_f32(vaddq_f32(sums[0], sums[1]), vaddq_f32(sums[2], sums[3]));
    vaddvq_f32(sum) + super::scalar::dot(a_rest, b_rest)
}
