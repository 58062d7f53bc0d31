//! Dot products and estimates, by the widest instructions that the processor has.
//!
//! A [`Kernel`] is made by [`Kernel::detect`] or [`Kernel::available`] only, so to hold one is the proof that its
//! instructions can run here.
//!
//! | routine | how the kernels agree |
//! |---|---|
//! | [`dot_codes`](Kernel::dot_codes) | exact, so equal bit for bit |
//! | `estimate` | equal bit for bit: the sums are whole numbers and exact, and each takes the same steps from there |
//! | `run` | equal bit for bit: the same code, and a compiler does not reorder floats |
//! | [`dot_mixed`](Kernel::dot_mixed) | AVX-512 adds up in an order of its own, all others in the same one |
//!
//! A mixed product of `n` numbers is within `n * 2^-24 * sum(|a[i] * b[i]|)` of the exact one, in whatever order it is
//! added up (Jeannerod and Rump, "Improved error bounds for inner products in floating-point arithmetic", 2013). For
//! vectors of length 1 and 4,096 numbers that is less than 0.0003, in practice less than 0.000001. So scores differ in
//! their last digits from kernel to kernel, and what is nearly equal may be found with one and not with another.

use std::sync::OnceLock;

use self::query::EdgeQuery;
use crate::format::node::{BATCH, Edges};

#[cfg(target_arch = "aarch64")]
mod aarch64;
pub(crate) mod query;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86_64;

/// A set of dot product routines that this processor can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel(Instructions);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Instructions {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2(x86_64::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(x86_64::Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(aarch64::Neon),
}

impl Kernel {
    /// The fastest kernel that this processor can run. Detected once.
    pub fn detect() -> Self {
        static DETECTED: OnceLock<Kernel> = OnceLock::new();
        *DETECTED.get_or_init(|| Self::available().last().copied().unwrap_or(Self(Instructions::Scalar)))
    }

    /// Every kernel that this processor can run, slowest first. The first is the scalar one, the measure of the others.
    pub fn available() -> Vec<Self> {
        let mut kernels = vec![Self(Instructions::Scalar)];
        #[cfg(target_arch = "x86_64")]
        {
            kernels.extend(x86_64::Avx2::detect().map(|token| Self(Instructions::Avx2(token))));
            kernels.extend(x86_64::Avx512::detect().map(|token| Self(Instructions::Avx512(token))));
        }
        #[cfg(target_arch = "aarch64")]
        kernels.extend(aarch64::Neon::detect().map(|token| Self(Instructions::Neon(token))));
        kernels
    }

    /// The name of its instructions.
    pub fn name(self) -> &'static str {
        match self.0 {
            Instructions::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(_) => "avx512-vnni",
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon(_) => "neon",
        }
    }

    /// The exact integer dot product of two rows of codes. Rows longer than 2^17 could overflow; the index refuses more
    /// than [`MAX_DIMS`](crate::MAX_DIMS). Of rows of different length the longer one is cut.
    #[inline]
    pub fn dot_codes(self, a: &[i8], b: &[i8]) -> i32 {
        let len = a.len().min(b.len());
        let (a, b) = (&a[..len], &b[..len]);
        match self.0 {
            Instructions::Scalar => scalar::dot_codes(a, b),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(token) => token.dot_codes(a, b),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(token) => token.dot_codes(a, b),
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon(token) => token.dot_codes(a, b),
        }
    }

    /// Runs plain code that was compiled for the instructions of this kernel: the compiler uses them where `work` is
    /// inlined. The result is the same to the last bit.
    #[inline(always)]
    pub(crate) fn run<T>(self, work: impl FnOnce() -> T) -> T {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(token) => token.run(work),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(token) => token.run(work),
            _ => work(),
        }
    }

    /// Estimates the similarity of a query to the 32 neighbours of a node whose own similarity is `base`. Returns a bit
    /// for each estimate that is above `bar`.
    #[inline]
    pub(crate) fn estimate(
        self,
        edges: Edges<'_>,
        query: &EdgeQuery,
        base: f32,
        bar: f32,
        estimates: &mut [f32; BATCH],
    ) -> u32 {
        match self.0 {
            Instructions::Scalar => scalar::estimate(edges, query, base, bar, estimates),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(token) => token.estimate(edges, query, base, bar, estimates),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(token) => token.estimate(edges, query, base, bar, estimates),
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon(token) => token.estimate(edges, query, base, bar, estimates),
        }
    }

    /// The dot product of a vector and the 16-bit codes `256 * coarse + fine`. Of rows of different length the longer
    /// ones are cut.
    #[inline]
    pub fn dot_mixed(self, vector: &[f32], coarse: &[i8], fine: &[i8]) -> f32 {
        let len = vector.len().min(coarse.len()).min(fine.len());
        let (vector, coarse, fine) = (&vector[..len], &coarse[..len], &fine[..len]);
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(token) => token.dot_mixed(vector, coarse, fine),
            _ => self.run(
                #[inline(always)]
                || scalar::dot_mixed(vector, coarse, fine),
            ),
        }
    }
}

/// Asks the processor to bring these items into its cache. A hint: it changes nothing that a program can see.
#[inline(always)]
pub fn prefetch<T>(items: &[T]) {
    #[cfg(target_arch = "x86_64")]
    x86_64::prefetch(items);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = items;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every 64-bit ARM processor has NEON: were it not found, the tests below would compare the scalar kernel with itself.
    #[cfg(target_arch = "aarch64")]
    #[test]
    fn neon_is_chosen() {
        assert_eq!(Kernel::detect().name(), "neon");
        assert!(Kernel::available().iter().map(|kernel| kernel.name()).eq(["scalar", "neon"]));
    }

    proptest! {
        #[test]
        fn integer_kernels_equal_the_scalar_one(pairs in prop::collection::vec((-127i8..=127, -127i8..=127), 1..4096)) {
            let (a, b): (Vec<i8>, Vec<i8>) = pairs.into_iter().unzip();
            let expected: i32 = a.iter().zip(&b).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum();
            for kernel in Kernel::available() {
                prop_assert_eq!(kernel.dot_codes(&a, &b), expected, "{}", kernel.name());
            }
        }
    }

    #[test]
    fn mixed_products_stay_within_the_documented_tolerance() {
        for len in [0, 1, 7, 8, 31, 32, 33, 64, 384, 1000, 4096, crate::MAX_DIMS] {
            let vector: Vec<f32> = (0..len).map(|at| ((at * 37 + 11) % 101) as f32 / 50.0 - 1.0).collect();
            let codes = |step: usize| -> Vec<i8> { (0..len).map(|at| (at * step % 255) as u8 as i8).collect() };
            let (coarse, fine) = (codes(7), codes(13));
            let products = vector.iter().zip(&coarse).zip(&fine);
            let products: Vec<f64> = products
                .map(|((&x, &coarse), &fine)| f64::from(x) * f64::from(256 * i32::from(coarse) + i32::from(fine)))
                .collect();
            let (exact, magnitude) = (products.iter().sum::<f64>(), products.iter().map(|x| x.abs()).sum::<f64>());
            let tolerance = len as f64 * magnitude / f64::from(1 << 24);
            for kernel in Kernel::available() {
                let found = kernel.dot_mixed(&vector, &coarse, &fine);
                let name = kernel.name();
                assert!((f64::from(found) - exact).abs() <= tolerance, "{name}, {len}: {found} for {exact}");
                if !name.starts_with("avx512") {
                    let scalar = Kernel::available()[0].dot_mixed(&vector, &coarse, &fine);
                    assert_eq!(found.to_bits(), scalar.to_bits(), "{name}, {len}: it adds up in the same order");
                }
            }
        }
    }

    /// The sums alone: all groups have the same table, and two signs' bytes in turn.
    fn sums(kernel: Kernel, width: usize, table: [u8; 16], signs: [u8; 2]) -> [f32; BATCH] {
        let groups = width / 4;
        let query = EdgeQuery { tables: table.repeat(groups), step: 1.0, shift: 0.0 };
        let edges = Edges { slopes: &[1; BATCH], offsets: &[0; BATCH], signs: &signs.repeat(8 * groups) };
        let mut estimates = [0.0; BATCH];
        kernel.estimate(edges, &query, 0.0, 0.0, &mut estimates);
        estimates
    }

    /// Sums are kept in 16 bits for as long as they must fit, and two are added up as one number: one that went too far
    /// would change itself or the other.
    #[test]
    fn sums_of_estimates_are_exact_up_to_the_largest() {
        let mut ends = [7; 16];
        (ends[0], ends[15]) = (0, 255);
        let cases = [([255; 16], [0x00, 0x00]), ([255; 16], [0xff, 0xff])]
            .into_iter()
            .chain([[0x00, 0x00], [0xff, 0xff], [0xff, 0x00], [0x00, 0xff], [0xf0, 0x0f]].map(|signs| (ends, signs)));
        for (table, signs) in cases {
            for width in (64..=crate::MAX_DIMS).step_by(64) {
                // Which byte and which half of it the signs of a neighbour are in, as the format says.
                let expected = std::array::from_fn(|at| {
                    let four = signs[at / 8 % 2] >> (at / 16 * 4) & 15;
                    f32::from(table[usize::from(four)]) * (width / 4) as f32
                });
                for kernel in Kernel::available() {
                    let name = kernel.name();
                    assert_eq!(sums(kernel, width, table, signs), expected, "{name}, {width}, signs {signs:x?}");
                }
            }
        }
    }

    #[test]
    fn every_short_length_and_the_largest_codes() {
        for len in 0..=260 {
            for (x, y) in [(127i8, 127i8), (-127, 127), (-127, -127)] {
                let (a, b) = (vec![x; len], vec![y; len]);
                for kernel in Kernel::available() {
                    let expected = i32::from(x) * i32::from(y) * len as i32;
                    assert_eq!(kernel.dot_codes(&a, &b), expected, "{} {len}", kernel.name());
                }
            }
        }
        let longest = vec![-127i8; crate::MAX_DIMS];
        for kernel in Kernel::available() {
            assert_eq!(kernel.dot_codes(&longest, &longest), 127 * 127 * crate::MAX_DIMS as i32, "{}", kernel.name());
        }
    }

    #[test]
    fn a_prefetch_of_anything_is_harmless() {
        prefetch::<u8>(&[]);
        prefetch(&[1; 1000]);
        prefetch(&[(); 1000]);
    }
}
