//! LongMemEval: a list of questions, each with a history of its own: sessions of a user and an assistant.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::civil::DateTime;
use serde::Deserialize;

use super::history::{ChatHistory, Question, Session, parsed, turn};
use crate::exit::Failure;

#[derive(Deserialize)]
struct Instance {
    question_id: String,
    question_type: String,
    question: String,
    question_date: Option<String>,
    haystack_session_ids: Vec<String>,
    #[serde(default)]
    haystack_dates: Vec<String>,
    haystack_sessions: Vec<Vec<LongMemEvalTurn>>,
    #[serde(default)]
    answer_session_ids: BTreeSet<String>,
}

#[derive(Deserialize)]
struct LongMemEvalTurn {
    #[serde(default)]
    content: String,
    has_answer: Option<bool>,
}

pub fn read(file: &Path) -> Result<Vec<ChatHistory>, Failure> {
    let asked: Vec<Instance> = parsed(file)?;
    Ok(asked.into_iter().map(history).collect())
}

fn history(asked: Instance) -> ChatHistory {
    let mut turns = BTreeSet::new();
    let mut sessions = Vec::new();
    for (at, (id, said)) in asked.haystack_session_ids.into_iter().zip(asked.haystack_sessions).enumerate() {
        let date = asked.haystack_dates.get(at).and_then(|date| date_of(date));
        let mut session = Session { id, date, turns: Vec::new() };
        for (number, LongMemEvalTurn { content, has_answer }) in said.into_iter().enumerate() {
            let id = format!("{at}/{number}");
            if has_answer == Some(true) {
                turns.insert(id.clone());
            }
            session.turns.extend(turn(id, &content));
        }
        sessions.push(session);
    }
    // The answer to such a question is that the history does not have one.
    let is_unanswerable = asked.question_id.ends_with("_abs");
    let mut question = Question {
        text: asked.question,
        kind: asked.question_type,
        date: asked.question_date.as_deref().and_then(date_of),
        ..Question::default()
    };
    if !is_unanswerable {
        (question.turns, question.sessions) = (turns, asked.answer_session_ids);
    }
    ChatHistory { sessions, questions: vec![question] }
}

/// As "2023/05/30 (Tue) 23:40".
fn date_of(text: &str) -> Option<DateTime> {
    DateTime::strptime("%Y/%m/%d (%a) %H:%M", text).ok()
}
