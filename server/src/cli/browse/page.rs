//! One memory as lines.

use ratatui::text::{Line, Span};
use textwrap::{Options, WordSplitter, WrapAlgorithm};

use super::found::Memory;
use super::theme::Theme;
use crate::cli::fields;
use crate::escape;
use crate::wire::Entry;

/// Columns of the names of fields.
const NAMES: usize = 12;
/// On a narrower screen, values are not aligned.
const NARROW: usize = 40;

/// The text of the last memory, broken into lines: breaking a megabyte again for every frame would be noticeable.
#[derive(Debug, Default)]
pub struct Broken {
    /// The memory, its version, and the width.
    of: Option<(i64, i64, usize)>,
    lines: Vec<String>,
}

impl Broken {
    fn lines(&mut self, entry: &Entry, width: usize) -> &[String] {
        let of = Some((entry.id, entry.version, width));
        if self.of != of {
            self.of = of;
            self.lines = wrap(entry.content.trim_end(), width, "", "");
        }
        &self.lines
    }
}

/// A memory as lines.
pub struct MemoryPage<'a> {
    text: &'a [String],
    below: Vec<Line<'static>>,
    /// The index of the first line of a link.
    pub links_line: usize,
}

impl<'a> MemoryPage<'a> {
    /// `memory` in `width` columns. `link` is the number of the chosen one.
    pub fn new(memory: &Memory, link: Option<usize>, width: usize, theme: Theme, broken: &'a mut Broken) -> Self {
        let text = broken.lines(&memory.entry, width);
        let mut below = vec![Line::default()];
        if !memory.links.is_empty() {
            below.push(Line::styled("links", theme.faint()));
        }
        let links_line = text.len() + below.len();
        if !memory.links.is_empty() {
            below.extend(memory.links.iter().enumerate().map(|(number, line)| {
                let style = if link == Some(number) { theme.chosen() } else { theme.kind() };
                Line::styled(format!("{} {}: {}", line.says, line.id, line.line), style)
            }));
            below.push(Line::default());
        }
        for (name, value) in fields::fields(&memory.entry) {
            below.extend(field(name, &value, width, theme));
        }
        MemoryPage { text, below, links_line }
    }

    /// How many lines it has.
    pub fn len(&self) -> usize {
        self.text.len() + self.below.len()
    }

    /// Some lines from `first` on.
    pub fn lines(&self, first: usize, height: usize) -> Vec<Line<'_>> {
        let text = self.text.iter().skip(first).map(|line| Line::raw(line.as_str()));
        let below = self.below.iter().skip(first.saturating_sub(self.text.len())).cloned();
        text.chain(below).take(height).collect()
    }
}

fn field(name: &str, value: &str, width: usize, theme: Theme) -> Vec<Line<'static>> {
    let (first, other) = if width < NARROW {
        (format!("{name} "), "  ".to_owned())
    } else {
        (format!("{:<NAMES$}", format!("{name} ")), " ".repeat(NAMES))
    };
    let mut lines = wrap(value, width, &first, &other).into_iter();
    let head = lines.next().unwrap_or_default();
    let rest = head.strip_prefix(first.as_str()).map(str::to_owned);
    let head = match rest {
        Some(rest) => Line::from(vec![Span::styled(first, theme.faint()), Span::raw(rest)]),
        None => Line::from(head),
    };
    std::iter::once(head).chain(lines.map(Line::from)).collect()
}

/// The lines of a text, wrapped. Nothing in it can move the cursor.
pub fn wrap(text: &str, width: usize, first: &str, other: &str) -> Vec<String> {
    let text = escape::text(text).replace('\t', "    ");
    let options = Options::new(width.max(1))
        .initial_indent(first)
        .subsequent_indent(other)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(&text, options).into_iter().map(|line| line.into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::entry;
    use super::*;

    fn lines(entry: Entry, width: usize) -> Vec<String> {
        let (memory, mut broken) = (Memory { entry, links: Vec::new() }, Broken::default());
        let page = MemoryPage::new(&memory, None, width, Theme::new(false), &mut broken);
        page.lines(0, page.len()).iter().map(|line| line.to_string()).collect()
    }

    #[test]
    fn any_part_of_a_memory_can_be_shown() {
        let whole = lines(entry(1, "a\nb\nc"), 80);
        let (memory, mut broken) = (Memory { entry: entry(1, "a\nb\nc"), links: Vec::new() }, Broken::default());
        let page = MemoryPage::new(&memory, None, 80, Theme::new(false), &mut broken);
        for first in 0..whole.len() {
            let part: Vec<_> = page.lines(first, 2).iter().map(|line| line.to_string()).collect();
            assert_eq!(part, whole[first..whole.len().min(first + 2)]);
        }
    }

    #[test]
    fn text_is_rewrapped_if_it_or_the_width_or_memory_changes() {
        let mut broken = Broken::default();
        let mut changed = entry(1, "one two");
        assert_eq!(broken.lines(&changed, 80), ["one two"]);
        assert_eq!(broken.lines(&changed, 5), ["one", "two"]);
        (changed.content, changed.version) = ("six".to_owned(), changed.version + 1);
        assert_eq!(broken.lines(&changed, 5), ["six"]);
        assert_eq!(broken.lines(&entry(2, "ten"), 5), ["ten"]);
    }

    #[test]
    fn a_memory_is_shown_whole_with_its_values_aligned() {
        let mut entry = entry(12, "First line\n\n  - an item that goes on and on");
        entry.context = Some("A talk about the new web site, and how it will look".to_owned());
        entry.expires_at = Some(1_798_761_600_000);
        let wanted = "\
First line

  - an item that goes on and on

context     A talk about the new web
            site, and how it will look
tags        ui, theme
kind        preference
importance  7 of 10
confidence  0.9
project     atlas
agent       any
source      manual
created     2026-01-01T00:00:00Z
updated     2026-01-02T00:00:00Z
            (version 2)
expires     2027-01-01T00:00:00Z
fetched     3 times, last
            2026-01-02T00:00:00Z
id          12
            (01K00000000000000000000012)";
        assert_eq!(lines(entry, 40).join("\n"), wanted);
    }

    #[test]
    fn absent_context_and_tags_have_no_line() {
        let mut entry = entry(1, "x");
        (entry.context, entry.tags, entry.access_count) = (None, Vec::new(), 0);
        let lines = lines(entry, 80);
        assert!(!lines.iter().any(|line| line.starts_with("context") || line.starts_with("tags")), "{lines:?}");
        assert!(lines.contains(&"fetched     never".to_owned()), "{lines:?}");
    }

    #[test]
    fn no_text_can_move_the_cursor() {
        let mut entry = entry(1, "a\tb\r\n\u{1b}[2Jc\u{202e}");
        entry.source = "x\u{1b}[1;1H\ny".to_owned();
        let lines = lines(entry, 80);
        assert_eq!(lines[..2], ["a    b", "<U+001B>[2Jc<U+202E>"]);
        assert!(lines.iter().all(|line| !line.contains(char::is_control)), "{lines:?}");
    }

    #[test]
    fn long_words_and_wide_letters_are_broken_where_the_width_ends() {
        assert_eq!(wrap("abcdefgh", 3, "", ""), ["abc", "def", "gh"]);
        assert_eq!(wrap("暗い画面", 5, "", ""), ["暗い", "画面"]);
        assert_eq!(wrap("ab", 0, "", ""), ["a", "b"]);
    }
}
