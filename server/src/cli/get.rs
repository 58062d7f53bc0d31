//! `memorist get`: a whole memory.

use std::fmt::Write;

use super::App;
use super::app::Upkeep;
use super::format;
use crate::args::Get;
use crate::exit::{Failure, Kind, Outcome};
use crate::ops;
use crate::wire::{Entry, GetParams, Int};

/// Runs the command.
pub fn run(app: &App, args: &Get) -> Outcome {
    let engine = app.engine(Upkeep::Off)?;
    let result = ops::get(&engine, &app.settings().context, &GetParams { id: Int(args.id), ..GetParams::default() })?;
    engine.close();
    if app.output().json {
        app.output().document(&result)?;
        return Ok(if result.entry.is_some() { 0 } else { Kind::NotFound.code() });
    }
    match (&result.entry, result.error) {
        (Some(entry), _) => app.output().text(text(entry)).map(|()| 0),
        (None, error) => Err(Failure::new(Kind::NotFound, error.unwrap_or_default())),
    }
}

fn text(entry: &Entry) -> String {
    let mut text = format!("{}\n\n", entry.content);
    let mut line = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<12} {value}");
    };
    line("id", &format!("{} ({})", entry.id, entry.ulid));
    line("kind", entry.entry_type.as_str());
    line("importance", &format!("{} of 10", entry.importance));
    line("confidence", &entry.confidence.to_string());
    line("source", &entry.source);
    if let Some(context) = &entry.context {
        line("context", context);
    }
    if !entry.tags.is_empty() {
        line("tags", &entry.tags.join(", "));
    }
    line("project", entry.project.as_deref().unwrap_or("any"));
    line("agent", entry.agent.as_deref().unwrap_or("any"));
    line("created", &format::time(Some(entry.created_at)));
    line("updated", &format!("{} (version {})", format::time(Some(entry.updated_at)), entry.version));
    if entry.expires_at.is_some() {
        line("expires", &format::time(entry.expires_at));
    }
    line("fetched", &format!("{} times, last {}", entry.access_count, format::time(entry.last_accessed_at)));
    line("sha-256", &entry.content_hash);
    text.trim_end().to_owned()
}
