//! Title and tags of YAML and TOML before a note.

use super::block::{lines, shortened};

/// Tags that are read: no memory has more.
const MAX_TAGS: usize = 1_000;

/// What stands before a note.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    pub title: Option<String>,
    pub tags: Vec<String>,
    /// Where the note itself begins.
    pub end: usize,
}

/// Reads it: between lines of `---` (YAML) or `+++` (TOML), from the first line on. Only the keys `title` and `tags` are
/// read, in the shapes that people write them.
pub fn read(text: &str) -> FrontMatter {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut all = lines(text, start);
    let fence = match all.next().map(|(_, line)| line.trim_end()) {
        Some(fence @ ("---" | "+++")) => fence,
        _ => return FrontMatter { end: start, ..FrontMatter::default() },
    };
    let mut keys = Vec::new();
    for (at, line) in all {
        let trimmed = line.trim_end();
        if trimmed == fence || (fence == "---" && trimmed == "...") {
            let (title, tags) = title_and_tags(&keys);
            return FrontMatter { title, tags, end: at + line.len() };
        }
        keys.push(trimmed);
    }
    // It never ends: then it is text.
    FrontMatter { end: start, ..FrontMatter::default() }
}

fn title_and_tags(lines: &[&str]) -> (Option<String>, Vec<String>) {
    let (mut title, mut tags) = (None, Vec::new());
    let mut rest = lines.iter().peekable();
    while let Some(line) = rest.next() {
        let Some((key, value)) = line.split_once([':', '=']) else { continue };
        match key.trim_end() {
            "title" => title = Some(shortened(&unquote(value))).filter(|title| !title.is_empty()),
            "tags" => {
                let mut value = value.trim().to_owned();
                // A list over several lines: of dashes, or in brackets.
                let in_brackets = value.starts_with('[');
                // Only the last line is looked at: the list may have half a million.
                let mut is_open = in_brackets && !value.contains(']');
                while let Some(line) =
                    rest.next_if(|line| if in_brackets { is_open } else { line.trim_start().starts_with("- ") })
                {
                    value += if in_brackets { " " } else { "," };
                    value += if in_brackets { line } else { line.trim_start().trim_start_matches('-') };
                    is_open &= !line.contains(']');
                }
                let list = value.trim_start_matches('[').split(']').next().unwrap_or_default().split(',');
                let list = list.map(|tag| unquote(tag).trim_start_matches('#').to_owned());
                let left = MAX_TAGS.saturating_sub(tags.len());
                tags.extend(list.filter(|tag| !tag.is_empty()).take(left));
            }
            _ => {}
        }
    }
    (title, tags)
}

fn unquote(value: &str) -> String {
    let value = value.trim();
    ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(value)
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, title: Option<&str>, tags: &[&str], note: &str) {
        let front = read(text);
        assert_eq!((front.title.as_deref(), &front.tags[..]), (title, &tags.map_to_owned()[..]), "{text}");
        assert_eq!(&text[front.end..], note);
    }

    trait MapToOwned {
        fn map_to_owned(&self) -> Vec<String>;
    }

    impl MapToOwned for [&str] {
        fn map_to_owned(&self) -> Vec<String> {
            self.iter().map(|text| (*text).to_owned()).collect()
        }
    }

    #[test]
    fn tags_are_a_list_or_text_with_commas() {
        check("---\ntitle: \"A: b\"\ntags: [a, 'b c', \"#d\"]\n---\nnote", Some("A: b"), &["a", "b c", "d"], "note");
        check("---\r\ntags:\r\n  - a\r\n  - b\r\nother: x\r\n...\r\nnote", None, &["a", "b"], "note");
        check("\u{feff}---\ntags: a, b\n---\n", None, &["a", "b"], "");
        check("+++\ntitle = 'T'\ntags = [\n  \"a\",\n  \"b\",\n]\n+++\nnote", Some("T"), &["a", "b"], "note");
        check("---\ntags: []\ntags:\n---\n", None, &[], "");
    }

    #[test]
    fn what_does_not_end_or_does_not_begin_the_note_is_text() {
        for text in ["---\ntitle: x\n", "a\n---\nb\n---\n", " ---\na\n---\n", "", "----\n----\n", "+++\na\n---\n"] {
            check(text, None, &[], text);
        }
        check("\u{feff}text", None, &[], "text");
    }
}
