//! A paragraph of ours in a text, between two marks.

use crate::format::line_end;
use crate::profile::INSTRUCTION;

const BEGIN: &str = "<!-- memorist: begin -->";
const END: &str = "<!-- memorist: end -->";

/// The paragraph, with the line ends of `text`.
pub fn block(text: &str) -> String {
    format!("{BEGIN}\n{INSTRUCTION}{END}\n").replace('\n', line_end(text))
}

pub fn has_block(text: &str) -> bool {
    text.contains(BEGIN)
}

/// The text with it at the end.
pub fn insert(text: &str) -> String {
    let block = block(text);
    let end = line_end(text);
    match text {
        "" => block,
        text if text.ends_with('\n') => format!("{text}{end}{block}"),
        text => format!("{text}{end}{end}{block}"),
    }
}

/// The text without `block`, and without the empty line above it; `None` unless it is there once, as it was written.
pub fn remove(text: &str, block: &str) -> Option<String> {
    let (above, below) = text.split_once(block)?;
    if below.contains(block) {
        return None;
    }
    let above =
        ["\r\n\r\n", "\n\n"].iter().find_map(|gap| Some(above.strip_suffix(gap)?.to_owned() + &gap[gap.len() / 2..]));
    let above = above.unwrap_or_else(|| text[..text.len() - block.len() - below.len()].to_owned());
    Some(above + below)
}
