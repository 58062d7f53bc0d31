//! A rotation that spreads every vector evenly over its numbers, so that their signs say as much of its direction as
//! they can (RaBitQ, Gao and Long, arXiv 2405.12497, with a Hadamard transform instead of a random matrix, as in
//! Ailon and Chazelle, "The fast Johnson-Lindenstrauss transform", 2009). Part of the format: codes are those of
//! rotated vectors.

use crate::error::VectorError;
use crate::format::node::code_stride;
use crate::quantize::normalise;
use crate::random::sign;
use crate::simd::Kernel;

/// Flips of signs and transforms, in turn: after four of each, one number of the input is in every number of the
/// output. Where the first and the last numbers that are transformed have little in common it takes twice as many for
/// them to be about equal.
fn rounds(width: usize, span: usize) -> usize {
    if 2 * span - width < span / 2 { 8 } else { 4 }
}

/// The rotation of vectors of one length.
#[derive(Debug, Clone)]
pub(crate) struct Rotation {
    dims: usize,
    width: usize,
    /// The largest power of two within the width: as many numbers are transformed at once, the first and the last in
    /// turn.
    span: usize,
    /// 1 or -1, a row for each round.
    flips: Vec<f32>,
}

impl Rotation {
    /// The rotation of vectors of `dims` numbers, which are filled up with zeros.
    pub(crate) fn new(dims: usize) -> Self {
        let width = code_stride(dims);
        let span = 1 << width.ilog2();
        let mut state = 0x6d65_6d6f_7269_7374u64;
        let flips = (0..rounds(width, span) * width).map(|_| sign(&mut state)).collect();
        Self { dims, width, span, flips }
    }

    /// How many numbers the callers' vectors have.
    pub(crate) fn dims(&self) -> usize {
        self.dims
    }

    /// A caller's vector, scaled to length 1 and rotated, replaces what is in `unit`.
    ///
    /// # Errors
    /// When it has other dimensions, is zero, or has a NaN or an infinity in it.
    pub(crate) fn unit(&self, vector: &[f32], unit: &mut Vec<f32>) -> Result<(), VectorError> {
        normalise(vector, self.dims, unit)?;
        unit.resize(self.width, 0.0);
        self.turn(unit);
        Ok(())
    }

    /// Reverses [`unit`](Self::unit): the caller's vector, but scaled to length 1.
    pub(crate) fn original(&self, mut unit: Vec<f32>) -> Vec<f32> {
        self.turn_back(&mut unit);
        unit.truncate(self.dims);
        unit
    }

    /// Rotates a vector in place, zeros at its end included.
    fn turn(&self, vector: &mut [f32]) {
        let mut scratch = vec![0.0; self.span];
        Kernel::detect().run(
            #[inline(always)]
            || {
                for round in 0..self.flips.len() / self.width {
                    self.flip(round, vector);
                    transform(&mut vector[self.part(round)], &mut scratch);
                }
            },
        );
    }

    /// Undoes [`turn`](Self::turn).
    fn turn_back(&self, vector: &mut [f32]) {
        let mut scratch = vec![0.0; self.span];
        for round in (0..self.flips.len() / self.width).rev() {
            transform_back(&mut vector[self.part(round)], &mut scratch);
            self.flip(round, vector);
        }
    }

    #[inline(always)]
    fn part(&self, round: usize) -> std::ops::Range<usize> {
        if round.is_multiple_of(2) { 0..self.span } else { self.width - self.span..self.width }
    }

    #[inline(always)]
    fn flip(&self, round: usize, vector: &mut [f32]) {
        let flips = &self.flips[round * self.width..][..self.width];
        vector.iter_mut().zip(flips).for_each(|(number, flip)| *number *= flip);
    }
}

/// Numbers side by side that the compiler can take at once, because they go through the same steps.
const LANES: usize = 16;

/// A Hadamard transform, scaled so that lengths stay. The length must be a power of two, and 64 at least. The numbers
/// come out in another order than usual, as they lie after the transposition that brings the nearest ones apart.
#[inline(always)]
fn transform(numbers: &mut [f32], scratch: &mut [f32]) {
    let rows = numbers.len() / LANES;
    add_and_subtract(numbers, LANES);
    for (row, lanes) in numbers.as_chunks::<LANES>().0.iter().enumerate() {
        for (lane, &number) in lanes.iter().enumerate() {
            scratch[lane * rows + row] = number;
        }
    }
    add_and_subtract(scratch, rows);
    let scale = 1.0 / (numbers.len() as f32).sqrt();
    numbers.iter_mut().zip(scratch).for_each(|(number, from)| *number = *from * scale);
}

/// Undoes [`transform`].
fn transform_back(numbers: &mut [f32], scratch: &mut [f32]) {
    let rows = numbers.len() / LANES;
    add_and_subtract(numbers, rows);
    for (row, lanes) in scratch.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        for (lane, number) in lanes.iter_mut().enumerate() {
            *number = numbers[lane * rows + row];
        }
    }
    add_and_subtract(scratch, LANES);
    let scale = 1.0 / (numbers.len() as f32).sqrt();
    numbers.iter_mut().zip(scratch).for_each(|(number, from)| *number = *from * scale);
}

/// The steps of a transform whose partners are `least` or more apart.
#[inline(always)]
fn add_and_subtract(numbers: &mut [f32], least: usize) {
    let mut half = least;
    while half < numbers.len() {
        for pair in numbers.chunks_exact_mut(2 * half) {
            let (left, right) = pair.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(dims: usize) -> Vec<f32> {
        (0..dims).map(|at| ((at * 37 + 11) % 101) as f32 / 50.0 - 1.0).collect()
    }

    #[test]
    fn lengths_and_angles_stay_and_it_can_be_undone() {
        for dims in [1, 2, 63, 64, 65, 384, 1000, 4096] {
            let rotation = Rotation::new(dims);
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
            let (mut a, mut b) = (sample(dims), sample(dims).into_iter().rev().collect::<Vec<_>>());
            [&mut a, &mut b].into_iter().for_each(|vector| vector.resize(rotation.width, 0.0));
            let (before, original) = (dot(&a, &b), a.clone());
            [&mut a, &mut b].into_iter().for_each(|vector| rotation.turn(vector));
            assert!((dot(&a, &b) - before).abs() < 1e-4 * before.abs().max(1.0), "{dims}");
            rotation.turn_back(&mut a);
            assert!(a.iter().zip(&original).all(|(x, y)| (x - y).abs() < 1e-5), "{dims}");
        }
    }

    #[test]
    fn a_single_number_is_spread_over_all() {
        for dims in [256, 384, 960] {
            let rotation = Rotation::new(dims);
            for at in [0, dims / 2, dims - 1] {
                let mut vector = vec![0.0; dims];
                vector[at] = 1.0;
                rotation.turn(&mut vector);
                let largest = vector.iter().fold(0f32, |most, x| most.max(x.abs()));
                assert!(largest < 6.0 / (dims as f32).sqrt(), "{dims}, {at}: {largest}");
            }
        }
    }
}
