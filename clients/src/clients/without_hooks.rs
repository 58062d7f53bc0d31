//! The clients without hooks, each with the date of what it follows.

use serde_json::json;

use crate::Client;
use crate::format::{Entry, Format};
use crate::place::Place;
use crate::profile::{Content, Files, INSTRUCTION, Part, Profile, Role, standard, standard_entry, stdio};
use crate::program::{NAME, Program};

/// Claude Desktop, November 2026.
pub const CLAUDE_DESKTOP: Profile = Profile {
    client: Client::ClaudeDesktop,
    title: "Claude Desktop",
    programs: &[],
    signs: &[Place::Application("Claude")],
    parts: &[Part::server(&[Place::Application("Claude/claude_desktop_config.json")], standard_entry)],
    advice: "quit and start it again",
};

/// Visual Studio Code, November 2026. `code --add-mcp` writes the same entry, but nothing removes it.
pub const VSCODE: Profile = Profile {
    client: Client::VsCode,
    title: "VS Code",
    programs: &["code"],
    signs: &[Place::Application("Code/User")],
    parts: &[
        Part::server(&[Place::Application("Code/User/mcp.json")], server_of_vscode),
        Part::file(
            Role::Instruction,
            &[Place::Application("Code/User/prompts/memorist.instructions.md")],
            instruction_of_vscode,
        ),
    ],
    advice: "it asks once whether to trust the server",
};

fn server_of_vscode(program: &Program) -> Vec<Entry> {
    vec![Entry::member(&["servers"], NAME, stdio(program))]
}

fn instruction_of_vscode(_: &Program) -> String {
    format!("---\napplyTo: '**'\n---\n{INSTRUCTION}")
}

/// Windsurf, November 2026.
pub const WINDSURF: Profile = Profile {
    client: Client::Windsurf,
    title: "Windsurf",
    programs: &["windsurf"],
    signs: &[Place::Home(".codeium/windsurf")],
    parts: &[
        Part::server(&[Place::Home(".codeium/windsurf/mcp_config.json")], standard_entry),
        Part::instruction(&[Place::Home(".codeium/windsurf/memories/global_rules.md")]),
    ],
    advice: "refresh its list of MCP servers, or start it again",
};

/// Zed, November 2026. Its rules for all projects are in a database, so there is no instruction.
pub const ZED: Profile = Profile {
    client: Client::Zed,
    title: "Zed",
    programs: &["zed", "zeditor"],
    signs: &[Place::Config("zed")],
    parts: &[Part::server(&[Place::Config("zed/settings.json")], server_of_zed)],
    advice: "it starts the server by itself",
};

fn server_of_zed(program: &Program) -> Vec<Entry> {
    vec![Entry::member(&["context_servers"], NAME, standard(program))]
}

/// Goose 1.10 and later, November 2026. It has no hooks; its hints for all projects are a text beside its settings.
pub const GOOSE: Profile = Profile {
    client: Client::Goose,
    title: "Goose",
    programs: &["goose"],
    signs: &[Place::ConfigOr("goose", "Block/goose")],
    parts: &[
        Part::entries(
            Role::Server,
            Files::First(&[Place::ConfigOr("goose/config.yaml", "Block/goose/config/config.yaml")]),
            Format::Yaml,
            server_of_goose,
        ),
        Part::instruction(&[Place::ConfigOr("goose/.goosehints", "Block/goose/config/.goosehints")]),
    ],
    advice: "sessions that are open see it when they are started again",
};

fn server_of_goose(program: &Program) -> Vec<Entry> {
    let value = json!({
        "enabled": true, "type": "stdio", "name": NAME, "cmd": program.command(), "args": program.arguments(),
        "envs": {}, "timeout": 300,
    });
    vec![Entry::member(&["extensions"], NAME, value)]
}

/// Continue, November 2026. Its folder of files with servers is read by the editors alone, `config.yaml` by its command
/// line, too. Beside a `config.yaml` it no longer reads an older `config.json`.
pub const CONTINUE: Profile = Profile {
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
                frame: frame_of_continue,
                entries: server_of_continue,
                hides: Some(Place::Home(".continue/config.json")),
                by_command: false,
                runs_hooks_of: None,
            },
        },
        Part::file(Role::Instruction, &[Place::Home(".continue/rules/memorist.md")], instruction_of_continue),
    ],
    advice: "it reads its settings again by itself",
};

fn frame_of_continue() -> Vec<Entry> {
    let member = |name, value: &str| Entry::member(&[], name, json!(value));
    vec![member("name", "Local Config"), member("version", "1.0.0"), member("schema", "v1")]
}

fn server_of_continue(program: &Program) -> Vec<Entry> {
    let value = json!({ "name": NAME, "command": program.command(), "args": program.arguments() });
    vec![Entry::item(&["mcpServers"], value)]
}

fn instruction_of_continue(_: &Program) -> String {
    format!("---\nname: memorist\nalwaysApply: true\n---\n{INSTRUCTION}")
}

/// LM Studio, November 2026; on some Macs its folder is in the cache.
pub const LM_STUDIO: Profile = Profile {
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

/// OpenClaw 2026.9, November 2026. Its settings are JSON5.
pub const OPENCLAW: Profile = Profile {
    client: Client::OpenClaw,
    title: "OpenClaw",
    programs: &["openclaw"],
    signs: &[Place::Variable("OPENCLAW_STATE_DIR", ".openclaw", "")],
    parts: &[Part::entries(
        Role::Server,
        Files::First(&[Place::Variable("OPENCLAW_STATE_DIR", ".openclaw", "openclaw.json")]),
        Format::Json5,
        server_of_openclaw,
    )],
    advice: "its gateway reads the settings again by itself",
};

fn server_of_openclaw(program: &Program) -> Vec<Entry> {
    vec![Entry::member(&["mcp", "servers"], NAME, standard(program))]
}

/// GitHub's Copilot CLI 1.0, November 2026. It offers no tool of a server that `tools` does not name.
pub const COPILOT: Profile = Profile {
    client: Client::Copilot,
    title: "Copilot CLI",
    programs: &["copilot"],
    signs: &[Place::Variable("COPILOT_HOME", ".copilot", "")],
    parts: &[
        Part::server(&[Place::Variable("COPILOT_HOME", ".copilot", "mcp-config.json")], server_of_copilot),
        Part::instruction(&[Place::Variable("COPILOT_HOME", ".copilot", "copilot-instructions.md")]),
    ],
    advice: "sessions that are open see it when they are started again",
};

fn server_of_copilot(program: &Program) -> Vec<Entry> {
    let value = json!({ "type": "local", "command": program.command(), "args": program.arguments(), "tools": ["*"] });
    vec![Entry::member(&["mcpServers"], NAME, value)]
}
