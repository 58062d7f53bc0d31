//! Ids that a search may return.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use roaring::RoaringTreemap;

use crate::{arrays, errors};

/// Ids, made once for many searches.
#[pyclass(frozen, module = "memorist._memorist")]
pub struct IdSet {
    pub(crate) ids: Arc<RoaringTreemap>,
}

/// An id as the index knows it. The largest integer is not allowed: the next new id would be more.
pub fn key(py: Python<'_>, id: i64) -> PyResult<u64> {
    if id == i64::MAX {
        return Err(errors::invalid(py, format!("ids: {id} is more than an id can be")));
    }
    u64::try_from(id).map_err(|_| errors::invalid(py, format!("ids: {id} is negative")))
}

#[pymethods]
impl IdSet {
    /// Creates a set from an array of ids, or from a mask whose position is the id.
    #[new]
    fn new(py: Python<'_>, ids: &Bound<'_, PyAny>, is_mask: bool) -> PyResult<Self> {
        let ids: RoaringTreemap = match is_mask {
            true => {
                let mask = arrays::mask("only", ids)?;
                let mask = mask.as_slice()?;
                py.detach(|| (0..).zip(mask).filter(|(_, is_in)| **is_in != 0).map(|(id, _)| id).collect())
            }
            false => {
                let ids = arrays::ids("ids", ids)?;
                let ids = ids.as_slice()?;
                if let Some(negative) = ids.iter().find(|id| **id < 0) {
                    key(py, *negative)?;
                }
                py.detach(|| ids.iter().map(|id| id.cast_unsigned()).collect())
            }
        };
        Ok(IdSet { ids: Arc::new(ids) })
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.ids.len()).unwrap_or(usize::MAX)
    }

    fn __contains__(&self, id: i64) -> bool {
        u64::try_from(id).is_ok_and(|id| self.ids.contains(id))
    }

    /// All of them, the smallest first.
    fn ids<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_iter(py, self.ids.iter().map(u64::cast_signed))
    }

    fn equals(&self, other: PyRef<'_, IdSet>) -> bool {
        self.ids == other.ids
    }

    /// The ids of both, of either, or of this one alone.
    fn combined(&self, py: Python<'_>, other: PyRef<'_, IdSet>, how: &str) -> PyResult<Self> {
        let (these, others) = (&*self.ids, &*other.ids);
        let ids = match how {
            "and" => these & others,
            "or" => these | others,
            "without" => these - others,
            _ => return Err(errors::invalid(py, format!("unknown set operation {how}"))),
        };
        Ok(IdSet { ids: Arc::new(ids) })
    }

    fn __repr__(&self) -> String {
        format!("IdSet of {} ids", self.ids.len())
    }
}
