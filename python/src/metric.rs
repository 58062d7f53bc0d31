//! Inner products and Euclidean distances in an index whose measure is the cosine.
//!
//! A vector is *lifted*: it gets further numbers, such that the cosines of lifted vectors have about the order of the
//! metric. What a search finds is ranked again by the metric itself.
//!
//! | metric | vector | query | `size` |
//! |---|---|---|---|
//! | `l2` | `(x, size)` | `(q, size)` | twice the mean length |
//! | `ip` | `(x, sqrt(size² - abs(x)²), size / 16)` | `(q, 0, 0)` | the largest length, but 32 times the mean at most |
//!
//! The mean is the geometric one, without zeros: a few very long vectors do not make it large. The last number is the same for all, so that the length of a vector follows from what the index keeps of it. Where
//! vectors come whose lengths no longer fit `size`, all are lifted anew.
//!
//! The header is kept before the program's bytes in the payload of the index, little-endian:
//!
//! ```text
//! offset  bytes  what
//!      0      8  magic "MEMIXMTR"
//!      8      4  version, 1
//!     12      4  metric: 0 cosine, 1 ip, 2 l2
//!     16      8  size, f64
//!     24      8  sum of the natural logarithms of the lengths that were put in, without zeros, f64
//!     32      8  largest of the lengths, f64
//!     40      8  how many lengths that are not zero were put in
//!     48      8  how many there were when all were lifted
//! ```
//!
//! An index of cosines has no header, unless the program's bytes begin as one.

use std::collections::HashSet;

use memorist_index::{Effort, Filter, Hit, SearchError, SearchParams, Snapshot, VectorError, WriteError, Writer};

const MAGIC: &[u8; 8] = b"MEMIXMTR";
const VERSION: u32 = 1;
const HEADER: usize = 56;
/// A vector may be so many times as long as the size. The codes of the index could not tell its length.
const LONGEST: f64 = 1000.0;
/// Times the size, what a length must be to be told from zero.
const SHORTEST: f64 = 1e-4;
/// Size over the last number, of `ip`.
const LAST: f64 = 16.0;
/// Most times the mean length that the size of `ip` is.
const MOST_MEANS: f64 = 32.0;
/// More results than requested that are ranked by the square of the distance from the vectors themselves.
const MORE: usize = 8;
/// Times the square of the length, what the square of a distance must be to be computed from the cosine: the difference of
/// two large numbers has few digits left.
const FAR: f64 = 0.05;
/// The queries of `ip` lie away from the lifted vectors: by this, less of the neighbours may be missed. Measured.
const LESS_MISSED: f32 = 6.0;

/// How near two vectors are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    Cosine,
    /// The inner product.
    Ip,
    /// The square of the Euclidean distance.
    L2,
}

impl Metric {
    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Cosine, Self::Ip, Self::L2].into_iter().find(|metric| metric.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Cosine => "cosine",
            Self::Ip => "ip",
            Self::L2 => "l2",
        }
    }

    /// The dimensions of a lifted vector.
    pub fn lifted(self, dims: usize) -> usize {
        dims.saturating_add(self.more())
    }

    fn more(self) -> usize {
        match self {
            Self::Cosine => 0,
            Self::Ip => 2,
            Self::L2 => 1,
        }
    }
}

/// How vectors are lifted, and what is known of their lengths.
#[derive(Debug, Clone, Copy)]
struct Lift {
    metric: Metric,
    size: f64,
    logarithms: f64,
    longest: f64,
    count: u64,
    count_lifted: u64,
}

/// An index of a metric.
pub struct View<'a> {
    snapshot: &'a Snapshot,
    lift: Lift,
    payload: &'a [u8],
}

/// Why vectors are not put in.
pub enum ApplyError {
    Index(WriteError),
    /// The vector of this key is too long beside the others.
    TooLong(u64),
    /// A newer version has made the index.
    Newer,
}

impl From<WriteError> for ApplyError {
    fn from(error: WriteError) -> Self {
        Self::Index(error)
    }
}

impl Lift {
    fn new(metric: Metric) -> Self {
        Self { metric, size: 0.0, logarithms: 0.0, longest: 0.0, count: 0, count_lifted: 0 }
    }

    /// The header of a payload, and the program's part of it. `None` where the header is of a newer version.
    fn decode(payload: &[u8]) -> Option<(Self, &[u8])> {
        let header = payload.split_first_chunk::<HEADER>().filter(|(header, _)| header.starts_with(MAGIC));
        let Some((header, rest)) = header else { return Some((Self::new(Metric::Cosine), payload)) };
        let small = |at: usize| header[at..].first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        let number = |at: usize| header[at..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        let float = |at| number(at).map(f64::from_bits).filter(|float| float.is_finite());
        let metric = match (small(8)?, small(12)?) {
            (VERSION, 0) => Metric::Cosine,
            (VERSION, 1) => Metric::Ip,
            (VERSION, 2) => Metric::L2,
            _ => return None,
        };
        let (size, logarithms, longest) = (float(16)?, float(24)?, float(32)?);
        Some((Self { metric, size, logarithms, longest, count: number(40)?, count_lifted: number(48)? }, rest))
    }

    fn encode(&self, payload: &[u8]) -> Vec<u8> {
        if self.metric == Metric::Cosine && !payload.starts_with(MAGIC) {
            return payload.to_vec();
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((self.metric as u32).to_le_bytes());
        [self.size, self.logarithms, self.longest].iter().for_each(|float| bytes.extend(float.to_le_bytes()));
        [self.count, self.count_lifted].iter().for_each(|count| bytes.extend(count.to_le_bytes()));
        bytes.extend(payload);
        bytes
    }

    fn count(&mut self, length: f64) {
        if length > 0.0 {
            self.count = self.count.saturating_add(1);
            self.logarithms += length.ln();
            self.longest = self.longest.max(length);
        }
    }

    /// The size that fits the lengths.
    fn fitting(&self) -> f64 {
        let mean = (self.logarithms / self.count.max(1) as f64).exp();
        match self.metric {
            _ if self.count == 0 => 1.0,
            Metric::L2 => 2.0 * mean,
            Metric::Cosine | Metric::Ip => self.longest.min(MOST_MEANS * mean),
        }
    }

    fn fits(&self) -> bool {
        let least = if self.metric == Metric::Ip { 0.95 } else { 0.5 };
        (least..=2.0).contains(&(self.size / self.fitting()))
    }

    /// The number that is the same for all vectors.
    fn last(&self) -> f64 {
        if self.metric == Metric::Ip { self.size / LAST } else { self.size }
    }

    /// The length of a lifted vector, by its last number when its length is 1.
    fn length(&self, last: f32) -> f64 {
        self.last() / f64::from(last).max(f64::from(f32::EPSILON))
    }

    /// A vector, lifted and scaled to length 1.
    fn vector(&self, vector: &[f32]) -> Vec<f32> {
        let length = length(vector);
        let filled = (self.size - length).max(0.0).sqrt() * (self.size + length).sqrt();
        let more: &[f64] = if self.metric == Metric::Ip { &[filled, self.last()] } else { &[self.last()] };
        scaled(vector, more)
    }

    /// A query, lifted and scaled to length 1, and the length that it had.
    fn query(&self, query: &[f32]) -> (Vec<f32>, f64) {
        let length = length(query);
        match self.metric {
            // The inner product with zero is the same for all.
            Metric::Ip if length == 0.0 => (scaled(query, &[0.0, 1.0]), 0.0),
            Metric::Ip => (scaled(query, &[0.0, 0.0]), length),
            Metric::Cosine | Metric::L2 => (scaled(query, &[self.last()]), length.hypot(self.last())),
        }
    }
}

fn length(vector: &[f32]) -> f64 {
    vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt()
}

/// A vector with more numbers, of length 1.
fn scaled(vector: &[f32], more: &[f64]) -> Vec<f32> {
    let numbers = || vector.iter().map(|x| f64::from(*x)).chain(more.iter().copied());
    let length = numbers().map(|x| x * x).sum::<f64>().sqrt();
    numbers().map(|x| (x / length) as f32).collect()
}

/// The last of the axes, whose cosine with a vector is the vector's last number.
fn last_axis(dims: usize) -> Vec<f32> {
    let mut axis = vec![0.0; dims];
    axis.last_mut().into_iter().for_each(|last| *last = 1.0);
    axis
}

/// The payload of a new index.
pub fn header(metric: Metric) -> Vec<u8> {
    Lift::new(metric).encode(b"")
}

impl<'a> View<'a> {
    /// `None` where a newer version has made the index.
    pub fn new(snapshot: &'a Snapshot) -> Option<Self> {
        let (lift, payload) = Lift::decode(snapshot.payload())?;
        Some(Self { snapshot, lift, payload })
    }

    pub fn metric(&self) -> Metric {
        self.lift.metric
    }

    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The dimensions of a vector that is not lifted.
    pub fn dims(&self) -> usize {
        self.snapshot.dims().saturating_sub(self.metric().more())
    }

    /// About the vector of a key; of length 1, if the metric is the cosine.
    pub fn vector(&self, key: u64) -> Option<Vec<f32>> {
        let mut vector = self.snapshot.vector(key)?;
        if self.metric() != Metric::Cosine {
            let length = self.lift.length(*vector.last()?);
            vector.truncate(self.dims());
            vector.iter_mut().for_each(|x| *x = (f64::from(*x) * length) as f32);
        }
        Some(vector)
    }

    /// The nearest of a query, the best first, ties by key. The score is the metric's.
    pub fn search(&self, query: &[f32], params: &SearchParams, filter: Filter<'_>) -> Result<Vec<Hit>, SearchError> {
        if self.metric() == Metric::Cosine {
            return self.snapshot.search(query, params, filter);
        }
        let (lifted, length) = self.lift.query(query);
        let k = params.k.min(self.snapshot.len());
        let keys: Vec<u64> = match params.effort {
            Effort::Exact => self.snapshot.keys().filter(|key| filter.allows(*key)).collect(),
            effort => {
                let mut wider = SearchParams::new(self.wider(k));
                wider.effort = self.effort(effort);
                self.snapshot.search(&lifted, &wider, filter)?.into_iter().map(|hit| hit.key).collect()
            }
        };
        let cosines = self.snapshot.scores(&lifted, &keys)?;
        let lasts = self.snapshot.scores(&last_axis(lifted.len()), &keys)?;
        let mut found: Vec<(f64, u64)> = (keys.iter().zip(cosines).zip(lasts))
            .filter_map(|((key, cosine), last)| {
                let (product, own) = (f64::from(cosine?) * length, self.lift.length(last?));
                // The smaller, the nearer.
                let distance = match self.metric() {
                    Metric::L2 => length * length + own * own - 2.0 * own * product,
                    Metric::Cosine | Metric::Ip => -own * product,
                };
                Some((distance, *key))
            })
            .collect();
        sort(&mut found, k.saturating_add(MORE));
        if self.metric() == Metric::L2 {
            for (distance, key) in found.iter_mut().filter(|(distance, _)| *distance < FAR * length * length) {
                *distance = self.vector(*key).map_or(f64::INFINITY, |vector| square_of_distance(query, &vector));
            }
        }
        sort(&mut found, k);
        let score = |distance: f64| if self.metric() == Metric::L2 { distance } else { -distance };
        Ok(found.into_iter().map(|(distance, key)| Hit { key, score: score(distance) as f32 }).collect())
    }

    /// How many results of the index are ranked again.
    fn wider(&self, k: usize) -> usize {
        let more = if self.metric() == Metric::Ip { k.saturating_add(10) } else { k / 2 + 5 };
        k.saturating_add(more)
    }

    fn effort(&self, effort: Effort) -> Effort {
        match effort {
            Effort::Recall(recall) if self.metric() == Metric::Ip && recall < 0.999 => {
                Effort::Recall((1.0 - (1.0 - recall) / LESS_MISSED).min(0.999))
            }
            other => other,
        }
    }
}

fn sort(found: &mut Vec<(f64, u64)>, k: usize) {
    let order = |a: &(f64, u64), b: &(f64, u64)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if k < found.len() {
        found.select_nth_unstable_by(k, order);
        found.truncate(k);
    }
    found.sort_unstable_by(order);
}

fn square_of_distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum()
}

/// Removes the vectors of some keys, puts others in, and publishes the payload, or that which is there.
pub fn apply(
    writer: &mut Writer,
    upserts: &[(u64, &[f32])],
    deletes: &[u64],
    payload: Option<&[u8]>,
) -> Result<(), ApplyError> {
    let snapshot = writer.snapshot();
    let Some(view) = View::new(&snapshot) else { return Err(ApplyError::Newer) };
    let payload = payload.unwrap_or(view.payload);
    let mut lift = view.lift;
    if lift.metric == Metric::Cosine || upserts.is_empty() {
        return Ok(writer.apply(upserts, deletes, &lift.encode(payload))?);
    }
    for &(key, vector) in upserts {
        let length = length(vector);
        if !length.is_finite() {
            let position = vector.iter().position(|x| !x.is_finite()).unwrap_or(0);
            let why = match vector.get(position).is_some_and(|x| x.is_nan()) {
                true => VectorError::NotANumber { position },
                false => VectorError::Infinite { position },
            };
            return Err(WriteError::Vector { key, why }.into());
        }
        lift.count(length);
    }
    let is_worth_it = lift.count / 2 >= lift.count_lifted || lift.longest > lift.size * LONGEST / 10.0;
    if is_worth_it && !lift.fits() {
        return lift_anew(writer, &view, upserts, deletes, payload);
    }
    let lifted = upserts.iter().map(|(key, vector)| (*key, lift.vector(vector))).collect();
    put(writer, &lift, lifted, upserts, deletes, payload)
}

/// Lifts all vectors anew where their lengths no longer fit.
pub fn refit(writer: &mut Writer) -> Result<(), ApplyError> {
    let snapshot = writer.snapshot();
    match View::new(&snapshot) {
        None => Err(ApplyError::Newer),
        Some(view) if view.metric() == Metric::Cosine || view.lift.fits() || snapshot.is_empty() => Ok(()),
        Some(view) => lift_anew(writer, &view, &[], &[], view.payload),
    }
}

fn lift_anew(
    writer: &mut Writer,
    view: &View<'_>,
    upserts: &[(u64, &[f32])],
    deletes: &[u64],
    payload: &[u8],
) -> Result<(), ApplyError> {
    let gone: HashSet<u64> = upserts.iter().map(|(key, _)| *key).chain(deletes.iter().copied()).collect();
    let kept: Vec<u64> = view.snapshot.keys().filter(|key| !gone.contains(key)).collect();
    let mut lift = Lift::new(view.metric());
    // What is left of a zero by the codes of the index is no length.
    let is_length = |length: &f64| *length > view.lift.size * SHORTEST;
    let lengths = kept.iter().filter_map(|key| Some(length(&view.vector(*key)?))).filter(is_length);
    lengths.chain(upserts.iter().map(|(_, vector)| length(vector))).for_each(|length| lift.count(length));
    lift.size = lift.fitting();
    lift.count_lifted = lift.count;
    let kept = kept.iter().filter_map(|key| Some((*key, lift.vector(&view.vector(*key)?))));
    let new = upserts.iter().map(|(key, vector)| (*key, lift.vector(vector)));
    put(writer, &lift, kept.chain(new).collect(), upserts, deletes, payload)
}

/// Puts in lifted vectors, those of `upserts` among them.
fn put(
    writer: &mut Writer,
    lift: &Lift,
    lifted: Vec<(u64, Vec<f32>)>,
    upserts: &[(u64, &[f32])],
    deletes: &[u64],
    payload: &[u8],
) -> Result<(), ApplyError> {
    if let Some((key, _)) = upserts.iter().find(|(_, vector)| length(vector) > lift.size * LONGEST) {
        return Err(ApplyError::TooLong(*key));
    }
    let lifted: Vec<(u64, &[f32])> = lifted.iter().map(|(key, vector)| (*key, vector.as_slice())).collect();
    Ok(writer.apply(&lifted, deletes, &lift.encode(payload))?)
}
