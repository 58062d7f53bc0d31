//! Parameters of the explorer's requests.

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::{Map, Value};

use super::super::params::SearchParams;
use super::super::parse::parse;
use super::super::values::Int;

/// `overview`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverviewParams {}

/// `search`: as `memory_search`.
#[derive(Debug, Clone, Default)]
pub struct FindParams {
    pub search: SearchParams,
    /// Whether the last word may be a prefix: for a search while the user types.
    pub prefix: bool,
}

impl<'de> Deserialize<'de> for FindParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FindParams::of(Map::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl FindParams {
    fn of(mut given: Map<String, Value>) -> Result<Self, String> {
        let prefix = match given.shift_remove("prefix") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(prefix)) => prefix,
            Some(_) => return Err("prefix: must be true or false".to_owned()),
        };
        Ok(FindParams { search: parse(given)?, prefix })
    }
}

/// `explain`: a search, and the memory that it is about.
#[derive(Debug, Clone, Default)]
pub struct ExplainParams {
    pub id: Int,
    pub search: FindParams,
}

impl<'de> Deserialize<'de> for ExplainParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut given = Map::deserialize(deserializer)?;
        let id = given.shift_remove("id").ok_or_else(|| D::Error::missing_field("id"))?;
        let id = serde_json::from_value(id).map_err(|error| D::Error::custom(format!("id: {error}")))?;
        Ok(ExplainParams { id, search: FindParams::of(given).map_err(D::Error::custom)? })
    }
}

/// `memory`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryParams {
    pub id: Int,
}

/// `graph`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphParams {
    pub id: Int,
    /// Maximum distance in links, 1 to 3; default 1.
    pub depth: Option<Int>,
    /// Maximum memories, 1 to 150 (default).
    pub limit: Option<Int>,
}

/// `similar`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimilarParams {
    pub id: Int,
    /// Maximum memories, default 10.
    pub limit: Option<Int>,
}

/// A choice of searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SearchesOnly {
    /// Searches without an answer.
    #[serde(alias = "nothing")]
    NoAnswer,
    /// Searches whose hits were all weak.
    Weak,
    /// Searches of which no hit was opened.
    NeverOpened,
}

/// `searches`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchesParams {
    pub only: Option<SearchesOnly>,
    /// Searches before the one with this id.
    pub before: Option<Int>,
    /// Maximum searches, default 50.
    pub limit: Option<Int>,
}

/// A reason to clean up memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CleanupKind {
    Duplicates,
    Contradictions,
    Superseded,
    Expiring,
    NeverFound,
}

/// `cleanup`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CleanupParams {
    pub kind: CleanupKind,
    /// `next` of the previous page.
    pub cursor: Option<String>,
    /// Maximum groups, default 20.
    pub limit: Option<Int>,
}

/// A memory, and the version that the user saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenVersion {
    pub id: Int,
    pub expect: Int,
}

/// `merge`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MergeParams {
    /// The memory that stays.
    pub keep: Int,
    /// Version that the user saw.
    pub expect: Int,
    /// The memories that it supersedes.
    pub replaced: Vec<SeenVersion>,
    /// Its new text.
    pub content: Option<String>,
}
