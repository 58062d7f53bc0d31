//! The clients, one per file, each with the date of what it follows. Vendors change where their settings are and what is in
//! them.

mod claude_code;
mod claude_desktop;
mod cline;
mod codex;
mod continue_dev;
mod copilot;
mod cursor;
mod gemini;
mod goose;
mod lm_studio;
mod openclaw;
mod opencode;
mod vscode;
mod windsurf;
mod zed;

use crate::Client;
use crate::profile::Profile;

pub fn profile(client: Client) -> &'static Profile {
    match client {
        Client::ClaudeCode => &claude_code::PROFILE,
        Client::ClaudeDesktop => &claude_desktop::PROFILE,
        Client::Codex => &codex::PROFILE,
        Client::Gemini => &gemini::PROFILE,
        Client::Cursor => &cursor::PROFILE,
        Client::VsCode => &vscode::PROFILE,
        Client::Windsurf => &windsurf::PROFILE,
        Client::Zed => &zed::PROFILE,
        Client::Opencode => &opencode::PROFILE,
        Client::Goose => &goose::PROFILE,
        Client::Continue => &continue_dev::PROFILE,
        Client::Cline => &cline::PROFILE,
        Client::LmStudio => &lm_studio::PROFILE,
        Client::OpenClaw => &openclaw::PROFILE,
        Client::Copilot => &copilot::PROFILE,
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
