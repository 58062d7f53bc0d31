//! Bodies as text, so that a record with only a body is found like any other.

use serde_json::{Map, Value};

use crate::types::{Kind, MAX_CONTENT_BYTES};

/// The text of a body. Absent parts are dropped with their punctuation.
pub(super) fn render(kind: Kind, fields: &Map<String, Value>) -> Option<String> {
    let part = |name| fields.get(name).and_then(Value::as_str).map(str::trim).unwrap_or_default();
    let text = match kind {
        Kind::Fact
        | Kind::Preference
        | Kind::Event
        | Kind::Insight
        | Kind::Task
        | Kind::Relationship
        | Kind::Background
        | Kind::Decision
        | Kind::Pattern
        | Kind::Bugfix => joined(&[part("title"), part("description")], " "),
        Kind::Contact => [
            part("name").to_owned(),
            within(", ", part("role"), ""),
            within(" at ", part("company"), ""),
            within(" (", part("type"), ")"),
            within(" ", part("email"), ""),
        ]
        .concat(),
        Kind::Project => {
            let state = joined(&[part("status"), part("type"), part("priority")], ", ");
            let aside = joined(&[&state, part("company")], "; ");
            [part("name").to_owned(), within(": ", part("description"), ""), within(" (", &aside, ")")].concat()
        }
        Kind::Skill => {
            [part("name").to_owned(), within(": ", part("description"), ""), within("\n", part("instructions"), "")]
                .concat()
        }
        Kind::Conversation => joined(
            &[&within("User: ", part("user_message"), ""), &within("Assistant: ", part("agent_response"), "")],
            "\n",
        ),
        Kind::Profile => {
            let mut lines = String::new();
            for (name, value) in fields {
                write_leaves(&mut name.clone(), value, &mut lines);
            }
            lines
        }
        Kind::Chunk => String::new(),
    };
    Some(text).filter(|text| !text.is_empty())
}

/// The parts that are not empty, with `separator` between them.
fn joined(parts: &[&str], separator: &str) -> String {
    parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(separator)
}

/// `part` with its prefix and suffix, or nothing.
fn within(before: &str, part: &str, after: &str) -> String {
    if part.is_empty() { String::new() } else { format!("{before}{part}{after}") }
}

/// A line `path.to.key: value` for each value within `value`; the entries of a list share its path.
fn write_leaves(path: &mut String, value: &Value, lines: &mut String) {
    match value {
        Value::Null => {}
        Value::Bool(flag) => write_leaf(path, &flag.to_string(), lines),
        Value::Number(number) => write_leaf(path, &number.to_string(), lines),
        Value::String(text) => write_leaf(path, text.trim(), lines),
        Value::Array(items) => items.iter().for_each(|item| write_leaves(path, item, lines)),
        Value::Object(members) => {
            for (name, value) in members {
                let parent = path.len();
                path.push('.');
                path.push_str(name);
                write_leaves(path, value, lines);
                path.truncate(parent);
            }
        }
    }
}

fn write_leaf(path: &str, leaf: &str, lines: &mut String) {
    let separator = if lines.is_empty() { "" } else { "\n" };
    // A path is written again for each leaf: a hostile body of 1 MiB could become a text of gigabytes.
    let fits = lines.len() + separator.len() + path.len() + ": ".len() + leaf.len() <= MAX_CONTENT_BYTES;
    if !leaf.is_empty() && fits {
        lines.extend([separator, path, ": ", leaf]);
    }
}
