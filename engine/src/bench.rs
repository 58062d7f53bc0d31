//! Measures the vector search of a store on its own vectors: recall and latency. And what measures searches whose
//! answers are known: [`ranking`], with the [`statistics`] of many.

pub mod ranking;
pub mod statistics;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memorist_embed::hashed::next_random;

use crate::config::{Backend, ModelSource};
use crate::error::{Error, IndexKind, Remedy, Result};
use crate::passages::PassageKey;
use crate::progress::{Progress, cancel_point};
use crate::quality::Quality;
use crate::sync::Store;
use crate::types::MAX_LIMIT;
use crate::vectors::{IdFilter, VectorSnapshot};

/// The most queries that can be requested.
pub const MAX_QUERIES: usize = 100_000;

/// The `ef` values that are tried, lowest first, up to the first with perfect recall.
const LADDER: [usize; 13] = [12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1_024];
/// A recall above which more effort is wasted.
const ALL: f64 = 0.9995;
/// About this many searches of each quality are timed ...
const TIMED: usize = 1_000;
/// ... unless all of it takes longer than this. Each query is timed at least once.
const TIMED_FOR: Duration = Duration::from_secs(10);
/// Two cosines that differ by less than this are equal (f32 rounding): vectors that are as near as the last true
/// neighbour count.
const EQUAL: f32 = 1e-6;

/// Options of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchOptions {
    /// How many of the store's vectors are used as queries, 1 to [`MAX_QUERIES`]; all of them if there are fewer.
    pub queries: usize,
    /// How many nearest neighbours of each, 1 to [`MAX_LIMIT`].
    pub limit: usize,
    /// Seed that selects the query vectors.
    pub seed: u64,
}

impl Default for BenchOptions {
    fn default() -> Self {
        BenchOptions { queries: 200, limit: 10, seed: 42 }
    }
}

/// The result of a benchmark.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VectorBench {
    /// Vectors in the index.
    pub vectors: u64,
    /// Numbers per vector.
    pub dims: usize,
    /// Which index they are in.
    pub backend: Backend,
    /// How many queries were run.
    pub queries: usize,
    /// The store's own setting.
    pub setting: Quality,
    /// A series of `ef` values, from the lowest to one with perfect recall.
    pub ladder: Vec<Measured>,
    /// The named levels, the fastest first, then the store's own setting if it differs from them.
    pub levels: Vec<Measured>,
    /// The exact scan.
    pub exact: Measured,
}

/// Recall and latency of one quality.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// Which quality.
    pub quality: Quality,
    /// Mean recall: the share of the true neighbours that was found, 0 to 1.
    pub recall: f64,
    /// Latency of a search, one at a time.
    pub latency: Latency,
}

/// Percentiles of the latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Latency {
    /// The median.
    pub p50: Duration,
    /// The 95th percentile.
    pub p95: Duration,
    /// The 99th percentile.
    pub p99: Duration,
}

/// Measures the published vector index. Writes nothing, and needs no model.
///
/// # Errors
/// [`Error::Invalid`] names an option that is out of bounds. [`Error::NothingToMeasure`] says what the store lacks.
/// [`Error::IndexUnusable`]; [`Error::Cancelled`].
pub(crate) fn bench(store: &Store, options: &BenchOptions, progress: &dyn Progress) -> Result<VectorBench> {
    let snapshot = published(store, progress)?;
    Bench::new(&*snapshot, options)?.run(store.config().quality, progress)
}

/// The newest snapshot of the vector index, checked against its checksums.
fn published(store: &Store, progress: &dyn Progress) -> Result<Arc<dyn VectorSnapshot>> {
    store.reopen()?;
    let memories = store.records.snapshot()?.live_count(store.now())?;
    if memories == 0 {
        let (why, remedy) = ("the store has no memories".to_owned(), Some(Remedy::AddMemories));
        return Err(Error::NothingToMeasure { why, remedy });
    }
    let snapshot = match store.model()? {
        Some(_) => checked(store, progress)?,
        None => return Err(without_vectors(store)),
    };
    if snapshot.is_empty() { Err(without_vectors(store)) } else { Ok(snapshot) }
}

fn checked(store: &Store, progress: &dyn Progress) -> Result<Arc<dyn VectorSnapshot>> {
    let unusable = |why: String| Error::IndexUnusable { index: IndexKind::Vector, why };
    store.vectors.get().map_err(unusable).and_then(|index| {
        let snapshot = index.snapshot()?;
        progress.start("reading the index", None);
        let checked = snapshot.wait_verified(Duration::MAX);
        progress.finish();
        checked.map(|_| snapshot)
    })
}

fn without_vectors(store: &Store) -> Error {
    let remedy = match store.config().model.source {
        ModelSource::None => Remedy::ConfigureModel,
        _ => Remedy::EmbedMemories,
    };
    Error::NothingToMeasure { why: "no memory has a vector in the index yet".to_owned(), remedy: Some(remedy) }
}

/// A query, and the least cosine of its true neighbours.
struct Question {
    key: PassageKey,
    vector: Vec<f32>,
    worst: f32,
}

/// A quality that is being measured.
struct Trial {
    quality: Quality,
    recall: f64,
    times: Vec<Duration>,
}

impl Trial {
    fn measured(self) -> Measured {
        Measured { quality: self.quality, recall: self.recall, latency: Latency::of(self.times) }
    }
}

struct Bench<'a> {
    index: &'a dyn VectorSnapshot,
    keys: Vec<PassageKey>,
    limit: usize,
}

impl<'a> Bench<'a> {
    fn new(index: &'a dyn VectorSnapshot, options: &BenchOptions) -> Result<Self> {
        let &BenchOptions { queries, limit, seed } = options;
        for (name, number, most) in [("queries", queries, MAX_QUERIES), ("limit", limit, MAX_LIMIT)] {
            if number == 0 || number > most {
                return Err(Error::invalid(name, format!("{number} is outside 1 to {most}")));
            }
        }
        let vectors = index.len();
        if vectors <= limit as u64 {
            let others = vectors.saturating_sub(1);
            let way_out = match others {
                0 => "save more memories".to_owned(),
                _ => format!("ask for {others} or fewer, or save more memories"),
            };
            let why = format!("{limit} neighbours of each vector cannot be found among {vectors} vectors; {way_out}");
            return Err(Error::invalid("limit", why));
        }
        let all = index.keys();
        let drawn = draw(queries.min(vectors as usize), vectors, seed);
        let keys = drawn.into_iter().filter_map(|rank| all.select(rank)).map(PassageKey::from).collect();
        Ok(Bench { index, keys, limit })
    }

    fn run(&self, setting: Quality, progress: &dyn Progress) -> Result<VectorBench> {
        let (questions, exact) = self.scan(progress)?;
        let mut levels = Quality::LEVELS.to_vec();
        levels.extend((!levels.contains(&setting)).then_some(setting));

        progress.start("comparing", Some((LADDER.len() + levels.len()) as u64));
        let compared = self.trials(&levels, &questions, progress);
        progress.finish();
        let mut trials = compared?;
        progress.start("timing", Some(rounds(&questions) as u64));
        let timed = self.time(&mut trials, &questions, progress);
        progress.finish();
        timed?;
        let mut ladder: Vec<_> = trials.into_iter().map(Trial::measured).collect();
        let levels = ladder.split_off(ladder.len() - levels.len());
        Ok(VectorBench {
            vectors: self.index.len(),
            dims: questions.first().map_or(0, |question| question.vector.len()),
            backend: self.index.backend(),
            queries: questions.len(),
            setting,
            ladder,
            levels,
            exact,
        })
    }

    /// Finds the true neighbours of every query.
    fn scan(&self, progress: &dyn Progress) -> Result<(Vec<Question>, Measured)> {
        progress.start("scanning exactly", Some(self.keys.len() as u64));
        let scanned = self.keys.iter().map(|&key| {
            cancel_point(progress)?;
            let Some(vector) = self.index.vector(key) else { return Ok(None) };
            let mut question = Question { key, vector, worst: f32::NEG_INFINITY };
            let (found, took) = self.ask(&question, Quality::Exact)?;
            question.worst = found.last().map_or(question.worst, |(_, score)| score - EQUAL);
            progress.advance(1);
            Ok(Some((question, took)))
        });
        let scanned: Result<Vec<_>> = scanned.filter_map(Result::transpose).collect();
        progress.finish();
        let (questions, times): (Vec<_>, Vec<_>) = scanned?.into_iter().unzip();
        let exact = Measured { quality: Quality::Exact, recall: 1.0, latency: Latency::of(times) };
        Ok((questions, exact))
    }

    /// Recall at each `ef` value, up to the first with perfect recall, then at each of `levels`.
    fn trials(&self, levels: &[Quality], questions: &[Question], progress: &dyn Progress) -> Result<Vec<Trial>> {
        let mut trials: Vec<Trial> = Vec::new();
        for rung in LADDER.into_iter().filter(|ef| *ef > self.limit).map(Quality::Ef) {
            if trials.last().is_none_or(|trial| trial.recall < ALL) {
                trials.push(self.trial(rung, questions, progress)?);
            }
        }
        for level in levels {
            trials.push(self.trial(*level, questions, progress)?);
        }
        Ok(trials)
    }

    fn trial(&self, quality: Quality, questions: &[Question], progress: &dyn Progress) -> Result<Trial> {
        let mut found = 0;
        for question in questions {
            cancel_point(progress)?;
            let (neighbours, _) = self.ask(question, quality)?;
            found += neighbours.iter().filter(|(_, score)| *score >= question.worst).count();
        }
        progress.advance(1);
        let wanted = questions.len() * self.limit;
        Ok(Trial { quality, recall: found as f64 / wanted.max(1) as f64, times: Vec::new() })
    }

    /// Times all trials in turn, round after round, so that other load on the machine slows all of them alike.
    fn time(&self, trials: &mut [Trial], questions: &[Question], progress: &dyn Progress) -> Result<()> {
        let started = Instant::now();
        for round in 0..rounds(questions) {
            if round > 0 && started.elapsed() > TIMED_FOR {
                break;
            }
            for trial in &mut *trials {
                for question in questions {
                    cancel_point(progress)?;
                    trial.times.push(self.ask(question, trial.quality)?.1);
                }
            }
            progress.advance(1);
        }
        Ok(())
    }

    /// The neighbours of a query without itself, and the latency of the search.
    fn ask(&self, question: &Question, quality: Quality) -> Result<(Vec<(PassageKey, f32)>, Duration)> {
        let started = Instant::now();
        let mut found = self.index.search(&question.vector, self.limit + 1, &IdFilter::All, quality)?;
        let took = started.elapsed();
        // If other records have the same vector, it may not be among its own neighbours.
        found.retain(|(key, _)| *key != question.key);
        found.truncate(self.limit);
        Ok((found, took))
    }
}

impl Latency {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |percent: usize| times.get((times.len() * percent / 100).min(times.len().saturating_sub(1)));
        let [p50, p95, p99] = [50, 95, 99].map(|percent| at(percent).copied().unwrap_or_default());
        Latency { p50, p95, p99 }
    }
}

/// How often each query is timed.
fn rounds(questions: &[Question]) -> usize {
    TIMED.div_ceil(questions.len().max(1))
}

/// This many different numbers below `of`, by the seed (Floyd's sampling).
fn draw(count: usize, of: u64, seed: u64) -> Vec<u64> {
    let mut random = seed;
    let mut drawn = HashSet::new();
    let each = of.saturating_sub(count as u64)..of;
    each.map(|last| {
        random = next_random(random);
        let some = random % (last + 1);
        let number = if drawn.contains(&some) { last } else { some };
        drawn.insert(number);
        number
    })
    .collect()
}

#[cfg(test)]
mod tests;
