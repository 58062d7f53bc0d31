//! Private keys in PEM: from the first line to the last, or as far as the key goes.

use regex::Regex;

use super::finding::Finding;

/// The first or last line of a private key.
pub(super) const MARK: &str = r"-----(BEGIN|END) [A-Z0-9 ]{0,20}PRIVATE KEY(?: BLOCK)?-----";

/// A PuTTY file: from its first line to the last of its private ones.
pub(super) const PUTTY: &str = concat!(
    r"PuTTY-User-Key-File-[0-9]:(?s:.)*?Private-Lines:[ \t]*[0-9]+(?:(?:\s|\\[rn])+[A-Za-z0-9+/=]{16,})+",
    r"(?:(?:\s|\\[rn])+[A-Za-z0-9+/]{2,14}==?)?",
);

/// The minimum that counts as a key and not as prose about keys: half a line of it.
const LEAST_RUN: usize = 32;

pub(super) fn search(what: &'static str, mark: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    let mut marks = mark.captures_iter(text).peekable();
    while let Some(begin) = marks.next() {
        if &begin[1] != "BEGIN" {
            continue;
        }
        let begin = begin.get_match().range();
        let next = marks.peek().map(|next| (&next[1] == "END", next.get_match().range()));
        let body = &text[begin.end..next.as_ref().map_or(text.len(), |(_, range)| range.start)];
        let end = match next {
            Some((true, end)) if body.split(|c| !is_base64(c)).any(|run| run.len() >= LEAST_RUN) => Some(end.end),
            Some((true, _)) => None,
            _ => cut_off(body).map(|length| begin.end + length),
        };
        if let Some(end) = end {
            found(Finding { what, range: begin.start..end });
        }
    }
}

/// The length of a key without a last line: up to the last of the lines of pure base64.
fn cut_off(body: &str) -> Option<usize> {
    let mut rest = body;
    let mut key = None;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '\\' | '"' | '\''));
        let run = rest.find(|c| !is_base64(c)).unwrap_or(rest.len());
        if run < LEAST_RUN {
            return key;
        }
        rest = &rest[run..];
        key = Some(body.len() - rest.len());
    }
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')
}
