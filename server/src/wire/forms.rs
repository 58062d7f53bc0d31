//! Values of parameters in the form that the schema has: `"#12"` for 12, a text for a list of one, "High" for "high", 42 for a
//! text. Models write "null", "" or an empty list for what they leave out. Values change only where there is one meaning.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::schema::{EMPTY, VERBATIM, parameters};

/// Other words for the states of a task.
const STATES: [(&str, &[&str]); 3] = [
    ("open", &["todo", "to do", "pending", "in progress", "in_progress", "active"]),
    ("done", &["completed", "complete", "finished", "closed", "resolved"]),
    ("dropped", &["cancelled", "canceled", "abandoned", "rejected", "won't do"]),
];

/// The forms of the parameters of a tool.
pub(super) struct Forms {
    /// The schema of each parameter.
    pub properties: Map<String, Value>,
    required: Vec<String>,
}

impl Forms {
    /// The forms of parameters `P`, which are computed once.
    pub fn of<P: JsonSchema + 'static>() -> Arc<Self> {
        static KNOWN: LazyLock<Mutex<HashMap<TypeId, Arc<Forms>>>> = LazyLock::new(Mutex::default);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(TypeId::of::<P>()).or_insert_with(|| Arc::new(Forms::from(parameters::<P>()))).clone()
    }

    fn apply(&self, arguments: &mut Map<String, Value>) {
        arguments.retain(|name, value| {
            let Some(schema) = self.properties.get(name) else { return true };
            if schema.get(EMPTY).is_some_and(|meaning| meaning == VERBATIM) && value.is_string() {
                return true;
            }
            adapt(value, schema);
            if !self.required.contains(name) && is_left_out(value, schema) {
                match schema.get(EMPTY).and_then(Value::as_str) {
                    Some("null") if *value == "" => *value = Value::Null,
                    Some("kept") if value.is_array() => {}
                    _ => return false,
                }
            }
            match (name.as_str(), &mut *value) {
                ("entryType", Value::String(kind)) => *kind = kind.trim().to_lowercase(),
                ("status", Value::String(status)) => {
                    let said = status.trim().to_lowercase();
                    let state = STATES.iter().find(|(_, words)| words.contains(&said.as_str()));
                    *status = state.map_or(said, |(state, _)| (*state).to_owned());
                }
                _ => {}
            }
            true
        });
    }
}

impl From<Map<String, Value>> for Forms {
    fn from(mut schema: Map<String, Value>) -> Self {
        let properties = match schema.remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        };
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        Forms { properties, required: required.filter_map(|name| name.as_str().map(str::to_owned)).collect() }
    }
}

/// Brings the values of parameters `P` into the form that the schema has.
pub fn adapt_values<P: JsonSchema + 'static>(arguments: &mut Map<String, Value>) {
    Forms::of::<P>().apply(arguments);
}

/// Whether null has a meaning for this parameter of `P`, other than that it is left out.
pub fn is_nullable<P: JsonSchema + 'static>(name: &str) -> bool {
    Forms::of::<P>().properties.get(name).and_then(|schema| schema.get(EMPTY)).is_some_and(|meaning| meaning == "null")
}

/// Whether an optional parameter counts as left out. Entries of a list that count as left out are removed.
fn is_left_out(value: &mut Value, schema: &Value) -> bool {
    match value {
        Value::String(text) => is_nothing(text),
        Value::Array(items) => {
            items.retain(|item| item.as_str().is_none_or(|text| !is_nothing(text)));
            items.is_empty()
        }
        Value::Number(number) => number.as_i64() == Some(0) && schema["minimum"].as_i64() >= Some(1),
        _ => false,
    }
}

/// Whether a text is one that models write for a value that they leave out.
fn is_nothing(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text == "None" || ["null", "undefined"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The types that a value may have, without null.
fn types_of(schema: &Value) -> Vec<&str> {
    match schema.get("anyOf").and_then(Value::as_array) {
        Some(choices) => choices.iter().flat_map(types_of).collect(),
        None => schema["type"].as_str().filter(|name| *name != "null").into_iter().collect(),
    }
}

/// Brings a value into the form of its schema.
fn adapt(value: &mut Value, schema: &Value) {
    let types = types_of(schema);
    let is_one = |name: &str| types == [name];
    match value {
        Value::String(text) if is_one("integer") => {
            let digits =
                text.trim().trim_start_matches("memory").trim_start_matches("://").trim().trim_start_matches('#');
            if let Ok(number) = digits.parse::<i64>() {
                *value = number.into();
            }
        }
        Value::String(text) if is_one("number") => {
            if let Ok(number) = text.trim().parse::<f64>()
                && number.is_finite()
            {
                *value = number.into();
            }
        }
        Value::String(text) if is_one("boolean") => match text.trim().to_lowercase().as_str() {
            "true" | "yes" => *value = true.into(),
            "false" | "no" => *value = false.into(),
            _ => {}
        },
        Value::String(text) if is_one("array") => {
            let listed = serde_json::from_str::<Value>(text).ok().filter(Value::is_array);
            if listed.is_none() && schema.pointer("/items/type").is_some_and(|of| of == "object") {
                return;
            }
            let split = || text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().into();
            *value = listed.unwrap_or_else(split);
            adapt_items(value, schema);
        }
        Value::String(text) if is_one("object") || text.trim_start().starts_with('{') && types.contains(&"object") => {
            if let Ok(object @ Value::Object(_)) = serde_json::from_str(text) {
                *value = object;
            }
        }
        Value::Number(_) | Value::Bool(_) if is_one("string") => *value = value.to_string().into(),
        Value::Number(_) if is_one("array") => {
            *value = Value::Array(vec![value.take()]);
            adapt_items(value, schema);
        }
        Value::Array(items) if is_one("integer") && items.len() == 1 => {
            *value = items.remove(0);
            adapt(value, schema);
        }
        Value::Array(_) if is_one("array") => adapt_items(value, schema),
        Value::String(text) => {
            let names = names_of(schema);
            let wanted = text.trim().to_lowercase();
            let same = |name: &&str| **name == wanted || wanted.strip_suffix('s') == Some(name);
            if let Some(name) = names.into_iter().find(same) {
                *value = name.into();
            } else if types.contains(&"integer")
                && let Ok(number) = text.trim().parse::<i64>()
            {
                *value = number.into();
            }
        }
        _ => {}
    }
}

/// The words that a value may be.
fn names_of(schema: &Value) -> Vec<&str> {
    let own = schema.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let choices = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    own.chain(choices.flat_map(names_of)).collect()
}

fn adapt_items(value: &mut Value, schema: &Value) {
    if let (Value::Array(items), Some(of)) = (value, schema.get("items")) {
        items.iter_mut().for_each(|item| adapt(item, of));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::params::{AddParams, SearchParams, UpdateParams};
    use super::*;

    fn adapted<P: JsonSchema + 'static>(given: Value) -> Value {
        let Value::Object(mut arguments) = given else { panic!("not an object") };
        adapt_values::<P>(&mut arguments);
        // What is understood is not changed again.
        let once = arguments.clone();
        adapt_values::<P>(&mut arguments);
        assert_eq!(arguments, once);
        Value::Object(arguments)
    }

    /// 43.1: absent is meant.
    #[test]
    fn an_optional_parameter_without_a_meaning_is_left_out() {
        for nothing in [
            json!("null"),
            json!("NULL"),
            json!("undefined"),
            json!("None"),
            json!(" "),
            json!([]),
            json!(["null"]),
            json!(["", "None"]),
        ] {
            for name in ["tags", "source", "context", "status", "supersedes", "session", "body", "due", "importance"] {
                let given = json!({ "content": "x", name: nothing });
                assert_eq!(adapted::<AddParams>(given), json!({ "content": "x" }), "{name}: {nothing}");
            }
        }
        for (given, meant) in [
            (json!({ "query": "x", "limit": 0 }), json!({ "query": "x" })),
            (json!({ "query": "x", "limit": "0", "minScore": 0 }), json!({ "query": "x", "minScore": 0 })),
            (json!({ "query": "x", "tags": ["a", "", "null"] }), json!({ "query": "x", "tags": ["a"] })),
            (json!({ "query": 42, "tags": 7 }), json!({ "query": "42", "tags": ["7"] })),
            (json!({ "query": true }), json!({ "query": "true" })),
            (json!({ "query": "null" }), json!({ "query": "null" })),
        ] {
            assert_eq!(adapted::<SearchParams>(given), meant);
        }
    }

    /// 43.1: the schema says what an empty text means there.
    #[test]
    fn an_empty_name_is_global_and_an_empty_change_removes() {
        for project in [json!("null"), json!("None"), json!([])] {
            assert_eq!(adapted::<AddParams>(json!({ "content": "x", "project": project })), json!({ "content": "x" }));
        }
        let given = json!({ "content": "x", "project": "", "agent": null });
        assert_eq!(adapted::<AddParams>(given), json!({ "content": "x", "project": null, "agent": null }));
        let given = json!({ "id": 1, "context": "", "due": "", "validTo": "null", "content": "", "tags": [] });
        assert_eq!(adapted::<UpdateParams>(given), json!({ "id": 1, "context": null, "due": null, "tags": [] }));
    }
}
