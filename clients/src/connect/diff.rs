//! A change as people are shown it: our lines and no others, which may be somebody's secrets.

use crate::format::Thin;
use similar::{Algorithm, ChangeTag, DiffTag, TextDiff, capture_diff_slices};

/// Our lines that are removed and added between two versions of a file. `base` is the file without our part.
pub fn shown(before: &str, base: &str, after: &str) -> String {
    // Many blank lines that go would take long, and say nothing.
    let [before, base, after] = [before, base, after].map(Thin::new);
    let (before, base, after) = (&before.text, &base.text, &after.text);
    let (before, after) = (ours(base, before), ours(base, after));
    let diff = TextDiff::from_lines(&before, &after);
    let changes = diff.iter_all_changes().filter(|change| change.tag() != ChangeTag::Equal);
    changes.map(|change| format!("{}{}", change.tag(), change.value())).collect()
}

/// The lines that `text` has and `base` lacks. A line that is only partly ours is cut to our part, with … around it.
fn ours(base: &str, text: &str) -> String {
    let old: Vec<&str> = base.split_inclusive('\n').collect();
    let new: Vec<&str> = text.split_inclusive('\n').collect();
    // A line that only gets a comma, or loses it, is as it was.
    let bare =
        |lines: &[&str]| lines.iter().map(|line| line.trim_end().trim_end_matches(',').to_owned()).collect::<Vec<_>>();
    let mut shown = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &bare(&old), &bare(&new)) {
        let lines = &new[op.new_range()];
        match op.tag() {
            DiffTag::Equal | DiffTag::Delete => {}
            DiffTag::Insert => shown.extend(lines.iter().map(|&line| line.to_owned())),
            DiffTag::Replace => shown.extend(added(&old[op.old_range()].concat(), &lines.concat())),
        }
    }
    shown.iter().map(|line| format!("{}\n", line.trim_end_matches(['\r', '\n']))).collect()
}

/// The lines of `new`, each cut to the words that `old` lacks, without the lines where these are only punctuation.
fn added(old: &str, new: &str) -> Vec<String> {
    let (old, new) = (words(old), words(new));
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut is_new = vec![true; new.len()];
    for op in ops.iter().filter(|op| op.tag() == DiffTag::Equal) {
        is_new[op.new_range()].fill(false);
    }
    let words: Vec<(&str, bool)> = new.into_iter().zip(is_new).collect();
    words.split_inclusive(|(word, _)| *word == "\n").filter_map(part).collect()
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
