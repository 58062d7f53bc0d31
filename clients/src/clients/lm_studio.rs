//! LM Studio, November 2026; on some Macs its folder is in the cache.

use crate::Client;
use crate::place::Place;
use crate::profile::{Part, Profile, standard_entry};

pub const PROFILE: Profile = Profile {
    client: Client::LmStudio,
    title: "LM Studio",
    programs: &["lms"],
    signs: &[Place::Home(".lmstudio"), Place::Home(".cache/lm-studio")],
    parts: &[Part::server(
        &[Place::Home(".lmstudio/mcp.json"), Place::Home(".cache/lm-studio/mcp.json")],
        standard_entry,
    )],
    advice: "it starts the server when a chat uses it",
};
