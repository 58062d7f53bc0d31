//! Chains of linked memories, and superseded memories.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::bounds::{check_label, check_limit};
use super::link::Link;
use super::record::Record;
use super::scope::Viewer;
use super::units::RecordId;
use crate::error::{Error, Result};

/// Maximum distance of a chain from its start, in links.
pub const MAX_CHAIN_DEPTH: usize = 10;

/// The direction in which links are followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", remote = "Self")]
pub enum Direction {
    /// From a memory along its outgoing links.
    Forward,
    /// From a memory along its incoming links.
    Backward,
    /// Both directions.
    #[default]
    Both,
}

crate::read_by_name!(Direction);

impl Direction {
    /// Every direction, in the order in which they are listed.
    pub const ALL: [Direction; 3] = [Direction::Forward, Direction::Backward, Direction::Both];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
            Direction::Both => "both",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Direction {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Direction::ALL.into_iter().find(|direction| direction.as_str() == name).ok_or_else(|| {
            Error::invalid("direction", format!("unknown direction {name:?}; use forward, backward or both"))
        })
    }
}

/// A query for the memories linked to a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainQuery {
    /// The memory to start from.
    pub start: RecordId,
    /// The direction in which links are followed.
    pub direction: Direction,
    /// Maximum distance from the start in links, 0 to [`MAX_CHAIN_DEPTH`].
    pub max_depth: usize,
    /// Most memories, including the start, 1 to [`MAX_LIMIT`](super::MAX_LIMIT).
    pub limit: usize,
    /// The viewer. Memories that are not visible are not walked through either.
    pub viewer: Viewer,
}

impl ChainQuery {
    /// Up to three links in both directions from `start`, a hundred memories at most.
    pub fn new(start: RecordId, viewer: Viewer) -> Self {
        ChainQuery { start, direction: Direction::Both, max_depth: 3, limit: 100, viewer }
    }

    /// Checks every bound.
    pub fn validate(&self) -> Result<()> {
        if self.max_depth > MAX_CHAIN_DEPTH {
            return Err(Error::invalid("max_depth", format!("{} is outside 0 to {MAX_CHAIN_DEPTH}", self.max_depth)));
        }
        check_limit(self.limit)?;
        self.viewer.validate()
    }
}

/// A memory of a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Hop {
    /// The memory.
    pub record: Record,
    /// Its distance from the start in links.
    pub depth: usize,
    /// The shortest path: the links from the start, in order.
    pub path: Vec<Link>,
}

/// The memories linked to a memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chain {
    /// The memories, each once: the start, then the nearest first. Empty if the start does not exist.
    pub hops: Vec<Hop>,
    /// Whether there are more within the depth than the limit allows.
    pub truncated: bool,
}

/// A query for superseded memories.
#[derive(Debug, Clone, PartialEq)]
pub struct OutdatedQuery {
    /// Only those of this project, without the global ones; `None` for all that the viewer sees.
    pub project: Option<String>,
    /// Only those with a smaller id.
    pub before: Option<RecordId>,
    /// Most memories, 1 to [`MAX_LIMIT`](super::MAX_LIMIT).
    pub limit: usize,
    /// The viewer.
    pub viewer: Viewer,
}

impl OutdatedQuery {
    /// Checks every bound.
    pub fn validate(&self) -> Result<()> {
        if let Some(project) = &self.project {
            check_label("project", project)?;
        }
        check_limit(self.limit)?;
        self.viewer.validate()
    }
}

/// A superseded memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Outdated {
    /// The memory.
    pub record: Record,
    /// The live ones that supersede it and that the viewer sees, by id. Empty if they have expired and are not deleted
    /// yet.
    pub superseded_by: Vec<RecordId>,
}
