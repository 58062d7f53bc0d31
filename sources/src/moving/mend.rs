//! Values of a store, brought within the bounds of memorist. What had to change is counted.

use serde_json::Value;

use super::times::millis;
use super::types::Report;

/// Longest content, context and query, in bytes.
const MAX_CONTENT: usize = 1 << 20;
const MAX_CONTEXT: usize = 64 << 10;
/// Longest source, tag, project, agent or session, in bytes.
pub const MAX_LABEL: usize = 1 << 10;
/// Most tags of a memory.
const MAX_TAGS: usize = 64;
/// Stands for every project or agent: none may have it as its name.
const EVERY: &str = "*";

/// The kinds of memorist that are a plain statement, with a title or without.
const PLAIN: [&str; 10] =
    ["fact", "preference", "event", "insight", "task", "relationship", "decision", "pattern", "bugfix", "background"];

impl Report {
    /// A text: numbers as they are written, without NUL characters; empty for null.
    pub(super) fn text(&mut self, value: &Value) -> String {
        let text = match value {
            Value::Null => return String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if text.contains('\0') { text.replace('\0', "") } else { text }
    }

    /// The text of a memory, cut if it is too long.
    pub(super) fn content(&mut self, value: &Value) -> String {
        let text = self.text(value);
        self.cut(text, MAX_CONTENT, "texts longer than 1 MiB (cut)")
    }

    /// A context or a query; `None` if it is blank.
    pub(super) fn context(&mut self, value: &Value) -> Option<String> {
        let text = self.text(value);
        let text = self.cut(text, MAX_CONTEXT, "contexts and queries longer than 64 KiB (cut)");
        (!text.trim().is_empty()).then_some(text)
    }

    /// A short text, trimmed; `None` if it is blank.
    pub(super) fn label(&mut self, value: &Value) -> Option<String> {
        let text = self.text(value).trim().to_owned();
        let text = self.cut(text, MAX_LABEL, "labels longer than 1 KiB (cut)");
        (!text.is_empty()).then_some(text)
    }

    /// The name of an agent or a project.
    pub(super) fn owner(&mut self, value: &Value) -> Option<String> {
        self.label(value).filter(|name| name != EVERY)
    }

    fn cut(&mut self, mut text: String, most: usize, reason: &str) -> String {
        if text.len() > most {
            text.truncate(text.floor_char_boundary(most));
            self.count(reason);
        }
        text
    }

    /// A confidence; 1 for null.
    pub(super) fn confidence(&mut self, value: &Value) -> f64 {
        if value.is_null() {
            return 1.0;
        }
        let given = number(value).filter(|given| given.is_finite());
        let mended = given.map_or(1.0, |given| given.clamp(0.0, 1.0));
        if given != Some(mended) {
            self.count("confidences outside 0 to 1 (the nearest was taken)");
        }
        mended
    }

    /// An importance, a number or one of four names; 5 for null.
    pub(super) fn importance(&mut self, value: &Value) -> i64 {
        let name = value.as_str().map(|name| name.trim().to_lowercase());
        match name.as_deref() {
            Some("critical") => return 10,
            Some("high") => return 8,
            Some("medium") => return 5,
            Some("low") => return 2,
            _ if value.is_null() => return 5,
            _ => {}
        }
        let given = number(value).filter(|given| given.is_finite());
        let mended = given.map_or(5.0, |given| given.round().clamp(1.0, 10.0));
        if given.map(f64::round) != Some(mended) {
            self.count("importances outside 1 to 10 (the nearest was taken)");
        }
        mended as i64
    }

    /// A number of uses.
    pub(super) fn uses(&mut self, value: &Value) -> i64 {
        value.as_i64().unwrap_or_default().max(0)
    }

    /// A time; `None` for null, and for one that cannot be read.
    pub(super) fn time(&mut self, value: &Value) -> Option<i64> {
        let at = millis(value);
        if at.is_none() && !is_blank(value) {
            self.count("times that cannot be read");
        }
        at
    }

    /// Labels: a list, the JSON of one, or a text with commas between.
    pub(super) fn tags(&mut self, value: &Value) -> Vec<String> {
        let mut tags = Vec::new();
        for item in list(value) {
            let tag = match &item {
                Value::Object(_) | Value::Array(_) | Value::Null => None,
                item => self.label(item),
            };
            match tag {
                Some(tag) => self.tag(&mut tags, &tag),
                None if is_blank(&item) => {}
                None => self.count("tags that are not a text"),
            }
        }
        tags
    }

    /// Adds a label to others.
    pub(super) fn tag(&mut self, tags: &mut Vec<String>, tag: &str) {
        if tags.iter().any(|known| known == tag) {
            return;
        }
        if tags.len() < MAX_TAGS {
            tags.push(tag.to_owned());
        } else {
            self.count("tags beyond the 64 of a memory");
        }
    }

    /// The kind of this name. Another name is kept as a tag of a fact.
    pub(super) fn kind(&mut self, name: &Value, tags: &mut Vec<String>) -> String {
        let Some(name) = self.label(name) else { return "fact".into() };
        let lower = name.to_lowercase();
        if PLAIN.contains(&lower.as_str()) {
            return lower;
        }
        self.count("types that memorist does not have (a fact with the type as its tag)");
        self.tag(tags, &name);
        "fact".into()
    }

    pub(super) fn link_kind(&mut self, name: &Value) -> &'static str {
        let name = name.as_str().unwrap_or_default().trim().to_lowercase();
        link_kind(&name).unwrap_or_else(|| {
            self.count("relation types that memorist does not have (kept as related)");
            "related"
        })
    }
}

/// Whether a kind of this name is a plain statement.
pub fn is_plain(name: &str) -> bool {
    PLAIN.contains(&name)
}

pub fn link_kind(name: &str) -> Option<&'static str> {
    ["caused", "related", "supersedes", "implements", "contradicts"].into_iter().find(|kind| *kind == name)
}

/// The entries of a list, of the JSON of a list, or of a text with commas between.
pub fn list(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items.clone(),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Array(items)) => items,
            Ok(Value::Null) => Vec::new(),
            Ok(Value::String(one)) => vec![one.into()],
            _ => text.split(',').map(|part| part.trim().into()).collect(),
        },
        Value::Null => Vec::new(),
        other => vec![other.clone()],
    }
}

/// Whether it is null or a blank text.
pub fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_outside_their_bounds_become_the_nearest() {
        let mut report = Report::default();
        assert_eq!(
            [json!(7), json!(-1), json!("0.5"), json!(null)].map(|one| report.confidence(&one)),
            [1., 0., 0.5, 1.]
        );
        assert_eq!(report.confidence(&json!("sure")), 1.0);
        let given = [json!(99), json!(0), json!(7.4), json!(" High "), json!("3"), json!(null), json!([])];
        assert_eq!(given.map(|one| report.importance(&one)), [10, 1, 7, 8, 3, 5, 5]);
        assert_eq!([json!(-3), json!("x"), json!(4)].map(|one| report.uses(&one)), [0, 0, 4]);
        assert_eq!(report.not_brought["confidences outside 0 to 1 (the nearest was taken)"], 3);
        assert_eq!(report.not_brought["importances outside 1 to 10 (the nearest was taken)"], 3);
    }

    #[test]
    fn tags_are_read_however_they_are_written() {
        let mut report = Report::default();
        assert_eq!(report.tags(&json!("[\"a\", \"b\", \"a\"]")), ["a", "b"]);
        assert_eq!(report.tags(&json!("a, b,,")), ["a", "b"]);
        assert_eq!(report.tags(&json!(["a", 3, null])), ["a", "3"]);
        assert_eq!(report.tags(&json!("[broken")), ["[broken"]);
        assert_eq!(report.tags(&json!(null)), [""; 0]);
        assert_eq!(report.tags(&json!("null")), [""; 0]);
        assert!(report.not_brought.is_empty());
        assert_eq!(report.tags(&json!("[{\"a\": 1}]")), [""; 0]);
        assert_eq!(report.tags(&json!((0..70).map(|n| n.to_string()).collect::<Vec<_>>())).len(), 64);
        assert_eq!(report.not_brought["tags beyond the 64 of a memory"], 6);
        assert_eq!(report.not_brought["tags that are not a text"], 1);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let mut report = Report::default();
        assert_eq!(report.label(&json!("é".repeat(600))).map(|text| text.len()), Some(1024));
        assert_eq!(report.label(&json!(format!("a{}", "é".repeat(600)))).map(|text| text.len()), Some(1023));
        assert_eq!(report.content(&json!("a\0b")), "ab");
        assert_eq!(report.content(&json!("x".repeat(2 << 20))).len(), 1 << 20);
        assert_eq!((report.label(&json!(" \n")), report.owner(&json!("*"))), (None, None));
        assert_eq!(report.not_brought["labels longer than 1 KiB (cut)"], 2);
    }

    #[test]
    fn unknown_types_are_kept_as_a_tag() {
        let mut report = Report::default();
        let mut tags = vec!["a".to_owned()];
        assert_eq!(report.kind(&json!("Preference"), &mut tags), "preference");
        assert_eq!(report.kind(&json!("contact"), &mut tags), "fact");
        assert_eq!(tags, ["a", "contact"]);
        assert_eq!(
            (report.link_kind(&json!("supersedes")), report.link_kind(&json!("likes"))),
            ("supersedes", "related")
        );
        assert_eq!(report.not_brought.len(), 2);
    }
}
