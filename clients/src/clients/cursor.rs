//! Cursor 3.12, November 2026. The units of its timeouts are said in two ways, so none is written. Its program for terminals
//! runs the hooks of Claude Code, too.

use serde_json::json;

use crate::Client;
use crate::format::{Entry, Format};
use crate::place::Place;
use crate::profile::{Content, Files, Part, Profile, Role, standard_entry};
use crate::program::Program;

pub const PROFILE: Profile = Profile {
    client: Client::Cursor,
    title: "Cursor",
    programs: &["cursor", "cursor-agent"],
    signs: &[Place::Home(".cursor")],
    parts: &[
        Part::server(&[Place::Home(".cursor/mcp.json")], standard_entry),
        Part {
            role: Role::Hooks,
            files: Files::First(&[Place::Home(".cursor/hooks.json")]),
            content: Content::Entries {
                format: Format::Json,
                frame,
                entries: hooks,
                hides: None,
                by_command: false,
                runs_hooks_of: Some((Client::ClaudeCode, "sessionStart")),
            },
        },
    ],
    advice: "it asks once whether to enable the server",
};

fn frame() -> Vec<Entry> {
    vec![Entry::member(&[], "version", json!(1))]
}

fn hooks(program: &Program) -> Vec<Entry> {
    let hook =
        |name, event| Entry::item(&["hooks", name], json!({ "command": program.hook_line(Client::Cursor, event) }));
    vec![hook("sessionStart", "start"), hook("stop", "stop")]
}
