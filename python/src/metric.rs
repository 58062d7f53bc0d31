//! An index of a metric: what is put in is lifted, and what is found is ranked by the metric.

use std::collections::HashSet;

use memorist_index::{Effort, Filter, Hit, SearchError, SearchParams, Snapshot, VectorError, WriteError, Writer};

use crate::lift::{Lift, Metric, last_axis, length};

/// The longest vector, as a multiple of the size. The codes of the index could not tell its length.
const LONGEST: f64 = 1000.0;
/// The shortest length that is told from zero, as a multiple of the size.
const SHORTEST: f64 = 1e-4;
/// A squared distance below this share of the squared length is computed from the vector itself. Computed from the cosine
/// it is the difference of two large numbers, of which few digits are left.
const FAR: f64 = 0.05;
/// The error of a squared distance computed from the cosine, as a share of the squared length. Measured: 0.00002.
const DOUBT: f64 = 5e-5;
/// The queries of `ip` lie away from the lifted vectors: by this, less of the neighbors may be missed. Measured.
const LESS_MISSED: f32 = 6.0;

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

    /// The vector of a key, approximately; of length 1, if the metric is the cosine.
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
        if !length.is_finite() {
            return Err(not_finite(query).into());
        }
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
        if self.metric() == Metric::L2 && k > 0 && k < found.len() {
            let (_, last, _) = found.select_nth_unstable_by(k - 1, |a, b| a.0.total_cmp(&b.0));
            let most = last.0 + 2.0 * DOUBT * length * length;
            found.retain(|(distance, _)| *distance <= most);
        }
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

/// Why a vector whose length is not finite is refused.
fn not_finite(vector: &[f32]) -> VectorError {
    let position = vector.iter().position(|x| !x.is_finite()).unwrap_or(0);
    match vector.get(position).is_some_and(|x| x.is_nan()) {
        true => VectorError::NotANumber { position },
        false => VectorError::Infinite { position },
    }
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
    // What is known of vectors that are gone does not count.
    let mut lift = if snapshot.is_empty() { Lift::new(view.metric()) } else { view.lift };
    if lift.metric == Metric::Cosine || upserts.is_empty() {
        return Ok(writer.apply(upserts, deletes, &lift.encode(payload))?);
    }
    for &(key, vector) in upserts {
        let length = length(vector);
        if !length.is_finite() {
            return Err(WriteError::Vector { key, why: not_finite(vector) }.into());
        }
        lift.count(length);
    }
    let is_worth_it = lift.count / 2 >= lift.count_lifted || lift.longest > lift.size * LONGEST / 10.0;
    if is_worth_it && !lift.fits() {
        return rewrite_all(writer, &view, upserts, deletes, payload);
    }
    check_lengths(&lift, upserts)?;
    let lifted = upserts.iter().map(|(key, vector)| (*key, lift.vector(vector))).collect();
    put(writer, &lift, lifted, deletes, payload)
}

/// Rewrites every vector with another size, if the size no longer fits the lengths.
pub fn refit(writer: &mut Writer) -> Result<(), ApplyError> {
    let snapshot = writer.snapshot();
    match View::new(&snapshot) {
        None => Err(ApplyError::Newer),
        Some(view) if view.metric() == Metric::Cosine || view.lift.fits() || snapshot.is_empty() => Ok(()),
        Some(view) => rewrite_all(writer, &view, &[], &[], view.payload),
    }
}

fn rewrite_all(
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
    check_lengths(&lift, upserts)?;
    let kept = kept.iter().filter_map(|key| Some((*key, lift.vector(&view.vector(*key)?))));
    let new = upserts.iter().map(|(key, vector)| (*key, lift.vector(vector)));
    put(writer, &lift, kept.chain(new).collect(), deletes, payload)
}

fn check_lengths(lift: &Lift, upserts: &[(u64, &[f32])]) -> Result<(), ApplyError> {
    match upserts.iter().find(|(_, vector)| length(vector) > lift.size * LONGEST) {
        Some((key, _)) => Err(ApplyError::TooLong(*key)),
        None => Ok(()),
    }
}

/// Puts in lifted vectors.
fn put(
    writer: &mut Writer,
    lift: &Lift,
    lifted: Vec<(u64, Vec<f32>)>,
    deletes: &[u64],
    payload: &[u8],
) -> Result<(), ApplyError> {
    let lifted: Vec<(u64, &[f32])> = lifted.iter().map(|(key, vector)| (*key, vector.as_slice())).collect();
    Ok(writer.apply(&lifted, deletes, &lift.encode(payload))?)
}
