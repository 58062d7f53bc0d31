//! The ranges of a plot's axes, and their ticks: recall to scale, time by powers of ten.

use super::Plot;

/// Steps of the ticks of recall, from the widest; the first one with enough ticks is used.
const STEPS: [f64; 9] = [0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005];
const TICKS: f64 = 4.0;
/// The recall axis starts here or lower.
const LOWEST_AT_MOST: f64 = 0.99;

const ALL_DIGITS: [u64; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];
const FEW_DIGITS: [u64; 3] = [1, 2, 5];

/// Both axes of a plot.
pub struct Axes {
    pub recall: Axis,
    pub time: Axis,
}

pub struct Axis {
    low: f64,
    high: f64,
    scale: fn(f64) -> f64,
    /// The position of a tick, from 0 to 1, and its label.
    pub ticks: Vec<(f64, String)>,
}

impl Axes {
    /// Axes that fit all points.
    pub fn of(plot: &Plot) -> Self {
        let recalls = plot.points.iter().map(|point| point.recall);
        let times = plot.points.iter().map(|point| point.micros);
        Axes {
            recall: recall(recalls.fold(LOWEST_AT_MOST, f64::min)),
            time: time(times.clone().fold(f64::INFINITY, f64::min), times.fold(1.0, f64::max)),
        }
    }
}

impl Axis {
    fn new(low: f64, high: f64, scale: fn(f64) -> f64, ticks: impl Iterator<Item = (f64, String)>) -> Self {
        let mut axis = Axis { low: scale(low), high: scale(high), scale, ticks: Vec::new() };
        axis.ticks = ticks.map(|(value, name)| (axis.at(value), name)).collect();
        axis
    }

    /// The position of a value, from 0 to 1.
    pub fn at(&self, value: f64) -> f64 {
        (((self.scale)(value) - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

fn recall(lowest: f64) -> Axis {
    let step = STEPS.into_iter().find(|step| (1.0 - lowest) / step >= TICKS).unwrap_or(STEPS[0]);
    let [first, last] = [(lowest / step + 1e-9).floor(), (1.0 / step).round()];
    let decimals = if step < 0.001 {
        4
    } else if step < 0.01 {
        3
    } else {
        2
    };
    let ticks = (first as u32..=last as u32).map(|number| f64::from(number) * step);
    Axis::new(first * step, 1.0, |value| value, ticks.map(|value| (value, format!("{value:.decimals$}"))))
}

/// In microseconds. Ticks are at 1, 2 and 5 of each power of ten, or at each digit if that leaves too few.
fn time(least: f64, most: f64) -> Axis {
    let round =
        |digits: &'static [u64]| (0..9).flat_map(move |power| digits.iter().map(move |digit| digit * 10u64.pow(power)));
    let low = round(&ALL_DIGITS).take_while(|micros| *micros as f64 <= least).last().unwrap_or(1);
    let high = round(&ALL_DIGITS).find(|micros| *micros as f64 >= most && *micros > low).unwrap_or(low * 10);
    let between = |digits| round(digits).filter(move |micros| (low..=high).contains(micros));
    let digits = if between(&FEW_DIGITS).count() < 2 { &ALL_DIGITS[..] } else { &FEW_DIGITS };
    Axis::new(low as f64, high as f64, f64::log10, between(digits).map(|micros| (micros as f64, name(micros))))
}

fn name(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{} ms", micros / 1_000),
        _ => format!("{} s", micros / 1_000_000),
    }
}
