//! Draws a state.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row as TableRow, Table, TableState};

use super::found::{By, SearchOutput};
use super::overlays;
use super::page::{Broken, MemoryPage};
use super::state::{Focus, Measures, Model, Overlay, State};
use super::theme::Theme;
use crate::cli::format;

/// From this many columns on, the memory is beside the list.
const BESIDE: u16 = 120;
/// With fewer lines for both, only one of them is shown.
const BOTH: u16 = 10;
/// With fewer lines, the keys are not shown.
const MIN_HEIGHT_FOR_STATUS: u16 = 8;
/// With fewer lines, there is no title.
const TITLED: u16 = 4;
/// From this many columns on, rows show the kind and the owner.
const KINDS: u16 = 48;
const PROJECTS: u16 = 64;
/// From this many columns on, titles show the scroll position.
const PLACED: u16 = 40;
/// Columns of the longest project's name.
const LONGEST_PROJECT: usize = 20;

/// Draws `state`; returns the measurements.
pub fn draw(frame: &mut Frame, state: &State, theme: Theme, broken: &mut Broken) -> Measures {
    let status_height = u16::from(frame.area().height >= MIN_HEIGHT_FOR_STATUS);
    let rows = [Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1), Constraint::Length(status_height)];
    let [search, body, status, keys] = Layout::vertical(rows).areas(frame.area());
    let mut measures = Measures { list_top: state.measures.list_top, ..Measures::default() };
    search_line(frame, search, state, theme);
    let (list_area, page_area) = split(body, state);
    if let Some(area) = list_area {
        list(frame, area, state, theme, &mut measures);
    }
    if let Some(area) = page_area {
        memory(frame, area, state, theme, broken, &mut measures);
    }
    frame.render_widget(Line::from(status_text(state, theme)), status);
    frame.render_widget(Line::styled(keys_text(state), theme.faint()), keys);
    match &state.overlay {
        Some(Overlay::Help(top)) => measures.help_end = overlays::help(frame, state, *top, theme),
        Some(Overlay::Delete { id, line, sure }) => overlays::question(frame, *id, line, *sure, theme),
        None => {}
    }
    measures
}

/// The areas of the list and of the memory.
fn split(body: Rect, state: &State) -> (Option<Rect>, Option<Rect>) {
    let beside = body.width >= BESIDE;
    if state.full || (!beside && body.height < BOTH) {
        return match state.focus {
            Focus::List => (Some(body), None),
            Focus::Memory => (None, Some(body)),
        };
    }
    let parts = [Constraint::Fill(2), Constraint::Fill(3)];
    let [list, page] =
        if beside { Layout::horizontal(parts).spacing(2).areas(body) } else { Layout::vertical(parts).areas(body) };
    (Some(list), Some(page))
}

fn search_line(frame: &mut Frame, area: Rect, state: &State, theme: Theme) {
    let label = if area.width < 40 { "> " } else { "Search: " };
    let [before, line] = Layout::horizontal([Constraint::Length(label.len() as u16), Constraint::Fill(1)]).areas(area);
    // One column is for the cursor.
    let columns = usize::from(line.width.saturating_sub(1));
    let scroll = state.query.visual_scroll(columns);
    frame.render_widget(Line::styled(label, theme.focused()), before);
    let text = Paragraph::new(state.query.value()).scroll((0, u16::try_from(scroll).unwrap_or(u16::MAX)));
    frame.render_widget(text, line);
    if state.focus == Focus::List && state.overlay.is_none() && line.width > 0 {
        let column = state.query.visual_cursor().saturating_sub(scroll).min(columns);
        frame.set_cursor_position((line.x + u16::try_from(column).unwrap_or(0), line.y));
    }
}

/// The rest of `area` below a title with, at its end, a position.
fn titled(frame: &mut Frame, area: Rect, title: String, place: String, style: Style, theme: Theme) -> Rect {
    if area.height < TITLED {
        return area;
    }
    let block = Block::new()
        .borders(Borders::TOP)
        .border_style(theme.faint())
        .title(Line::from(vec![Span::raw("─"), Span::styled(format!(" {title} "), style)]))
        .title(Line::styled(if area.width < PLACED { "" } else { &place }, theme.faint()).right_aligned());
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}

/// The style of the title of the focused part, or of the other.
fn title_style(focused: bool, theme: Theme) -> Style {
    if focused { theme.focused() } else { theme.faint() }
}

fn list(frame: &mut Frame, area: Rect, state: &State, theme: Theme, measures: &mut Measures) {
    let focused = state.focus == Focus::List;
    let rows = state.rows();
    let place = if rows.is_empty() { String::new() } else { format!(" {} of {} ", state.selected + 1, rows.len()) };
    let area = titled(frame, area, "Memories".to_owned(), place, title_style(focused, theme), theme);
    measures.list_height = usize::from(area.height);
    let scored = rows.iter().any(|row| row.relevance.is_some());
    let projects = rows.iter().filter_map(|row| row.project.as_deref()).map(|name| Line::raw(name).width());
    let project = if area.width < PROJECTS { 0 } else { projects.max().unwrap_or(0).min(LONGEST_PROJECT) };
    let widths = [
        Constraint::Length(if scored { 4 } else { 0 }),
        Constraint::Length(if area.width < KINDS { 0 } else { 12 }),
        Constraint::Fill(1),
        Constraint::Length(project as u16),
    ];
    // A missing column has no gap before it either.
    let shown = widths.map(|width| width != Constraint::Length(0));
    let table_rows = rows.iter().map(|row| {
        let relevance = row.relevance.map(|relevance| format!("{relevance:.2}")).unwrap_or_default();
        let cells = [
            Cell::from(relevance).style(theme.relevance()),
            Cell::from(row.kind.as_str()).style(theme.kind()),
            Cell::from(row.line.as_str()),
            Cell::from(row.project.as_deref().unwrap_or_default()).style(theme.faint()),
        ];
        TableRow::new(cells.into_iter().zip(shown).filter_map(|(cell, shown)| shown.then_some(cell)))
    });
    let widths = widths.into_iter().zip(shown).filter_map(|(width, shown)| shown.then_some(width));
    let table = Table::new(table_rows, widths)
        .column_spacing(2)
        .highlight_symbol("▸ ")
        .row_highlight_style(if focused { theme.chosen() } else { theme.resting() });
    let selected = (!rows.is_empty()).then_some(state.selected);
    let mut place = TableState::new().with_offset(state.measures.list_top).with_selected(selected);
    frame.render_stateful_widget(table, area, &mut place);
    measures.list_top = place.offset();
}

fn memory(frame: &mut Frame, area: Rect, state: &State, theme: Theme, broken: &mut Broken, measures: &mut Measures) {
    let title = match (&state.memory, state.trail.last()) {
        (None, _) => "Memory".to_owned(),
        (Some(memory), None) => format!("Memory {}", memory.entry.id),
        (Some(memory), Some(before)) => format!("Memory {}, from {}", memory.entry.id, before.id),
    };
    let style = title_style(state.focus == Focus::Memory, theme);
    let Some(memory) = &state.memory else {
        titled(frame, area, title, String::new(), style, theme);
        return;
    };
    let page = MemoryPage::new(memory, state.place.link, usize::from(area.width), theme, broken);
    let height = usize::from(area.height.saturating_sub(u16::from(area.height >= TITLED)));
    let last = page.len().saturating_sub(height);
    let first = state.place.scroll.min(last);
    let end = (first + height).min(page.len());
    let place = if last == 0 { String::new() } else { format!(" lines {} to {end} of {} ", first + 1, page.len()) };
    let area = titled(frame, area, title, place, style, theme);
    (measures.page_height, measures.page_lines) = (height, page.len());
    measures.links_line = page.links_line;
    frame.render_widget(Paragraph::new(page.lines(first, height)), area);
}

fn status_text(state: &State, theme: Theme) -> Span<'_> {
    if let Some(notice) = &state.notice {
        return Span::styled(format::one_line(notice), theme.notice());
    }
    let Some(found) = &state.found else { return Span::raw("reading the store") };
    let warnings: String = found.warnings.iter().map(|warning| format!("; {}", format::one_line(warning))).collect();
    let remarks: String = found.remarks.iter().map(|remark| format!("{}; ", format::one_line(remark))).collect();
    Span::raw(remarks + &summary(found, &state.model) + &warnings)
}

/// The number of results, the time, and how they were found.
fn summary(found: &SearchOutput, model: &Model) -> String {
    let number = format::memories(found.rows.len() as u64);
    let first = if found.more { format!("the first {number}") } else { number.clone() };
    let time = format::micros(found.micros);
    match (found.by, model) {
        (By::Listing, _) if found.rows.is_empty() => "no memories".to_owned(),
        (By::Listing, _) if found.more => format!("the newest {number}; type to search"),
        (By::Listing, _) => format!("{number}; type to search"),
        (By::Meaning, _) => format!("{first} in {time}, hybrid"),
        (By::Parts, _) => format!("{first} in {time}, substring search"),
        (By::Words, Model::Loading) => format!("{first} in {time}, keyword search only while the model loads"),
        (By::Words, Model::Ready) => format!("{first} in {time}, keyword search only"),
        (By::Words, Model::Missing(why)) => {
            format!("{first} in {time}, keyword search only: {}", format::one_line(why))
        }
    }
}

fn keys_text(state: &State) -> &'static str {
    let links = state.memory.as_ref().is_some_and(|memory| !memory.links.is_empty());
    match (&state.overlay, state.focus) {
        (Some(Overlay::Help(_)), _) => "",
        (Some(Overlay::Delete { sure: false, .. }), _) => "y and Enter delete  n keep",
        (Some(Overlay::Delete { sure: true, .. }), _) => "Enter delete  n keep",
        (None, Focus::List) => "↑↓ select  Enter open  Tab memory  Del delete  F1 help  Esc quit",
        (None, Focus::Memory) if state.place.link.is_some() => {
            "Enter follow  ←→ links  Backspace back  ↑↓ scroll  Del delete  ? help  Esc list"
        }
        (None, Focus::Memory) if links => "↑↓ scroll  ←→ links  Backspace back  Del delete  ? help  Esc list",
        (None, Focus::Memory) if state.full => "↑↓ scroll  Del delete  ? help  Esc list",
        (None, Focus::Memory) => "↑↓ scroll  Enter full screen  Del delete  ? help  Esc list",
    }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::KeyCode;
    use ratatui::style::{Color, Modifier};

    use super::super::state::Event;
    use super::super::testing::{Play, found};
    use super::*;

    const FOUR: [(i64, &str); 4] = [
        (12, "User prefers dark mode for all applications\nand light mode for printing"),
        (7, "The login page issues OAuth tokens for authentication, which expire after fifteen minutes"),
        (31, "ユーザーは暗い画面を好む"),
        (44, "Deploy the payment service on Friday"),
    ];

    /// The screen of a terminal of this size, without trailing spaces.
    fn shown(play: &mut Play, width: u16, height: u16) -> String {
        let terminal = drawn(play, width, height, true);
        let buffer = terminal.backend().buffer();
        let rows = buffer.content().chunks(usize::from(width));
        let mut text = String::new();
        for row in rows {
            let mut skip = 0;
            let mut line = String::new();
            for cell in row {
                if skip == 0 {
                    line.push_str(cell.symbol());
                    skip = Span::raw(cell.symbol()).width();
                }
                skip = skip.saturating_sub(1);
            }
            text = text + line.trim_end() + "\n";
        }
        text
    }

    /// Draws twice: key handling needs the measurements of the first frame.
    fn drawn(play: &mut Play, width: u16, height: u16, color: bool) -> Terminal<TestBackend> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let mut broken = Broken::default();
        for _ in 0..2 {
            let mut measures = Measures::default();
            terminal.draw(|frame| measures = draw(frame, &play.state, Theme::new(color), &mut broken)).unwrap();
            play.state.drawn(measures);
        }
        terminal
    }

    fn found_four() -> Play {
        let mut play = Play::new("dark");
        play.answer(1, found(By::Meaning, &FOUR));
        play.load(12, FOUR[0].1, &[]);
        play
    }

    /// The second memory is read, with links to the first and the last; `link` presses choose one.
    fn reading(links: usize) -> Play {
        let mut play = found_four();
        play.press(KeyCode::Down);
        play.load(7, FOUR[1].1, &[12, 44]);
        play.press(KeyCode::Tab);
        drawn(&mut play, 80, 24, true);
        (0..links).for_each(|_| play.press(KeyCode::Right));
        play
    }

    #[test]
    fn a_usual_terminal_shows_the_list_and_the_memory() {
        let wanted = "\
Search: dark
─ Memories ───────────────────────────────────────────────────────────── 1 of 4
▸ 1.00  preference    User prefers dark mode for all applications and lig  atlas
  0.88  preference    The login page issues OAuth tokens for authenticati  atlas
  0.75  preference    ユーザーは暗い画面を好む                             atlas
  0.62  preference    Deploy the payment service on Friday                 atlas



─ Memory 12 ─────────────────────────────────────────────── lines 1 to 12 of 15
User prefers dark mode for all applications
and light mode for printing

context     Talk about the new site
tags        ui, theme
kind        preference
importance  7 of 10
confidence  0.9
project     atlas
agent       any
source      manual
created     2026-01-01T00:00:00Z
4 memories in 1.2 ms, hybrid
↑↓ select  Enter open  Tab memory  Del delete  F1 help  Esc quit
";
        assert_eq!(shown(&mut found_four(), 80, 24), wanted);
    }

    #[test]
    fn a_small_terminal_shows_the_focused_part() {
        let wanted = "\
> dark
─ Memories ───────────────────
▸ 1.00  User prefers dark mode
  0.88  The login page issues
  0.75  ユーザーは暗い画面を好
  0.62  Deploy the payment ser
4 memories in 1.2 ms, hybrid
↑↓ select  Enter open  Tab mem
";
        assert_eq!(shown(&mut found_four(), 30, 8), wanted);
        let wanted = "\
> dark
─ Memory 7 ───────────────────
The login page issues OAuth
tokens for authentication,
which expire after fifteen
minutes
4 memories in 1.2 ms, hybrid
↑↓ scroll  ←→ links  Backspace
";
        assert_eq!(shown(&mut reading(0), 30, 8), wanted);
    }

    #[test]
    fn a_wide_terminal_shows_both_side_by_side() {
        let screen = shown(&mut reading(0), 140, 10);
        let second = screen.lines().nth(3).unwrap_or_default();
        assert!(second.starts_with("▸ 0.88  preference") && second.ends_with("  minutes"), "{screen}");
    }

    #[test]
    fn a_memory_shows_its_links_and_the_history() {
        let mut play = reading(1);
        let screen = shown(&mut play, 80, 24);
        assert!(screen.contains("\nlinks\n→ caused 12: the memory 12\n→ caused 44: the memory 44\n\n"), "{screen}");
        assert!(screen.ends_with("Enter follow  ←→ links  Backspace back  ↑↓ scroll  Del delete  ? help  Esc list\n"));
        assert_eq!(reversed(&mut play), ["→ caused 12: the memory 12"]);
        play.press(KeyCode::Enter);
        play.load(12, FOUR[0].1, &[7]);
        let screen = shown(&mut play, 80, 24);
        assert!(screen.contains("─ Memory 12, from 7 ─") && screen.contains("\n← caused by 7: "), "{screen}");
    }

    /// The highlighted texts.
    fn reversed(play: &mut Play) -> Vec<String> {
        let terminal = drawn(play, 80, 24, false);
        let buffer = terminal.backend().buffer();
        let rows = buffer.content().chunks(80).map(|row| {
            let chosen = row.iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED));
            chosen.map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned()
        });
        rows.filter(|row| !row.is_empty()).collect()
    }

    #[test]
    fn a_deletion_names_the_memory_even_on_a_small_screen() {
        let mut play = reading(0);
        play.press(KeyCode::Delete);
        let wanted = "\
┌ Delete memory 7? ┐
│ The login page   │
│ issues OAuth     │
│ tokens for       │
└── y Enter / n ───┘
";
        assert_eq!(shown(&mut play, 20, 5), wanted);
        let wanted = "\
Search: dark
The logi┌ Delete memory 7? ────────────────────────────────────────────┐r
fifteen │ The login page issues OAuth tokens for authentication, which │
        │ expire after fifteen minutes                                 │
4 memori└──────────────────────── y Enter / n ─────────────────────────┘
";
        assert_eq!(shown(&mut play, 80, 5), wanted);
        assert!(shown(&mut play, 80, 24).ends_with("\ny and Enter delete  n keep\n"));
        play.type_text("y");
        let screen = shown(&mut play, 80, 24);
        assert!(screen.contains("── Enter / n ──") && screen.ends_with("\nEnter delete  n keep\n"), "{screen}");
    }

    #[test]
    fn the_help_can_be_read_to_its_end_in_a_small_terminal() {
        let mut play = found_four();
        play.event(Event::ModelMissing("it was not\nfound".to_owned()));
        play.press(KeyCode::F(1));
        assert!(!shown(&mut play, 30, 8).contains("only: it"));
        (0..200).for_each(|_| play.press(KeyCode::Down));
        let screen = shown(&mut play, 30, 8);
        assert!(screen.contains("only: it") && screen.contains("│ found "), "{screen}");
        play.press(KeyCode::Up);
        assert!(shown(&mut play, 30, 8).contains("Keyword search only"), "one line up is one key");
    }

    #[test]
    fn the_status_says_how_much_was_found_and_how() {
        let mut play = Play::new("dark");
        let status = |play: &mut Play| shown(play, 80, 24).lines().nth(22).unwrap_or_default().to_owned();
        assert_eq!(status(&mut play), "reading the store");
        play.answer(1, found(By::Words, &FOUR));
        assert_eq!(status(&mut play), "4 memories in 1.2 ms, keyword search only while the model loads");
        play.event(Event::ModelMissing("no model\nis set up".to_owned()));
        assert_eq!(status(&mut play), "4 memories in 1.2 ms, keyword search only: no model is set up");
        let mut half = found(By::Parts, &FOUR[..1]);
        (half.more, half.warnings) = (true, vec!["1 memory waits".to_owned()]);
        play.answer(2, half);
        assert_eq!(status(&mut play), "the first 1 memory in 1.2 ms, substring search; 1 memory waits");
        play.answer(3, found(By::Listing, &[]));
        assert_eq!(status(&mut play), "no memories");
        play.event(Event::Deleted { id: 5.into(), deleted: Ok(true) });
        assert_eq!(status(&mut play), "deleted memory 5");
    }

    #[test]
    fn the_cursor_is_where_the_next_letter_goes() {
        let mut play = Play::new("暗い");
        let cursor = |play: &mut Play| drawn(play, 40, 8, true).backend().cursor_position();
        assert_eq!(cursor(&mut play), (12, 0).into());
        play.press(KeyCode::Left);
        assert_eq!(cursor(&mut play), (10, 0).into());
        play.press(KeyCode::End);
        play.type_text(&"x".repeat(100));
        assert_eq!(cursor(&mut play), (39, 0).into(), "a long line is shown at its end");
    }

    #[test]
    fn without_colour_nothing_is_coloured() {
        for (color, play) in [(true, &mut reading(1)), (false, &mut reading(1))] {
            play.press(KeyCode::F(1));
            let terminal = drawn(play, 80, 24, color);
            let coloured = terminal.backend().buffer().content().iter().any(|cell| cell.fg != Color::Reset);
            assert_eq!(coloured, color);
            assert!(terminal.backend().buffer().content().iter().all(|cell| cell.bg == Color::Reset));
        }
    }

    #[test]
    fn no_terminal_is_too_small() {
        let mut asked = reading(2);
        asked.press(KeyCode::Delete);
        let mut helped = reading(0);
        helped.press(KeyCode::F(1));
        let mut full = Play::listing(&FOUR);
        full.press(KeyCode::Enter);
        let mut plays = [Play::new("a long query about nothing"), reading(2), asked, helped, full];
        for width in [0, 1, 2, 3, 5, 9, 20, 44, 64, 120] {
            for height in [0, 1, 2, 3, 4, 5, 8, 13] {
                for play in &mut plays {
                    drawn(play, width, height, true);
                }
            }
        }
    }
}
