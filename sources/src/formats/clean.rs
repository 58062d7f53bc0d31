//! A message without what programs put into it, for those that search for what it says. What is kept of a transcript loses
//! less: see `blocks.rs`.

use std::borrow::Cow;

/// Blocks that programs add to a text: what is between them was said by nobody.
const BLOCKS: [&str; 3] = ["memorist-recall", "system-reminder", "relevant-memories"];

/// Beginnings of texts that stand as the user's and that a program wrote: Claude Code's, and who follows it.
const OF_PROGRAMS: [&str; 6] = [
    "<local-command", "<task-notification", "<teammate-message", "<bash-", "Caveat: The messages below",
    "Caveat: the messages below",
];

/// Whether a text that stands as the user's was written by a program.
pub fn is_of_program(text: &str) -> bool {
    OF_PROGRAMS.iter().any(|start| text.starts_with(start))
}

/// `text` without the blocks of programs, trimmed; `None` if nothing is left. Line breaks stay.
pub fn clean(text: &str) -> Option<String> {
    let mut text = Cow::Borrowed(text);
    for block in BLOCKS {
        if text.contains(&format!("<{block}")) {
            text = Cow::Owned(without(&text, &format!("<{block}"), &format!("</{block}>")));
        }
    }
    let trimmed = text.trim();
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// `text` without what is between two marks, and without them. What is never closed goes to the end.
pub fn without(text: &str, open: &str, close: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(open) {
        kept.push_str(before);
        rest = after.split_once(close).map_or("", |(_, after)| after);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_programs_are_left_out() {
        let text = "why?\n<memorist-recall id=1>\nold\n</memorist-recall> <system-reminder>x</system-reminder>";
        assert_eq!(clean(text).as_deref(), Some("why?"));
        assert_eq!(clean("<memorist-recall>never closed"), None);
        assert_eq!(clean(" a\n\nb "), Some("a\n\nb".to_owned()));
        assert_eq!(without("a<b>c</b>d</b><b>e", "<b>", "</b>"), "ad</b>");
    }
}
