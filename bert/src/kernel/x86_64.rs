//! Kernels for x86-64: AVX2, AVX2 with VNNI, and AVX-512 with VNNI.
#![expect(unsafe_code, reason = "SIMD loads take raw pointers; calls need proof of the CPU's features")]

use std::arch::x86_64::*;

use crate::format::PANEL;

/// Rows at once with 16 registers of 256 bits: of 16 outputs, 12 sums, two of weights, one of activations.
pub const ROWS_256: usize = 6;
/// Rows at once with 32 registers of 512 bits: of 32 outputs, 24 sums, two of weights, one of activations.
pub const ROWS_512: usize = 12;

/// Bytes of weights that are on their way from memory while others are multiplied: the next pages, which the processor
/// does not fetch by itself.
const AHEAD: usize = 4096;

/// Calls a kernel with the number of rows as a constant, so that its sums stay in registers.
macro_rules! with_rows {
    ($kernel:ident($rows:ident, $panel:ident, $products:ident), $($count:literal)*) => {
        match $products.len() {
            $($count => $kernel::<$count>($rows, $panel, $products),)*
            _ => unreachable!("more rows than a tile has"),
        }
    };
}

macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $features:literal, $multiply:ident, $run:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name(());

        impl $name {
            /// See [`Kernel::multiply`](super::Kernel::multiply), which checks the lengths.
            #[inline]
            pub fn multiply(self, rows: &[i16], panel: &[i8], products: &mut [[i32; PANEL]]) {
                // SAFETY: the function needs the features that `detect` found, which alone makes `self`.
                unsafe { $multiply(rows, panel, products) }
            }

            #[inline(always)]
            pub fn run<T>(self, work: impl FnOnce(bool) -> T) -> T {
                // SAFETY: the function needs the features that `detect` found, which alone makes `self`.
                unsafe { $run(work) }
            }
        }

        #[target_feature(enable = $features)]
        fn $run<T>(work: impl FnOnce(bool) -> T) -> T {
            work(true)
        }
    };
}

token!(
    /// Proof that this processor has AVX2 and FMA.
    Avx2, "avx2,fma", multiply_avx2, run_avx2
);
token!(
    /// Proof that this processor has AVX2, FMA and AVX-VNNI.
    AvxVnni, "avx2,fma,avxvnni", multiply_avxvnni, run_avxvnni
);
token!(
    /// Proof that this processor has AVX-512 F, BW, DQ, VL and VNNI, and FMA.
    Avx512, "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma", multiply_avx512, run_avx512
);

impl Avx2 {
    pub fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Self(()))
    }
}

impl AvxVnni {
    pub fn detect() -> Option<Self> {
        (Avx2::detect().is_some() && is_x86_feature_detected!("avxvnni")).then_some(Self(()))
    }
}

impl Avx512 {
    pub fn detect() -> Option<Self> {
        (Avx2::detect().is_some()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vnni"))
        .then_some(Self(()))
    }
}

#[target_feature(enable = "avx2,fma")]
fn multiply_avx2(rows: &[i16], panel: &[i8], products: &mut [[i32; PANEL]]) {
    with_rows!(tile_avx2(rows, panel, products), 1 2 3 4 5 6);
}

#[target_feature(enable = "avx2,fma,avxvnni")]
fn multiply_avxvnni(rows: &[i16], panel: &[i8], products: &mut [[i32; PANEL]]) {
    with_rows!(tile_avxvnni(rows, panel, products), 1 2 3 4 5 6);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
fn multiply_avx512(rows: &[i16], panel: &[i8], products: &mut [[i32; PANEL]]) {
    with_rows!(tile_avx512(rows, panel, products), 1 2 3 4 5 6 7 8 9 10 11 12);
}

/// The two 256-bit kernels differ in one step: the sums of products of pairs, added to `sums`.
macro_rules! tile_256 {
    ($name:ident, $features:literal, |$sums:ident, $weights:ident, $pair:ident| $step:expr) => {
        #[target_feature(enable = $features)]
        fn $name<const ROWS: usize>(rows: &[i16], panel: &[i8], products: &mut [[i32; PANEL]]) {
            let pairs = rows.len() / ROWS / 2;
            for half in 0..2 {
                let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
                for pair in 0..pairs {
                    let at = pair * 2 * PANEL + half * PANEL;
                    // SAFETY: a panel has 64 bytes for each pair of inputs, 32 for each half of its outputs, of which
                    // each load takes 16.
                    let (low, high) = unsafe {
                        let from = panel.as_ptr().add(at);
                        _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(AHEAD).cast());
                        (_mm_loadu_si128(from.cast()), _mm_loadu_si128(from.add(16).cast()))
                    };
                    let weights = [_mm256_cvtepi8_epi16(low), _mm256_cvtepi8_epi16(high)];
                    for (row, sums) in sums.iter_mut().enumerate() {
                        // SAFETY: each of the rows has `pairs` pairs.
                        let two = unsafe { rows.as_ptr().add((row * pairs + pair) * 2).cast::<i32>().read_unaligned() };
                        let $pair = _mm256_set1_epi32(two);
                        for ($sums, $weights) in sums.iter_mut().zip(weights) {
                            *$sums = $step;
                        }
                    }
                }
                for (sums, products) in sums.iter().zip(products.iter_mut()) {
                    for (part, sums) in sums.iter().enumerate() {
                        // SAFETY: a row of products has 32 places, 16 for each half, of which each store fills 8.
                        unsafe { _mm256_storeu_si256(products.as_mut_ptr().add(half * 16 + part * 8).cast(), *sums) };
                    }
                }
            }
        }
    };
}

tile_256!(tile_avx2, "avx2,fma", |sums, weights, pair| _mm256_add_epi32(*sums, _mm256_madd_epi16(weights, pair)));
tile_256!(tile_avxvnni, "avx2,fma,avxvnni", |sums, weights, pair| _mm256_dpwssd_avx_epi32(*sums, weights, pair));

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
fn tile_avx512<const ROWS: usize>(rows: &[i16], panel: &[i8], products: &mut [[i32; PANEL]]) {
    let pairs = rows.len() / ROWS / 2;
    let mut sums = [[_mm512_setzero_si512(); 2]; ROWS];
    for pair in 0..pairs {
        // SAFETY: a panel has 64 bytes for each pair of inputs, of which each load takes 32.
        let (low, high) = unsafe {
            let from = panel.as_ptr().add(pair * 2 * PANEL);
            _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(AHEAD).cast());
            (_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.add(32).cast()))
        };
        let weights = [_mm512_cvtepi8_epi16(low), _mm512_cvtepi8_epi16(high)];
        for (row, sums) in sums.iter_mut().enumerate() {
            // SAFETY: each of the rows has `pairs` pairs.
            let two = unsafe { rows.as_ptr().add((row * pairs + pair) * 2).cast::<i32>().read_unaligned() };
            let two = _mm512_set1_epi32(two);
            for (sums, weights) in sums.iter_mut().zip(weights) {
                *sums = _mm512_dpwssd_epi32(*sums, weights, two);
            }
        }
    }
    for (sums, products) in sums.iter().zip(products) {
        for (part, sums) in sums.iter().enumerate() {
            // SAFETY: a row of products has 32 places, of which each store fills 16.
            unsafe { _mm512_storeu_si512(products.as_mut_ptr().add(part * 16).cast(), *sums) };
        }
    }
}
