//! Token vectors to one vector: the mean over the tokens that count, scaled to length 1.

use crate::error::{Error, Result};
use crate::normalise::normalise;

/// Pools a batch.
///
/// `hidden` is `[rows, tokens, dims]`, `mask` is `[rows, tokens]`, both row-major; a token counts if its mask is not 0.
/// The results have length 1. Fails if a result is not finite or is zero.
pub fn mean_pool(hidden: &[f32], mask: &[i64], tokens: usize, dims: usize) -> Result<Vec<Vec<f32>>> {
    if tokens == 0 || dims == 0 || hidden.len() != mask.len() * dims || !mask.len().is_multiple_of(tokens) {
        return Err(Error::Failed(format!(
            "its output has {} numbers, which does not fit {} tokens of {dims} dimensions",
            hidden.len(),
            mask.len()
        )));
    }
    hidden
        .chunks_exact(tokens * dims)
        .zip(mask.chunks_exact(tokens))
        .map(|(row, mask)| pool_row(row, mask, dims))
        .collect()
}

fn pool_row(row: &[f32], mask: &[i64], dims: usize) -> Result<Vec<f32>> {
    let mut sum = vec![0.0f32; dims];
    for (token, _) in row.chunks_exact(dims).zip(mask).filter(|(_, counts)| **counts != 0) {
        for (sum, value) in sum.iter_mut().zip(token) {
            *sum += value;
        }
    }
    // Dividing by the number of tokens would only scale the sum, which is normalised anyway.
    normalise(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tokens_under_the_mask_count() {
        let hidden = [3.0, 0.0, 0.0, 4.0, 9.0, 9.0, /* next row */ 0.0, -2.0, 7.0, 7.0, 7.0, 7.0];
        let pooled = mean_pool(&hidden, &[1, 1, 0, 1, 0, 0], 3, 2).unwrap();
        assert_eq!(pooled, [vec![0.6, 0.8], vec![0.0, -1.0]]);
    }

    #[test]
    fn a_zero_or_non_finite_vector_is_an_error() {
        for bad in [[f32::NAN, 1.0], [f32::INFINITY, 1.0], [0.0, 0.0]] {
            assert!(mean_pool(&bad, &[1], 1, 2).is_err(), "{bad:?}");
        }
        assert!(mean_pool(&[1.0, 1.0], &[0], 1, 2).is_err(), "no token counts");
    }

    #[test]
    fn an_output_of_another_shape_is_an_error() {
        assert!(mean_pool(&[1.0, 2.0, 3.0], &[1], 1, 2).is_err());
        assert!(mean_pool(&[], &[], 0, 2).is_err());
    }
}
