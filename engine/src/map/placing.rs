//! Places for memories that are new or have changed, on a map that stays as it is: in the middle of their neighbours, then a
//! short descent. What is placed depends on the map and on the memory alone, not on what else is placed with it.

use super::descent::{Coords, Schedule, descend_alone};
use super::file::Map;
use super::frame::Frame;
use super::graph::strengths;
use super::neighbours::nearest;
use super::random::Random;
use crate::error::Result;
use crate::vectors::{IdFilter, VectorSnapshot};

/// Shares of the true 15 nearest that are among the nearest 15, 50 and 500 afterwards: 0.10, 0.24 and 0.56, which is what a
/// layout keeps, less a tenth; without a descent 0.06, 0.15 and 0.40, at a rate of 1 0.08, 0.19 and 0.51.
const EPOCHS: u32 = 30;
const RATE: f32 = 0.1;
/// A distance counts as no less than this: that of equal texts is 0.
const NEAREST: f32 = 1e-6;

/// A map to place memories on.
pub struct Ground<'a> {
    map: &'a Map,
    index: &'a dyn VectorSnapshot,
    frame: Frame,
    places: Vec<Coords>,
    placed: IdFilter,
}

impl<'a> Ground<'a> {
    /// The points of `map`, whose vectors are in `index`.
    pub fn new(map: &'a Map, index: &'a dyn VectorSnapshot) -> Self {
        let frame = Frame::of_map(map);
        let places = map.points.iter().map(|point| frame.place(point)).collect();
        let placed = IdFilter::Only(map.points.iter().map(|point| u64::from(point.id)).collect());
        Ground { map, index, frame, places, placed }
    }

    /// The place of a memory with this vector.
    ///
    /// # Errors
    /// Errors of the index.
    pub fn place(&self, id: u32, vector: &[f32]) -> Result<(u16, u16)> {
        let found = nearest(self.index, vector, id, &self.placed)?;
        let near: Vec<(u32, f32)> = found
            .into_iter()
            .filter_map(|(id, distance)| Some((self.map.row(id)? as u32, distance.max(NEAREST))))
            .collect();
        let (mut middle, mut sum) = ([0.0; 2], 0.0);
        for &(row, distance) in &near {
            let share = (NEAREST / distance).powi(4);
            let at = self.places[row as usize];
            middle = [middle[0] + share * at[0], middle[1] + share * at[1]];
            sum += share;
        }
        let mut random = Random::new(id.into());
        let place = match sum > 0.0 {
            true => middle.map(|along| along / sum),
            // Nothing to go by.
            false => [0, 1].map(|_| self.frame.width() / 2.0 * random.signed()),
        };
        let own = strengths(&near);
        let edges: Vec<(u32, f32)> = near.iter().zip(own).map(|((row, _), strength)| (*row, strength)).collect();
        let schedule = Schedule { epochs: EPOCHS, rate: RATE, seed: random.bits() };
        Ok(self.frame.shown(descend_alone(place, &edges, &self.places, schedule)))
    }
}
