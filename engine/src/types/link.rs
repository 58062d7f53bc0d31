//! Links between memories.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::record::Record;
use super::units::RecordId;
use crate::error::{Error, Result};

/// The kind of a link: what it says about its source (`linkType` on the wire).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", remote = "Self")]
pub enum LinkKind {
    /// It caused the target.
    Caused,
    /// They are related.
    Related,
    /// It replaces the target, which searches exclude from then on.
    Supersedes,
    /// It implements the target.
    Implements,
    /// It contradicts the target.
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
            Error::invalid("link_kind", format!("unknown type {name:?}; use one of {known}"))
        })
    }
}

/// A directed link between two memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The source: the memory that the link is about.
    pub from: RecordId,
    /// The target.
    pub to: RecordId,
    /// Its kind.
    pub kind: LinkKind,
}

impl Link {
    /// The end that is not `id`.
    pub fn other_end(&self, id: RecordId) -> RecordId {
        if self.from == id { self.to } else { self.from }
    }
}

/// A link that says what a memory is worth: it supersedes or contradicts another, or the reverse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// [`LinkKind::Supersedes`] or [`LinkKind::Contradicts`].
    pub kind: LinkKind,
    /// Whether the other memory says it of this one.
    pub by_other: bool,
    /// The other memory.
    pub other: RecordId,
    /// The beginning of its text.
    pub beginning: String,
}

impl Mark {
    /// Whether the other memory supersedes this one.
    pub fn is_of_successor(&self) -> bool {
        self.kind == LinkKind::Supersedes && self.by_other
    }
}

/// A memory at the other end of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Linked {
    /// The memory.
    pub record: Record,
    /// The kind of the link, in either direction.
    pub kind: LinkKind,
}
