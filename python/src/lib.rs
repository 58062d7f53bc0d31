//! The extension module of the Python package `memorist`. What people call is in `memorist/*.py`; this is what those
//! files call, with JSON as text and arrays of numpy.
//!
//! | file | job |
//! |---|---|
//! | `errors.rs` | problems as exceptions of `memorist.errors` |
//! | `arrays.rs` | arrays of numpy as vectors, without copies, and back |
//! | `interrupt.rs` | long work that Ctrl-C stops |
//! | `embedder.rs` | a Python function that embeds |
//! | `store.rs` | a store |
//! | `id_set.rs` | ids that a search may return |
//! | `index.rs` | the vector index alone |
//! | `program.rs` | the command line |
//!
//! No call keeps the interpreter to itself while it works.

mod arrays;
mod embedder;
mod errors;
mod id_set;
mod index;
mod interrupt;
mod lift;
mod metric;
mod program;
mod store;

#[pyo3::pymodule]
mod _memorist {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::id_set::IdSet;
    #[pymodule_export]
    use crate::index::{Frozen, Index};
    #[pymodule_export]
    use crate::program::run_program;
    #[pymodule_export]
    use crate::store::Engine;

    /// Waits for work that was left to end by itself.
    #[pyfunction]
    fn join_left(py: Python<'_>) -> PyResult<()> {
        crate::interrupt::join_left(py)
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
