//! Lines about what is gone, which the machines of a person send each other (`machines/turn.rs`). An export has none, and an import
//! refuses them: no file that somebody is sent deletes a memory.
//!
//! ```json
//! {"type":"tombstone","ulid":"01J…","project":"atlas","deletedAt":1767225600000}
//! {"type":"unlink","from":"01J…","linkType":"related","to":"01J…","removedAt":1767225600000}
//! ```
//!
//! A tombstone has also, where it is so: `agent`, `purged`, `into` (its twin, with which it was united), and `purgedVersions`, by
//! the moments when they became the newest. No text is in any of them.

use memorist_engine::types::{LinkKind, LinkTombstone, MemoryTombstone, Millis, PortableTombstone, Scope};
use serde::{Deserialize, Serialize};

/// The `type` of a line.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Gone {
    Tombstone,
    Unlink,
}

/// The end of a memory.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TombstoneLine {
    r#type: Gone,
    ulid: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    purged: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    into: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    purged_versions: Vec<Millis>,
}

/// The end of a link.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnlinkLine {
    r#type: Gone,
    from: String,
    link_type: LinkKind,
    to: String,
    removed_at: Millis,
}

impl From<MemoryTombstone> for TombstoneLine {
    fn from(gone: MemoryTombstone) -> Self {
        TombstoneLine {
            r#type: Gone::Tombstone,
            ulid: gone.ulid,
            project: gone.scope.project,
            agent: gone.scope.agent,
            deleted_at: gone.deleted_at,
            purged: gone.is_purged,
            into: gone.into,
            purged_versions: gone.purged_versions,
        }
    }
}

impl From<LinkTombstone> for UnlinkLine {
    fn from(LinkTombstone { from, kind, to, removed_at }: LinkTombstone) -> Self {
        UnlinkLine { r#type: Gone::Unlink, from, link_type: kind, to, removed_at }
    }
}

impl From<TombstoneLine> for PortableTombstone {
    fn from(line: TombstoneLine) -> Self {
        PortableTombstone::Memory(MemoryTombstone {
            ulid: line.ulid,
            scope: Scope { agent: line.agent, project: line.project },
            deleted_at: line.deleted_at,
            is_purged: line.purged,
            into: line.into,
            purged_versions: line.purged_versions,
        })
    }
}

impl From<UnlinkLine> for PortableTombstone {
    fn from(UnlinkLine { from, link_type, to, removed_at, .. }: UnlinkLine) -> Self {
        PortableTombstone::Link(LinkTombstone { from, kind: link_type, to, removed_at })
    }
}
