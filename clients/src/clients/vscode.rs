//! Visual Studio Code, November 2026. `code --add-mcp` writes the same entry, but nothing removes it.

use crate::Client;
use crate::format::Entry;
use crate::place::Place;
use crate::profile::{INSTRUCTION, Part, Profile, Role, stdio};
use crate::program::{NAME, Program};

pub const PROFILE: Profile = Profile {
    client: Client::VsCode,
    title: "VS Code",
    programs: &["code"],
    signs: &[Place::Application("Code/User")],
    parts: &[
        Part::server(&[Place::Application("Code/User/mcp.json")], server),
        Part::file(Role::Instruction, &[Place::Application("Code/User/prompts/memorist.instructions.md")], instruction),
    ],
    advice: "it asks once whether to trust the server",
};

fn server(program: &Program) -> Vec<Entry> {
    vec![Entry::member(&["servers"], NAME, stdio(program))]
}

fn instruction(_: &Program) -> String {
    format!("---\napplyTo: '**'\n---\n{INSTRUCTION}")
}
