//! `memorist reembed`: embed the store again, with another model.

use memorist_engine::config::ModelSource;
use memorist_engine::embed::{self, Estimate, RemoteSettings};
use memorist_engine::engine::ReembedReport;
use memorist_engine::{Engine, Error};
use serde_json::json;

use super::app::Maintenance;
use super::{App, format};
use crate::args::Reembed;
use crate::exit::{Failure, Kind, Outcome};

/// A hint after an interruption.
const RESTART: &str = "interrupted: searches still use the old embeddings, and batch jobs go on; run the same command \
     again to continue";

pub fn run(app: &App, args: &Reembed) -> Outcome {
    let source = &app.settings().engine.model.source;
    if *source == ModelSource::None {
        return Err(Failure::input(
            "no model to embed with (`model = \"none\"`); name one with --model, or remove that setting",
        ));
    }
    let bars = app.bars()?;
    let engine = app.engine(Maintenance::Off)?;
    if let ModelSource::Remote(provider) = source
        && !is_agreed(app, args, &engine, provider)?
    {
        app.output().note("nothing was changed");
        return Ok(Kind::Cancelled.code());
    }
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

/// Says how much will be sent to the provider, and what it costs; asks where it may cost something.
fn is_agreed(app: &App, args: &Reembed, engine: &Engine, provider: &RemoteSettings) -> Result<bool, Failure> {
    let is_changing = engine.index_stats()?.model.is_some();
    let (texts, bytes) = engine.to_reembed()?;
    if !is_changing || texts == 0 {
        return Ok(true);
    }
    let Estimate { tokens, dollars } = embed::estimate(provider, bytes).map_err(Error::from)?;
    let in_jobs = provider.jobs.enabled && texts >= provider.jobs.min_texts as u64;
    let dollars = dollars.map(|dollars| if in_jobs { dollars / 2.0 } else { dollars });
    let mut what = work(texts, tokens, dollars, &provider.name);
    if in_jobs {
        what.push_str(", in batch jobs, for up to a day");
    }
    if args.yes || dollars == Some(0.0) {
        app.output().note(what);
        return Ok(true);
    }
    app.output().ask(&format!("{what}. Send them?"), "--yes")
}

fn work(texts: u64, tokens: u64, dollars: Option<f64>, provider: &str) -> String {
    let price = match dollars {
        Some(0.0) => "which costs nothing".to_owned(),
        Some(dollars) if dollars < 0.01 => "which costs less than $0.01 by the list price".to_owned(),
        Some(dollars) => format!("which costs about ${dollars:.2} by the list price"),
        None => "whose price is not known here".to_owned(),
    };
    let (texts, tokens) = (format::thousands(texts), format::thousands(tokens));
    format!("{texts} texts, about {tokens} tokens, go to {provider}, {price}")
}

fn text(report: &ReembedReport, source: &ModelSource) -> String {
    let model = report.model.as_deref().unwrap_or_default();
    match &report.before {
        None => "nothing to re-embed: no memory is embedded yet, and the first model that embeds one stays".into(),
        Some(_) if !report.changed => format!("the store already uses the embeddings of {model}"),
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
        ModelSource::Named(model) => {
            return format!(
                "processes without a `model` setting use it for this store from now on; to name it, write `model = \
                 \"{}\"` into memorist.toml. Restart running servers",
                model.name()
            );
        }
        ModelSource::Remote(_) => "keep `[embedding]` in memorist.toml and unset MEMORIST_MODEL".to_owned(),
        _ => "remove `model` from memorist.toml and unset MEMORIST_MODEL".to_owned(),
    };
    format!("to keep using it, {setting}, and restart running servers")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E15.
    #[test]
    fn the_work_is_said_with_its_price_before_it_begins() {
        let said = work(12_000, 1_500_000, Some(0.03), "openai");
        assert_eq!(
            said,
            "12,000 texts, about 1,500,000 tokens, go to openai, which costs about $0.03 by the list price"
        );
        assert!(work(1, 9, Some(0.0001), "openai").contains("less than $0.01"));
        assert!(work(1, 9, Some(0.0), "ollama").contains("nothing"));
        assert!(work(1, 9, None, "openai").contains("not known"));
    }

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
        assert!(text(&report, &ModelSource::called("multilingual")).contains("`model = \"multilingual\"`"));
        let same = ReembedReport { changed: false, before: Some("new".into()), ..report };
        assert_eq!(text(&same, &ModelSource::Default), "the store already uses the embeddings of new");
    }
}
