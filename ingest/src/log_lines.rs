//! The lines that a daily log has of memories, among those that people write in the same file.

use std::path::Path;

use jiff::civil::Date;

/// Whether a file has the name of a day, as those of a daily log do.
pub fn is_day(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    path.extension().is_some_and(|end| end == "md") && stem.is_some_and(|stem| stem.parse::<Date>().is_ok())
}

/// The rest of a memory's line after its time: `[kind] (source) content`.
pub fn of_memory(line: &str) -> Option<&str> {
    let (time, rest) = line.strip_prefix("- **")?.split_once("** ")?;
    let is_time = time.len() == 8 && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    (is_time && rest.starts_with('[') && rest.contains("] (")).then_some(rest)
}

/// A file of a daily log without its lines of memories.
#[derive(Debug, PartialEq, Eq)]
pub struct Written {
    /// Its text, with an empty line for each memory; empty if nothing but the header of the day is left.
    pub text: String,
    /// Lines of memories.
    pub memories: u64,
}

/// Leaves the lines of memories out of a file: what they say is saved already. `None` if it has none.
pub fn without_memories(path: &Path, text: &str) -> Option<Written> {
    if !is_day(path) {
        return None;
    }
    let mut written = Written { text: String::with_capacity(text.len()), memories: 0 };
    for line in text.split_inclusive('\n') {
        let is_memory = of_memory(line.trim_end()).is_some();
        written.memories += u64::from(is_memory);
        written.text.push_str(if !is_memory {
            line
        } else if line.ends_with('\n') {
            "\n"
        } else {
            ""
        });
    }
    let is_header = |text: &str| text.strip_prefix("# ").is_some_and(|day| day.parse::<Date>().is_ok());
    if is_header(written.text.trim()) {
        written.text.clear();
    }
    (written.memories > 0).then_some(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_memories_in_the_file_of_a_day_are_left_out() {
        let day = Path::new("/log/2026-02-03.md");
        let memory = "- **14:30:00** [fact] (manual) The lamp is green\n";
        let text = format!("# 2026-02-03\n\n{memory}Called Ben.\n- **Important** [x] (y)\n{memory}");
        let written = without_memories(day, &text).unwrap();
        assert_eq!(
            written.text, "# 2026-02-03\n\n\nCalled Ben.\n- **Important** [x] (y)\n\n",
            "lines keep their numbers"
        );
        assert_eq!(written.memories, 2);
        assert_eq!(without_memories(Path::new("/log/notes.md"), &text), None);
        assert_eq!(without_memories(day, "# 2026-02-03\n\nCalled Ben.\n"), None);
        let written = without_memories(day, &format!("# 2026-02-03\n\n{}", memory.trim_end())).unwrap();
        assert_eq!(written, Written { text: String::new(), memories: 1 });
    }
}
