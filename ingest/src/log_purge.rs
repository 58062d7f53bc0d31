//! Removes lines of the daily log that repeat purged memories.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::{fs, str};

use memorist_engine::PurgeText;
use memorist_engine::text::one_line;

use crate::daily_log::{DailyLog, LOCK_TIMEOUT, lock};
use crate::log_lines::{is_day, of_memory};

/// Contents that are removed from the log.
pub struct LogPurge<'a> {
    /// The beginnings of the contents of purged memories.
    pub beginnings: &'a BTreeSet<String>,
    pub text: Option<&'a str>,
}

impl DailyLog {
    /// Removes the lines that were written for purged memories, or that have the text. Lines that people wrote are not touched:
    /// returns the files that still have the text, and those that cannot be changed.
    pub fn purge(&self, purge: &LogPurge<'_>) -> Vec<PathBuf> {
        let texts = purge.text.map(|text| [PurgeText::new(text), PurgeText::new(&one_line(text, usize::MAX))]);
        let purge = Lines { beginnings: purge.beginnings, texts };
        let files = match fs::read_dir(&self.folder) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
            Err(_) => return vec![self.folder.clone()],
        };
        let days = files.flatten().map(|file| file.path()).filter(|path| is_day(path));
        let mut left: Vec<PathBuf> = days.filter(|path| purge.file(path).unwrap_or(true)).collect();
        left.sort();
        left
    }
}

struct Lines<'a> {
    beginnings: &'a BTreeSet<String>,
    /// The text as it is, and on one line.
    texts: Option<[PurgeText; 2]>,
}

impl Lines<'_> {
    /// Removes lines from a file. Returns whether it still has the text.
    fn file(&self, path: &Path) -> io::Result<bool> {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let _lock = lock(&file, path, LOCK_TIMEOUT)?;
        let mut before = Vec::new();
        file.read_to_end(&mut before)?;
        let lines = before.split_inclusive(|byte| *byte == b'\n');
        let after: Vec<u8> = lines.filter(|line| !self.is_gone(line)).flatten().copied().collect();
        if after != before {
            // In its place, for who waits to write a line has it open. What is overwritten stands further up by then, so that a
            // process that is killed here leaves lines twice, and loses none.
            let kept = after.iter().zip(&before).take_while(|(now, then)| now == then).count();
            file.seek(SeekFrom::Start(kept as u64))?;
            file.write_all(&after[kept..])?;
            file.set_len(after.len() as u64)?;
            file.sync_all()?;
        }
        Ok(self.has_text(&String::from_utf8_lossy(&after)))
    }

    /// Whether a line was written by the log and is to be removed.
    fn is_gone(&self, line: &[u8]) -> bool {
        let line = str::from_utf8(line).ok().and_then(|line| of_memory(line.trim_end()));
        line.is_some_and(|line| self.is_of_purged(line) || self.has_text(line))
    }

    /// Whether it repeats a purged memory. Its source label may have a bracket, too.
    fn is_of_purged(&self, line: &str) -> bool {
        line.match_indices(") ").any(|(at, bracket)| self.beginnings.contains(&line[at + bracket.len()..]))
    }

    fn has_text(&self, text: &str) -> bool {
        self.texts.iter().flatten().any(|purged| purged.is_in(text))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::tz::TimeZone;

    use super::*;

    fn log(folder: &Path) -> DailyLog {
        DailyLog::new(folder, TimeZone::UTC)
    }

    fn append(log: &DailyLog, content: &str, source: &str) {
        let at: Timestamp = "2026-02-03T12:30:00Z".parse().unwrap();
        log.append(content, "fact", source, at).unwrap();
    }

    fn purge(log: &DailyLog, beginnings: &[&str], text: Option<&str>) -> Vec<PathBuf> {
        let beginnings = beginnings.iter().map(|beginning| one_line(beginning, crate::daily_log::CONTENT)).collect();
        log.purge(&LogPurge { beginnings: &beginnings, text })
    }

    /// 39.6
    #[test]
    fn lines_of_what_was_purged_go_and_those_of_people_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(folder.path());
        assert_eq!(purge(&log, &["a"], Some("a")), Vec::<PathBuf>::new());
        let cut = format!("{} kestrel vault", "x".repeat(190));
        for (content, source) in
            [("kept", "manual"), ("a kestrel\n vault", "a) b"), (&*cut, "manual"), ("kept too", "kestrel vault")]
        {
            append(&log, content, source);
        }
        let path = folder.path().join("2026-02-03.md");
        let header = "# 2026-02-03\n\n- **12:30:00** [fact] (manual) kept\n";
        let theirs = "- my own [note] on a kestrel vault\n- **bold** [x] (y) kestrel vault\nno line end";
        fs::write(&path, fs::read_to_string(&path).unwrap() + theirs).unwrap();
        fs::write(folder.path().join("notes.md"), "kestrel vault").unwrap();
        assert_eq!(purge(&log, &[&cut], Some("kestrel vault")), [&*path]);
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{header}{theirs}"));
        append(&log, "last", "manual");
        assert_eq!(purge(&log, &["kept", "las"], None), Vec::<PathBuf>::new());
        let left = format!("# 2026-02-03\n\n{theirs}\n- **12:30:00** [fact] (manual) last\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), left);
    }

    /// 39.6
    #[test]
    fn a_file_that_another_program_has_locked_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(folder.path());
        append(&log, "kestrel", "manual");
        let path = folder.path().join("2026-02-03.md");
        let locked = memorist_durable::LockedFile::lock(OpenOptions::new().write(true).open(&path).unwrap()).unwrap();
        assert_eq!(purge(&log, &["kestrel"], None), [&*path]);
        drop(locked);
        assert_eq!(purge(&log, &["kestrel"], None), Vec::<PathBuf>::new());
    }
}
