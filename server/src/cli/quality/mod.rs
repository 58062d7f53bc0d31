//! `memorist bench --quality`: how well searches find what a user says they should find.

mod pairs;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Zoned;
use memorist_engine::bench::ranking::{DEPTH, Measures};
use memorist_engine::progress::Progress;
use memorist_engine::types::{Filter, Mode, Query, RecordId, SearchReply, Tier, Viewer};
use memorist_engine::{Engine, Error};

use self::pairs::Pair;
use self::report::{QualityReport, QueryOutcome};
use super::App;
use super::app::Maintenance;
use super::progress::Bars;
use crate::exit::{Failure, Outcome};
use crate::{wire, wording};

pub fn run(app: &App, file: &Path) -> Outcome {
    let lines = pairs::read(file)?;
    app.require_store()?;
    let bars = app.bars()?;
    let settings = app.settings();
    // Nothing that is searched for here counts as used.
    let mut config = app.config(Maintenance::Off);
    config.log_searches = false;
    let engine = Engine::open(&settings.store, config)?;
    let viewer = settings.context.defaults.own_viewer();
    let pairs = pairs::resolve(file, lines, &engine, &viewer, &bars)?;
    let report = measure(&engine, &viewer, pairs, &bars)?;
    drop(bars);
    app.output().result(&report, QualityReport::text)?;
    engine.close();
    Ok(0)
}

fn measure(engine: &Engine, viewer: &Viewer, pairs: Vec<Pair>, bars: &Bars) -> Result<QualityReport, Failure> {
    let mut report = QualityReport::default();
    let mut notes = BTreeSet::new();
    let mut modes = vec![Mode::Keyword];
    if let Some(pair) = pairs.first() {
        let reply = engine.search(&query(pair, Mode::Vector, viewer))?;
        match reply.tier {
            Tier::Full => modes.extend([Mode::Vector, Mode::Hybrid]),
            _ => report.words_alone = Some(reason(&reply)),
        }
    }
    bars.start("searching", Some((pairs.len() * modes.len()) as u64));
    let mut found = Vec::new();
    for mode in modes {
        let mut by_mode = Vec::new();
        for pair in &pairs {
            if bars.cancelled() {
                return Err(Error::Cancelled.into());
            }
            let reply = engine.search(&query(pair, mode, viewer))?;
            notes.extend(reply.warnings.iter().cloned());
            by_mode.push(found_by(pair, reply));
            bars.advance(1);
        }
        report.add(mode, &by_mode);
        found = by_mode;
    }
    bars.finish();
    // The last mode is that of a search without any option.
    report.add_worst(pairs.into_iter().zip(found));
    report.warnings = notes.into_iter().collect();
    Ok(report)
}

fn query(pair: &Pair, mode: Mode, viewer: &Viewer) -> Query {
    let period = wire::period(&pair.query, &Zoned::now());
    Query { mode, limit: DEPTH, period, filter: Filter::of(viewer.clone()), ..Query::new(pair.query.as_str()) }
}

/// Why a search by meaning could not be answered.
fn reason(reply: &SearchReply) -> String {
    wording::warnings(reply).join("; ")
}

fn found_by(pair: &Pair, reply: SearchReply) -> QueryOutcome {
    let ids: Vec<RecordId> = reply.hits.iter().map(|hit| hit.record.id).collect();
    let answers: BTreeMap<RecordId, u8> = pair.answers.iter().map(|id| (*id, 1)).collect();
    let measures = Measures::of(&ids, &answers);
    QueryOutcome { measures, first: reply.hits.into_iter().next().map(|hit| hit.record) }
}
