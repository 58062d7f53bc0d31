//! Overlays of the screen: help, and the question before a deletion.

use memorist_engine::types::RecordId;
use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Padding, Paragraph};

use super::page;
use super::state::{Model, State};
use super::theme::Theme;

/// Columns of a box, if there is room.
const WIDTH: u16 = 64;

const KEYS: [(&str, &str); 16] = [
    ("type", "search; an empty line lists the newest memories"),
    ("↑ ↓", "select a memory, or scroll the open one"),
    ("PgUp PgDn", "select or scroll by page"),
    ("Enter", "open full screen, and back"),
    ("Tab", "switch between the list and the memory"),
    ("Esc", "back to the list; in the list, quit"),
    ("Home End", "start or end of the search line or the memory"),
    ("← →", "move in the search line; in a memory, select a link"),
    ("Enter", "on a link: follow it"),
    ("Backspace", "in a memory: back to the previous memory"),
    ("Alt-←", "back to the previous memory"),
    ("Del Ctrl-D", "delete, asks first; in the search line, a letter"),
    ("Ctrl-W", "delete the word before the cursor; Ctrl-U the line"),
    ("F2", "in the list: show or hide weak results"),
    ("Ctrl-C", "quit"),
    ("F1 ?", "this help; ? outside the search line"),
];

/// Draws the help from its line `top` on. Returns the maximum scroll position.
pub fn help(frame: &mut Frame, state: &State, top: usize, theme: Theme) -> usize {
    let width = WIDTH.min(frame.area().width);
    let columns = usize::from(width.saturating_sub(4));
    let mut lines: Vec<_> =
        KEYS.iter().flat_map(|(key, what)| page::wrap(what, columns, &format!("{key:<12}"), "            ")).collect();
    let notes = notes(state);
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes.iter().flat_map(|note| page::wrap(note, columns, "", "")));
    }
    let area = centred(frame.area(), width, lines.len());
    let end = lines.len().saturating_sub(usize::from(area.height.saturating_sub(2)));
    let shown: Vec<_> = lines.into_iter().skip(top.min(end)).map(Line::from).collect();
    let footer = if end > 0 { " ↑↓ more, any key closes " } else { " any key closes " };
    let block = frame_block(Line::styled(" Keys ", theme.focused()))
        .title_bottom(Line::styled(footer, theme.faint()).centered());
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(shown).block(block), area);
    end
}

/// All keys that do not fit in the status line.
fn notes(state: &State) -> Vec<String> {
    let model = match &state.model {
        Model::Missing(why) => Some(format!("Keyword search only: {why}")),
        Model::Loading | Model::Ready => None,
    };
    let warnings = state.found.iter().flat_map(|found| found.warnings.iter().map(|warning| format!("Note: {warning}")));
    model.into_iter().chain(warnings).collect()
}

/// Asks whether to delete the memory `id` that begins with `line`; `sure`: yes was typed already.
pub fn question(frame: &mut Frame, id: RecordId, line: &str, sure: bool, theme: Theme) {
    let width = WIDTH.min(frame.area().width);
    let columns = usize::from(width.saturating_sub(4));
    let lines: Vec<_> = page::wrap(line, columns, "", "").into_iter().take(4).map(Line::from).collect();
    let area = centred(frame.area(), width, lines.len());
    let block = frame_block(Line::styled(format!(" Delete memory {id}? "), theme.notice()));
    let answers = if sure { " Enter / n " } else { " y Enter / n " };
    let block = block.title_bottom(Line::styled(answers, theme.notice()).centered());
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn frame_block(title: Line<'static>) -> Block<'static> {
    Block::bordered().padding(Padding::horizontal(1)).title(title)
}

/// The middle of `area`, for this many lines and a frame.
fn centred(area: Rect, width: u16, lines: usize) -> Rect {
    let height = u16::try_from(lines + 2).unwrap_or(u16::MAX).min(area.height);
    let [area] = Layout::vertical([Constraint::Length(height)]).flex(Flex::Center).areas(area);
    let [area] = Layout::horizontal([Constraint::Length(width)]).flex(Flex::Center).areas(area);
    area
}
