//! Where a memory was read, as results say it.

use memorist_engine::types::Place;
use schemars::JsonSchema;
use serde::Serialize;

/// The lines of a file that a memory is from, and of a transcript who said it where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct PlaceInfo {
    pub path: String,
    /// From 1.
    pub start_line: i64,
    pub end_line: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
}

impl From<Place> for PlaceInfo {
    fn from(place: Place) -> Self {
        let number = |line: u64| i64::try_from(line).unwrap_or(i64::MAX);
        PlaceInfo {
            start_line: number(place.first_line),
            end_line: number(place.last_line),
            path: place.path,
            role: place.role,
            cwd: place.cwd,
            branch: place.branch,
            model: place.model,
            subagent: place.subagent,
        }
    }
}

/// `path:line`, as people and editors write it.
pub fn path_and_line(path: &str, line: impl std::fmt::Display) -> String {
    format!("{path}:{line}")
}

impl PlaceInfo {
    /// `path:line`.
    pub fn spot(&self) -> String {
        path_and_line(&self.path, self.start_line)
    }
}
