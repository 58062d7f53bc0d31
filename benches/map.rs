//! How long a map of all memories takes, how true it is, and what new ones cost; and whether a search waits while one is made.
//!
//! Kept: the share of the true 15 nearest of a memory that are among its nearest 15, 50 and 500 on the map, by a full scan of
//! both for 500 memories. The times are those of the processor, of the one thread that works.
//! Run: `cargo bench --bench map`

mod common;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::Corpus;
use memorist_engine::map::{MapView, PLACED_LATER};
use memorist_engine::progress::{NoProgress, Progress};
use memorist_engine::types::{Filter, NewRecord, Query, RecordId, Viewer};
use memorist_engine::{Engine, MapFrom};

/// Memories whose neighbors are compared.
const ASKED: usize = 500;
/// True neighbors.
const TRUE: usize = 15;
const AMONG: [usize; 3] = [15, 50, 500];
/// New memories.
const NEW: usize = 1_000;

/// The time that the processor has spent on the thread that reports, at each report.
#[derive(Default)]
struct Clock(Mutex<Vec<(Duration, u64)>>);

impl Progress for Clock {
    fn start(&self, _: &str, total: Option<u64>) {
        *self.0.lock().expect("one thread") = vec![(on_this_thread(), 0)];
        eprintln!("    {total:?} units");
    }
    fn advance(&self, units: u64) {
        let mut reports = self.0.lock().expect("one thread");
        let done = reports.last().map_or(0, |(_, done)| *done) + units;
        reports.push((on_this_thread(), done));
    }
    fn finish(&self) {}
}

/// The processor time of this thread, where the system says it.
fn on_this_thread() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(stat.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

/// The rows of the corpus by record: ids count from 1.
fn row(id: u32) -> usize {
    id as usize - 1
}

/// The true neighbors of some of the first `of` rows.
fn truth(corpus: &Corpus, asked: impl Iterator<Item = usize>) -> Vec<(usize, Vec<usize>)> {
    asked
        .map(|at| (at, corpus.nearest(corpus.vector(at), TRUE + 1, |row| row != at).into_iter().take(TRUE).collect()))
        .collect()
}

fn kept(view: &MapView, truth: &[(usize, Vec<usize>)]) -> [f64; 3] {
    let places: HashMap<usize, (f64, f64)> =
        (0..view.len()).map(|at| (row(view.ids[at]), (view.x[at].into(), view.y[at].into()))).collect();
    let mut kept = [0; 3];
    for (own, nearest) in truth {
        let at = places[own];
        let away = |row: usize| {
            let place = places[&row];
            (place.0 - at.0).powi(2) + (place.1 - at.1).powi(2)
        };
        let mut near: Vec<(f64, usize)> =
            places.keys().filter(|row| *row != own).map(|row| (away(*row), *row)).collect();
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (kept, among) in kept.iter_mut().zip(AMONG) {
            *kept += near[..among.min(near.len())].iter().filter(|(_, row)| nearest.contains(row)).count();
        }
    }
    kept.map(|kept| kept as f64 / (truth.len() * TRUE) as f64)
}

fn seen(engine: &Engine) -> Arc<MapView> {
    engine.viewed_by(&Viewer::OWNER).map().expect("a map").expect("made")
}

/// Widths of the map by which points moved: median and 95 %.
fn moved(before: &MapView, after: &MapView) -> [f64; 2] {
    let old: HashMap<u32, usize> = before.ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let mut moved: Vec<f64> = (0..after.len())
        .filter_map(|at| {
            let old = *old.get(&after.ids[at])?;
            let along = |a: &[u16], b: &[u16]| (f64::from(a[old]) - f64::from(b[at])) / f64::from(u16::MAX);
            Some(along(&before.x, &after.x).hypot(along(&before.y, &after.y)))
        })
        .collect();
    moved.sort_unstable_by(f64::total_cmp);
    [0.5, 0.95].map(|share| moved[((moved.len() as f64 * share) as usize).min(moved.len() - 1)])
}

/// A layout, with the times at which it could be seen.
fn laid_out(engine: &Engine, from: MapFrom, records: usize, what: &str) {
    let clock = Clock::default();
    engine.build_map(from, &clock).expect("a map");
    let reports = clock.0.into_inner().expect("one thread");
    let spent = |at: usize| (reports[at].0 - reports[0].0).as_secs_f64();
    let found = reports.iter().position(|(_, done)| *done >= records as u64).expect("neighbors");
    let first = (found + 50).min(reports.len() - 1);
    eprintln!(
        "{what}: neighbors {:.1} s, 50 passes {:.1} s, all {:.1} s of one processor",
        spent(found),
        spent(first),
        spent(reports.len() - 1)
    );
}

/// Searches while `engine` makes a map, and without, in turn.
fn searches(engine: &Engine, corpus: &Corpus) {
    let search = |at: usize| {
        let (text, vector) = &corpus.queries[at % corpus.queries.len()];
        let started = Instant::now();
        engine.search_with(&Query::new(text.as_str()), Some(vector.clone())).expect("searches");
        started.elapsed()
    };
    let alone: Vec<Duration> = (0..2_000).map(search).collect();
    let made = AtomicBool::new(false);
    let beside = std::thread::scope(|scope| {
        scope.spawn(|| {
            engine.build_map(MapFrom::Scratch, &NoProgress).expect("a map");
            made.store(true, Ordering::Relaxed);
        });
        (0..2_000).take_while(|_| !made.load(Ordering::Relaxed)).map(search).collect::<Vec<_>>()
    });
    common::report("search alone", alone);
    common::report("search during a layout", beside);
}

fn main() {
    let mut corpus = Corpus::new(common::count());
    let all = corpus.texts.len();
    // The last ones are new later.
    let (texts, rows) = (corpus.texts.split_off(all - NEW), corpus.vectors.split_off((all - NEW) * corpus.dims));
    let new = Corpus { name: String::new(), dims: corpus.dims, texts, vectors: rows, queries: Vec::new() };
    corpus.name.push_str("-without-the-last");
    let folder = common::store(&corpus);
    let copy = tempfile::tempdir().expect("a folder");
    let engine =
        Engine::open_with_embedder(&folder, common::read_only_config(), common::embedder(&corpus)).expect("the store");
    engine.back_up(&copy.path().join("backup"), &NoProgress).expect("a copy");
    drop(engine);
    memorist_engine::restore(&copy.path().join("backup"), copy.path().join("store"), &NoProgress).expect("a copy");
    let engine = Engine::open_with_embedder(copy.path().join("store"), common::config(), common::embedder(&corpus))
        .expect("the copy");
    engine.flush(&NoProgress).expect("indexes");

    let asked = truth(&corpus, (0..ASKED).map(|at| at * (corpus.texts.len() / ASKED)));
    laid_out(&engine, MapFrom::Scratch, corpus.texts.len(), "from scratch");
    let started = Instant::now();
    let first = seen(&engine);
    eprintln!("first look {:?}; kept {:.3?}", started.elapsed(), kept(&first, &asked));
    common::percentiles("the same again", 100, |_| drop(seen(&engine)));
    let started = Instant::now();
    let labels = engine.viewed_by(&Viewer::OWNER).map_labels().expect("labels").expect("a map");
    eprintln!("labels {:?}: {:?}", started.elapsed(), labels.levels.each_ref().map(Vec::len));
    for level in &labels.levels {
        eprintln!(
            "    {}",
            level
                .iter()
                .take(8)
                .map(|label| format!("{} ({})", label.text, label.count))
                .collect::<Vec<_>>()
                .join(", ")
        );
    }
    common::percentiles("a mask", 100, |_| {
        drop(
            engine
                .viewed_by(&Viewer::OWNER)
                .map_filter(&Filter { min_importance: Some(7), ..Filter::default() })
                .expect("a mask"),
        )
    });
    common::percentiles("15 neighbors", 1_000, |at| {
        drop(engine.viewed_by(&Viewer::OWNER).neighbors(RecordId::from(at as i64 + 1), 15).expect("neighbors"))
    });
    searches(&engine, &corpus);

    let before = seen(&engine);
    let vectors: Vec<&[f32]> = (0..NEW).map(|row| new.vector(row)).collect();
    let records: Vec<NewRecord> = new.texts.clone();
    engine.add_batch_with(&records, &vectors).expect("records");
    engine.flush(&NoProgress).expect("indexes");
    let (started, spent) = (Instant::now(), on_this_thread());
    let after = seen(&engine);
    eprintln!(
        "{NEW} new ones placed and seen in {:?}, {:?} of the processor",
        started.elapsed(),
        on_this_thread() - spent
    );
    assert_eq!(moved(&before, &after), [0.0; 2]);
    assert_eq!(after.flags.iter().filter(|flags| **flags & PLACED_LATER != 0).count(), NEW);
    let whole = Corpus::new(all);
    let of_new = truth(&whole, (0..ASKED).map(|at| all - NEW + at));
    eprintln!("placed: kept {:.3?}", kept(&after, &of_new));
    laid_out(&engine, MapFrom::Present, all, "from the present map");
    let warm = seen(&engine);
    eprintln!(
        "moved {:.4?}; all: kept {:.3?}; new ones: kept {:.3?}",
        moved(&after, &warm),
        kept(&warm, &asked),
        kept(&warm, &of_new)
    );
    engine.build_map(MapFrom::Scratch, &NoProgress).expect("a map");
    let scratch = seen(&engine);
    eprintln!(
        "from scratch again: moved {:.4?}; new ones: kept {:.3?}",
        moved(&after, &scratch),
        kept(&scratch, &of_new)
    );
}
