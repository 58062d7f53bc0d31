//! `memorist setup`: the embedding model and what runs it, and the reranker, fetched once and checked.

use memorist_engine::Error;
use memorist_engine::config::ModelSource;
use memorist_engine::embed::{self, ModelHost, ModelSettings, SetupReport};
use serde::Serialize;
use serde_json::{Value, json};

use super::App;
use crate::args::Setup;
use crate::exit::{Failure, Outcome};

/// The result of the setup.
#[derive(Serialize)]
struct SetupOutput {
    #[serde(flatten)]
    model: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    reranker: Option<Value>,
    #[serde(skip)]
    text: String,
}

pub fn run(app: &App, args: &Setup) -> Outcome {
    let (model, mut text) = embedding_model(app)?;
    let settings = ModelSettings { may_download: true, ..app.settings().engine.model.clone() };
    let mut reranker = None;
    if args.reranker {
        let report =
            embed::setup_reranker(&settings, &mut |plan| app.announce(plan), &app.bars()?).map_err(Error::from)?;
        text += &format!("\n{}", text_of(&report));
        reranker = Some(document(&report));
    }
    app.output().result(&SetupOutput { model, reranker, text }, |report| report.text.clone())?;
    Ok(0)
}

/// Sets up the embedding model, or checks its provider. Returns its description, as a document and in words.
fn embedding_model(app: &App) -> Result<(Value, String), Failure> {
    if let ModelSource::Remote(provider) = &app.settings().engine.model.source {
        let host = ModelHost::new(&app.settings().engine.model).map_err(Error::from)?;
        let answers = host.verify().map_err(Error::from)?.unwrap_or_default();
        let dims = host.identity().map_err(Error::from)?.dims;
        let document = json!({ "model": provider.model, "dims": dims, "provider": provider.name, "url": provider.url });
        return Ok((document, format!("{answers}: {} ({dims} dimensions)", provider.model)));
    }
    let settings = ModelSettings { may_download: true, ..app.settings().engine.model.clone() };
    let report = embed::setup(&settings, &mut |plan| app.announce(plan), &app.bars()?)?;
    Ok((document(&report), text_of(&report)))
}

fn document(report: &SetupReport) -> Value {
    let mut document = json!({
        "model": report.model,
        "folder": report.folder,
        "library": report.library,
        "fetched": report.fetched,
    });
    if let Some(dims) = report.dims {
        document["dims"] = dims.into();
    }
    document
}

fn text_of(report: &SetupReport) -> String {
    let library = report.library.as_ref().map_or_else(String::new, |library| format!("\nwith {}", library.display()));
    let dims = report.dims.map_or_else(String::new, |dims| format!(" ({dims} dimensions)"));
    format!(
        "{}: {}{dims}\nin {}{library}",
        if report.fetched { "fetched and checked" } else { "there already, and checked" },
        report.model,
        report.folder.display(),
    )
}
