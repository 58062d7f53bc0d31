//! From a caller's vector to what is stored: a vector of length 1, and its int8 codes with their scale.

use crate::error::VectorError;
use crate::format::CODE_ALIGNMENT;

/// How many bytes the codes of one vector take: its dimensions, rounded up so that each row starts on a cache line.
pub(crate) fn code_stride(dims: usize) -> usize {
    dims.next_multiple_of(CODE_ALIGNMENT)
}

/// Appends `vector`, scaled to length 1, to `out`. The length is computed in f64, so that neither the largest nor the
/// smallest floats overflow.
pub(crate) fn normalise(vector: &[f32], dims: usize, out: &mut Vec<f32>) -> Result<(), VectorError> {
    if vector.len() != dims {
        return Err(VectorError::Dimensions { expected: dims, found: vector.len() });
    }
    if let Some(position) = vector.iter().position(|x| x.is_nan()) {
        return Err(VectorError::NotANumber { position });
    }
    if let Some(position) = vector.iter().position(|x| x.is_infinite()) {
        return Err(VectorError::Infinite { position });
    }
    let length = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    if length == 0.0 {
        return Err(VectorError::Zero);
    }
    out.extend(vector.iter().map(|&x| (f64::from(x) / length) as f32));
    Ok(())
}

/// Appends the codes of a vector to `out`, filled up with zeros to `stride`, and returns their scale: code times scale is about
/// the number it stands for. The largest number gets the code 127 or -127.
pub(crate) fn encode(vector: &[f32], stride: usize, out: &mut Vec<i8>) -> f32 {
    let largest = vector.iter().fold(0f32, |most, x| most.max(x.abs()));
    let start = out.len();
    let steps = if largest > 0.0 { 127.0 / largest } else { 0.0 };
    out.extend(vector.iter().map(|&x| (x * steps).round() as i8));
    out.resize(start + stride, 0);
    largest / 127.0
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
        let vector = [0.5f32, -0.25, 0.1, 0.0, 0.8];
        let mut codes = Vec::new();
        let scale = encode(&vector, 64, &mut codes);
        assert_eq!(codes.len(), 64);
        assert_eq!(codes[4], 127);
        for (code, x) in codes.iter().zip(vector) {
            assert!((f32::from(*code) * scale - x).abs() <= scale * 0.501);
        }
    }
}
