//! Keeps what a person typed: clients run the hook for messages of programs, too.

use memorist_sources::formats::clean::{clean, is_of_program};

/// The part of a message that a person typed, without the blocks of programs; `None` if a program wrote the message, or if
/// it is a command of the client.
pub(super) fn typed(message: &str) -> Option<String> {
    clean(message).filter(|text| !is_of_program(text) && !is_command(text))
}

/// `/compact`, `/model opus`, `/plugin:do`, and as Claude Code writes them, `<command-name>`; not `/etc/hosts is wrong`.
fn is_command(text: &str) -> bool {
    if text.starts_with("<command-") {
        return true;
    }
    let Some(rest) = text.strip_prefix('/') else { return false };
    let name = rest.split(char::is_whitespace).next().unwrap_or_default();
    !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ':' | '.'))
}
