//! The blocks that programs put before and behind a prompt.
//!
//! A text that only mentions such a block is kept. So only blocks at the beginning or at the end of a text are a program's: whole
//! lines from a mark to its own end, with no space behind the one and before the other.

use std::collections::BTreeMap;

use super::Skipped;

/// The marks of a block: how it begins, up to where attributes may follow, and how it ends.
pub type Marks = (&'static str, &'static str);

/// Blocks of several programs, memorist too.
pub const COMMON: [Marks; 3] = [
    ("<memorist-recall", "</memorist-recall>"),
    ("<system-reminder", "</system-reminder>"),
    ("<relevant-memories", "</relevant-memories>"),
];

/// The reason for a block that is left out of a text.
const BLOCK: &str = "block of a program";

/// A text without those blocks, trimmed; `None` if nothing is left. Each block that is left out is counted.
pub fn typed(text: &str, marks: &[Marks], skipped: &mut Skipped) -> Option<String> {
    let all = blocks(text, marks);
    let (mut start, mut end) = trim(text, 0, text.len());
    while let Some(after) = all.get(&start).filter(|after| **after <= end) {
        skipped.count(BLOCK);
        (start, end) = trim(text, *after, end);
    }
    let ends: BTreeMap<usize, usize> = all.into_iter().map(|(start, end)| (end, start)).collect();
    while let Some(before) = ends.get(&end).filter(|before| **before >= start) {
        skipped.count(BLOCK);
        (start, end) = trim(text, start, *before);
    }
    (start < end).then(|| text[start..end].to_owned())
}

/// Where a part of a text begins and ends without the space around it.
fn trim(text: &str, start: usize, end: usize) -> (usize, usize) {
    let part = &text[start..end];
    let from = start + (part.len() - part.trim_start().len());
    (from, from + part.trim().len())
}

/// Where blocks begin and end in a text: a mark belongs to the last one of its kind that has no end yet.
fn blocks(text: &str, marks: &[Marks]) -> BTreeMap<usize, usize> {
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); marks.len()];
    let mut blocks = BTreeMap::new();
    // Behind the last block.
    let mut last = 0;
    for at in memchr::memchr_iter(b'<', text.as_bytes()) {
        for ((begins, ends), open) in marks.iter().zip(&mut open) {
            let rest = &text[at..];
            if rest.starts_with(begins) && is_beginning(text, at, begins.len(), last) {
                open.push(at);
            } else if rest.starts_with(ends)
                && is_end(text, at, ends.len(), marks)
                && let Some(start) = open.pop()
            {
                last = at + ends.len();
                blocks.insert(start, last);
            }
        }
    }
    blocks
}

/// The most bytes of a line that are looked at around a mark.
const NEAR: usize = 1 << 10;

/// Whether a mark begins a line, or follows a block, and is followed by its content.
fn is_beginning(text: &str, at: usize, length: usize, last: usize) -> bool {
    let near = text.ceil_char_boundary(at.saturating_sub(NEAR).max(last));
    let before = text[near..at].trim_end_matches([' ', '\t']);
    let begins = before.ends_with('\n') || (before.is_empty() && (near == 0 || near == last));
    let rest = &text[at + length..text.floor_char_boundary(text.len().min(at + length + NEAR))];
    let inner = match rest.strip_prefix('>') {
        Some(inner) => Some(inner),
        // With attributes.
        None if rest.starts_with(' ') => rest.find(['>', '<', '\n']).and_then(|end| rest[end..].strip_prefix('>')),
        None => None,
    };
    begins && inner.is_some_and(|inner| !inner.starts_with([' ', '\t']))
}

/// Whether a mark ends a line, or stands before another block or right before the prompt.
fn is_end(text: &str, at: usize, length: usize, marks: &[Marks]) -> bool {
    let after = &text[at + length..text.floor_char_boundary(text.len().min(at + length + NEAR))];
    let rest = after.trim_start_matches([' ', '\t']);
    let ends = rest.is_empty() || rest.starts_with(['\n', '\r']) || after.starts_with(char::is_alphanumeric);
    !text[..at].ends_with([' ', '\t']) && (ends || marks.iter().any(|(begins, _)| rest.starts_with(begins)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> (Option<String>, u64) {
        let mut skipped = Skipped::default();
        let typed = typed(text, &COMMON, &mut skipped);
        (typed, skipped.counts.get(BLOCK).copied().unwrap_or_default())
    }

    /// 44.1: blocks around a text are left out, and counted.
    #[test]
    fn blocks_before_and_behind_a_text_are_left_out() {
        let block = "<system-reminder>\nThe file changed.\n</system-reminder>";
        let recall = "<memorist-recall id=\"1\">\n#1 old\n\n</memorist-recall>";
        for (text, count) in [
            (format!("{block}\nWhy?\n"), 1),
            (format!("Why?\n\n{block}\n"), 1),
            (format!("{recall}\n{block}\n  Why?\n{block} {recall}"), 4),
            (format!("{block}{recall}Why?"), 2),
            ("<system-reminder>one line</system-reminder>\r\nWhy?".to_owned(), 1),
            (format!("<system-reminder>\nabout {recall}\n</system-reminder>\nWhy?"), 1),
            ("<system-reminder>\na\n<system-reminder>\nb\n</system-reminder>\n</system-reminder>\nWhy?".to_owned(), 1),
        ] {
            assert_eq!(said(&text), (Some("Why?".to_owned()), count), "{text}");
        }
        assert_eq!(said(&format!("{block}\n{recall}")), (None, 2));
        assert_eq!(said(" \n"), (None, 0));
    }

    /// 44.1: a text that mentions a block is whole.
    #[test]
    fn a_text_that_mentions_a_block_is_kept() {
        for text in [
            "The harness adds a \"<system-reminder>\" block. The fix is to strip it.",
            "<system-reminder> is what the harness adds.\nIt ends with </system-reminder>",
            "<system-reminder> is what the harness adds.\nIts end:\n</system-reminder>",
            "<system-reminder is cut here, why?",
            "<system-reminder>\nnever closed",
            "closed alone\n</system-reminder>",
            "Why is `<memorist-recall>` there?\nAnd more.\n</memorist-recall>",
            "This is one:\n<system-reminder>\nx\n</system-reminder>\nand what is behind it.",
            "```\n<relevant-memories>\nx\n</relevant-memories>\n```",
            "<system-reminder>x</system-reminder>, which the harness adds, and <system-reminder>y</system-reminder>.",
            "<system-reminders>\nx\n</system-reminders>",
            "<system-reminder>\nx\n</memorist-recall>",
        ] {
            assert_eq!(said(text), (Some(text.to_owned()), 0), "{text}");
        }
        let behind = "<system-reminder>\nis a mention.\nWhy?\n<system-reminder>\nx\n</system-reminder>";
        assert_eq!(said(behind), (Some("<system-reminder>\nis a mention.\nWhy?".to_owned()), 1));
    }

    #[test]
    fn a_text_of_marks_alone_is_read_in_time() {
        let many = 200_000;
        for text in [
            "<system-reminder>\n".repeat(many),
            "</system-reminder>\n".repeat(many),
            "<system-reminder>\n".repeat(many) + &"</system-reminder>\n".repeat(many),
            format!("{}{}", " ".repeat(1 << 20), "<system-reminder x".repeat(many)),
            format!("a{}", "<system-reminder>x</system-reminder>".repeat(many)),
        ] {
            let started = std::time::Instant::now();
            said(&text);
            assert!(started.elapsed().as_secs() < 5, "{:?}", &text[..20]);
        }
        assert_eq!(said(&"<system-reminder>x</system-reminder>\n".repeat(many)), (None, many as u64));
    }
}
