//! `memorist setup`: the embedding model and what runs it, fetched once and checked.

use memorist_engine::Error;
use memorist_engine::config::ModelSource;
use memorist_engine::embed::{self, ModelHost, ModelSettings, SetupReport};
use serde_json::json;

use super::App;
use crate::exit::Outcome;

/// Runs the command.
pub fn run(app: &App) -> Outcome {
    if let ModelSource::Remote(provider) = &app.settings().engine.model.source {
        let host = ModelHost::new(&app.settings().engine.model).map_err(Error::from)?;
        let answers = host.verify().map_err(Error::from)?.unwrap_or_default();
        let dims = host.identity().map_err(Error::from)?.dims;
        let document = json!({ "model": provider.model, "dims": dims, "provider": provider.name, "url": provider.url });
        app.output().result(&document, |_| format!("{answers}: {} ({dims} dimensions)", provider.model))?;
        return Ok(0);
    }
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
    let library = report.library.as_ref().map_or_else(String::new, |library| format!("\nwith {}", library.display()));
    format!(
        "{}: {} ({} dimensions)\nin {}{library}",
        if report.fetched { "fetched and checked" } else { "there already, and checked" },
        report.model,
        report.dims,
        report.folder.display(),
    )
}
