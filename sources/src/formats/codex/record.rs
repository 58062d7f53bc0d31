//! The fields of lines that are read.

use serde::Deserialize;

use super::super::field::Field;
use super::super::records::Content;

/// A line.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct CodexRecord<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Field<'a>,
    pub timestamp: Field<'a>,
    pub ordinal: Field<'a>,
    pub payload: Field<'a, Payload<'a>>,
}

/// The fields of all payloads that are read.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Payload<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Field<'a>,
    pub id: Field<'a>,
    pub cwd: Field<'a>,
    pub model: Field<'a>,
    pub git: Field<'a, Git<'a>>,
    pub source: Field<'a, Source<'a>>,
    pub parent_thread_id: Field<'a>,
    pub turn_id: Field<'a>,
    pub role: Field<'a>,
    pub content: Content<'a>,
    pub message: Field<'a>,
    pub name: Field<'a>,
    pub call_id: Field<'a>,
    pub arguments: Field<'a>,
    pub output: Field<'a>,
    pub record_type: Field<'a>,
    pub subagent_history_start_ordinal: Field<'a>,
    pub history_base: Field<'a, Base<'a>>,
}

/// The part of another session that a rollout begins with.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Base<'a> {
    #[serde(borrow)]
    pub end_ordinal_exclusive: Field<'a>,
}

/// Where the session is in git.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Git<'a> {
    #[serde(borrow)]
    pub branch: Field<'a>,
}

/// Who started a session.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Source<'a> {
    #[serde(borrow)]
    pub subagent: Field<'a, Subagent<'a>>,
}

/// The origin of a subagent.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Subagent<'a> {
    #[serde(borrow)]
    pub thread_spawn: Field<'a, Spawn<'a>>,
}

/// Who started a subagent.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Spawn<'a> {
    #[serde(borrow)]
    pub parent_thread_id: Field<'a>,
}
