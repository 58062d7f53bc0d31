//! `memorist backfill`: embed the memories that wait for it.

use serde_json::json;

use super::app::Maintenance;
use super::{App, format};
use crate::args::Backfill;
use crate::exit::Outcome;

/// Runs the command.
pub fn run(app: &App, args: &Backfill) -> Outcome {
    let bars = app.bars()?;
    let engine = app.engine(Maintenance::Off)?;
    engine.prepare_model(&mut |plan| app.announce(plan), &bars)?;
    let done = engine.backfill(args.limit.unwrap_or(u64::MAX), &bars)?;
    engine.close();
    drop(bars);
    let document = json!({ "embedded": done.embedded, "remaining": done.remaining });
    let text =
        format!("{} embedded, {} remaining", format::thousands(done.embedded), format::thousands(done.remaining));
    app.output().result(&document, |_| text.clone())?;
    Ok(0)
}
