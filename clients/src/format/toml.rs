//! TOML: a table of ours is appended, and cut out again.

use serde_json::Value;

use super::entry::{Entry, Slot};
use super::lines::line_end;
use super::refused::Refused;

pub(super) fn read(text: &str) -> Result<Value, String> {
    let table: toml::Table = toml::from_str(text).map_err(|error| error.to_string().trim_end().replace('\n', " "))?;
    serde_json::to_value(table).map_err(|error| error.to_string())
}

/// `[mcp_servers.memorist]`.
fn header(entry: &Entry) -> Result<String, Refused> {
    let Slot::Member(name) = &entry.slot else { return Err(Refused::Unsafe) };
    let keys: Vec<&str> = entry.path.iter().chain([name]).map(String::as_str).collect();
    Ok(format!("[{}]", keys.join(".")))
}

pub(super) fn insert(text: &str, entry: &Entry) -> Result<String, Refused> {
    let end = line_end(text);
    let body = toml::to_string(&entry.value).map_err(|_| Refused::Unsafe)?;
    let mut block = String::new();
    if !text.is_empty() && !text.ends_with('\n') {
        block.push_str(end);
    }
    if !text.trim().is_empty() {
        block.push_str(end);
    }
    for line in [header(entry)?.as_str()].into_iter().chain(body.trim_end().lines()) {
        block.push_str(line);
        block.push_str(end);
    }
    Ok(format!("{text}{block}"))
}

/// Cuts from the header to the next one, together with the empty line above. A line that looks like the header may be a
/// part of a text: so the last one whose removal is the right one counts.
pub(super) fn remove(text: &str, entry: &Entry) -> Result<String, Refused> {
    let header = header(entry)?;
    let mut wanted = read(text).map_err(Refused::Unreadable)?;
    entry.take(&mut wanted)?;
    entry.prune(&mut wanted);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_right = |without: &String| {
        read(without).is_ok_and(|mut now| {
            entry.prune(&mut now);
            now == wanted
        })
    };
    let candidates = (0..lines.len()).rev().filter(|&first| lines[first].trim() == header);
    candidates.map(|first| cut(&lines, first)).find(is_right).ok_or(Refused::Unsafe)
}

fn cut(lines: &[&str], first: usize) -> String {
    let is_blank = |line: &str| line.trim().is_empty();
    let next = lines[first + 1..].iter().position(|line| line.trim_start().starts_with('['));
    let mut last = next.map_or(lines.len(), |next| first + 1 + next);
    // What people wrote below our lines is theirs.
    while last > first + 1 && (is_blank(lines[last - 1]) || lines[last - 1].trim_start().starts_with('#')) {
        last -= 1;
    }
    let above = if first > 0 && is_blank(lines[first - 1]) { first - 1 } else { first };
    [lines[..above].concat(), lines[last..].concat()].concat()
}
