//! Conditions on the metadata of records, as of MongoDB, Chroma and LangChain: `{"year": {"$gte": 2024}}`.
//!
//! Metadata is the object `metadata` in the body of a record. Its numbers, truth values and texts of up to
//! [`MAX_SEARCHED_BYTES`] can be searched for, and those in its lists: a list passes a condition if one of its items does.
//! Null, longer texts and what is nested deeper are kept, and count as absent. The same rule is in SQL, over the table `record_metadata` (`records/sqlite/metadata.rs`).

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use crate::body::{Body, METADATA};
use crate::error::{Error, Result};

/// Bytes of a text of metadata that can be searched for at most.
pub const MAX_SEARCHED_BYTES: usize = 1_024;
/// Comparisons of a condition at most.
pub const MAX_COMPARISONS: usize = 256;
/// Comparisons by order of a condition at most: each may pass many records.
pub const MAX_ORDERED: usize = 32;
/// How deep conditions are nested at most.
const MAX_DEPTH: usize = 16;
/// The operators, as they are listed in errors.
const OPERATORS: &str = "$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $contains and $not";

/// A condition on the metadata of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum MetadataFilter {
    /// Each of these passes; all records pass an empty one.
    All(Vec<MetadataFilter>),
    /// One of these passes; none passes an empty one.
    Any(Vec<MetadataFilter>),
    /// This does not pass.
    Not(Box<MetadataFilter>),
    /// A key has a value.
    Exists(String),
    /// A key has a value that compares so with another one of the same type.
    Compares(String, Comparison, Scalar),
}

/// How a value compares with another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// It is the same.
    Equal,
    /// It is greater.
    Greater,
    /// It is greater, or the same.
    AtLeast,
    /// It is less.
    Less,
    /// It is less, or the same.
    AtMost,
}

/// A value that can be searched for.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Another number.
    Real(f64),
    /// A text.
    Text(String),
}

impl Scalar {
    /// The value, if it is one that can be searched for.
    pub fn of(value: &Value) -> Option<Scalar> {
        match value {
            Value::Bool(flag) => Some(Scalar::Bool(*flag)),
            Value::Number(number) => Some(Scalar::of_number(number)),
            Value::String(text) if text.len() <= MAX_SEARCHED_BYTES => Some(Scalar::Text(text.clone())),
            Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn of_number(number: &Number) -> Scalar {
        number.as_i64().map_or_else(|| Scalar::Real(number.as_f64().unwrap_or_default()), Scalar::Integer)
    }

    /// How it compares with another one; `None` if that is of another type.
    fn compare(&self, other: &Scalar) -> Option<Ordering> {
        match (self, other) {
            (Scalar::Bool(one), Scalar::Bool(other)) => Some(one.cmp(other)),
            (Scalar::Text(one), Scalar::Text(other)) => Some(one.cmp(other)),
            (Scalar::Integer(one), Scalar::Integer(other)) => Some(one.cmp(other)),
            (Scalar::Real(one), Scalar::Real(other)) => one.partial_cmp(other),
            (Scalar::Integer(one), Scalar::Real(other)) => compare(*one, *other),
            (Scalar::Real(one), Scalar::Integer(other)) => compare(*other, *one).map(Ordering::reverse),
            _ => None,
        }
    }
}

/// Compares exactly, as SQLite does: not every whole number is a float.
fn compare(whole: i64, real: f64) -> Option<Ordering> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if real >= LIMIT {
        return Some(Ordering::Less);
    }
    if real < -LIMIT {
        return Some(Ordering::Greater);
    }
    let below = real.floor();
    // Within the limits, the floor is a whole number of 64 bits.
    let order = whole.cmp(&(below as i64));
    if order.is_eq() && real > below { Some(Ordering::Less) } else { Some(order) }
}

impl Comparison {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::Greater => order.is_gt(),
            Comparison::AtLeast => order.is_ge(),
            Comparison::Less => order.is_lt(),
            Comparison::AtMost => order.is_le(),
        }
    }
}

impl MetadataFilter {
    /// Reads a condition.
    ///
    /// # Errors
    /// [`Error::Invalid`] of `where` says what is wrong with it.
    pub fn parse(given: &Value) -> Result<MetadataFilter> {
        let condition = all_of(given, 0).map_err(|why| Error::invalid("where", why))?;
        let (comparisons, ordered) = condition.comparisons();
        if comparisons > MAX_COMPARISONS {
            return Err(Error::invalid("where", format!("has {comparisons} comparisons; at most {MAX_COMPARISONS}")));
        }
        if ordered > MAX_ORDERED {
            return Err(Error::invalid("where", format!("has {ordered} comparisons by order; at most {MAX_ORDERED}")));
        }
        Ok(condition)
    }

    /// How many comparisons it has, and how many of them are by order.
    fn comparisons(&self) -> (usize, usize) {
        match self {
            MetadataFilter::All(each) | MetadataFilter::Any(each) => {
                let each = each.iter().map(MetadataFilter::comparisons);
                each.fold((0, 0), |(all, ordered), (more, of_order)| (all + more, ordered + of_order))
            }
            MetadataFilter::Not(one) => one.comparisons(),
            MetadataFilter::Compares(_, Comparison::Equal, _) => (1, 0),
            MetadataFilter::Exists(_) | MetadataFilter::Compares(..) => (1, 1),
        }
    }

    /// Whether a record with this body passes.
    pub fn allows(&self, body: Option<&Body>) -> bool {
        self.passes(body.and_then(|body| body.get(METADATA)).and_then(Value::as_object))
    }

    fn passes(&self, metadata: Option<&Map<String, Value>>) -> bool {
        match self {
            MetadataFilter::All(each) => each.iter().all(|one| one.passes(metadata)),
            MetadataFilter::Any(each) => each.iter().any(|one| one.passes(metadata)),
            MetadataFilter::Not(one) => !one.passes(metadata),
            MetadataFilter::Exists(key) => !values(metadata, key).is_empty(),
            MetadataFilter::Compares(key, comparison, with) => values(metadata, key)
                .iter()
                .filter_map(|value| value.compare(with))
                .any(|order| comparison.holds(order)),
        }
    }
}

/// The values of a key that can be searched for.
fn values(metadata: Option<&Map<String, Value>>, key: &str) -> Vec<Scalar> {
    match metadata.and_then(|metadata| metadata.get(key)) {
        Some(Value::Array(items)) => items.iter().filter_map(Scalar::of).collect(),
        Some(value) => Scalar::of(value).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The conditions of an object, all of which have to pass.
fn all_of(given: &Value, depth: usize) -> Result<MetadataFilter, String> {
    let Value::Object(members) = given else {
        return Err("must be an object, as {\"year\": {\"$gte\": 2024}}".to_owned());
    };
    if depth == MAX_DEPTH {
        return Err(format!("is nested more than {MAX_DEPTH} deep"));
    }
    if members.is_empty() && depth > 0 {
        return Err("has an empty object, which everything passes".to_owned());
    }
    let each = members.iter().map(|(key, value)| match key.as_str() {
        "$and" => Ok(MetadataFilter::All(each_of(key, value, depth)?)),
        "$or" => Ok(MetadataFilter::Any(each_of(key, value, depth)?)),
        "$nor" => Ok(not(MetadataFilter::Any(each_of(key, value, depth)?))),
        "$not" => Ok(not(all_of(value, depth + 1)?)),
        operator if operator.starts_with('$') => {
            Err(format!("unknown operator {operator:?}; an object may have keys, $and, $or, $nor and $not"))
        }
        _ => of_key(key, value, depth + 1),
    });
    Ok(one_or_all(each.collect::<Result<_, _>>()?))
}

fn each_of(operator: &str, given: &Value, depth: usize) -> Result<Vec<MetadataFilter>, String> {
    match given {
        Value::Array(each) if !each.is_empty() => each.iter().map(|one| all_of(one, depth + 1)).collect(),
        _ => Err(format!("{operator} must be a list of objects that is not empty")),
    }
}

/// The conditions on the values of a key.
fn of_key(key: &str, given: &Value, depth: usize) -> Result<MetadataFilter, String> {
    match given {
        Value::Object(tests) if tests.is_empty() => Err(format!("{key:?} has no operator; it may have {OPERATORS}")),
        Value::Object(_) if depth >= MAX_DEPTH => Err(format!("is nested more than {MAX_DEPTH} deep")),
        Value::Object(tests) => {
            let each = tests.iter().map(|(operator, value)| tested(key, operator, value, depth));
            Ok(one_or_all(each.collect::<Result<_, _>>()?))
        }
        Value::Array(_) => Err(format!("{key:?} is a list; for one of its items give {{\"$in\": [...]}}")),
        value => equal(key, "$eq", value),
    }
}

fn tested(key: &str, operator: &str, value: &Value, depth: usize) -> Result<MetadataFilter, String> {
    let ordered = |comparison| match Scalar::of(value) {
        Some(with @ (Scalar::Integer(_) | Scalar::Real(_) | Scalar::Text(_))) => {
            Ok(MetadataFilter::Compares(key.to_owned(), comparison, with))
        }
        _ => Err(format!("{operator} of {key:?} must be a number, or a text of at most {MAX_SEARCHED_BYTES} bytes")),
    };
    let any = || match value {
        Value::Array(each) => {
            let each = each.iter().map(|one| equal(key, operator, one)).collect::<Result<_, _>>()?;
            Ok(MetadataFilter::Any(each))
        }
        _ => Err(format!("{operator} of {key:?} must be a list")),
    };
    match operator {
        "$eq" | "$contains" => equal(key, operator, value),
        "$ne" | "$not_contains" => Ok(not(equal(key, operator, value)?)),
        "$gt" => ordered(Comparison::Greater),
        "$gte" => ordered(Comparison::AtLeast),
        "$lt" => ordered(Comparison::Less),
        "$lte" => ordered(Comparison::AtMost),
        "$in" => any(),
        "$nin" => Ok(not(any()?)),
        "$not" => Ok(not(of_key(key, value, depth + 1)?)),
        "$exists" => match value {
            Value::Bool(true) => Ok(MetadataFilter::Exists(key.to_owned())),
            Value::Bool(false) => Ok(not(MetadataFilter::Exists(key.to_owned()))),
            _ => Err(format!("$exists of {key:?} must be true or false")),
        },
        _ => Err(format!("unknown operator {operator:?} of {key:?}; it may have {OPERATORS}")),
    }
}

/// A key has this value; null stands for none.
fn equal(key: &str, operator: &str, value: &Value) -> Result<MetadataFilter, String> {
    match (Scalar::of(value), value) {
        (Some(with), _) => Ok(MetadataFilter::Compares(key.to_owned(), Comparison::Equal, with)),
        (None, Value::Null) => Ok(not(MetadataFilter::Exists(key.to_owned()))),
        (None, Value::String(text)) => {
            Err(format!("{operator} of {key:?} has a text of {} bytes; at most {MAX_SEARCHED_BYTES}", text.len()))
        }
        (None, _) => Err(format!("{operator} of {key:?} must have texts, numbers, true, false or null")),
    }
}

fn not(condition: MetadataFilter) -> MetadataFilter {
    MetadataFilter::Not(Box::new(condition))
}

fn one_or_all(mut each: Vec<MetadataFilter>) -> MetadataFilter {
    match each.len() {
        1 => each.swap_remove(0),
        _ => MetadataFilter::All(each),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::types::Kind;

    /// 47.3: the operators of Chroma and LangChain, over values, lists and what is absent.
    #[test]
    fn conditions_choose_by_metadata() {
        let metadata = json!({
            "year": 2024, "score": 0.5, "lang": "de", "draft": true, "tags": ["a", "b", 3], "none": null,
            "nested": { "deep": 1 }, "long": "x".repeat(1_025), "whole": 9_007_199_254_740_993_i64, "empty": [],
        });
        let body = Body::new(Kind::Fact, json!({ "metadata": metadata })).unwrap();
        let passes = |given: Value| MetadataFilter::parse(&given).unwrap().allows(Some(&body));
        for given in [
            json!({}),
            json!({ "year": 2024 }),
            json!({ "year": 2024.0 }),
            json!({ "year": { "$gte": 2024, "$lt": 2025 } }),
            json!({ "year": { "$gt": 2023.5 } }),
            json!({ "score": { "$lte": 0.5 }, "lang": { "$in": ["de", "fr"] } }),
            json!({ "lang": { "$gt": "da" } }),
            json!({ "draft": true }),
            json!({ "draft": { "$ne": false } }),
            json!({ "tags": "a" }),
            json!({ "tags": { "$contains": "b" } }),
            json!({ "tags": { "$gt": 2 } }),
            json!({ "tags": { "$nin": ["c", 4] } }),
            json!({ "none": null }),
            json!({ "missing": null }),
            json!({ "missing": { "$ne": 1 } }),
            json!({ "empty": { "$exists": false } }),
            json!({ "nested": { "$exists": false } }),
            json!({ "long": { "$exists": false } }),
            json!({ "year": { "$exists": true } }),
            json!({ "year": { "$not": { "$lt": 2024 } } }),
            json!({ "$or": [{ "year": 1 }, { "lang": "de" }] }),
            json!({ "$and": [{ "year": 2024 }, { "$not": { "lang": "fr" } }] }),
            json!({ "$nor": [{ "year": 1 }, { "lang": "fr" }] }),
            // Exact: as floats, both are the same.
            json!({ "whole": { "$gt": 9_007_199_254_740_992_i64 } }),
            json!({ "whole": { "$gt": 9_007_199_254_740_992.0 } }),
        ] {
            assert!(passes(given.clone()), "{given}");
        }
        for given in [
            json!({ "year": "2024" }),
            json!({ "draft": 1 }),
            json!({ "year": { "$lt": "3" } }),
            json!({ "lang": { "$lt": 9 } }),
            json!({ "tags": { "$ne": "a" } }),
            json!({ "tags": { "$in": [] } }),
            json!({ "missing": { "$gt": 0 } }),
            json!({ "year": 2024, "lang": "fr" }),
            json!({ "whole": 9_007_199_254_740_992.0 }),
            json!({ "year": { "$lt": -1e300 } }),
        ] {
            assert!(!passes(given.clone()), "{given}");
        }
        let without = MetadataFilter::parse(&json!({ "year": { "$ne": 1 } })).unwrap();
        assert!(without.allows(None) && !MetadataFilter::parse(&json!({ "year": 1 })).unwrap().allows(None));
    }

    /// 47.3: what no condition is, is said with what may stand there.
    #[test]
    fn a_wrong_condition_is_refused() {
        let why = |given: Value| MetadataFilter::parse(&given).unwrap_err().to_string();
        assert!(why(json!("year")).contains("must be an object"));
        assert!(why(json!({ "year": {} })).contains("$gte"));
        assert!(why(json!({ "year": { "gte": 1 } })).contains("unknown operator \"gte\" of \"year\""));
        assert!(why(json!({ "$gte": 1 })).contains("unknown operator \"$gte\""));
        assert!(why(json!({ "year": [1, 2] })).contains("$in"));
        assert!(why(json!({ "year": { "$gt": true } })).contains("a number, or a text"));
        assert!(why(json!({ "year": { "$in": 1 } })).contains("must be a list"));
        assert!(why(json!({ "year": { "$eq": [1] } })).contains("$eq of \"year\""));
        assert!(why(json!({ "year": { "$exists": 1 } })).contains("true or false"));
        assert!(why(json!({ "$or": [] })).contains("$or must be a list"));
        let deep = (0..99).fold(json!({ "year": 1 }), |inner, _| json!({ "$not": inner }));
        assert!(why(deep).contains("nested more than 16 deep"));
        let deep = (0..99).fold(json!({ "$gt": 1 }), |inner, _| json!({ "$not": inner }));
        assert!(why(json!({ "year": deep })).contains("nested more than 16 deep"));
        assert!(why(json!({ "$or": [{}] })).contains("an empty object"));
        let many = vec![json!({ "year": { "$gt": 1 } }); 33];
        assert!(why(json!({ "$or": many })).contains("has 33 comparisons by order; at most 32"));
        assert!(why(json!({ "year": "x".repeat(1_025) })).contains("a text of 1025 bytes; at most 1024"));
        let many: Vec<_> = (0..300).collect();
        assert!(why(json!({ "year": { "$in": many } })).contains("has 300 comparisons; at most 256"));
    }
}
