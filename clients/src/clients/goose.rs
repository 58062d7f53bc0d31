//! Goose 1.10 and later, November 2026. It has no hooks; its hints for all projects are a text beside its settings.

use serde_json::json;

use crate::Client;
use crate::format::{Entry, Format};
use crate::place::Place;
use crate::profile::{Files, Part, Profile, Role};
use crate::program::{NAME, Program};

pub const PROFILE: Profile = Profile {
    client: Client::Goose,
    title: "Goose",
    programs: &["goose"],
    signs: &[Place::ConfigOr("goose", "Block/goose")],
    parts: &[
        Part::entries(
            Role::Server,
            Files::First(&[Place::ConfigOr("goose/config.yaml", "Block/goose/config/config.yaml")]),
            Format::Yaml,
            server,
        ),
        Part::instruction(&[Place::ConfigOr("goose/.goosehints", "Block/goose/config/.goosehints")]),
    ],
    advice: "sessions that are open see it when they are started again",
};

fn server(program: &Program) -> Vec<Entry> {
    let value = json!({
        "enabled": true, "type": "stdio", "name": NAME, "cmd": program.command(), "args": program.arguments(),
        "envs": {}, "timeout": 300,
    });
    vec![Entry::member(&["extensions"], NAME, value)]
}
