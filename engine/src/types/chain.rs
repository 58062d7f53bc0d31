//! What hangs together with a memory, and what others have taken the place of.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::bounds::{check_label, check_limit};
use super::link::Link;
use super::record::Record;
use super::scope::Viewer;
use super::units::RecordId;
use crate::error::{Error, Result};

/// Most links that a chain leads away from its start.
pub const MAX_CHAIN_DEPTH: usize = 10;

/// Which way links are followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", remote = "Self")]
pub enum Direction {
    /// From a memory to those of which it says something.
    Forward,
    /// To a memory from those that say something of it.
    Backward,
    /// Either way.
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

/// What hangs together with a memory?
#[derive(Debug, Clone, PartialEq)]
pub struct ChainQuery {
    /// The memory to start from.
    pub start: RecordId,
    /// Which way links are followed.
    pub direction: Direction,
    /// Most links away from the start, 0 to [`MAX_CHAIN_DEPTH`].
    pub max_depth: usize,
    /// Most memories, the start among them, 1 to [`MAX_LIMIT`](super::MAX_LIMIT).
    pub limit: usize,
    /// Who looks: what he does not see is not walked through either.
    pub viewer: Viewer,
}

impl ChainQuery {
    /// Up to three links either way from `start`, a hundred memories at most.
    pub fn new(start: RecordId, viewer: Viewer) -> Self {
        ChainQuery { start, direction: Direction::Both, max_depth: 3, limit: 100, viewer }
    }

    /// Checks every bound.
    pub fn validate(&self) -> Result<()> {
        if self.max_depth > MAX_CHAIN_DEPTH {
            return Err(Error::invalid("maxDepth", format!("{} is outside 0 to {MAX_CHAIN_DEPTH}", self.max_depth)));
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
    /// How many links it is away from the start, by the shortest way.
    pub depth: usize,
    /// That way: the links walked, in order from the start.
    pub path: Vec<Link>,
}

/// What hangs together with a memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chain {
    /// The memories, each once: the start, then the nearest first. None where the start is not there.
    pub hops: Vec<Hop>,
    /// Whether there are more within the depth than the limit lets through.
    pub truncated: bool,
}

/// Which memories have others taken the place of?
#[derive(Debug, Clone, PartialEq)]
pub struct OutdatedQuery {
    /// Those of this project alone, without the global ones; `None` for all that the viewer sees.
    pub project: Option<String>,
    /// Those with a smaller id than this.
    pub before: Option<RecordId>,
    /// Most memories, 1 to [`MAX_LIMIT`](super::MAX_LIMIT).
    pub limit: usize,
    /// Who looks.
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

/// A memory that others have taken the place of.
#[derive(Debug, Clone, PartialEq)]
pub struct Outdated {
    /// The memory.
    pub record: Record,
    /// The live ones in its place that the viewer sees, by id. None when they have expired and are not deleted yet.
    pub superseded_by: Vec<RecordId>,
}
