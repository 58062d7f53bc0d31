//! The fields of a memory beside its text, for people.

use serde_json::Value;

use super::format;
use crate::wire::{Entry, moment};

/// Names and values in display order, those of its body first; empty ones are omitted.
pub fn fields(entry: &Entry) -> Vec<(&str, String)> {
    let body = entry.body.as_ref().and_then(Value::as_object);
    let mut fields: Vec<_> =
        body.into_iter().flatten().map(|(name, value)| (name.as_str(), body_field(name, value))).collect();
    fields.extend(entry.context.clone().map(|context| ("context", context)));
    if !entry.tags.is_empty() {
        fields.push(("tags", entry.tags.join(", ")));
    }
    fields.push(("kind", entry.entry_type.to_string()));
    fields.push(("importance", format!("{} of 10", entry.importance)));
    fields.push(("confidence", entry.confidence.to_string()));
    fields.push(("project", entry.project.clone().unwrap_or_else(|| "any".to_owned())));
    fields.push(("agent", entry.agent.clone().unwrap_or_else(|| "any".to_owned())));
    if let (Some(session), Some(turn)) = (&entry.session, entry.turn) {
        fields.push(("session", format!("{}, turn {turn}", format::one_line(session))));
    }
    if let Some(place) = &entry.place {
        fields.push(("place", place.spot()));
        let said = [("role", &place.role), ("folder", &place.cwd), ("branch", &place.branch), ("model", &place.model)];
        let said = said.into_iter().chain([("subagent", &place.subagent)]);
        fields.extend(said.filter_map(|(name, value)| Some((name, value.clone()?))));
    }
    fields.push(("source", entry.source.clone()));
    fields.push(("created", format::time(Some(entry.created_at))));
    fields.push(("updated", format!("{} (version {})", format::time(Some(entry.updated_at)), entry.version)));
    if entry.expires_at.is_some() {
        fields.push(("expires", format::time(entry.expires_at)));
    }
    let fetched = match entry.access_count {
        0 => "never".to_owned(),
        1 => format!("once, {}", format::time(entry.last_accessed_at)),
        count => format!("{count} times, last {}", format::time(entry.last_accessed_at)),
    };
    fields.push(("fetched", fetched));
    fields.push(("id", format!("{} ({})", entry.id, entry.ulid)));
    fields
}

fn body_field(name: &str, value: &Value) -> String {
    match value.as_i64() {
        Some(at) if name == "due" => moment(at),
        _ => body_value(value),
    }
}

/// A text unchanged, a list of texts with commas, anything else as JSON.
fn body_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if !items.iter().any(|item| item.is_array() || item.is_object()) => {
            items.iter().map(body_value).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_fields_of_a_body_are_readable() {
        let values =
            [json!("a text"), json!(["Ana", 12]), json!(true), json!([{ "step": 1 }])].map(|value| body_value(&value));
        assert_eq!(values, ["a text", "Ana, 12", "true", r#"[{"step":1}]"#]);
        let at = json!(1_795_910_400_000_i64);
        assert!(body_field("due", &at).starts_with("2026-11-2") && body_field("order", &at) == "1795910400000");
    }
}
