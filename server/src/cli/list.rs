//! `memorist list`: memories by id, or in another order.

use memorist_engine::Engine;
use memorist_engine::types::{Filter, ListQuery, MAX_LIMIT, Record, RecordId, Viewer};

use super::app::Maintenance;
use super::{App, format, hidden, table};
use crate::args::{Filters, List};
use crate::exit::{Failure, Outcome};
use crate::ops;
use crate::wire::{self, Defaults, Detail, Future, Importance, ListParams, ListResult, Past, Where};

pub fn run(app: &App, args: &List) -> Outcome {
    let limit = usize::try_from(args.limit).ok().filter(|limit| *limit > 0);
    let limit = limit.ok_or_else(|| Failure::input(format!("limit: {} is less than 1", args.limit)))?;
    let engine = app.existing(Maintenance::Off)?;
    let filter = filter(&args.filters, &app.settings().context.defaults);
    filter.validate()?;
    app.note_unfollowed(&engine)?;
    if args.state.is_some() || args.sort.is_some() {
        return in_order(app, engine, args, limit);
    }
    let mut records = Vec::new();
    let mut more = false;
    each(&engine, args.after, &filter, |record| {
        more = records.len() == limit;
        if !more {
            records.push(record);
        }
        Ok(!more)
    })?;
    hidden::note(app, &engine, records.len())?;
    let next = records.last().map(|record| record.id.get()).filter(|_| more);
    let output = app.output();
    if output.json {
        let results = records.into_iter().map(|record| wire::brief(record, Detail::Full)).collect();
        output.document(&ListResult { results, next, next_offset: None })?;
    } else {
        output.text(text(&engine, records, &filter.viewer)?)?;
        if let Some(next) = next {
            output.note(format!("more memories: --after {next}"));
        }
    }
    engine.close();
    Ok(0)
}

/// A list of memories in one state, or in another order than that of ids.
fn in_order(app: &App, engine: Engine, args: &List, limit: usize) -> Outcome {
    let params = ListParams { state: args.state, sort: args.sort, ..ListParams::default() };
    let filter = filter(&args.filters, &app.settings().context.defaults);
    let viewer = filter.viewer.clone();
    let records = ops::listed(&engine, filter, &params, limit)?;
    hidden::note(app, &engine, records.len())?;
    let output = app.output();
    if output.json {
        let results = records.into_iter().map(|listed| wire::brief(listed.record, Detail::Full)).collect();
        output.document(&ListResult { results, next: None, next_offset: None })?;
    } else {
        output.text(text(&engine, records.into_iter().map(|listed| listed.record).collect(), &viewer)?)?;
    }
    engine.close();
    Ok(0)
}

/// Calls `visit` for every matching record after the id `after`, in order of id, until it returns false.
pub fn each(
    engine: &Engine,
    after: i64,
    filter: &Filter,
    mut visit: impl FnMut(Record) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let mut query = ListQuery { after: after.into(), limit: MAX_LIMIT, filter: filter.clone(), ..ListQuery::default() };
    loop {
        let page = engine.list(&query)?;
        let Some(last) = page.last() else { return Ok(()) };
        query.after = last.id;
        for record in page {
            if !visit(record)? {
                return Ok(());
            }
        }
    }
}

/// The filter of the arguments.
pub fn filter(filters: &Filters, defaults: &Defaults) -> Filter {
    Filter {
        kinds: filters.kinds.clone(),
        tags: filters.tags.clone(),
        min_importance: filters.min_importance.map(|Importance(least)| least),
        min_confidence: filters.min_confidence,
        viewer: defaults.own_viewer(),
        created_after: filters.created_after.map(Past::at),
        created_before: filters.created_before.map(|end| end.after(filters.created_after)),
        updated_after: filters.updated_after.map(Past::at),
        updated_before: filters.updated_before.map(|end| end.after(filters.updated_after)),
        happens_after: filters.happens_after.map(Future::at),
        happens_before: filters.happens_before.map(|end| end.after(filters.happens_after)),
        metadata: filters.with_metadata.clone().map(|Where(metadata)| metadata),
    }
}

/// The table of the memories, with what supersedes each.
fn text(engine: &Engine, records: Vec<Record>, viewer: &Viewer) -> Result<String, Failure> {
    if records.is_empty() {
        return Ok("no memories".to_owned());
    }
    let mut table = table::table(&["id", "kind", "importance", "created", "memory"]);
    let ids: Vec<RecordId> = records.iter().map(|record| record.id).collect();
    let marks = engine.viewed_by(viewer).status_links(&ids, 1)?;
    for record in records {
        let marks = marks.get(&record.id).map_or(&[][..], Vec::as_slice);
        let newer = marks.iter().find(|mark| mark.is_of_successor());
        let newer = newer.map_or_else(String::new, |mark| format!("(superseded by {}) ", mark.other));
        let cells = vec![
            record.id.to_string(),
            record.kind.to_string(),
            record.importance.to_string(),
            format::time(Some(record.created_at)),
            newer + &format::one_line(&record.content),
        ];
        table::add_row(&mut table, cells);
    }
    Ok(table.trim_fmt())
}
