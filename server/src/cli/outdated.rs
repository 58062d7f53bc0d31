//! `memorist outdated`: the superseded memories.

use super::app::Maintenance;
use super::{App, format, links, table};
use crate::args::Outdated;
use crate::exit::Outcome;
use crate::ops;
use crate::wire::{Int, OutdatedParams, OutdatedResult};

pub fn run(app: &App, args: &Outdated) -> Outcome {
    let params = OutdatedParams {
        before: args.before.map(Int),
        limit: args.limit.map(Int),
        detail: args.detail,
        ..OutdatedParams::default()
    };
    let engine = app.existing(Maintenance::Off)?;
    let result = ops::outdated(&engine, &app.settings().context, params)?;
    engine.close();
    app.output().result(&result, text)?;
    if let Some(next) = result.next {
        app.output().note(format!("possibly more: --before {next}"));
    }
    Ok(0)
}

fn text(outdated: &OutdatedResult) -> String {
    if outdated.results.is_empty() {
        return "nothing is outdated".to_owned();
    }
    let mut table = table::table(&["id", "kind", "created", "superseded by", "memory"]);
    for hit in &outdated.results {
        let memory = &hit.memory;
        let by: Vec<_> = hit.superseded_by.iter().map(i64::to_string).collect();
        let cells = vec![
            memory.id.to_string(),
            memory.entry_type.to_string(),
            format::time(Some(memory.created_at)),
            if by.is_empty() { "-".to_owned() } else { by.join(", ") },
            memory.content.as_deref().map(links::line).unwrap_or_default(),
        ];
        table::add_row(&mut table, cells);
    }
    table::align_right(&mut table, &[0]);
    table.trim_fmt()
}
