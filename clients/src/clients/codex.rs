//! Codex 0.169, November 2026. Its own command writes the same table; in place, it can be undone exactly. Hooks are skipped,
//! without a word, until a person trusts them; what is trusted is a hash of the command and its timeout.

use crate::Client;
use crate::format::{Entry, Format};
use crate::place::Place;
use crate::profile::{Files, Part, Profile, Role, hooks_like_claude, standard};
use crate::program::{NAME, Program};

pub const PROFILE: Profile = Profile {
    client: Client::Codex,
    title: "Codex",
    programs: &["codex"],
    signs: &[Place::Variable("CODEX_HOME", ".codex", "")],
    parts: &[
        Part::entries(
            Role::Server,
            Files::First(&[Place::Variable("CODEX_HOME", ".codex", "config.toml")]),
            Format::Toml,
            server,
        ),
        Part::entries(
            Role::Hooks,
            Files::First(&[Place::Variable("CODEX_HOME", ".codex", "hooks.json")]),
            Format::Json,
            hooks,
        ),
    ],
    advice: "start it, and trust the hooks with /hooks: until then it skips them without a word",
};

fn server(program: &Program) -> Vec<Entry> {
    vec![Entry::member(&["mcp_servers"], NAME, standard(program))]
}

fn hooks(program: &Program) -> Vec<Entry> {
    hooks_like_claude(program, Client::Codex)
}
