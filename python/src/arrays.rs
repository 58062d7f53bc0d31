//! Arrays of numpy as vectors, without copies, and back. Other threads must not change one during a call.

use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::errors::invalid;

pub fn vector<'py>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray1<'py, f32>> {
    check(name, given, 1, "float32", "numpy.float32")?;
    Ok(given.cast::<PyArray1<f32>>()?.readonly())
}

/// One vector a row.
pub fn matrix<'py>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray2<'py, f32>> {
    check(name, given, 2, "float32", "numpy.float32")?;
    Ok(given.cast::<PyArray2<f32>>()?.readonly())
}

pub fn ids<'py>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray1<'py, i64>> {
    check(name, given, 1, "int64", "numpy.int64")?;
    Ok(given.cast::<PyArray1<i64>>()?.readonly())
}

/// A mask: for each id from 0 on, whether it is allowed.
pub fn mask<'py>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray1<'py, u8>> {
    check(name, given, 1, "bool", "bool")?;
    // Its bytes may be others than 0 and 1, which Rust's booleans may not.
    let bytes = given.call_method1("view", ("uint8",))?;
    Ok(bytes.cast::<PyArray1<u8>>()?.readonly())
}

/// Says which of the conditions an array does not meet, and what makes it meet it.
fn check(name: &str, given: &Bound<'_, PyAny>, axes: usize, dtype: &str, as_type: &str) -> PyResult<()> {
    let py = given.py();
    let Ok(array) = given.cast::<PyUntypedArray>() else {
        return Err(invalid(py, format!("{name}: must be an array of numpy, not {}", given.get_type().name()?)));
    };
    let found = array.dtype().str()?.to_string();
    if found != dtype {
        return Err(invalid(py, format!("{name}: must be {dtype}, not {found}; convert it with .astype({as_type})")));
    }
    if array.ndim() != axes {
        let why = format!("{name}: must have {axes} axes, not {}; its shape is {:?}", array.ndim(), array.shape());
        return Err(invalid(py, why.replace("1 axes", "1 axis")));
    }
    if !given.getattr("flags")?.getattr("aligned")?.is_truthy()? {
        return Err(invalid(py, format!("{name}: is not aligned in memory; make it so with .copy()")));
    }
    if !array.is_c_contiguous() {
        let why = "is not contiguous, row by row; make it so with numpy.ascontiguousarray()";
        return Err(invalid(py, format!("{name}: {why}")));
    }
    Ok(())
}

/// The rows of a matrix.
pub fn rows(numbers: &[f32], dims: usize) -> impl ExactSizeIterator<Item = &[f32]> {
    numbers.chunks_exact(dims.max(1))
}
