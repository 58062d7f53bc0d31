//! The bodies of records: the fields that a contact, a project, a decision, ... has beside its text.
//!
//! The table of [`fields`] defines what a body may contain; one validator reads it. The field names are those of the
//! systems that memorist replaces, so that their bodies are accepted unchanged.
//!
//! | file | job |
//! |---|---|
//! | `bounds.rs` | how large a body may be |
//! | `fields.rs` | the table |
//! | `check.rs` | the validator |
//! | `text.rs` | a body as text |

mod bounds;
mod check;
mod fields;
mod text;

use std::slice;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::types::{Kind, RecordId};

pub use bounds::{
    MAX_BODY_BYTES, MAX_DEPTH, MAX_ITEMS, MAX_METADATA, MAX_TEXT_BYTES, METADATA, NO_METADATA, ULID_PREFIX,
};
pub use fields::{Field, Need, Shape, fields};

/// The body of a record: a JSON object that its kind allows, with defaults filled in and in the table's order.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Body {
    #[serde(skip)]
    kind: Kind,
    fields: Map<String, Value>,
}

impl Body {
    /// The body of a record of `kind`. A null field counts as omitted, except in a profile, whose keys are free.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the first field that is wrong (`body.type`), or `body`, and says what is allowed.
    pub fn new(kind: Kind, value: Value) -> Result<Body> {
        let body = Body { kind, fields: check::check(kind, value)? };
        let length = body.to_json().len();
        if length > MAX_BODY_BYTES {
            return Err(Error::invalid(
                "body",
                format!("is {length} bytes of JSON; at most {MAX_BODY_BYTES} are kept"),
            ));
        }
        Ok(body)
    }

    /// A body as [`Body::to_json`] wrote it. Its fields are not checked again: what an older or newer version stored
    /// must stay readable.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not a JSON object.
    pub(crate) fn from_stored(kind: Kind, json: &str) -> Result<Body> {
        let fields = serde_json::from_str(json)
            .map_err(|error| Error::invalid("body", format!("the stored body is not a JSON object: {error}")))?;
        Ok(Body { kind, fields })
    }

    /// The form that is stored: compact JSON.
    pub(crate) fn to_json(&self) -> String {
        self.clone().into_value().to_string()
    }

    /// The text of an unchecked body, as in an export.
    pub(crate) fn text_of_unchecked(kind: Kind, body: &Value) -> Option<String> {
        Body { kind, fields: body.as_object()?.clone() }.text()
    }

    /// As JSON.
    pub fn into_value(self) -> Value {
        Value::Object(self.fields)
    }

    /// As JSON without what only a task has; `None` if nothing else is left.
    pub(crate) fn without_task(mut self) -> Option<Value> {
        self.fields.retain(|name, _| !Body::is_of_tasks(name));
        (!self.fields.is_empty()).then(|| self.into_value())
    }

    /// Whether it has metadata and nothing that its kind has beside the text.
    pub fn is_metadata_alone(&self) -> bool {
        self.kind != Kind::Profile && !self.fields.is_empty() && self.fields.keys().all(|name| name == METADATA)
    }

    /// Whether only a task has the field of this name.
    pub(crate) fn is_of_tasks(name: &str) -> bool {
        fields::TASK_ALONE.contains(&name)
    }

    /// The kind that it was checked for.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its fields, in the table's order.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// The field of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// The text of a record that has a body and no content: it is indexed and embedded. `None` if the body contains no
    /// text.
    pub fn text(&self) -> Option<String> {
        text::render(self.kind, &self.fields)
    }

    /// The records that it refers to, each with the field (`body.participants`) in which it does.
    pub fn references(&self) -> Vec<(&'static str, RecordId)> {
        let mut found = Vec::new();
        for field in referring(self.kind) {
            let ids = match self.get(field.name) {
                Some(Value::Array(items)) => items.as_slice(),
                Some(one) => slice::from_ref(one),
                None => &[],
            };
            found.extend(ids.iter().filter_map(Value::as_i64).map(|id| (field.path, id.into())));
        }
        found
    }
}

/// Replaces each reference to a record in a body of `kind`, stored or exported, by the result of `replace`: an id, or
/// [`ULID_PREFIX`] and a ULID. References without a result are removed. An export turns ids into ULIDs, an import the
/// reverse.
///
/// # Errors
/// The first of `replace`; the body is unusable then.
pub(crate) fn replace_references<E>(
    kind: Kind,
    body: &mut Value,
    mut replace: impl FnMut(&Value) -> Result<Option<Value>, E>,
) -> Result<(), E> {
    let Value::Object(map) = body else { return Ok(()) };
    for field in referring(kind) {
        match map.get_mut(field.name) {
            Some(Value::Array(items)) => {
                let mut kept = Vec::with_capacity(items.len());
                for item in std::mem::take(items) {
                    kept.extend(if is_reference(&item) { replace(&item)? } else { Some(item) });
                }
                *items = kept;
            }
            Some(one) if is_reference(one) => match replace(one)? {
                Some(replaced) => *one = replaced,
                None => drop(map.shift_remove(field.name)),
            },
            _ => {}
        }
    }
    Ok(())
}

fn is_reference(value: &Value) -> bool {
    value.is_i64() || value.as_str().is_some_and(|text| text.starts_with(ULID_PREFIX))
}

/// The fields of a kind that may refer to records.
fn referring(kind: Kind) -> impl Iterator<Item = &'static Field> {
    fields(kind).iter().filter(|field| matches!(field.shape, Shape::Record | Shape::People))
}

#[cfg(test)]
mod tests;
