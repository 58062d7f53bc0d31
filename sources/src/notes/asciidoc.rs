//! AsciiDoc: a header with attributes, headings, delimited blocks, items of lists, paragraphs.

use std::borrow::Cow;
use std::collections::HashMap;

use super::block::{BlockKind, Outline, lines, shortened, without};
use super::front_matter::{MAX_PROPERTIES, MAX_TAGS};

/// Attributes that are tags.
const TAGS: [&str; 3] = ["keywords", "tags", "page-tags"];
/// Lines behind the title that may say who wrote it, and which revision it is.
const ABOUT: [&str; 2] = ["author", "revision"];
/// Beginnings of lines that are for the program that reads the file.
const DIRECTIVES: [&str; 4] = ["include::", "ifdef::", "ifndef::", "endif::"];
/// The marks under a heading of two lines, the highest first.
const UNDERLINES: [char; 5] = ['=', '-', '~', '^', '+'];
/// How much longer or shorter than its heading such a line is at most.
const UNEVEN: usize = 1;

/// A text without comments behind its header. Its lines stay where they are.
pub fn without_comments(text: &str) -> Cow<'_, str> {
    let mut comments = Vec::new();
    let mut block = Delimited::of(text);
    for (at, line) in lines(text, header(text).start) {
        let was = block.open;
        block.take(at, line);
        let is_comment = [was, block.open].iter().flatten().any(|mark| is_comment_block(mark));
        if is_comment || (block.open.or(was).is_none() && is_comment_line(line)) {
            comments.push(at..at + line.len());
        }
    }
    without(text, &comments)
}

/// Finds the blocks behind the header.
pub fn read(text: &str) -> Outline {
    let mut outline = header(text);
    let mut block = Delimited::of(text);
    // Where the attributes and the title of a block begin.
    let mut lead = None;
    let mut after_blank = true;
    let mut all = lines(text, outline.start).peekable();
    while let Some((at, line)) = all.next() {
        let was = block.open;
        block.take(at, line);
        let next = all.peek().map_or("", |(_, next)| next.trim_end());
        let trimmed = line.trim();
        if was.is_none() && after_blank && is_underlined(trimmed, next) {
            let level = UNDERLINES.iter().position(|mark| next.starts_with(*mark)).unwrap_or_default();
            outline.begin(at, heading_of(level + 1, trimmed));
            all.next().into_iter().for_each(|(at, line)| block.take(at, line));
            continue;
        }
        if was.is_some() {
            after_blank = block.open.is_none();
            continue;
        }
        let is_about = is_about_block(trimmed);
        if block.open.is_some() {
            outline.begin(lead.unwrap_or(at), BlockKind::Fence);
        } else if trimmed.is_empty() {
            after_blank = true;
        } else if let Some((level, heading)) = heading(line) {
            outline.begin(at, heading_of(level, heading));
            after_blank = true;
        } else if lead.is_none() && (after_blank || is_item(trimmed)) {
            outline.begin(at, BlockKind::Text);
            after_blank = false;
        }
        lead = is_about.then(|| lead.unwrap_or(at));
    }
    outline
}

/// The header: title, author, revision and attributes, up to the first line that is none of them. Comments may stand in it.
fn header(text: &str) -> Outline {
    let mut outline = Outline::default();
    let mut block = Delimited::of(text);
    // How many of the lines behind the title there were; none before it.
    let mut about: Option<usize> = None;
    let mut all = lines(text, 0).peekable();
    while let Some((at, line)) = all.next() {
        let was = block.open;
        block.take(at, line);
        let (trimmed, end) = (line.trim_end(), at + line.len());
        if [was, block.open].iter().flatten().any(|mark| is_comment_block(mark)) || is_comment_line(line) {
            continue;
        }
        if block.open.is_some() {
            break;
        }
        let next = all.peek().map_or("", |(_, next)| next.trim_end());
        let title = heading(line).filter(|(level, _)| *level == 1).map(|(_, title)| title);
        let underlined = Some(trimmed).filter(|title| next.starts_with('=') && is_underlined(title, next));
        if trimmed.is_empty() {
            if about.is_some() {
                break;
            }
        } else if let Some((name, value)) = attribute(trimmed) {
            add(&mut outline, name, value);
            outline.start = end;
        } else if let Some(title) = title.or(underlined).filter(|_| about.is_none()) {
            outline.title = Some(shortened(title));
            about = Some(0);
            outline.start = end;
            if underlined.is_some()
                && let Some((at, line)) = all.next()
            {
                outline.start = at + line.len();
            }
        } else if DIRECTIVES.iter().any(|directive| trimmed.starts_with(directive)) {
            outline.start = end;
        } else if heading(line).is_some() || is_about_block(trimmed) {
            break;
        } else if let Some((number, name)) = about.and_then(|number| Some((number, ABOUT.get(number)?))) {
            add(&mut outline, name, trimmed);
            about = Some(number + 1);
            outline.start = end;
        } else {
            break;
        }
    }
    outline
}

/// Adds a property, as far as it fits.
fn add(outline: &mut Outline, name: &str, value: &str) {
    if TAGS.contains(&name) {
        let tags = value.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(shortened);
        outline.tags.extend(tags.take(MAX_TAGS));
        outline.tags.truncate(MAX_TAGS);
    }
    if !value.is_empty() && outline.properties.len() + name.len() + value.len() <= MAX_PROPERTIES {
        let separator = if outline.properties.is_empty() { "" } else { "; " };
        outline.properties.extend([separator, name, ": ", value]);
    }
}

/// Name and value of `:name: value`.
fn attribute(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix(':')?.split_once(':')?;
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "-_!".contains(letter));
    is_name.then(|| (name, value.trim()))
}

fn heading_of(level: usize, text: &str) -> BlockKind {
    BlockKind::Heading { level: u8::try_from(level).unwrap_or(u8::MAX), text: shortened(text) }
}

/// Level and text of a heading of one line.
fn heading(line: &str) -> Option<(usize, &str)> {
    let mark = line.chars().next().filter(|mark| "=#".contains(*mark))?;
    let text = line.trim_start_matches(mark);
    let title = text.strip_prefix(' ').map(str::trim).filter(|title| !title.is_empty())?;
    Some((line.len() - text.len(), title))
}

/// Whether the next line makes a heading of this one.
fn is_underlined(line: &str, next: &str) -> bool {
    let Some(mark) = next.chars().next().filter(|mark| UNDERLINES.contains(mark)) else { return false };
    next.len() > 2
        && next.trim_start_matches(mark).is_empty()
        && line.chars().count().abs_diff(next.len()) <= UNEVEN
        && line.starts_with(char::is_alphanumeric)
}

/// Whether a line says something of the block below it: `[source,rust]`, `.Title`.
fn is_about_block(line: &str) -> bool {
    let is_title = line.strip_prefix('.').is_some_and(|title| title.starts_with(char::is_alphanumeric));
    is_title || (line.starts_with('[') && line.ends_with(']'))
}

fn is_comment_line(line: &str) -> bool {
    line.starts_with("//") && !line.starts_with("///")
}

fn is_comment_block(mark: &str) -> bool {
    mark.starts_with('/')
}

fn is_item(line: &str) -> bool {
    let after = line.trim_start_matches(['*', '-', '.']);
    (after.len() < line.len() && after.starts_with(' ')) || line.ends_with("::") || line.contains(":: ")
}

/// The blocks whose text is no AsciiDoc: code, and comments.
struct Delimited<'a> {
    /// Where a line with these marks stands last: a block that is never closed is text.
    last: HashMap<&'a str, usize>,
    /// The marks that close the block that is open.
    open: Option<&'a str>,
    /// The first line of a paragraph, if that is the line before: marks below it may make it a heading.
    above: Option<&'a str>,
    after_blank: bool,
}

impl<'a> Delimited<'a> {
    fn of(text: &'a str) -> Self {
        let last = lines(text, 0).filter_map(|(at, line)| Some((marks(line.trim_end())?, at))).collect();
        Delimited { last, open: None, above: None, after_blank: true }
    }

    /// Takes the next line, which may open or close a block.
    fn take(&mut self, at: usize, line: &'a str) {
        let line = line.trim_end();
        if let Some(open) = self.open {
            self.after_blank = line == open;
            self.open = Some(open).filter(|open| line != *open);
            return;
        }
        let is_underline = self.above.is_some_and(|above| is_underlined(above, line));
        if !is_underline && let Some(marks) = marks(line) {
            self.open = self.last.get(marks).filter(|last| **last > at).map(|_| marks);
        }
        self.above = Some(line).filter(|line| self.after_blank && !line.is_empty());
        self.after_blank = line.is_empty() || is_underline;
    }
}

/// The marks at both ends of a block. A block of code in the way of Markdown names its language behind the first ones.
fn marks(line: &str) -> Option<&str> {
    if line.starts_with("```") {
        return line.get(..3);
    }
    let mark = line.chars().next().filter(|mark| "-.+/".contains(*mark))?;
    (line.len() >= 4 && line.trim_start_matches(mark).is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 44.11: title, author, revision and attributes are properties; comments are none.
    #[test]
    fn the_header_has_title_tags_and_properties() {
        let text = "////\nA licence: x\n////\n// note\n= The Plan\nAna Bell <ana@example.org>\nv1.2, 2026-11-02\n\
                    :keywords: atlas, launch day\n:toc:\n// :no: value\n:status: open\n\n:later: text\n== One\n";
        let outline = read(text);
        assert_eq!(outline.title.as_deref(), Some("The Plan"));
        assert_eq!(outline.tags, ["atlas", "launch day"]);
        assert_eq!(
            outline.properties,
            "author: Ana Bell <ana@example.org>; revision: v1.2, 2026-11-02; keywords: atlas, launch day; status: open"
        );
        assert_eq!(&text[outline.start..], "\n:later: text\n== One\n");
        let outline = read("Old\n===\n:a: b\n:c: d\ntext\n");
        assert_eq!((outline.title.as_deref(), &outline.properties[..]), (Some("Old"), "a: b; c: d; author: text"));
        let outline = read(":a: b\n\ninclude::x.adoc[]\n= T\n[abstract]\ntext\n");
        assert_eq!((outline.title.as_deref(), &outline.properties[..]), (Some("T"), "a: b"));
        for text in ["text\n= T\n", "== T\n", "----\n= T\n----\n", "* item\n"] {
            assert_eq!((read(text).title, read(text).start), (None, 0), "{text}");
        }
        assert!(read(&":key: value\n".repeat(100_000)).properties.len() <= MAX_PROPERTIES + 2);
    }

    /// 44.11: comments are left out, and the lines stay.
    #[test]
    fn comments_are_left_out_and_the_lines_stay() {
        let text = "= T\n// of the header\n\n// gone\nstays\n/// stays\n////\n== gone\n\n----\n////\nhttp://a\n\n\
                    ----\n// code\n////\n----\n\nName\n----\n// gone\n////\nopen\n";
        assert_eq!(
            without_comments(text),
            "= T\n\n\n\nstays\n/// stays\n\n\n\n\n\nhttp://a\n\n----\n// code\n////\n----\n\n\
             Name\n----\n\n////\nopen\n"
        );
    }

    /// 44.11: headings of one line and of two, and blocks whose text is no AsciiDoc.
    #[test]
    fn headings_and_blocks_are_found() {
        let text = "= T\n\n== One\ntext\n\n[source,rust]\n.Listing\n----\n== no heading\n\nx\n----\nafter\n* item\n\n\
                    Two\n~~~\n\n```sh\n= x\n```\n\n....\nopen\n";
        let outline = read(text);
        let found: Vec<_> =
            outline.blocks.iter().map(|block| (text[block.start..].lines().next().unwrap(), &block.kind)).collect();
        let heading = |level, text: &str| BlockKind::Heading { level, text: text.to_owned() };
        let (one, two) = (heading(2, "One"), heading(3, "Two"));
        let expected = [
            ("== One", &one),
            ("text", &BlockKind::Text),
            ("[source,rust]", &BlockKind::Fence),
            ("after", &BlockKind::Text),
            ("* item", &BlockKind::Text),
            ("Two", &two),
            ("```sh", &BlockKind::Fence),
            ("....", &BlockKind::Text),
        ];
        assert_eq!(found, expected);
    }
}
