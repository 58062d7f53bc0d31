//! `memorist reembed`: embed the store again, with another model.

use memorist_engine::config::ModelSource;
use memorist_engine::engine::ReembedReport;
use serde_json::json;

use super::app::Maintenance;
use super::{App, format};
use crate::exit::{Failure, Outcome};

/// A hint after an interruption.
const RESTART: &str =
    "nothing has changed for searches; what was embedded is kept: run the same command again to continue";

/// Runs the command.
pub fn run(app: &App) -> Outcome {
    let source = &app.settings().engine.model.source;
    if *source == ModelSource::None {
        return Err(Failure::input(
            "there is no model to embed with (`model = \"none\"`); name one with --model DIR, or remove that setting",
        ));
    }
    let bars = app.bars()?;
    let engine = app.engine(Maintenance::Off)?;
    let ready = engine.prepare_model(&mut |plan| app.announce(plan), &bars);
    let report = ready.and_then(|()| engine.reembed(&bars)).inspect_err(|error| {
        if matches!(error, memorist_engine::Error::Cancelled) {
            app.output().note(RESTART);
        }
    })?;
    engine.close();
    drop(bars);
    let document = json!({
        "before": report.before,
        "model": report.model,
        "changed": report.changed,
        "embedded": report.embedded,
        "millis": report.millis,
    });
    app.output().result(&document, |_| text(&report, source))?;
    Ok(0)
}

fn text(report: &ReembedReport, source: &ModelSource) -> String {
    let model = report.model.as_deref().unwrap_or_default();
    match &report.before {
        None => {
            "nothing is embedded yet, so there is nothing to embed again: the first model that is used stays".into()
        }
        Some(_) if !report.changed => format!("the store's embeddings are those of {model} already"),
        Some(before) => format!(
            "changed from {before} to {model}: {} texts embedded in {}\n{}",
            format::thousands(report.embedded),
            format::micros(report.millis.saturating_mul(1_000)),
            to_keep(source),
        ),
    }
}

/// Other processes search by vectors only with this model.
fn to_keep(source: &ModelSource) -> String {
    let setting = match source {
        ModelSource::Folder(folder) => {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
            format!("write `model = {folder:?}` into memorist.toml or set MEMORIST_MODEL")
        }
        _ => "remove `model` from memorist.toml and unset MEMORIST_MODEL".to_owned(),
    };
    format!("to continue with it, {setting}, and restart servers that are running")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_names_the_setting_that_keeps_the_model() {
        let report = ReembedReport {
            before: Some("old".into()),
            model: Some("new".into()),
            changed: true,
            embedded: 1_200,
            millis: 3_400,
        };
        let shown = text(&report, &ModelSource::Folder("/models/new".into()));
        assert!(shown.starts_with("changed from old to new: 1,200 texts embedded in 3.4 s\n"), "{shown}");
        assert!(shown.contains("`model = \"/models/new\"`"), "{shown}");
        assert!(text(&report, &ModelSource::Default).contains("remove `model`"));
        let same = ReembedReport { changed: false, before: Some("new".into()), ..report };
        assert_eq!(text(&same, &ModelSource::Default), "the store's embeddings are those of new already");
    }
}
