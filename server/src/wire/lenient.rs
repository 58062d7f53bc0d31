//! Arguments as models write them, in the form that the schema asks for: `"#12"` for 12, a text for a list of one, "High"
//! for "high", `type` for `entryType`, `from_id` for `fromId`. Only where there is one meaning. A name that means nothing is
//! refused with the nearest one.

use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::input_schema;

/// Other names of parameters, each with what it may stand for: the first that the tool has.
const NAMES: [(&str, &[&str]); 17] = [
    ("q", &["query"]),
    ("type", &["entryType", "entryTypes", "linkType"]),
    ("kind", &["entryType", "entryTypes"]),
    ("category", &["entryType", "entryTypes"]),
    ("entryType", &["entryTypes"]),
    ("types", &["entryTypes"]),
    ("entryTypes", &["entryType"]),
    ("text", &["content", "query"]),
    ("memory", &["content"]),
    ("tag", &["tags"]),
    ("ids", &["id"]),
    ("memoryId", &["id"]),
    ("from", &["fromId"]),
    ("to", &["toId"]),
    ("since", &["updatedAfter", "createdAfter"]),
    ("dueDate", &["due"]),
    ("maxResults", &["limit"]),
];

/// Other words for the states of a task.
const STATES: [(&str, &[&str]); 3] = [
    ("open", &["todo", "to do", "pending", "in progress", "in_progress", "active"]),
    ("done", &["completed", "complete", "finished", "closed", "resolved"]),
    ("dropped", &["cancelled", "canceled", "abandoned", "rejected", "won't do"]),
];

/// How like a name must be to one that there is.
const LIKE: f64 = 0.8;

/// Changes arguments of a tool with parameters `P` where their meaning is plain.
///
/// # Errors
/// Names a parameter that the tool has not, with the nearest that it has.
pub fn lenient<P: JsonSchema>(arguments: &mut Map<String, Value>) -> Result<(), String> {
    let schema = input_schema::<P>();
    let Some(Value::Object(properties)) = schema.get("properties") else { return Ok(()) };
    for name in arguments.keys().cloned().collect::<Vec<_>>() {
        let camel = camel_case(&name);
        let is_free = properties.contains_key(&camel) && !arguments.contains_key(&camel);
        if !properties.contains_key(&name)
            && is_free
            && let Some(value) = arguments.shift_remove(&name)
        {
            arguments.insert(camel, value);
        }
    }
    for (name, meanings) in NAMES {
        if properties.contains_key(name) || !arguments.contains_key(name) {
            continue;
        }
        let meaning = meanings.iter().find(|meaning| properties.contains_key(**meaning));
        if let Some(meaning) = meaning.filter(|meaning| !arguments.contains_key(**meaning))
            && let Some(value) = arguments.shift_remove(name)
        {
            arguments.insert((*meaning).to_owned(), value);
        }
    }
    for (name, value) in arguments.iter_mut() {
        if let Some(schema) = properties.get(name) {
            match (name.as_str(), &mut *value) {
                ("entryType", Value::String(kind)) => *kind = kind.trim().to_lowercase(),
                ("status", Value::String(status)) => {
                    let said = status.trim().to_lowercase();
                    let state = STATES.iter().find(|(_, words)| words.contains(&said.as_str()));
                    *status = state.map_or(said, |(state, _)| (*state).to_owned());
                }
                _ => {}
            }
            adapt(value, schema);
        }
    }
    match arguments.keys().find(|name| !properties.contains_key(*name)) {
        None => Ok(()),
        Some(unknown) => Err(unknown_name(unknown, properties)),
    }
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        camel.push_str(letters.as_str());
    }
    camel
}

fn unknown_name(name: &str, properties: &Map<String, Value>) -> String {
    let likeness = |known: &str| strsim::jaro_winkler(&known.to_lowercase(), &name.to_lowercase());
    let nearest = properties.keys().map(|known| (likeness(known), known));
    match nearest.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(likeness, _)| *likeness >= LIKE) {
        Some((_, known)) => format!("unknown parameter {name:?}; did you mean {known:?}?"),
        None => format!("unknown parameter {name:?}; the tool's schema names those that it has"),
    }
}

/// Brings a value into the form of its schema.
fn adapt(value: &mut Value, schema: &Value) {
    let types: Vec<&str> = match schema.get("anyOf").and_then(Value::as_array) {
        Some(choices) => choices.iter().filter_map(|choice| choice["type"].as_str()).collect(),
        None => schema["type"].as_str().into_iter().collect(),
    };
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
            let names = schema.get("enum").into_iter().chain(choices_of(schema)).filter_map(Value::as_array).flatten();
            let wanted = text.trim().to_lowercase();
            let same = |name: &&str| **name == wanted || wanted.strip_suffix('s') == Some(name);
            if let Some(name) = names.filter_map(Value::as_str).find(same) {
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

fn choices_of(schema: &Value) -> impl Iterator<Item = &Value> {
    schema.get("anyOf").and_then(Value::as_array).into_iter().flatten().filter_map(|choice| choice.get("enum"))
}

fn adapt_items(value: &mut Value, schema: &Value) {
    if let (Value::Array(items), Some(of)) = (value, schema.get("items")) {
        items.iter_mut().for_each(|item| adapt(item, of));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::params::{AddParams, DeleteParams, SearchParams};
    use super::super::{LinkParams, parse};
    use super::*;

    fn adapted<P: JsonSchema>(given: Value) -> Value {
        let Value::Object(mut arguments) = given else { panic!("not an object") };
        lenient::<P>(&mut arguments).unwrap();
        Value::Object(arguments)
    }

    #[test]
    fn what_models_write_is_understood() {
        for (given, meant) in [
            (json!({ "content": "x", "type": "Preference" }), json!({ "content": "x", "entryType": "preference" })),
            (
                json!({ "content": "x", "tags": "ui, dark mode" }),
                json!({ "content": "x", "tags": ["ui", "dark mode"] }),
            ),
            (json!({ "content": "x", "tags": "[\"a,b\"]" }), json!({ "content": "x", "tags": ["a,b"] })),
            (json!({ "content": "x", "confidence": "0.9" }), json!({ "content": "x", "confidence": 0.9 })),
            (json!({ "content": "x", "importance": "8" }), json!({ "content": "x", "importance": 8 })),
            (json!({ "content": "x", "importance": "High" }), json!({ "content": "x", "importance": "high" })),
            (json!({ "content": "x", "supersedes": "#3" }), json!({ "content": "x", "supersedes": [3] })),
            (json!({ "content": "x", "related": 3 }), json!({ "content": "x", "related": [3] })),
            (json!({ "text": "12" }), json!({ "content": "12" })),
            (json!({ "content": "x", "valid_from": "7d" }), json!({ "content": "x", "validFrom": "7d" })),
            (json!({ "content": "x", "status": "Completed" }), json!({ "content": "x", "status": "done" })),
            (
                json!({ "content": "x", "body": "{\"name\": \"Ada\"}" }),
                json!({ "content": "x", "body": { "name": "Ada" } }),
            ),
        ] {
            assert_eq!(adapted::<AddParams>(given), meant);
        }
        for (given, meant) in [
            (json!({ "query": "x", "entryType": "Decisions" }), json!({ "query": "x", "entryTypes": ["decision"] })),
            (json!({ "query": "x", "type": "fact" }), json!({ "query": "x", "entryTypes": ["fact"] })),
            (
                json!({ "query": "x", "limit": "5", "explain": "true" }),
                json!({ "query": "x", "limit": 5, "explain": true }),
            ),
            (json!({ "query": "12" }), json!({ "query": "12" })),
        ] {
            assert_eq!(adapted::<SearchParams>(given), meant);
        }
        for id in [json!("1"), json!("#1"), json!("memory://1"), json!("memory 1"), json!([1]), json!(["#1"]), json!(1)]
        {
            assert_eq!(adapted::<DeleteParams>(json!({ "id": id })), json!({ "id": 1 }));
        }
        assert_eq!(adapted::<DeleteParams>(json!({ "ids": [7] })), json!({ "id": 7 }));
        let link = json!({ "from": "#1", "to": "2", "type": "Supersedes" });
        assert_eq!(adapted::<LinkParams>(link), json!({ "fromId": 1, "toId": 2, "linkType": "supersedes" }));
    }

    #[test]
    fn what_is_unclear_stays_and_is_refused() {
        for unclear in [
            json!({ "id": "1 or 2" }),
            json!({ "ids": [1, 2] }),
            json!({ "id": "" }),
            json!({ "id": 1, "memoryId": 2 }),
            json!({ "id": "99999999999999999999" }),
        ] {
            let Value::Object(mut arguments) = unclear.clone() else { panic!("an object") };
            let understood = lenient::<DeleteParams>(&mut arguments);
            assert!(understood.is_err() || parse::<DeleteParams>(arguments).is_err(), "{unclear}");
        }
        for (given, why) in [
            (json!({ "content": "x", "type": "fact", "entryType": "task" }), "unknown parameter \"type\"; "),
            (
                json!({ "content": "x", "improtance": 3 }),
                "unknown parameter \"improtance\"; did you mean \"importance\"?",
            ),
            (json!({ "content": "x", "colour": "red" }), "unknown parameter \"colour\"; the tool's schema"),
        ] {
            let Value::Object(mut arguments) = given else { panic!("an object") };
            let refused = lenient::<AddParams>(&mut arguments).unwrap_err();
            assert!(refused.starts_with(why), "{refused}");
        }
    }
}
