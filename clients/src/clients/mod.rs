//! The clients, each with the date of what it follows; those with hooks have a file each. Vendors change where their
//! settings are and what is in them.

mod claude_code;
mod cline;
mod codex;
mod cursor;
mod gemini;
mod opencode;
mod without_hooks;

use crate::Client;
use crate::profile::Profile;

pub fn profile(client: Client) -> &'static Profile {
    match client {
        Client::ClaudeCode => &claude_code::PROFILE,
        Client::ClaudeDesktop => &without_hooks::CLAUDE_DESKTOP,
        Client::Codex => &codex::PROFILE,
        Client::Gemini => &gemini::PROFILE,
        Client::Cursor => &cursor::PROFILE,
        Client::VsCode => &without_hooks::VSCODE,
        Client::Windsurf => &without_hooks::WINDSURF,
        Client::Zed => &without_hooks::ZED,
        Client::Opencode => &opencode::PROFILE,
        Client::Goose => &without_hooks::GOOSE,
        Client::Continue => &without_hooks::CONTINUE,
        Client::Cline => &cline::PROFILE,
        Client::LmStudio => &without_hooks::LM_STUDIO,
        Client::OpenClaw => &without_hooks::OPENCLAW,
        Client::Copilot => &without_hooks::COPILOT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_its_own_profile() {
        for client in Client::ALL {
            let profile = profile(client);
            assert_eq!(profile.client, client);
            assert!(!profile.signs.is_empty() && !profile.parts.is_empty() && !profile.advice.is_empty(), "{client}");
        }
    }
}
