//! `memorist rebuild`: rebuild both indexes from the records.

use serde_json::json;

use super::app::Maintenance;
use super::{App, format};
use crate::exit::Outcome;

pub fn run(app: &App) -> Outcome {
    let bars = app.bars()?;
    let engine = app.existing(Maintenance::Off)?;
    let report = engine.rebuild(&bars)?;
    engine.close();
    drop(bars);
    let document = json!({ "vectors": report.vectors, "documents": report.documents, "millis": report.millis });
    app.output().result(&document, |_| {
        format!(
            "rebuilt in {}: {} vectors, {} texts",
            format::micros(report.millis.saturating_mul(1_000)),
            format::thousands(report.vectors),
            format::thousands(report.documents),
        )
    })?;
    Ok(0)
}
