//! What is on the screen. Pure: an event comes in, effects go out, and whoever runs them sends the next event.

use memorist_engine::types::RecordId;
use ratatui::crossterm::event::KeyEvent;
use tui_input::Input;

use super::found::{By, Found, Memory, Row};

/// What happens to the screen.
#[derive(Debug)]
pub enum Event {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Pasted(String),
    /// The terminal has another size: to be drawn anew.
    Resized,
    /// The answer to [`Effect::Search`].
    Found {
        /// Of the search.
        turn: u64,
        /// What it found, or why it could not.
        found: Result<Found, String>,
    },
    /// The answer to [`Effect::Load`].
    Loaded {
        /// Of the memory.
        id: RecordId,
        /// The memory; none when it is gone.
        memory: Result<Option<Box<Memory>>, String>,
    },
    /// The answer to [`Effect::Delete`].
    Deleted {
        /// Of the memory.
        id: RecordId,
        /// Whether it was there.
        deleted: Result<bool, String>,
    },
    /// The model is in memory: searches go by meaning from now on.
    ModelReady,
    /// The model cannot be had, and why.
    ModelMissing(String),
}

/// What is to be done in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Search for a text; list the newest memories when it is empty.
    Search {
        /// Grows with each search.
        turn: u64,
        /// What to look for.
        text: String,
    },
    /// Fetch a memory.
    Load(RecordId),
    /// Delete a memory.
    Delete(RecordId),
}

/// Where the keys go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// To the search line and the list below it.
    List,
    /// To the memory.
    Memory,
}

/// What lies over the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overlay {
    /// The keys, from this line on.
    Help(usize),
    /// The question whether to delete this memory.
    Delete {
        /// Its id.
        id: RecordId,
        /// The beginning of its text.
        line: String,
        /// Whether a yes was typed, so that Enter deletes it.
        sure: bool,
    },
}

/// The embedding model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Model {
    /// Being loaded.
    Loading,
    /// In memory.
    Ready,
    /// Not to be had, and why.
    Missing(String),
}

/// A place in a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// The memory.
    pub id: RecordId,
    /// Its first line on the screen.
    pub scroll: usize,
    /// Its link that is chosen, by number.
    pub link: Option<usize>,
}

/// What was drawn, as far as keys need to know it.
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
    /// The furthest that the help can be scrolled.
    pub help_end: usize,
    /// The line of its first link.
    pub links_line: usize,
}

/// What is on the screen.
#[derive(Debug)]
pub struct State {
    /// The search line.
    pub query: Input,
    /// Where the keys go.
    pub focus: Focus,
    /// Whether the memory has the screen to itself.
    pub full: bool,
    /// What was found; none before the first answer.
    pub found: Option<Found>,
    /// The chosen row.
    pub selected: usize,
    /// The memory that is read.
    pub memory: Option<Box<Memory>>,
    /// Where in it.
    pub place: Place,
    /// The memories that were left by following links, the last one last.
    pub trail: Vec<Place>,
    /// What lies over the screen.
    pub overlay: Option<Overlay>,
    /// What was just done, or what failed; until the next key.
    pub notice: Option<String>,
    /// The model.
    pub model: Model,
    /// What was drawn last.
    pub measures: Measures,
    /// Whether to leave.
    pub leaving: bool,
    /// The newest search that was begun, and its text.
    asked: (u64, String),
    /// The newest search that was answered.
    answered: u64,
    /// The memory that is being fetched, and where to go in it.
    wanted: Option<Place>,
    /// The row that was chosen by hand, for this text.
    chosen: Option<RecordId>,
}

impl State {
    /// An empty screen with `query` on its search line, and what fills it.
    pub fn new(query: String) -> (Self, Vec<Effect>) {
        let mut state = State {
            query: Input::new(query),
            focus: Focus::List,
            full: false,
            found: None,
            selected: 0,
            memory: None,
            place: Place::default(),
            trail: Vec::new(),
            overlay: None,
            notice: None,
            model: Model::Loading,
            measures: Measures::default(),
            leaving: false,
            asked: (0, String::new()),
            answered: 0,
            wanted: None,
            chosen: None,
        };
        let effects = state.search();
        (state, effects)
    }

    /// Takes in what happened; what is to be done now.
    pub fn handle(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Key(key) => self.key(key),
            Event::Pasted(text) => self.pasted(&text),
            Event::Resized => Vec::new(),
            // An older search than the one whose answer is on the screen.
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

    /// Takes in what was drawn.
    pub fn drawn(&mut self, measures: Measures) {
        self.measures = measures;
        self.place.scroll = self.place.scroll.min(self.last_scroll());
    }

    /// The rows of the list.
    pub fn rows(&self) -> &[Row] {
        self.found.as_ref().map_or(&[], |found| &found.rows)
    }

    /// The furthest that the memory can be scrolled.
    pub(super) fn last_scroll(&self) -> usize {
        self.measures.page_lines.saturating_sub(self.measures.page_height)
    }

    /// Searches for what stands on the search line.
    pub(super) fn search(&mut self) -> Vec<Effect> {
        let turn = self.asked.0 + 1;
        self.asked = (turn, self.query.value().trim().to_owned());
        vec![Effect::Search { turn, text: self.asked.1.clone() }]
    }

    /// Searches anew where the search line says something else than before.
    pub(super) fn edited(&mut self) -> Vec<Effect> {
        if self.query.value().trim() == self.asked.1 {
            return Vec::new();
        }
        self.chosen = None;
        self.search()
    }

    /// Chooses a row, as near as there is one.
    pub(super) fn choose(&mut self, row: usize) -> Vec<Effect> {
        let Some(last) = self.rows().len().checked_sub(1) else { return Vec::new() };
        self.selected = row.min(last);
        self.chosen = Some(self.rows()[self.selected].id);
        self.show_selected()
    }

    /// Keeps the chosen row whatever a search for the same text brings.
    pub(super) fn hold(&mut self) {
        self.chosen = self.rows().get(self.selected).map(|row| row.id);
    }

    /// Goes to a place, perhaps in another memory.
    pub(super) fn go(&mut self, place: Place) -> Vec<Effect> {
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
        let place = if self.place.id == id { self.place } else { Place { id, ..Place::default() } };
        self.go(place)
    }

    fn found(&mut self, found: Result<Found, String>) -> Vec<Effect> {
        let found = match found {
            Ok(found) => found,
            Err(why) => {
                self.notice = Some(why);
                return Vec::new();
            }
        };
        if found.by == By::Words && found.cold && self.model == Model::Ready {
            // It was released after a while without use.
            self.model = Model::Loading;
        }
        let kept = self.chosen.and_then(|chosen| found.rows.iter().position(|row| row.id == chosen));
        self.selected = kept.unwrap_or(0);
        self.found = Some(found);
        // Nobody's reading is interrupted.
        if self.focus == Focus::Memory { Vec::new() } else { self.show_selected() }
    }

    fn loaded(&mut self, id: RecordId, memory: Result<Option<Box<Memory>>, String>) -> Vec<Effect> {
        let Some(place) = self.wanted.filter(|place| place.id == id) else { return Vec::new() };
        self.wanted = None;
        match memory {
            Ok(Some(memory)) => {
                let link = place.link.filter(|link| *link < memory.links.len());
                self.place = Place { link, ..place };
                self.memory = Some(memory);
            }
            Ok(None) => self.not_shown(format!("there is no memory {id} any more")),
            Err(why) => self.not_shown(why),
        }
        Vec::new()
    }

    /// A memory could not be had: whoever reads stays where a link was to be followed from, and a row shows nothing.
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
            Ok(false) => format!("there is no memory {id} any more"),
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
        // What is read stays, but perhaps with a link less.
        let read = self.focus == Focus::Memory && self.memory.as_ref().is_some_and(|memory| memory.entry.id != id);
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

    const THREE: [(RecordId, &str); 3] = [(1, "one"), (2, "two"), (3, "three")];

    fn search(turn: u64, text: &str) -> Effect {
        Effect::Search { turn, text: text.to_owned() }
    }

    #[test]
    fn it_begins_with_a_search_for_what_was_typed_before() {
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
    fn an_older_answer_never_replaces_a_newer_one() {
        let mut play = Play::new("");
        play.type_text("ab");
        play.answer(3, found(By::Words, &[(3, "three")]));
        play.answer(2, found(By::Words, &[(2, "two")]));
        play.event(Event::Found { turn: 1, found: Err("too late".to_owned()) });
        assert_eq!((play.ids(), &play.state.notice), (vec![3], &None));
    }

    #[test]
    fn an_answer_that_was_overtaken_is_still_better_than_none() {
        let mut play = Play::new("");
        play.type_text("ab");
        play.answer(2, found(By::Words, &[(2, "two")]));
        assert_eq!(play.ids(), [2]);
    }

    #[test]
    fn the_chosen_row_is_shown_and_what_arrives_for_another_is_not() {
        let mut play = Play::listing(&THREE);
        play.press(KeyCode::Down);
        assert_eq!(play.effects, [Effect::Load(2)]);
        play.press(KeyCode::Down);
        play.load(2, "two", &[]);
        assert_eq!(play.shown(), Some(1), "the second was overtaken by the third");
        play.load(3, "three", &[]);
        assert_eq!(play.shown(), Some(3));
        play.press(KeyCode::Down);
        assert_eq!(play.state.selected, 2, "there is no fourth");
    }

    #[test]
    fn a_row_chosen_by_hand_stays_chosen_when_the_model_ranks_anew() {
        let mut play = Play::listing(&[]);
        play.type_text("x");
        play.answer(2, found(By::Words, &THREE));
        play.press(KeyCode::Down);
        play.event(Event::ModelReady);
        assert_eq!(play.effects, [search(3, "x")]);
        play.answer(3, found(By::Meaning, &[(3, "three"), (1, "one"), (2, "two")]));
        assert_eq!((play.state.selected, &play.effects[..]), (2, &[Effect::Load(2)][..]));
        play.type_text("y");
        play.answer(4, found(By::Meaning, &[(1, "one"), (2, "two")]));
        assert_eq!(play.state.selected, 0, "other words, other choice");
    }

    #[test]
    fn a_model_that_was_released_is_said_to_load_again() {
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
    fn reading_goes_on_whatever_is_found_meanwhile() {
        let mut play = Play::listing(&THREE);
        play.press(KeyCode::Tab);
        play.answer(2, found(By::Listing, &[(3, "three")]));
        assert_eq!((play.shown(), &play.effects[..]), (Some(1), &[][..]));
        play.press(KeyCode::Esc);
        assert_eq!(play.effects, [Effect::Load(3)], "back in the list, its choice is shown");
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
        play.event(Event::Deleted { id: 2, deleted: Ok(true) });
        assert_eq!((play.ids(), &play.effects[..]), (vec![1, 3], &[Effect::Load(3)][..]));
        assert_eq!(play.state.notice.as_deref(), Some("deleted memory 2"));
        play.event(Event::Deleted { id: 1, deleted: Ok(false) });
        assert_eq!((play.ids(), play.state.selected), (vec![3], 0), "the choice stays with its row");
        assert_eq!(play.state.notice.as_deref(), Some("there is no memory 1 any more"));
        play.event(Event::Deleted { id: 3, deleted: Ok(true) });
        assert_eq!((play.ids().len(), play.shown()), (0, None));
    }

    #[test]
    fn a_deletion_that_fails_deletes_nothing_from_the_list() {
        let mut play = Play::listing(&THREE);
        play.event(Event::Deleted { id: 1, deleted: Err("busy".to_owned()) });
        assert_eq!((play.ids().len(), play.state.notice.as_deref()), (3, Some("busy")));
    }

    #[test]
    fn a_memory_deleted_while_it_is_read_gives_way_to_the_one_before_it() {
        let mut play = Play::listing(&THREE);
        play.load(1, "one", &[]);
        play.press(KeyCode::Down);
        play.load(2, "two", &[9]);
        play.press(KeyCode::Enter);
        play.press(KeyCode::Right);
        play.press(KeyCode::Enter);
        play.load(9, "nine", &[2]);
        play.event(Event::Deleted { id: 9, deleted: Ok(true) });
        assert_eq!(play.effects, [Effect::Load(2)]);
        play.load(2, "two", &[]);
        assert_eq!((play.shown(), play.state.focus, play.state.place.link), (Some(2), Focus::Memory, None));
        play.event(Event::Deleted { id: 2, deleted: Ok(true) });
        assert_eq!((play.state.focus, &play.effects[..]), (Focus::List, &[Effect::Load(3)][..]));
    }

    #[test]
    fn what_is_gone_when_it_is_fetched_is_not_shown() {
        let mut play = Play::listing(&THREE);
        play.press(KeyCode::Down);
        play.event(Event::Loaded { id: 2, memory: Ok(None) });
        assert_eq!((play.shown(), play.state.notice.as_deref()), (None, Some("there is no memory 2 any more")));
    }
}
