//! A layout: a place for every memory at once. Neighbours by the index, a start, then two descents, of which the first is
//! shown while the second refines it.

use super::descent::{Coords, Schedule, descend};
use super::file::Map;
use super::frame::Frame;
use super::graph::{Graph, Nearest};
use super::neighbours::nearest;
use super::random::Random;
use super::start::{Axes, spread};
use crate::error::Result;
use crate::passages::PassageKey;
use crate::progress::{Progress, cancel_point};
use crate::types::RecordId;
use crate::vectors::{IdFilter, VectorSnapshot};

/// Shown after the first. Of 100,000 real embeddings, the map keeps 0.11, 0.26 and 0.57 of the true 15 nearest among its
/// nearest 15, 50 and 500 after both, and 0.09, 0.22 and 0.54 after the first (`benches/map.rs`). At a rate of 1 the second
/// would move points a fifth farther, and keep 0.10, 0.24 and 0.55.
const DESCENTS: [Schedule; 2] =
    [Schedule { epochs: 50, rate: 1.0, seed: 3 }, Schedule { epochs: 150, rate: 0.25, seed: 4 }];
/// From places that were good.
const WARM: [Schedule; 1] = [Schedule { epochs: 30, rate: 0.1, seed: 5 }];
/// Vectors of which the axes of a start are found.
const SAMPLE: usize = 10_000;
/// Rows between two reports.
const STEP: usize = 1 << 10;
/// Rows of a pass over all edges that take as long as finding the neighbours of one.
const PASSED_MEANWHILE: usize = 32;

/// The starting point of a layout.
#[derive(Debug, Clone, Copy)]
pub enum Start<'a> {
    /// The vectors alone.
    Vectors,
    /// The places of a map of the same model, which move little.
    Places(&'a Map),
    /// The places of a map of another model, which are as good as any.
    OtherPlaces(&'a Map),
}

/// Lays out the records `ids`, which are ascending and have vectors in `index`. Calls `publish` with their places each time
/// that there is something to see, and with the frame to show them in.
///
/// # Errors
/// [`Cancelled`](crate::Error::Cancelled); those of the index; the first of `publish`.
pub fn lay_out(
    index: &dyn VectorSnapshot,
    ids: &[u32],
    start: Start<'_>,
    mut publish: impl FnMut(&[Coords], Frame) -> Result<()>,
    progress: &dyn Progress,
) -> Result<()> {
    let schedules = match start {
        Start::Places(_) => &WARM[..],
        Start::Vectors | Start::OtherPlaces(_) => &DESCENTS[..],
    };
    let epochs: u32 = schedules.iter().map(|schedule| schedule.epochs).sum();
    let of_an_epoch = (ids.len() / PASSED_MEANWHILE) as u64;
    progress.start("laying out the map", Some(ids.len() as u64 + u64::from(epochs) * of_an_epoch));
    let done = (|| {
        let axes = matches!(start, Start::Vectors).then(|| axes(index, ids));
        let (near, mut places) = neighbours(index, ids, axes.as_ref(), progress)?;
        match start {
            Start::Vectors => spread(&mut places),
            Start::Places(map) | Start::OtherPlaces(map) => places = places_of(map, ids, &near),
        }
        let graph = Graph::new(near);
        for schedule in schedules {
            descend(&graph, &mut places, *schedule, &mut || {
                progress.advance(of_an_epoch);
                cancel_point(progress)
            })?;
            let frame = match start {
                // So that what does not move stays where it is seen.
                Start::Places(map) if Frame::of_map(map).holds(&places) => Frame::of_map(map),
                _ => Frame::around(&places),
            };
            publish(&places, frame)?;
        }
        Ok(())
    })();
    progress.finish();
    done
}

fn vector(index: &dyn VectorSnapshot, id: u32) -> Option<Vec<f32>> {
    index.vector(PassageKey::from(RecordId::from_key(id.into())))
}

fn axes(index: &dyn VectorSnapshot, ids: &[u32]) -> Axes {
    let sample: Vec<Vec<f32>> =
        ids.iter().step_by(ids.len().div_ceil(SAMPLE).max(1)).filter_map(|id| vector(index, *id)).collect();
    let dims = sample.first().map_or(0, Vec::len);
    Axes::of(&sample, dims)
}

/// The neighbours of each record, and where it is on the axes.
fn neighbours(
    index: &dyn VectorSnapshot,
    ids: &[u32],
    axes: Option<&Axes>,
    progress: &dyn Progress,
) -> Result<(Nearest, Vec<Coords>)> {
    let (mut near, mut places) = (Nearest::new(), Vec::with_capacity(ids.len()));
    for step in ids.chunks(STEP) {
        cancel_point(progress)?;
        for &id in step {
            let vector = vector(index, id);
            let found = match &vector {
                Some(vector) => nearest(index, vector, id, &IdFilter::All)?,
                None => Vec::new(),
            };
            let row = |id: u32| ids.binary_search(&id).ok().map(|row| row as u32);
            near.push(found.into_iter().filter_map(|(id, distance)| Some((row(id)?, distance))));
            let at = axes.zip(vector).map(|(axes, vector)| axes.place(&vector));
            places.push(at.unwrap_or_default());
        }
        progress.advance(step.len() as u64);
    }
    Ok((near, places))
}

/// The places that the records have on a map. Those that have none begin in the middle of their neighbours.
fn places_of(map: &Map, ids: &[u32], near: &Nearest) -> Vec<Coords> {
    let frame = Frame::of_map(map);
    let known: Vec<Option<Coords>> =
        ids.iter().map(|id| map.row(*id).map(|row| frame.place(&map.points[row]))).collect();
    let mut random = Random::new(6);
    let mut around = |row: usize| {
        let placed = near.of(row).iter().filter_map(|(other, _)| known[*other as usize]);
        let (sum, count) = placed.fold(([0.0; 2], 0.0), |([x, y], count), at| ([x + at[0], y + at[1]], count + 1.0));
        let aside = frame.width() * if count > 0.0 { 1e-4 } else { 0.5 };
        sum.map(|along| along / f32::max(count, 1.0) + aside * random.signed())
    };
    known.iter().enumerate().map(|(row, place)| place.unwrap_or_else(|| around(row))).collect()
}
