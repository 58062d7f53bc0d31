//! Files and folders as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::files::MemoryFile;
use super::path::MemoryPath;
use crate::wire::Int;

/// Columns of a line number.
const NUMBER: usize = 6;
/// Lines before and after a change.
const AROUND: usize = 2;
/// How deep a folder is listed.
const DEPTH: usize = 2;
/// Most entries of a folder.
const LISTED: usize = 1_000;

/// A file with line numbers: all of it, or from the first line of `range` to the last, where -1 is the end.
pub fn file(path: &MemoryPath, text: &str, range: Option<&[Int]>) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let (from, to) = match range {
        Some(&[Int(from), Int(to)]) => {
            let from = usize::try_from(from.max(1)).unwrap_or(usize::MAX);
            (from, if to == -1 { lines.len() } else { usize::try_from(to).unwrap_or(0).min(lines.len()) })
        }
        _ => (1, lines.len()),
    };
    format!("Here's the content of {} with line numbers:\n{}", path.as_str(), numbered(&lines, from, to))
}

/// The lines around line `at`, from 0.
pub fn around(text: &str, at: usize) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    numbered(&lines, (at + 1).saturating_sub(AROUND).max(1), (at + 1 + AROUND).min(lines.len()))
}

/// Lines `from` to `to`, from 1.
fn numbered(lines: &[&str], from: usize, to: usize) -> String {
    let lines = lines.get(from - 1..to).unwrap_or_default().iter();
    let lines = (from..).zip(lines).map(|(number, line)| format!("{number:>NUMBER$}\t{line}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A folder with its files and folders, two levels deep.
pub fn folder(path: &MemoryPath, below: &[MemoryFile]) -> String {
    // A file may have the path of a folder, if two machines have made them.
    let mut entries: BTreeMap<(Vec<&str>, bool), usize> = BTreeMap::new();
    let mut sum = 0;
    for MemoryFile { path: file, record } in below {
        let size = record.content.len();
        sum += size;
        let parts: Vec<&str> = file[path.as_str().len() + 1..].split('/').collect();
        let shown = parts.iter().take(DEPTH).take_while(|part| !part.starts_with('.') && **part != "node_modules");
        for depth in 1..=shown.count() {
            *entries.entry((parts[..depth].to_vec(), depth < parts.len())).or_default() += size;
        }
    }
    let name = path.as_str();
    let mut text = format!(
        "Here're the files and directories up to 2 levels deep in {name}, excluding hidden items and node_modules:\n{}\t{name}",
        in_units(sum)
    );
    for ((parts, is_folder), size) in entries.iter().take(LISTED) {
        let mark = if *is_folder { "/" } else { "" };
        let _ = write!(text, "\n{}\t{name}/{}{mark}", in_units(*size), parts.join("/"));
    }
    if entries.len() > LISTED {
        let _ = write!(text, "\n... and {} more", entries.len() - LISTED);
    }
    text
}

/// Says that all memories can be searched, if there are any.
pub fn searches(memories: u64) -> String {
    match memories {
        0 => String::new(),
        1 => "\n(view /memories/search/WORDS to search 1 memory)".to_owned(),
        _ => format!("\n(view /memories/search/WORDS to search {memories} memories)"),
    }
}

/// Bytes as `du -h` shows them: 512B, 1.5K, 2M.
fn in_units(bytes: usize) -> String {
    let (mut size, mut unit) = (bytes as f64, 0);
    while size >= 1024.0 && unit < 3 {
        (size, unit) = (size / 1024.0, unit + 1);
    }
    let unit = ["B", "K", "M", "G"][unit];
    if size.fract() == 0.0 { format!("{size}{unit}") } else { format!("{size:.1}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let sizes = [0, 1, 512, 1_023, 1_024, 1_536, 1_700, 2 << 20, 3 << 29].map(in_units);
        assert_eq!(sizes, ["0B", "1B", "512B", "1023B", "1K", "1.5K", "1.7K", "2M", "1.5G"]);
    }
}
