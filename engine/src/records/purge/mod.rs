//! Texts that a purge looks for, and the mark of an unfinished purge. Rows are removed in `rules/purge.rs`, traces in the
//! files in `sqlite/traces.rs`.
//!
//! | file | job |
//! |---|---|
//! | `columns.rs` | every column that can hold a text, and its treatment |
//! | `patterns.rs` | the texts of a purge, and whether they occur in a text or in the bytes of a file |
//! | `quoted.rs` | whether a query has the text of a purged record |
//! | `row.rs` | the texts of a record or a version |
//! | `mark.rs` | the mark of a purge that is not finished |

pub(super) mod columns;
pub(super) mod mark;
pub(super) mod patterns;
pub(super) mod quoted;
pub(super) mod row;

#[cfg(test)]
mod tests;
