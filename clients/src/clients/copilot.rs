//! GitHub's Copilot CLI 1.0, November 2026. It offers no tool of a server that `tools` does not name.

use serde_json::json;

use crate::Client;
use crate::format::Entry;
use crate::place::Place;
use crate::profile::{Part, Profile};
use crate::program::{NAME, Program};

pub const PROFILE: Profile = Profile {
    client: Client::Copilot,
    title: "Copilot CLI",
    programs: &["copilot"],
    signs: &[Place::Variable("COPILOT_HOME", ".copilot", "")],
    parts: &[
        Part::server(&[Place::Variable("COPILOT_HOME", ".copilot", "mcp-config.json")], server),
        Part::instruction(&[Place::Variable("COPILOT_HOME", ".copilot", "copilot-instructions.md")]),
    ],
    advice: "sessions that are open see it when they are started again",
};

fn server(program: &Program) -> Vec<Entry> {
    let value = json!({ "type": "local", "command": program.command(), "args": program.arguments(), "tools": ["*"] });
    vec![Entry::member(&["mcpServers"], NAME, value)]
}
