//! What of a message is searched for: what somebody said, without what programs put around it.

use std::borrow::Cow;

use crate::keywords::says_something;

/// Bytes of a message that are searched for: half of them from its beginning, half from its end.
const SEARCHED_BYTES: usize = 4 << 10;
/// Of a longer message, so many bytes at each end are looked at.
const READ_BYTES: usize = 64 << 10;

/// The text to search for; `None` if a message says nothing: it has no words but those that every text has.
pub fn searched(message: &str) -> Option<String> {
    let text = ends(message, READ_BYTES).replace('\0', " ");
    let text = without_blocks(&text);
    let text = ends(text.trim(), SEARCHED_BYTES);
    says_something(&text).then(|| text.into_owned())
}

/// A text of at most so many bytes, and little more: of a longer one its beginning and its end.
fn ends(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let beginning = &text[..text.floor_char_boundary(most / 2)];
    let end = &text[text.ceil_char_boundary(text.len() - most / 2)..];
    Cow::Owned(format!("{beginning}\n{end}"))
}

/// A text without the blocks that programs add to it: `<system-reminder>`, our own `<memorist-recall>`, and all others whose
/// name has a hyphen or an underscore, which no tag of HTML has. What is never closed goes to the end.
fn without_blocks(text: &str) -> Cow<'_, str> {
    let Some(first) = find_block(text) else { return Cow::Borrowed(text) };
    let (mut kept, mut rest, mut block) = (String::new(), text, Some(first));
    while let Some((at, name)) = block {
        kept.push_str(&rest[..at]);
        kept.push(' ');
        let close = format!("</{name}>");
        rest = rest[at..].split_once(&*close).map_or("", |(_, after)| after);
        block = find_block(rest);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Where the first such block begins, and its name.
fn find_block(text: &str) -> Option<(usize, &str)> {
    text.match_indices('<').find_map(|(at, _)| {
        let rest = &text[at + 1..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).unwrap_or(rest.len());
        let name = &rest[..end];
        let is_tag = rest[end..].starts_with(|c: char| c == '>' || c.is_ascii_whitespace());
        let is_of_program = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.contains(['-', '_']);
        (is_tag && is_of_program).then_some((at, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_is_not_searched_for() {
        for nothing in ["", " \n", "?!", "\0\0", "do that", "what is this for?", "and then?", "👍"] {
            assert_eq!(searched(nothing), None, "{nothing:?}");
        }
        assert_eq!(searched(" where is the harbour? ").as_deref(), Some("where is the harbour?"));
        assert_eq!(searched("京都").as_deref(), Some("京都"));
    }

    #[test]
    fn blocks_of_programs_are_no_part_of_it() {
        let text = "where <memorist-recall note=\"x\">\n#1 harbour\n</memorist-recall>is <system-reminder>y</system-reminder> \
                    the <b>pier</b> of a < b_c and Vec<my_type>?";
        let found = searched(text).unwrap();
        assert_eq!(
            found.split_whitespace().collect::<Vec<_>>().join(" "),
            "where is the <b>pier</b> of a < b_c and Vec"
        );
        assert_eq!(searched("<memorist-recall>the harbour is closed"), None);
        assert_eq!(searched("<environment_context>pier</environment_context>"), None);
    }

    #[test]
    fn of_a_long_message_both_ends_are_searched_for() {
        let long = format!("harbour {} pier", "é<a-b ".repeat(2 << 20));
        let long = long.replace("<a-b ", "");
        let found = searched(&long).unwrap();
        assert!(found.starts_with("harbour") && found.ends_with("pier") && found.len() <= SEARCHED_BYTES + 1);
    }
}
