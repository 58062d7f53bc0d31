//! Functions of many numbers at once. They are inlined into code that is compiled for the instructions of a kernel; `fused`
//! says whether those multiply and add in one step.

/// Numbers that the compiler keeps in one register, or in a few.
pub const LANES: usize = 16;
/// [`LANES`] numbers.
pub type Lane = [f32; LANES];

/// `a * b + c`.
#[inline(always)]
pub fn fma(fused: bool, a: f32, b: f32, c: f32) -> f32 {
    if fused { a.mul_add(b, c) } else { a * b + c }
}

/// Added to a number below 2^22 and taken away again, it leaves the nearest whole one.
const ROUNDER: f32 = 12_582_912.0;

/// The whole number nearest to `x`, between -2^22 and 2^22.
#[inline(always)]
pub fn nearest(x: f32) -> i32 {
    (x + ROUNDER).to_bits().wrapping_sub(ROUNDER.to_bits()).cast_signed()
}

/// `e^x` for `x` up to 0, to the last bits or two. Below -87 it is that of -87.
#[inline(always)]
pub fn exp(fused: bool, x: f32) -> f32 {
    // ln 2 in two parts, the first so short that its products are exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = x.max(-87.0);
    let whole = (x * std::f32::consts::LOG2_E + ROUNDER) - ROUNDER;
    let rest = fma(fused, whole, -LN2_LOW, fma(fused, whole, -LN2_HIGH, x));
    // Taylor's series: the rest is below 0.35, where its eighth member is below the last bit.
    let mut sum = 1.0 / 5040.0;
    sum = fma(fused, sum, rest, 1.0 / 720.0);
    sum = fma(fused, sum, rest, 1.0 / 120.0);
    sum = fma(fused, sum, rest, 1.0 / 24.0);
    sum = fma(fused, sum, rest, 1.0 / 6.0);
    sum = fma(fused, sum, rest, 0.5);
    sum = fma(fused, sum, rest, 1.0);
    sum = fma(fused, sum, rest, 1.0);
    let power = f32::from_bits((nearest(whole) + 127).cast_unsigned() << 23);
    sum * power
}

/// `x * Phi(x)`, with the distribution function of the normal distribution: Abramowitz and Stegun 7.1.26, which is
/// within 1.5e-7 of it.
#[inline(always)]
pub fn gelu(fused: bool, x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / fma(fused, 0.327_591_1, z, 1.0);
    let mut sum = 1.061_405_4;
    sum = fma(fused, sum, t, -1.453_152_1);
    sum = fma(fused, sum, t, 1.421_413_8);
    sum = fma(fused, sum, t, -0.284_496_72);
    sum = fma(fused, sum, t, 0.254_829_6);
    // Half of what is beyond |x|.
    let tail = 0.5 * sum * t * exp(fused, -z * z);
    x * if x < 0.0 { tail } else { 1.0 - tail }
}

/// The largest absolute value of whole lanes of numbers.
#[inline(always)]
pub fn largest(numbers: &[f32]) -> f32 {
    let mut most = [0.0f32; LANES];
    for start in (0..numbers.len()).step_by(LANES) {
        let numbers = &numbers[start..start + LANES];
        for lane in 0..LANES {
            most[lane] = most[lane].max(numbers[lane].abs());
        }
    }
    let mut all = most[0];
    for lane in 1..LANES {
        all = all.max(most[lane]);
    }
    all
}

/// The sum of `f` of whole lanes of numbers.
#[inline(always)]
pub fn sum(numbers: &[f32], f: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0f32; LANES];
    for start in (0..numbers.len()).step_by(LANES) {
        let numbers = &numbers[start..start + LANES];
        for lane in 0..LANES {
            sums[lane] += f(numbers[lane]);
        }
    }
    let mut all = 0.0;
    for lane in 0..LANES {
        all += sums[lane];
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(from: f64, to: f64) -> impl Iterator<Item = f64> {
        const STEPS: i32 = 100_000;
        (0..=STEPS).map(move |step| from + (to - from) * f64::from(step) / f64::from(STEPS))
    }

    #[test]
    fn exp_is_exact_to_the_last_bits() {
        for fused in [false, true] {
            for x in numbers(-87.0, 0.0) {
                let exact = f64::from(x as f32).exp();
                let error = (f64::from(exp(fused, x as f32)) / exact - 1.0).abs();
                assert!(error < 3e-7, "{x}: {error}");
            }
            assert_eq!(exp(fused, 0.0), 1.0);
            assert!(exp(fused, -1e30) < 1e-37);
        }
    }

    /// The reference is the integral of the normal density, by Simpson's rule.
    #[test]
    fn gelu_is_within_its_bound() {
        let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let step = 1e-3;
        let mut phi = 0.0;
        let mut x = -12.0;
        while x < 8.0 {
            phi += step / 6.0 * (density(x) + 4.0 * density(x + step / 2.0) + density(x + step));
            x += step;
            for fused in [false, true] {
                let error = (f64::from(gelu(fused, x as f32)) - x * phi).abs();
                assert!(error < 6e-7 * x.abs().max(1.0), "{x}: {error}");
            }
        }
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest() {
        for (number, whole) in [(0.4, 0), (0.6, 1), (-0.6, -1), (32_767.4, 32_767), (-8_190.6, -8_191), (2.5, 2)] {
            assert_eq!(nearest(number), whole);
        }
    }
}
