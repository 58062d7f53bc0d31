//! The state of the screen. Pure: an event comes in, effects go out, and the runner sends the next event.

use memorist_engine::types::RecordId;
use ratatui::crossterm::event::KeyEvent;
use tui_input::Input;

use super::found::{By, Memory, Row, SearchOutput};

#[derive(Debug)]
pub enum Event {
    /// A key was pressed.
    Key(KeyEvent),
    Pasted(String),
    /// The terminal was resized: draw again.
    Resized,
    /// The result of [`Effect::Search`].
    Found {
        /// The number of the search.
        turn: u64,
        /// Its result, or why it failed.
        found: Result<SearchOutput, String>,
    },
    /// The result of [`Effect::Load`].
    Loaded {
        /// The memory's id.
        id: RecordId,
        /// The memory; `None` if it is gone.
        memory: Result<Option<Box<Memory>>, String>,
    },
    /// The result of [`Effect::Delete`].
    Deleted {
        /// The memory's id.
        id: RecordId,
        /// Whether it existed.
        deleted: Result<bool, String>,
    },
    /// The model is in memory: searches use vectors from now on.
    ModelReady,
    /// The model is unavailable, and why.
    ModelMissing(String),
}

/// Work for the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Search for a text; list the newest memories when it is empty.
    Search {
        /// Increases with each search.
        turn: u64,
        /// The query text.
        text: String,
        /// Whether weak results are shown, too.
        all: bool,
    },
    Load(RecordId),
    Delete(RecordId),
}

/// The focus of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// The search line and the list below it.
    List,
    /// The memory.
    Memory,
}

/// An overlay of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overlay {
    /// The help, from this line on.
    Help(usize),
    /// The question whether to delete this memory.
    Delete {
        id: RecordId,
        /// The beginning of its text.
        line: String,
        /// Whether yes was typed, so that Enter deletes it.
        sure: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Model {
    /// Being loaded.
    Loading,
    /// In memory.
    Ready,
    /// Unavailable, and why.
    Missing(String),
}

/// A position in a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadingPosition {
    /// The memory.
    pub id: RecordId,
    /// Its first line on the screen.
    pub scroll: usize,
    /// Its chosen link, by number.
    pub link: Option<usize>,
}

/// Measurements of the last frame, for key handling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measures {
    /// The first row of the list on the screen.
    pub list_top: usize,
    /// Rows of the list on the screen.
    pub list_height: usize,
    /// Lines of the memory on the screen.
    pub page_height: usize,
    /// Lines of the memory in all.
    pub page_lines: usize,
    /// The maximum scroll position of the help.
    pub help_end: usize,
    /// The line of its first link.
    pub links_line: usize,
}

/// The state of the screen.
#[derive(Debug)]
pub struct State {
    pub query: Input,
    /// The focus of the keys.
    pub focus: Focus,
    /// Whether the memory fills the screen.
    pub full: bool,
    /// The results; `None` before the first ones.
    pub found: Option<SearchOutput>,
    pub selected: usize,
    /// The memory that is read.
    pub memory: Option<Box<Memory>>,
    pub place: ReadingPosition,
    /// The history of followed links, the last one last.
    pub trail: Vec<ReadingPosition>,
    pub overlay: Option<Overlay>,
    /// The last action, or its failure; until the next key.
    pub notice: Option<String>,
    /// The model.
    pub model: Model,
    /// Measurements of the last frame.
    pub measures: Measures,
    pub leaving: bool,
    /// Whether weak results are shown, too; until another text is searched for.
    all: bool,
    /// The newest search that was started, and its text.
    asked: (u64, String),
    /// The newest search with a result.
    answered: u64,
    /// The memory that is being fetched, and the position in it.
    wanted: Option<ReadingPosition>,
    /// The row that was chosen by hand, for this text.
    chosen: Option<RecordId>,
}

impl State {
    /// An empty screen with `query` on its search line, and the effects that fill it.
    pub fn new(query: String) -> (Self, Vec<Effect>) {
        let mut state = State {
            query: Input::new(query),
            focus: Focus::List,
            full: false,
            found: None,
            selected: 0,
            memory: None,
            place: ReadingPosition::default(),
            trail: Vec::new(),
            overlay: None,
            notice: None,
            model: Model::Loading,
            measures: Measures::default(),
            leaving: false,
            all: false,
            asked: (0, String::new()),
            answered: 0,
            wanted: None,
            chosen: None,
        };
        let effects = state.search();
        (state, effects)
    }

    pub fn handle(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Key(key) => self.key(key),
            Event::Pasted(text) => self.pasted(&text),
            Event::Resized => Vec::new(),
            // An older search than the one on the screen.
            Event::Found { turn, .. } if turn <= self.answered => Vec::new(),
            Event::Found { turn, found } => {
                self.answered = turn;
                self.found(found)
            }
            Event::Loaded { id, memory } => self.loaded(id, memory),
            Event::Deleted { id, deleted } => self.deleted(id, deleted),
            Event::ModelReady => {
                self.model = Model::Ready;
                if self.asked.1.is_empty() { Vec::new() } else { self.search() }
            }
            Event::ModelMissing(why) => {
                self.model = Model::Missing(why);
                Vec::new()
            }
        }
    }

    /// Updates the measurements.
    pub fn drawn(&mut self, measures: Measures) {
        self.measures = measures;
        self.place.scroll = self.place.scroll.min(self.last_scroll());
    }

    /// The rows of the list.
    pub fn rows(&self) -> &[Row] {
        self.found.as_ref().map_or(&[], |found| &found.rows)
    }

    /// The maximum scroll position of the memory.
    pub(super) fn last_scroll(&self) -> usize {
        self.measures.page_lines.saturating_sub(self.measures.page_height)
    }

    /// Searches for the text on the search line.
    pub(super) fn search(&mut self) -> Vec<Effect> {
        let turn = self.asked.0 + 1;
        self.asked = (turn, self.query.value().trim().to_owned());
        vec![Effect::Search { turn, text: self.asked.1.clone(), all: self.all }]
    }

    /// Searches again with weak results, or without.
    pub(super) fn toggle_all(&mut self) -> Vec<Effect> {
        if self.asked.1.is_empty() {
            return Vec::new();
        }
        self.all = !self.all;
        self.search()
    }

    /// Searches again if the search line has changed.
    pub(super) fn edited(&mut self) -> Vec<Effect> {
        if self.query.value().trim() == self.asked.1 {
            return Vec::new();
        }
        self.chosen = None;
        self.all = false;
        self.search()
    }

    /// Chooses a row, or the nearest one that exists.
    pub(super) fn choose(&mut self, row: usize) -> Vec<Effect> {
        let Some(last) = self.rows().len().checked_sub(1) else { return Vec::new() };
        self.selected = row.min(last);
        self.chosen = Some(self.rows()[self.selected].id);
        self.show_selected()
    }

    /// Keeps the chosen row when a search for the same text is repeated.
    pub(super) fn hold(&mut self) {
        self.chosen = self.rows().get(self.selected).map(|row| row.id);
    }

    /// Goes to a position, perhaps in another memory.
    pub(super) fn go(&mut self, place: ReadingPosition) -> Vec<Effect> {
        self.wanted = Some(place);
        vec![Effect::Load(place.id)]
    }

    /// Shows the memory of the chosen row.
    pub(super) fn show_selected(&mut self) -> Vec<Effect> {
        self.trail.clear();
        let Some(id) = self.rows().get(self.selected).map(|row| row.id) else {
            self.memory = None;
            self.wanted = None;
            return Vec::new();
        };
        let place = if self.place.id == id { self.place } else { ReadingPosition { id, ..ReadingPosition::default() } };
        self.go(place)
    }

    fn found(&mut self, found: Result<SearchOutput, String>) -> Vec<Effect> {
        let found = match found {
            Ok(found) => found,
            Err(why) => {
                self.notice = Some(why);
                return Vec::new();
            }
        };
        if found.by == By::Words && found.cold && self.model == Model::Ready {
            // It was released when idle.
            self.model = Model::Loading;
        }
        let kept = self.chosen.and_then(|chosen| found.rows.iter().position(|row| row.id == chosen));
        self.selected = kept.unwrap_or(0);
        self.found = Some(found);
        // Never interrupts reading.
        if self.focus == Focus::Memory { Vec::new() } else { self.show_selected() }
    }

    fn loaded(&mut self, id: RecordId, memory: Result<Option<Box<Memory>>, String>) -> Vec<Effect> {
        let Some(place) = self.wanted.filter(|place| place.id == id) else { return Vec::new() };
        self.wanted = None;
        match memory {
            Ok(Some(memory)) => {
                let link = place.link.filter(|link| *link < memory.links.len());
                self.place = ReadingPosition { link, ..place };
                self.memory = Some(memory);
            }
            Ok(None) => self.not_shown(format!("memory {id} no longer exists")),
            Err(why) => self.not_shown(why),
        }
        Vec::new()
    }

    /// A memory could not be loaded: a reader stays where the link was followed, and a row shows nothing.
    fn not_shown(&mut self, why: String) {
        self.notice = Some(why);
        if self.focus == Focus::List {
            self.memory = None;
        } else if self.trail.last() == Some(&self.place) {
            self.trail.pop();
        }
    }

    fn deleted(&mut self, id: RecordId, deleted: Result<bool, String>) -> Vec<Effect> {
        self.notice = Some(match deleted {
            Ok(true) => format!("deleted memory {id}"),
            Ok(false) => format!("memory {id} no longer exists"),
            Err(why) => {
                self.notice = Some(why);
                return Vec::new();
            }
        });
        if let Some(found) = &mut self.found {
            let gone = found.rows.iter().position(|row| row.id == id);
            found.rows.retain(|row| row.id != id);
            let above = usize::from(gone.is_some_and(|gone| gone < self.selected));
            self.selected = (self.selected - above).min(found.rows.len().saturating_sub(1));
        }
        self.hold();
        self.trail.retain(|place| place.id != id);
        // The memory stays on the screen, but perhaps with a link less.
        let read =
            self.focus == Focus::Memory && self.memory.as_ref().is_some_and(|memory| memory.entry.id != id.get());
        let place = if read { Some(self.place) } else { self.trail.pop() };
        match place {
            Some(place) if self.focus == Focus::Memory => self.go(place),
            _ => {
                (self.focus, self.full) = (Focus::List, false);
                self.show_selected()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::KeyCode;

    use super::super::found::By;
    use super::super::testing::{Play, found};
    use super::*;

    const THREE: [(i64, &str); 3] = [(1, "one"), (2, "two"), (3, "three")];

    fn search(turn: u64, text: &str) -> Effect {
        Effect::Search { turn, text: text.to_owned(), all: false }
    }

    #[test]
    fn it_starts_with_a_search_for_the_argument() {
        assert_eq!(Play::new("").effects, [search(1, "")]);
        assert_eq!(Play::new("dark mode ").effects, [search(1, "dark mode")]);
    }

    #[test]
    fn every_letter_searches_and_a_space_at_the_end_does_not() {
        let mut play = Play::new("");
        play.press(KeyCode::Char('a'));
        assert_eq!(play.effects, [search(2, "a")]);
        play.press(KeyCode::Char(' '));
        assert_eq!(play.effects, []);
        play.press(KeyCode::Char('b'));
        assert_eq!(play.effects, [search(3, "a b")]);
        play.control('u');
        assert_eq!(play.effects, [search(4, "")]);
    }

    #[test]
    fn a_key_shows_weak_results_until_another_text_is_searched_for() {
        let mut play = Play::new("dark");
        play.press(KeyCode::F(2));
        assert_eq!(play.effects, [Effect::Search { turn: 2, text: "dark".to_owned(), all: true }]);
        play.type_text("e");
        assert_eq!(play.effects, [search(3, "darke")]);
        play.control('u');
        play.press(KeyCode::F(2));
        assert_eq!(play.effects, [], "a listing has none");
    }

    #[test]
    fn an_older_result_never_replaces_a_newer_one() {
        let mut play = Play::new("");
        play.type_text("ab");
        play.answer(3, found(By::Words, &[(3, "three")]));
        play.answer(2, found(By::Words, &[(2, "two")]));
        play.event(Event::Found { turn: 1, found: Err("too late".to_owned()) });
        assert_eq!((play.ids(), &play.state.notice), (vec![3], &None));
    }

    #[test]
    fn an_outdated_result_is_better_than_none() {
        let mut play = Play::new("");
        play.type_text("ab");
        play.answer(2, found(By::Words, &[(2, "two")]));
        assert_eq!(play.ids(), [2]);
    }

    #[test]
    fn the_chosen_row_is_shown_and_what_arrives_for_another_is_not() {
        let mut play = Play::listing(&THREE);
        play.press(KeyCode::Down);
        assert_eq!(play.effects, [Effect::Load(2.into())]);
        play.press(KeyCode::Down);
        play.load(2, "two", &[]);
        assert_eq!(play.shown(), Some(1), "the second was overtaken by the third");
        play.load(3, "three", &[]);
        assert_eq!(play.shown(), Some(3));
        play.press(KeyCode::Down);
        assert_eq!(play.state.selected, 2, "there is no fourth");
    }

    #[test]
    fn a_row_chosen_by_hand_stays_chosen_when_the_model_ranks_again() {
        let mut play = Play::listing(&[]);
        play.type_text("x");
        play.answer(2, found(By::Words, &THREE));
        play.press(KeyCode::Down);
        play.event(Event::ModelReady);
        assert_eq!(play.effects, [search(3, "x")]);
        play.answer(3, found(By::Meaning, &[(3, "three"), (1, "one"), (2, "two")]));
        assert_eq!((play.state.selected, &play.effects[..]), (2, &[Effect::Load(2.into())][..]));
        play.type_text("y");
        play.answer(4, found(By::Meaning, &[(1, "one"), (2, "two")]));
        assert_eq!(play.state.selected, 0, "other words, other choice");
    }

    #[test]
    fn a_released_model_is_shown_as_loading() {
        let mut play = Play::listing(&THREE);
        play.event(Event::ModelReady);
        assert_eq!(play.effects, [], "nothing was searched for");
        play.type_text("x");
        play.answer(2, found(By::Words, &THREE));
        assert_eq!(play.state.model, Model::Loading);
        play.event(Event::ModelMissing("gone".to_owned()));
        play.answer(3, found(By::Words, &THREE));
        assert_eq!(play.state.model, Model::Missing("gone".to_owned()));
    }

    #[test]
    fn new_results_do_not_interrupt_reading() {
        let mut play = Play::listing(&THREE);
        play.press(KeyCode::Tab);
        play.answer(2, found(By::Listing, &[(3, "three")]));
        assert_eq!((play.shown(), &play.effects[..]), (Some(1), &[][..]));
        play.press(KeyCode::Esc);
        assert_eq!(play.effects, [Effect::Load(3.into())], "back in the list, its choice is shown");
    }

    #[test]
    fn a_search_that_fails_says_why_and_leaves_the_list() {
        let mut play = Play::listing(&THREE);
        play.event(Event::Found { turn: 2, found: Err("the disk is full".to_owned()) });
        assert_eq!((play.ids().len(), play.state.notice.as_deref()), (3, Some("the disk is full")));
        play.press(KeyCode::Down);
        assert_eq!(play.state.notice, None, "a key takes it away");
    }

    #[test]
    fn a_deleted_memory_leaves_the_list_and_the_next_is_shown() {
        let mut play = Play::listing(&THREE);
        play.press(KeyCode::Down);
        play.load(2, "two", &[]);
        play.event(Event::Deleted { id: 2.into(), deleted: Ok(true) });
        assert_eq!((play.ids(), &play.effects[..]), (vec![1, 3], &[Effect::Load(3.into())][..]));
        assert_eq!(play.state.notice.as_deref(), Some("deleted memory 2"));
        play.event(Event::Deleted { id: 1.into(), deleted: Ok(false) });
        assert_eq!((play.ids(), play.state.selected), (vec![3], 0), "the choice stays with its row");
        assert_eq!(play.state.notice.as_deref(), Some("memory 1 no longer exists"));
        play.event(Event::Deleted { id: 3.into(), deleted: Ok(true) });
        assert_eq!((play.ids().len(), play.shown()), (0, None));
    }

    #[test]
    fn a_deletion_that_fails_deletes_nothing_from_the_list() {
        let mut play = Play::listing(&THREE);
        play.event(Event::Deleted { id: 1.into(), deleted: Err("busy".to_owned()) });
        assert_eq!((play.ids().len(), play.state.notice.as_deref()), (3, Some("busy")));
    }

    #[test]
    fn deleting_a_memory_while_reading_returns_to_the_previous_one() {
        let mut play = Play::listing(&THREE);
        play.load(1, "one", &[]);
        play.press(KeyCode::Down);
        play.load(2, "two", &[9]);
        play.press(KeyCode::Enter);
        play.press(KeyCode::Right);
        play.press(KeyCode::Enter);
        play.load(9, "nine", &[2]);
        play.event(Event::Deleted { id: 9.into(), deleted: Ok(true) });
        assert_eq!(play.effects, [Effect::Load(2.into())]);
        play.load(2, "two", &[]);
        assert_eq!((play.shown(), play.state.focus, play.state.place.link), (Some(2), Focus::Memory, None));
        play.event(Event::Deleted { id: 2.into(), deleted: Ok(true) });
        assert_eq!((play.state.focus, &play.effects[..]), (Focus::List, &[Effect::Load(3.into())][..]));
    }

    #[test]
    fn a_memory_that_is_gone_is_not_shown() {
        let mut play = Play::listing(&THREE);
        play.press(KeyCode::Down);
        play.event(Event::Loaded { id: 2.into(), memory: Ok(None) });
        assert_eq!((play.shown(), play.state.notice.as_deref()), (None, Some("memory 2 no longer exists")));
    }
}
