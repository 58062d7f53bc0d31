//! Org mode of Emacs: headings by stars, keywords, blocks between `#+BEGIN` and `#+END`, items of lists, paragraphs.

use std::collections::HashMap;

use super::block::{BlockKind, Outline, lines, shortened};

/// Finds the blocks. Keywords before the first text are no text.
pub fn read(text: &str) -> Outline {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut outline = Outline::default();
    let mut after_blank = true;
    // The name of the block that a line is in.
    let mut end: Option<String> = None;
    // Where a block of each name ends last: one that is never closed is text.
    let ends: HashMap<String, usize> =
        lines(text, start).filter_map(|(at, line)| Some((named(line.trim(), "#+end_")?, at))).collect();
    for (at, line) in lines(text, start) {
        let trimmed = line.trim();
        if end.is_some() {
            if named(trimmed, "#+end_") == end {
                end = None;
                after_blank = true;
            }
            continue;
        }
        if trimmed.is_empty() {
            after_blank = true;
        } else if let Some((level, heading)) = heading(line) {
            outline.begin(at, BlockKind::Heading { level, text: shortened(heading) });
            after_blank = true;
        } else if let Some(name) = named(trimmed, "#+begin_").filter(|name| ends.get(name).is_some_and(|end| *end > at))
        {
            outline.begin(at, BlockKind::Fence);
            end = Some(name);
        } else if let Some((key, value)) = keyword(trimmed).filter(|_| outline.blocks.is_empty()) {
            match key.to_ascii_lowercase().as_str() {
                "title" if !value.is_empty() => outline.title = Some(shortened(value)),
                "filetags" => {
                    let tags = value.split([':', ' ']).filter(|tag| !tag.is_empty());
                    outline.tags.extend(tags.map(str::to_owned));
                }
                _ => {}
            }
        } else if after_blank || is_item(trimmed) {
            outline.begin(at, BlockKind::Text);
            after_blank = false;
        }
    }
    outline
}

/// Level and text of a heading, without its tags.
fn heading(line: &str) -> Option<(u8, &str)> {
    let stars = line.bytes().take_while(|byte| *byte == b'*').count();
    let text = line.get(stars..)?.strip_prefix(' ').filter(|_| stars > 0)?.trim();
    let text = match text.rsplit_once(char::is_whitespace) {
        Some((before, tags)) if tags.len() > 2 && tags.starts_with(':') && tags.ends_with(':') => before.trim_end(),
        _ => text,
    };
    Some((u8::try_from(stars).unwrap_or(u8::MAX), text))
}

/// The name behind `mark` at the beginning of a line: `src`.
fn named(line: &str, mark: &str) -> Option<String> {
    let (begin, rest) = (line.get(..mark.len())?, line.get(mark.len()..)?);
    begin.eq_ignore_ascii_case(mark).then(|| rest.split_whitespace().next().map(str::to_ascii_lowercase))?
}

fn keyword(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.strip_prefix("#+")?.split_once(':')?;
    (!key.contains(char::is_whitespace)).then(|| (key, value.trim()))
}

fn is_item(line: &str) -> bool {
    let after = line.trim_start_matches(|char: char| char.is_ascii_digit());
    let marks: &[char] = if after.len() < line.len() { &['.', ')'] } else { &['-', '+'] };
    after.strip_prefix(marks).is_some_and(|rest| rest.starts_with(' '))
}
