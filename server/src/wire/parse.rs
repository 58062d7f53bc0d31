//! JSON to parameters, with errors that name the field and its valid values: the model that reads them tries again.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};

use super::forms::adapt_values;

/// Parses parameters `P` as models and programs write them ([`adapt_values`]).
pub fn parse<P: DeserializeOwned + JsonSchema + 'static>(mut arguments: Map<String, Value>) -> Result<P, String> {
    adapt_values::<P>(&mut arguments);
    parse_exactly(arguments)
}

/// Parses `T` from an object. Many clients send null for omitted fields, so a null that `T` does not accept counts as
/// absent, at any depth; a required field is missing then.
pub fn parse_exactly<T: DeserializeOwned>(object: Map<String, Value>) -> Result<T, String> {
    let mut value = Value::Object(object);
    loop {
        match serde_path_to_error::deserialize(&value) {
            Ok(params) => return Ok(params),
            Err(error) => {
                let why = error.inner().to_string();
                // An unknown name is a mistake whatever its value is.
                if why.starts_with("unknown field") || !remove_null(&mut value, error.path()) {
                    return Err(named(error.path(), why));
                }
            }
        }
    }
}

/// Removes the field at `path` if it is null. Returns whether it was.
fn remove_null(value: &mut Value, path: &Path) -> bool {
    let segments: Vec<&Segment> = path.iter().collect();
    let Some((Segment::Map { key }, parents)) = segments.split_last() else { return false };
    let parent = parents.iter().try_fold(value, |value, segment| match segment {
        Segment::Map { key } => value.get_mut(key),
        Segment::Seq { index } => value.get_mut(index),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    match parent {
        Some(Value::Object(fields)) if fields.get(key).is_some_and(Value::is_null) => {
            fields.shift_remove(key).is_some()
        }
        _ => false,
    }
}

/// The error text, with the name of the field.
fn named(path: &Path, why: String) -> String {
    let why = why.replace("expected f64", "expected a number");
    match path.iter().next_back() {
        None => why,
        Some(Segment::Map { key }) if why.contains(&format!("`{key}`")) => why,
        Some(_) => format!("{path}: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::params::{AddParams, SearchParams, UpdateParams};
    use super::super::values::Patch;
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
        let Value::Object(object) = value else { panic!("not an object") };
        parse_exactly(object)
    }

    fn refusal<T: DeserializeOwned>(value: Value) -> String {
        read::<T>(value).err().expect("it must be refused")
    }

    #[test]
    fn an_error_names_its_field() {
        let error = refusal::<AddParams>(json!({ "content": "x", "confidence": "high" }));
        assert!(error.starts_with("confidence: invalid type"), "{error}");
        let error = refusal::<AddParams>(json!({ "content": 7 }));
        assert!(error.starts_with("content: invalid type"), "{error}");
        let error = refusal::<AddParams>(json!({ "content": "x", "entryType": "rumour" }));
        assert!(error.starts_with("entryType: unknown variant `rumour`, expected one of `fact`"), "{error}");
        let error = refusal::<SearchParams>(json!({ "query": "x", "createdAfter": "whenever" }));
        assert!(error.starts_with("createdAfter: \"whenever\" is not a time"), "{error}");
        let error = refusal::<SearchParams>(json!({ "query": "x", "tags": ["a", 7] }));
        assert!(error.starts_with("tags[1]: invalid type"), "{error}");
    }

    /// Two with the same mistake: the first is named, and once it is right the other.
    #[test]
    fn with_several_wrong_fields_the_right_one_is_named() {
        let error = refusal::<SearchParams>(json!({ "query": "x", "mode": null, "limit": "ten", "maxTokens": "ten" }));
        assert!(error.starts_with("limit: invalid type"), "{error}");
        let error = refusal::<SearchParams>(json!({ "query": "x", "limit": 10, "mode": null, "maxTokens": "ten" }));
        assert!(error.starts_with("maxTokens: invalid type"), "{error}");
    }

    #[test]
    fn missing_and_unknown_fields_are_named_once() {
        assert_eq!(refusal::<AddParams>(json!({})), "missing field `content`");
        let error = refusal::<SearchParams>(json!({ "query": "x", "maxResults": 3 }));
        assert!(error.starts_with("unknown field `maxResults`, expected one of `query`, `mode`, `limit`"), "{error}");
        let error = refusal::<SearchParams>(json!({ "query": "x", "maxResults": null }));
        assert!(error.starts_with("unknown field `maxResults`"), "{error}");
    }

    #[test]
    fn null_is_absent_unless_it_has_a_meaning() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Inner {
            #[serde(default)]
            flag: bool,
            name: String,
        }
        #[derive(Debug, Deserialize)]
        struct Outer {
            #[serde(default)]
            number: i64,
            inner: Vec<Inner>,
        }
        let outer: Outer = read(json!({ "number": null, "inner": [{ "flag": null, "name": "x" }] })).unwrap();
        assert_eq!((outer.number, outer.inner), (0, vec![Inner { flag: false, name: "x".into() }]));
        let error = refusal::<Outer>(json!({ "number": null, "inner": [{ "flag": null, "name": null }] }));
        assert_eq!(error, "inner[0]: missing field `name`");
        assert_eq!(refusal::<AddParams>(json!({ "content": null, "tags": null })), "missing field `content`");
        let error = refusal::<SearchParams>(json!({ "query": "x", "tags": [null] }));
        assert!(error.starts_with("tags[0]: invalid type: null"), "{error}");
        let update: UpdateParams = read(json!({ "id": 1, "content": null, "context": null })).unwrap();
        assert_eq!((update.content, update.context), (None, Patch::Null));
    }
}
