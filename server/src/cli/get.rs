//! `memorist get`: a whole memory.

use std::fmt::Write;

use super::app::Maintenance;
use super::links::LinkSummary;
use super::{App, fields, links, places};
use crate::args::Get;
use crate::exit::Outcome;
use crate::ops;
use crate::wire::{Entry, GetParams, Int};

/// Columns of the names of fields.
const NAMES: usize = 12;

pub fn run(app: &App, args: &Get) -> Outcome {
    let engine = app.existing(Maintenance::Off)?;
    let context = &app.settings().context;
    let result = ops::get(&engine, context, GetParams { id: Int(args.id), ..GetParams::default() })?;
    let ends = match &result.entry {
        Some(entry) if !app.output().json => links::lines(&engine, &context.defaults.own_viewer(), &entry.links)?,
        _ => Vec::new(),
    };
    engine.close();
    if let Some(place) = result.entry.as_ref().and_then(|entry| entry.place.as_ref()) {
        app.output().linked(&result, &places::links(&[place]), |result| {
            result.entry.as_ref().map(|entry| text(entry, &ends)).unwrap_or_default()
        })?;
        return Ok(0);
    }
    app.answer(&result, result.error.as_deref(), |result| {
        result.entry.as_ref().map(|entry| text(entry, &ends)).unwrap_or_default()
    })
}

fn text(entry: &Entry, links: &[LinkSummary]) -> String {
    let mut text = format!("{}\n\n", entry.content);
    let fields = fields::fields(entry);
    for (name, value) in
        fields.iter().map(|(name, value)| (*name, value.as_str())).chain([("sha-256", entry.content_hash.as_str())])
    {
        let value = value.replace('\n', &format!("\n{:NAMES$} ", ""));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<NAMES$} {value}");
    }
    if !links.is_empty() {
        text.push('\n');
        text.push_str(&links::text(links));
    }
    if entry.more_links.is_some() {
        let _ = write!(text, "\nmore links: memorist chain {} --depth 1", entry.id);
    }
    text.trim_end().to_owned()
}
