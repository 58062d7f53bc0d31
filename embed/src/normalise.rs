//! Vectors of length 1.

use crate::error::{Error, Result};

/// Scales to length 1. Fails on numbers that are not finite and on a vector without direction.
pub fn normalise(mut vector: Vec<f32>) -> Result<Vec<f32>> {
    let length = vector.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>().sqrt();
    if !length.is_finite() || length < 1e-12 {
        return Err(Error::Failed(format!("it made a vector of length {length}")));
    }
    for value in &mut vector {
        *value = (f64::from(*value) / length) as f32;
    }
    Ok(vector)
}
