//! Texts, lines, JSON, notes and patterns.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

/// A file of some shape, written to a path.
pub type Shape = (&'static str, fn(&Path));

const MIB: usize = 1 << 20;

/// Shapes that every parser may meet.
pub const ANY: [Shape; 9] = [
    ("nothing", |file| fs::write(file, "").unwrap()),
    ("2 GiB of zeros", |file| File::create(file).unwrap().set_len(2 << 30).unwrap()),
    ("zeros and text", |file| repeat(file, "\0text\0", MIB)),
    ("line without an end", |file| repeat(file, "words ", 70 * MIB)),
    ("line breaks", |file| repeat(file, "\n", 16 * MIB)),
    ("no UTF-8", |file| fs::write(file, b"\xff\xc3\n".repeat(MIB / 2)).unwrap()),
    ("marks on one letter", |file| repeat(file, "\u{301}", 4 * MIB)),
    ("brackets", |file| repeat(file, "[", 4 * MIB)),
    ("objects in objects", |file| repeat(file, "{\"a\":", 4 * MIB)),
];

/// Notes that are saved: with many chunks, long labels, many tags.
pub const SYNCED: [Shape; 6] = [
    ("heading of 4 MiB", |file| surround(file, &heading(), "text of a paragraph\n\n", MIB / 16, "")),
    ("64 long tags", |file| surround(file, &long_tags(), "text of a paragraph\n\n", MIB / 4, "")),
    ("items with a category", |file| repeat(file, "- [b] c #d (e)\n", MIB / 4)),
    ("headings", |file| repeat(file, "### a\ntext\n\n", MIB / 4)),
    ("marks on one letter", |file| repeat(file, "\u{301}", MIB)),
    ("no UTF-8", |file| fs::write(file, b"\xff\xc3\n".repeat(MIB / 8)).unwrap()),
];

/// Transcripts that are saved.
pub const SYNCED_LINES: [Shape; 5] = [
    ("nothing", |file| fs::write(file, "").unwrap()),
    ("header with a folder of 1 MB, then short turns", |file| headed(file, 9 * MIB)),
    ("short turns of codex", |file| lines(file, MIB, |_| OF_CODEX.into())),
    ("half of a character in a long line", |file| {
        surround(file, "{\"role\":\"user\",\"content\":\"\\ud83d", "\\n", 32 * MIB, "\"}\n");
    }),
    ("a text of 8 MiB", |file| {
        let begin =
            "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"text\":\"";
        surround(file, begin, "word ", 8 * MIB, "\"}]}}\n");
    }),
];

/// Lists of objects, each in the last object of the list around it.
fn nested(file: &Path, begin: &str) {
    let list = format!("{begin}[{}", "{},".repeat(90_000));
    fs::write(file, format!("{}{}\n", list.repeat(60), "{}]}".repeat(60))).unwrap();
}

/// A short turn of codex.
const OF_CODEX: &str =
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"text\":\"x\"}]}}";

pub const LINES: [Shape; 14] = [
    ("messages in messages of messages", |file| nested(file, "{\"messages\":")),
    ("what is set in what is set", |file| nested(file, "{\"$set\":")),
    ("marks of blocks", |file| {
        let begin = "{\"type\":\"user\",\"role\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"";
        surround(file, begin, "<system-reminder>\\nx\\n</system-reminder>\\n<system-reminder>\\n", 4 * MIB, "\"}}\n");
    }),
    ("answers of a person", |file| {
        surround(
            file,
            "{\"type\":\"user\",\"toolUseResult\":{\"answers\":{",
            "\"a\":[[],{}],",
            4 * MIB,
            "\"b\":1}}}\n",
        );
    }),
    ("header with a folder of 1 MB, then short turns", |file| headed(file, 12 * MIB)),
    ("halves of characters", |file| {
        repeat(file, "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"\\ud83d\"}}\n", 4 * MIB);
    }),
    ("half of a character in a long line", |file| {
        surround(file, "{\"role\":\"user\",\"content\":\"\\ud83d", "\\n", 32 * MIB, "\"}\n");
    }),
    ("short turns", |file| {
        lines(file, 8 * MIB, |number| {
            format!(
                "{{\"type\":\"user\",\"id\":\"{number}\",\"uuid\":\"{number}\",\"role\":\"user\",\
                 \"message\":{{\"role\":\"user\",\"content\":\"x\"}},\"content\":\"x\"}}"
            )
        });
    }),
    ("short turns of codex", |file| {
        lines(file, 8 * MIB, |_| OF_CODEX.into());
    }),
    ("parts of what was compressed", |file| {
        let list = format!("{{\"parts\":[{}1]}},", "{},".repeat(90_000));
        let begin = "{\"type\":\"system\",\"subtype\":\"chat_compression\",\"systemPayload\":{\"compressedHistory\":[";
        fs::write(file, format!("{begin}{}1]}}}}\n", list.repeat(110))).unwrap();
    }),
    ("questions in parts of a message", |file| {
        let list = format!("{{\"functionCall\":{{\"args\":{{\"questions\":[{}1]}}}}}},", "{},".repeat(90_000));
        let begin = "{\"type\":\"assistant\",\"message\":{\"parts\":[";
        fs::write(file, format!("{begin}{}1]}}}}\n", list.repeat(110))).unwrap();
    }),
    ("lines of other types", |file| lines(file, 8 * MIB, |number| format!("{{\"type\":\"{number}\"}}"))),
    ("content of many objects", |file| {
        surround(file, "{\"type\":\"user\",\"role\":\"user\",\"content\":[{}", ",{}", 16 * MIB, "]}\n");
    }),
    ("a text of 48 MiB", |file| {
        let begin = "{\"type\":\"user\",\"id\":\"1\",\"role\":\"user\",\"content\":\"";
        surround(file, begin, "word ", 48 * MIB, "\"}\n");
    }),
];

pub const JSON: [Shape; 17] = [
    ("nodes of a canvas", |file| {
        let node = "{\"id\":\"a\",\"type\":\"text\",\"text\":\"word\"}";
        surround(file, &format!("{{\"nodes\":[{node}"), &format!(",\n{node}"), 8 * MIB, "]}");
    }),
    ("a node of 12 MiB", |file| {
        surround(file, "{\"nodes\":[{\"id\":\"a\",\"type\":\"text\",\"text\":\"", "word\\n\\n", 12 * MIB, "\"}]}");
    }),
    ("a million entities", |file| {
        lines(file, 32 * MIB, |number| format!("{{\"type\":\"entity\",\"name\":\"{number}\"}}"));
    }),
    ("list of numbers", |file| surround(file, "[1", ",1", 48 * MIB, "]")),
    ("list of objects", |file| surround(file, "[{\"a\":1}", ",{\"a\":1}", 48 * MIB, "]")),
    ("messages", |file| {
        surround(file, "{\"messages\":[{}", ",{\"type\":\"user\",\"content\":\"x\"}", 24 * MIB, "]}");
    }),
    ("short conversations", |file| surround(file, &format!("[{TALK}"), &format!(",\n{TALK}"), 24 * MIB, "]")),
    ("messages of a conversation", |file| {
        let mut out = BufWriter::new(File::create(file).unwrap());
        out.write_all(b"[{\"mapping\":{").unwrap();
        for number in 0..300_000 {
            write!(out, "\"{}\":{{\"parent\":\"{number}\",\"message\":{{\"content\":[{{}},{{}}]}}}},", number + 1)
                .unwrap();
        }
        out.write_all(b"\"a\":1},\"chat_messages\":[]}]").unwrap();
    }),
    ("messages in messages", |file| {
        let list = format!("[{}", "{},".repeat(60_000));
        let begin = "[{\"chat_messages\":";
        fs::write(file, format!("{begin}{}{}}}]", list.repeat(100), "1]".repeat(100))).unwrap();
    }),
    ("parts of a message", |file| {
        let begin = "[{\"mapping\":{\"a\":{\"message\":{\"author\":{\"role\":\"user\"},\"content\":{\"parts\":[";
        surround(file, begin, "\"a\",{\"text\":\"b\"},", 24 * MIB, "1]}}}}}]");
    }),
    ("contents of messages", |file| {
        let list = format!("{{\"type\":\"user\",\"content\":[{}1]}},", "{},".repeat(90_000));
        fs::write(file, format!("{{\"messages\":[{}1]}}", list.repeat(110))).unwrap();
    }),
    ("parts of answers", |file| {
        let list = format!("{{\"response\":[{}1]}},", "{},".repeat(90_000));
        fs::write(file, format!("{{\"requests\":[{}1]}}", list.repeat(110))).unwrap();
    }),
    ("blocks of messages of a session", |file| {
        let list = format!("{{\"role\":\"user\",\"content\":[{}1]}},", "{},".repeat(90_000));
        let begin = "{\"sessionId\":\"a\",\"messages\":[";
        fs::write(file, format!("{begin}{0}1],\"history\":[{0}1]}}", list.repeat(55))).unwrap();
    }),
    ("results in blocks of a message", |file| {
        let list = format!("{{\"type\":\"tool_result\",\"content\":[{}1]}},", "{},".repeat(90_000));
        let begin = "{\"sessionId\":\"a\",\"messages\":[{\"role\":\"user\",\"content\":[";
        fs::write(file, format!("{begin}{}1]}}]}}", list.repeat(110))).unwrap();
    }),
    ("calls in messages of a history", |file| {
        let list = format!("{{\"output\":[{}1]}},", "{},".repeat(90_000));
        let begin = "{\"sessionId\":\"a\",\"history\":[{\"message\":{},\"toolCallStates\":[";
        fs::write(file, format!("{begin}{}1]}}]}}", list.repeat(110))).unwrap();
    }),
    ("messages of a task", |file| {
        surround(file, "[{}", ",{\"say\":\"text\",\"ts\":1,\"text\":\"x\"}", 24 * MIB, "]");
    }),
    ("results", |file| surround(file, "{\"results\":[{}", ",{\"id\":1,\"memory\":\"x\"}", 24 * MIB, "]}")),
];

pub const HISTORIES: [Shape; 5] = [
    ("short turns", |file| repeat(file, "_**User**_\na\n#### b\n\nc\n\n", 32 * MIB)),
    ("sessions", |file| repeat(file, "# aider chat started at 2026-07-01 10:00:00\n#### b\n", 16 * MIB)),
    ("comments of sessions", |file| {
        repeat(file, "<!-- a Session b (2026-07-01 10:00Z) -->\n_**User**_\na\n", 16 * MIB)
    }),
    ("blocks without an end", |file| repeat(file, "_**User**_\n<details>\n<think>\n<tool-use \n", 16 * MIB)),
    ("a title of 32 MiB", |file| surround(file, "# ", "t(2026-07-01 10:00Z)", 32 * MIB, "\n_**User**_\na\n")),
];

pub const NOTES: [Shape; 36] = [
    ("images as text", |file| repeat(file, "![](data:image/png;base64,iVBORw0KGgo", 4 * MIB)),
    ("tags in tags", |file| surround(file, "---\ntags: ", "a/b, 'c ", 4 * MIB, "\n---\ntext\n")),
    ("properties", |file| surround(file, "---\n", "key: [\n  - value\n", 4 * MIB, "---\ntext\n")),
    ("heading of 4 MiB", |file| surround(file, &heading(), "text of a paragraph\n\n", MIB, "")),
    ("headings of 4 MiB", |file| repeat(file, &format!("{}\ntext\n\n", "#".repeat(3)), 4 * MIB)),
    ("title of 4 MiB", |file| {
        let front = format!("---\ntitle: {}\n---\n", "t".repeat(4 * MIB));
        surround(file, &front, "text of a paragraph\n\n", MIB, "");
    }),
    ("tags in 400,000 lines", |file| {
        surround(file, "---\ntags: [\n", "a,\n", 1_200_000, "]\n---\ntext\n");
    }),
    ("tags in a million lines without an end", |file| {
        surround(file, "---\ntags: [\n", "a tag of many letters\n", 22_000_000, "---\ntext\n");
    }),
    ("tags in 400,000 items", |file| surround(file, "---\ntags:\n", "- a\n", 1_600_000, "---\ntext\n")),
    ("400,000 times tags", |file| surround(file, "---\n", "tags: a\n", 3_200_000, "---\ntext\n")),
    ("64 long tags", |file| {
        surround(file, &long_tags(), "text of a paragraph\n\n", 4 * MIB, "");
    }),
    ("front matter without an end", |file| surround(file, "---\n", "a: b\n", 2 * MIB, "")),
    ("quotes in quotes", |file| repeat(file, "> ", MIB)),
    ("lists in lists", |file| repeat(file, "- ", MIB)),
    ("list that goes deeper", |file| {
        let line = |number: usize| format!("{}- a\n", " ".repeat(2 * number));
        fs::write(file, (0..1_500).map(line).collect::<String>()).unwrap();
    }),
    ("links without an end", |file| repeat(file, "[a](", 2 * MIB)),
    ("links of a wiki", |file| surround(file, "", "\\[[\n", 2 * MIB, "]]")),
    ("links in items", |file| repeat(file, "- is [[a]]\n", 2 * MIB)),
    ("items with a category", |file| repeat(file, "- [b] c #d (e)\n", MIB)),
    ("stars", |file| repeat(file, "*a **", 2 * MIB)),
    ("stars in a row", |file| repeat(file, "*", 2 * MIB)),
    ("backticks", |file| {
        let ticks = |number: usize| format!("{} ", "`".repeat(number));
        fs::write(file, (1..1_500).map(ticks).collect::<String>()).unwrap();
    }),
    ("comments", |file| repeat(file, "<!-- <![CDATA[ <? ", 2 * MIB)),
    ("a table", |file| repeat(file, "|a", 2 * MIB)),
    ("definitions", |file| lines(file, 2 * MIB, |number| format!("[{number}]: a"))),
    ("a dot and spaces", |file| surround(file, "a.", " ", 2 * MIB, "b")),
    ("dots and digits", |file| repeat(file, ".1", 2 * MIB)),
    ("blocks of org", |file| lines(file, 2 * MIB, |number| format!("#+begin_{number}"))),
    ("statements", |file| repeat(file, "import 'a'\nexport const b = {\n\n", 4 * MIB)),
    ("comments of JSX", |file| surround(file, "", "{/* `{/* ", 4 * MIB, "*/}")),
    ("fences", |file| repeat(file, "```\n\n~~~\n\n", 4 * MIB)),
    ("attributes", |file| surround(file, "= T\n", ":name: value\n:tags: a,b\n", 4 * MIB, "\ntext\n")),
    ("blocks of AsciiDoc", |file| {
        lines(file, 4 * MIB, |number| ["-", ".", "/", "+"][number % 4].repeat(4 + number % 300))
    }),
    ("underlines", |file| repeat(file, "\nName\n----\n", 4 * MIB)),
    ("inline properties", |file| repeat(file, "- [a:: b] (c:: d)\n", 4 * MIB)),
    ("headings of org", |file| lines(file, 2 * MIB, |number| format!("{} h", "*".repeat(1 + number % 300)))),
];

pub const PATTERNS: [Shape; 4] = [
    ("60,000 rules", |file| lines(file, 900_000, |number| format!("*a{number}?"))),
    ("10,000 rules that are hard", |file| {
        lines(file, 1_000_000, |number| format!("**/{}[a-z]?{number}/**", "*x*".repeat(20)))
    }),
    ("a rule of 1 MB", |file| repeat(file, "*?[a-z]", 1_000_000)),
    ("rules with braces", |file| lines(file, 900_000, |_| "{a,{b,{c,{d,e}}}}*".repeat(20))),
];

/// A short conversation of two services.
pub const TALK: &str = "{\"mapping\":{\"a\":{\"message\":{\"author\":{\"role\":\"user\"},\"content\":{\"content_type\":\"text\",\"parts\":[\"x\"]}}}},\
     \"chat_messages\":[{\"sender\":\"human\",\"text\":\"x\"}]}";

fn heading() -> String {
    format!("# {}\n\n", "h".repeat(4 * MIB))
}

/// Turns whose session has a long name, in a long folder.
fn headed(file: &Path, bytes: usize) {
    let long = "f".repeat(1_000_000);
    lines(file, bytes, |number| match number {
        0 => format!("{{\"type\":\"session\",\"id\":\"{long}\",\"cwd\":\"{long}\",\"working_dir\":\"{long}\"}}"),
        1 => format!("{{\"sessionId\":\"{long}\",\"directories\":[\"{long}\"]}}"),
        2 => format!("{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{long}\",\"parent_thread_id\":\"{long}\"}}}}"),
        3 => format!("{{\"type\":\"turn_context\",\"payload\":{{\"cwd\":\"{long}\",\"model\":\"{long}\"}}}}"),
        number if number % 2 == 0 => OF_CODEX.into(),
        number => format!(
            "{{\"type\":\"{}\",\"id\":\"{number}\",\"role\":\"user\",\"content\":\"x\",\
                 \"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}",
            if number % 4 == 1 { "message" } else { "user" }
        ),
    });
}

fn long_tags() -> String {
    let tags: String = (0..64).map(|number| format!("- {number}{}\n", "t".repeat(1_000))).collect();
    format!("---\ntags:\n{tags}---\n")
}

fn repeat(file: &Path, part: &str, bytes: usize) {
    surround(file, "", part, bytes, "");
}

/// Writes a beginning, a part again and again up to so many bytes, and an end. Beside a note that may be ignored.
fn surround(file: &Path, begin: &str, part: &str, bytes: usize, end: &str) {
    let mut out = BufWriter::new(File::create(file).unwrap());
    out.write_all(begin.as_bytes()).unwrap();
    // Many at once, as tests are built without optimisation.
    let (times, many) = (bytes / part.len(), 1 + (64 << 10) / part.len());
    let parts = part.repeat(many);
    for _ in 0..times / many {
        out.write_all(parts.as_bytes()).unwrap();
    }
    out.write_all(part.repeat(times % many).as_bytes()).unwrap();
    out.write_all(end.as_bytes()).unwrap();
    out.flush().unwrap();
    if file.extension().is_none() {
        fs::write(file.with_file_name("note.md"), "text").unwrap();
    }
}

/// Writes numbered lines up to so many bytes.
fn lines(file: &Path, bytes: usize, line: impl Fn(usize) -> String) {
    let mut out = BufWriter::new(File::create(file).unwrap());
    let (mut written, mut number) = (0, 0);
    while written < bytes {
        let line = line(number);
        out.write_all(line.as_bytes()).unwrap();
        out.write_all(b"\n").unwrap();
        (written, number) = (written + line.len() + 1, number + 1);
    }
    out.flush().unwrap();
    if file.extension().is_none() {
        fs::write(file.with_file_name("note.md"), "text").unwrap();
    }
}
