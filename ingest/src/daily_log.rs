//! The daily log: a file a day, with a line for each memory saved.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use memorist_durable::LockedFile;
use memorist_engine::text::one_line;
use memorist_engine::types::Purged;
use parking_lot::Mutex;

use crate::lock::retry;
use crate::note::SOURCE;

/// Characters of a memory in its line.
pub(crate) const CONTENT: usize = Purged::BEGINNING;
/// Characters of its source label.
const LABEL: usize = 60;
/// How long a line waits for another program that has locked the file.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// Writes the files `YYYY-MM-DD.md` of a folder, by the days of a time zone.
#[derive(Debug)]
pub struct DailyLog {
    pub(crate) folder: PathBuf,
    zone: TimeZone,
    /// The last day whose file existed.
    last: Mutex<Option<Date>>,
    /// Whether the last line did not get the lock: the next does not wait.
    is_locked: AtomicBool,
}

impl DailyLog {
    /// A log in this folder, which need not exist.
    pub fn new(folder: impl Into<PathBuf>, zone: TimeZone) -> Self {
        DailyLog { folder: folder.into(), zone, last: Mutex::default(), is_locked: AtomicBool::default() }
    }

    /// The file of a day, or of today.
    pub fn path(&self, date: Option<Date>) -> PathBuf {
        let date = date.unwrap_or_else(|| self.local(Timestamp::now()).date());
        self.folder.join(format!("{date}.md"))
    }

    /// Returns the file of a day, or of today; creates it with its header, and its folder, if they do not exist.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn ensure(&self, date: Option<Date>) -> io::Result<PathBuf> {
        let date = date.unwrap_or_else(|| self.local(Timestamp::now()).date());
        let path = self.path(Some(date));
        if *self.last.lock() != Some(date) {
            create(&self.folder, &path, &format!("# {date}\n\n"))?;
            *self.last.lock() = Some(date);
        }
        Ok(path)
    }

    /// Adds a line, unless the memory was read from a file: that file may be one of the log.
    ///
    /// # Errors
    /// If another program keeps the file locked, or it is no regular file; errors of the file system.
    pub fn append(&self, content: &str, kind: &str, source: &str, at: Timestamp) -> io::Result<()> {
        if source == SOURCE {
            return Ok(());
        }
        let at = self.local(at);
        let (source, content) = (one_line(source, LABEL), one_line(content, CONTENT));
        let line = format!("- **{}** [{kind}] ({source}) {content}\n", at.strftime("%H:%M:%S"));
        let path = self.ensure(Some(at.date()))?;
        let timeout = if self.is_locked.load(Ordering::Relaxed) { Duration::ZERO } else { LOCK_TIMEOUT };
        let written = match write(&path, &line, timeout) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // It was deleted since.
                *self.last.lock() = None;
                write(&self.ensure(Some(at.date()))?, &line, timeout)
            }
            written => written,
        };
        let is_locked = written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        self.is_locked.store(is_locked, Ordering::Relaxed);
        written
    }

    fn local(&self, at: Timestamp) -> Zoned {
        at.to_zoned(self.zone.clone())
    }
}

/// Creates a file with its header, unless it is there. It appears with the header: another process appends to it at once.
fn create(folder: &Path, path: &Path, header: &str) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    create_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(header.as_bytes())?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
        _ => Ok(()),
    }
}

/// Creates a folder that only its owner can read: it will have contents of the store.
///
/// # Errors
/// Errors of the file system.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Appends a line under a lock and in one write, so that lines of several processes do not mix.
fn write(path: &Path, line: &str, timeout: Duration) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other(format!("{} is not a regular file", path.display())));
    }
    let _lock = lock(&file, path, timeout)?;
    // People edit it, too.
    let line = if ends_a_line(&mut file)? { line.to_owned() } else { format!("\n{line}") };
    file.write_all(line.as_bytes())
}

/// Locks the file until the guard is dropped. `None` where the file system has no locks: a file that another process writes may
/// seem to end within a line then, which costs an empty line.
///
/// # Errors
/// [`WouldBlock`](io::ErrorKind::WouldBlock) while another program keeps it locked.
pub(crate) fn lock(file: &File, path: &Path, timeout: Duration) -> io::Result<Option<LockedFile>> {
    let end = Instant::now() + timeout;
    match retry(|| LockedFile::try_lock(file.try_clone()?), || Instant::now() >= end) {
        Ok(None) => {
            let why = format!("another program has locked {}", path.display());
            Err(io::Error::new(io::ErrorKind::WouldBlock, why))
        }
        Ok(guard) => Ok(guard),
        Err(error) => {
            tracing::debug!("{} is not locked: {error}", path.display());
            Ok(None)
        }
    }
}

fn ends_a_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn at(time: &str) -> Timestamp {
        time.parse().unwrap()
    }

    fn log(folder: &Path) -> DailyLog {
        DailyLog::new(folder.join("memory"), TimeZone::fixed(jiff::tz::offset(2)))
    }

    /// F1, F2, F3.
    #[test]
    fn a_memory_is_a_line_of_its_day() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(folder.path());
        log.append("User prefers\r\n dark\tmode", "preference", "manual", at("2026-02-03T12:30:00Z")).unwrap();
        let path = folder.path().join("memory/2026-02-03.md");
        let text = || fs::read_to_string(&path).unwrap();
        assert_eq!(text(), "# 2026-02-03\n\n- **14:30:00** [preference] (manual) User prefers dark mode\n");
        assert_eq!(log.path(Some(jiff::civil::date(2026, 2, 3))), path);
        log.append(&"\u{e9}".repeat(300), "fact", "a", at("2026-02-03T22:30:00Z")).unwrap();
        let next = fs::read_to_string(folder.path().join("memory/2026-02-04.md")).unwrap();
        assert_eq!(next, format!("# 2026-02-04\n\n- **00:30:00** [fact] (a) {}\n", "\u{e9}".repeat(200)));
        fs::write(&path, "no line end").unwrap();
        log.append("x", "fact", "manual", at("2026-02-03T12:30:00Z")).unwrap();
        assert_eq!(text(), "no line end\n- **14:30:00** [fact] (manual) x\n");
    }

    /// F3: the day is cached, and a file that is deleted comes back.
    #[test]
    fn the_file_of_a_day_is_created_when_it_is_needed() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(folder.path());
        let date = Some(jiff::civil::date(2026, 2, 3));
        let path = log.ensure(date).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "# 2026-02-03\n\n");
        fs::remove_dir_all(folder.path().join("memory")).unwrap();
        assert_eq!(log.ensure(date).unwrap(), path);
        assert!(!path.exists(), "not looked for twice a day");
        log.append("back", "fact", "manual", at("2026-02-03T01:02:03Z")).unwrap();
        assert!(fs::read_to_string(&path).unwrap().starts_with("# 2026-02-03\n\n- **03:02:03** "));
        assert!(log.path(None).ends_with(log.ensure(None).unwrap().file_name().unwrap()), "today");
    }

    /// F4.
    #[test]
    fn memories_read_from_files_are_not_logged() {
        let folder = tempfile::tempdir().unwrap();
        log(folder.path()).append("x", "fact", "file-index", at("2026-02-03T01:02:03Z")).unwrap();
        assert!(!folder.path().join("memory").exists());
    }

    /// 39.5: a line does not wait for ever, and those after it not at all.
    #[test]
    fn a_locked_file_costs_a_moment_and_a_special_one_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(folder.path());
        let append = || log.append("x", "fact", "manual", at("2026-02-03T01:02:03Z"));
        append().unwrap();
        let path = folder.path().join("memory/2026-02-03.md");
        let other = LockedFile::lock(File::open(&path).unwrap()).unwrap();
        let begin = Instant::now();
        assert!(append().unwrap_err().to_string().starts_with("another program has locked "));
        assert!(begin.elapsed() >= LOCK_TIMEOUT);
        assert!(log.is_locked.load(Ordering::Relaxed), "the next does not wait");
        assert!(append().is_err());
        drop(other);
        append().unwrap();
        assert!(!log.is_locked.load(Ordering::Relaxed));
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 4);
        #[cfg(unix)]
        {
            fs::remove_file(&path).unwrap();
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            assert!(append().unwrap_err().to_string().ends_with(" is not a regular file"));
        }
    }

    const LINES: usize = 2_000;
    const PROCESSES: usize = 3;
    const FOLDER: &str = "MEMORIST_LOG_FOLDER";

    fn append_many() {
        let folder = std::env::var_os(FOLDER).unwrap();
        let log = log(Path::new(&folder));
        // All begin at once.
        fs::write(Path::new(&folder).join(format!("ready-{}", std::process::id())), "").unwrap();
        while fs::read_dir(&folder).unwrap().count() < PROCESSES {
            std::thread::yield_now();
        }
        for number in 0..LINES {
            log.append(&format!("{number} {}", "x".repeat(180)), "fact", "manual", at("2026-02-03T01:02:03Z")).unwrap();
        }
    }

    #[test]
    #[ignore = "the next one runs it in processes of their own"]
    fn another_process_appends() {
        append_many();
    }

    /// F2: there is one header, and no line within another.
    #[test]
    fn lines_of_several_processes_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let processes: Vec<_> = (0..PROCESSES)
            .map(|_| {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.args(["--ignored", "--exact", "daily_log::tests::another_process_appends"]);
                command.env(FOLDER, folder.path()).stdout(Stdio::null()).spawn().unwrap()
            })
            .collect();
        for mut process in processes {
            assert!(process.wait().unwrap().success());
        }
        let text = fs::read_to_string(folder.path().join("memory/2026-02-03.md")).unwrap();
        let lines: Vec<&str> = text.strip_prefix("# 2026-02-03\n\n").unwrap().lines().collect();
        assert_eq!(lines.len(), PROCESSES * LINES);
        assert!(lines.iter().all(|line| line.starts_with("- **03:02:03** [fact] (manual) ") && line.ends_with("xx")));
        assert_eq!(fs::read_dir(folder.path().join("memory")).unwrap().count(), 1, "nothing is left behind");
    }
}
