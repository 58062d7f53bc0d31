//! Continue, November 2026. Its folder of files with servers is read by the editors alone, `config.yaml` by its command
//! line, too. Beside a `config.yaml` it no longer reads an older `config.json`.

use serde_json::json;

use crate::Client;
use crate::format::{Entry, Format};
use crate::place::Place;
use crate::profile::{Content, Files, INSTRUCTION, Part, Profile, Role};
use crate::program::{NAME, Program};

pub const PROFILE: Profile = Profile {
    client: Client::Continue,
    title: "Continue",
    programs: &["cn"],
    signs: &[Place::Home(".continue")],
    parts: &[
        Part {
            role: Role::Server,
            files: Files::First(&[Place::Home(".continue/config.yaml")]),
            content: Content::Entries {
                format: Format::Yaml,
                frame,
                entries: server,
                hides: Some(Place::Home(".continue/config.json")),
                by_command: false,
                runs_hooks_of: None,
            },
        },
        Part::file(Role::Instruction, &[Place::Home(".continue/rules/memorist.md")], instruction),
    ],
    advice: "it reads its settings again by itself",
};

fn frame() -> Vec<Entry> {
    let member = |name, value: &str| Entry::member(&[], name, json!(value));
    vec![member("name", "Local Config"), member("version", "1.0.0"), member("schema", "v1")]
}

fn server(program: &Program) -> Vec<Entry> {
    let value = json!({ "name": NAME, "command": program.command(), "args": program.arguments() });
    vec![Entry::item(&["mcpServers"], value)]
}

fn instruction(_: &Program) -> String {
    format!("---\nname: memorist\nalwaysApply: true\n---\n{INSTRUCTION}")
}
