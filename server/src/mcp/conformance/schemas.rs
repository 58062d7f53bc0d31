//! The forms and schemas of the agreement.

use serde_json::{Value, json};

/// A request for one field.
pub fn elicitation(message: &str, field: &str, kind: &str) -> Value {
    let form = json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": form } })
}

/// The parameters of a request to a language model.
pub fn sampling(prompt: &str) -> Value {
    let content = json!({ "type": "text", "text": prompt });
    json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 100 })
}

/// A form for a user.
pub fn user() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "User's response" },
            "email": { "type": "string", "description": "User's email address" },
        },
        "required": ["username", "email"],
    })
}

/// A form with a default of every type.
pub fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        },
    })
}

/// A form with a choice of every form.
pub fn enums() -> Value {
    let plain = json!(["option1", "option2", "option3"]);
    let titled = |noun: &str| {
        let choices = [("value1", "First"), ("value2", "Second"), ("value3", "Third")];
        let choice = |(value, title): &(&str, &str)| json!({ "const": value, "title": format!("{title} {noun}") });
        choices.iter().map(choice).collect::<Vec<_>>()
    };
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": plain },
            "titledSingle": { "type": "string", "oneOf": titled("Option") },
            "legacyEnum": {
                "type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
        },
    })
}

/// Arguments of which one is repeated in a header.
pub fn custom_header() -> Value {
    json!({
        "type": "object",
        "properties": { "region": { "type": "string", "x-mcp-header": "Region" }, "query": { "type": "string" } },
        "required": ["region"],
    })
}

/// A schema with the keywords of JSON Schema 2020-12.
pub fn dialect() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": { "$anchor": "addressDef", "type": "object", "properties": { "street": text, "city": text } },
        },
        "properties": {
            "name": text,
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": text,
            "email": text,
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}
