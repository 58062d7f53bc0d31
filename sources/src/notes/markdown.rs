//! Markdown.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::block::{BlockKind, Outline, SHORT, shortened};
use super::{front_matter, inline};

/// Finds the blocks. Each item of a list is one, and what is nested in it.
pub fn read(text: &str) -> Outline {
    let front = front_matter::read(text);
    let mut reader = MarkdownReader::new(text, front.end);
    let note = text.get(front.end..).unwrap_or_default();
    for (event, range) in Parser::new_ext(note, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES).into_offset_iter() {
        reader.take(event, front.end + range.start, front.end + range.end);
    }
    let mut outline = reader.outline;
    outline.tags = front.tags;
    outline.properties = front.properties;
    outline.start = front.end;
    outline.title = front.title.or(outline.title);
    outline.inline = inline::find(text, &outline);
    outline
}

struct MarkdownReader<'a> {
    text: &'a str,
    outline: Outline,
    /// How many lists, quotes and footnotes a block is in.
    depth: usize,
    heading: Option<(u8, String)>,
    /// A place, and the beginning of its line.
    line: (usize, usize),
}

impl<'a> MarkdownReader<'a> {
    fn new(text: &'a str, start: usize) -> Self {
        let mut outline = Outline::default();
        // Definitions of links are no events.
        outline.begin(start, BlockKind::Text);
        MarkdownReader { text, outline, depth: 0, heading: None, line: (start, start) }
    }

    fn take(&mut self, event: Event, start: usize, end: usize) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                self.heading = (self.depth == 0).then(|| (level as u8, String::new()));
                // Its text is known at its end.
                self.begin(start, BlockKind::Text);
            }
            Event::End(TagEnd::Heading(_)) => self.end_heading(),
            Event::Text(text) | Event::Code(text) => {
                if let Some((_, heading)) = &mut self.heading
                    && heading.trim_start().len() < SHORT
                {
                    heading.push_str(&text);
                }
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented)) => {
                self.begin(start, BlockKind::Fence);
            }
            // What follows in the same item of a list may have no event of its own.
            Event::End(TagEnd::CodeBlock) => self.begin_after(end),
            Event::Start(Tag::List(_) | Tag::BlockQuote(_) | Tag::FootnoteDefinition(_)) => {
                self.depth += 1;
                self.begin(start, BlockKind::Text);
            }
            Event::End(TagEnd::List(_) | TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition) => {
                self.depth = self.depth.saturating_sub(1);
            }
            Event::Start(Tag::Paragraph | Tag::Item | Tag::Table(_) | Tag::HtmlBlock) | Event::Rule => {
                self.begin(start, BlockKind::Text);
            }
            _ => {}
        }
    }

    /// Begins a block with the line of `at`.
    fn begin(&mut self, at: usize, kind: BlockKind) {
        let (before, line) = self.line;
        if let Some(new) = self.text.get(before..at) {
            self.line = (at, new.rfind('\n').map_or(line, |found| before + found + 1));
            self.outline.begin(self.line.1, kind);
        }
    }

    fn begin_after(&mut self, end: usize) {
        let rest = self.text.get(end..).unwrap_or_default();
        let ended = self.text.get(..end).is_some_and(|before| before.ends_with('\n'));
        let next = if ended { Some(end) } else { rest.find('\n').map(|found| end + found + 1) };
        if let Some(next) = next {
            self.begin(next, BlockKind::Text);
        }
    }

    fn end_heading(&mut self) {
        let Some((level, text)) = self.heading.take() else { return };
        let text = shortened(text.trim());
        if level == 1 && self.outline.title.is_none() && !text.is_empty() {
            self.outline.title = Some(text.clone());
        }
        if let Some(block) = self.outline.blocks.last_mut() {
            block.kind = BlockKind::Heading { level, text };
        }
    }
}
