//! The effect of each key.

use memorist_engine::types::RecordId;
use ratatui::crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use tui_input::InputRequest;
use tui_input::backend::crossterm::to_input_request;

use super::state::{Effect, Focus, Overlay, ReadingPosition, State};
use crate::cli::links;
use crate::escape::needs_escape;

impl State {
    /// A key was pressed.
    pub(super) fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        self.notice = None;
        if is_control(key, 'c') {
            self.leaving = true;
            return Vec::new();
        }
        match self.overlay.take() {
            Some(Overlay::Help(top)) => self.key_in_help(key, top),
            Some(Overlay::Delete { id, line, sure }) => self.key_in_question(key, id, line, sure),
            None => self.key_on_screen(key),
        }
    }

    /// Text was pasted: it goes to the search line, with line ends as spaces.
    pub(super) fn pasted(&mut self, text: &str) -> Vec<Effect> {
        if self.overlay.is_some() {
            return Vec::new();
        }
        let text: String =
            text.chars().map(|letter| if letter.is_control() || needs_escape(letter) { ' ' } else { letter }).collect();
        let cursor = self.query.cursor();
        let before: String = self.query.value().chars().take(cursor).collect();
        let after: String = self.query.value().chars().skip(cursor).collect();
        let cursor = cursor + text.chars().count();
        self.query = tui_input::Input::new(before + &text + &after).with_cursor(cursor);
        self.type_on()
    }

    fn key_in_help(&mut self, key: KeyEvent, top: usize) -> Vec<Effect> {
        self.overlay = match key.code {
            KeyCode::Up => Some(Overlay::Help(top.saturating_sub(1))),
            KeyCode::Down => Some(Overlay::Help(top.saturating_add(1).min(self.measures.help_end))),
            _ => None,
        };
        Vec::new()
    }

    /// Confirmation is a letter and then Enter, so that typing on deletes nothing. Only a clear answer closes the
    /// question: an earlier key may still arrive.
    fn key_in_question(&mut self, key: KeyEvent, id: RecordId, line: String, sure: bool) -> Vec<Effect> {
        let is_plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        let sure = match key.code {
            KeyCode::Char('n' | 'N') | KeyCode::Esc => return Vec::new(),
            // A key that is held down answers nothing.
            _ if key.kind != KeyEventKind::Press => sure,
            KeyCode::Enter if is_plain && sure => return vec![Effect::Delete(id)],
            code => is_plain && matches!(code, KeyCode::Char('y' | 'Y')),
        };
        self.overlay = Some(Overlay::Delete { id, line, sure });
        Vec::new()
    }

    fn key_on_screen(&mut self, key: KeyEvent) -> Vec<Effect> {
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::F(1) => self.help(),
            KeyCode::F(2) if self.focus == Focus::List => self.toggle_all(),
            // This may close a question.
            KeyCode::Char('?') if self.focus == Focus::Memory || self.query.value().is_empty() => self.help(),
            KeyCode::Delete => self.delete(key),
            KeyCode::Char('d') if is_control(key, 'd') => self.delete(key),
            KeyCode::Left if alt => self.back(),
            KeyCode::Tab | KeyCode::BackTab if self.focus == Focus::List => self.read(false),
            KeyCode::Tab | KeyCode::BackTab => self.leave_memory(),
            _ if self.focus == Focus::List => self.key_in_list(key),
            _ => self.key_in_memory(key),
        }
    }

    fn key_in_list(&mut self, key: KeyEvent) -> Vec<Effect> {
        let page = self.measures.list_height.max(1);
        match key.code {
            KeyCode::Up => self.choose(self.selected.saturating_sub(1)),
            KeyCode::Down => self.choose(self.selected + 1),
            KeyCode::PageUp => self.choose(self.selected.saturating_sub(page)),
            KeyCode::PageDown => self.choose(self.selected + page),
            KeyCode::Enter => self.read(true),
            KeyCode::Esc => {
                self.leaving = true;
                Vec::new()
            }
            _ => self.edit(key),
        }
    }

    fn key_in_memory(&mut self, key: KeyEvent) -> Vec<Effect> {
        let page = self.measures.page_height.saturating_sub(1).max(1);
        let scroll = self.place.scroll;
        match key.code {
            KeyCode::Up => self.scroll(scroll.saturating_sub(1)),
            KeyCode::Down => self.scroll(scroll + 1),
            KeyCode::PageUp => self.scroll(scroll.saturating_sub(page)),
            KeyCode::PageDown => self.scroll(scroll + page),
            KeyCode::Home => self.scroll(0),
            KeyCode::End => self.scroll(usize::MAX),
            KeyCode::Left => self.choose_link(self.place.link.and_then(|link| link.checked_sub(1))),
            KeyCode::Right => self.choose_link(Some(self.place.link.map_or(0, |link| link + 1))),
            KeyCode::Enter => self.follow(),
            KeyCode::Backspace => self.back(),
            KeyCode::Esc => self.leave_memory(),
            // Typing searches.
            KeyCode::Char(_) => self.edit(key),
            _ => Vec::new(),
        }
    }

    fn edit(&mut self, key: KeyEvent) -> Vec<Effect> {
        let deletes = is_control(key, 'd').then_some(InputRequest::DeleteNextChar);
        let Some(request) = deletes.or_else(|| to_input_request(&Input::Key(key))) else { return Vec::new() };
        self.query.handle(request);
        self.type_on()
    }

    /// The search line was changed, wherever the focus was.
    fn type_on(&mut self) -> Vec<Effect> {
        let mut effects = if self.focus == Focus::Memory { self.leave_memory() } else { Vec::new() };
        effects.extend(self.edited());
        effects
    }

    fn help(&mut self) -> Vec<Effect> {
        self.overlay = Some(Overlay::Help(0));
        Vec::new()
    }

    /// Inside the search line the key belongs to the text. When held down, it does not continue with the memory.
    fn delete(&mut self, key: KeyEvent) -> Vec<Effect> {
        let is_inside = self.query.cursor() < self.query.value().chars().count();
        match key.kind {
            _ if self.focus == Focus::List && is_inside => self.edit(key),
            KeyEventKind::Press => self.ask(),
            _ => Vec::new(),
        }
    }

    /// Asks before a deletion: of the memory that is read, or of the chosen row.
    fn ask(&mut self) -> Vec<Effect> {
        let target = match (self.focus, &self.memory) {
            (Focus::Memory, Some(memory)) => Some((memory.entry.id.into(), links::line(&memory.entry.content))),
            (Focus::Memory, None) => None,
            (Focus::List, _) => self.rows().get(self.selected).map(|row| (row.id, row.line.clone())),
        };
        self.overlay = target.map(|(id, line)| Overlay::Delete { id, line, sure: false });
        Vec::new()
    }

    /// Focuses the memory; `full`: on the whole screen.
    fn read(&mut self, full: bool) -> Vec<Effect> {
        if self.memory.is_some() {
            (self.focus, self.full) = (Focus::Memory, full);
            self.hold();
        }
        Vec::new()
    }

    /// Focuses the list, and returns from followed links to its chosen row.
    fn leave_memory(&mut self) -> Vec<Effect> {
        (self.focus, self.full) = (Focus::List, false);
        self.show_selected()
    }

    fn scroll(&mut self, to: usize) -> Vec<Effect> {
        self.place.scroll = to.min(self.last_scroll());
        Vec::new()
    }

    /// Chooses a link, or none, and scrolls to it.
    fn choose_link(&mut self, link: Option<usize>) -> Vec<Effect> {
        let links = self.memory.as_ref().map_or(0, |memory| memory.links.len());
        self.place.link = link.and_then(|link| links.checked_sub(1).map(|last| link.min(last)));
        if let Some(link) = self.place.link {
            let line = self.measures.links_line + link;
            let first = (line + 1).saturating_sub(self.measures.page_height);
            self.place.scroll = self.place.scroll.clamp(first, line.max(first));
        }
        Vec::new()
    }

    /// Follows the chosen link; without one, toggles the full screen.
    fn follow(&mut self) -> Vec<Effect> {
        let link = self.place.link.and_then(|link| self.memory.as_ref()?.links.get(link));
        let Some(id) = link.map(|link| link.id) else {
            self.full = !self.full;
            return Vec::new();
        };
        self.trail.push(self.place);
        self.go(ReadingPosition { id, ..ReadingPosition::default() })
    }

    /// Goes back to where the last link was followed.
    fn back(&mut self) -> Vec<Effect> {
        match self.trail.pop() {
            Some(place) => self.go(place),
            None => Vec::new(),
        }
    }
}

fn is_control(key: KeyEvent, letter: char) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char(letter)
}

#[cfg(test)]
mod tests {
    use super::super::state::{Event, Measures};
    use super::super::testing::Play;
    use super::*;

    const TWO: [(i64, &str); 2] = [(1, "one\nand more"), (2, "two")];

    /// A memory of a hundred lines, read ten at a time, with links from line 50 on.
    fn reading(links: &[i64]) -> Play {
        let mut play = Play::listing(&TWO);
        play.press(KeyCode::Down);
        play.load(2, "two", links);
        play.press(KeyCode::Tab);
        let measures = Measures { page_height: 10, page_lines: 100, links_line: 50, ..Measures::default() };
        play.state.drawn(measures);
        play
    }

    /// The question about the first of [`TWO`].
    fn asked(sure: bool) -> Option<Overlay> {
        Some(Overlay::Delete { id: 1.into(), line: "one and more".to_owned(), sure })
    }

    #[test]
    fn the_search_line_is_edited_by_letters_of_any_width() {
        let mut play = Play::new("");
        play.type_text("暗い mode");
        play.control('w');
        assert_eq!((play.state.query.value(), play.state.query.visual_cursor()), ("暗い ", 5));
        play.press(KeyCode::Left);
        play.press(KeyCode::Backspace);
        assert_eq!((play.state.query.value(), play.state.query.visual_cursor()), ("暗 ", 2));
        play.press(KeyCode::Home);
        play.type_text("x");
        play.press(KeyCode::End);
        play.type_text("y");
        assert_eq!(play.state.query.value(), "x暗 y");
        play.control('u');
        assert_eq!(play.state.query.value(), "");
    }

    #[test]
    fn pasted_text_is_inserted_at_the_cursor_as_one_line() {
        let mut play = Play::new("ad");
        play.press(KeyCode::Left);
        play.event(Event::Pasted("b\nc\u{1b}".to_owned()));
        assert_eq!((play.state.query.value(), play.state.query.cursor()), ("ab c d", 5));
        assert!(matches!(&play.effects[..], [Effect::Search { text, .. }] if text == "ab c d"));
    }

    #[test]
    fn a_deletion_needs_a_clear_yes_and_names_what_it_deletes() {
        let mut play = Play::listing(&TWO);
        play.press(KeyCode::Delete);
        assert_eq!((&play.state.overlay, &play.effects[..]), (&asked(false), &[][..]));
        play.type_text("x");
        play.press(KeyCode::Enter);
        play.event(Event::Pasted("y".to_owned()));
        assert_eq!((&play.state.overlay, &play.effects[..]), (&asked(false), &[][..]), "still asked");
        assert_eq!(play.state.query.value(), "", "no letter reaches the query meanwhile");
        play.type_text("n");
        assert_eq!((&play.state.overlay, &play.effects[..]), (&None, &[][..]));
        play.control('d');
        play.press(KeyCode::Esc);
        assert!(play.state.overlay.is_none() && !play.state.leaving);
        play.control('d');
        play.type_text("y");
        assert_eq!((&play.state.overlay, &play.effects[..]), (&asked(true), &[][..]));
        play.press(KeyCode::Enter);
        assert_eq!((&play.state.overlay, &play.effects[..]), (&None, &[Effect::Delete(1.into())][..]));
    }

    #[test]
    fn typing_on_does_not_confirm() {
        let mut play = Play::listing(&TWO);
        play.control('d');
        play.type_text("yes");
        play.press(KeyCode::Enter);
        assert_eq!((&play.state.overlay, &play.effects[..]), (&asked(false), &[][..]));
        for modifiers in [KeyModifiers::CONTROL, KeyModifiers::ALT] {
            play.event(Event::Key(KeyEvent::new(KeyCode::Char('y'), modifiers)));
            assert_eq!(play.state.overlay, asked(false), "{modifiers:?}");
        }
        play.hold(KeyCode::Char('y'));
        assert_eq!(play.state.overlay, asked(false), "held since before");
        play.type_text("y");
        play.hold(KeyCode::Char('y'));
        play.hold(KeyCode::Enter);
        assert_eq!((&play.state.overlay, &play.effects[..]), (&asked(true), &[][..]));
        play.type_text("n");
        assert!(play.state.overlay.is_none() && play.effects.is_empty(), "until the last moment");
    }

    #[test]
    fn inside_the_search_line_letters_are_deleted_and_no_memory() {
        let mut play = Play::listing(&TWO);
        play.type_text("abc");
        play.press(KeyCode::Home);
        play.press(KeyCode::Delete);
        play.control('d');
        assert_eq!((play.state.query.value(), &play.state.overlay), ("c", &None));
        assert!(matches!(&play.effects[..], [Effect::Search { text, .. }] if text == "c"));
        play.hold(KeyCode::Delete);
        play.hold(KeyCode::Delete);
        assert_eq!((play.state.query.value(), &play.state.overlay), ("", &None), "held beyond the last letter");
        play.press(KeyCode::Delete);
        assert_eq!(play.state.overlay, asked(false));
    }

    #[test]
    fn delete_in_the_memory_view_ignores_the_search_cursor() {
        let mut play = Play::listing(&TWO);
        play.type_text("abc");
        play.press(KeyCode::Home);
        play.press(KeyCode::Tab);
        play.press(KeyCode::Delete);
        assert_eq!((&play.state.overlay, play.state.query.value()), (&asked(false), "abc"));
    }

    #[test]
    fn with_nothing_found_there_is_nothing_to_read_or_delete() {
        let mut play = Play::listing(&[]);
        for code in [KeyCode::Delete, KeyCode::Enter, KeyCode::Tab, KeyCode::Up, KeyCode::Down, KeyCode::PageDown] {
            play.press(code);
            assert_eq!((&play.state.overlay, play.state.focus, &play.effects[..]), (&None, Focus::List, &[][..]));
        }
    }

    #[test]
    fn the_memory_that_is_read_is_the_one_that_would_be_deleted() {
        let mut play = reading(&[7]);
        play.press(KeyCode::Right);
        play.press(KeyCode::Enter);
        play.load(7, "seven", &[]);
        play.press(KeyCode::Delete);
        assert_eq!(play.state.overlay, Some(Overlay::Delete { id: 7.into(), line: "seven".to_owned(), sure: false }));
    }

    #[test]
    fn escape_goes_back_to_the_list_and_then_leaves() {
        let mut play = Play::listing(&TWO);
        play.press(KeyCode::Enter);
        assert!(play.state.full && play.state.focus == Focus::Memory);
        play.press(KeyCode::Esc);
        assert!(!play.state.full && play.state.focus == Focus::List && !play.state.leaving);
        play.press(KeyCode::Esc);
        assert!(play.state.leaving);
    }

    #[test]
    fn control_c_leaves_from_anywhere() {
        let mut play = Play::listing(&TWO);
        play.press(KeyCode::F(1));
        play.control('c');
        assert!(play.state.leaving);
        let mut play = reading(&[]);
        play.press(KeyCode::Delete);
        play.control('c');
        assert!(play.state.leaving && play.effects.is_empty());
    }

    #[test]
    fn a_link_is_chosen_followed_and_left_again_to_where_it_was() {
        let mut play = reading(&[7, 1]);
        play.press(KeyCode::Left);
        assert_eq!(play.state.place.link, None);
        play.press(KeyCode::Right);
        play.press(KeyCode::Right);
        play.press(KeyCode::Right);
        assert_eq!((play.state.place.link, play.state.place.scroll), (Some(1), 42), "the last one, and in sight");
        play.press(KeyCode::Enter);
        assert_eq!(play.effects, [Effect::Load(1.into())]);
        play.load(1, "one", &[2]);
        assert_eq!((play.shown(), play.state.place.link, play.state.place.scroll), (Some(1), None, 0));
        play.press(KeyCode::Right);
        play.press(KeyCode::Enter);
        play.load(2, "two", &[7, 1]);
        play.press(KeyCode::Backspace);
        assert_eq!(play.effects, [Effect::Load(1.into())]);
        play.load(1, "one", &[2]);
        play.event(Event::Key(KeyEvent::new(KeyCode::Left, KeyModifiers::ALT)));
        play.load(2, "two", &[7, 1]);
        assert_eq!((play.shown(), play.state.place.link, play.state.place.scroll), (Some(2), Some(1), 42));
        play.press(KeyCode::Backspace);
        assert_eq!(play.effects, [], "there is nothing before it");
    }

    #[test]
    fn a_dead_link_leaves_the_view_unchanged() {
        let mut play = reading(&[7]);
        play.press(KeyCode::Right);
        play.press(KeyCode::Enter);
        play.event(Event::Loaded { id: 7.into(), memory: Ok(None) });
        assert_eq!((play.shown(), play.state.trail.len()), (Some(2), 0));
        assert!(play.state.notice.is_some());
    }

    #[test]
    fn a_memory_is_scrolled_to_its_ends_and_no_further() {
        let mut play = reading(&[]);
        for (code, to) in [
            (KeyCode::Up, 0),
            (KeyCode::Down, 1),
            (KeyCode::PageDown, 10),
            (KeyCode::PageUp, 1),
            (KeyCode::End, 90),
            (KeyCode::Down, 90),
            (KeyCode::Home, 0),
        ] {
            play.press(code);
            assert_eq!(play.state.place.scroll, to, "{code:?}");
        }
    }

    #[test]
    fn typing_while_reading_searches() {
        let mut play = reading(&[]);
        play.press(KeyCode::Enter);
        play.type_text("x");
        assert_eq!((play.state.focus, play.state.full, play.state.query.value()), (Focus::List, false, "x"));
        assert!(
            matches!(&play.effects[..], [Effect::Load(id), Effect::Search { text, .. }] if id.get() == 2 && text == "x")
        );
    }

    #[test]
    fn a_question_mark_asks_for_help_where_it_cannot_be_text() {
        let mut play = Play::listing(&TWO);
        play.type_text("?");
        assert_eq!(play.state.overlay, Some(Overlay::Help(0)));
        play.type_text("x");
        assert_eq!((&play.state.overlay, play.state.query.value()), (&None, ""));
        play.type_text("why?");
        assert_eq!((&play.state.overlay, play.state.query.value()), (&None, "why?"));
    }
}
