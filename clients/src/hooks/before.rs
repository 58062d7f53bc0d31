//! The messages of a person before the current one, from the end of the transcript: "and for the other one?" continues them.

use std::path::Path;

use memorist_sources::formats::{self, Format, Role};
use memorist_sources::machine::Machine;

use super::call::Call;
use crate::Client;

/// Bytes of a transcript that are read, from its end. Tools print much between two messages.
const MOST_BYTES: u64 = 1 << 20;
/// Messages that are returned.
const MOST_MESSAGES: usize = 8;

/// The messages of a person before the message of `call`, the newest last: at most eight. Empty if the client takes nothing
/// at a message or has no transcript, or if the file is not where the client keeps its transcripts.
pub fn said_before(client: Client, call: &Call, machine: &Machine) -> Vec<String> {
    // Cursor takes nothing at a message.
    let Some(format) = formats::by_name(client.name()).filter(|_| client != Client::Cursor) else { return Vec::new() };
    let Some(path) = call.transcript.as_deref().filter(|path| is_kept_by(format, path, machine)) else {
        return Vec::new();
    };
    let mut turns = formats::last_turns(format, path, MOST_BYTES).unwrap_or_default();
    turns.retain(|turn| turn.role == Role::User && turn.subagent.is_none());
    let mut said: Vec<String> = turns.into_iter().map(|turn| turn.text).collect();
    // It may be written already.
    let message = call.message.as_deref().map(str::trim);
    if said.last().map(|text| text.trim()) == message {
        said.pop();
    }
    said.split_off(said.len().saturating_sub(MOST_MESSAGES))
}

/// Whether a path is of a transcript in a folder of the client. The name is checked before the file system is asked: the
/// path may lead to another machine.
fn is_kept_by(format: &dyn Format, path: &Path, machine: &Machine) -> bool {
    let places = format.places(machine);
    if !format.is_transcript(path) || !places.iter().any(|place| path.starts_with(place)) {
        return false;
    }
    let Ok(real) = path.canonicalize() else { return false };
    places.iter().filter_map(|place| place.canonicalize().ok()).any(|place| real.starts_with(place))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use serde_json::json;
    use tempfile::TempDir;

    use super::*;

    /// A home with a folder of sessions of Claude Code.
    fn home() -> (TempDir, Machine, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let machine = Machine::new(home.path(), []);
        let folder = home.path().join(".claude/projects/-p");
        fs::create_dir_all(&folder).unwrap();
        (home, machine, folder)
    }

    fn line(at: usize, role: &str, text: &str) -> String {
        let message = json!({ "role": role, "content": text });
        json!({ "type": role, "uuid": format!("u{at}"), "sessionId": "S", "message": message }).to_string() + "\n"
    }

    #[test]
    fn earlier_messages_are_read_from_the_transcript() {
        let (_home, machine, folder) = home();
        let path = folder.join("S.jsonl");
        let asked: String = (0..10).map(|at| line(at, "user", &format!("Question {at}?"))).collect();
        let answered: String = (10..30).map(|at| line(at, "assistant", "Shall I go on?")).collect();
        // The last line is being written, and the first ones end as on Windows.
        let lines = asked.replace('\n', "\r\n") + &answered + &line(30, "user", "and for tidepool?") + "{\"type\":\"us";
        fs::write(&path, lines).unwrap();
        let before = |client, transcript: &Path, message: &str| {
            let call =
                Call { transcript: Some(transcript.to_owned()), message: Some(message.to_owned()), ..Call::default() };
            said_before(client, &call, &machine)
        };
        let said = before(Client::ClaudeCode, &path, " and for tidepool? ");
        assert_eq!((said.len(), said.last().map(String::as_str)), (8, Some("Question 9?")));
        let said = before(Client::ClaudeCode, &path, "and for kestrel?");
        assert_eq!(said.last().map(String::as_str), Some("and for tidepool?"));
        for client in [Client::Cline, Client::Cursor, Client::Codex] {
            assert!(before(client, &path, "and for kestrel?").is_empty(), "{client}");
        }
        for other in ["missing.jsonl", "S.txt", ""] {
            assert!(before(Client::ClaudeCode, &folder.join(other), "?").is_empty(), "{other}");
        }
    }

    #[test]
    fn a_transcript_outside_the_clients_folders_is_not_read() {
        let (home, machine, folder) = home();
        let call = |transcript| Call { transcript: Some(transcript), message: Some("?".into()), ..Call::default() };
        let other = home.path().join("S.jsonl");
        fs::write(&other, line(1, "user", "which port?")).unwrap();
        assert!(said_before(Client::ClaudeCode, &call(other.clone()), &machine).is_empty());
        let copy = folder.join("S.jsonl");
        fs::copy(&other, &copy).unwrap();
        assert_eq!(said_before(Client::ClaudeCode, &call(copy), &machine), ["which port?"]);
        #[cfg(unix)]
        {
            let link = folder.join("link.jsonl");
            std::os::unix::fs::symlink(&other, &link).unwrap();
            assert!(said_before(Client::ClaudeCode, &call(link), &machine).is_empty(), "it leads elsewhere");
        }
    }
}
