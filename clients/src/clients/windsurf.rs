//! Windsurf, November 2026.

use crate::Client;
use crate::place::Place;
use crate::profile::{Part, Profile, standard_entry};

pub const PROFILE: Profile = Profile {
    client: Client::Windsurf,
    title: "Windsurf",
    programs: &["windsurf"],
    signs: &[Place::Home(".codeium/windsurf")],
    parts: &[
        Part::server(&[Place::Home(".codeium/windsurf/mcp_config.json")], standard_entry),
        Part::instruction(&[Place::Home(".codeium/windsurf/memories/global_rules.md")]),
    ],
    advice: "refresh its list of MCP servers, or start it again",
};
