//! What a project's memories come to, on one page.

use super::bounds::check_label;
use super::kind::Kind;
use super::record::Record;
use super::scope::Viewer;
use super::units::Millis;
use crate::error::Result;

/// What do the memories come to?
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DigestQuery {
    /// The memories of this project alone, without the global ones; `None` for all that the viewer sees.
    pub project: Option<String>,
    /// Those alone whose body names this feature.
    pub feature: Option<String>,
    /// Who looks.
    pub viewer: Viewer,
    /// Whether the lists show memories that others have taken the place of, too. They are always counted.
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

/// How many memories there are of each degree of importance.
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
    /// The count of the degree that this importance is of.
    pub fn of_mut(&mut self, importance: i64) -> &mut u64 {
        match importance {
            9.. => &mut self.critical,
            7..9 => &mut self.high,
            4..7 => &mut self.medium,
            ..4 => &mut self.low,
        }
    }
}

/// What the live memories of a project, or all that somebody sees, come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Digest {
    /// The project that was asked for.
    pub project: Option<String>,
    /// When it was made.
    pub generated_at: Millis,
    /// How many memories there are.
    pub total: u64,
    /// How many of each kind; kinds without any are absent.
    pub by_kind: Vec<(Kind, u64)>,
    /// How many of each degree of importance.
    pub by_importance: ByImportance,
    /// The newest decisions of high or critical importance, five at most.
    pub key_decisions: Vec<Record>,
    /// The patterns fetched most often, then the newest, five at most.
    pub active_patterns: Vec<Record>,
    /// The newest bug fixes, five at most.
    pub recent_bugfixes: Vec<Record>,
    /// How many memories others have taken the place of, to the eyes of the viewer.
    pub outdated: u64,
}
