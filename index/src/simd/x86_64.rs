//! Kernels for x86-64: AVX2, and AVX-512 with VNNI.
#![expect(unsafe_code, reason = "SIMD loads and prefetches take raw pointers; calls need proof of the CPU's features")]

use std::arch::x86_64::*;

use super::query::EdgeQuery;
use super::scalar::{GROUPS_PER_CARRY, finish};
use crate::format::node::{BATCH, Edges};

/// Proof that this processor has AVX2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    #[inline]
    pub(super) fn dot_codes(self, a: &[i8], b: &[i8]) -> i32 {
        // SAFETY: the function needs AVX2. `self` is made by `detect` only, after it found that.
        unsafe { dot_codes_avx2(a, b) }
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
        // SAFETY: the function needs AVX2. `self` is made by `detect` only, after it found that.
        unsafe { estimate_avx2(edges, query, base, bar, estimates) }
    }

    #[inline(always)]
    pub(super) fn run<T>(self, work: impl FnOnce() -> T) -> T {
        // SAFETY: the function needs AVX2. `self` is made by `detect` only, after it found that.
        unsafe { run_avx2(work) }
    }
}

/// Proof that this processor has AVX-512 F, BW, DQ, VL and VNNI. None has F without AVX2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Avx512(());

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vnni"))
        .then_some(Self(()))
    }

    #[inline]
    pub(super) fn dot_codes(self, a: &[i8], b: &[i8]) -> i32 {
        // SAFETY: the function needs AVX-512 F, BW and VNNI. `self` is made by `detect` only, after it found those.
        unsafe { dot_codes_avx512(a, b) }
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
        // SAFETY: the function needs AVX-512 F and BW. `self` is made by `detect` only, after it found those.
        unsafe { estimate_avx512(edges, query, base, bar, estimates) }
    }

    #[inline]
    pub(super) fn dot_mixed(self, vector: &[f32], coarse: &[i8], fine: &[i8]) -> f32 {
        // SAFETY: the function needs AVX-512 F. `self` is made by `detect` only, after it found that.
        unsafe { dot_mixed_avx512(vector, coarse, fine) }
    }

    #[inline(always)]
    pub(super) fn run<T>(self, work: impl FnOnce() -> T) -> T {
        // SAFETY: the function needs AVX-512 F, BW, DQ and VL. `self` is made by `detect` only, after it found those.
        unsafe { run_avx512(work) }
    }
}

/// One hint per cache line, to bring it as near as the second cache: the first is too small for what is on its way.
#[inline(always)]
pub(super) fn prefetch<T>(items: &[T]) {
    let start = items.as_ptr().cast::<i8>();
    for offset in (0..size_of_val(items)).step_by(64) {
        // SAFETY: SSE is part of every x86-64 processor; a prefetch reads nothing that a program can see, and the
        // address is inside the slice.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(start.add(offset)) };
    }
}

#[target_feature(enable = "avx2")]
fn dot_codes_avx2(a: &[i8], b: &[i8]) -> i32 {
    let (a_chunks, a_rest) = a.as_chunks::<32>();
    let (b_chunks, b_rest) = b.as_chunks::<32>();
    let mut low = _mm256_setzero_si256();
    let mut high = _mm256_setzero_si256();
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        // SAFETY: each chunk is 32 bytes long, and these loads ask for no alignment.
        let (x, y) = unsafe { (_mm256_loadu_si256(x.as_ptr().cast()), _mm256_loadu_si256(y.as_ptr().cast())) };
        let x_low = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(x));
        let y_low = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(y));
        let x_high = _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(x));
        let y_high = _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(y));
        low = _mm256_add_epi32(low, _mm256_madd_epi16(x_low, y_low));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(x_high, y_high));
    }
    let sum = _mm256_add_epi32(low, high);
    let half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
    let quarter = _mm_add_epi32(half, _mm_unpackhi_epi64(half, half));
    let eighth = _mm_add_epi32(quarter, _mm_shuffle_epi32::<0b01>(quarter));
    _mm_cvtsi128_si32(eighth) + super::scalar::dot_codes(a_rest, b_rest)
}

/// VNNI multiplies unsigned by signed bytes, so 128 is added to each code of `a` (a flip of the top bit), and
/// 128 times the sum of `b` is taken off again. No intermediate saturates: `vpdpbusd` is the wrapping form, and
/// 255 * 127 * [`MAX_DIMS`](crate::MAX_DIMS) fits an i32.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn dot_codes_avx512(a: &[i8], b: &[i8]) -> i32 {
    let flip = _mm512_set1_epi8(-128);
    let (a_chunks, a_rest) = a.as_chunks::<64>();
    let (b_chunks, b_rest) = b.as_chunks::<64>();
    let mut products = _mm512_setzero_si512();
    let mut surplus = _mm512_setzero_si512();
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        // SAFETY: each chunk is 64 bytes long, and these loads ask for no alignment.
        let (x, y) = unsafe { (_mm512_loadu_si512(x.as_ptr().cast()), _mm512_loadu_si512(y.as_ptr().cast())) };
        products = _mm512_dpbusd_epi32(products, _mm512_xor_si512(x, flip), y);
        surplus = _mm512_dpbusd_epi32(surplus, flip, y);
    }
    if !a_rest.is_empty() {
        let mask = (1u64 << a_rest.len().min(b_rest.len())) - 1;
        // SAFETY: the mask lets only the bytes of both rests be read, which have fewer than 64.
        let (x, y) =
            unsafe { (_mm512_maskz_loadu_epi8(mask, a_rest.as_ptr()), _mm512_maskz_loadu_epi8(mask, b_rest.as_ptr())) };
        products = _mm512_dpbusd_epi32(products, _mm512_xor_si512(x, flip), y);
        surplus = _mm512_dpbusd_epi32(surplus, flip, y);
    }
    _mm512_reduce_add_epi32(_mm512_sub_epi32(products, surplus))
}

/// Sums of table entries, 16 bits each: those of the bytes at even places together with 256 times those at odd places,
/// and those at odd places alone. The first are freed from the second at the end; what overflows meanwhile comes back
/// by it.
#[target_feature(enable = "avx512f,avx512bw")]
fn estimate_avx512(edges: Edges<'_>, query: &EdgeQuery, base: f32, bar: f32, estimates: &mut [f32; BATCH]) -> u32 {
    let nibble = _mm512_set1_epi8(15);
    let mut totals = [0u32; BATCH];
    let spans = edges.signs.chunks(16 * GROUPS_PER_CARRY).zip(query.tables.chunks(16 * GROUPS_PER_CARRY));
    for (signs, tables) in spans {
        let mut sums = [_mm512_setzero_si512(); 4];
        for (signs, table) in signs.as_chunks::<64>().0.iter().zip(tables.as_chunks::<64>().0) {
            // SAFETY: each chunk is 64 bytes long, and these loads ask for no alignment.
            let (signs, table) =
                unsafe { (_mm512_loadu_si512(signs.as_ptr().cast()), _mm512_loadu_si512(table.as_ptr().cast())) };
            let low = _mm512_shuffle_epi8(table, _mm512_and_si512(signs, nibble));
            let high = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16::<4>(signs), nibble));
            sums[0] = _mm512_add_epi16(sums[0], low);
            sums[1] = _mm512_add_epi16(sums[1], _mm512_srli_epi16::<8>(low));
            sums[2] = _mm512_add_epi16(sums[2], high);
            sums[3] = _mm512_add_epi16(sums[3], _mm512_srli_epi16::<8>(high));
        }
        sums[0] = _mm512_sub_epi16(sums[0], _mm512_slli_epi16::<8>(sums[1]));
        sums[2] = _mm512_sub_epi16(sums[2], _mm512_slli_epi16::<8>(sums[3]));
        for (eight, sum) in totals.as_chunks_mut::<8>().0.iter_mut().zip(sums) {
            let half = _mm256_add_epi16(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum));
            add_halves(eight, half);
        }
    }
    finish(edges, query, base, bar, &totals, estimates)
}

/// Half as wide as [`estimate_avx512`].
#[target_feature(enable = "avx2")]
fn estimate_avx2(edges: Edges<'_>, query: &EdgeQuery, base: f32, bar: f32, estimates: &mut [f32; BATCH]) -> u32 {
    let nibble = _mm256_set1_epi8(15);
    let mut totals = [0u32; BATCH];
    let spans = edges.signs.chunks(16 * GROUPS_PER_CARRY).zip(query.tables.chunks(16 * GROUPS_PER_CARRY));
    for (signs, tables) in spans {
        let mut sums = [_mm256_setzero_si256(); 4];
        for (signs, table) in signs.as_chunks::<32>().0.iter().zip(tables.as_chunks::<32>().0) {
            // SAFETY: each chunk is 32 bytes long, and these loads ask for no alignment.
            let (signs, table) =
                unsafe { (_mm256_loadu_si256(signs.as_ptr().cast()), _mm256_loadu_si256(table.as_ptr().cast())) };
            let low = _mm256_shuffle_epi8(table, _mm256_and_si256(signs, nibble));
            let high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16::<4>(signs), nibble));
            sums[0] = _mm256_add_epi16(sums[0], low);
            sums[1] = _mm256_add_epi16(sums[1], _mm256_srli_epi16::<8>(low));
            sums[2] = _mm256_add_epi16(sums[2], high);
            sums[3] = _mm256_add_epi16(sums[3], _mm256_srli_epi16::<8>(high));
        }
        sums[0] = _mm256_sub_epi16(sums[0], _mm256_slli_epi16::<8>(sums[1]));
        sums[2] = _mm256_sub_epi16(sums[2], _mm256_slli_epi16::<8>(sums[3]));
        for (eight, sum) in totals.as_chunks_mut::<8>().0.iter_mut().zip(sums) {
            add_halves(eight, sum);
        }
    }
    finish(edges, query, base, bar, &totals, estimates)
}

/// Adds both halves of `sums`, eight numbers of 16 bits each, to the totals.
#[target_feature(enable = "avx2")]
#[inline]
fn add_halves(totals: &mut [u32; 8], sums: __m256i) {
    let both = _mm_add_epi16(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    let mut numbers = [0u16; 8];
    // SAFETY: eight numbers of 16 bits are as long as the register.
    unsafe { _mm_storeu_si128(numbers.as_mut_ptr().cast(), both) };
    totals.iter_mut().zip(numbers).for_each(|(total, number)| *total += u32::from(number));
}

#[target_feature(enable = "avx2")]
#[inline]
fn run_avx2<T>(work: impl FnOnce() -> T) -> T {
    work()
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn run_avx512<T>(work: impl FnOnce() -> T) -> T {
    work()
}

#[target_feature(enable = "avx512f")]
fn dot_mixed_avx512(vector: &[f32], coarse: &[i8], fine: &[i8]) -> f32 {
    let (chunks, rest) = vector.as_chunks::<32>();
    let ((coarse, coarse_rest), (fine, fine_rest)) = (coarse.as_chunks::<32>(), fine.as_chunks::<32>());
    let mut sums = [_mm512_setzero_ps(); 2];
    for ((x, coarse), fine) in chunks.iter().zip(coarse).zip(fine) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            // SAFETY: each chunk has 32 items, the loads read items 16 * lane to 16 * lane + 15, unaligned.
            let (x, coarse, fine) = unsafe {
                (
                    _mm512_loadu_ps(x.as_ptr().add(16 * lane)),
                    _mm_loadu_si128(coarse.as_ptr().add(16 * lane).cast()),
                    _mm_loadu_si128(fine.as_ptr().add(16 * lane).cast()),
                )
            };
            let high = _mm512_slli_epi32::<8>(_mm512_cvtepi8_epi32(coarse));
            let code = _mm512_cvtepi32_ps(_mm512_add_epi32(high, _mm512_cvtepi8_epi32(fine)));
            *sum = _mm512_fmadd_ps(x, code, *sum);
        }
    }
    _mm512_reduce_add_ps(_mm512_add_ps(sums[0], sums[1])) + super::scalar::dot_mixed(rest, coarse_rest, fine_rest)
}
