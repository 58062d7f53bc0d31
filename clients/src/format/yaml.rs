//! YAML: an entry of ours is the first of its block, and its lines are cut out again.

use serde_json::Value;

use super::entry::{Entry, Slot};
use super::lines::line_end;
use super::refused::Refused;

pub(super) fn read(text: &str) -> Result<Value, String> {
    let first_line = |error: serde_saphyr::Error| error.to_string().lines().next().unwrap_or_default().to_owned();
    serde_saphyr::from_str(text).map_err(first_line)
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The lines of `entry`, for a block with this indent.
fn block(entry: &Entry, indent: usize) -> Vec<String> {
    let (mut lines, pad) = (Vec::new(), " ".repeat(indent));
    match &entry.slot {
        Slot::Member(name) => member(&mut lines, &pad, name, &entry.value),
        Slot::Item => {
            for (at, (name, value)) in entry.value.as_object().into_iter().flatten().enumerate() {
                member(&mut lines, &format!("{pad}{}", if at == 0 { "- " } else { "  " }), name, value);
            }
        }
    }
    lines
}

fn member(lines: &mut Vec<String>, pad: &str, name: &str, value: &Value) {
    match value.as_object() {
        Some(members) if !members.is_empty() => {
            lines.push(format!("{pad}{name}:"));
            let pad = " ".repeat(pad.len() + 2);
            members.iter().for_each(|(name, value)| member(lines, &pad, name, value));
        }
        // JSON is YAML: quoted texts, lists in brackets.
        _ => lines.push(format!("{pad}{name}: {value}")),
    }
}

/// The line of a key of the document itself.
fn top_level(lines: &[&str], key: &str) -> Option<usize> {
    let starts = |line: &&str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'));
    lines.iter().position(starts)
}

pub(super) fn insert(text: &str, entry: &Entry) -> Result<String, Refused> {
    let end = line_end(text);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let joined = |lines: Vec<String>| lines.into_iter().map(|line| line + end).collect::<String>();
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { end };
    let key = match &entry.path[..] {
        [] => return Ok(format!("{text}{gap}{}", joined(block(entry, 0)))),
        [key] => key,
        _ => return Err(Refused::Unsafe),
    };
    let Some(at) = top_level(&lines, key) else {
        return Ok(format!("{text}{gap}{key}:{end}{}", joined(block(entry, 2))));
    };
    let (head, value) = lines[at].split_at(key.len() + 1);
    let said = value.split(" #").next().unwrap_or_default().trim();
    let head = match said {
        "" => lines[at].to_owned(),
        "{}" | "[]" | "null" | "~" => format!("{head}{}", value.replacen(&format!(" {said}"), "", 1)),
        _ => return Err(Refused::Unsafe),
    };
    let head = if head.ends_with('\n') { head } else { head + end };
    let first = lines[at + 1..].iter().find(|line| !is_blank(line));
    let usual = if entry.slot == Slot::Item { 0 } else { 2 };
    let is_child = |line: &&&str| indent(line) > 0 || (entry.slot == Slot::Item && line.starts_with('-'));
    let depth = first.filter(is_child).map_or(usual, |line| indent(line));
    Ok(format!("{}{head}{}{}", lines[..at].concat(), joined(block(entry, depth)), lines[at + 1..].concat()))
}

pub(super) fn remove(text: &str, entry: &Entry) -> Result<String, Refused> {
    let mut wanted = read(text).map_err(Refused::Unreadable)?;
    entry.take(&mut wanted)?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let from = match &entry.path[..] {
        [] => 0,
        [key] => top_level(&lines, key).ok_or(Refused::Unsafe)? + 1,
        _ => return Err(Refused::Unsafe),
    };
    let starts = |line: &str| match &entry.slot {
        Slot::Member(name) => line.trim_start().strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(':')),
        Slot::Item => line.trim_start().starts_with('-'),
    };
    for first in (from..lines.len()).filter(|&line| starts(lines[line])) {
        let last = end_of_block(&lines, first);
        let without = [lines[..first].concat(), lines[last..].concat()].concat();
        if read(&without).is_ok_and(|now| now == wanted) {
            return Ok(without);
        }
        // A key without a block is null, which the program may not take.
        let Some(key) = entry.path.first() else { continue };
        let (head, rest) = lines[from - 1].split_at(key.len() + 1);
        let empty = if entry.slot == Slot::Item { " []" } else { " {}" };
        let above = [&lines[..from - 1].concat(), head, empty, rest].concat();
        let emptied = [above, lines[from..first].concat(), lines[last..].concat()].concat();
        if read(&emptied).is_ok_and(|now| now == wanted) {
            return Ok(emptied);
        }
    }
    Err(Refused::Unsafe)
}

/// The line after the block that begins at `first`; blank lines and comments before it are not part of the block.
fn end_of_block(lines: &[&str], first: usize) -> usize {
    let depth = indent(lines[first]);
    let is_next = |line: &&str| !is_blank(line) && indent(line) <= depth;
    let mut last = lines[first + 1..].iter().position(is_next).map_or(lines.len(), |next| first + 1 + next);
    while last > first + 1 && is_blank(lines[last - 1]) {
        last -= 1;
    }
    last
}
