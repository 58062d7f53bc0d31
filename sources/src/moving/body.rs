//! Bodies: the fields that a kind has beside its text.

use serde_json::{Map, Value};

use super::mend::MAX_LABEL;
use super::types::{Memory, Report};

/// Longest text of a field, in bytes.
const MAX_TEXT: usize = 64 << 10;
/// Largest body, in bytes of JSON.
const MAX_BODY: usize = 1 << 20;
/// Deepest nesting.
const MAX_DEPTH: usize = 32;
/// Most entries of a list.
pub const MAX_ITEMS: usize = 64;

/// The fields of a body, in the making.
#[derive(Debug, Default)]
pub struct Fields {
    fields: Map<String, Value>,
    /// Whether all fitted.
    whole: bool,
}

impl Fields {
    pub fn new() -> Self {
        Fields { fields: Map::new(), whole: true }
    }

    /// Adds a short text, unless it is blank.
    pub fn label(&mut self, name: &str, text: &str) {
        self.short(name, text, MAX_LABEL);
    }

    /// Adds a text, unless it is blank.
    pub fn text(&mut self, name: &str, text: &str) {
        self.short(name, text, MAX_TEXT);
    }

    fn short(&mut self, name: &str, text: &str, most: usize) {
        if text.trim().is_empty() {
            return;
        }
        self.whole &= text.len() <= most;
        let end = text.floor_char_boundary(most);
        self.fields.insert(name.into(), text.get(..end).unwrap_or(text).into());
    }

    /// Adds a value, unless it is null.
    pub fn value(&mut self, name: &str, value: Value) {
        if !value.is_null() {
            self.fields.insert(name.into(), value);
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// Gives them to `memory` as its body if it has all of `needed`; its text is `text` if they do not say all of that.
    pub fn give(self, memory: &mut Memory, needed: &[&str], text: String) {
        let usable = needed.iter().all(|name| self.has(name));
        let value = Value::Object(self.fields);
        if !usable || !fits(&value) {
            memory.content = text;
            return;
        }
        if !self.whole {
            memory.content = text;
        }
        memory.body = Some(value);
    }
}

/// Whether memorist takes this as a body.
pub fn fits(body: &Value) -> bool {
    depth(body) <= MAX_DEPTH && body.to_string().len() <= MAX_BODY
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

/// Whether a text can be made of this.
pub fn says_anything(body: &Value) -> bool {
    match body {
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => items.iter().any(says_anything),
        Value::Object(members) => members.values().any(says_anything),
    }
}

/// A value without NUL characters.
pub fn without_nul(value: Value) -> Value {
    match value {
        Value::String(text) => text.replace('\0', "").into(),
        Value::Array(items) => items.into_iter().map(without_nul).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name.replace('\0', ""), without_nul(value))).collect()
        }
        other => other,
    }
}

/// The JSON in a value, which may be the text of JSON.
pub fn json(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => serde_json::from_str(text).ok().map(without_nul),
        Value::Null => None,
        other => Some(without_nul(other.clone())),
    }
}

/// Whether memorist needs a title and a description in every body of this kind.
fn needs_title(kind: &str) -> bool {
    matches!(kind, "decision" | "pattern" | "bugfix")
}

/// Gives a title, a description and a feature to a memory.
pub fn titled(report: &mut Report, memory: &mut Memory, title: &str, description: &str, feature: Option<&str>) {
    let (title, description) = (title.trim(), description.trim());
    let mut fields = Fields::new();
    if !title.is_empty() && !description.is_empty() {
        fields.label("title", title);
        fields.text("description", description);
    } else {
        memory.content = [title, description].concat();
    }
    if let Some(feature) = feature {
        if !fields.has("title") && needs_title(&memory.kind) {
            report.tag(&mut memory.tags, feature);
            return;
        }
        fields.label("feature", feature);
    }
    if fields.has("title") {
        let text = report.content(&format!("{title} {description}").into());
        fields.give(memory, &[], text);
    } else if fields.has("feature") {
        let text = memory.content.clone();
        fields.give(memory, &[], text);
    }
}
