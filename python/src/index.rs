//! The vector index alone.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memorist_engine::progress::Progress as _;
use memorist_index::{
    Effort, Filter, Hit, IndexOptions, Layout, Reader, SearchError, SearchParams, Snapshot, WriteError, Writer,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use parking_lot::{Mutex, RwLock};
use pyo3::prelude::*;
use rayon::prelude::*;
use roaring::RoaringTreemap;

use crate::errors::{IndexProblem, exception, invalid, of_index};
use crate::id_set::IdSet;
use crate::interrupt::interruptible;
use crate::lift::{self, Metric};
use crate::metric::{self, ApplyError, View};
use crate::{arrays, id_set};

/// Most results of one search with several queries.
const MOST_NUMBERS: usize = 1 << 28;
/// Where fewer are found than requested.
const NO_ID: i64 = -1;

/// A vector index.
#[pyclass(frozen, module = "memorist._memorist")]
pub struct Index {
    folder: PathBuf,
    role: Role,
    /// One merge at a time.
    merging: Mutex<()>,
    closed: AtomicBool,
    process: u32,
}

enum Role {
    Writes { writer: Mutex<Option<Writer>>, current: RwLock<Arc<Snapshot>> },
    Reads(Box<Reader>),
}

/// An index as it was at one time, for the parts of one search.
#[pyclass(frozen, module = "memorist._memorist")]
pub struct Frozen {
    snapshot: Arc<Snapshot>,
}

/// How a search is to be done.
struct How<'a> {
    params: SearchParams,
    filter: Filter<'a>,
}

impl Index {
    fn snapshot(&self, py: Python<'_>) -> PyResult<Arc<Snapshot>> {
        if self.process != std::process::id() {
            let why = "the index was opened before this process was forked; open it again here";
            return Err(exception(py, "Closed", why));
        }
        if self.closed.load(Ordering::Relaxed) {
            return Err(closed(py));
        }
        match &self.role {
            Role::Writes { current, .. } => Ok(current.read().clone()),
            Role::Reads(reader) => Ok(reader.snapshot()),
        }
    }

    /// Runs `work` with the writer, without the interpreter.
    fn write<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Writer) -> Result<T, ApplyError> + Send,
    ) -> PyResult<T> {
        self.snapshot(py)?;
        let Role::Writes { writer, current } = &self.role else {
            return Err(invalid(py, "the index was opened to be read only; open it without read_only"));
        };
        let done = py.detach(|| {
            let mut writer = writer.lock();
            writer.as_mut().map(|writer| change(writer, current, work))
        });
        match done {
            None => Err(closed(py)),
            Some(done) => done.map_err(|error| of_apply(py, error)),
        }
    }
}

fn closed(py: Python<'_>) -> PyErr {
    exception(py, "Closed", "the index is closed; open it again")
}

fn of_apply(py: Python<'_>, error: ApplyError) -> PyErr {
    match error {
        ApplyError::Index(error) => of_index(py, error),
        ApplyError::Newer => newer(py),
        ApplyError::TooLong(key) => {
            let why = "more than 1,000 times as long as others, too long to tell those apart; scale it, or use metric=\"cosine\"";
            invalid(py, format!("vectors: that of id {key} is {why}"))
        }
    }
}

fn newer(py: Python<'_>) -> PyErr {
    exception(py, "Corrupt", "the index was made by a newer version of memorist; update this one")
}

fn view<'a>(py: Python<'_>, snapshot: &'a Snapshot) -> PyResult<View<'a>> {
    View::new(snapshot).ok_or_else(|| newer(py))
}

fn change<T, E>(
    writer: &mut Writer,
    current: &RwLock<Arc<Snapshot>>,
    work: impl FnOnce(&mut Writer) -> Result<T, E>,
) -> Result<T, E> {
    let done = work(writer);
    *current.write() = writer.snapshot();
    done
}

fn keys(py: Python<'_>, ids: &[i64]) -> PyResult<Vec<u64>> {
    ids.iter().map(|id| id_set::key(py, *id)).collect()
}

fn effort(py: Python<'_>, ef: Option<usize>, recall: Option<f32>, exact: bool) -> PyResult<Effort> {
    let effort = match (ef, recall, exact) {
        (None, None, true) => Effort::Exact,
        (Some(ef), None, false) => Effort::Ef(ef),
        (None, Some(recall), false) => Effort::Recall(recall),
        (None, None, false) => Effort::default(),
        _ => return Err(invalid(py, "give one of ef, recall and exact")),
    };
    effort.check().map_err(|error| of_index(py, error))?;
    Ok(effort)
}

fn found(hits: &[Hit], ids: &mut [i64], scores: &mut [f32]) {
    for (at, hit) in hits.iter().enumerate() {
        (ids[at], scores[at]) = (hit.key.cast_signed(), hit.score);
    }
}

#[pymethods]
impl Index {
    /// Makes an index, or opens one.
    #[new]
    #[pyo3(signature = (folder, dims, metric, layout, create, read_only, m, ef_construction, seed))]
    #[allow(clippy::too_many_arguments, reason = "the only caller is memorist/index.py")]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        dims: Option<usize>,
        metric: Option<&str>,
        layout: Option<&str>,
        create: bool,
        read_only: bool,
        m: Option<usize>,
        ef_construction: Option<usize>,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        let (merging, closed, process) = (Mutex::new(()), AtomicBool::new(false), std::process::id());
        let metric = match metric.map(|name| (name, Metric::named(name))) {
            Some((name, None)) => return Err(invalid(py, format!("metric: {name:?} is not cosine, ip or l2"))),
            Some((_, metric)) => metric,
            None => None,
        };
        let layout = match layout {
            Some(name) => match LAYOUTS.into_iter().find(|(known, _)| *known == name) {
                Some((_, layout)) => Some(layout),
                None => return Err(invalid(py, format!("layout: {name:?} is not standard or compact"))),
            },
            None => None,
        };
        let kind = Kind { dims, metric, layout };
        if read_only {
            let reader = py.detach(|| Reader::open(&folder)).map_err(|error| of_index(py, error))?;
            kind.check(py, &folder, &reader.snapshot())?;
            return Ok(Index { folder, role: Role::Reads(Box::new(reader)), merging, closed, process });
        }
        let options = |dims| {
            let mut options = IndexOptions::new(dims);
            options.layout = layout.unwrap_or_default();
            options.m = m.unwrap_or(options.m);
            options.ef_construction = ef_construction.unwrap_or(options.ef_construction);
            options.seed = seed.unwrap_or(options.seed);
            options
        };
        let writer = py.detach(|| match (create, dims) {
            (true, Some(dims)) => {
                let metric = metric.unwrap_or(Metric::Cosine);
                Writer::create(&folder, options(metric.lifted(dims)), &lift::header(metric))
            }
            _ => {
                let reader = Reader::open(&folder)?;
                let dims = reader.snapshot().dims();
                Writer::beside(&reader, options(dims))
            }
        });
        let writer = writer.map_err(|error| match error {
            WriteError::Locked { folder } => {
                let why = "is written by another process or object; close it there, or open it with read_only=True";
                exception(py, "Locked", format!("{} {why}", folder.display()))
            }
            other => of_index(py, other),
        })?;
        kind.check(py, &folder, &writer.snapshot())?;
        let current = RwLock::new(writer.snapshot());
        let writer = Mutex::new(Some(writer));
        Ok(Index { folder, role: Role::Writes { writer, current }, merging, closed, process })
    }

    #[getter]
    fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    #[getter]
    fn dims(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(view(py, &*self.snapshot(py)?)?.dims())
    }

    #[getter]
    fn metric(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(view(py, &*self.snapshot(py)?)?.metric().name())
    }

    #[getter]
    fn layout(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(layout_name(self.snapshot(py)?.layout()))
    }

    #[getter]
    fn segments(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.snapshot(py)?.segment_count())
    }

    #[getter]
    fn generation(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.snapshot(py)?.generation())
    }

    #[getter]
    fn payload(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        Ok(view(py, &*self.snapshot(py)?)?.payload().to_vec())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.snapshot(py)?.len())
    }

    fn __contains__(&self, py: Python<'_>, id: i64) -> PyResult<bool> {
        let snapshot = self.snapshot(py)?;
        Ok(u64::try_from(id).is_ok_and(|key| snapshot.contains(key)))
    }

    /// Puts in a row for each id, replacing what it had, and removes others.
    #[pyo3(signature = (ids, vectors, removed, payload))]
    fn apply(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        vectors: &Bound<'_, PyAny>,
        removed: &Bound<'_, PyAny>,
        payload: Option<Vec<u8>>,
    ) -> PyResult<()> {
        let (ids, removed) = (arrays::ids("ids", ids)?, arrays::ids("ids", removed)?);
        let (added, removed) = (keys(py, ids.as_slice()?)?, keys(py, removed.as_slice()?)?);
        let vectors = arrays::matrix("vectors", vectors)?;
        let dims = vectors.as_array().ncols();
        let numbers = vectors.as_slice()?;
        let expected = view(py, &*self.snapshot(py)?)?.dims();
        if !added.is_empty() && dims != expected {
            return Err(invalid(py, format!("vectors: have {dims} dimensions, the index has {expected}")));
        }
        if vectors.as_array().nrows() != added.len() {
            let why = format!("vectors: there are {} for {} ids", vectors.as_array().nrows(), added.len());
            return Err(invalid(py, why));
        }
        self.write(py, |writer| {
            let upserts: Vec<_> = added.into_iter().zip(arrays::rows(numbers, dims)).collect();
            metric::apply(writer, &upserts, &removed, payload.as_deref())
        })
    }

    /// Merges segments until no merge makes searches faster.
    fn optimize(slf: Py<Self>, py: Python<'_>) -> PyResult<()> {
        slf.get().snapshot(py)?;
        let Role::Writes { .. } = slf.get().role else {
            return Err(invalid(py, "the index was opened to be read only; open it without read_only"));
        };
        let done = interruptible(py, move |stop| {
            let index = slf.get();
            let Role::Writes { writer, current } = &index.role else { return Ok(()) };
            let _one = index.merging.lock();
            if let Some(writer) = writer.lock().as_mut() {
                change(writer, current, metric::refit)?;
            }
            let is_stopped = || stop.cancelled() || index.closed();
            let progress = |_| if is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            loop {
                let merge = writer.lock().as_mut().and_then(Writer::begin_merge);
                let Some(merge) = merge else { return Ok(()) };
                // Others search and write meanwhile.
                let merged = match merge.run(&progress) {
                    Err(WriteError::Cancelled) if index.closed() => return Ok(()),
                    merged => merged?,
                };
                if let Some(writer) = writer.lock().as_mut() {
                    change(writer, current, |writer| writer.finish_merge(merged))?;
                }
            }
        })?;
        done.map_err(|error: ApplyError| of_apply(py, error))
    }

    /// Looks whether another process has published something newer.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        self.snapshot(py)?;
        match &self.role {
            Role::Writes { .. } => Ok(false),
            Role::Reads(reader) => py.detach(|| reader.refresh()).map_err(|error| of_index(py, error)),
        }
    }

    /// The index as it is now.
    fn frozen(&self, py: Python<'_>) -> PyResult<Frozen> {
        Ok(Frozen { snapshot: self.snapshot(py)? })
    }

    /// The nearest of each row, on all cores: of `total` rows, `before` were searched in earlier calls.
    #[pyo3(signature = (frozen, queries, before, total, k, ef, recall, exact, filter, excludes))]
    #[allow(clippy::too_many_arguments, reason = "the only caller is memorist/index.py")]
    #[allow(clippy::type_complexity, reason = "two arrays")]
    fn search_many<'py>(
        &self,
        py: Python<'py>,
        frozen: PyRef<'py, Frozen>,
        queries: &Bound<'py, PyAny>,
        before: usize,
        total: usize,
        k: usize,
        ef: Option<usize>,
        recall: Option<f32>,
        exact: bool,
        filter: Option<PyRef<'py, IdSet>>,
        excludes: bool,
    ) -> PyResult<(Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f32>>)> {
        let snapshot = frozen.snapshot.clone();
        let queries = arrays::matrix("queries", queries)?;
        let (count, dims) = queries.as_array().dim();
        let numbers = queries.as_slice()?;
        let view = view(py, &snapshot)?;
        check_dims(py, dims, &view)?;
        let set = filter.map(|filter| filter.ids.clone());
        let how = how(k, effort(py, ef, recall, exact)?, set.as_deref(), excludes);
        if total.checked_mul(k).is_none_or(|numbers| numbers > MOST_NUMBERS) {
            let why = format!(
                "k: {total} queries with {k} results each are more than {MOST_NUMBERS}; search fewer at a time"
            );
            return Err(invalid(py, why));
        }
        let done = py.detach(|| -> Result<_, (usize, SearchError)> {
            let (mut ids, mut scores) = (vec![NO_ID; count * k], vec![f32::NAN; count * k]);
            if k > 0 {
                let places = ids.par_chunks_mut(k).zip(scores.par_chunks_mut(k));
                let rows = numbers.par_chunks_exact(dims.max(1)).zip(places).enumerate();
                rows.try_for_each(|(row, (query, (ids, scores)))| {
                    let hits = view.search(query, &how.params, how.filter).map_err(|error| (row, error))?;
                    found(&hits, ids, scores);
                    Ok(())
                })?;
            }
            Ok((ids, scores))
        });
        let (ids, scores) = done.map_err(|(row, error)| {
            exception(py, error.kind().name(), format!("queries[{}]: {error}", before + row))
        })?;
        let ids = PyArray1::from_vec(py, ids).reshape([count, k])?;
        let scores = PyArray1::from_vec(py, scores).reshape([count, k])?;
        Ok((ids, scores))
    }

    /// The nearest of one vector.
    #[pyo3(signature = (query, k, ef, recall, exact, filter, excludes))]
    #[allow(clippy::too_many_arguments, reason = "the only caller is memorist/index.py")]
    #[allow(clippy::type_complexity, reason = "two arrays")]
    fn search<'py>(
        &self,
        py: Python<'py>,
        query: &Bound<'py, PyAny>,
        k: usize,
        ef: Option<usize>,
        recall: Option<f32>,
        exact: bool,
        filter: Option<PyRef<'py, IdSet>>,
        excludes: bool,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f32>>)> {
        let snapshot = self.snapshot(py)?;
        let query = arrays::vector("query", query)?;
        let query = query.as_slice()?;
        let view = view(py, &snapshot)?;
        check_dims(py, query.len(), &view)?;
        let set = filter.map(|filter| filter.ids.clone());
        let how = how(k, effort(py, ef, recall, exact)?, set.as_deref(), excludes);
        let hits = py.detach(|| view.search(query, &how.params, how.filter));
        let hits = hits.map_err(|error| of_index(py, error))?;
        let ids = PyArray1::from_iter(py, hits.iter().map(|hit| hit.key.cast_signed()));
        Ok((ids, PyArray1::from_iter(py, hits.iter().map(|hit| hit.score))))
    }

    /// The vectors of ids; `None` where there is none.
    fn vectors<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Option<Bound<'py, PyArray1<f32>>>>> {
        let snapshot = self.snapshot(py)?;
        let ids = arrays::ids("ids", ids)?;
        let keys = keys(py, ids.as_slice()?)?;
        let view = view(py, &snapshot)?;
        let vectors: Vec<_> = py.detach(|| keys.iter().map(|key| view.vector(*key)).collect());
        Ok(vectors.into_iter().map(|vector: Option<Vec<f32>>| Some(PyArray1::from_vec(py, vector?))).collect())
    }

    /// All ids, in no order.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let snapshot = self.snapshot(py)?;
        let ids: Vec<i64> = py.detach(|| snapshot.keys().map(u64::cast_signed).collect());
        Ok(PyArray1::from_vec(py, ids))
    }

    /// Reads every byte of the files. Returns the problems found.
    fn verify(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let snapshot = self.snapshot(py)?;
        let problems = interruptible(py, move |_| snapshot.verify())?;
        Ok(problems.iter().map(ToString::to_string).collect())
    }

    /// Lets go of the index: another may write it.
    fn close(&self, py: Python<'_>) {
        if self.process != std::process::id() {
            return;
        }
        self.closed.store(true, Ordering::Relaxed);
        if let Role::Writes { writer, .. } = &self.role {
            py.detach(|| {
                writer.lock().take();
                // A merge that is under way stops, and lets go of the folder, too.
                drop(self.merging.lock());
            });
        }
    }
}

fn how<'a>(k: usize, effort: Effort, set: Option<&'a RoaringTreemap>, excludes: bool) -> How<'a> {
    let filter = match set {
        None => Filter::All,
        Some(set) if excludes => Filter::Except(set),
        Some(set) => Filter::Only(set),
    };
    How { params: SearchParams { k, effort }, filter }
}

fn check_dims(py: Python<'_>, found: usize, view: &View<'_>) -> PyResult<()> {
    match view.dims() {
        expected if expected == found => Ok(()),
        expected => Err(invalid(py, format!("the query has {found} dimensions, the index has {expected}"))),
    }
}

/// The properties that an index keeps, as far as the caller names them.
struct Kind {
    dims: Option<usize>,
    metric: Option<Metric>,
    layout: Option<Layout>,
}

impl Kind {
    /// Refuses an index of another kind.
    fn check(&self, py: Python<'_>, folder: &std::path::Path, snapshot: &Snapshot) -> PyResult<()> {
        let (view, folder) = (view(py, snapshot)?, folder.display());
        if let Some(dims) = self.dims.filter(|dims| *dims != view.dims()) {
            return Err(invalid(py, format!("dimensions: the index in {folder} has {}, not {dims}", view.dims())));
        }
        if let Some(metric) = self.metric.filter(|metric| *metric != view.metric()) {
            let (found, given) = (view.metric().name(), metric.name());
            return Err(invalid(py, format!("metric: the index in {folder} has {found}, not {given}")));
        }
        if let Some(layout) = self.layout.filter(|layout| *layout != snapshot.layout()) {
            let (found, given) = (layout_name(snapshot.layout()), layout_name(layout));
            return Err(invalid(py, format!("layout: the index in {folder} has {found}, not {given}")));
        }
        Ok(())
    }
}

/// The names of layouts in Python.
const LAYOUTS: [(&str, Layout); 2] = [("standard", Layout::Standard), ("compact", Layout::Compact)];

fn layout_name(layout: Layout) -> &'static str {
    LAYOUTS.into_iter().find(|(_, known)| *known == layout).map_or("unknown", |(name, _)| name)
}
