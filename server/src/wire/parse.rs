//! JSON to parameters, with errors that name the field and what it may be: the model that reads them tries again.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Reads `T` from an object.
pub fn parse<T: DeserializeOwned>(object: Map<String, Value>) -> Result<T, String> {
    match serde_json::from_value(Value::Object(object.clone())) {
        Ok(params) => Ok(params),
        Err(error) => {
            let error = error.to_string();
            Err(match culprit::<T>(&object, &error) {
                Some(field) if !error.contains(&format!("`{field}`")) => format!("{field}: {error}"),
                _ => error,
            })
        }
    }
}

/// The field whose removal changes the error. Serde says what is wrong with a value, but not where it was.
fn culprit<T: DeserializeOwned>(object: &Map<String, Value>, error: &str) -> Option<String> {
    object.keys().find_map(|field| {
        let mut rest = object.clone();
        rest.remove(field);
        match serde_json::from_value::<T>(Value::Object(rest)) {
            Err(other) if other.to_string() == error => None,
            _ => Some(field.clone()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::params::{AddParams, SearchParams};
    use super::*;
    use serde_json::json;

    fn refusal<T: DeserializeOwned>(value: Value) -> String {
        let Value::Object(object) = value else { panic!("not an object") };
        parse::<T>(object).err().expect("it must be refused")
    }

    #[test]
    fn an_error_names_its_field() {
        let error = refusal::<AddParams>(json!({ "content": "x", "confidence": "high" }));
        assert!(error.starts_with("confidence: invalid type"), "{error}");
        let error = refusal::<AddParams>(json!({ "content": 7 }));
        assert!(error.starts_with("content: invalid type"), "{error}");
        let error = refusal::<AddParams>(json!({ "content": "x", "entryType": "rumour" }));
        assert!(error.starts_with("entryType: unknown variant `rumour`, expected one of `fact`"), "{error}");
        let error = refusal::<SearchParams>(json!({ "query": "x", "createdAfter": "yesterday" }));
        assert!(error.starts_with("createdAfter: \"yesterday\" is not a time"), "{error}");
    }

    #[test]
    fn missing_and_unknown_fields_are_named_once() {
        assert_eq!(refusal::<AddParams>(json!({})), "missing field `content`");
        let error = refusal::<SearchParams>(json!({ "query": "x", "maxResults": 3 }));
        assert!(error.starts_with("unknown field `maxResults`, expected one of `query`, `mode`, `limit`"), "{error}");
    }
}
