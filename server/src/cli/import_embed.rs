//! The embeddings of what an import has saved.

use memorist_engine::config::ModelSource;
use memorist_engine::{Engine, Error};

use super::progress::Bars;
use super::{App, format};
use crate::args::Import;
use crate::exit::Failure;
use crate::wording::Worded as _;

/// A hint after an interrupted import.
pub const RESTART: &str = "saved memories stay; run the same import again to continue";

/// Embeds what was saved, and syncs the indexes. Returns how many texts were embedded, or a warning if they cannot be.
///
/// # Errors
/// Fails on cancellation, and if an index cannot be written.
pub fn embed(app: &App, args: &Import, engine: &Engine, bars: &Bars) -> Result<(u64, Option<String>), Failure> {
    let mut embedded = (0, None);
    if !args.no_embed && app.settings().engine.model.source != ModelSource::None {
        let ready = engine.prepare_model(&mut |plan| app.announce(plan), bars);
        match ready.and_then(|()| engine.embed_pending(bars)) {
            Ok(texts) => {
                embedded.0 = texts;
                let jobs: u64 = engine.index_stats()?.batch_jobs.iter().map(|job| job.about.texts).sum();
                if jobs > 0 {
                    let jobs = format::thousands(jobs);
                    embedded.1 = Some(format!(
                        "{jobs} texts are in batch jobs, for up to a day; keyword search only until then; `memorist \
                         backfill` or a running server waits for them"
                    ));
                }
            }
            Err(error @ Error::Cancelled) => {
                app.output().note(RESTART);
                return Err(error.into());
            }
            Err(error) => {
                let why = format!("not embedded, so keyword search only for now: {}", error.worded());
                embedded.1 = Some(why);
            }
        }
    }
    engine.flush(bars)?;
    Ok(embedded)
}
