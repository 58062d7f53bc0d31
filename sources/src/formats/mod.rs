//! Transcripts: one parser an agent.
//!
//! No format is a contract: a record or a field that a parser does not know is skipped and counted, and never an error. A
//! parser takes what a person typed and the prose of the agent. It leaves out what tools print, thinking, system texts
//! and what programs put around a text ([`blocks`]).
//!
//! | file | agent |
//! |---|---|
//! | `claude_code.rs` | Claude Code |
//! | `codex.rs` | Codex CLI |
//! | `gemini.rs` | Gemini CLI |
//! | `openclaw.rs` | OpenClaw, JSONL and SQLite |
//! | `opencode.rs` | opencode |
//! | `goose.rs` | Goose, SQLite and JSONL |
//! | `cursor.rs` | Cursor, its CLI and its IDE |
//! | `copilot.rs` | GitHub Copilot CLI |
//! | `vscode_chat.rs` | GitHub Copilot Chat and other chats of VS Code |
//! | `cline.rs` | Cline, Roo Code and Kilo Code |
//! | `qwen.rs` | Qwen Code |
//! | `continue_dev.rs` | Continue |
//! | `amp.rs` | Amp |
//! | `crush.rs` | Crush |
//! | `zed.rs` | Zed |
//! | `kiro.rs` | the CLIs of Kiro and of Amazon Q Developer |
//! | `kiro_ide.rs` | Kiro's IDE |
//! | `zed_text.rs` | Zed's text threads |
//! | `gimli.rs` | plain `message` lines, as Gimli and others write them |
//! | `chatgpt.rs` | ChatGPT's export |
//! | `claude_ai.rs` | Claude.ai's export |
//! | `specstory.rs` | SpecStory's histories of other agents |
//! | `aider.rs` | aider |
//! | `markdown.rs` | histories in Markdown |
//! | `export.rs` | lists of conversations, in archives too |
//! | `object.rs` | transcripts that are one JSON value |
//! | `editors.rs` | where editors keep what belongs to a user |
//! | `branch.rs` | the branch of a tree of messages that is read |
//! | `transcript.rs` | what a parser does, and what it gives |
//! | `root.rs` | the folder in which a session began |
//! | `recognise.rs` | the format of a file, by its first records |
//! | `jsonl.rs` | files of lines that grow |
//! | `ending.rs` | the last turns of a transcript, without those before |
//! | `sqlite.rs` | databases of agents |
//! | `records.rs` | what the parsers of JSON records share |
//! | `field.rs` | JSON values that may be of any kind |
//! | `blocks.rs` | what a person typed, without the blocks that programs put around it |
//! | `clean.rs` | a message without what programs put into it, to search for what it says |
//! | `corpus.rs`, `databases.rs` | tests of all formats on the files and scripts in `tests/corpus` |

pub mod aider;
pub mod amp;
pub mod blocks;
mod branch;
pub mod chatgpt;
pub mod claude_ai;
pub mod claude_code;
pub mod clean;
pub mod cline;
pub mod codex;
pub mod continue_dev;
pub mod copilot;
#[cfg(test)]
pub(crate) mod corpus;
pub mod crush;
pub mod cursor;
#[cfg(test)]
mod databases;
mod editors;
mod ending;
mod export;
pub mod field;
pub mod gemini;
pub mod gimli;
pub mod goose;
pub mod jsonl;
pub mod kiro;
pub mod kiro_ide;
mod markdown;
mod object;
pub mod openclaw;
pub mod opencode;
pub mod qwen;
mod recognise;
pub mod records;
mod root;
pub mod specstory;
pub mod sqlite;
mod transcript;
pub mod vscode_chat;
pub mod zed;
pub mod zed_text;

use jiff::tz::TimeZone;

pub use ending::last_turns;
pub use recognise::recognise;
pub use root::first_folder;
pub use transcript::{Batch, Cursor, Format, ReadError, Role, Skipped, Turn};

#[rustfmt::skip] // one a line
pub fn all() -> &'static [&'static dyn Format] {
    &[
        &claude_code::ClaudeCode,
        &codex::Codex,
        &gemini::Gemini,
        &openclaw::OpenClaw,
        &opencode::OpenCode,
        &goose::Goose,
        &cursor::CursorAgent,
        &gimli::Gimli,
        &chatgpt::CHATGPT,
        &claude_ai::CLAUDE_AI,
        &specstory::SpecStory,
        &aider::Aider { zone: TimeZone::system },
        &copilot::Copilot,
        &vscode_chat::VsCodeChat,
        &cline::Cline,
        &qwen::QwenCode,
        &continue_dev::Continue,
        &amp::Amp,
        &crush::Crush,
        &zed::Zed,
        &kiro::Kiro,
        &kiro_ide::KiroIde,
        &zed_text::ZedText,
    ]
}

pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    all().iter().copied().find(|format| format.name() == name)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use super::corpus::{files, folder};
    use super::{Batch, by_name, databases};

    /// Adds a line a turn: file, role, first line, time.
    fn list(lines: &mut String, file: &str, batch: &Batch) {
        for turn in &batch.turns {
            let role = format!("{:?}", turn.role).to_lowercase();
            let at = turn.at.map_or_else(|| "-".to_owned(), |at| at.to_string());
            writeln!(lines, "{file}\t{role}\t{}\t{at}", turn.lines.0).unwrap();
        }
    }

    /// 44: a program that shares no code with the parsers counts the same messages, with their roles, lines and times.
    #[test]
    #[cfg_attr(windows, ignore = "Windows has no `python3`, and nothing in the count depends on the system")]
    fn another_program_counts_the_same_messages() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/count.py");
        let counted = std::process::Command::new("python3").arg("-B").arg(script).output();
        let counted = counted.expect("python3, version 3.11 or newer, counts the messages of the corpus: install it");
        assert!(counted.status.success(), "{}", String::from_utf8_lossy(&counted.stderr));
        let mut found = String::new();
        let agents =
            ["amp", "claude-code", "cline", "codex", "continue", "copilot", "cursor", "gemini", "gimli", "goose"];
        let more = ["kiro", "kiro-ide", "openclaw", "qwen-code", "vscode-chat", "zed-text"];
        let others = ["chatgpt", "claude-ai", "specstory", "aider"];
        for format in agents.into_iter().chain(more).chain(others).map(|name| by_name(name).unwrap()) {
            for path in files(format) {
                let below = path.strip_prefix(folder(format).parent().unwrap()).unwrap().to_str().unwrap();
                list(&mut found, below, &format.read(&path, None).unwrap());
            }
        }
        for (format, script, path) in databases::SCRIPTS {
            let format = by_name(format).unwrap();
            let batch = format.read(&databases::make(format, script, path).path, None).unwrap();
            list(&mut found, &format!("{}/{script}", format.name()), &batch);
        }
        let counted = String::from_utf8(counted.stdout).unwrap().replace("\r\n", "\n");
        assert!(counted == found, "counted\n{counted}\nparsed\n{found}");
    }
}
