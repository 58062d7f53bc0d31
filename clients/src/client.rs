//! Which clients there are, and their names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A program that agents run in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&str", try_from = "String")]
#[non_exhaustive]
pub enum Client {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// Anthropic's Claude Desktop.
    ClaudeDesktop,
    /// OpenAI's Codex.
    Codex,
    /// Google's Gemini CLI.
    Gemini,
    /// Cursor, the editor and its command line.
    Cursor,
    VsCode,
    Windsurf,
    Zed,
    Opencode,
    Goose,
    Continue,
    Cline,
    LmStudio,
    OpenClaw,
    /// GitHub's Copilot CLI.
    Copilot,
}

/// A name that no client has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown client {0:?}; use one of {names}", names = Client::ALL.map(Client::name).join(", "))]
pub struct UnknownClient(String);

impl Client {
    pub const ALL: [Client; 15] = [
        Client::ClaudeCode,
        Client::ClaudeDesktop,
        Client::Codex,
        Client::Gemini,
        Client::Cursor,
        Client::VsCode,
        Client::Windsurf,
        Client::Zed,
        Client::Opencode,
        Client::Goose,
        Client::Continue,
        Client::Cline,
        Client::LmStudio,
        Client::OpenClaw,
        Client::Copilot,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::ClaudeDesktop => "claude-desktop",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
            Client::Cursor => "cursor",
            Client::VsCode => "vscode",
            Client::Windsurf => "windsurf",
            Client::Zed => "zed",
            Client::Opencode => "opencode",
            Client::Goose => "goose",
            Client::Continue => "continue",
            Client::Cline => "cline",
            Client::LmStudio => "lm-studio",
            Client::OpenClaw => "openclaw",
            Client::Copilot => "copilot",
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Client> for &'static str {
    fn from(client: Client) -> Self {
        client.name()
    }
}

impl TryFrom<String> for Client {
    type Error = UnknownClient;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        name.parse()
    }
}

impl FromStr for Client {
    type Err = UnknownClient;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Client::ALL.into_iter().find(|client| client.name() == name).ok_or_else(|| UnknownClient(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_found_by_its_name_alone() {
        for client in Client::ALL {
            assert_eq!(client.name().parse(), Ok(client));
        }
        let refused = "emacs".parse::<Client>().unwrap_err().to_string();
        assert!(refused.contains("\"emacs\"") && refused.contains("lm-studio"), "{refused}");
    }
}
