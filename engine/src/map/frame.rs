//! The square in which a layout is shown, and the places in it as whole numbers.

use super::descent::Coords;
use super::file::{Map, Point};

/// The last place, to the right and to the bottom.
const LAST: f32 = u16::MAX as f32;
/// Room around a new layout, as a factor of its width, so that later points find a place outside of it.
const MARGIN: f32 = 1.05;

/// A square of the plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    middle: Coords,
    width: f32,
}

impl Frame {
    /// The square around all of these places.
    pub fn around(places: &[Coords]) -> Self {
        let ends = |axis: usize| {
            let along = places.iter().map(|place| place[axis]);
            along.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
        };
        let [(left, right), (top, bottom)] = [ends(0), ends(1)];
        let width = (right - left).max(bottom - top) * MARGIN;
        match width.is_finite() && width > 0.0 {
            true => Frame { middle: [(left + right) / 2.0, (top + bottom) / 2.0], width },
            // One place, or none.
            false => Frame { middle: places.first().copied().unwrap_or_default(), width: 1.0 },
        }
    }

    /// The square of a map, whose middle is the zero of the layout.
    pub fn of_map(map: &Map) -> Self {
        Frame { middle: [0.0; 2], width: map.width }
    }

    /// Its width, in units of the layout.
    pub fn width(&self) -> f32 {
        self.width
    }

    /// Whether it has room for all of these places.
    pub fn holds(&self, places: &[Coords]) -> bool {
        places.iter().all(|place| (0..2).all(|axis| (place[axis] - self.middle[axis]).abs() <= self.width / 2.0))
    }

    /// Where a place is in it; at its edge, if it is outside.
    pub fn shown(&self, place: Coords) -> (u16, u16) {
        let along = |axis: usize| (((place[axis] - self.middle[axis]) / self.width + 0.5) * LAST).round() as u16;
        (along(0), along(1))
    }

    /// Where a point of it is in units of the layout.
    pub fn place(&self, point: &Point) -> Coords {
        let along = |axis: usize, at: u16| self.middle[axis] + (f32::from(at) / LAST - 0.5) * self.width;
        [along(0, point.x), along(1, point.y)]
    }
}
