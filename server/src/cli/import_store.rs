//! `memorist import --from`: the store of another memory system, then its embeddings.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use memorist_ingest::moving::{MoveIn, MoveReport, Owner, move_in};
use memorist_ingest::sources::moving::{MoveError, System};
use serde::Serialize;

use super::app::Maintenance;
use super::format::one_line;
use super::import_embed::{RESTART, embed};
use super::{App, format};
use crate::args::Import;
use crate::exit::{Failure, Kind, Outcome};

/// Agents and projects that the report for people names.
const NAMED: usize = 10;

/// The outcome, and its result with `--json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct StoreImportReport {
    #[serde(flatten)]
    moved: MoveReport,
    /// Texts embedded.
    embedded: u64,
    warnings: Vec<String>,
}

/// Brings the store of `system` in.
pub fn run(app: &App, args: &Import, system: System) -> Outcome {
    let bars = app.bars()?;
    let engine = app.engine(Maintenance::Off)?;
    let mut report = StoreImportReport::default();
    let defaults = app.settings().context.defaults.own_scope();
    let store = MoveIn { system, path: &args.file, defaults: &defaults };
    if let Err(error) = move_in(&engine, store, &bars, &mut report.moved) {
        drop(bars);
        if report.moved.memories > 0 {
            app.output().note(report.text(system, &args.file));
            app.output().note(RESTART);
        }
        return Err(failure(error));
    }
    let (embedded, warning) = embed(app, args, &engine, &bars)?;
    report.embedded = embedded;
    report.warnings.extend(warning);
    engine.close();
    drop(bars);
    app.output().result(&report, |report| report.text(system, &args.file))?;
    Ok(if report.moved.refused.is_empty() { 0 } else { Kind::Input.code() })
}

fn failure(error: MoveError<memorist_engine::Error>) -> Failure {
    match error {
        MoveError::Store(error) => Failure::input(error.to_string()),
        MoveError::Visit(error) => error.into(),
    }
}

impl StoreImportReport {
    /// The text for people.
    fn text(&self, system: System, path: &Path) -> String {
        let moved = &self.moved;
        let mut text = format!(
            "{} of {system} read from {}: {} saved, {} replaced, {} duplicates, {} links; {} embedded",
            format::memories(moved.memories),
            path.display(),
            format::thousands(moved.created),
            format::thousands(moved.replaced),
            format::thousands(moved.duplicates + moved.unchanged),
            format::thousands(moved.links),
            format::thousands(self.embedded),
        );
        for Owner { scope, memories } in self.moved.owners.iter().take(NAMED) {
            let name = |owner, name: &Option<String>| match name {
                Some(name) => format!("{owner} {}", one_line(name)),
                None => format!("no {owner}"),
            };
            let (agent, project) = (name("agent", &scope.agent), name("project", &scope.project));
            let _ = write!(text, "\n  {} of {agent}, {project}", format::thousands(*memories));
        }
        if self.moved.owners.len() > NAMED {
            let more = self.moved.owners.len() - NAMED;
            let _ = write!(text, "\n  and of {} other agents or projects", format::thousands(more as u64));
        }
        let left_out = [
            (moved.expired, "skipped (expired)"),
            (moved.deleted, "skipped (deleted here)"),
            (moved.redacted, "saved with secrets redacted"),
        ];
        for (number, what) in left_out.into_iter().filter(|(number, _)| *number > 0) {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n  {} {what}", format::thousands(number));
        }
        list(&mut text, "refused:", &moved.refused);
        list(&mut text, "not imported, or changed:", &moved.not_brought);
        for warning in &self.warnings {
            let _ = write!(text, "\n{warning}");
        }
        text
    }
}

/// How often, and why, below a heading.
fn list(text: &mut String, heading: &str, reasons: &BTreeMap<String, u64>) {
    if reasons.is_empty() {
        return;
    }
    let _ = write!(text, "\n{heading}");
    for (why, number) in reasons {
        let _ = write!(text, "\n  {} {why}", format::thousands(*number));
    }
}
