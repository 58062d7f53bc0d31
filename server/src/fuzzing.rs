//! The fuzz targets for input of users and clients: any bytes are refused with a message, or survive a round trip.

use memorist_engine::types::{Exported, NewRecord, Portable, Scope, Weights};
use serde_json::{Map, Value};

use crate::mcp::message::{self, Unreadable};
use crate::wire::{
    self, AddParams, Defaults, DeleteParams, ExportLine, GetParams, ImportLine, Lines, SearchParams, StatsParams,
    UpdateParams, When,
};

/// Bytes as a file to import: each byte belongs to one line, and a line that is read is exported unchanged.
///
/// # Panics
/// If that is violated.
pub fn import_file(bytes: &[u8]) {
    let mut lines = Lines::new(bytes);
    let (mut length, mut count) = (0, 0);
    while let Some(line) = lines.next_line().expect("bytes in memory") {
        count += 1;
        length += line.bytes;
        assert_eq!(line.number, count);
        let read = |text: &str| wire::read(text, &Defaults::default());
        let said = match line.text.ok().and_then(|text| read(&text).ok()) {
            Some(ImportLine::New(new)) => ImportLine::Record(Box::new(as_saved(*new))),
            Some(said) => said,
            None => continue,
        };
        let exported = match said.clone() {
            ImportLine::Header(model) => ExportLine::header(model),
            ImportLine::Record(record) => Exported::Record(record).into(),
            ImportLine::Link(link) => Exported::Link(link).into(),
            ImportLine::Tombstone(tombstone) => tombstone.into(),
            ImportLine::Entity(entity) => {
                entity.records(&Scope::default()).iter().for_each(|new| drop(new.validate()));
                continue;
            }
            ImportLine::Relation(relation) => {
                let _ = relation.record(&Scope::default()).validate();
                continue;
            }
            ImportLine::New(_) => unreachable!("it was made a record"),
        };
        let exported = serde_json::to_string(&exported).expect("JSON");
        assert_eq!(read(&exported).expect("what is exported can be imported"), said);
    }
    assert_eq!(length, bytes.len() as u64);
}

/// Bytes from a client: they are read, or refused with one line of JSON. Only messages that expect no response get
/// none.
///
/// # Panics
/// If that is violated.
pub fn message(bytes: &[u8]) {
    match message::read(&message::repair(bytes)) {
        Ok(_) => {}
        Err(Unreadable::Refused(answer)) => {
            assert!(!answer.contains('\n'));
            let answer: Value = serde_json::from_str(&answer).expect("JSON");
            for answer in answer.as_array().unwrap_or(&vec![answer.clone()]) {
                assert!(answer["error"]["code"].is_i64() && answer.get("id").is_some());
            }
        }
        Err(Unreadable::Silent) => {
            let sent: Value = serde_json::from_slice(bytes).unwrap_or_default();
            assert!(sent.get("method").is_none() || sent.get("result").or(sent.get("error")).is_some());
        }
    }
}

/// Bytes as the arguments of every tool.
///
/// # Panics
/// If a tool panics.
pub fn arguments(bytes: &[u8]) {
    let Ok(arguments) = serde_json::from_slice::<Map<String, Value>>(bytes) else { return };
    let (defaults, weights) = (Defaults::default(), Weights::default());
    if let Ok(add) = wire::parse::<AddParams>(arguments.clone()) {
        let caller = defaults.caller(&add.project, &add.agent);
        let record = caller.and_then(|caller| wire::new_record(add, caller.scope));
        let _ = record.and_then(|record| record.validate());
    }
    if let Ok(search) = wire::parse::<SearchParams>(arguments.clone())
        && let Ok(viewer) = defaults.viewer(&search.project, &search.agent)
        && let Ok(query) = wire::query(&search, viewer, &defaults, weights)
    {
        let _ = query.validate();
    }
    if let Ok(update) = wire::parse::<UpdateParams>(arguments.clone()) {
        let _ = wire::record_update(update).and_then(|update| update.validate());
    }
    let _ = wire::parse::<GetParams>(arguments.clone());
    let _ = wire::parse::<DeleteParams>(arguments.clone());
    let _ = wire::parse::<StatsParams>(arguments);
}

/// Bytes as a time: its printed form is the same time, to the second.
///
/// # Panics
/// If that is violated.
pub fn time(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(When(at)) = text.parse() else { return };
    if let Ok(When(shown)) = When(at).to_string().parse() {
        assert!(at.abs_diff(shown) < 1_000, "{text:?} is {at}, shown as {shown}");
    }
}

/// The lines of an export of a store with only this.
fn as_saved(text: NewRecord) -> Portable {
    Portable {
        ulid: String::new(),
        version: 1,
        text,
        created_at: 0,
        updated_at: 0,
        access_count: 0,
        last_accessed_at: None,
        earlier: Vec::new(),
        accesses: Vec::new(),
        embedding: None,
        passages: Vec::new(),
    }
}
