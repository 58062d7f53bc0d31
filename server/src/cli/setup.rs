//! `memorist setup`: the embedding model and its library, fetched once and checked.

use memorist_engine::embed::{self, ModelSettings, SetupReport};
use serde_json::json;

use super::App;
use crate::exit::Outcome;

/// Runs the command.
pub fn run(app: &App) -> Outcome {
    let settings = ModelSettings { may_download: true, ..app.settings().engine.model.clone() };
    let report = embed::setup(&settings, &mut |plan| app.announce(plan), &app.bars()?)?;
    let document = json!({
        "model": report.model,
        "dims": report.dims,
        "folder": report.folder,
        "library": report.library,
        "fetched": report.fetched,
    });
    app.output().result(&document, |_| text(&report))?;
    Ok(0)
}

fn text(report: &SetupReport) -> String {
    format!(
        "{}: {} ({} dimensions)\nin {}\nwith {}",
        if report.fetched { "fetched and checked" } else { "there already, and checked" },
        report.model,
        report.dims,
        report.folder.display(),
        report.library.display(),
    )
}
