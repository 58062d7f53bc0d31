//! Where a memory was read, as results say it.

use memorist_engine::snippet;
use memorist_engine::types::Place;
use schemars::JsonSchema;
use serde::Serialize;

/// How the name of a PDF ends.
const PDF: &str = ".pdf";

/// The lines of a file that a memory is from, and of a transcript who said it where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaceInfo {
    pub path: String,
    /// Line that `path:line` names.
    #[serde(skip)]
    line: u64,
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
            line: place.first_line,
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

/// The line of a place where the words of a query are in its text: the first one if they are not, or if its text is not that of
/// its lines.
pub fn line_of_match(place: &Place, text: &str, query: &str) -> u64 {
    let breaks = text.matches('\n').count() as u64;
    if place.last_line.checked_sub(place.first_line) != Some(breaks) {
        return place.first_line;
    }
    place.first_line + snippet::best_line(text, query) as u64
}

/// `path:line`, as people and editors write it. The lines of a PDF are its pages.
pub fn path_and_line(path: &str, line: impl std::fmt::Display) -> String {
    let ending = path.len().checked_sub(PDF.len()).and_then(|at| path.get(at..));
    if ending.is_some_and(|ending| ending.eq_ignore_ascii_case(PDF)) {
        return format!("{path}, page {line}");
    }
    format!("{path}:{line}")
}

impl PlaceInfo {
    /// A place that was found, with its text, for a query.
    pub fn found(place: Place, text: &str, query: &str) -> Self {
        PlaceInfo { line: line_of_match(&place, text, query), ..place.into() }
    }

    /// `path:line`.
    pub fn spot(&self) -> String {
        path_and_line(&self.path, self.line)
    }
}

#[cfg(test)]
mod tests {
    use memorist_engine::types::Origin;

    use super::*;

    #[test]
    fn a_place_is_named_by_the_line_of_its_best_match() {
        let place = Place::new(Origin::from_bytes([1; 16]), "/notes/a.md", 10, 13);
        let text = "# The zebra\n\nIt sleeps.\nA zebra deploys on Tuesdays.";
        let spot = |text: &str, query: &str| PlaceInfo::found(place.clone(), text, query).spot();
        assert_eq!(spot(text, "zebra"), "/notes/a.md:10");
        assert_eq!(spot(text, "zebra deploys"), "/notes/a.md:13");
        assert_eq!(spot(text, "SLEEP"), "/notes/a.md:12");
        assert_eq!(spot(text, "heron"), "/notes/a.md:10", "by meaning alone");
        assert_eq!(
            spot(&text.replace("\n\n", "\n"), "sleeps"),
            "/notes/a.md:10",
            "its lines are not those of the file"
        );
        let pages = Place::new(Origin::from_bytes([1; 16]), "/notes/a.PDF", 3, 3);
        assert_eq!(PlaceInfo::found(pages, text, "sleeps").spot(), "/notes/a.PDF, page 3");
        let info = PlaceInfo::found(place.clone(), text, "sleeps");
        assert_eq!((info.start_line, info.end_line), (10, 13));
    }
}
