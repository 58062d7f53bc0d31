//! A summary of a project's memories, on one page.

use super::bounds::check_label;
use super::kind::Kind;
use super::record::Record;
use super::scope::Viewer;
use super::units::Millis;
use crate::error::Result;

/// A query for a digest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DigestQuery {
    /// Only the memories of this project, without the global ones; `None` for all that the viewer sees.
    pub project: Option<String>,
    /// Only those whose body names this feature.
    pub feature: Option<String>,
    /// The viewer.
    pub viewer: Viewer,
    /// Whether the lists include superseded memories. They are always counted.
    pub with_superseded: bool,
}

impl DigestQuery {
    /// Checks the names.
    pub fn validate(&self) -> Result<()> {
        for (field, name) in [("project", &self.project), ("feature", &self.feature)] {
            if let Some(name) = name {
                check_label(field, name)?;
            }
        }
        self.viewer.validate()
    }
}

/// Number of memories by importance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ByImportance {
    /// 9 and 10.
    pub critical: u64,
    /// 7 and 8.
    pub high: u64,
    /// 4 to 6.
    pub medium: u64,
    /// 1 to 3.
    pub low: u64,
}

impl ByImportance {
    /// The count of the level of this importance.
    pub fn of_mut(&mut self, importance: i64) -> &mut u64 {
        match importance {
            9.. => &mut self.critical,
            7..9 => &mut self.high,
            4..7 => &mut self.medium,
            ..4 => &mut self.low,
        }
    }
}

/// A summary of the live memories of a project, or of all that a viewer sees.
#[derive(Debug, Clone, PartialEq)]
pub struct Digest {
    /// The requested project.
    pub project: Option<String>,
    /// When it was made.
    pub generated_at: Millis,
    /// How many memories there are.
    pub total: u64,
    /// Number per kind; kinds without any are absent.
    pub by_kind: Vec<(Kind, u64)>,
    /// Number per level of importance.
    pub by_importance: ByImportance,
    /// The newest decisions of high or critical importance, five at most.
    pub key_decisions: Vec<Record>,
    /// The patterns fetched most often, then the newest, five at most.
    pub active_patterns: Vec<Record>,
    /// The newest bug fixes, five at most.
    pub recent_bugfixes: Vec<Record>,
    /// Number of superseded memories, as the viewer sees them.
    pub outdated: u64,
}
