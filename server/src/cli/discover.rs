//! `memorist source discover`: agents' transcripts and notes on this machine.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, IsTerminal as _};

use memorist_engine::Engine;
use memorist_engine::progress::Progress as _;
use memorist_engine::types::{NewSource, SourceKind};
use memorist_ingest::sources::discover::discover;
use memorist_ingest::sources::formats;

use super::app::Maintenance;
use super::{App, add_sources, format, table};
use crate::args::SourceDiscover;
use crate::exit::{Failure, Outcome};
use crate::output;
use crate::wire::{DiscoverResult, PlaceEntry};

pub fn run(app: &App, args: &SourceDiscover) -> Outcome {
    let machine = add_sources::machine()?;
    let bars = app.bars()?;
    bars.start("looking for transcripts and notes", None);
    let places = discover(&machine, env::current_dir().ok().as_deref(), &mut |_| bars.advance(1));
    bars.finish();
    drop(bars);
    // Looking makes no store.
    let engine = app.missing_store().is_none().then(|| app.engine(Maintenance::Off)).transpose()?;
    let sources = engine.as_ref().map(Engine::sources).transpose()?.unwrap_or_default();
    let sources: BTreeSet<String> = sources.into_iter().map(|source| source.source.path).collect();
    let mut result = DiscoverResult { places: Vec::new(), added: None };
    for (at, place) in places.into_iter().enumerate() {
        let is_source = add_sources::existing(&place.path).is_ok_and(|path| sources.contains(&path));
        result.places.push(PlaceEntry::new(at + 1, place, is_source));
    }
    let choice = match &args.add {
        Some(numbers) => Some(numbers.clone()),
        None if can_ask(app, &result) => {
            app.output().text(text(&result))?;
            ask()?
        }
        None => None,
    };
    if let Some(choice) = &choice {
        let chosen = chosen(choice, &result)?;
        let new = chosen.into_iter().map(|place| new_source(app, place)).collect::<Result<Vec<_>, _>>()?;
        let engine = engine.map_or_else(|| app.engine(Maintenance::Off), Ok)?;
        result.added = Some(add_sources::add(app, &engine, &new, !args.no_sync, !args.no_embed)?);
    }
    app.output().result(&result, |result| match (&result.added, &args.add) {
        (Some(added), _) => add_sources::added(added),
        (None, _) if result.places.is_empty() => text(result),
        (None, _) => format!("{}\n{HOW}", text(result)),
    })?;
    Ok(0)
}

/// The hint after the list.
const HOW: &str = "`memorist source discover --add 1,3` adds these, and --add all adds all";

fn can_ask(app: &App, result: &DiscoverResult) -> bool {
    let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    !app.output().json && is_terminal && result.places.iter().any(is_addable)
}

fn is_addable(place: &PlaceEntry) -> bool {
    place.files > 0 && !place.is_source
}

/// The numbers that a person types; `None` for none.
fn ask() -> Result<Option<String>, Failure> {
    output::say("Add which? Numbers (1,3-5), \"all\", or nothing to stop:");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(|error| Failure::file("stdin".as_ref(), &error))?;
    let answer = answer.trim();
    Ok((!answer.is_empty()).then(|| answer.to_owned()))
}

/// The places with these numbers; "all" are those that can be added and are no sources yet.
fn chosen<'a>(numbers: &str, result: &'a DiscoverResult) -> Result<Vec<&'a PlaceEntry>, Failure> {
    if numbers.trim().eq_ignore_ascii_case("all") {
        return Ok(result.places.iter().filter(|place| is_addable(place)).collect());
    }
    let mut chosen = BTreeSet::new();
    for part in numbers.split([',', ' ']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let parsed = first.trim().parse::<usize>().ok().zip(last.trim().parse::<usize>().ok());
        let Some((first, last)) = parsed.filter(|(first, last)| first <= last && *last <= result.places.len()) else {
            let why = format!("{part:?} is not a number of the list, which has {}", result.places.len());
            return Err(Failure::input(why));
        };
        chosen.extend(first..=last);
    }
    let mut places = Vec::new();
    for number in chosen {
        match result.places.get(number.wrapping_sub(1)) {
            Some(place) if place.files > 0 => places.push(place),
            Some(place) => {
                let why = place.problem.as_deref().unwrap_or("it has no files");
                return Err(Failure::input(format!("{}: {why}", place.path)));
            }
            None => return Err(Failure::input(format!("{number} is not a number of the list"))),
        }
    }
    Ok(places)
}

fn new_source(app: &App, place: &PlaceEntry) -> Result<NewSource, Failure> {
    let kind = if place.format.is_some() { SourceKind::Sessions } else { SourceKind::Notes };
    Ok(NewSource {
        kind,
        path: add_sources::existing(place.path.as_ref())?,
        format: place.format.map(str::to_owned),
        globs: Vec::new(),
        scope: add_sources::scope(app),
    })
}

fn text(result: &DiscoverResult) -> String {
    if result.places.is_empty() {
        let agents: Vec<&str> = formats::all().iter().map(|format| format.name()).collect();
        return format!(
            "found no transcripts of {}, no memories or instructions of agents, no Obsidian vault and no notes in \
             this folder. `memorist source add PATH` adds a file or folder",
            agents.join(", ")
        );
    }
    let mut table = table::table(&["", "what", "files", "size", "newest", "path"]);
    for place in &result.places {
        let note = place.problem.as_ref().map(|problem| format!(" ({problem})")).unwrap_or_default();
        let about = if place.is_source { format!("{}, added", place.about) } else { place.about.clone() };
        let cells = vec![
            place.number.to_string(),
            about,
            format::thousands(place.files),
            format::bytes(place.bytes),
            format::time(place.newest),
            format!("{}{note}", place.path),
        ];
        table::add_row(&mut table, cells);
    }
    table::align_right(&mut table, &[0, 2, 3]);
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use memorist_ingest::sources::discover::{Place, What};

    use super::*;

    fn places(files: &[u64]) -> DiscoverResult {
        let place = |(at, &files): (usize, &u64)| {
            let what = What::Notes { about: "notes" };
            let place = Place { path: "/n".into(), what, files, bytes: 0, newest: None, problem: None };
            PlaceEntry::new(at + 1, place, at == 1)
        };
        DiscoverResult { places: files.iter().enumerate().map(place).collect(), added: None }
    }

    #[test]
    fn numbers_choose_from_the_list() {
        let result = places(&[3, 2, 0, 1]);
        let numbers = |text| chosen(text, &result).map(|all| all.iter().map(|place| place.number).collect::<Vec<_>>());
        assert_eq!(numbers("1, 4").unwrap(), [1, 4]);
        assert_eq!(numbers("1-2").unwrap(), [1, 2]);
        assert_eq!(numbers("ALL").unwrap(), [1, 4], "not what is a source already, nor what has no files");
        for bad in ["5", "0", "x", "2-1", "3"] {
            assert!(numbers(bad).is_err(), "{bad}");
        }
    }
}
