//! How hard a search of a segment has to try for a recall, measured on the segment's own vectors once its graph is
//! built.
//!
//! How many candidates a walk must keep depends on how the vectors lie: a setting that is right for one store misses
//! half of the neighbours in another. So the effort is a recall, and each graph says what that costs.

use rayon::prelude::*;

use crate::efforts::{Efforts, K, SCAN, TARGETS};
use crate::filter::Filter;
use crate::ids::Slot;
use crate::options::Effort;
use crate::progress::{Cancelled, OnProgress, Stage, Work};
use crate::quantize::Row;
use crate::random::sign;
use crate::rotate::Rotation;
use crate::search::{self, Query, SearchRequest};
use crate::segment::Segment;

/// Vectors near which questions are made, evenly spread over the slots.
const SAMPLE: usize = 128;
/// The least effort that is tried; each next one is the root of 2 times the one before.
const LEAST_EF: f64 = K as f64;
/// The effort of the search for a vector's neighbours, whose distance need not be exact.
const NEIGHBOURS_EF: usize = 100;
/// Distance of a question from the vector that answers it, as a multiple of the tenth neighbor's. With real questions and
/// answers in sentence embeddings, the efforts found this way meet the recalls.
const FARTHER: f32 = 1.1;
/// Searches near some vectors of a segment that has a graph, with more and more effort.
///
/// # Errors
/// When it is stopped.
pub(crate) fn calibrate(segment: &Segment, on_progress: OnProgress<'_>) -> Result<Efforts, Cancelled> {
    let view = segment.file.view();
    let count = view.count();
    let sample = SAMPLE.min(count);
    let work = Work::new(Stage::Measuring, sample, on_progress);
    let shape = segment.file.header.shape;
    let rotation = Rotation::new(shape.dims as usize);
    let slots = (0..sample).into_par_iter().map(|at| (at as u64 * count as u64 / sample as u64) as Slot);
    let with_answer = |slot| {
        if work.is_cancelled() {
            return None;
        }
        let query = Query::new(question(segment, &rotation, view.vectors.row(slot)?, slot)?);
        // A scan by coarse codes reads half of what an exact one does, and hardly ever misses one of those that a search
        // of all by the index's own codes finds.
        let scores = scores(segment, &query, Effort::Ef(usize::MAX));
        work.advance(1);
        let worst = scores.iter().copied().fold(f32::INFINITY, f32::min);
        Some(Question { query, worst, wanted: scores.len(), found: 0 })
    };
    let mut questions: Vec<Question> = slots.filter_map(with_answer).collect();
    let wanted: usize = questions.iter().map(|question| question.wanted).sum();
    let mut efforts = Efforts([SCAN; TARGETS.len()]);
    // The effort before, and the share that it missed.
    let mut before = (LEAST_EF, 1.0);
    let mut next = 0;
    for step in 0.. {
        let ef = (LEAST_EF * 2f64.powf(f64::from(step) / 2.0)).round();
        if next == TARGETS.len()
            || work.is_cancelled()
            || !search::is_walk_cheaper(shape.layout, ef as u64, count as u64)
        {
            break;
        }
        questions.par_iter_mut().for_each(|question| question.search(segment, ef as usize));
        let found: usize = questions.iter().map(|question| question.found).sum();
        // As if half a neighbour more were missing, so that there is a logarithm.
        let missed = (wanted.saturating_sub(found) as f64 + 0.5) / (wanted as f64 + 0.5);
        while let Some(&target) = TARGETS.get(next)
            && missed <= 1.0 - f64::from(target)
        {
            efforts.0[next] = between(before, (ef, missed), 1.0 - f64::from(target)).ceil() as u32;
            next += 1;
        }
        before = (ef, missed);
        work.advance(0);
    }
    work.finish().map(|()| efforts)
}

/// The effort with which a share is missed that lies between those of two efforts: the logarithms of both are about on
/// a line.
fn between((ef, missed): (f64, f64), (more_ef, less_missed): (f64, f64), wanted: f64) -> f64 {
    let share = if missed > less_missed { (missed / wanted).ln() / (missed / less_missed).ln() } else { 1.0 };
    ef * (more_ef / ef).powf(share.clamp(0.0, 1.0))
}

/// A question whose answer is known.
struct Question {
    query: Query,
    /// The score of the last of the true neighbours.
    worst: f32,
    wanted: usize,
    /// How many of them the last search found.
    found: usize,
}

impl Question {
    /// Searches with more effort than before, unless all was found with less.
    fn search(&mut self, segment: &Segment, ef: usize) {
        if self.found < self.wanted {
            let scores = scores(segment, &self.query, Effort::Ef(ef));
            self.found = scores.into_iter().filter(|&score| score >= self.worst).count();
        }
    }
}

/// The scores of what a search finds.
fn scores(segment: &Segment, query: &Query, effort: Effort) -> Vec<f32> {
    let mut found = Vec::new();
    let total = segment.live() as u64;
    search::search(
        segment,
        &SearchRequest { query, k: K, effort, filter: Filter::All, filter_len: 0, total },
        &mut found,
    );
    found.into_iter().map(|(_, score)| score).collect()
}

/// A question that a vector might be the answer to: about as far from it, in a direction of its own, as its tenth
/// neighbour. A search for the vectors themselves, which the graph has linked with care, is easier than those that
/// users make.
fn question(segment: &Segment, rotation: &Rotation, row: Row<'_>, seed: Slot) -> Option<Vec<f32>> {
    let vector = row.decode();
    let tenth = scores(segment, &Query::new(vector.clone()), Effort::Ef(NEIGHBOURS_EF)).into_iter().fold(1.0, f32::min);
    let mut vector = rotation.original(vector);
    let step = FARTHER * (2.0 - 2.0 * tenth).max(0.0).sqrt() / (vector.len() as f32).sqrt();
    let mut state = u64::from(seed);
    vector.iter_mut().for_each(|x| *x += step * sign(&mut state));
    let mut unit = Vec::new();
    rotation.unit(&vector, &mut unit).ok()?;
    Some(unit)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use bench_data::vectors::Shape;

    use super::*;
    use crate::{IndexOptions, SearchParams, Snapshot, Writer};

    #[test]
    fn an_effort_lies_between_its_neighbours() {
        let halfway = between((10.0, 0.4), (20.0, 0.1), 0.2);
        assert!((halfway - 10.0 * 2f64.sqrt()).abs() < 1e-9, "{halfway}");
        assert_eq!(between((10.0, 1.0), (10.0, 0.01), 0.01), 10.0);
        assert_eq!(between((10.0, 0.1), (20.0, 0.1), 0.1), 20.0);
    }

    fn merged(shape: Shape, count: usize, dims: usize) -> (tempfile::TempDir, Arc<Snapshot>) {
        let folder = tempfile::tempdir().unwrap();
        let mut options = IndexOptions::new(dims);
        options.ef_construction = 100;
        let mut writer = Writer::create(folder.path(), options, b"").unwrap();
        let vectors: Vec<Vec<f32>> = bench_data::vectors::vectors(shape, 3, count, dims).collect();
        let rows: Vec<(u64, &[f32])> = (0..).zip(vectors.iter().map(Vec::as_slice)).collect();
        writer.apply(&rows, &[], b"").unwrap();
        writer.maintain(&|_| ControlFlow::Continue(())).unwrap();
        (folder, writer.snapshot())
    }

    #[test]
    fn the_efforts_of_a_graph_find_what_they_say() {
        const DIMS: usize = 96;
        let (_folder, snapshot) = merged(Shape::Realistic, 6_000, DIMS);
        let Efforts(efforts) = snapshot.segments[0].efforts;
        assert!(efforts.is_sorted() && efforts[0] >= 10, "{efforts:?}");
        let queries: Vec<Vec<f32>> = bench_data::vectors::queries_for(Shape::Realistic, 3, 6_000, DIMS, 300).collect();
        let recall = |effort: Effort| {
            let search =
                |query: &[f32], effort| snapshot.search(query, &SearchParams { k: 10, effort }, Filter::All).unwrap();
            let found = queries.iter().map(|query| {
                let worst = search(query, Effort::Exact)[9].score;
                search(query, effort).iter().filter(|hit| hit.score >= worst).count()
            });
            found.sum::<usize>() as f32 / (10 * queries.len()) as f32
        };
        let least = recall(Effort::Ef(10));
        assert!(least < 0.85, "with little effort a walk misses some: {least}");
        for (target, ef) in TARGETS.into_iter().zip(efforts) {
            let found = recall(Effort::Ef(ef as usize));
            assert!(found > target - 0.03, "{found} with the effort {ef} for {target}");
        }
    }

    #[test]
    fn hard_vectors_take_more_effort() {
        let efforts = [Shape::Clustered, Shape::Uniform].map(|shape| merged(shape, 4_000, 48).1.segments[0].efforts.0);
        assert!(efforts[0][1] < efforts[1][1], "{efforts:?}");
    }
}
