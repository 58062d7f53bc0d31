//! Parameters under other names than the schema's, as models write them: `type` for `entryType`, `from_id` for `fromId`. A name that
//! means nothing is refused with the nearest one. What their values may look like is in `forms.rs`.
//!
//! For our own answers as text, a call goes through [`lenient`], [`check_names`] and `parse.rs`, each once.

use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::forms::{Forms, adapt_values};

/// Other names of parameters, earlier ones of our own among them, each with what it may stand for: the first that the tool has.
const NAMES: [(&str, &[&str]); 20] = [
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
    ("neighbours", &["neighbors"]),
    ("only", &["state"]),
    ("order", &["sort"]),
];

/// How like a name must be to one that there is.
const LIKE: f64 = 0.8;

/// Gives the parameters of a tool with parameters `P` the names and the values of the schema, where the meaning is plain.
pub fn lenient<P: JsonSchema + 'static>(arguments: &mut Map<String, Value>) {
    // A name is free if its value counts as left out.
    adapt_values::<P>(arguments);
    rename::<P>(arguments);
    adapt_values::<P>(arguments);
}

/// Checks that a tool with parameters `P` has all of these.
///
/// # Errors
/// Names a parameter that it has not, with the nearest that it has.
pub fn check_names<P: JsonSchema + 'static>(arguments: &Map<String, Value>) -> Result<(), String> {
    let forms = Forms::of::<P>();
    match arguments.keys().find(|name| !forms.properties.contains_key(*name)) {
        None => Ok(()),
        Some(unknown) => Err(unknown_name(unknown, &forms.properties)),
    }
}

fn rename<P: JsonSchema + 'static>(arguments: &mut Map<String, Value>) {
    let forms = Forms::of::<P>();
    let properties = &forms.properties;
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
        None => format!("unknown parameter {name:?}; see the tool's schema"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::params::{AddParams, DeleteParams, ListParams, SearchParams};
    use super::super::{LinkParams, parse_exactly};
    use super::*;

    fn adapted<P: JsonSchema + 'static>(given: Value) -> Value {
        let Value::Object(mut arguments) = given else { panic!("not an object") };
        lenient::<P>(&mut arguments);
        check_names::<P>(&arguments).unwrap();
        Value::Object(arguments)
    }

    #[test]
    fn lenient_parsing_accepts_common_llm_argument_forms() {
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
            (
                json!({ "content": "x", "entryType": "", "type": "Fact" }),
                json!({ "content": "x", "entryType": "fact" }),
            ),
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

    /// Models and programs, which are parsed without [`lenient`], may use the earlier names.
    #[test]
    fn earlier_names_of_parameters_work() {
        fn parsed<P: JsonSchema + serde::de::DeserializeOwned + std::fmt::Debug + 'static>(
            given: Value,
        ) -> [String; 2] {
            let Value::Object(given) = given else { panic!("not an object") };
            let mut of_model = given.clone();
            lenient::<P>(&mut of_model);
            check_names::<P>(&of_model).unwrap();
            [given, of_model].map(|given| format!("{:?}", parse_exactly::<P>(given).unwrap()))
        }
        let [earlier, now] = ["neighbours", "neighbors"].map(|name| json!({ "query": "x", (name): 2 }));
        assert_eq!(parsed::<SearchParams>(earlier), parsed::<SearchParams>(now));
        let [earlier, now] = [["only", "order", "saved"], ["state", "sort", "created"]]
            .map(|[state, sort, created]| json!({ (state): "deleted", (sort): created }));
        assert_eq!(parsed::<ListParams>(earlier), parsed::<ListParams>(now));
        let Value::Object(mut both) = json!({ "query": "x", "neighbors": 1, "neighbours": 2 }) else { panic!() };
        assert!(parse_exactly::<SearchParams>(both.clone()).unwrap_err().contains("duplicate field `neighbors`"));
        lenient::<SearchParams>(&mut both);
        assert!(check_names::<SearchParams>(&both).unwrap_err().starts_with("unknown parameter \"neighbours\""));
    }

    #[test]
    fn ambiguous_or_unknown_arguments_are_refused() {
        for unclear in [
            json!({ "id": "1 or 2" }),
            json!({ "ids": [1, 2] }),
            json!({ "id": 1, "memoryId": 2 }),
            json!({ "id": "99999999999999999999" }),
        ] {
            let Value::Object(mut arguments) = unclear.clone() else { panic!("an object") };
            lenient::<DeleteParams>(&mut arguments);
            let known = check_names::<DeleteParams>(&arguments);
            assert!(known.is_err() || parse_exactly::<DeleteParams>(arguments).is_err(), "{unclear}");
        }
        for (given, why) in [
            (json!({ "content": "x", "type": "fact", "entryType": "task" }), "unknown parameter \"type\"; "),
            (
                json!({ "content": "x", "improtance": 3 }),
                "unknown parameter \"improtance\"; did you mean \"importance\"?",
            ),
            (json!({ "content": "x", "colour": "red" }), "unknown parameter \"colour\"; see the tool's schema"),
        ] {
            let Value::Object(mut arguments) = given else { panic!("an object") };
            lenient::<AddParams>(&mut arguments);
            let refused = check_names::<AddParams>(&arguments).unwrap_err();
            assert!(refused.starts_with(why), "{refused}");
        }
    }
}
