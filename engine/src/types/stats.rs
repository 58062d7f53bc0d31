//! Statistics of a store.

use super::kind::Kind;
use super::units::Millis;

/// Statistics of a store.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Live records (not deleted, not expired).
    pub total: u64,
    /// Live records per kind; kinds without any are absent.
    pub by_kind: Vec<(Kind, u64)>,
    /// Mean importance; 0 for an empty store.
    pub avg_importance: f64,
    /// Mean confidence; 0 for an empty store.
    pub avg_confidence: f64,
    /// Sum of the access counts of the live records.
    pub total_accesses: u64,
    /// Creation time of the oldest live record.
    pub oldest: Option<Millis>,
    /// Creation time of the newest live record.
    pub newest: Option<Millis>,
    /// Texts of live records that wait for an embedding: beginnings, and the further passages of long ones.
    pub pending_embeddings: u64,
}

/// The names in use, each with the number of records that have it, the most frequent first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// Projects.
    pub projects: Vec<(String, u64)>,
    /// Agents.
    pub agents: Vec<(String, u64)>,
    /// Tags of the newest records, in lower case.
    pub tags: Vec<(String, u64)>,
}
