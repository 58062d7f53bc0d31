//! The differences between two versions of a memory, as text for an agent.

use std::collections::BTreeMap;

use memorist_engine::body::Body;
use memorist_engine::types::{Kind, Millis, Record, Span, Version};
use serde_json::Value;

use crate::wire::core::one_line;
use crate::wire::moment;

/// The fields of a memory, or of one of its earlier versions, that are compared.
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
    /// The field `status` or `due` of the body as text. Empty if there is none, or none that can be shown. A task without a
    /// status is open.
    fn shown_body_field(&self, name: &str) -> String {
        match self.body.and_then(|body| body.get(name)) {
            // In a task, a number can only be `due`, in Unix milliseconds. A memory of the kind `profile` can have any
            // field: there a number is not a time, and a change of it is listed as "body".
            Some(Value::Number(due)) if self.kind == Kind::Task => due.as_i64().map(moment).unwrap_or_default(),
            Some(Value::String(text)) => text.clone(),
            None if name == "status" && self.kind == Kind::Task => "open".to_owned(),
            _ => String::new(),
        }
    }

    /// The fields of the body, without `status` and `due` if [`Fields::shown_body_field`] shows them.
    fn other_fields_of_body(&self) -> BTreeMap<&str, &Value> {
        let fields = self.body.into_iter().flat_map(|body| body.as_map());
        let is_shown = |name: &str| ["status", "due"].contains(&name) && !self.shown_body_field(name).is_empty();
        fields.map(|(name, value)| (name.as_str(), value)).filter(|(name, _)| !is_shown(name)).collect()
    }

    /// Lists the fields that differ in `after`: short ones with both values (`status open → done`), then the long ones
    /// (text, context, body) only by name. A short field whose two values look the same is also listed only by name:
    /// times are shown to the minute, and white space as single spaces.
    pub fn changes(&self, after: &Fields<'_>) -> Vec<String> {
        let time = |at: Option<Millis>| at.map(moment).unwrap_or_default();
        // Label, both values as text, and whether the values differ. The last is computed only for fields in which
        // different values can have the same text. The labels are the parameter names of the tools, with two
        // exceptions: `type` for `entryType`, and below `text` for `content`.
        let short_fields = [
            ("type", self.kind.to_string(), after.kind.to_string(), false),
            ("status", self.shown_body_field("status"), after.shown_body_field("status"), false),
            ("due", self.shown_body_field("due"), after.shown_body_field("due"), false),
            ("importance", self.importance.to_string(), after.importance.to_string(), false),
            ("confidence", self.confidence.to_string(), after.confidence.to_string(), false),
            ("tags", self.tags.join(", "), after.tags.join(", "), self.tags != after.tags),
            ("validFrom", time(self.valid.from), time(after.valid.from), self.valid.from != after.valid.from),
            ("validTo", time(self.valid.to), time(after.valid.to), self.valid.to != after.valid.to),
            ("expiresAt", time(self.expires_at), time(after.expires_at), self.expires_at != after.expires_at),
            ("source", self.source.to_owned(), after.source.to_owned(), false),
        ];
        let shown = |value: String| if value.is_empty() { "none".to_owned() } else { one_line(&value) };
        let mut changes: Vec<String> = short_fields
            .into_iter()
            .filter_map(|(name, old, new, differs)| {
                let differs = differs || old != new;
                let (old, new) = (shown(old), shown(new));
                match old == new {
                    false => Some(format!("{name} {old} → {new}")),
                    true => differs.then(|| name.to_owned()),
                }
            })
            .collect();
        // `status` and `due` are fields of the body, but are listed above. Bodies can differ in a way that is not
        // shown: one has the status `open`, the other none. "body" is then listed only if no short field is, so that a
        // change always lists something.
        let differs_in_body = self.other_fields_of_body() != after.other_fields_of_body()
            || changes.is_empty() && self.body != after.body;
        for (name, differs) in [
            ("text", self.content != after.content),
            ("context", self.context != after.context),
            ("body", differs_in_body),
        ] {
            if differs {
                changes.push(name.to_owned());
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(kind: Kind, importance: i64, body: Option<&Body>) -> Fields<'_> {
        Fields {
            content: "the mast is oak",
            context: None,
            kind,
            source: "",
            importance,
            confidence: 1.0,
            tags: &[],
            valid: Span::default(),
            expires_at: None,
            body,
        }
    }

    #[test]
    fn the_body_is_listed_unless_only_status_or_due_differ() {
        fn changes(importance: i64, old: Option<&Body>, new: Option<&Body>) -> Vec<String> {
            fields(Kind::Task, 3, old).changes(&fields(Kind::Task, importance, new))
        }
        let body = |kind, value| Body::new(kind, value).unwrap();
        let task = |value| body(Kind::Task, value);
        let (open, done) = (task(json!({ "feature": "hull" })), task(json!({ "feature": "hull", "status": "done" })));
        let other = task(json!({ "feature": "deck", "status": "done" }));
        assert_eq!(changes(3, Some(&open), Some(&open)), [] as [&str; 0]);
        assert_eq!(changes(3, Some(&open), Some(&done)), ["status open → done"]);
        assert_eq!(changes(3, None, Some(&task(json!({ "status": "done" })))), ["status open → done"]);
        let [due] = &changes(3, None, Some(&task(json!({ "due": 1_767_225_600_000_i64 }))))[..] else {
            panic!("only the due date")
        };
        assert!(due.starts_with("due none → "), "{due}");
        assert_eq!(changes(3, Some(&open), Some(&other)), ["status open → done", "body"]);
        assert_eq!(changes(4, Some(&done), Some(&other)), ["importance 3 → 4", "body"]);
        assert_eq!(changes(4, Some(&done), Some(&done)), ["importance 3 → 4"]);

        let [one, two] = [1, 2].map(|due| body(Kind::Profile, json!({ "due": due })));
        let changed = fields(Kind::Profile, 3, Some(&one)).changes(&fields(Kind::Profile, 3, Some(&two)));
        assert_eq!(changed, ["body"], "a number of a profile is no date");
    }

    #[test]
    fn a_difference_that_does_not_show_is_listed_by_name() {
        let before = fields(Kind::Task, 3, None);
        let [joined, split] = [vec!["oak, hull".to_owned()], vec!["oak".to_owned(), "hull".to_owned()]];
        let expiring = |at, tags| Fields { expires_at: Some(at), tags, ..fields(Kind::Task, 3, None) };
        let minute = 1_767_225_660_000;
        assert_eq!(expiring(minute, &joined).changes(&expiring(minute + 1_000, &split)), ["tags", "expiresAt"]);
        assert!(before.changes(&expiring(minute, &[]))[0].starts_with("expiresAt none → "));
        assert_eq!(expiring(minute, &split).changes(&expiring(minute, &split)), [] as [&str; 0]);

        let tagged = |tags| Fields { tags, ..fields(Kind::Task, 3, None) };
        assert_eq!(before.changes(&tagged(&["none".to_owned()])), ["tags"]);
        let from = |source| Fields { source, ..fields(Kind::Task, 3, None) };
        assert_eq!(from("the\nlog").changes(&from("the log")), ["source"]);
        assert_eq!(from("the log").changes(&from("the deck")), ["source the log → the deck"]);
    }
}
