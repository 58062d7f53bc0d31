//! A Python function that embeds.

use std::cell::RefCell;
use std::ptr;

use memorist_engine::embed::{self, Embedder, ModelIdentity};
use memorist_server::library::own_model;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::arrays;

thread_local! {
    /// The calls of the store that this thread is in, each with what a function that embeds has raised in it: the engine knows
    /// its text alone. Threads of the engine are in none.
    static CALLS: RefCell<Vec<Option<PyErr>>> = const { RefCell::new(Vec::new()) };
    /// The functions that this thread is in.
    static RUNNING: RefCell<Vec<*const PythonEmbedder>> = const { RefCell::new(Vec::new()) };
}

/// A Python function of a list of texts to an array with a row for each.
pub struct PythonEmbedder {
    identity: ModelIdentity,
    embed: Py<PyAny>,
}

impl PythonEmbedder {
    /// The function `embed`, which makes vectors of `dims` numbers, by the name that tells its vectors from others.
    pub fn new(embed: Py<PyAny>, name: &str, dims: usize) -> Self {
        PythonEmbedder { identity: own_model(name, dims), embed }
    }

    /// Whether this thread is in the function.
    pub fn is_running_here(&self) -> bool {
        RUNNING.with_borrow(|running| running.iter().any(|other| ptr::eq(*other, self)))
    }

    fn call(&self, texts: &[&str]) -> PyResult<embed::Result<Vec<Vec<f32>>>> {
        Python::attach(|py| {
            if let Some(ends) = ending(py) {
                return Err(ends);
            }
            RUNNING.with_borrow_mut(|running| running.push(self));
            let made = self.embed.bind(py).call1((texts.to_vec(),));
            RUNNING.with_borrow_mut(Vec::pop);
            let made = made?;
            let made = arrays::matrix("what the function embed returns", &made)?;
            let numbers = made.as_slice()?;
            Ok(arrays::rows(numbers, self.identity.dims).enumerate().map(of_length_one).collect())
        })
    }
}

/// Runs `work`. Returns its result, and the last exception that the function raised in this thread meanwhile.
pub fn watched<T>(work: impl FnOnce() -> T) -> (T, Option<PyErr>) {
    CALLS.with_borrow_mut(|calls| calls.push(None));
    let done = work();
    (done, CALLS.with_borrow_mut(Vec::pop).flatten())
}

/// The exception that ends this thread's call: one that is no error, as `KeyboardInterrupt`. The function is not called again
/// in that call.
fn ending(py: Python<'_>) -> Option<PyErr> {
    CALLS.with_borrow(|calls| {
        let raised = calls.last()?.as_ref()?;
        (!raised.is_instance_of::<PyException>(py)).then(|| raised.clone_ref(py))
    })
}

fn of_length_one((row, vector): (usize, &[f32])) -> embed::Result<Vec<f32>> {
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 && length.is_finite() {
        #[allow(clippy::cast_possible_truncation, reason = "it is at most 1")]
        return Ok(vector.iter().map(|number| (f64::from(*number) / length) as f32).collect());
    }
    let why = format!(
        "what the function embed returned has no direction in row {row}: it must have finite numbers, not all 0"
    );
    Err(embed::Error::Failed(why))
}

impl Embedder for PythonEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn embed_query(&self, text: &str) -> embed::Result<Vec<f32>> {
        let mut made = self.embed_batch(&[text])?;
        made.pop().ok_or_else(|| embed::Error::Failed("the function embed returned no vector".to_owned()))
    }

    fn embed_batch(&self, texts: &[&str]) -> embed::Result<Vec<Vec<f32>>> {
        let made = self.call(texts).unwrap_or_else(|raised| {
            let why = format!("the function embed raised {raised}");
            CALLS.with_borrow_mut(|calls| calls.last_mut().map(|last| last.replace(raised)));
            Err(embed::Error::Failed(why))
        })?;
        match made.len() == texts.len() {
            true => Ok(made),
            false => {
                let why = format!("the function embed returned {} vectors for {} texts", made.len(), texts.len());
                Err(embed::Error::Failed(why))
            }
        }
    }
}
