//! How memories hang together.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::record::Record;
use super::units::RecordId;
use crate::error::{Error, Result};

/// What a link says of the memory that it leads from (`linkType` on the wire).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", remote = "Self")]
pub enum LinkKind {
    /// It brought the other about.
    Caused,
    /// They belong together.
    Related,
    /// It holds in the place of the other, which a search leaves out from then on.
    Supersedes,
    /// It carries the other out.
    Implements,
    /// It says the opposite of the other.
    Contradicts,
}

crate::read_by_name!(LinkKind);

impl LinkKind {
    /// Every kind, in the order in which they are stored and listed. The position is the code on disk: append only.
    pub const ALL: [LinkKind; 5] =
        [LinkKind::Caused, LinkKind::Related, LinkKind::Supersedes, LinkKind::Implements, LinkKind::Contradicts];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            LinkKind::Caused => "caused",
            LinkKind::Related => "related",
            LinkKind::Supersedes => "supersedes",
            LinkKind::Implements => "implements",
            LinkKind::Contradicts => "contradicts",
        }
    }
}

impl fmt::Display for LinkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for LinkKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        LinkKind::ALL.into_iter().find(|kind| kind.as_str() == name).ok_or_else(|| {
            let known = LinkKind::ALL.map(LinkKind::as_str).join(", ");
            Error::invalid("linkType", format!("unknown type {name:?}; use one of {known}"))
        })
    }
}

/// A link between two memories, from one to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The memory that says something of the other.
    pub from: RecordId,
    /// The other.
    pub to: RecordId,
    /// What it says.
    pub kind: LinkKind,
}

impl Link {
    /// The end that is not `id`.
    pub fn other_end(&self, id: RecordId) -> RecordId {
        if self.from == id { self.to } else { self.from }
    }
}

/// A memory at the other end of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Linked {
    /// The memory.
    pub record: Record,
    /// What the link says, of it or to it.
    pub kind: LinkKind,
}
