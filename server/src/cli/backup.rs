//! `memorist backup` and `memorist restore`: the whole store in one file, while it is in use, and a store made of it.

use memorist_engine::progress::NoProgress;
use memorist_engine::types::Filter;
use serde_json::json;

use super::app::Maintenance;
use super::{App, format};
use crate::args::{Backup, Restore};
use crate::exit::{Failure, Kind, Outcome};

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

/// Makes a store of such a file. Both indexes are built before it reports success.
pub fn restore(app: &App, args: &Restore) -> Outcome {
    let bars = app.bars()?;
    if let Some(team) = &app.settings().engine.team {
        let why = format!("{} is a team store; restore into a folder, with --store DIR", team.address);
        return Err(Failure::input(why));
    }
    memorist_engine::restore(&args.file, &app.settings().store, &bars)?;
    let engine = app.engine(Maintenance::Off)?;
    engine.flush(&bars)?;
    let diagnosis = engine.doctor(false, &NoProgress)?;
    let stats = engine.stats(&Filter::default())?;
    engine.close();
    drop(bars);
    let failed: Vec<_> = diagnosis.checks.iter().filter(|check| !check.ok && check.name != "model").collect();
    for check in &failed {
        app.output().note(format!("{}: {}", check.name, check.details.join("; ")));
    }
    let document = json!({ "store": app.settings().store, "totalEntries": stats.total, "ok": failed.is_empty() });
    app.output().result(&document, |_| {
        format!("restored {} in {}", format::memories(stats.total), app.settings().store.display())
    })?;
    Ok(if failed.is_empty() { 0 } else { Kind::Store.code() })
}
