//! Differences between two versions of a memory, in words.

use memorist_engine::body::Body;
use memorist_engine::types::{Kind, Millis, Record, Span, Version};
use serde_json::Value;

use crate::wire::core::one_line;
use crate::wire::moment;

/// The fields that an update may change.
pub struct Fields<'a> {
    content: &'a str,
    context: Option<&'a str>,
    kind: Kind,
    source: &'a str,
    importance: i64,
    confidence: f64,
    tags: &'a [String],
    valid: Span,
    expires_at: Option<Millis>,
    body: Option<&'a Body>,
}

impl<'a> From<&'a Record> for Fields<'a> {
    fn from(record: &'a Record) -> Self {
        Fields {
            content: &record.content,
            context: record.context.as_deref(),
            kind: record.kind,
            source: &record.source,
            importance: record.importance,
            confidence: record.confidence,
            tags: &record.tags,
            valid: record.valid,
            expires_at: record.expires_at,
            body: record.body.as_ref(),
        }
    }
}

impl<'a> From<&'a Version> for Fields<'a> {
    fn from(version: &'a Version) -> Self {
        Fields {
            content: &version.content,
            context: version.context.as_deref(),
            kind: version.kind,
            source: &version.source,
            importance: version.importance,
            confidence: version.confidence,
            tags: &version.tags,
            valid: version.valid,
            expires_at: version.expires_at,
            body: version.body.as_ref(),
        }
    }
}

impl Fields<'_> {
    /// Status or due date of a task, as text.
    fn of_task(&self, name: &str) -> String {
        match self.body.and_then(|body| body.get(name)) {
            Some(Value::Number(number)) => number.as_i64().map(moment).unwrap_or_default(),
            Some(Value::String(text)) => text.clone(),
            _ if name == "status" && self.kind == Kind::Task => "open".to_owned(),
            _ => String::new(),
        }
    }

    /// Lists the fields that differ in `after`: short values as `status open → done`, others by name.
    pub fn changes(&self, after: &Fields<'_>) -> Vec<String> {
        let at = |at: Option<Millis>| at.map(moment).unwrap_or_default();
        let short = [
            ("type", self.kind.to_string(), after.kind.to_string()),
            ("status", self.of_task("status"), after.of_task("status")),
            ("due", self.of_task("due"), after.of_task("due")),
            ("importance", self.importance.to_string(), after.importance.to_string()),
            ("confidence", self.confidence.to_string(), after.confidence.to_string()),
            ("tags", self.tags.join(", "), after.tags.join(", ")),
            ("validFrom", at(self.valid.from), at(after.valid.from)),
            ("validTo", at(self.valid.to), at(after.valid.to)),
            ("expiresAt", at(self.expires_at), at(after.expires_at)),
            ("source", self.source.to_owned(), after.source.to_owned()),
        ];
        let word = |text: String| if text.is_empty() { "none".to_owned() } else { one_line(&text) };
        let mut changes: Vec<String> = short
            .into_iter()
            .filter(|(_, old, new)| old != new)
            .map(|(name, old, new)| format!("{name} {} → {}", word(old), word(new)))
            .collect();
        for (name, differs) in [
            ("text", self.content != after.content),
            ("context", self.context != after.context),
            ("body", changes.is_empty() && self.body != after.body),
        ] {
            if differs {
                changes.push(name.to_owned());
            }
        }
        changes
    }
}
