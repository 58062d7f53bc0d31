//! Where the memories of a search come from: notes, sessions, or neither.

use memorist_engine::types::Kind;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Where memories come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum SourceName {
    /// Files of notes.
    Notes,
    /// Transcripts of sessions, and turns that were saved.
    Sessions,
    /// Saved memories.
    Memories,
}

impl SourceName {
    /// Where a memory of this kind comes from.
    pub fn of(kind: Kind) -> Self {
        match kind {
            Kind::Chunk => SourceName::Notes,
            Kind::Conversation => SourceName::Sessions,
            _ => SourceName::Memories,
        }
    }
}

pub(super) fn sources_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "enum": ["notes", "sessions", "memories"] } })
}

/// The kinds of these types that come from these sources; all of them if neither is named. `None`: there are none.
pub fn kinds_of(types: Option<&[Kind]>, sources: Option<&[SourceName]>) -> Option<Vec<Kind>> {
    let types = types.unwrap_or_default();
    let Some(sources) = sources.filter(|sources| !sources.is_empty()) else { return Some(types.to_vec()) };
    let of = |kinds: &[Kind]| -> Vec<Kind> {
        kinds.iter().copied().filter(|kind| sources.contains(&SourceName::of(*kind))).collect()
    };
    let kinds = of(if types.is_empty() { &Kind::ALL } else { types });
    (!kinds.is_empty()).then_some(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_types_meet() {
        use SourceName::{Memories, Notes, Sessions};
        assert_eq!(kinds_of(None, None), Some(vec![]));
        assert_eq!(kinds_of(Some(&[Kind::Task]), Some(&[])), Some(vec![Kind::Task]));
        assert_eq!(kinds_of(None, Some(&[Notes])), Some(vec![Kind::Chunk]));
        assert_eq!(kinds_of(None, Some(&[Sessions, Notes])), Some(vec![Kind::Conversation, Kind::Chunk]));
        let memories = kinds_of(None, Some(&[Memories])).unwrap();
        assert_eq!(memories, Kind::ALL[..14]);
        assert_eq!(kinds_of(Some(&[Kind::Task, Kind::Chunk]), Some(&[Memories])), Some(vec![Kind::Task]));
        assert_eq!(kinds_of(Some(&[Kind::Task]), Some(&[Notes])), None);
    }
}
