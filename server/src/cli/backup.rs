//! `memorist backup`: the whole store in one file, while it is in use.

use serde_json::json;

use super::app::Maintenance;
use super::{App, format};
use crate::args::Backup;
use crate::exit::Outcome;

pub fn run(app: &App, args: &Backup) -> Outcome {
    let bars = app.bars()?;
    let engine = app.existing(Maintenance::Off)?;
    let bytes = engine.back_up(&args.file, &bars)?;
    engine.close();
    drop(bars);
    let document = json!({ "file": args.file, "bytes": bytes });
    app.output().result(&document, |_| {
        let (file, bytes) = (args.file.display(), format::bytes(bytes));
        format!("saved {bytes} in {file}; `memorist restore {file}` makes a store of it")
    })?;
    Ok(0)
}
