//! The validator: checks a value against the table of fields.

use std::result::Result as StdResult;

use serde_json::{Map, Number, Value};

use super::bounds::{MAX_DEPTH, MAX_ITEMS, MAX_METADATA, MAX_TEXT_BYTES, METADATA, ULID_PREFIX};
use super::fields::{Field, Need, Shape, fields};
use crate::error::{Error, Result};
use crate::types::{Kind, MAX_LABEL_BYTES, MIN_PLAUSIBLE_MILLIS};

/// The result of a check; the error is text that follows the name of the field.
type Checked = StdResult<(), String>;

/// The fields of a body of `kind`, checked, in the table's order and with the defaults.
pub(super) fn check(kind: Kind, value: Value) -> Result<Map<String, Value>> {
    if kind == Kind::Chunk {
        return Err(Error::invalid("body", "a chunk has none"));
    }
    match value {
        Value::Object(given) if kind == Kind::Profile => {
            check_members(&given, 1).map_err(|why| Error::invalid("body", why))?;
            Ok(given)
        }
        Value::Object(given) => check_table(kind, given),
        other => Err(Error::invalid("body", mismatch("an object", &other))),
    }
}

fn check_table(kind: Kind, mut given: Map<String, Value>) -> Result<Map<String, Value>> {
    let table = fields(kind);
    if let Some(unknown) = given.keys().find(|name| table.iter().all(|field| field.name != name.as_str())) {
        let article = if kind.as_str().starts_with(['e', 'i']) { "an" } else { "a" };
        let names: Vec<_> = table.iter().map(|field| field.name).collect();
        let why = format!("unknown field {unknown:?} of {article} {kind}; it has {}", names.join(", "));
        return Err(Error::invalid("body", why));
    }
    // A record of any kind may have metadata and no other field.
    let is_given = |name: &str| given.get(name).is_some_and(|value| !value.is_null());
    let has_own = !is_given(METADATA) || given.keys().any(|name| name != METADATA && is_given(name));
    let mut whole = Map::new();
    for field in table {
        let default = || field.shape.default_value().filter(|_| has_own);
        match given.remove(field.name).filter(|value| !value.is_null()).or_else(default) {
            Some(value) => {
                check_value(field.shape, &value).map_err(|why| Error::invalid(field.path, why))?;
                whole.insert(field.name.to_owned(), value);
            }
            None if has_own && is_needed(field, &whole) => return Err(Error::invalid(field.path, "is missing")),
            None => {}
        }
    }
    Ok(whole)
}

fn is_needed(field: &Field, before: &Map<String, Value>) -> bool {
    match field.need {
        Need::Required => true,
        Need::With(other) => before.contains_key(other),
        Need::Optional => false,
    }
}

fn check_value(shape: Shape, value: &Value) -> Checked {
    match (shape, value) {
        (Shape::Label, Value::String(text)) => check_text(text, MAX_LABEL_BYTES),
        (Shape::Text, Value::String(text)) => check_text(text, MAX_TEXT_BYTES),
        (Shape::Choice { of, .. }, Value::String(word)) => check_choice(word, of),
        (Shape::Flag { .. }, Value::Bool(_)) => Ok(()),
        (Shape::Count { .. } | Shape::Record, Value::Number(number)) => check_positive(number),
        (Shape::Time, Value::Number(number)) => check_time(number),
        (Shape::Labels, Value::Array(items)) => check_items(items, |item| check_value(Shape::Label, item)),
        (Shape::People, Value::Array(items)) => check_items(items, check_person),
        (Shape::Object, Value::Object(_)) | (Shape::Structure, Value::Object(_) | Value::Array(_)) => {
            check_json(value, 1)
        }
        (Shape::Metadata, Value::Object(members)) => check_metadata(members),
        _ => Err(mismatch(shape.description(), value)),
    }
}

fn check_text(text: &str, most: usize) -> Checked {
    if text.trim().is_empty() {
        return Err("is empty".into());
    }
    if text.len() > most {
        return Err(format!("is {} bytes long; at most {most}: shorten it", text.len()));
    }
    check_nul(text)
}

fn check_nul(text: &str) -> Checked {
    if text.contains('\0') { Err("contains a NUL character; remove it".into()) } else { Ok(()) }
}

fn check_choice(word: &str, of: &[&str]) -> Checked {
    if of.contains(&word) { Ok(()) } else { Err(format!("unknown {word:?}; use one of {}", of.join(", "))) }
}

fn check_positive(number: &Number) -> Checked {
    match number.as_i64() {
        Some(1..) => Ok(()),
        Some(_) => Err(format!("{number} is less than 1")),
        None => Err(format!("{number} is not a whole number below 2^63")),
    }
}

fn check_time(number: &Number) -> Checked {
    match number.as_i64() {
        Some(MIN_PLAUSIBLE_MILLIS..) => Ok(()),
        _ => Err(format!("{number} is not a time in Unix milliseconds")),
    }
}

fn check_items(items: &[Value], check: impl Fn(&Value) -> Checked) -> Checked {
    if items.len() > MAX_ITEMS {
        return Err(format!("has {} entries; at most {MAX_ITEMS}", items.len()));
    }
    (1..).zip(items).try_for_each(|(place, item)| check(item).map_err(|why| format!("entry {place}: {why}")))
}

fn check_person(item: &Value) -> Checked {
    match item {
        // In an export this is a reference: the next import would read a name like this as one.
        Value::String(name) if name.starts_with(ULID_PREFIX) => {
            Err(format!("{ULID_PREFIX} stands for a memory in an export; give its id"))
        }
        Value::String(name) => check_text(name, MAX_LABEL_BYTES),
        Value::Number(id) => check_positive(id),
        other => Err(mismatch("a text or an id", other)),
    }
}

/// Free JSON that is nested within `around` objects and lists.
fn check_json(value: &Value, around: usize) -> Checked {
    match value {
        Value::String(text) => check_nul(text),
        Value::Array(_) | Value::Object(_) if around == MAX_DEPTH => {
            Err(format!("is nested too deep; a body is at most {MAX_DEPTH} deep"))
        }
        Value::Array(items) => items.iter().try_for_each(|item| check_json(item, around + 1)),
        Value::Object(members) => check_members(members, around + 1),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn check_members(members: &Map<String, Value>, around: usize) -> Checked {
    members.iter().try_for_each(|(name, value)| check_nul(name).and_then(|()| check_json(value, around)))
}

/// Keys are labels that no operator of a condition is called by.
fn check_metadata(members: &Map<String, Value>) -> Checked {
    let counts = members.values().map(|value| value.as_array().map_or(1, |items| items.len().max(1)));
    let count: usize = counts.sum();
    if count > MAX_METADATA {
        return Err(format!("has {count} values; at most {MAX_METADATA}"));
    }
    members.iter().try_for_each(|(key, value)| {
        let of_key = |why| format!("key {key:?}: {why}");
        check_text(key, MAX_LABEL_BYTES).map_err(of_key)?;
        if key.starts_with('$') {
            return Err(of_key("begins with $, as the operators of a condition do".to_owned()));
        }
        if let Value::String(text) = value
            && text.len() > MAX_TEXT_BYTES
        {
            return Err(of_key(format!("is {} bytes long; at most {MAX_TEXT_BYTES}", text.len())));
        }
        check_json(value, 2).map_err(of_key)
    })
}

fn mismatch(wanted: &str, given: &Value) -> String {
    let given = match given {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("must be {wanted}, not {given}")
}
