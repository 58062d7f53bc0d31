//! `memorist backfill`: embed the memories that wait for it.

use memorist_engine::engine::Backfill as Done;
use memorist_engine::progress::Progress;
use memorist_engine::{Engine, Error};
use serde_json::json;

use super::app::Maintenance;
use super::{App, format};
use crate::args::Backfill;
use crate::exit::Outcome;

/// A hint after an interruption.
const RESTART: &str = "finished embeddings are kept, and batch jobs go on; run the same command again to continue";

pub fn run(app: &App, args: &Backfill) -> Outcome {
    let bars = app.bars()?;
    let engine = app.existing(Maintenance::Off)?;
    engine.prepare_model(&mut |plan| app.announce(plan), &bars)?;
    if args.cancel {
        let texts = engine.cancel_batch_jobs(&bars)?;
        engine.close();
        drop(bars);
        let text = match texts {
            0 => "there are no batch jobs".to_owned(),
            _ => format!("batch jobs of {} texts are cancelled", format::thousands(texts)),
        };
        app.output().result(&json!({ "cancelled": texts }), |_| text.clone())?;
        return Ok(0);
    }
    let done = embed(&engine, args, &bars).inspect_err(|error| {
        if matches!(error, Error::Cancelled) {
            app.output().note(RESTART);
        }
    })?;
    engine.close();
    drop(bars);
    let Done { embedded, remaining, in_batch_jobs } = done;
    let document = json!({ "embedded": embedded, "remaining": remaining, "inBatchJobs": in_batch_jobs });
    app.output().result(&document, |_| text(&done))?;
    Ok(0)
}

fn embed(engine: &Engine, args: &Backfill, progress: &dyn Progress) -> memorist_engine::Result<Done> {
    let most = args.limit.unwrap_or(u64::MAX);
    engine.allow_batch_jobs()?;
    let done = engine.backfill(most, progress)?;
    if args.no_wait {
        return Ok(done);
    }
    let awaited = engine.await_batch_jobs(progress)?;
    let rest = engine.backfill(most.saturating_sub(done.embedded), progress)?;
    Ok(Done { embedded: done.embedded + awaited + rest.embedded, ..rest })
}

fn text(done: &Done) -> String {
    let [embedded, remaining, in_jobs] = [done.embedded, done.remaining, done.in_batch_jobs].map(format::thousands);
    let rest = format!("{embedded} embedded, {remaining} remaining");
    match done.in_batch_jobs {
        0 => rest,
        _ => format!("{rest}, {in_jobs} in batch jobs, for up to a day; `memorist backfill` waits for them"),
    }
}
