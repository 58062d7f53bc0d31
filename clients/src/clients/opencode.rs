//! opencode 1.18, November 2026. Its hooks are functions of a plugin: a file in its folder of plugins.

use serde_json::json;

use crate::Client;
use crate::format::Entry;
use crate::place::Place;
use crate::profile::{Part, Profile, Role};
use crate::program::{NAME, Program};

pub const PROFILE: Profile = Profile {
    client: Client::Opencode,
    title: "opencode",
    programs: &["opencode"],
    signs: &[Place::Config("opencode")],
    parts: &[
        Part::server(&[Place::Config("opencode/opencode.json"), Place::Config("opencode/opencode.jsonc")], server),
        Part::file(Role::Hooks, &[Place::Config("opencode/plugins/memorist.js")], plugin),
    ],
    advice: "sessions that are open see it when they are started again",
};

fn server(program: &Program) -> Vec<Entry> {
    let command: Vec<String> = [program.command()].into_iter().chain(program.arguments()).collect();
    vec![Entry::member(&["mcp"], NAME, json!({ "type": "local", "command": command, "enabled": true }))]
}

fn plugin(program: &Program) -> String {
    let words = json!(program.hook(Client::Opencode, "EVENT")).to_string();
    include_str!("opencode.js").replacen("[\"memorist\", \"hook\", \"opencode\", \"EVENT\"]", &words, 1)
}
