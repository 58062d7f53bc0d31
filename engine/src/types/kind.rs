//! The kinds of records.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The kind of a record (`entryType` on the wire).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", remote = "Self")]
pub enum Kind {
    /// Something true about the user or the world.
    Fact,
    /// Something that someone likes or wants.
    Preference,
    /// Something that happened.
    Event,
    /// A conclusion.
    Insight,
    /// Something to do.
    Task,
    /// How people or things relate.
    Relationship,
    /// A choice and its reasons.
    Decision,
    /// A way of doing things that recurs.
    Pattern,
    /// A defect and its fix.
    Bugfix,
    /// Long-lived background about a person or place.
    Background,
    /// A person and how to reach them.
    Contact,
    /// A project.
    Project,
    /// A procedure the agent can carry out.
    Skill,
    /// Everything known about one person.
    Profile,
    /// A turn of a conversation.
    Conversation,
    /// A piece of a file or transcript.
    Chunk,
}

crate::read_by_name!(Kind);

impl Kind {
    /// Every kind, in the order in which they are stored and listed. The position is the code on disk: append only.
    pub const ALL: [Kind; 16] = [
        Kind::Fact,
        Kind::Preference,
        Kind::Event,
        Kind::Insight,
        Kind::Task,
        Kind::Relationship,
        Kind::Decision,
        Kind::Pattern,
        Kind::Bugfix,
        Kind::Background,
        Kind::Contact,
        Kind::Project,
        Kind::Skill,
        Kind::Profile,
        Kind::Conversation,
        Kind::Chunk,
    ];

    /// Whether one scope may contain the same text twice. Turns of conversations do: "done" in two sessions is two
    /// turns.
    pub fn repeats(self) -> bool {
        matches!(self, Kind::Conversation | Kind::Chunk)
    }

    /// Whether records of it are mostly read: chunks of notes, and turns of sessions. The others are what somebody saved.
    pub fn is_read(self) -> bool {
        self.repeats()
    }

    /// The name on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Fact => "fact",
            Kind::Preference => "preference",
            Kind::Event => "event",
            Kind::Insight => "insight",
            Kind::Task => "task",
            Kind::Relationship => "relationship",
            Kind::Decision => "decision",
            Kind::Pattern => "pattern",
            Kind::Bugfix => "bugfix",
            Kind::Background => "background",
            Kind::Contact => "contact",
            Kind::Project => "project",
            Kind::Skill => "skill",
            Kind::Profile => "profile",
            Kind::Conversation => "conversation",
            Kind::Chunk => "chunk",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == name).ok_or_else(|| {
            let known: Vec<_> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
            Error::invalid("kind", format!("unknown kind {name:?}; use one of {}", known.join(", ")))
        })
    }
}
