//! Products without special instructions: the measure of the other kernels.

use crate::format::PANEL;

/// See [`Kernel::multiply`](super::Kernel::multiply).
pub fn multiply(rows: &[i16], panel: &[i8], products: &mut [[i32; PANEL]]) {
    let width = rows.len() / products.len();
    for (row, sums) in rows.chunks_exact(width).zip(products) {
        *sums = [0; PANEL];
        for (pair, weights) in row.as_chunks::<2>().0.iter().zip(panel.as_chunks::<{ 2 * PANEL }>().0) {
            let pair = pair.map(i32::from);
            for (sum, weights) in sums.iter_mut().zip(weights.as_chunks::<2>().0) {
                *sum += pair[0] * i32::from(weights[0]) + pair[1] * i32::from(weights[1]);
            }
        }
    }
}
