//! Sessions as agents write them: transcripts of lines, and SQL for the databases of others.
//!
//! Among the turns are records that a parser has to leave out: outputs of tools, thinking, system texts, wrappers around prompts.
//! The word [`LEFT_OUT`](crate::LEFT_OUT) is in their texts. A right parser returns the session's turns in their order with their
//! texts, and summaries besides, which Claude Code, Codex and OpenClaw write into sessions of more than 100 turns.
//!
//! | file | agent |
//! |---|---|
//! | `claude_code.rs` | Claude Code |
//! | `codex.rs` | Codex CLI |
//! | `gemini.rs` | Gemini CLI |
//! | `openclaw.rs` | OpenClaw, JSONL and SQLite |
//! | `cursor_cli.rs`, `cursor_ide.rs` | Cursor |
//! | `gimli.rs` | plain `message` lines |
//! | `opencode.rs` | opencode |
//! | `goose.rs` | Goose |
//! | `writing.rs` | lines of JSON, SQL texts, and times |

mod claude_code;
mod codex;
mod cursor_cli;
mod cursor_ide;
mod gemini;
mod gimli;
mod goose;
mod openclaw;
mod opencode;
mod writing;

use std::io::{self, Write};

use crate::sessions::Session;

/// An agent that writes lines of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    ClaudeCode,
    Codex,
    Gemini,
    OpenClaw,
    CursorCli,
    Gimli,
}

impl Agent {
    pub const ALL: [Agent; 6] =
        [Agent::ClaudeCode, Agent::Codex, Agent::Gemini, Agent::OpenClaw, Agent::CursorCli, Agent::Gimli];

    /// The path of a session's transcript below the home folder.
    pub fn path(self, session: &Session) -> String {
        match self {
            Agent::ClaudeCode => claude_code::path(session),
            Agent::Codex => codex::path(session),
            Agent::Gemini => gemini::path(session),
            Agent::OpenClaw => openclaw::path(session),
            Agent::CursorCli => cursor_cli::path(session),
            Agent::Gimli => gimli::path(session),
        }
    }

    /// Writes a session's transcript.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write(self, session: &Session, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Agent::ClaudeCode => claude_code::write(session, out),
            Agent::Codex => codex::write(session, out),
            Agent::Gemini => gemini::write(session, out),
            Agent::OpenClaw => openclaw::write(session, out),
            Agent::CursorCli => cursor_cli::write(session, out),
            Agent::Gimli => gimli::write(session, out),
        }
    }
}

/// An agent that keeps all sessions in an SQLite database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    OpenCode,
    Goose,
    CursorIde,
    OpenClaw,
}

impl Database {
    pub const ALL: [Database; 4] = [Database::OpenCode, Database::Goose, Database::CursorIde, Database::OpenClaw];

    /// Its path below the home folder, on Linux.
    pub fn path(self) -> &'static str {
        match self {
            Database::OpenCode => ".local/share/opencode/opencode.db",
            Database::Goose => ".local/share/goose/sessions/sessions.db",
            Database::CursorIde => ".config/Cursor/User/globalStorage/state.vscdb",
            Database::OpenClaw => ".openclaw/agents/main/agent/openclaw-agent.sqlite",
        }
    }

    /// SQL that makes the tables.
    pub fn schema(self) -> &'static str {
        match self {
            Database::OpenCode => opencode::SCHEMA,
            Database::Goose => goose::SCHEMA,
            Database::CursorIde => cursor_ide::SCHEMA,
            Database::OpenClaw => openclaw::SCHEMA,
        }
    }

    /// Writes SQL that inserts a session, in one transaction.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write(self, session: &Session, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "BEGIN;")?;
        match self {
            Database::OpenCode => opencode::write(session, out),
            Database::Goose => goose::write(session, out),
            Database::CursorIde => cursor_ide::write(session, out),
            Database::OpenClaw => openclaw::write_sql(session, out),
        }?;
        writeln!(out, "COMMIT;")
    }
}
