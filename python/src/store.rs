//! A store.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memorist_server::library::{Embeds, Library, Options, Problem, ProblemKind};
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use parking_lot::RwLock;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::embedder::{self, PythonEmbedder};
use crate::interrupt::{Stop, in_background, interruptible};
use crate::{arrays, errors};

/// How often to look whether the calls of other threads are over.
const LOOK: Duration = Duration::from_millis(2);

/// An open store.
#[pyclass(frozen, module = "memorist._memorist")]
pub struct Engine {
    library: RwLock<Option<Arc<Library>>>,
    folder: PathBuf,
    /// The function of the program, if that embeds.
    embedder: Option<Arc<PythonEmbedder>>,
    /// The process that opened it: its threads and locks are not in a fork of it.
    process: u32,
}

impl Engine {
    fn library(&self, py: Python<'_>) -> PyResult<Arc<Library>> {
        if self.process != std::process::id() {
            let why = "the store was opened before this process was forked; open it again here";
            return Err(errors::exception(py, "Closed", why));
        }
        self.not_in_its_function(py)?;
        let library = self.library.read().clone();
        library.ok_or_else(|| errors::exception(py, "Closed", "the store is closed; open it again"))
    }

    /// Refuses calls of the function that embeds: the one that has called it may have a lock that they would wait for, and
    /// closing would wait for that one.
    fn not_in_its_function(&self, py: Python<'_>) -> PyResult<()> {
        if self.embedder.as_ref().is_some_and(|embedder| embedder.is_running_here()) {
            let why = "the function embed cannot use the store that calls it; use the store before, or afterwards";
            return Err(errors::exception(py, "Locked", why));
        }
        Ok(())
    }

    /// Runs `work` with the store, without the interpreter.
    fn detached<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Library) -> Result<T, Problem> + Send,
    ) -> PyResult<T> {
        let library = self.library(py)?;
        let (done, raised) = py.detach(move || {
            let done = embedder::watched(|| work(&library));
            // Dropping the last handle of the store waits for its threads, which may need the interpreter.
            drop(library);
            done
        });
        finished(py, done, raised)
    }

    /// Runs work that takes a while and can be interrupted, without the interpreter.
    fn interruptible<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Library, &Stop) -> Result<T, Problem> + Send + 'static,
    ) -> PyResult<T> {
        let library = self.library(py)?;
        let done = interruptible(py, move |stop| {
            let done = embedder::watched(|| work(&library, stop));
            drop(library);
            done
        });
        let (done, raised) = done?;
        finished(py, done, raised)
    }
}

/// The result of a call, in which the function that embeds may have raised an exception. One that is no error, as
/// `KeyboardInterrupt`, is not for a warning.
fn finished<T>(py: Python<'_>, done: Result<T, Problem>, raised: Option<PyErr>) -> PyResult<T> {
    if let Some(raised) = &raised
        && !raised.is_instance_of::<PyException>(py)
    {
        return Err(raised.clone_ref(py));
    }
    done.map_err(|problem| {
        let is_of_the_model = problem.kind == ProblemKind::Model;
        let error = errors::of_problem(py, problem);
        if is_of_the_model {
            error.set_cause(py, raised);
        }
        error
    })
}

fn parsed(json: &str) -> Result<Map<String, Value>, Problem> {
    serde_json::from_str(json).map_err(|error| Problem::input(error.to_string()))
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (store, config, project, agent, embeds, embed, model, dimensions))]
    #[allow(clippy::too_many_arguments, reason = "the only caller is memorist/store.py")]
    fn new(
        py: Python<'_>,
        store: Option<PathBuf>,
        config: Option<PathBuf>,
        project: Option<String>,
        agent: Option<String>,
        embeds: bool,
        embed: Option<Py<PyAny>>,
        model: Option<String>,
        dimensions: usize,
    ) -> PyResult<Self> {
        let name = model.as_deref().unwrap_or_default();
        let embedder = embed.map(|embed| Arc::new(PythonEmbedder::new(embed, name, dimensions)));
        let embeds = match embedder.clone() {
            Some(embedder) => Embeds::With(embedder),
            None if embeds => Embeds::AsConfigured,
            None => Embeds::Nothing,
        };
        let options = Options { store, config, project, agent, embeds, packages: packages(py) };
        let opened = py.detach(|| Library::open(options, model));
        let library = opened.map_err(|problem| errors::of_problem(py, problem))?;
        let folder = library.folder().to_owned();
        Ok(Engine { library: RwLock::new(Some(Arc::new(library))), folder, embedder, process: std::process::id() })
    }

    /// The folder of the store.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.library.read().is_none()
    }

    /// Calls a tool: parameters and result are JSON.
    fn call(&self, py: Python<'_>, tool: &str, params: &str) -> PyResult<String> {
        self.detached(py, |library| Ok(library.call(tool, parsed(params)?)?.to_string()))
    }

    /// Searches with a vector of the query.
    fn search_with(&self, py: Python<'_>, params: &str, vector: &Bound<'_, PyAny>) -> PyResult<String> {
        let vector = arrays::vector("vector", vector)?.as_slice()?.to_vec();
        self.detached(py, |library| Ok(library.search(parsed(params)?, Some(vector))?.to_string()))
    }

    /// Saves with the vector of the text.
    fn add_with(&self, py: Python<'_>, params: &str, vector: &Bound<'_, PyAny>) -> PyResult<String> {
        let vector = arrays::vector("vector", vector)?;
        let vector = vector.as_slice()?;
        self.detached(py, |library| Ok(library.add_with(parsed(params)?, vector)?.to_string()))
    }

    /// Changes, with the vector of the new text.
    fn update_with(&self, py: Python<'_>, params: &str, vector: &Bound<'_, PyAny>) -> PyResult<String> {
        let vector = arrays::vector("vector", vector)?;
        let vector = vector.as_slice()?;
        self.detached(py, |library| Ok(library.update_with(parsed(params)?, vector)?.to_string()))
    }

    /// Saves many in one transaction; the vectors are rows from `first` on.
    #[pyo3(signature = (items, vectors, first))]
    fn add_many(
        &self,
        py: Python<'_>,
        items: &str,
        vectors: Option<&Bound<'_, PyAny>>,
        first: usize,
    ) -> PyResult<String> {
        let vectors: Option<PyReadonlyArray2<'_, f32>> =
            vectors.map(|vectors| arrays::matrix("vectors", vectors)).transpose()?;
        let vectors = match &vectors {
            Some(vectors) => Some((vectors.as_slice()?, vectors.as_array().ncols())),
            None => None,
        };
        self.detached(py, |library| {
            let items: Vec<Map<String, Value>> =
                serde_json::from_str(items).map_err(|error| Problem::input(error.to_string()))?;
            let rows: Option<Vec<&[f32]>> =
                vectors.map(|(numbers, dims)| arrays::rows(numbers, dims).skip(first).take(items.len()).collect());
            Ok(library.add_many(items, rows.as_deref())?.to_string())
        })
    }

    /// The vectors of texts by the store's model.
    fn embed<'py>(&self, py: Python<'py>, texts: Vec<String>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let vectors = self.detached(py, |library| library.embed(&texts))?;
        Ok(PyArray2::from_vec2(py, &vectors)?)
    }

    /// The vector of a memory, of length 1.
    fn vector<'py>(&self, py: Python<'py>, params: &str) -> PyResult<Option<Bound<'py, PyArray1<f32>>>> {
        let vector = self.detached(py, |library| library.vector(parsed(params)?))?;
        Ok(vector.map(|vector| PyArray1::from_vec(py, vector)))
    }

    /// Reads the files that have changed.
    fn sync(&self, py: Python<'_>, paths: Vec<PathBuf>, force: bool) -> PyResult<String> {
        self.interruptible(py, move |library, stop| {
            let paths: Vec<_> = paths.iter().map(PathBuf::as_path).collect();
            Ok(library.sync(&paths, force, stop)?.to_string())
        })
    }

    /// Embeds and indexes what is new.
    fn flush(&self, py: Python<'_>) -> PyResult<u64> {
        self.interruptible(py, |library, stop| library.flush(stop))
    }

    /// Writes all that is seen into a file.
    fn export(&self, py: Python<'_>, file: PathBuf, embeddings: bool) -> PyResult<String> {
        self.interruptible(py, move |library, stop| Ok(library.export(&file, embeddings, stop)?.to_string()))
    }

    /// Merges the memories of such a file.
    fn import_(&self, py: Python<'_>, file: PathBuf) -> PyResult<String> {
        self.interruptible(py, move |library, stop| Ok(library.import(&file, stop)?.to_string()))
    }

    /// Merges memories of an agent framework, from lines of such a file.
    fn import_lines(&self, py: Python<'_>, lines: String) -> PyResult<String> {
        self.interruptible(py, move |library, stop| Ok(library.import_lines(&lines, stop)?.to_string()))
    }

    /// Closes the store, once the calls of other threads are over; without `wait`, in the background.
    fn close(&self, py: Python<'_>, wait: bool) -> PyResult<()> {
        if self.process != std::process::id() {
            return Ok(());
        }
        self.not_in_its_function(py)?;
        let mut library = self.library.write().take();
        while let Some(open) = library {
            if !wait {
                py.detach(|| in_background(|| drop(open)));
                return Ok(());
            }
            match Arc::try_unwrap(open) {
                Ok(open) => return interruptible(py, |_| drop(open)),
                Err(busy) => {
                    py.detach(|| std::thread::sleep(LOOK));
                    library = Some(busy);
                }
            }
            if let Err(raised) = py.check_signals() {
                *self.library.write() = library;
                return Err(raised);
            }
        }
        Ok(())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let Some(library) = self.library.write().take() else { return };
        if self.process != std::process::id() {
            // Its threads are not in this process: nothing can end them.
            std::mem::forget(library);
            return;
        }
        // The thread that is waited for may call the function that embeds, and this one may be in it.
        Python::attach(|py| py.detach(|| in_background(|| drop(library))));
    }
}

/// The folder of packages that this one is in: what it depends on is there, the default model among it.
pub fn packages(py: Python<'_>) -> Vec<PathBuf> {
    let ours = || py.import("memorist")?.getattr("__path__")?.get_item(0)?.extract::<PathBuf>();
    ours().ok().and_then(|folder| folder.parent().map(PathBuf::from)).into_iter().collect()
}
