//! A query as the kernels look it up.

/// The tables of a query: sixteen entries for each four numbers, one for each way to give them signs.
#[derive(Default)]
pub(crate) struct EdgeQuery {
    pub(crate) tables: Vec<u8>,
    /// A sum of entries, times this, less the shift, is the slope's factor.
    pub(crate) step: f32,
    pub(crate) shift: f32,
}
