//! The memory of exactly the file, the command or the error of an action.

use std::collections::HashMap;

use super::Memories;
use super::open::Reminded;
use crate::error::Result;
use crate::recall::{self, ActionSubject};
use crate::records::rules::recalled;
use crate::types::{Filter, Mode, Query, RecordId, Reminder};

/// Most reminders of one session.
const MOST: i64 = 12;
/// Most reminders of a session where nothing can be noted, while the process lives.
const MOST_UNNOTED: usize = 2;
/// Sessions that a process remembers without a note.
const MOST_SESSIONS: usize = 1_000;
/// Ends the name under which the reminders of a session are counted. No name of a session has it.
const COUNTED: &str = "\0reminders";

impl Memories<'_> {
    /// The memory about exactly one of these subjects that a session does not have yet, if there is one. It is noted before it
    /// is returned, so that the session gets each version once, and at most 12 in all. Nothing else changes: no access is
    /// counted, and no search is kept. In a store that can only be read, a session gets at most two from this process.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) when the store cannot be written now: a memory that cannot be noted is not returned.
    pub fn remind(&self, session: &str, subjects: &[ActionSubject]) -> Result<Option<Reminder>> {
        // Of two that ask at once, the second finds the note of the first.
        let mut reminded = self.engine.reminded.lock();
        if !self.engine.can_write() {
            return self.remind_unnoted(&mut reminded, session, subjects);
        }
        let counted = format!("{session}{COUNTED}");
        let snapshot = self.engine.store.records.copy().snapshot()?;
        if snapshot.recalled(&counted)?.into_values().max() >= Some(MOST) {
            return Ok(None);
        }
        let known = snapshot.recalled(session)?;
        drop(snapshot);
        let Some(found) = self.reminder(subjects, &known)? else { return Ok(None) };
        let record = &found.memory.record;
        let given = (record.id, record.version);
        let is_new =
            recalled::note_once(&self.engine.store.records, session, &counted, given, MOST, self.engine.store.now())?;
        Ok(is_new.then_some(found))
    }

    /// As [`Memories::remind`] where nothing can be noted: this process remembers it.
    fn remind_unnoted(
        &self,
        reminded: &mut Reminded,
        session: &str,
        subjects: &[ActionSubject],
    ) -> Result<Option<Reminder>> {
        let known = reminded.get(session).cloned().unwrap_or_default();
        let found = if known.len() < MOST_UNNOTED { self.reminder(subjects, &known)? } else { None };
        if let Some(Reminder { memory, .. }) = &found {
            if reminded.len() >= MOST_SESSIONS {
                reminded.clear();
            }
            reminded.entry(session.to_owned()).or_default().insert(memory.record.id, memory.record.version);
        }
        Ok(found)
    }

    /// The memory about exactly one of these subjects that is not `known` at its version, and nothing is noted.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names what is wrong with the viewer.
    pub fn reminder(&self, subjects: &[ActionSubject], known: &HashMap<RecordId, i64>) -> Result<Option<Reminder>> {
        if subjects.is_empty() {
            return Ok(None);
        }
        self.viewer.validate()?;
        let query = Query {
            tool: "recall".into(),
            mode: Mode::Keyword,
            limit: recall::ACTION_CANDIDATES,
            filter: Filter { kinds: ActionSubject::kinds(subjects).to_vec(), ..Filter::of(self.viewer.clone()) },
            substring_tier: false,
            ..Query::new(ActionSubject::query(subjects))
        };
        let reply = self.engine.answer(&query, || None)?;
        Ok(recall::choose_one(&reply.hits, subjects, known, self.engine.store.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::engine::Engine;
    use crate::progress::NoProgress;
    use crate::types::{Kind, Link, LinkKind, NewRecord, RecordUpdate, Scope, SearchesQuery, Span, Viewer};

    const FILE: &str = "/home/ana/atlas/src/billing/retry.rs";

    fn store() -> (tempfile::TempDir, Engine) {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::open(folder.path(), Config::without_model()).unwrap();
        (folder, engine)
    }

    fn add(engine: &Engine, kind: Kind, text: &str, importance: i64) -> RecordId {
        let id = engine.add(&NewRecord { kind, importance, ..NewRecord::new(text) }).unwrap().id;
        engine.flush(&NoProgress).unwrap();
        id
    }

    fn edit(engine: &Engine, session: &str) -> Option<RecordId> {
        let file = ActionSubject::of_file(FILE, Some("/home/ana/atlas"));
        let found = engine.viewed_by(&Viewer::OWNER).remind(session, &file).unwrap()?;
        assert_eq!(found.about, "src/billing/retry.rs");
        Some(found.memory.record.id)
    }

    #[test]
    fn a_session_gets_each_version_once_and_twelve_in_all() {
        let (_folder, engine) = store();
        let first = add(&engine, Kind::Decision, "src/billing/retry.rs tries three times", 9);
        assert_eq!((edit(&engine, "S"), edit(&engine, "S"), edit(&engine, "T")), (Some(first), None, Some(first)));
        let update = RecordUpdate { importance: Some(8), ..RecordUpdate::default() };
        engine.viewed_by(&Viewer::OWNER).update(first, &update).unwrap();
        engine.flush(&NoProgress).unwrap();
        assert_eq!((edit(&engine, "S"), edit(&engine, "S")), (Some(first), None), "a new version");
        for at in 0..14 {
            add(&engine, Kind::Pattern, &format!("Rule {at} of src/billing/retry.rs"), 5);
        }
        let given = (0..20).filter(|_| edit(&engine, "S").is_some()).count();
        assert_eq!(given, 10, "two came before");
        engine.forget_recalled("S").unwrap();
        assert_eq!(edit(&engine, "S"), None, "nor more after a compaction");
        let searches = engine.searches(&SearchesQuery::new(Viewer::OWNER)).unwrap();
        let record = engine.viewed_by(&Viewer::OWNER).get(first).unwrap().unwrap();
        assert_eq!((searches.len(), record.access_count), (0, 0));
    }

    #[test]
    fn a_session_gets_two_where_nothing_can_be_noted() {
        let (_folder, engine) = store();
        for at in 0..4 {
            add(&engine, Kind::Pattern, &format!("Rule {at} of src/billing/retry.rs"), 5);
        }
        let file = ActionSubject::of_file(FILE, None);
        let mut reminded = Reminded::default();
        let mut ask =
            |session: &str| engine.viewed_by(&Viewer::OWNER).remind_unnoted(&mut reminded, session, &file).unwrap();
        let given = (0..5).filter_map(|_| ask("S")).map(|found| found.memory.record.id).collect::<Vec<_>>();
        assert!(given.len() == 2 && given[0] != given[1], "{given:?}");
        assert!(ask("T").is_some());
    }

    #[test]
    fn the_memory_that_matters_most_comes() {
        let (_folder, engine) = store();
        assert_eq!(edit(&engine, "S"), None);
        let done = NewRecord { kind: Kind::Task, ..NewRecord::new("Split src/billing/retry.rs") };
        engine.add(&NewRecord { body: Some(serde_json::json!({ "status": "done" })), ..done }).unwrap();
        add(&engine, Kind::Fact, "src/billing/retry.rs has 90 lines", 10);
        add(&engine, Kind::Conversation, "we changed src/billing/retry.rs", 10);
        let other = Scope { project: Some("other".into()), agent: None };
        engine.add(&NewRecord { kind: Kind::Decision, scope: other, ..NewRecord::new("retry.rs is old") }).unwrap();
        let old = add(&engine, Kind::Decision, "src/billing/retry.rs tries five times", 10);
        engine.flush(&NoProgress).unwrap();
        let of_atlas = |session: &str| {
            let file = ActionSubject::of_file(FILE, Some("/home/ana/atlas"));
            engine.viewed_by(&Viewer::in_project("atlas")).remind(session, &file).unwrap().map(|found| found.memory)
        };
        assert_eq!(of_atlas("A").map(|memory| memory.record.id), Some(old), "of this project and global");
        let pattern = add(&engine, Kind::Pattern, "src/billing/retry.rs is generated", 10);
        let new = add(&engine, Kind::Bugfix, "src/billing/retry.rs tries three times", 2);
        engine.viewed_by(&Viewer::OWNER).link(Link { from: new, to: old, kind: LinkKind::Supersedes }).unwrap();
        engine.viewed_by(&Viewer::OWNER).link(Link { from: pattern, to: new, kind: LinkKind::Contradicts }).unwrap();
        let found = of_atlas("B").unwrap();
        assert_eq!((found.record.id, found.contradicted_by), (new, vec![pattern]));
        assert_eq!(of_atlas("B").map(|memory| memory.record.id), Some(pattern));
        assert_eq!(of_atlas("B").map(|memory| memory.record.id), None);
        let past = Span { from: None, to: Some(engine.now() - 1) };
        engine.add(&NewRecord { kind: Kind::Decision, valid: past, ..NewRecord::new("retry.rs was slow") }).unwrap();
        let future = Span { from: Some(engine.now() + 60_000), to: None };
        engine
            .add(&NewRecord { kind: Kind::Decision, valid: future, ..NewRecord::new("retry.rs will be slow") })
            .unwrap();
        assert_eq!(of_atlas("B").map(|memory| memory.record.id), None, "true once, or later");
    }

    #[test]
    fn a_long_memory_is_cut_near_the_name() {
        let (_folder, engine) = store();
        let long =
            format!("{} src/billing/retry.rs tries three times {}", "before it ".repeat(90), "after it ".repeat(90));
        add(&engine, Kind::Decision, &long, 5);
        let file = ActionSubject::of_file(FILE, None);
        let found = engine.viewed_by(&Viewer::OWNER).remind("S", &file).unwrap().unwrap();
        assert!(found.memory.text.contains("tries three times"), "{}", found.memory.text);
        assert!(found.memory.text.chars().count() <= 320 && found.about.chars().count() <= 120);
    }
}
