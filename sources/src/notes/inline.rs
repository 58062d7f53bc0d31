//! Properties within a note of Obsidian: `key:: value` on a line of its own, or in brackets.

use super::block::{BlockKind, Outline, lines};
use super::front_matter::MAX_PROPERTIES;

/// Bytes of a key, and of a line that is looked at.
const LONGEST_KEY: usize = 64;
const LONGEST_LINE: usize = 4 << 10;
/// The mark between a key and its value.
const MARK: &str = "::";

/// Finds the properties of a note beside its code, each with its place.
pub fn find(text: &str, outline: &Outline) -> Vec<(usize, String)> {
    let (mut found, mut room) = (Vec::new(), MAX_PROPERTIES);
    let mut blocks = outline.blocks.iter().peekable();
    let mut is_code = false;
    for (at, line) in lines(text, outline.start) {
        while let Some(block) = blocks.next_if(|block| block.start <= at) {
            is_code = block.kind == BlockKind::Fence;
        }
        if is_code || line.len() > LONGEST_LINE || !line.contains(MARK) {
            continue;
        }
        for (key, value) in properties(line) {
            let Some(left) = room.checked_sub(key.len() + value.len() + 4) else { return found };
            room = left;
            found.push((at, format!("{key}: {value}")));
        }
    }
    found
}

/// The properties of a line: in brackets, or the line itself.
fn properties(line: &str) -> Vec<(&str, &str)> {
    let marked: Vec<_> =
        line.split(['[', '(']).skip(1).filter_map(|part| Some(part.split_once([']', ')'])?.0)).collect();
    let own = line.trim_start_matches([' ', '\t', '>', '-', '*', '+']);
    let bracketed: Vec<_> = marked.into_iter().filter_map(property).collect();
    if bracketed.is_empty() { property(own).into_iter().collect() } else { bracketed }
}

/// Key and value of `key:: value`. A key is a few words: `std::fs` is none.
fn property(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(MARK)?;
    let (key, value) = (
        key.trim_matches([' ', '*', '_']),
        value.strip_prefix([' ', '*', '_'])?.trim_matches([' ', '*', '_', '\r', '\n']),
    );
    let is_key = key.len() <= LONGEST_KEY
        && key.starts_with(char::is_alphabetic)
        && key.chars().all(|letter| letter.is_alphanumeric() || " -_/".contains(letter));
    (is_key && !value.is_empty()).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::super::{NoteKind, read};
    use super::*;

    /// 44.4: inline properties are found beside code, with their places.
    #[test]
    fn inline_properties_are_found() {
        let text = "---\na:: b\n---\nstatus:: open\n- **Due date**:: 2026-11-02\nA note [owner:: Ana] and (priority:: 1).\n\n\
                    ```\nx:: y\n```\nstd::fs::read, Vec:: <u8>: it::\nSee:: [[Plan]]\na & b:: c\n:: d\n";
        let outline = read(text, NoteKind::Markdown);
        let found = find(text, &outline);
        let texts: Vec<_> = found.iter().map(|(_, text)| &text[..]).collect();
        assert_eq!(texts, ["status: open", "Due date: 2026-11-02", "owner: Ana", "priority: 1", "See: [[Plan]]"]);
        assert!(found.iter().all(|(at, _)| text[*at..].lines().next().unwrap().contains("::")), "{found:?}");
    }

    /// 44.4: a note that is made of them is no long list.
    #[test]
    fn inline_properties_have_a_limit() {
        let text = "key:: value\n".repeat(100_000);
        let found = find(&text, &read(&text, NoteKind::Markdown));
        assert!((50..100).contains(&found.len()), "{}", found.len());
    }
}
