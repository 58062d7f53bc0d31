//! [`Filter`]s as SQL: the same rule as [`Filter::allows`], for records that are live.

use std::fmt::Write;

use roaring::RoaringTreemap;
use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::{Snapshot, row};
use crate::error::Result;
use crate::types::{Filter, Kind, Millis};

/// A condition on the row `r` of `records`, and the values of its question marks.
pub(super) struct Condition {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

impl Condition {
    /// Live at `now`, and everything that the filter asks but the tags.
    fn without_tags(filter: &Filter, now: Millis) -> Self {
        let mut condition =
            Condition { sql: String::from("(r.expires_at IS NULL OR r.expires_at > ?)"), values: vec![now.into()] };
        if !filter.kinds.is_empty() || filter.min_importance.is_some() {
            // All kinds, spelled out, let one index find importances: it begins with the kind.
            let kinds = if filter.kinds.is_empty() { &Kind::ALL[..] } else { &filter.kinds[..] };
            let codes: Vec<String> = kinds.iter().map(|&kind| row::kind_code(kind).to_string()).collect();
            let _ = write!(condition.sql, " AND r.kind IN ({})", codes.join(", "));
        }
        condition.and(" AND r.importance >= ?", filter.min_importance);
        condition.and(" AND r.confidence >= ?", filter.min_confidence);
        condition.and(" AND r.created_at >= ?", filter.created_after);
        condition.and(" AND r.created_at < ?", filter.created_before);
        condition.and(
            " AND r.scope_id IN (SELECT id FROM scopes WHERE project IS NULL OR project = ?)",
            filter.project.clone(),
        );
        condition
            .and(" AND r.scope_id IN (SELECT id FROM scopes WHERE agent IS NULL OR agent = ?)", filter.agent.clone());
        condition
    }

    /// Live at `now`, and everything that the filter asks.
    pub(super) fn new(filter: &Filter, now: Millis) -> Self {
        let mut condition = Self::without_tags(filter, now);
        if !filter.tags.is_empty() {
            let _ = write!(condition.sql, " AND r.id IN (SELECT record_id FROM record_tags WHERE {})", any_tag(filter));
            condition.values.extend(filter.tags.iter().cloned().map(Value::from));
        }
        condition
    }

    fn and(&mut self, sql: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.sql.push_str(sql);
            self.values.push(value.into());
        }
    }
}

fn any_tag(filter: &Filter) -> String {
    format!("tag IN (?{})", ", ?".repeat(filter.tags.len() - 1))
}

impl Snapshot {
    /// The ids of all live records that pass the filter.
    pub fn matching(&self, filter: &Filter, now: Millis) -> Result<RoaringTreemap> {
        let Condition { sql, mut values } = Condition::without_tags(filter, now);
        let sql = if filter.tags.is_empty() {
            format!("SELECT r.id FROM records r INDEXED BY records_by_kind WHERE {sql}")
        } else {
            // The tags first: they are the most selective.
            values.splice(0..0, filter.tags.iter().cloned().map(Value::from));
            format!(
                "SELECT r.id FROM record_tags t CROSS JOIN records r ON r.id = t.record_id WHERE {} AND {sql}",
                any_tag(filter)
            )
        };
        self.ids(&sql, params_from_iter(values))
    }
}
