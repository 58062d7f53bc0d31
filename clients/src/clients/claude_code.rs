//! Claude Code 2.1.332, November 2026. It rewrites `.claude.json` while it runs, so its own command registers the server
//! where it is installed. Hooks are in another file, with timeouts in seconds.

use crate::Client;
use crate::format::{Entry, Format};
use crate::place::Place;
use crate::profile::{Content, Files, Part, Profile, Role, hook_entry, hooks_like_claude, nothing, stdio};
use crate::program::{NAME, Program};

pub const PROFILE: Profile = Profile {
    client: Client::ClaudeCode,
    title: "Claude Code",
    programs: &["claude"],
    signs: &[
        Place::Variable("CLAUDE_CONFIG_DIR", ".claude", ""),
        Place::Variable("CLAUDE_CONFIG_DIR", "", ".claude.json"),
    ],
    parts: &[
        Part {
            role: Role::Server,
            files: Files::First(&[Place::Variable("CLAUDE_CONFIG_DIR", "", ".claude.json")]),
            content: Content::Entries {
                format: Format::Json,
                frame: nothing,
                entries: server,
                hides: None,
                by_command: true,
                runs_hooks_of: None,
            },
        },
        Part::entries(
            Role::Hooks,
            Files::First(&[Place::Variable("CLAUDE_CONFIG_DIR", ".claude", "settings.json")]),
            Format::Json,
            hooks,
        ),
    ],
    advice: "sessions that are open see it when they are started again",
};

fn server(program: &Program) -> Vec<Entry> {
    vec![Entry::member(&["mcpServers"], NAME, stdio(program))]
}

fn hooks(program: &Program) -> Vec<Entry> {
    let of_actions = [("PreToolUse", "before"), ("PostToolUseFailure", "failed")];
    let of_actions = of_actions.map(|of| hook_entry(program, Client::ClaudeCode, of, 2));
    hooks_like_claude(program, Client::ClaudeCode).into_iter().chain(of_actions).collect()
}
