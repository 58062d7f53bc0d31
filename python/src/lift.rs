//! Inner products and Euclidean distances in an index whose measure is the cosine.
//!
//! A vector is *lifted*: it gets further numbers, such that the cosines of lifted vectors have about the order of the
//! metric. What a search finds is ranked again by the metric itself (`metric.rs`).
//!
//! | metric | vector | query | `size` |
//! |---|---|---|---|
//! | `l2` | `(x, size)` | `(q, size)` | twice the mean length |
//! | `ip` | `(x, sqrt(size² - abs(x)²), size / 16)` | `(q, 0, 0)` | the largest length, but 32 times the mean at most |
//!
//! The mean is the geometric one, without zeros: a few very long vectors do not make it large. The last number is the
//! same for all, so that the length of a vector follows from what the index keeps of it. When `size` no longer fits the lengths
//! of the vectors, it is chosen again, and every vector is rewritten.
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

/// The bytes of the header.
const HEADER: usize = 56;
const MAGIC: &[u8; 8] = b"MEMIXMTR";
const VERSION: u32 = 1;
/// Size over the last number, of `ip`.
const LAST: f64 = 16.0;
/// Most times the mean length that the size of `ip` is.
const MOST_MEANS: f64 = 32.0;

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

    pub fn more(self) -> usize {
        match self {
            Self::Cosine => 0,
            Self::Ip => 2,
            Self::L2 => 1,
        }
    }
}

/// How vectors are lifted, and what is known of their lengths.
#[derive(Debug, Clone, Copy)]
pub struct Lift {
    pub metric: Metric,
    pub size: f64,
    logarithms: f64,
    pub longest: f64,
    pub count: u64,
    pub count_lifted: u64,
}

impl Lift {
    pub fn new(metric: Metric) -> Self {
        Self { metric, size: 0.0, logarithms: 0.0, longest: 0.0, count: 0, count_lifted: 0 }
    }

    /// The header of a payload, and the program's part of it. `None` where the header is of a newer version.
    pub fn decode(payload: &[u8]) -> Option<(Self, &[u8])> {
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

    pub fn encode(&self, payload: &[u8]) -> Vec<u8> {
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

    pub fn count(&mut self, length: f64) {
        if length > 0.0 {
            self.count = self.count.saturating_add(1);
            self.logarithms += length.ln();
            self.longest = self.longest.max(length);
        }
    }

    /// The size that fits the lengths.
    pub fn fitting(&self) -> f64 {
        let mean = (self.logarithms / self.count.max(1) as f64).exp();
        match self.metric {
            _ if self.count == 0 => 1.0,
            Metric::L2 => 2.0 * mean,
            Metric::Cosine | Metric::Ip => self.longest.min(MOST_MEANS * mean),
        }
    }

    pub fn fits(&self) -> bool {
        let least = if self.metric == Metric::Ip { 0.95 } else { 0.5 };
        (least..=2.0).contains(&(self.size / self.fitting()))
    }

    /// The number that is the same for all vectors.
    pub fn last(&self) -> f64 {
        // Nothing was put in yet.
        let size = if self.size > 0.0 { self.size } else { 1.0 };
        if self.metric == Metric::Ip { size / LAST } else { size }
    }

    /// The length of a lifted vector, by its last number when its length is 1.
    pub fn length(&self, last: f32) -> f64 {
        self.last() / f64::from(last).max(f64::from(f32::EPSILON))
    }

    /// A vector, lifted and scaled to length 1.
    pub fn vector(&self, vector: &[f32]) -> Vec<f32> {
        let length = length(vector);
        let filled = (self.size - length).max(0.0).sqrt() * (self.size + length).sqrt();
        let more: &[f64] = if self.metric == Metric::Ip { &[filled, self.last()] } else { &[self.last()] };
        scaled(vector, more)
    }

    /// A query, lifted and scaled to length 1, and the length that it had.
    pub fn query(&self, query: &[f32]) -> (Vec<f32>, f64) {
        let length = length(query);
        match self.metric {
            // The inner product with zero is the same for all.
            Metric::Ip if length == 0.0 => (scaled(query, &[0.0, 1.0]), 0.0),
            Metric::Ip => (scaled(query, &[0.0, 0.0]), length),
            Metric::Cosine | Metric::L2 => (scaled(query, &[self.last()]), length.hypot(self.last())),
        }
    }
}

pub fn length(vector: &[f32]) -> f64 {
    vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt()
}

/// A vector with more numbers, of length 1.
fn scaled(vector: &[f32], more: &[f64]) -> Vec<f32> {
    let numbers = || vector.iter().map(|x| f64::from(*x)).chain(more.iter().copied());
    let length = numbers().map(|x| x * x).sum::<f64>().sqrt();
    numbers().map(|x| (x / length) as f32).collect()
}

/// The last of the axes, whose cosine with a vector is the vector's last number.
pub fn last_axis(dims: usize) -> Vec<f32> {
    let mut axis = vec![0.0; dims];
    axis.last_mut().into_iter().for_each(|last| *last = 1.0);
    axis
}

/// The payload of a new index.
pub fn header(metric: Metric) -> Vec<u8> {
    Lift::new(metric).encode(b"")
}
