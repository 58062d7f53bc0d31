//! `memorist history`: the versions of a memory.

use super::app::Maintenance;
use super::{App, format, links, table};
use crate::args::History;
use crate::exit::Outcome;
use crate::ops;
use crate::wire::{HistoryParams, HistoryResult, Int, VersionEntry};

pub fn run(app: &App, args: &History) -> Outcome {
    let params = HistoryParams {
        id: Int(args.id),
        before: args.before.map(Int),
        limit: args.limit.map(Int),
        ..HistoryParams::default()
    };
    let engine = app.existing(Maintenance::Off)?;
    let result = ops::history(&engine, &app.settings().context, params)?;
    engine.close();
    let code = app.answer(&result, result.error.as_deref(), text)?;
    if let Some(next) = result.next.filter(|next| *next > 1) {
        app.output().note(format!("more versions: --before {next}"));
    }
    Ok(code)
}

/// A line for each change, with the new values.
fn text(history: &HistoryResult) -> String {
    if history.versions.is_empty() {
        return "no versions".to_owned();
    }
    let mut table = table::table(&["version", "since", "changed", "why", "memory"]);
    let older = history.versions.iter().skip(1).map(Some).chain([None]);
    for (version, older) in history.versions.iter().zip(older) {
        let cells = vec![
            version.version.to_string(),
            format::time(Some(version.since)),
            older.map(|older| changed(version, older)).unwrap_or_default(),
            // A version stores why it was replaced: that is the reason for the next one.
            older.and_then(|older| older.reason.as_deref()).map(format::one_line).unwrap_or_default(),
            links::line(&version.content),
        ];
        table::add_row(&mut table, cells);
    }
    table::align_right(&mut table, &[0]);
    table.trim_fmt()
}

/// The fields in which a version differs from the previous one.
fn changed(version: &VersionEntry, older: &VersionEntry) -> String {
    let fields = [
        ("text", version.content != older.content),
        ("kind", version.entry_type != older.entry_type),
        ("source", version.source != older.source),
        ("context", version.context != older.context),
        ("confidence", version.confidence != older.confidence),
        ("importance", version.importance != older.importance),
        ("tags", version.tags != older.tags),
        ("expiry", version.expires_at != older.expires_at),
        ("body", version.body != older.body),
    ];
    fields.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}
