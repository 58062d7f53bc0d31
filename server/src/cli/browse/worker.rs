//! Runs effects on the engine, so that typing never waits for it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use memorist_engine::types::{Filter, Hit, ListQuery, Mode, Query, RecordId, Tier, WEAK};
use memorist_engine::{Engine, Error, Result};

use super::found::{By, Memory, Row, SearchOutput};
use super::state::{Effect, Event};
use crate::cli::links;
use crate::exit::Failure;
use crate::wire;
use crate::wording::{self, Remarks, Worded as _, why};

/// A search starts after this long without typing.
const PAUSE: Duration = Duration::from_millis(40);
/// Most results of a search.
const FOUND: usize = 50;
/// Most memories of a listing.
const LISTED: usize = 200;
/// Most links shown with a memory.
const LINKED: usize = 200;

/// A message to the screen's thread.
#[derive(Debug)]
pub enum Message {
    Event(Event),
    /// It cannot continue.
    Failed(Failure),
}

/// The context of the worker.
pub struct Worker<'a> {
    /// The store.
    pub engine: &'a Engine,
    /// The viewer.
    pub filter: Filter,
    /// Where results go.
    pub answers: &'a Sender<Message>,
    /// Requests that the model be loaded.
    pub loading: Sender<()>,
}

/// A search that waits for a pause in typing.
struct Waiting {
    due: Instant,
    turn: u64,
    text: String,
    all: bool,
}

impl Worker<'_> {
    /// Works until the sender of effects is dropped. Of the waiting searches, only the newest is run.
    pub fn run(&self, effects: &Receiver<Effect>) {
        self.ask_for_model();
        let mut waiting: Option<Waiting> = None;
        loop {
            let effect = match &waiting {
                Some(search) => effects.recv_timeout(search.due.saturating_duration_since(Instant::now())),
                None => effects.recv().map_err(RecvTimeoutError::from),
            };
            let answer = match effect {
                Ok(Effect::Search { turn, text, all }) => {
                    waiting = Some(Waiting { due: Instant::now() + PAUSE, turn, text, all });
                    continue;
                }
                Ok(Effect::Load(id)) => Event::Loaded { id, memory: self.load(id).map_err(|error| error.worded()) },
                Ok(Effect::Delete(id)) => Event::Deleted {
                    id,
                    deleted: self.engine.viewed_by(&self.filter.viewer).delete(id).map_err(|error| error.worded()),
                },
                Err(RecvTimeoutError::Timeout) => {
                    let Some(Waiting { turn, text, all, .. }) = waiting.take() else { continue };
                    Event::Found { turn, found: self.find(text, all).map_err(|error| error.worded()) }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            };
            // Nobody receives it if the screen has just been closed.
            let _ = self.answers.send(Message::Event(answer));
        }
    }

    fn load(&self, id: RecordId) -> Result<Option<Box<Memory>>> {
        // `get`, not `access`: browsing is not an access that ranking should learn from.
        let viewer = &self.filter.viewer;
        let Some(record) = self.engine.viewed_by(viewer).get(id)? else { return Ok(None) };
        let links = match self.engine.viewed_by(viewer).links(id, LINKED) {
            Ok(links) => links,
            // It is gone by now.
            Err(Error::NotFound(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let links: Vec<_> = links.iter().map(|link| wire::step(id, link)).collect();
        let links = links::lines(self.engine, viewer, &links)?;
        Ok(Some(Box::new(Memory { entry: wire::entry(record), links })))
    }

    fn find(&self, text: String, all: bool) -> Result<SearchOutput> {
        if text.is_empty() { self.list() } else { self.search(text, all) }
    }

    fn list(&self) -> Result<SearchOutput> {
        let started = Instant::now();
        let query =
            ListQuery { newest_first: true, limit: LISTED, filter: self.filter.clone(), ..ListQuery::default() };
        let records = self.engine.list(&query)?;
        Ok(SearchOutput {
            rows: records.iter().map(|record| Row::new(record, None)).collect(),
            remarks: Vec::new(),
            more: records.len() == LISTED,
            by: By::Listing,
            cold: false,
            micros: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
            warnings: Vec::new(),
        })
    }

    fn ask_for_model(&self) {
        // A loader that has ended has reported it.
        let _ = self.loading.send(());
    }

    /// Searches by keywords only while the model is not in memory: it is loaded meanwhile, without waiting. `all`: weak
    /// results, too.
    fn search(&self, text: String, all: bool) -> Result<SearchOutput> {
        let cold = !self.engine.is_model_loaded();
        if cold {
            self.ask_for_model();
        }
        let mode = if cold { Mode::Keyword } else { Mode::Hybrid };
        let min_relevance = (!all).then_some(WEAK);
        let query = Query { mode, min_relevance, limit: FOUND, filter: self.filter.clone(), ..Query::new(text) };
        let reply = self.engine.search(&query)?;
        let by = match (reply.tier, mode) {
            (Tier::Substring, _) => By::Parts,
            (Tier::Keyword, _) | (Tier::Full, Mode::Keyword) => By::Words,
            (Tier::Full, _) => By::Meaning,
        };
        let row = |hit: &Hit| {
            let relevance = Some(hit.relevance).filter(|_| by != By::Parts);
            Row::new(&hit.record, relevance).because(why(hit, &reply.missing))
        };
        let remarks = Remarks {
            relevances: reply.hits.iter().map(|hit| hit.relevance).collect(),
            no_answer: reply.no_answer,
            nearest: wording::nearest(&reply),
            missing: &reply.missing,
            weaker: reply.weaker,
        };
        Ok(SearchOutput {
            rows: reply.hits.iter().map(row).collect(),
            remarks: remarks.lines("F2"),
            more: reply.hits.len() == FOUND,
            by,
            cold,
            micros: reply.explain.total_us,
            warnings: wording::warnings(&reply),
        })
    }
}

/// Loads the model on request, until the sender is dropped.
pub fn load_model(engine: &Engine, wanted: &Receiver<()>, answers: &Sender<Message>) {
    while let Ok(()) = wanted.recv() {
        // All requests so far are answered at once.
        while wanted.try_recv().is_ok() {}
        let event = match engine.embed_query("a first text") {
            Ok(_) => Event::ModelReady,
            Err(error) => Event::ModelMissing(error.worded()),
        };
        let _ = answers.send(Message::Event(event));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use memorist_engine::config::Config;
    use memorist_engine::types::{Link, LinkKind, NewRecord, Viewer};
    use tempfile::TempDir;

    use super::*;

    /// The results of these effects, on a store of three memories: of no project, of atlas, of borealis; all but the
    /// first are linked with the previous one.
    /// the first is linked with the one before it.
    fn answers(effects: &[Effect], project: Option<&str>) -> Vec<Event> {
        let folder = TempDir::new().unwrap();
        let config = Config::without_model();
        let engine = Engine::open(folder.path(), config).unwrap();
        for (text, project) in
            [("dark mode", None), ("a dark wood", Some("atlas")), ("the dark side", Some("borealis"))]
        {
            let mut record = NewRecord::new(text);
            record.scope.project = project.map(str::to_owned);
            engine.add(&record).unwrap();
        }
        for (from, kind, to) in [(2, LinkKind::Related, 1), (3, LinkKind::Caused, 2)] {
            engine.viewed_by(&Viewer::OWNER).link(Link { from: from.into(), to: to.into(), kind }).unwrap();
        }
        let filter = Filter::of(project.map_or(Viewer::OWNER, Viewer::in_project));
        let (effects_in, effects_out) = mpsc::channel();
        let (answers_in, answers) = mpsc::channel();
        let (loading, wanted) = mpsc::channel();
        effects.iter().for_each(|effect| effects_in.send(effect.clone()).unwrap());
        thread::scope(|scope| {
            let worker = Worker { engine: &engine, filter, answers: &answers_in, loading };
            let worker = scope.spawn(move || worker.run(&effects_out));
            // A search waits for a pause, which the end of the effects would cut off.
            thread::sleep(5 * PAUSE);
            drop(effects_in);
            worker.join().unwrap();
        });
        load_model(&engine, &wanted, &answers_in);
        drop(answers_in);
        answers
            .iter()
            .map(|message| match message {
                Message::Event(event) => event,
                Message::Failed(failure) => panic!("{failure:?}"),
            })
            .collect()
    }

    fn search(turn: u64, text: &str) -> Effect {
        Effect::Search { turn, text: text.to_owned(), all: false }
    }

    /// Numbers and ids of the results of searches.
    fn found(events: &[Event]) -> Vec<(u64, Vec<i64>)> {
        let rows = |found: &SearchOutput| found.rows.iter().map(|row| row.id.get()).collect();
        events
            .iter()
            .filter_map(|event| match event {
                Event::Found { turn, found: Ok(found) } => Some((*turn, rows(found))),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn only_the_last_of_quickly_typed_searches_runs() {
        let events = answers(&[search(1, ""), search(2, "w"), search(3, "wood")], None);
        assert_eq!(found(&events), [(3, vec![2])]);
        let Some(Event::Found { found: Ok(found), .. }) = events.first() else { panic!("{events:?}") };
        assert!(found.cold && found.by == By::Words && found.rows[0].relevance.is_some(), "{found:?}");
        let missing = events.iter().any(|event| matches!(event, Event::ModelMissing(why) if why.contains("model")));
        assert!(missing, "it says why there is no model: {events:?}");
    }

    #[test]
    fn only_memories_of_the_project_and_global_ones_are_shown() {
        assert_eq!(found(&answers(&[search(1, "")], Some("atlas"))), [(1, vec![2, 1])]);
        let searched = found(&answers(&[search(1, "dark")], Some("atlas")));
        assert!(matches!(&searched[..], [(1, ids)] if ids.len() == 2 && !ids.contains(&3)), "{searched:?}");
    }

    #[test]
    fn a_memory_has_only_links_to_visible_memories() {
        let links = |project| {
            let events = answers(&[Effect::Load(2.into())], project);
            let Some(Event::Loaded { memory: Ok(Some(memory)), .. }) = events.first() else { panic!("{events:?}") };
            let lines = memory.links.iter().map(|link| format!("{} {}: {}", link.says, link.id, link.line));
            lines.collect::<Vec<_>>()
        };
        assert_eq!(links(None), ["→ related to 1: dark mode", "← caused by 3: the dark side"]);
        assert_eq!(links(Some("atlas")), ["→ related to 1: dark mode"]);
    }

    #[test]
    fn a_memory_is_fetched_and_deleted_without_waiting_for_a_search() {
        let events = answers(
            &[search(1, "dark"), Effect::Load(2.into()), Effect::Delete(2.into()), Effect::Load(2.into())],
            None,
        );
        let [
            Event::Loaded { memory: Ok(Some(memory)), .. },
            Event::Deleted { id: deleted, deleted: Ok(true) },
            Event::Loaded { memory: Ok(None), .. },
            Event::Found { found: Ok(found), .. },
            ..,
        ] = &events[..]
        else {
            panic!("{events:?}")
        };
        assert_eq!((memory.entry.content.as_str(), memory.entry.access_count, found.rows.len()), ("a dark wood", 0, 2));
        assert_eq!(deleted.get(), 2);
    }
}
