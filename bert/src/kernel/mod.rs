//! Products of activations and weights, by the widest instructions that the processor has.
//!
//! A [`Kernel`] is made by [`Kernel::detect`] or [`Kernel::available`] only, so to hold one is the proof that its
//! instructions can run here. The products are whole numbers and exact, so equal bit for bit with every kernel. The
//! rest, which [`Kernel::run`] compiles for the same instructions, is equal but for the last bits: some kernels round
//! once where others round twice.

use std::sync::OnceLock;

use crate::format::PANEL;

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86_64;

/// A set of routines that this processor can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel(Instructions);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Instructions {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2(x86_64::Avx2),
    #[cfg(target_arch = "x86_64")]
    AvxVnni(x86_64::AvxVnni),
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
            kernels.extend(x86_64::AvxVnni::detect().map(|token| Self(Instructions::AvxVnni(token))));
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
            Instructions::AvxVnni(_) => "avx-vnni",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(_) => "avx512-vnni",
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon(_) => "neon",
        }
    }

    /// Rows that [`Kernel::multiply`] takes at once, at most.
    pub(crate) fn tile_rows(self) -> usize {
        match self.0 {
            Instructions::Scalar => 4,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(_) | Instructions::AvxVnni(_) => x86_64::ROWS_256,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(_) => x86_64::ROWS_512,
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon(_) => aarch64::ROWS,
        }
    }

    /// The exact products of `rows` of activations with the 32 outputs of a panel: `products[row][output]`. As many rows
    /// as products are wanted, of one even length; [`Kernel::tile_rows`] at most.
    #[inline]
    pub(crate) fn multiply(self, rows: &[i16], panel: &[i8], products: &mut [[i32; PANEL]]) {
        // The kernels rely on these.
        assert!(!products.is_empty() && products.len() <= self.tile_rows());
        assert_eq!(rows.len() * PANEL, panel.len() * products.len());
        match self.0 {
            Instructions::Scalar => scalar::multiply(rows, panel, products),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(token) => token.multiply(rows, panel, products),
            #[cfg(target_arch = "x86_64")]
            Instructions::AvxVnni(token) => token.multiply(rows, panel, products),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(token) => token.multiply(rows, panel, products),
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon(token) => token.multiply(rows, panel, products),
        }
    }

    /// Runs plain code that is compiled for the instructions of this kernel, where it is inlined. `work` is passed
    /// whether they multiply and add in one step.
    #[inline(always)]
    pub(crate) fn run<T>(self, work: impl FnOnce(bool) -> T) -> T {
        match self.0 {
            Instructions::Scalar => work(false),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(token) => token.run(work),
            #[cfg(target_arch = "x86_64")]
            Instructions::AvxVnni(token) => token.run(work),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(token) => token.run(work),
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon(_) => work(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[cfg(target_arch = "aarch64")]
    #[test]
    fn neon_is_chosen() {
        assert_eq!(Kernel::detect().name(), "neon");
    }

    #[test]
    fn every_kernel_gives_the_products_of_the_scalar_one() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for kernel in Kernel::available() {
            for rows in 1..=kernel.tile_rows() {
                for width in [2, 4, 30, 384, 1536] {
                    let most = if width > 384 { 8191 } else { i16::MAX };
                    let extreme = random.random_bool(0.2);
                    let activations: Vec<i16> = (0..rows * width)
                        .map(|_| if extreme { -most } else { random.random_range(-most..=most) })
                        .collect();
                    let panel: Vec<i8> = (0..width * PANEL)
                        .map(|_| if extreme { -127 } else { random.random_range(-127..=127) })
                        .collect();
                    let mut products = vec![[7; PANEL]; rows];
                    kernel.multiply(&activations, &panel, &mut products);
                    let exact = |row: usize, output: usize| -> i64 {
                        let weight = |k: usize| panel[(k / 2 * PANEL + output) * 2 + k % 2];
                        (0..width).map(|k| i64::from(activations[row * width + k]) * i64::from(weight(k))).sum()
                    };
                    for (row, products) in products.iter().enumerate() {
                        for (output, product) in products.iter().enumerate() {
                            let exact = exact(row, output);
                            assert_eq!(i64::from(*product), exact, "{}: {rows} x {width}", kernel.name());
                        }
                    }
                }
            }
        }
    }
}
