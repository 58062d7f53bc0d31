//! Memories and instructions of agents.

use std::ffi::OsStr;
use std::path::Path;

use super::found::Discovery;
use super::survey::{folders, own_files, walk};
use crate::machine::Machine;

/// Instructions that agents read before they begin.
const INSTRUCTIONS: [&str; 3] = ["CLAUDE.md", "AGENTS.md", "GEMINI.md"];
const ABOUT: &str = "instructions of this project";
/// Memories of a workspace.
const MEMORIES: [&str; 3] = ["MEMORY.md", "memory.md", "memory"];

/// Finds the memories of agents, whatever the working folder is.
pub(super) fn of_agents(machine: &Machine, found: &mut Discovery) {
    let claude = machine.path("CLAUDE_CONFIG_DIR", ".claude");
    found.notes("Claude Code's instructions", &claude.join("CLAUDE.md"));
    for project in folders(&claude.join("projects")) {
        found.notes("Claude Code's memory", &project.join("memory"));
    }
    found.notes("Codex's instructions", &machine.path("CODEX_HOME", ".codex").join("AGENTS.md"));
    found.notes("Gemini's instructions and memory", &machine.home().join(".gemini/GEMINI.md"));

    // Each agent of OpenClaw can have a workspace of its own.
    for folder in folders(&machine.path("OPENCLAW_STATE_DIR", ".openclaw")) {
        if folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"workspace")) {
            memories("OpenClaw's memory", &folder, found);
        }
    }
    found.notes("Mudpuppy's workspace", &machine.home().join(".mudpuppy/workspace"));
    for workspace in [".gimli", ".gimli/workspace"] {
        memories("Gimli's memory", &machine.home().join(workspace), found);
    }
}

/// Finds the memories of agents about a project, and its instructions.
pub(super) fn of_working_folder(folder: &Path, found: &mut Discovery) {
    memories("this project's memory", folder, found);
    let root = folder.ancestors().find(|folder| folder.join(".git").exists());
    let root = root.unwrap_or(folder);
    for above in folder.ancestors().take_while(|above| above.starts_with(root)) {
        for name in INSTRUCTIONS {
            found.notes_inside(ABOUT, root, &above.join(name));
        }
    }
    if root.join(".git").exists() && !found.has_home(root) {
        let mut paths = Vec::new();
        let is_instructions = |name: &OsStr| INSTRUCTIONS.iter().any(|known| name == *known);
        let problem = walk(&own_files(root), found.progress(), |entry| {
            if is_instructions(entry.file_name()) {
                paths.push(entry.into_path());
            }
        });
        for path in paths {
            found.notes_inside(ABOUT, root, &path);
        }
        if let Some(problem) = problem {
            found.unread(ABOUT, root, problem);
        }
    }
}

fn memories(about: &'static str, workspace: &Path, found: &mut Discovery) {
    for name in MEMORIES {
        found.notes_inside(about, workspace, &workspace.join(name));
    }
}
