//! Memories that an agent saved in six made sessions, and its later questions.

use std::collections::HashMap;

use memorist_engine::types::NewRecord;
use serde::Deserialize;

use super::set::{Judged, Set};

const SESSIONS: &str = include_str!("../../bench-data/src/agents/exercise.jsonl");

#[derive(Deserialize)]
struct Line {
    call: Option<String>,
    with: Option<CallArguments>,
    r#as: Option<String>,
    ask: Option<String>,
    #[serde(default)]
    expect: Vec<String>,
}

#[derive(Deserialize)]
struct CallArguments {
    content: Option<String>,
}

pub fn set() -> Set {
    let (mut texts, mut places, mut asked) = (Vec::new(), HashMap::new(), Vec::new());
    for line in SESSIONS.lines() {
        let line: Line = serde_json::from_str(line).expect("a line of the sessions");
        let content = line.with.and_then(|with| with.content);
        match (line.call.as_deref(), content, line.ask) {
            (Some("memory_add"), Some(content), _) => {
                line.r#as.map(|name| places.insert(name, texts.len()));
                texts.push(NewRecord::new(content));
            }
            (_, _, Some(text)) => asked.push((text, line.expect)),
            _ => {}
        }
    }
    let queries = asked
        .into_iter()
        .map(|(text, names)| Judged::new(text, names.iter().filter_map(|name| places.get(name).copied())));
    let queries = queries.filter(|query| !query.answers.is_empty()).collect();
    Set { name: "sessions".into(), texts, queries, ..Set::default() }
}
