//! `hook`: what clients run.

use clap::Args;

/// `hook`.
///
/// Both are texts: a name that this version does not know must not stop a client.
#[derive(Debug, Args)]
pub struct Hook {
    /// Client: claude-code, codex, gemini, cursor, opencode or cline
    pub client: String,
    /// Event: prompt, start, stop, end, compact, before or failed
    pub event: String,
}
