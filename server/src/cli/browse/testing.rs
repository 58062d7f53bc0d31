//! Helpers for the tests of the screen.

use memorist_engine::types::{Direction, Kind, LinkKind, Record, Scope};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::found::{By, Memory, Row, SearchOutput};
use super::state::{Effect, Event, State};
use crate::cli::links::{self, LinkSummary};
use crate::wire::{self, Entry};

/// A memory with this text.
pub fn record(id: i64, content: &str) -> Record {
    Record {
        id: id.into(),
        ulid: format!("01K0000000000000000000{id:04}"),
        version: 2,
        content: content.to_owned(),
        content_hash: String::new(),
        kind: Kind::Preference,
        source: "manual".to_owned(),
        context: Some("Talk about the new site".to_owned()),
        confidence: 0.9,
        importance: 7,
        tags: vec!["ui".to_owned(), "theme".to_owned()],
        scope: Scope { project: Some("atlas".to_owned()), agent: None },
        created_at: 1_767_225_600_000,
        updated_at: 1_767_312_000_000,
        expires_at: None,
        valid: Default::default(),
        access_count: 3,
        last_accessed_at: Some(1_767_312_000_000),
        body: None,
        session: None,
        turn: None,
        place: None,
    }
}

/// A memory as an entry.
pub fn entry(id: i64, content: &str) -> Entry {
    wire::entry(record(id, content))
}

/// A result with these memories.
pub fn found(by: By, contents: &[(i64, &str)]) -> SearchOutput {
    let rows = contents.iter().enumerate().map(|(rank, (id, content))| {
        Row::new(&record(*id, content), (by != By::Listing).then_some(1.0 - rank as f64 / 8.0))
    });
    let rows = rows.collect();
    let (remarks, warnings) = (Vec::new(), Vec::new());
    SearchOutput { rows, remarks, more: false, by, cold: by == By::Words, micros: 1_234, warnings }
}

/// A screen, and its effects.
pub struct Play {
    pub state: State,
    pub effects: Vec<Effect>,
}

impl Play {
    pub fn new(query: &str) -> Self {
        let (state, effects) = State::new(query.to_owned());
        Play { state, effects }
    }

    /// A screen that has listed `contents` and shows the first.
    pub fn listing(contents: &[(i64, &str)]) -> Self {
        let mut play = Play::new("");
        play.answer(1, found(By::Listing, contents));
        if let Some((id, content)) = contents.first() {
            play.load(*id, content, &[]);
        }
        play
    }

    pub fn event(&mut self, event: Event) {
        self.effects = self.state.handle(event);
    }

    pub fn answer(&mut self, turn: u64, found: SearchOutput) {
        self.event(Event::Found { turn, found: Ok(found) });
    }

    /// The memory `id` arrives, with links to `links`.
    pub fn load(&mut self, id: i64, content: &str, links: &[i64]) {
        let links = links.iter().map(|other| LinkSummary {
            id: (*other).into(),
            says: links::says(LinkKind::Caused, if *other > id { Direction::Forward } else { Direction::Backward }),
            line: format!("the memory {other}"),
        });
        let memory = Memory { entry: entry(id, content), links: links.collect() };
        self.event(Event::Loaded { id: id.into(), memory: Ok(Some(Box::new(memory))) });
    }

    pub fn press(&mut self, code: KeyCode) {
        self.event(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    /// A key is held down: the terminal repeats it, and says so.
    pub fn hold(&mut self, code: KeyCode) {
        self.event(Event::Key(KeyEvent::new_with_kind(code, KeyModifiers::NONE, KeyEventKind::Repeat)));
    }

    pub fn control(&mut self, letter: char) {
        self.event(Event::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL)));
    }

    pub fn type_text(&mut self, text: &str) {
        for letter in text.chars() {
            self.press(KeyCode::Char(letter));
        }
    }

    /// The ids of the list, in order.
    pub fn ids(&self) -> Vec<i64> {
        self.state.rows().iter().map(|row| row.id.get()).collect()
    }

    /// The memory that is read.
    pub fn shown(&self) -> Option<i64> {
        self.state.memory.as_ref().map(|memory| memory.entry.id)
    }
}
