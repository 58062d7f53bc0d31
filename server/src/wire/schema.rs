//! JSON Schema 2020-12 of parameters and results, reduced to what a client validates and a model reads.

use std::borrow::Cow;
use std::sync::Arc;

use memorist_engine::types::{Kind, LinkKind};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

/// Beside the schema of a parameter: what an empty text or list means there, if not that the parameter was left out. It is not
/// published.
pub(super) const EMPTY: &str = "x-empty";
/// The value of [`EMPTY`] where every text is taken as it is.
pub(super) const VERBATIM: &str = "verbatim";

macro_rules! names {
    ($($type:ident as $name:literal = $values:expr;)*) => {$(
        pub enum $type {}

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "enum": $values })
            }
        }
    )*};
}

// Schemas of enums of the engine, which knows no schemas, by the names of their types in Python and TypeScript.
names! {
    EmbeddingName as "EmbeddingState" = ["ready", "pending"];
    KindName as "EntryType" = Kind::ALL.map(Kind::as_str);
    LinkKindName as "LinkType" = LinkKind::ALL.map(LinkKind::as_str);
    ModeName as "SearchMode" = ["hybrid", "vector", "keyword"];
    ThresholdName as "Threshold" = ["similarity", "score", "relevance"];
    TierName as "Tier" = ["full", "keyword", "substring"];
}

/// The schema of the parameters `T`, as it is published. Of several forms of a value it has one, and null is in none of them:
/// strict clients and gateways refuse choices. `forms.rs` understands the others all the same.
pub fn input_schema<T: JsonSchema>() -> Arc<Map<String, Value>> {
    let mut schema = parameters::<T>();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(plain);
    }
    Arc::new(schema)
}

/// The schema of the parameters `T`, with every form of a value.
pub(super) fn parameters<T: JsonSchema>() -> Map<String, Value> {
    generate::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of the result `T`, without descriptions: a client validates with it, and a model understands results by
/// their names, so that descriptions would not be worth their tokens.
pub fn output_schema<T: JsonSchema>() -> Arc<Map<String, Value>> {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_serialize());
    schema.values_mut().for_each(lighten);
    Arc::new(schema)
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut value = settings.into_generator().into_root_schema_for::<T>().to_value();
    strip(&mut value);
    spell_out_types(&mut value);
    let mut schema = match value {
        Value::Object(schema) => schema,
        // A struct's schema is an object by construction; an empty one accepts everything.
        _ => Map::new(),
    };
    schema.remove("description");
    schema.insert("type".into(), "object".into());
    // Some clients want an explicit empty list.
    schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    schema
}

/// Removes `title` (repeats the name) and `format` (strict validators warn about Rust's widths), but not properties
/// with these names.
fn strip(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for word in ["title", "format"] {
                if object.get(word).is_some_and(Value::is_string) {
                    object.remove(word);
                }
            }
            // What serde's `default` leaves behind for an optional field.
            if object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
            for (key, value) in object.iter_mut() {
                match (key.as_str(), value) {
                    ("properties", Value::Object(properties)) => properties.values_mut().for_each(strip),
                    ("enum" | "required" | "type", _) => {}
                    (_, value) => strip(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Writes a list of types as a choice: some clients' strict checks know one type per schema.
fn spell_out_types(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get("type") {
                let choices = types.iter().map(|name| json!({ "type": name })).collect();
                object.remove("type");
                object.insert("anyOf".into(), Value::Array(choices));
            }
            object.iter_mut().filter(|(key, _)| !matches!(key.as_str(), "enum" | "required")).for_each(|(_, value)| {
                spell_out_types(value);
            });
        }
        Value::Array(items) => items.iter_mut().for_each(spell_out_types),
        _ => {}
    }
}

fn lighten(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("description").is_some_and(Value::is_string) {
                object.remove("description");
            }
            object.values_mut().for_each(lighten);
        }
        Value::Array(items) => items.iter_mut().for_each(lighten),
        _ => {}
    }
}

/// Leaves one form of several, a text if it can be any: that says everything.
fn plain(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    object.remove(EMPTY);
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(mut choices)) = object.remove("anyOf") {
        choices.iter_mut().for_each(plain);
        let is_any_text = |choice: &&Value| choice["type"] == "string" && choice.get("enum").is_none();
        let mut forms = choices.iter().filter(|choice| choice["type"] != "null");
        let chosen = forms.clone().find(is_any_text).or_else(|| forms.next());
        for (key, value) in chosen.and_then(Value::as_object).into_iter().flatten() {
            object.entry(key).or_insert_with(|| value.clone());
        }
    }
    if let Some(items) = object.get_mut("items") {
        plain(items);
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(plain);
    }
}
