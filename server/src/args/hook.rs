//! `hook`: what clients run.

use clap::Args;

/// `hook`.
///
/// Both are texts: a name that this version does not know must not stop a client.
#[derive(Debug, Args)]
pub struct Hook {
    /// The client: claude-code, codex, gemini, cursor, opencode, cline
    pub client: String,
    /// What has happened: prompt, start, stop, end, compact, before, failed
    pub event: String,
}
