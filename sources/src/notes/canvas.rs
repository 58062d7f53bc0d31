//! A canvas of Obsidian (JSON Canvas 1.0): texts, names of files, links, names of groups, and what is written on arrows.

use memchr::memmem;
use serde_json::Value;

use crate::json::{MAX_VALUES, has_more_values, repair};

/// The texts of a canvas, a paragraph each, and where each stands: a line of the result, and a line of the file. `None` if it
/// is no canvas.
pub fn read(file: &str) -> Option<(String, Vec<(u64, u64)>)> {
    if file.trim().is_empty() {
        return Some(Default::default());
    }
    if has_more_values(file.as_bytes(), MAX_VALUES) {
        return None;
    }
    let canvas: Value = serde_json::from_slice(&repair(file.as_bytes())).ok()?;
    let canvas = canvas.as_object()?;
    let list = |name: &str| canvas.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut reader =
        CanvasReader { file, found: 0, line: 1, is_lost: false, text: String::new(), lines: 1, places: Vec::new() };
    for node in list("nodes") {
        let field = |name: &str| node.get(name).and_then(Value::as_str).unwrap_or_default();
        match field("type") {
            "text" => reader.add(node, field("text")),
            "file" => reader.add(node, &format!("{}{}", field("file"), field("subpath"))),
            "link" => reader.add(node, field("url")),
            _ => reader.add(node, field("label")),
        }
    }
    for edge in list("edges") {
        reader.add(edge, edge.get("label").and_then(Value::as_str).unwrap_or_default());
    }
    Some((reader.text, reader.places))
}

struct CanvasReader<'a> {
    file: &'a str,
    /// Where the last element was found, its line, and whether one was not: then no more are looked for.
    found: usize,
    line: u64,
    is_lost: bool,
    /// The result, and how many lines it has.
    text: String,
    lines: u64,
    places: Vec<(u64, u64)>,
}

impl CanvasReader<'_> {
    fn add(&mut self, element: &Value, text: &str) {
        self.find(element);
        let text = text.trim().replace('\0', " ");
        if text.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
            self.lines += 2;
        }
        self.places.push((self.lines, self.line));
        self.lines += text.matches('\n').count() as u64;
        self.text.push_str(&text);
    }

    /// Goes on to the line of an element, which its id tells.
    fn find(&mut self, element: &Value) {
        let rest = self.file.get(self.found..).unwrap_or_default();
        let id = element.get("id").filter(|id| !self.is_lost && id.is_string()).map(Value::to_string);
        match id.and_then(|id| memmem::find(rest.as_bytes(), id.as_bytes()).map(|at| at + id.len())) {
            Some(length) => {
                self.line += rest.as_bytes()[..length].iter().filter(|byte| **byte == b'\n').count() as u64;
                self.found += length;
            }
            None => self.is_lost = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 44.11: what people wrote on a canvas is text, each with its line of the file.
    #[test]
    fn a_canvas_is_read_as_its_texts() {
        let file = "{\n\t\"nodes\":[\n\t\t{\"id\":\"a\",\"type\":\"group\",\"x\":0,\"label\":\"Launch\"},\n\
                    \t\t{\"id\":\"b\",\"type\":\"text\",\"text\":\"# One\\n\\nTwo \\ud83d\"},\n\
                    \t\t{\"id\":\"c\",\"type\":\"file\",\"file\":\"notes/Plan.md\",\"subpath\":\"#Day\"},\n\
                    \t\t{\"id\":\"d\",\"type\":\"link\",\"url\":\"https://example.org\"},\n\
                    \t\t{\"id\":\"e\",\"type\":\"text\",\"text\":7}\n\t],\n\
                    \t\"edges\":[\n\t\t{\"id\":\"f\",\"fromNode\":\"b\",\"toNode\":\"c\",\"label\":\"needs\"}\n\t]\n}";
        let (text, places) = read(file).unwrap();
        assert_eq!(text, "Launch\n\n# One\n\nTwo \u{fffd}\n\nnotes/Plan.md#Day\n\nhttps://example.org\n\nneeds");
        assert_eq!(places, [(1, 3), (3, 4), (7, 5), (9, 6), (11, 10)]);
    }

    /// 44.11: an empty canvas has no text, and other JSON is none.
    #[test]
    fn other_files_are_no_canvas() {
        for empty in ["", "\n", "{}", "{\"nodes\":[],\"edges\":3}"] {
            assert_eq!(read(empty).unwrap().0, "", "{empty}");
        }
        for other in ["text", "[]", "{\"nodes\":", "7"] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!(read(&format!("{{\"nodes\":[{}1]}}", "1,".repeat(MAX_VALUES))), None);
    }
}
