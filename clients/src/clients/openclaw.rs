//! OpenClaw 2026.9, November 2026. Its settings are JSON5.

use crate::Client;
use crate::format::{Entry, Format};
use crate::place::Place;
use crate::profile::{Files, Part, Profile, Role, standard};
use crate::program::{NAME, Program};

pub const PROFILE: Profile = Profile {
    client: Client::OpenClaw,
    title: "OpenClaw",
    programs: &["openclaw"],
    signs: &[Place::Variable("OPENCLAW_STATE_DIR", ".openclaw", "")],
    parts: &[Part::entries(
        Role::Server,
        Files::First(&[Place::Variable("OPENCLAW_STATE_DIR", ".openclaw", "openclaw.json")]),
        Format::Json5,
        server,
    )],
    advice: "its gateway reads the settings again by itself",
};

fn server(program: &Program) -> Vec<Entry> {
    vec![Entry::member(&["mcp", "servers"], NAME, standard(program))]
}
