//! [`MetadataFilter`]s as SQL over `record_metadata`, which triggers make of the bodies of records: the same rule as
//! [`MetadataFilter::allows`].

use roaring::RoaringTreemap;
use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::schema::metadata_rows;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::types::{Comparison, MetadataFilter, Scalar};

/// Where the metadata of a row `r` is looked up.
#[derive(Clone, Copy)]
pub(super) enum MetadataOf {
    /// Records: in the index.
    Records,
    /// Deleted records, which have no index: in their bodies.
    Bodies,
}

/// The condition that the row `r` passes the filter, and the values of its question marks.
pub(super) fn passes(filter: &MetadataFilter, of: MetadataOf) -> (String, Vec<Value>) {
    match filter {
        MetadataFilter::All(each) => joined(each, of, " AND ", "1"),
        MetadataFilter::Any(each) => joined(each, of, " OR ", "0"),
        MetadataFilter::Not(one) => {
            let (sql, values) = passes(one, of);
            (format!("NOT {sql}"), values)
        }
        MetadataFilter::Exists(key) => has(test(key, None), of),
        MetadataFilter::Compares(key, comparison, with) => has(test(key, Some((*comparison, with))), of),
    }
}

fn joined(each: &[MetadataFilter], of: MetadataOf, between: &str, empty: &str) -> (String, Vec<Value>) {
    if each.is_empty() {
        return (empty.to_owned(), Vec::new());
    }
    let (sql, values): (Vec<_>, Vec<_>) = each.iter().map(|one| passes(one, of)).unzip();
    (format!("({})", sql.join(between)), values.concat())
}

fn has((test, values): (String, Vec<Value>), of: MetadataOf) -> (String, Vec<Value>) {
    let sql = match of {
        MetadataOf::Records => format!("r.id IN (SELECT record_id FROM record_metadata WHERE {test})"),
        MetadataOf::Bodies => {
            format!("EXISTS (SELECT 1 FROM ({}) WHERE {test})", metadata_rows!("", "r.body", "r.id"))
        }
    };
    (sql, values)
}

/// A condition on rows of `record_metadata`, and its values.
fn test(key: &str, compared: Option<(Comparison, &Scalar)>) -> (String, Vec<Value>) {
    let Some((comparison, with)) = compared else { return ("key = ?".to_owned(), vec![key.to_owned().into()]) };
    let operator = match comparison {
        Comparison::Equal => "=",
        Comparison::Greater => ">",
        Comparison::AtLeast => ">=",
        Comparison::Less => "<",
        Comparison::AtMost => "<=",
    };
    let (kind, value): (i64, Value) = match with {
        Scalar::Bool(flag) => (1, i64::from(*flag).into()),
        Scalar::Integer(number) => (2, (*number).into()),
        Scalar::Real(number) => (2, (*number).into()),
        Scalar::Text(text) => (3, text.clone().into()),
    };
    (format!("key = ? AND kind = ? AND value {operator} ?"), vec![key.to_owned().into(), kind.into(), value])
}

impl Snapshot {
    /// The ids of all records that do not pass the filter, and unused ids.
    pub fn without_metadata(&self, filter: &MetadataFilter) -> Result<RoaringTreemap> {
        let last: i64 = self.conn().query_row("SELECT coalesce(max(id), 0) FROM records", [], |row| row.get(0))?;
        let mut all = RoaringTreemap::new();
        all.insert_range(0..=last.unsigned_abs());
        let passing = self.with_metadata(filter, &all)?;
        Ok(all - passing)
    }

    /// The ids of the records that pass the filter: where it negates, of `all`.
    fn with_metadata(&self, filter: &MetadataFilter, all: &RoaringTreemap) -> Result<RoaringTreemap> {
        let found = |(test, values): (String, Vec<Value>)| {
            let sql = format!("SELECT record_id FROM record_metadata WHERE {test}");
            self.ids(&sql, params_from_iter(values))
        };
        match filter {
            MetadataFilter::All(each) => each.iter().try_fold(all.clone(), |both, one| {
                let passing = self.with_metadata(one, all)?;
                Ok(both & passing)
            }),
            MetadataFilter::Any(each) => each.iter().try_fold(RoaringTreemap::new(), |some, one| {
                let passing = self.with_metadata(one, all)?;
                Ok(some | passing)
            }),
            MetadataFilter::Not(one) => Ok(all - self.with_metadata(one, all)?),
            MetadataFilter::Exists(key) => found(test(key, None)),
            MetadataFilter::Compares(key, comparison, with) => found(test(key, Some((*comparison, with)))),
        }
    }
}
