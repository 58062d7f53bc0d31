//! Which records may be returned.

use std::borrow::Cow;

use super::bounds::{check_range, check_tags, check_unit};
use super::kind::Kind;
use super::label::is_same_tag;
use super::metadata::MetadataFilter;
use super::record::Record;
use super::scope::Viewer;
use super::units::Millis;
use crate::error::Result;

/// Which records may be returned. An empty filter passes every live record.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Any of these kinds; empty is all.
    pub kinds: Vec<Kind>,
    /// Any of these tags, in upper or lower case (ASCII); empty is all.
    pub tags: Vec<String>,
    /// At least this importance, 1 to 10.
    pub min_importance: Option<i64>,
    /// At least this confidence, 0 to 1.
    pub min_confidence: Option<f64>,
    /// The viewer.
    pub viewer: Viewer,
    /// Created at or after.
    pub created_after: Option<Millis>,
    /// Created before.
    pub created_before: Option<Millis>,
    /// Changed, or saved again, at or after.
    pub updated_after: Option<Millis>,
    /// Changed, or saved again, for the last time before.
    pub updated_before: Option<Millis>,
    /// [Happens](Record::happening) at or after; what has no date does not pass.
    pub happens_after: Option<Millis>,
    /// Begins to happen before; what has no date does not pass.
    pub happens_before: Option<Millis>,
    /// Has such metadata.
    pub metadata: Option<MetadataFilter>,
}

impl Filter {
    /// Everything that `viewer` sees.
    pub fn of(viewer: Viewer) -> Self {
        Filter { viewer, ..Filter::default() }
    }

    /// Whether it passes every record.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// The filter without its metadata, for an index that has none.
    pub fn without_metadata(&self) -> Cow<'_, Filter> {
        match self.metadata {
            None => Cow::Borrowed(self),
            Some(_) => Cow::Owned(Filter { metadata: None, ..self.clone() }),
        }
    }

    /// Whether `record` passes. The same rule as in the indexes, for records they have not seen yet.
    pub fn allows(&self, record: &Record) -> bool {
        self.refusing(record).is_none()
    }

    /// The field that refuses `record`; the first of several.
    pub fn refusing(&self, record: &Record) -> Option<&'static str> {
        let unless = |passes: bool, field| (!passes).then_some(field);
        let happens = record.happening();
        unless(self.viewer.sees(&record.scope), "viewer")
            .or_else(|| unless(self.kinds.is_empty() || self.kinds.contains(&record.kind), "kinds"))
            .or_else(|| unless(self.tags.is_empty() || self.tags.iter().any(|tag| has_tag(record, tag)), "tags"))
            .or_else(|| unless(self.min_importance.is_none_or(|least| record.importance >= least), "min_importance"))
            .or_else(|| unless(self.min_confidence.is_none_or(|least| record.confidence >= least), "min_confidence"))
            .or_else(|| unless(self.created_after.is_none_or(|at| record.created_at >= at), "created_after"))
            .or_else(|| unless(self.created_before.is_none_or(|at| record.created_at < at), "created_before"))
            .or_else(|| unless(self.updated_after.is_none_or(|at| record.updated_at >= at), "updated_after"))
            .or_else(|| unless(self.updated_before.is_none_or(|at| record.updated_at < at), "updated_before"))
            .or_else(|| {
                unless(self.happens_after.is_none_or(|at| happens.is_some_and(|(_, to)| to >= at)), "happens_after")
            })
            .or_else(|| {
                unless(
                    self.happens_before.is_none_or(|at| happens.is_some_and(|(from, _)| from < at)),
                    "happens_before",
                )
            })
            .or_else(|| {
                unless(self.metadata.as_ref().is_none_or(|metadata| metadata.allows(record.body.as_ref())), "where")
            })
    }

    /// Whether it chooses by when something happens.
    pub fn is_dated(&self) -> bool {
        self.happens_after.is_some() || self.happens_before.is_some()
    }

    /// Checks the bounds.
    pub fn validate(&self) -> Result<()> {
        if let Some(least) = self.min_importance {
            check_range("min_importance", least)?;
        }
        if let Some(least) = self.min_confidence {
            check_unit("min_confidence", least)?;
        }
        self.viewer.validate()?;
        check_tags(&self.tags)
    }
}

fn has_tag(record: &Record, tag: &str) -> bool {
    record.tags.iter().any(|own| is_same_tag(own, tag))
}
