//! What fuzzing asks of the readers of what users and clients send: any bytes are refused in words, or mean what they say.

use memorist_engine::body::Body;
use memorist_engine::types::{NewRecord, Record, Weights};
use serde_json::{Map, Value};

use crate::cli::Lines;
use crate::cli::import::record;
use crate::wire::{self, AddParams, Defaults, DeleteParams, GetParams, SearchParams, StatsParams, UpdateParams, When};

/// Bytes as a file to import: each belongs to one line, and what a line says is what is exported of it.
///
/// # Panics
/// When it is not.
pub fn import_file(bytes: &[u8]) {
    let mut lines = Lines::new(bytes);
    let (mut length, mut count) = (0, 0);
    while let Some(line) = lines.next_line().expect("bytes in memory") {
        count += 1;
        length += line.bytes;
        assert_eq!(line.number, count);
        if let Ok(new) = line.text.and_then(|text| record(&text, &Defaults::default())) {
            let exported = serde_json::to_string(&wire::export_line(as_saved(new.clone()))).expect("JSON");
            let again = record(&exported, &Defaults::default()).expect("what is exported can be imported");
            // serde_json reads a number of many digits one step off now and then.
            assert!((again.confidence - new.confidence).abs() <= f64::EPSILON);
            assert_eq!(NewRecord { confidence: new.confidence, ..again }, new);
        }
    }
    assert_eq!(length, bytes.len() as u64);
}

/// Bytes as the arguments of every tool.
///
/// # Panics
/// When one cannot cope.
pub fn arguments(bytes: &[u8]) {
    let Ok(arguments) = serde_json::from_slice::<Map<String, Value>>(bytes) else { return };
    let (defaults, weights) = (Defaults::default(), Weights::default());
    if let Ok(add) = wire::parse::<AddParams>(arguments.clone()) {
        let _ = wire::new_record(add, &defaults).validate();
    }
    if let Ok(search) = wire::parse::<SearchParams>(arguments.clone())
        && let Ok(query) = wire::query(&search, &defaults, weights)
    {
        let _ = query.validate();
    }
    if let Ok(update) = wire::parse::<UpdateParams>(arguments.clone()) {
        let _ = wire::record_update(update).validate();
    }
    let _ = wire::parse::<GetParams>(arguments.clone());
    let _ = wire::parse::<DeleteParams>(arguments.clone());
    let _ = wire::parse::<StatsParams>(arguments);
}

/// Bytes as a time: what is shown of it is the same time, to the second.
///
/// # Panics
/// When it is not.
pub fn time(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(When(at)) = text.parse() else { return };
    if let Ok(When(shown)) = When(at).to_string().parse() {
        assert!(at.abs_diff(shown) < 1_000, "{text:?} is {at}, shown as {shown}");
    }
}

/// The record that a store would make of it, as far as an export shows.
fn as_saved(new: NewRecord) -> Record {
    let NewRecord { content, kind, source, context, confidence, importance, tags, expires_at, scope, body } = new;
    let body = body.map(|body| Body::new(kind, body).expect("a body that was checked"));
    Record {
        id: 1,
        ulid: String::new(),
        version: 1,
        content,
        content_hash: String::new(),
        kind,
        source,
        context,
        confidence,
        importance,
        tags,
        scope,
        created_at: 0,
        updated_at: 0,
        expires_at,
        access_count: 0,
        last_accessed_at: None,
        body,
    }
}
