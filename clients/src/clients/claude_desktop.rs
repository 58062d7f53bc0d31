//! Claude Desktop, November 2026.

use crate::Client;
use crate::place::Place;
use crate::profile::{Part, Profile, standard_entry};

pub const PROFILE: Profile = Profile {
    client: Client::ClaudeDesktop,
    title: "Claude Desktop",
    programs: &[],
    signs: &[Place::Application("Claude")],
    parts: &[Part::server(&[Place::Application("Claude/claude_desktop_config.json")], standard_entry)],
    advice: "quit and start it again",
};
