//! A note of basic-memory: front matter, observations and relations in lists, and the text around them.
//!
//! ```text
//! - [category] text #tag (context)
//! - relation_type [[Target]] (context)
//! ```

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde_json::{Map, Value};

#[derive(Debug, Default, PartialEq)]
pub struct BasicMemoryNote {
    /// The fields of its front matter.
    pub fields: Map<String, Value>,
    /// Its text without the observations.
    pub text: String,
    pub observations: Vec<Observation>,
    /// Its relations, and its links in the text.
    pub relations: Vec<Relation>,
}

/// A statement of a note about its subject.
#[derive(Debug, PartialEq)]
pub struct Observation {
    pub category: Option<String>,
    /// Its text, with its tags.
    pub text: String,
    pub tags: Vec<String>,
    /// The text in parentheses behind it.
    pub context: Option<String>,
    /// The line of the file that it begins in.
    pub line: i64,
}

/// A relation to another note.
#[derive(Debug, PartialEq)]
pub struct Relation {
    /// Its type; `None` for a link in the text.
    pub kind: Option<String>,
    /// The name of the other note.
    pub target: String,
}

/// The name of the section that observations are mostly in.
const SECTION: &str = "## observations";

pub fn parse(file: &str) -> BasicMemoryNote {
    let file = file.strip_prefix('\u{feff}').unwrap_or(file);
    let (fields, start) = front_matter(file);
    let body = file.get(start..).unwrap_or_default();
    let layout = NoteLayout::of(body);
    let mut note = BasicMemoryNote { fields, ..BasicMemoryNote::default() };
    let mut typed = Vec::new();
    let mut rest = String::new();
    let (mut done, mut line, mut counted) = (0, 1 + breaks(file.get(..start).unwrap_or_default()), 0);
    for item in &layout.items {
        let text = item_text(body.get(item.clone()).unwrap_or_default());
        if let Some(kind) = relation_kind(&text) {
            typed.push((item.clone(), kind));
        } else if let Some(observation) = observation(&text) {
            line += breaks(body.get(counted..item.start).unwrap_or_default());
            counted = item.start;
            note.observations.push(Observation { line, ..observation });
            rest.push_str(body.get(done..item.start).unwrap_or_default());
            done = item.end.max(done);
        }
    }
    rest.push_str(body.get(done..).unwrap_or_default());
    for (at, target) in links(body, &layout.code) {
        // Items are in order, and none is within another.
        let after = typed.partition_point(|(item, _)| item.start <= at);
        let typed = typed.get(..after).and_then(<[_]>::last).filter(|(item, _)| item.contains(&at));
        let kind = typed.map(|(_, kind)| kind.clone());
        note.relations.push(Relation { kind, target });
    }
    let lines = rest.lines().filter(|line| note.observations.is_empty() || line.trim().to_lowercase() != SECTION);
    note.text = without_blank_runs(lines);
    note
}

fn breaks(text: &str) -> i64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as i64
}

/// The lines, with at most one blank line between two others.
fn without_blank_runs<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    let mut blank = false;
    for line in lines.map(str::trim_end) {
        if line.is_empty() {
            blank = true;
            continue;
        }
        if !text.is_empty() {
            text.push_str(if blank { "\n\n" } else { "\n" });
        }
        blank = false;
        text.push_str(line);
    }
    text
}

/// The fields between two lines of three dashes at the start, and where they end. The values are texts and lists of texts, a
/// subset of YAML.
fn front_matter(file: &str) -> (Map<String, Value>, usize) {
    let mut fields = Map::new();
    let mut lines = file.split_inclusive('\n');
    let mut end = match lines.next() {
        Some(first) if first.trim_end() == "---" => first.len(),
        _ => return (fields, 0),
    };
    let mut last: Option<String> = None;
    for line in lines {
        end += line.len();
        let line = line.trim_end();
        if line == "---" || line == "..." {
            return (fields, end);
        }
        if let Some(item) = line.trim_start().strip_prefix("- ") {
            let key = last.as_ref().and_then(|name| fields.get_mut(name));
            match key {
                Some(Value::Array(items)) => items.push(unquoted(item)),
                Some(value @ Value::Null) => *value = Value::Array(vec![unquoted(item)]),
                _ => {}
            }
        } else if let Some((name, value)) = line.split_once(':').filter(|_| !line.starts_with([' ', '\t', '#'])) {
            fields.insert(name.trim().to_owned(), scalar(value));
            last = Some(name.trim().to_owned());
        }
    }
    // It was never closed: a rule, not front matter.
    (Map::new(), 0)
}

fn scalar(text: &str) -> Value {
    let text = text.trim();
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some(list) => list.split(',').filter(|item| !item.trim().is_empty()).map(unquoted).collect(),
        None => unquoted(text),
    }
}

fn unquoted(text: &str) -> Value {
    let text = text.trim();
    let inner = |quote| text.strip_prefix(quote).and_then(|text: &str| text.strip_suffix(quote));
    match inner('"').or_else(|| inner('\'')).unwrap_or(text) {
        "" => Value::Null,
        text => text.into(),
    }
}

/// Where a note's list items and its code are.
#[derive(Default)]
struct NoteLayout {
    /// The items outside quotes, each without the lists and code blocks within it, in order.
    items: Vec<Range<usize>>,
    code: Vec<Range<usize>>,
}

impl NoteLayout {
    fn of(body: &str) -> Self {
        let mut layout = NoteLayout::default();
        let mut open: Vec<Range<usize>> = Vec::new();
        let mut quotes = 0;
        for (event, range) in Parser::new(body).into_offset_iter() {
            match event {
                Event::Start(Tag::BlockQuote(_)) => quotes += 1,
                Event::End(TagEnd::BlockQuote(_)) => quotes -= 1,
                Event::Start(Tag::Item) => open.push(range),
                Event::End(TagEnd::Item) => {
                    let item = open.pop().filter(|_| quotes == 0);
                    layout.items.extend(item);
                }
                Event::Start(Tag::List(_) | Tag::CodeBlock(_)) => {
                    if let Some(item) = open.last_mut() {
                        item.end = item.end.min(range.start);
                    }
                    if let Event::Start(Tag::CodeBlock(_)) = event {
                        layout.code.push(range);
                    }
                }
                Event::Code(_) => layout.code.push(range),
                _ => {}
            }
        }
        layout.items.sort_by_key(|item| item.start);
        layout
    }
}

/// The text of an item in one line, without its bullet.
fn item_text(item: &str) -> String {
    let item = item.trim_start();
    let text = item.trim_start_matches(|c: char| c.is_ascii_digit());
    text.get(1..).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The type of a relation: a word, or a text in quotes, before a link with nothing but a context behind it.
fn relation_kind(text: &str) -> Option<String> {
    let (before, link) = text.split_once("[[")?;
    let (target, after) = link.split_once("]]")?;
    let after = after.trim();
    let is_context = after.starts_with('(') && after.ends_with(')') && after.matches('(').count() == 1;
    if target.trim().is_empty() || !(after.is_empty() || is_context) {
        return None;
    }
    let before = before.trim();
    let quoted = ['"', '\''].iter().find_map(|quote| before.strip_prefix(*quote)?.strip_suffix(*quote));
    let kind = match quoted {
        Some(quoted) => quoted.trim(),
        None if before.contains(char::is_whitespace) => return None,
        None => before,
    };
    (!kind.is_empty()).then(|| kind.to_owned())
}

fn observation(text: &str) -> Option<Observation> {
    if text.starts_with("[[") {
        return None;
    }
    let (category, text) = match category(text) {
        Some((category, text)) => (Some(category.to_owned()), text),
        // Boxes of tasks, and links.
        None if text.starts_with('[') => return None,
        None => (None, text),
    };
    let tags: Vec<String> = text
        .split_whitespace()
        .filter_map(|word| word.strip_prefix('#'))
        .flat_map(|word| word.split('#'))
        .map(|tag| tag.trim_end_matches(['.', ',', ';', ':', ')']).to_owned())
        .filter(|tag| !tag.is_empty())
        .collect();
    if category.is_none() && tags.is_empty() {
        return None;
    }
    let (text, context) = match text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
        Some((before, context)) if !before.trim().is_empty() => (before.trim(), Some(context.trim().to_owned())),
        _ => (text, None),
    };
    let context = context.filter(|context| !context.is_empty());
    Some(Observation { category, text: text.to_owned(), tags, context, line: 0 })
}

/// The word in brackets at the start, and the text behind it. `None` for a time, or the mark of a task.
fn category(text: &str) -> Option<(&str, &str)> {
    let (category, rest) = text.strip_prefix('[')?.split_once(']')?;
    let (category, rest) = (category.trim(), rest.strip_prefix(' ')?.trim());
    let is_time = category.contains(':') && category.chars().all(|c| c.is_ascii_digit() || ":.,- ".contains(c));
    let mut chars = category.chars();
    let is_mark = match (chars.next(), chars.next()) {
        (Some(only), None) => only == 'x' || only == 'X' || !only.is_alphanumeric(),
        (None, _) => true,
        _ => false,
    };
    let is_plain = !category.contains(['[', '(', ')']);
    (is_plain && !is_time && !is_mark && !rest.is_empty()).then_some((category, rest))
}

/// The links of a text outside code: where each begins, and the name of its target, without what is shown for it.
fn links(body: &str, code: &[Range<usize>]) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    let mut from = 0;
    // Each is looked for once, however many links begin before it.
    let (mut close, mut line_end) = (0, 0);
    let next = |known: usize, from: usize, what: &str| {
        let found = || body.get(from..).and_then(|rest| rest.find(what)).map_or(usize::MAX, |found| from + found);
        if known >= from && known > 0 { known } else { found() }
    };
    while let Some(start) = body.get(from..).and_then(|rest| rest.find("[[")).map(|found| from + found) {
        from = start + 2;
        let before = body.get(..start).unwrap_or_default();
        let is_escaped = before.len() - before.trim_end_matches('\\').len();
        (close, line_end) = (next(close, from, "]]"), next(line_end, from, "\n"));
        let Some(target) = body.get(from..close) else { break };
        let in_code = code.get(..code.partition_point(|code| code.start <= start)).and_then(<[_]>::last);
        if is_escaped % 2 == 1 || line_end < close || in_code.is_some_and(|code| code.contains(&start)) {
            continue;
        }
        from = close + 2;
        let name = target.split(['|', '#']).next().unwrap_or_default().trim();
        if !name.is_empty() {
            links.push((start, name.to_owned()));
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_texts_and_lists() {
        let note = parse("---\ntitle: \"A: b\"\ntags:\n- x\n  - 'y'\nmore: [p, q]\nempty:\n# comment\n---\nText\n");
        let expected = serde_json::json!({ "title": "A: b", "tags": ["x", "y"], "more": ["p", "q"], "empty": null });
        assert_eq!((Value::Object(note.fields), note.text.as_str()), (expected, "Text"));
        assert_eq!(parse("---\ntitle: x\n\nno end").text, "---\ntitle: x\n\nno end");
    }

    #[test]
    fn items_that_are_no_observations_stay_in_the_text() {
        let kept = "- [ ] open\n- [x] done\n- [00:01:02] spoken\n- [site](http://x)\n- plain\n\n> - [idea] quoted\n\n\
                    ```\n- [code] no\n```";
        let note = parse(kept);
        assert_eq!((note.text.as_str(), note.observations.len()), (kept, 0));
    }

    #[test]
    fn an_observation_may_have_a_nested_list_and_several_lines() {
        let note =
            parse("# T\n\n## Observations\n- [tech] one\n  two #a#b (why)\n  - [idea] inner\n- left\n* plain #tag\n");
        let seen: Vec<_> =
            note.observations.iter().map(|one| (one.category.as_deref(), &*one.text, one.line)).collect();
        assert_eq!(seen, [(Some("tech"), "one two #a#b", 4), (Some("idea"), "inner", 6), (None, "plain #tag", 8)]);
        assert_eq!(note.observations[0].tags, ["a", "b"]);
        assert_eq!(note.observations[0].context.as_deref(), Some("why"));
        assert_eq!(note.text, "# T\n\n- left");
    }

    #[test]
    fn relations_have_a_type_and_links_in_the_text_have_none() {
        let note = parse(
            "See [[A|shown]] and [[B#part]], `[[no]]`, \\[[no]].\n\n- implements [[C]] (x)\n- \"is part of\" [[D]]\n- see \
             also [[E]]\n",
        );
        let seen: Vec<_> = note.relations.iter().map(|one| (one.kind.as_deref(), &*one.target)).collect();
        assert_eq!(seen, [(None, "A"), (None, "B"), (Some("implements"), "C"), (Some("is part of"), "D"), (None, "E")]);
    }

    #[test]
    fn links_are_found_behind_others_that_do_not_end() {
        let note = parse("- is [[A]]\n  - has [[B]]\n\n[[no\n[[C]] \\[[no]] `[[no]]` [[D]]\n- of [[E]]\n");
        let seen: Vec<_> = note.relations.iter().map(|one| (one.kind.as_deref(), &*one.target)).collect();
        assert_eq!(seen, [(Some("is"), "A"), (Some("has"), "B"), (None, "C"), (None, "D"), (Some("of"), "E")]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_note(parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "---\n", "- ", "\n", "  ", "[", "]", "[[", "]]", "(", ")", "#", "é", "\\", "`", "```\n", "> ", "1. ", "a: ",
                "x", "\"", "|", "\u{feff}", "\r\n",
            ]),
            0..40,
        )) {
            parse(&parts.concat());
        }
    }
}
