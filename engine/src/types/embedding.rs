//! An embedding as bytes, in the database and in an export: 16-bit floats (IEEE 754 binary16), little-endian. The numbers
//! of a vector of length 1 lose less than one part in 2,000 each, its cosines less than one in a million.

use half::f16;
use half::slice::HalfFloatSliceExt as _;

/// The largest number of an embedding.
pub(crate) const LARGEST: f32 = f16::MAX.to_f32_const();

/// Tolerance of the length of an embedding, which is 1.
const NEAR_ONE: f32 = 1e-3;

/// The length of an embedding.
pub(crate) fn length(embedding: &[f32]) -> f32 {
    embedding.iter().map(|number| number * number).sum::<f32>().sqrt()
}

/// Whether a length is 1, but for rounding. NaN is not.
pub(crate) fn is_one(length: f32) -> bool {
    (length - 1.0).abs() < NEAR_ONE
}

/// An embedding whose length is 1, but for rounding, with the length 1: its products are cosines.
pub fn of_length_one(mut embedding: Vec<f32>) -> Vec<f32> {
    let length = length(&embedding);
    if is_one(length) {
        embedding.iter_mut().for_each(|number| *number /= length);
    }
    embedding
}

/// The bytes of an embedding. Its numbers are rounded to 16 bits.
pub fn embedding_bytes(embedding: &[f32]) -> Vec<u8> {
    let mut halves = vec![f16::ZERO; embedding.len()];
    halves.convert_from_f32_slice(embedding);
    halves.iter().flat_map(|half| half.to_le_bytes()).collect()
}

/// The embedding of so many dimensions that bytes stand for: of 16 bits, or of 32, as written by earlier versions. `None`
/// if they are of another length.
pub fn embedding_of(bytes: &[u8], dims: usize) -> Option<Vec<f32>> {
    if dims.checked_mul(4) == Some(bytes.len()) {
        return Some(bytes.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number)).collect());
    }
    if dims.checked_mul(2) != Some(bytes.len()) {
        return None;
    }
    let halves: Vec<f16> = bytes.as_chunks().0.iter().map(|&half| f16::from_le_bytes(half)).collect();
    Some(halves.to_f32_vec())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_vector_keeps_its_direction(numbers in proptest::collection::vec(-1.0f32..1.0, 1..800)) {
            prop_assume!(length(&numbers) > 0.1);
            let unit: Vec<f32> = numbers.iter().map(|number| number / length(&numbers)).collect();
            let bytes = embedding_bytes(&unit);
            prop_assert_eq!(bytes.len(), 2 * unit.len());
            let again = embedding_of(&bytes, unit.len()).unwrap();
            let product: f32 = unit.iter().zip(&again).map(|(a, b)| a * b).sum();
            prop_assert!((product / length(&again) - 1.0).abs() < 1e-5, "{}", product);
            prop_assert_eq!(embedding_bytes(&again), bytes);
        }
    }

    #[test]
    fn bytes_of_earlier_versions_are_read_and_other_lengths_refused() {
        let wide: Vec<u8> = [0.1f32, -0.7].iter().flat_map(|number| number.to_le_bytes()).collect();
        assert_eq!(embedding_of(&wide, 2), Some(vec![0.1, -0.7]));
        assert_eq!(embedding_of(&[0x00, 0x3c, 0x00, 0xb8], 2), Some(vec![1.0, -0.5]));
        assert_eq!((embedding_of(&wide, 3), embedding_of(&wide[1..], 2), embedding_of(&[], 1)), (None, None, None));
        assert_eq!(LARGEST, 65_504.0);
    }
}
