//! A product of tokens and a matrix: activations are rounded to 16 bits, and their products with 8-bit weights are exact.

use crate::format::PANEL;
use crate::kernel::Kernel;
use crate::maths::{LANES, largest, nearest};
use crate::weights::Matrix;

/// Rows of a tile with the widest kernel.
const MOST_ROWS: usize = 12;

/// Activations in 16 bits: `value * scale` of its row.
#[derive(Default)]
pub struct Activations {
    values: Vec<i16>,
    scales: Vec<f32>,
}

impl Activations {
    /// Rounds rows of `width` numbers. Their range depends on the width, so that no sum of products can overflow 32 bits.
    pub fn round(&mut self, kernel: Kernel, numbers: &[f32], width: usize) {
        self.values.resize(numbers.len(), 0);
        self.scales.resize(numbers.len() / width, 0.0);
        let range = range(width);
        kernel.run(
            #[inline(always)]
            |_| {
                let rows = numbers.chunks_exact(width).zip(self.values.chunks_exact_mut(width));
                for ((numbers, values), scale) in rows.zip(&mut self.scales) {
                    let largest = largest(numbers);
                    *scale = largest / range;
                    let factor = if largest > 0.0 { range / largest } else { 0.0 };
                    for i in 0..numbers.len() {
                        values[i] = nearest(numbers[i] * factor) as i16;
                    }
                }
            },
        );
    }
}

/// The largest activation for sums of `width` products with weights up to 127.
fn range(width: usize) -> f32 {
    if width <= 384 { 32_767.0 } else { 8_191.0 }
}

/// Multiplies all rows of `activations` with `matrix`, into `out`, `[rows, outputs]`.
pub fn multiply(kernel: Kernel, activations: &Activations, matrix: Matrix<'_>, out: &mut [f32]) {
    let outputs = matrix.scales.len();
    let rows = activations.scales.len();
    // Tiles of nearly the same height: a low one would wait for its own sums.
    let tiles = rows.div_ceil(kernel.tile_rows());
    let mut products = [[0; PANEL]; MOST_ROWS];
    // Of a length that the compiler knows, so that it checks no bounds.
    let (scales, biases) = (matrix.scales.as_chunks::<PANEL>().0, matrix.biases.as_chunks::<PANEL>().0);
    for (index, panel) in matrix.panels.chunks_exact(matrix.inputs * PANEL).enumerate() {
        let (scales, biases) = (&scales[index], &biases[index]);
        for tile in 0..tiles {
            let (start, end) = (rows * tile / tiles, rows * (tile + 1) / tiles);
            let products = &mut products[..end - start];
            kernel.multiply(&activations.values[start * matrix.inputs..end * matrix.inputs], panel, products);
            kernel.run(
                #[inline(always)]
                |_| {
                    for row in start..end {
                        let (scale, products) = (activations.scales[row], &products[row - start]);
                        let out = &mut out[row * outputs..][..outputs].as_chunks_mut::<PANEL>().0[index];
                        for i in 0..PANEL {
                            out[i] = products[i] as f32 * (scale * scales[i]) + biases[i];
                        }
                    }
                },
            );
        }
    }
}

const _: () = assert!(PANEL.is_multiple_of(LANES));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sum_of_products_overflows() {
        for width in [384, 1536] {
            assert!(f64::from(range(width)) * 127.0 * width as f64 <= f64::from(i32::MAX), "{width}");
        }
    }

    #[test]
    fn no_kernel_has_a_higher_tile() {
        assert!(Kernel::available().iter().all(|kernel| kernel.tile_rows() <= MOST_ROWS));
    }

    #[test]
    fn rows_of_zeros_stay_zeros() {
        const NUMBERS: [f32; 32] = {
            let mut numbers = [0.0; 32];
            (numbers[30], numbers[31]) = (3.0, -6.0);
            numbers
        };
        let mut activations = Activations::default();
        activations.round(Kernel::detect(), &NUMBERS, 16);
        assert!(activations.values[..16] == [0; 16] && activations.values[30..] == [16_384, -32_767]);
        assert_eq!(activations.scales, [0.0, 6.0 / 32_767.0]);
    }
}
