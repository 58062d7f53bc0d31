//! `memorist search-log`: the searches that were made.

use memorist_engine::types::SearchesQuery;

use super::app::Maintenance;
use super::{App, format, table};
use crate::args::SearchLog;
use crate::exit::Outcome;
use crate::wire::{self, Int, SearchEntry, SearchesResult};

/// Default number of searches.
const LISTED: usize = 50;

pub fn run(app: &App, args: &SearchLog) -> Outcome {
    let query = SearchesQuery {
        before: args.before,
        limit: wire::size("limit", args.limit.map(Int), LISTED)?,
        no_answer: args.no_answer,
        ..SearchesQuery::new(app.settings().context.defaults.own_viewer())
    };
    let engine = app.existing(Maintenance::Off)?;
    let searches = engine.searches(&query)?;
    engine.close();
    let next = searches.last().map(|search| search.id).filter(|_| searches.len() == query.limit);
    let result = SearchesResult { results: searches.into_iter().map(SearchEntry::from).collect(), next };
    app.output().result(&result, text)?;
    if let Some(next) = next {
        app.output().note(format!("possibly more: --before {next}"));
    }
    Ok(0)
}

fn text(searches: &SearchesResult) -> String {
    if searches.results.is_empty() {
        return "no searches".to_owned();
    }
    let mut table = table::table(&["time", "project", "by", "mode", "hits", "cosine", "answer", "took", "query"]);
    for search in &searches.results {
        let cells = vec![
            format::time(Some(search.searched_at)),
            search.project.clone().unwrap_or_else(|| "-".into()),
            search.tool.clone(),
            search.mode.as_str().to_owned(),
            search.hits.to_string(),
            search.best_cosine.map_or_else(|| "-".into(), |cosine| format!("{cosine:.2}")),
            if search.no_answer { "none" } else { "" }.to_owned(),
            format::micros(search.micros.unsigned_abs()),
            format::one_line(&search.query),
        ];
        table::add_row(&mut table, cells);
    }
    table::align_right(&mut table, &[4, 5, 7]);
    table.trim_fmt()
}
