//! Title, tags and other properties of YAML and TOML before a note.

use super::block::{lines, shortened};

/// Tags that are read: no memory has more.
pub(super) const MAX_TAGS: usize = 1_000;
/// How deep tags are nested.
const MAX_DEPTH: usize = 8;
/// Bytes of properties that the first chunk has, and the lines that are looked at.
pub(super) const MAX_PROPERTIES: usize = 1 << 10;
const MAX_LINES: usize = 10_000;

/// The properties before a note.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    pub title: Option<String>,
    pub tags: Vec<String>,
    /// All properties, the title and the tags as well, on one line.
    pub properties: String,
    /// Where the note itself begins.
    pub end: usize,
}

/// Reads the front matter: between lines of `---` (YAML) or `+++` (TOML), from the first line on. Title and tags are read in the
/// shapes that people write them, everything else as text.
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
            return FrontMatter { title, tags, properties: properties(&keys), end: at + line.len() };
        }
        keys.push(trimmed);
    }
    // It never ends: then it is text.
    FrontMatter { end: start, ..FrontMatter::default() }
}

/// The title and the tags, read as Obsidian does.
fn title_and_tags(lines: &[&str]) -> (Option<String>, Vec<String>) {
    let (mut title, mut tags) = (None, Vec::new());
    let mut rest = lines.iter().peekable();
    while let Some(line) = rest.next() {
        let Some((key, value)) = line.split_once([':', '=']) else { continue };
        let key = key.trim_end();
        if key == "title" {
            title = Some(shortened(&unquote(value))).filter(|title| !title.is_empty());
        }
        if !["tags", "tag"].iter().any(|name| key.eq_ignore_ascii_case(name)) {
            continue;
        }
        let mut value = value.trim().to_owned();
        // A list over several lines: of dashes, or in brackets.
        let in_brackets = value.starts_with('[');
        let mut is_list = in_brackets;
        // Only the last line is looked at: the list may have half a million.
        let mut is_open = in_brackets && !value.contains(']');
        while let Some(line) =
            rest.next_if(|line| if in_brackets { is_open } else { line.trim_start().starts_with("- ") })
        {
            is_list = true;
            value += if in_brackets { " " } else { "," };
            value += if in_brackets { line } else { line.trim_start().trim_start_matches('-') };
            is_open &= !line.contains(']');
        }
        let list = value.trim_start_matches('[').split(']').next().unwrap_or_default();
        for tag in elements(list) {
            // Of a text, spaces part the tags, too.
            let words =
                if is_list || tag.starts_with(['"', '\'']) { vec![tag] } else { tag.split_whitespace().collect() };
            for word in words {
                add_tag(unquote(word).trim_start_matches('#'), &mut tags);
            }
        }
    }
    (title, tags)
}

/// Adds a tag, and the tags that it is below: `work/atlas` is found by `work`.
fn add_tag(tag: &str, tags: &mut Vec<String>) {
    let ends = tag.match_indices('/').map(|(at, _)| at).take(MAX_DEPTH).chain([tag.len()]);
    for tag in ends.map(|end| &tag[..end]).filter(|tag| !tag.is_empty()) {
        if tags.len() < MAX_TAGS && tags.last().is_none_or(|last| last != tag) {
            tags.push(tag.to_owned());
        }
    }
}

/// The elements of a list: commas in quotes do not separate.
fn elements(list: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    let is_comma = move |letter: char| {
        match (quote, letter) {
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
        letter == ',' && quote.is_none()
    };
    list.split(is_comma).map(str::trim).filter(|element| !element.is_empty())
}

/// All properties on one line, each with its name, as far as they fit.
fn properties(lines: &[&str]) -> String {
    let mut all = String::new();
    for line in lines.iter().take(MAX_LINES) {
        let text = line.trim();
        let is_key = line.starts_with(|first: char| first.is_alphabetic() || "\"'_".contains(first))
            && text.contains([':', '=']);
        let text = text.strip_prefix("- ").unwrap_or(text);
        if text.is_empty() || text.starts_with('#') || ["[", "]", "-"].contains(&text) {
            continue;
        }
        if all.len() + text.len() > MAX_PROPERTIES {
            break;
        }
        let ends_open = all.is_empty() || all.ends_with([':', '=', '[', ',']);
        all.push_str(match (is_key, ends_open) {
            (true, _) if all.is_empty() => "",
            (true, _) => "; ",
            (false, true) => " ",
            (false, false) => ", ",
        });
        all.push_str(text);
    }
    all
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

    /// 44.4: tags are read as Obsidian does.
    #[test]
    fn tags_are_read_as_obsidian_does() {
        for (front, tags) in [
            ("tags: a b", &["a", "b"][..]),
            ("tags: a, b c", &["a", "b", "c"]),
            ("tag: a", &["a"]),
            ("Tags: #a #b", &["a", "b"]),
            ("TAGS:\n- a\n- b c", &["a", "b c"]),
            ("tags: [\"a, b\", c]", &["a, b", "c"]),
            ("tags: ['x, y']", &["x, y"]),
            ("tags: work/atlas/api", &["work", "work/atlas", "work/atlas/api"]),
            ("tags:\n  - \"a/b\"", &["a", "a/b"]),
            ("tagged: a", &[]),
        ] {
            check(&format!("---\n{front}\n---\n"), None, tags, "");
        }
    }

    /// 44.4: every property is text, with its name.
    #[test]
    fn properties_are_text_on_one_line() {
        let front = |text: &str| read(&format!("---\n{text}\n---\nnote")).properties;
        assert_eq!(
            front(
                "title: Plan\naliases:\n  - Zed\n  - \"Yankee, X\"\nstatus: open\n# no\n\ndue: 2026-11-02\nnested:\n  a: 1\n  b: 2"
            ),
            "title: Plan; aliases: Zed, \"Yankee, X\"; status: open; due: 2026-11-02; nested: a: 1, b: 2"
        );
        assert_eq!(front("tags: [\n  a,\n  b\n]"), "tags: [ a, b");
        assert_eq!(read("+++\nauthor = \"Ana\"\n+++\n").properties, "author = \"Ana\"");
        let long = front(&"key: value\n".repeat(100_000));
        assert!(long.len() <= MAX_PROPERTIES + 400 && long.starts_with("key: value; key"), "{}", long.len());
    }

    #[test]
    fn unclosed_or_late_front_matter_is_text() {
        for text in ["---\ntitle: x\n", "a\n---\nb\n---\n", " ---\na\n---\n", "", "----\n----\n", "+++\na\n---\n"] {
            check(text, None, &[], text);
        }
        check("\u{feff}text", None, &[], "text");
    }
}
