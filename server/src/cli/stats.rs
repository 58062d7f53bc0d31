//! `memorist stats`: statistics of the store.

use std::fmt::Write;

use super::app::Maintenance;
use super::{App, format};
use crate::exit::Outcome;
use crate::ops;
use crate::wire::{StatsParams, StatsResult};

/// Runs the command.
pub fn run(app: &App) -> Outcome {
    let engine = app.engine(Maintenance::Off)?;
    let stats = ops::stats(&engine, &app.settings().context, &StatsParams::default())?;
    engine.close();
    app.output().result(&stats, text)?;
    Ok(0)
}

fn text(stats: &StatsResult) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<20} {value}");
    };
    line("memories", number(stats.total_entries));
    for (kind, count) in &stats.by_type {
        line(&format!("  {kind}"), number(*count));
    }
    line("average importance", format!("{:.1}", stats.avg_importance));
    line("average confidence", format!("{:.2}", stats.avg_confidence));
    line("fetched by id", format!("{} times", number(stats.total_accesses)));
    line("oldest", format::time(stats.oldest_entry));
    line("newest", format::time(stats.newest_entry));
    line("waiting to be embedded", number(stats.pending_embeddings));
    if let Some(indexes) = &stats.indexes {
        line("vectors indexed", number(indexes.vectors));
        line("texts indexed", number(indexes.documents));
        line("changes not indexed", number(indexes.unapplied));
    }
    line("model", stats.model.clone().unwrap_or_else(|| "none used yet".into()));
    let searches = &stats.searches;
    let nothing = format!("{} of the last {} found no answer", number(searches.nothing), number(searches.last));
    line("searches kept", format!("{}; {nothing}", number(searches.kept)));
    text.trim_end().to_owned()
}

fn number(number: i64) -> String {
    format::thousands(number.unsigned_abs())
}
