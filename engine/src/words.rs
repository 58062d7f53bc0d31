//! Words and identifiers of a text or a query, as keyword search reads them.

pub use crate::keywords::{KeywordQuery, codes, has_code, matching_spans};
