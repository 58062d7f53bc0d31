//! Merging: which segments, and how. A merge takes over the graph of its largest segment and inserts the vectors of the
//! others.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use crate::calibrate::calibrate;
use crate::error::WriteError;
use crate::format::names;
use crate::graph::build;
use crate::graph::carry::Carried;
use crate::graph::nodes::Graph;
use crate::graph::vectors::Vectors;
use crate::ids::{Key, Slot};
use crate::options::IndexOptions;
use crate::progress::{Cancelled, Progress};
use crate::quantize::Quantized;
use crate::segment::Segment;
use crate::segment::write::{Draft, write_segment};
use crate::sys::lock::WriterLock;
use crate::sys::publish;

/// Flat segments are merged, however small, when there are this many.
const MOST_FLAT: usize = 8;

/// A graph is not taken over if less than one in this many of its vectors is left, or if it has less than that of all
/// vectors: to build a new one costs no more, and finds its way from the many to the few better.
const LEAST_LEFT: usize = 4;

/// The segments that should be merged, if any.
///
/// Small segments stay flat until they are worth a graph. From then on, sizes fall off at least geometrically: a
/// segment is merged with all smaller ones once these have `merge_percent` of its size together. So each vector is
/// inserted into few graphs before it is in the largest, and there are few segments to search. No merge joins
/// segments to more than `max_segment` vectors, so a merge that is killed loses a bounded amount of work.
pub(crate) fn plan(segments: &[Segment], options: &IndexOptions) -> Option<Vec<Segment>> {
    let mut by_size: Vec<&Segment> = segments.iter().collect();
    by_size.sort_by_key(|segment| (segment.live(), segment.file.number));
    let has_graph = |segment: &Segment| segment.file.header.shape.has_graph();
    let flat = || by_size.iter().filter(|segment| !has_graph(segment));
    let flat_vectors: usize = flat().map(|segment| segment.live()).sum();

    let mut chosen: Vec<Segment> = Vec::new();
    if flat_vectors >= options.flat_limit {
        // So many flat segments are always enough for a graph.
        let most = options.max_segment.max(options.flat_limit.saturating_mul(2));
        let mut together = 0;
        // The largest flat ones first: a smaller one that is left over can wait.
        for &segment in flat().rev().chain(by_size.iter().filter(|segment| has_graph(segment))) {
            let is_too_small = (together as u128) * 100 < (segment.live() as u128) * options.merge_percent as u128;
            let is_too_large = together > 0 && together + segment.live() > most;
            if is_too_large || has_graph(segment) && is_too_small {
                break;
            }
            chosen.push(segment.clone());
            together += segment.live();
        }
    } else if flat().count() >= MOST_FLAT {
        chosen.extend(flat().map(|&segment| segment.clone()));
    } else {
        chosen.extend(
            (by_size.iter())
                .find(|segment| {
                    let deleted = segment.tombstones.bitmap.len() as u128;
                    deleted * 100 >= u128::from(segment.file.header.shape.count) * options.deleted_percent as u128
                        && deleted > 0
                })
                .map(|&segment| segment.clone()),
        );
    }
    (!chosen.is_empty()).then_some(chosen)
}

/// A merge that was planned and can be run. It holds the lock of its [`Writer`](crate::Writer): another one would use the
/// number of its segment, too.
#[derive(Debug)]
pub struct Merge {
    folder: PathBuf,
    lock: Arc<WriterLock>,
    number: u64,
    options: IndexOptions,
    sources: Vec<Segment>,
}

/// A merge that was run and can be put in. It holds the lock, as [`Merge`] does.
#[derive(Debug)]
pub struct Merged {
    /// `None` where nothing was left to merge.
    pub(crate) segment: Option<Segment>,
    pub(crate) sources: Vec<Segment>,
    _lock: Arc<WriterLock>,
}

impl Merge {
    pub(crate) fn new(
        folder: PathBuf,
        lock: Arc<WriterLock>,
        number: u64,
        options: IndexOptions,
        sources: Vec<Segment>,
    ) -> Self {
        Self { folder, lock, number, options, sources }
    }

    /// How many vectors the merged segment will have.
    pub fn vectors(&self) -> usize {
        self.sources.iter().map(Segment::live).sum()
    }

    /// Writes the merged segment. Nobody sees it before [`Writer::finish_merge`](crate::Writer::finish_merge).
    /// `progress` is called from several threads and may stop the work. It runs in the rayon pool it is called in. The
    /// segment is built in memory: about as much as its file is long.
    ///
    /// # Errors
    /// When it is stopped, a source is damaged, or the file cannot be written.
    pub fn run(self, progress: &(dyn Fn(Progress) -> ControlFlow<()> + Sync)) -> Result<Merged, WriteError> {
        let Self { folder, lock: _lock, number, options, mut sources } = self;
        // Damage that was merged would get a sound checksum.
        sources.iter().try_for_each(|segment| segment.file.check())?;
        // The one whose graph is worth most comes first, so that its slots are the first of the new segment.
        let worth = |segment: &Segment| {
            let shape = &segment.file.header.shape;
            let is_worth_it = shape.has_graph() && segment.live() * LEAST_LEFT >= shape.count as usize;
            if is_worth_it { segment.live() } else { 0 }
        };
        sources.sort_by_key(|segment| (std::cmp::Reverse(worth(segment)), segment.file.number));

        let rows: Vec<(usize, Slot)> =
            sources.iter().enumerate().flat_map(|(source, segment)| live_rows(source, segment)).collect();
        if rows.is_empty() {
            return Ok(Merged { segment: None, sources, _lock });
        }
        let views: Vec<_> = sources.iter().map(|segment| segment.file.view()).collect();
        let dims = options.dims;
        let mut keys: Vec<Key> = Vec::with_capacity(rows.len());
        let mut quantized = Quantized::with_capacity(options.layout, rows.len(), dims);
        for &(source, slot) in &rows {
            keys.push(views[source].keys[slot as usize]);
            let row = views[source].vectors.row(slot);
            quantized.push_row(row.expect("a live slot of a segment that was checked"));
        }
        let vectors = Vectors::of(&quantized, dims);
        let graph = if rows.len() >= options.flat_limit {
            let carried = views.first().filter(|_| worth(&sources[0]) * LEAST_LEFT >= rows.len()).and_then(|view| {
                let kept = live_rows(0, &sources[0]).map(|(_, slot)| slot).collect();
                Some(Carried::new(view.graph?, kept, view.count()))
            });
            let built = build::build(&vectors, &keys, carried.as_ref(), &options, progress);
            Some(built.map_err(|error| match error {
                build::Error::Cancelled => WriteError::Cancelled,
                build::Error::Memory(error) => WriteError::io(&names::segment(&folder, number))(error),
            })?)
        } else {
            None
        };
        let draft =
            Draft { layout: options.layout, dims, keys: &keys, vectors, graph: graph.as_ref().map(Graph::view) };
        let mut segment = write_segment(&folder, number, &draft, progress)?;
        // Searching the segment brings it into memory: not beside all that it was made of.
        drop((graph, quantized, keys, rows, views));
        sources.iter().for_each(|source| source.file.release());
        if segment.file.header.shape.has_graph() {
            segment.efforts = calibrate(&segment, progress).map_err(|Cancelled| {
                // No manifest names it, and the next writer would remove it.
                publish::remove_unnamed(&segment.file.path);
                WriteError::Cancelled
            })?;
        }
        Ok(Merged { segment: Some(segment), sources, _lock })
    }
}

fn live_rows(source: usize, segment: &Segment) -> impl Iterator<Item = (usize, Slot)> + '_ {
    let count = segment.file.header.shape.count;
    (0..count).filter(|&slot| !segment.tombstones.contains(slot)).map(move |slot| (source, slot))
}
