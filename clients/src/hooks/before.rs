//! What was said in a session before a message, by the end of its transcript: what "and for the other one?" continues.

use memorist_sources::formats::{self, Role};

use super::Call;
use crate::Client;

/// Bytes of a transcript that are read, from its end.
const MOST_BYTES: u64 = 1 << 20;
/// Messages before.
const MOST_MESSAGES: usize = 8;

/// The messages before that of `call`, the newest last: at most eight. None where the client has no transcript, or names
/// something that is none.
pub fn said_before(client: Client, call: &Call) -> Vec<String> {
    let (Some(path), Some(format)) = (&call.transcript, formats::by_name(client.name())) else { return Vec::new() };
    if !format.is_transcript(path) {
        return Vec::new();
    }
    let mut turns = formats::last_turns(format, path, MOST_BYTES).unwrap_or_default();
    turns.retain(|turn| turn.role != Role::Summary);
    let mut said: Vec<String> = turns.into_iter().map(|turn| turn.text).collect();
    // It may be written already.
    let message = call.message.as_deref().map(str::trim);
    if said.last().map(|text| text.trim()) == message {
        said.pop();
    }
    said.split_off(said.len().saturating_sub(MOST_MESSAGES))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn the_messages_before_are_those_of_the_transcript_without_the_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("S.jsonl");
        let line = |at: usize, role: &str, text: &str| {
            let message = json!({ "role": role, "content": text });
            json!({ "type": role, "uuid": format!("u{at}"), "sessionId": "S", "message": message }).to_string() + "\n"
        };
        let lines: String = (0..10).map(|at| line(at, "user", &format!("Question {at}?"))).collect();
        fs::write(&path, lines + &line(10, "user", "and for tidepool?")).unwrap();
        let before = |client, transcript, message: &str| {
            said_before(
                client,
                &Call { transcript: Some(transcript), message: Some(message.to_owned()), ..Call::default() },
            )
        };
        let said = before(Client::ClaudeCode, path.clone(), " and for tidepool? ");
        assert_eq!((said.len(), said.last().map(String::as_str)), (8, Some("Question 9?")));
        let said = before(Client::ClaudeCode, path.clone(), "and for kestrel?");
        assert_eq!(said.last().map(String::as_str), Some("and for tidepool?"));
        assert!(before(Client::Cline, path, "and for kestrel?").is_empty(), "a client without transcripts");
        for other in ["missing.jsonl", "S.txt", ""] {
            assert!(before(Client::ClaudeCode, folder.path().join(other), "?").is_empty(), "{other}");
        }
    }
}
