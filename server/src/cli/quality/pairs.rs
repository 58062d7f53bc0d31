//! The pairs of a user: queries, and the memories that answer them.
//!
//! One JSON object a line: `{"query": "where is the amber key", "answers": [12, "01M8…"]}`, with ids or ULIDs. If a line
//! is refused, all refused ones are named and nothing is measured, as figures of a part would be taken for those of all.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufReader, Read};
use std::path::Path;

use memorist_durable::open_plain;
use memorist_engine::progress::Progress;
use memorist_engine::types::{Filter, ListQuery, MAX_LIMIT, Query, RecordId, Viewer};
use memorist_engine::{Engine, Error};
use serde_json::Value;

use super::super::format;
use crate::exit::{Failure, Kind};
use crate::wire::Lines;
use crate::wording::Worded as _;

const MAX_PAIRS: usize = 100_000;
/// Most bytes of a file.
const MAX_BYTES: u64 = 1 << 30;
/// Refused lines that are listed.
const LISTED: usize = 20;
/// Characters of a wrong value that are repeated.
const SHOWN: usize = 40;
/// A line as it should be.
const EXAMPLE: &str = r#"{"query": "where is the amber key", "answers": [12, "01J00000000000000000000000"]}"#;

/// A query and its answers.
#[derive(Debug)]
pub struct Pair {
    pub line: u64,
    pub query: String,
    /// The memories that answer it; at least one.
    pub answers: BTreeSet<RecordId>,
}

/// The lines of a file: pairs whose answers are not resolved yet, and why the others are refused.
#[derive(Debug, Default)]
pub struct ReadLines {
    pairs: Vec<Unresolved>,
    refused: BTreeMap<u64, String>,
}

#[derive(Debug)]
struct Unresolved {
    line: u64,
    query: String,
    answers: Vec<AnswerId>,
}

#[derive(Debug, PartialEq)]
enum AnswerId {
    Id(RecordId),
    Ulid(String),
}

/// Reads a file.
///
/// # Errors
/// If it cannot be read, has no line, or too many.
pub fn read(file: &Path) -> Result<ReadLines, Failure> {
    let failure = |error| Failure::file(file, &error);
    let opened = open_plain(file).map_err(failure)?;
    if opened.metadata().map_err(failure)?.len() > MAX_BYTES {
        let why = format!("{}: has more than {} of pairs", file.display(), format::bytes(MAX_BYTES));
        return Err(Failure::input(why));
    }
    let mut lines = Lines::new(BufReader::new(opened.take(MAX_BYTES)));
    let mut read = ReadLines::default();
    while let Some(line) = lines.next_line().map_err(failure)? {
        match line.text.and_then(|text| if text.is_empty() { Ok(None) } else { parse(&text).map(Some) }) {
            Ok(None) => {}
            Ok(Some((query, answers))) => read.pairs.push(Unresolved { line: line.number, query, answers }),
            Err(why) => drop(read.refused.insert(line.number, why)),
        }
        if read.pairs.len() + read.refused.len() > MAX_PAIRS {
            let why = format!("{}: has more than {} lines", file.display(), format::thousands(MAX_PAIRS as u64));
            return Err(Failure::input(why));
        }
    }
    if read.pairs.is_empty() && read.refused.is_empty() {
        return Err(Failure::input(format!("{}: has no pairs; a line is like {EXAMPLE}", file.display())));
    }
    Ok(read)
}

/// The pairs, if every line is sound and every answer is in the store and visible.
///
/// # Errors
/// Names the refused lines; and those of the store.
pub fn resolve(
    file: &Path,
    read: ReadLines,
    engine: &Engine,
    viewer: &Viewer,
    progress: &dyn Progress,
) -> Result<Vec<Pair>, Failure> {
    let ReadLines { pairs: unresolved, mut refused } = read;
    let by_ulid = by_ulid(&unresolved, engine, viewer, progress)?;
    let mut pairs = Vec::new();
    for Unresolved { line, query, answers } in unresolved {
        let mut found = BTreeSet::new();
        let mut unknown = Vec::new();
        for answer in answers {
            match answer {
                AnswerId::Id(id) if engine.viewed_by(viewer).get(id)?.is_some() => drop(found.insert(id)),
                AnswerId::Id(id) => unknown.push(id.to_string()),
                AnswerId::Ulid(ulid) => match by_ulid.get(&ulid) {
                    Some(id) => drop(found.insert(*id)),
                    None => unknown.push(ulid),
                },
            }
        }
        match unknown.is_empty() {
            true => pairs.push(Pair { line, query, answers: found }),
            false => drop(refused.insert(line, format!("answers: there is no memory {}", unknown.join(", ")))),
        }
    }
    if refused.is_empty() { Ok(pairs) } else { Err(refusal(file, &refused)) }
}

/// The ids of the ULIDs that are named. All memories are read for that, as they are not found by ULID.
fn by_ulid(
    pairs: &[Unresolved],
    engine: &Engine,
    viewer: &Viewer,
    progress: &dyn Progress,
) -> Result<HashMap<String, RecordId>, Failure> {
    let answers = pairs.iter().flat_map(|pair| &pair.answers);
    let mut named: BTreeSet<&str> = answers
        .filter_map(|answer| match answer {
            AnswerId::Ulid(ulid) => Some(ulid.as_str()),
            AnswerId::Id(_) => None,
        })
        .collect();
    let mut found = HashMap::new();
    let mut page = ListQuery { limit: MAX_LIMIT, filter: Filter::of(viewer.clone()), ..ListQuery::default() };
    if !named.is_empty() {
        progress.start("looking up ULIDs", None);
    }
    while !named.is_empty() {
        if progress.cancelled() {
            return Err(Error::Cancelled.into());
        }
        let records = engine.list(&page)?;
        let Some(last) = records.last() else { break };
        page.after = last.id;
        progress.advance(records.len() as u64);
        for record in records {
            if named.remove(record.ulid.as_str()) {
                found.insert(record.ulid, record.id);
            }
        }
    }
    progress.finish();
    Ok(found)
}

fn refusal(file: &Path, refused: &BTreeMap<u64, String>) -> Failure {
    let lines = match refused.len() {
        1 => "a line is refused".to_owned(),
        number => format!("{} lines are refused", format::thousands(number as u64)),
    };
    let mut text = format!("{}: not measured, because {lines}:", file.display());
    refused.iter().take(LISTED).for_each(|(line, why)| text += &format!("\n  line {line}: {why}"));
    if refused.len() > LISTED {
        text += &format!("\n  and {} more", format::thousands((refused.len() - LISTED) as u64));
    }
    Failure::new(Kind::Input, text)
}

/// The query and the answers of a line. Values are checked by hand, as the library's errors repeat them in full.
fn parse(text: &str) -> Result<(String, Vec<AnswerId>), String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))?;
    let Value::Object(mut fields) = value else { return Err(format!("is not an object like {EXAMPLE}")) };
    let query = match fields.remove("query") {
        Some(Value::String(query)) => query,
        Some(other) => return Err(format!("query: {} is not a text", shown(&other))),
        None => return Err("query: is missing".to_owned()),
    };
    Query::new(query.as_str()).validate().map_err(|error| error.worded())?;
    let answers = match fields.remove("answers") {
        Some(Value::Array(answers)) => answers,
        Some(other) => return Err(format!("answers: {} is not a list of ids or ULIDs", shown(&other))),
        None => return Err("answers: is missing".to_owned()),
    };
    if answers.is_empty() || answers.len() > MAX_LIMIT {
        return Err(format!("answers: are {}; give 1 to {MAX_LIMIT}", answers.len()));
    }
    if let Some(name) = fields.keys().next() {
        return Err(format!("{}: unknown field; use query and answers", cut(name)));
    }
    Ok((query, answers.iter().map(answer).collect::<Result<_, _>>()?))
}

fn answer(value: &Value) -> Result<AnswerId, String> {
    let is_ulid = |text: &str| text.len() == 26 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match value {
        Value::Number(number) if number.as_i64().is_some_and(|id| id > 0) => {
            Ok(AnswerId::Id(number.as_i64().unwrap_or_default().into()))
        }
        Value::String(text) if is_ulid(text) => Ok(AnswerId::Ulid(text.to_ascii_uppercase())),
        other => Err(format!("answers: {} is neither an id (a number from 1 on) nor a ULID", shown(other))),
    }
}

/// The beginning of a value.
fn shown(value: &Value) -> String {
    cut(&value.to_string())
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_ulids_are_read() {
        let (query, answers) = parse(r#"{"query":"x y","answers":[12,"01j00000000000000000000000"]}"#).unwrap();
        assert_eq!(query, "x y");
        assert_eq!(answers, [AnswerId::Id(12.into()), AnswerId::Ulid("01J00000000000000000000000".into())]);
        assert!(parse(EXAMPLE).is_ok());
    }

    #[test]
    fn an_invalid_pair_is_refused_with_a_short_reason() {
        let long = format!(r#"{{"query":["{0}"],"answers":[1]}}"#, "x".repeat(1 << 20));
        let many = format!(r#"{{"query":"x","answers":{:?}}}"#, vec![1; 1_001]);
        for (line, why) in [
            ("{", "is not JSON: EOF while parsing"),
            ("[1]", "is not an object like"),
            (r#"{"answers":[1]}"#, "query: is missing"),
            (r#"{"query":7,"answers":[1]}"#, "query: 7 is not a text"),
            (r#"{"query":" ","answers":[1]}"#, "query: must not be empty"),
            (r#"{"query":"x"}"#, "answers: is missing"),
            (r#"{"query":"x","answers":1}"#, "answers: 1 is not a list"),
            (r#"{"query":"x","answers":[]}"#, "answers: are 0; give 1 to 1000"),
            (many.as_str(), "answers: are 1001; give 1 to 1000"),
            (r#"{"query":"x","answers":[0]}"#, "answers: 0 is neither"),
            (r#"{"query":"x","answers":[1.5]}"#, "answers: 1.5 is neither"),
            (r#"{"query":"x","answers":["12"]}"#, r#"answers: "12" is neither"#),
            (r#"{"query":"x","answers":[1],"answer":2}"#, "answer: unknown field; use"),
            (long.as_str(), r#"query: ["xxx"#),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.starts_with(why), "{error}");
            assert!(error.len() < 200, "{} bytes", error.len());
        }
    }
}
