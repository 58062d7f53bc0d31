//! From a caller's vector to what is stored: length 1, rotated, in codes of 16 or 8 bits.

use crate::bounds::MAX_DIMS;
use crate::error::VectorError;
use crate::format::node::code_stride;
use crate::layout::Layout;
use crate::simd::Kernel;

/// Replaces what is in `out` by `vector`, scaled to length 1. The length is computed in f64, so that
/// neither the largest nor the smallest floats overflow.
pub(crate) fn normalise(vector: &[f32], dims: usize, out: &mut Vec<f32>) -> Result<(), VectorError> {
    if vector.len() != dims {
        return Err(VectorError::Dimensions { expected: dims, found: vector.len() });
    }
    if !vector.iter().fold(true, |finite, x| finite & x.is_finite()) {
        return Err(match vector.iter().position(|x| x.is_nan()) {
            Some(position) => VectorError::NotANumber { position },
            None => VectorError::Infinite { position: vector.iter().position(|x| x.is_infinite()).unwrap_or(0) },
        });
    }
    let (chunks, rest) = vector.as_chunks::<8>();
    let mut sums = [0f64; 8];
    for chunk in chunks {
        for (sum, &x) in sums.iter_mut().zip(chunk) {
            *sum += f64::from(x) * f64::from(x);
        }
    }
    let square = sums.iter().sum::<f64>() + rest.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
    if square == 0.0 {
        return Err(VectorError::Zero);
    }
    let scale = 1.0 / square.sqrt();
    out.clear();
    out.extend(vector.iter().map(|&x| (f64::from(x) * scale) as f32));
    Ok(())
}

/// Vectors in 16 bits per number, as two sections of codes: `(256 * coarse + fine) / 256 * scale` is about the number.
/// The coarse codes alone are what is scanned and what graphs are built on; both together are within `scale / 512` of
/// the number, for a vector of 384 numbers within about 0.000003. The compact layout keeps the coarse codes alone, which are
/// within `scale / 2`.
#[derive(Debug, Default, Clone)]
pub(crate) struct Quantized {
    layout: Layout,
    pub(crate) coarse: Vec<i8>,
    /// Empty in the compact layout.
    pub(crate) fine: Vec<i8>,
    /// One for each vector, so that what the codes stand for has the length 1: about its largest number / 127.
    pub(crate) scales: Vec<f32>,
}

/// Stands for the fine codes of a vector that has none.
pub(crate) static NO_FINE: [i8; MAX_DIMS] = [0; MAX_DIMS];

/// One vector of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row<'a> {
    pub(crate) coarse: &'a [i8],
    pub(crate) fine: &'a [i8],
    pub(crate) scale: f32,
}

impl Quantized {
    /// None yet, in a layout.
    pub(crate) fn new(layout: Layout) -> Self {
        Self { layout, ..Self::default() }
    }

    /// None, with room for `count` of `dims` numbers each.
    pub(crate) fn with_capacity(layout: Layout, count: usize, dims: usize) -> Self {
        let codes = count * code_stride(dims);
        let mut empty = Self::new(layout);
        empty.coarse.reserve_exact(codes);
        empty.fine.reserve_exact(if layout == Layout::Standard { codes } else { 0 });
        empty.scales.reserve_exact(count);
        empty
    }

    /// Appends a vector of length 1, filled up with zeros to whole cache lines. The largest number gets the coarse code
    /// 127 or -127.
    pub(crate) fn push(&mut self, vector: &[f32]) {
        let largest = vector.iter().fold(0f32, |most, x| most.max(x.abs()));
        let parts: u16 = match self.layout {
            Layout::Standard => 256,
            Layout::Compact => 1,
        };
        let steps = if largest > 0.0 { 127.0 * f32::from(parts) / largest } else { 0.0 };
        let start = self.coarse.len();
        let end = start + code_stride(vector.len());
        self.coarse.resize(end, 0);
        let coarse = self.coarse[start..].iter_mut();
        let square: i64 = match self.layout {
            Layout::Standard => {
                self.fine.resize(end, 0);
                let codes = coarse.zip(&mut self.fine[start..]);
                let split = |(coarse, fine): (&mut i8, &mut i8), x: f32| -> i64 {
                    let code = round(x * steps);
                    *coarse = ((code + 128) >> 8) as i8;
                    *fine = (code - (i32::from(*coarse) << 8)) as i8;
                    i64::from(code * code)
                };
                Kernel::detect().run(
                    #[inline(always)]
                    || codes.zip(vector).map(|(codes, &x)| split(codes, x)).sum(),
                )
            }
            Layout::Compact => {
                let put = |coarse: &mut i8, x: f32| -> i64 {
                    let code = round(x * steps);
                    *coarse = code as i8;
                    i64::from(code * code)
                };
                Kernel::detect().run(
                    #[inline(always)]
                    || coarse.zip(vector).map(|(coarse, &x)| put(coarse, x)).sum(),
                )
            }
        };
        self.scales.push((f64::from(parts) / (square.max(1) as f64).sqrt()) as f32);
    }

    /// Appends a vector that was quantised before, in the same layout: its codes as they are.
    pub(crate) fn push_row(&mut self, row: Row<'_>) {
        self.coarse.extend_from_slice(row.coarse);
        if self.layout == Layout::Standard {
            self.fine.extend_from_slice(row.fine);
        }
        self.scales.push(row.scale);
    }

    /// The vector at a position.
    pub(crate) fn row(&self, position: usize) -> Row<'_> {
        let stride = self.coarse.len() / self.scales.len();
        let codes = position * stride..(position + 1) * stride;
        let fine = match self.layout {
            Layout::Standard => &self.fine[codes.clone()],
            Layout::Compact => &NO_FINE[..stride],
        };
        Row { coarse: &self.coarse[codes], fine, scale: self.scales[position] }
    }
}

/// The nearest integer. The sum is so large that a float has no digits left behind the point, and its lowest bits are
/// the integer; the compiler can do many at once, which it cannot with a cast. For less than 2^22, negative or not.
#[inline(always)]
pub(crate) fn round(x: f32) -> i32 {
    const LARGE: f32 = (3 << 22) as f32;
    (x + LARGE).to_bits() as i32 - LARGE.to_bits() as i32
}

impl Row<'_> {
    /// The numbers that the codes stand for, which replace what is in `numbers`.
    pub(crate) fn decode_into(self, numbers: &mut Vec<f32>) {
        numbers.resize(self.coarse.len(), 0.0);
        let step = self.scale / 256.0;
        let codes = self.coarse.iter().zip(self.fine);
        Kernel::detect().run(
            #[inline(always)]
            || {
                for (number, (&coarse, &fine)) in numbers.iter_mut().zip(codes) {
                    *number = ((i32::from(coarse) << 8) + i32::from(fine)) as f32 * step;
                }
            },
        );
    }

    /// The numbers that the codes stand for.
    pub(crate) fn decode(self) -> Vec<f32> {
        let mut numbers = Vec::new();
        self.decode_into(&mut numbers);
        numbers
    }

    /// The dot product with a vector, from all 16 bits.
    #[inline]
    pub(crate) fn dot(self, vector: &[f32], kernel: Kernel) -> f32 {
        kernel.dot_mixed(vector, self.coarse, self.fine) * (self.scale / 256.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_and_the_largest_floats_have_a_direction() {
        for size in [1e-45f32, 1e-38, 1.0, 3e38] {
            let mut unit = Vec::new();
            normalise(&[size, 0.0, -size], 3, &mut unit).unwrap();
            for (found, expected) in unit.iter().zip([0.5f32.sqrt(), 0.0, -(0.5f32.sqrt())]) {
                assert!((found - expected).abs() < 1e-6, "{unit:?} for {size}");
            }
        }
    }

    #[test]
    fn refusals_have_names() {
        let mut out = Vec::new();
        assert_eq!(normalise(&[1.0], 2, &mut out), Err(VectorError::Dimensions { expected: 2, found: 1 }));
        assert_eq!(normalise(&[0.0, -0.0], 2, &mut out), Err(VectorError::Zero));
        assert_eq!(normalise(&[1.0, f32::NAN], 2, &mut out), Err(VectorError::NotANumber { position: 1 }));
        assert_eq!(normalise(&[f32::NEG_INFINITY, 1.0], 2, &mut out), Err(VectorError::Infinite { position: 0 }));
        assert!(out.is_empty());
    }

    #[test]
    fn codes_are_within_half_a_step() {
        let mut vector = Vec::new();
        normalise(&[0.5f32, -0.25, 0.1, 0.0, 0.8, -0.8, 0.799_999], 7, &mut vector).unwrap();
        let mut codes = Quantized::default();
        codes.push(&[0.377_964_47; 7]);
        codes.push(&vector);
        let row = codes.row(1);
        assert_eq!((row.coarse.len(), row.fine.len()), (256, 256));
        assert_eq!((row.coarse[4], row.coarse[5]), (127, -127));
        for ((coarse, exact), x) in row.coarse.iter().zip(row.decode()).zip(vector.clone()) {
            assert!((f32::from(*coarse) * row.scale - x).abs() <= row.scale * 0.51);
            assert!((exact - x).abs() <= row.scale / 500.0, "{exact} for {x}");
        }
        let sum: f32 = vector.iter().map(|x| x * x).sum();
        let padded: Vec<f32> = vector.iter().copied().chain(std::iter::repeat(0.0)).take(256).collect();
        assert!((row.dot(&padded, Kernel::detect()) - sum).abs() < 1e-4);
    }

    #[test]
    fn compact_codes_are_coarse_ones_of_length_1() {
        let mut vector = Vec::new();
        normalise(&[0.5f32, -0.25, 0.1, 0.0, 0.8, -0.8, 0.799_999], 7, &mut vector).unwrap();
        let mut codes = Quantized::new(Layout::Compact);
        codes.push(&[0.377_964_47; 7]);
        codes.push(&vector);
        assert_eq!((codes.coarse.len(), codes.fine.len()), (512, 0));
        let row = codes.row(1);
        assert_eq!((row.coarse[4], row.coarse[5], row.fine), (127, -127, &[0; 256][..]));
        let decoded = row.decode();
        for ((coarse, exact), x) in row.coarse.iter().zip(&decoded).zip(&vector) {
            assert!((exact - x).abs() <= row.scale * 0.51, "{exact} for {x}");
            assert_eq!(*exact, f32::from(*coarse) * row.scale);
        }
        let length: f32 = decoded.iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-6, "{length}");
        assert!((row.dot(&decoded, Kernel::detect()) - length).abs() < 1e-6);
        // Codes are copied from segment to segment.
        let mut copied = Quantized::new(Layout::Compact);
        copied.push_row(row);
        assert_eq!((copied.row(0), copied.fine.len()), (row, 0));
    }
}
