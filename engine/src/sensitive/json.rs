//! Finds and redacts secrets in a JSON value.
//!
//! A text or a number is scanned by itself and with its field name: `"password": "..."`. A list passes its name on to
//! its entries. So does an object whose name labels a secret, if its fields' names do not: `"passwords": { "staging":
//! "..." }`.

use memorist_secrets::label;
use serde_json::Value;

use super::text::{in_text, redacted as redacted_text};

/// Maximum length of a name that is scanned, so that a long one is not read again for each entry of a list.
const MOST_OF_A_NAME: usize = 64;

/// The first finding.
pub(super) fn find(value: &Value) -> Option<&'static str> {
    find_under(Name::default(), value)
}

fn find_under(name: Name<'_>, value: &Value) -> Option<&'static str> {
    match value {
        Value::String(text) => name.judge(text),
        Value::Number(number) => name.judge_number(&number.to_string()),
        Value::Array(items) => items.iter().find_map(|item| find_under(name, item)),
        Value::Object(fields) => {
            fields.iter().find_map(|(field, value)| in_text(field).or_else(|| find_under(name.of(field), value)))
        }
        Value::Null | Value::Bool(_) => None,
    }
}

/// The value with each finding replaced by `[redacted: ...]`. The names of fields stay as they are: two of them must
/// not become one.
pub(super) fn redacted(value: Value) -> Value {
    redacted_under(Name::default(), value)
}

fn redacted_under(name: Name<'_>, value: Value) -> Value {
    let mark = |what| Value::from(format!("[redacted: {what}]"));
    match value {
        Value::String(text) => {
            let text = redacted_text(&text);
            name.judge(&text).map_or_else(|| text.into(), mark)
        }
        Value::Number(number) => name.judge_number(&number.to_string()).map_or(Value::Number(number), mark),
        Value::Array(items) => items.into_iter().map(|item| redacted_under(name, item)).collect(),
        Value::Object(fields) => {
            let field = |(field, value): (String, Value)| {
                let value = redacted_under(name.of(&field), value);
                (field, value)
            };
            fields.into_iter().map(field).collect::<serde_json::Map<_, _>>().into()
        }
        other => other,
    }
}

/// The cursor of a reader with each finding in its texts replaced. JSON keeps its shape; any other cursor has no text.
pub(super) fn redacted_cursor(cursor: String) -> String {
    let Ok(mut value) = serde_json::from_str(&cursor) else { return cursor };
    if redact_texts(&mut value) { value.to_string() } else { cursor }
}

/// Whether there was something to redact.
fn redact_texts(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            let before = std::mem::take(text);
            *text = redacted_text(&before);
            *text != before
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| redact_texts(item) | any),
        Value::Object(fields) => fields.values_mut().fold(false, |any, value| redact_texts(value) | any),
        Value::Number(_) | Value::Null | Value::Bool(_) => false,
    }
}

/// The names above a value.
#[derive(Debug, Clone, Copy, Default)]
struct Name<'a> {
    /// The end of the name of its field.
    own: &'a str,
    /// The nearest name that labels a secret, in the singular.
    label: Option<&'a str>,
}

impl<'a> Name<'a> {
    fn of(self, field: &'a str) -> Self {
        let own = &field[field.ceil_char_boundary(field.len().saturating_sub(MOST_OF_A_NAME))..];
        Name { own, label: label(own).or(self.label) }
    }

    fn judge(self, text: &str) -> Option<&'static str> {
        let under = |name: &str| in_text(&format!("{name}: {text}"));
        let own = Some(self.own).filter(|own| !own.is_empty());
        let label = self.label.filter(|label| Some(*label) != own);
        in_text(text).or_else(|| own.and_then(under)).or_else(|| label.and_then(under))
    }

    /// A number under a name further up is mostly a date or a count.
    fn judge_number(self, number: &str) -> Option<&'static str> {
        Name { label: label(self.own), ..self }.judge(number)
    }
}
