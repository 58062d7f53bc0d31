//! The table of the fields of each kind's body.

use serde_json::Value;

use crate::types::Kind;

/// One field of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its key in the body.
    pub name: &'static str,
    /// Its name in errors: `body.` and the name.
    pub path: &'static str,
    /// The values that it may have.
    pub shape: Shape,
    /// Whether it is required.
    pub need: Need,
}

/// The values that a field may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A short text, at most [`crate::types::MAX_LABEL_BYTES`] long and not blank.
    Label,
    /// A text, at most [`super::MAX_TEXT_BYTES`] long and not blank.
    Text,
    /// One of a few words.
    Choice {
        /// The words.
        of: &'static [&'static str],
        /// The default.
        default: &'static str,
    },
    /// True or false.
    Flag {
        /// The default.
        default: bool,
    },
    /// A whole number, 1 or more.
    Count {
        /// The default.
        default: i64,
    },
    /// A time in Unix milliseconds.
    Time,
    /// The id of a record.
    Record,
    /// A list of labels.
    Labels,
    /// A list of people: each a label, or the id of a record.
    People,
    /// A JSON object, its keys free.
    Object,
    /// A JSON list or object, free within.
    Structure,
    /// A JSON object whose values can be searched for.
    Metadata,
}

impl Shape {
    /// A description, as in "must be a text".
    pub fn description(self) -> &'static str {
        match self {
            Shape::Label | Shape::Text | Shape::Choice { .. } => "a text",
            Shape::Flag { .. } => "true or false",
            Shape::Count { .. } => "a whole number",
            Shape::Time => "a time in Unix milliseconds",
            Shape::Record => "the id of a memory",
            Shape::Labels => "a list of texts",
            Shape::People => "a list of texts and ids",
            Shape::Object | Shape::Metadata => "an object",
            Shape::Structure => "a list or an object",
        }
    }

    /// The value that is stored if the field is omitted.
    pub fn default_value(self) -> Option<Value> {
        match self {
            Shape::Choice { default, .. } => Some(default.into()),
            Shape::Flag { default } => Some(default.into()),
            Shape::Count { default } => Some(default.into()),
            _ => None,
        }
    }
}

/// Whether a field is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It is required.
    Required,
    /// It is required if the field of this name, which precedes it, is present.
    With(&'static str),
    /// It is optional.
    Optional,
}

use Need::{Optional, Required, With};
use Shape::{Label, Labels, Text};

/// The fields of a kind's body, in stored order. None for a profile, which may have any, and for a chunk, which has no
/// body.
pub fn fields(kind: Kind) -> &'static [Field] {
    match kind {
        Kind::Fact | Kind::Preference | Kind::Event | Kind::Insight | Kind::Relationship | Kind::Background => NOTE,
        Kind::Task => TASK,
        Kind::Decision | Kind::Pattern | Kind::Bugfix => TITLED,
        Kind::Contact => CONTACT,
        Kind::Project => PROJECT,
        Kind::Skill => SKILL,
        Kind::Conversation => CONVERSATION,
        Kind::Profile | Kind::Chunk => &[],
    }
}

macro_rules! field {
    ($name:literal, $shape:expr, $need:expr) => {
        Field { name: $name, path: concat!("body.", $name), shape: $shape, need: $need }
    };
}

/// The last field of every kind.
const METADATA: Field = field!("metadata", Shape::Metadata, Optional);

/// A memory of Krolik may be of any type; here these are mostly plain statements.
const NOTE: &[Field] = &[
    field!("title", Label, Optional),
    field!("description", Text, With("title")),
    field!("feature", Label, Optional),
    METADATA,
];

/// A note that is open until it is done or dropped.
const TASK: &[Field] = &[
    field!("title", Label, Optional),
    field!("description", Text, With("title")),
    field!("feature", Label, Optional),
    field!("status", Shape::Choice { of: &["open", "done", "dropped"], default: "open" }, Optional),
    field!("due", Shape::Time, Optional),
    METADATA,
];

/// The fields of a task that a note does not have.
pub(super) const TASK_ALONE: [&str; 2] = ["status", "due"];

/// Krolik's `memories`.
const TITLED: &[Field] = &[
    field!("title", Label, Required),
    field!("description", Text, Required),
    field!("feature", Label, Optional),
    METADATA,
];

/// Memorizer's `contacts`.
const CONTACT: &[Field] = &[
    field!("name", Label, Required),
    field!("email", Label, Optional),
    field!("company", Label, Optional),
    field!("role", Label, Optional),
    field!("type", Shape::Choice { of: &["work", "personal", "ignored"], default: "work" }, Optional),
    METADATA,
];

/// Memorizer's `projects`.
const PROJECT: &[Field] = &[
    field!("name", Label, Required),
    field!("status", Label, Optional),
    field!("type", Label, Optional),
    field!("description", Text, Optional),
    field!("primary_contact_id", Shape::Record, Optional),
    field!("participants", Shape::People, Optional),
    field!("company", Label, Optional),
    field!("priority", Label, Optional),
    METADATA,
];

/// Memorizer's `skills`.
const SKILL: &[Field] = &[
    field!("name", Label, Required),
    field!("description", Text, Optional),
    field!("enabled", Shape::Flag { default: true }, Optional),
    field!("trigger_type", Label, Optional),
    field!("trigger_config", Shape::Object, Optional),
    field!("instructions", Text, Required),
    field!("required_tools", Labels, Optional),
    field!("execution_plan", Shape::Structure, Optional),
    field!("max_steps", Shape::Count { default: 10 }, Optional),
    METADATA,
];

/// Memorizer's `conversations`.
const CONVERSATION: &[Field] = &[
    field!("session_id", Label, Optional),
    field!("user_message", Text, Required),
    field!("agent_response", Text, Required),
    METADATA,
];
