//! LoCoMo: a list of dialogues between two people in sessions, each with questions and the turns that answer them.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::civil::DateTime;
use serde::Deserialize;
use serde_json::Value;

use super::history::{ChatHistory, Question, Session, Turn, parsed, turn};
use crate::exit::Failure;

#[derive(Deserialize)]
struct Sample {
    /// `session_N`, a list of turns, and `session_N_date_time`.
    conversation: BTreeMap<String, Value>,
    qa: Vec<Qa>,
}

#[derive(Deserialize)]
struct LocomoTurn {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: String,
    /// The caption of a shared picture.
    blip_caption: Option<String>,
}

#[derive(Deserialize)]
struct Qa {
    question: String,
    #[serde(default)]
    evidence: Vec<String>,
    category: u8,
}

pub fn read(file: &Path) -> Result<Vec<ChatHistory>, Failure> {
    let samples: Vec<Sample> = parsed(file)?;
    samples.into_iter().map(|sample| history(file, sample)).collect()
}

fn history(file: &Path, sample: Sample) -> Result<ChatHistory, Failure> {
    let mut sessions = Vec::new();
    for (name, value) in &sample.conversation {
        let number: Option<u32> = name.strip_prefix("session_").and_then(|number| number.parse().ok());
        let (Some(number), Some(turns)) = (number, value.as_array()) else { continue };
        let date = sample.conversation.get(&format!("{name}_date_time")).and_then(Value::as_str);
        let mut session = Session {
            id: name.clone(),
            date: date.and_then(|date| DateTime::strptime("%I:%M %p on %d %B, %Y", date).ok()),
            turns: Vec::new(),
        };
        for said in turns {
            let said = LocomoTurn::deserialize(said)
                .map_err(|error| Failure::input(format!("{}: {name}: {error}", file.display())))?;
            let picture = said.blip_caption.map(|caption| format!(" [a picture: {caption}]")).unwrap_or_default();
            let turn = turn(said.dia_id, &format!("{}{picture}", said.text));
            session.turns.extend(turn.map(|turn| Turn { text: format!("{}: {}", said.speaker, turn.text), ..turn }));
        }
        sessions.push((number, session));
    }
    sessions.sort_by_key(|(number, _)| *number);
    let sessions = sessions.into_iter().map(|(_, session)| session).collect();
    let questions = sample.qa.into_iter().map(|asked| Question {
        text: asked.question,
        kind: kind(asked.category).to_owned(),
        turns: asked.evidence.iter().flat_map(|evidence| turns_of(evidence)).collect(),
        ..Question::default()
    });
    Ok(ChatHistory { sessions, questions: questions.collect() })
}

/// Some have several in one string, or zeros and colons too many: "D8:6; D9:17", "D30:05", "D:11:26".
fn turns_of(evidence: &str) -> Vec<String> {
    let parts = evidence.split([';', ',', ' ']);
    let numbers = parts.map(|part| part.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()));
    numbers
        .filter_map(|numbers| <[u32; 2]>::try_from(numbers.collect::<Vec<_>>()).ok())
        .map(|[session, turn]| format!("D{session}:{turn}"))
        .collect()
}

fn kind(category: u8) -> &'static str {
    match category {
        1 => "multi-hop",
        2 => "temporal",
        3 => "open-domain",
        4 => "single-hop",
        5 => "adversarial",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_read_as_it_was_written() {
        assert_eq!(turns_of("D1:3"), ["D1:3"]);
        assert_eq!(turns_of("D8:6; D9:17"), ["D8:6", "D9:17"]);
        assert_eq!(turns_of("D9:1 D4:4 D4:6"), ["D9:1", "D4:4", "D4:6"]);
        assert_eq!(turns_of("D30:05"), ["D30:5"]);
        assert_eq!(turns_of("D:11:26"), ["D11:26"]);
        assert_eq!(turns_of("D"), [""; 0]);
    }
}
