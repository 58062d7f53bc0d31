//! A change as people are shown it: our lines and no others, which may be somebody's secrets.

use crate::format::Thin;
use imara_diff::{Algorithm, Diff, InternedInput};
use std::ops::Range;

/// Our lines that are removed and added between two versions of a file. `base` is the file without our part.
pub fn shown(before: &str, base: &str, after: &str) -> String {
    // Many blank lines that go would take long, and say nothing.
    let [before, base, after] = [before, base, after].map(Thin::new);
    let (before, base, after) = (&before.text, &base.text, &after.text);
    let (before, after) = (ours(base, before), ours(base, after));
    let mut shown = String::new();
    for hunk in diff(&before, &after).hunks() {
        let (removed, added) = (&before[range(&hunk.before)], &after[range(&hunk.after)]);
        shown.extend(removed.iter().map(|line| format!("-{line}\n")));
        shown.extend(added.iter().map(|line| format!("+{line}\n")));
    }
    shown
}

/// The lines that `text` has and `base` lacks. A line that is only partly ours is cut to our part, with … around it.
fn ours(base: &str, text: &str) -> Vec<String> {
    let old: Vec<&str> = base.lines().collect();
    let new: Vec<&str> = text.lines().collect();
    // A line that only gets a comma, or loses it, is as it was.
    let [bare_old, bare_new] = [&old, &new]
        .map(|lines| -> Vec<&str> { lines.iter().map(|line| line.trim_end().trim_end_matches(',')).collect() });
    let mut shown = Vec::new();
    for hunk in diff(&bare_old, &bare_new).hunks() {
        let (removed, lines) = (&old[range(&hunk.before)], &new[range(&hunk.after)]);
        match removed {
            [] => shown.extend(lines.iter().map(|&line| line.to_owned())),
            _ => shown.extend(added(&removed.join("\n"), &lines.join("\n"))),
        }
    }
    shown
}

/// The lines of `new`, each cut to the words that `old` lacks, without the lines where these are only punctuation.
fn added(old: &str, new: &str) -> Vec<String> {
    let (old, new) = (words(old), words(new));
    let diff = diff(&old, &new);
    let words: Vec<(&str, bool)> = new.into_iter().zip(0..).map(|(word, at)| (word, diff.is_added(at))).collect();
    words.split(|(word, _)| *word == "\n").filter_map(part).collect()
}

/// The elements that are removed from `before`, and those that are added to `after`.
fn diff<T: AsRef<str>>(before: &[T], after: &[T]) -> Diff {
    let mut input = InternedInput::<&str>::default();
    input.update_before(before.iter().map(AsRef::as_ref));
    input.update_after(after.iter().map(AsRef::as_ref));
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_no_heuristic(&input);
    diff
}

/// The elements of one side of a hunk.
fn range(side: &Range<u32>) -> Range<usize> {
    side.start as usize..side.end as usize
}

/// The new words of a line, with … for the others; `None` if they are only punctuation.
fn part(line: &[(&str, bool)]) -> Option<String> {
    let mut shown = String::new();
    for run in line.chunk_by(|(_, one), (_, other)| one == other) {
        let text: String = run.iter().map(|(word, _)| *word).collect();
        match run[0].1 || text.trim().is_empty() {
            true => shown.push_str(&text),
            false => shown.push('…'),
        }
    }
    let says_something = line.iter().any(|(word, is_new)| *is_new && word.contains(char::is_alphanumeric));
    says_something.then_some(shown)
}

/// Strings in quotes, words, and other characters each by itself.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            '"' | '\'' => quoted(rest, first),
            first if is_word(first) => rest.find(|c| !is_word(c)),
            first => Some(first.len_utf8()),
        };
        let (word, after) = rest.split_at(length.unwrap_or(rest.len()));
        words.push(word);
        rest = after;
    }
    words
}

/// The length of a string with its quotes; of a quote without its pair, the length of the quote.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => break,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    Some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_gets_a_comma_is_not_shown() {
        let base = "{\n  \"a\": {\n    \"env\": {\"KEY\": \"sk-1\"}\n  }\n}\n";
        let after = "{\n  \"a\": {\n    \"env\": {\"KEY\": \"sk-1\"}\n  },\n  \"memorist\": {\n    \"x\": 1\n  }\n}\n";
        assert_eq!(shown(base, base, after), "+  \"memorist\": {\n+    \"x\": 1\n+  }\n");
        assert_eq!(shown(after, base, base), "-  \"memorist\": {\n-    \"x\": 1\n-  }\n");
        let flat = "{\n  \"env\": {\"KEY\": \"sk-1\"}\n}\n";
        assert_eq!(
            shown(flat, flat, "{\n  \"env\": {\"KEY\": \"sk-1\"},\n  \"memorist\": 1\n}\n"),
            "+  \"memorist\": 1\n"
        );
    }

    #[test]
    fn a_line_that_is_partly_ours_shows_our_part_alone() {
        let base = "{\"a\":{\"env\":{\"KEY\":\"sk-1\"}},\"b\":\"sk-2\"}";
        let after = "{\"a\":{\"env\":{\"KEY\":\"sk-1\"},\"memorist\":{\"x\":1}},\"b\":\"sk-2\",\"v\":1}";
        let diff = shown(base, base, after);
        assert!(diff.contains("\"memorist\":{\"x\":1}") && diff.contains("\"v\":1"), "{diff}");
        assert!(diff.starts_with("+…") && !diff.contains("sk-") && !diff.contains("KEY"), "{diff}");
        let opened = shown("{\n  \"s\": {},\n}", "{\n  \"s\": {},\n}", "{\n  \"s\": {\n    \"memorist\": 1\n  },\n}");
        assert_eq!(opened, "+    \"memorist\": 1\n");
        assert_eq!(shown("[x]\nkey = 'sk-1'", "[x]\nkey = 'sk-1'", "[x]\nkey = 'sk-1'\n\n[y]\n"), "+\n+[y]\n");
    }

    #[test]
    fn an_update_shows_the_changed_lines_alone() {
        let with = |path: &str| {
            format!("{{\n  \"k\": \"sk-1\",\n  \"memorist\": {{\n    \"x\": 1,\n    \"p\": \"{path}\"\n  }}\n}}\n")
        };
        let base = "{\n  \"k\": \"sk-1\"\n}\n";
        assert_eq!(shown(&with("/a"), base, &with("/b")), "-    \"p\": \"/a\"\n+    \"p\": \"/b\"\n");
    }
}
