//! Transcripts that have changed, as hooks of clients say: noted in a file of the store's folder, one path a line as JSON,
//! until they are read. A note is no permission: a path is never opened because it is noted here. It only says which
//! sources to look at.
//!
//! A reader renames the file first, so that paths that hooks note meanwhile are not taken for read. Files that a reader took and
//! did not finish are taken by the next one.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::time::SystemTime;

use memorist_durable::LockedFile;
use memorist_engine::Engine;
use memorist_engine::paths::StorePaths;
use memorist_engine::sensitive::is_secret;
use memorist_engine::types::{Source, SourceId, SourceKind};

/// Maximum size of the file: some hundred paths. Further ones are not noted; the next `memorist sync` looks at all.
const MOST_BYTES: u64 = 64 << 10;
/// Prefix of the name of a file that a reader has taken.
const TAKEN: &str = "transcripts-";
/// The lock of the reader of noted transcripts.
const LOCK: &str = "reading.lock";

/// The file of noted transcripts of a store.
#[derive(Debug, Clone)]
pub struct Noted {
    store: PathBuf,
    folder: PathBuf,
    file: PathBuf,
}

/// Notes that are being read. Unless they are [forgotten](Taken::forget), the next one who takes notes gets them, too.
#[derive(Debug)]
pub struct Taken {
    /// The files and their contents.
    files: Vec<(PathBuf, String)>,
}

impl Noted {
    /// The file of the store in this folder.
    pub fn of(store: &Path) -> Self {
        let folder = StorePaths::new(store).hooks();
        Noted { store: store.to_owned(), file: folder.join("transcripts"), folder }
    }

    /// Whether a source of the store has this transcript. The path of another one is not kept, nor is a path that has a secret,
    /// which no source reads.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn is_wanted(&self, transcript: &Path) -> memorist_engine::Result<bool> {
        if transcript.to_str().is_none_or(is_secret) {
            return Ok(false);
        }
        let sources = memorist_engine::sources(&self.store)?;
        Ok(sources.iter().any(|source| has(source, transcript)))
    }

    /// Notes a transcript, once. The folder must exist.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn note(&self, transcript: &Path) -> io::Result<()> {
        let Some(transcript) = transcript.to_str() else { return Ok(()) };
        let line = serde_json::to_string(transcript)?;
        let noted = read(&self.file)?.unwrap_or_default();
        if noted.lines().any(|other| other == line) || (noted.len() + line.len()) as u64 >= MOST_BYTES {
            return Ok(());
        }
        // What another process left half written ends here. A line is written at once, so that none tears another.
        let end = if noted.is_empty() || noted.ends_with('\n') { "" } else { "\n" };
        let mut file = private(OpenOptions::new().append(true).create(true), &self.file)?;
        file.write_all(format!("{end}{line}\n").as_bytes())
    }

    /// Whether a transcript is noted, or was taken and not finished.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn is_any(&self) -> io::Result<bool> {
        Ok(self.file.try_exists()? || !self.taken()?.is_empty())
    }

    /// Locks the reading of noted transcripts. `None` if another process has the lock, which looks for new notes after it has
    /// released it.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn alone(&self) -> io::Result<Option<LockedFile>> {
        // Windows locks no file that is opened to append alone.
        let mut options = OpenOptions::new();
        LockedFile::try_lock(private(options.read(true).append(true).create(true), &self.folder.join(LOCK))?)
    }

    /// Takes the notes, and those that another reader took and did not finish.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn take(&self) -> io::Result<Taken> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let own = self.folder.join(format!("{TAKEN}{}-{}", process::id(), now.as_nanos()));
        unless_missing(fs::rename(&self.file, own))?;
        let mut files = Vec::new();
        for file in self.taken()? {
            // Another process may have finished it by now.
            if let Some(text) = read(&file)? {
                files.push((file, text));
            }
        }
        Ok(Taken { files })
    }

    fn taken(&self) -> io::Result<Vec<PathBuf>> {
        let Some(entries) = unless_missing(fs::read_dir(&self.folder))? else { return Ok(Vec::new()) };
        let files: Vec<_> = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
        let is_taken =
            |file: &PathBuf| file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(TAKEN.as_bytes()));
        Ok(files.into_iter().filter(is_taken).collect())
    }
}

impl Taken {
    /// The transcripts. Invalid lines are left out.
    pub fn paths(&self) -> BTreeSet<PathBuf> {
        let lines = self.files.iter().flat_map(|(_, text)| text.lines());
        lines.filter_map(|line| serde_json::from_str::<String>(line).ok()).map(PathBuf::from).collect()
    }

    /// The sources that these transcripts are in. Nothing else is read: a user who has added no source, or has removed it, does
    /// not want it.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn sources(&self, engine: &Engine) -> memorist_engine::Result<Vec<SourceId>> {
        let transcripts = self.paths();
        let mut sources = engine.sources()?;
        sources.retain(|source| transcripts.iter().any(|transcript| has(source, transcript)));
        Ok(sources.into_iter().map(|source| source.id).collect())
    }

    /// Forgets them, once they are read.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn forget(self) -> io::Result<()> {
        for (file, text) in self.files {
            // A hook that had opened it before it was taken may have written since: then the next one takes it up.
            if read(&file)?.is_some_and(|now| now == text) {
                unless_missing(fs::remove_file(&file))?;
            }
        }
        Ok(())
    }
}

/// Whether a source has this transcript.
fn has(source: &Source, transcript: &Path) -> bool {
    let root = Path::new(&source.source.path);
    // A source is listed without links.
    let folder = || transcript.parent().and_then(|folder| dunce::canonicalize(folder).ok());
    source.source.kind == SourceKind::Sessions
        && (transcript.starts_with(root) || folder().is_some_and(|folder| folder.starts_with(root)))
}

/// The text of a file of notes; `None` if it does not exist.
fn read(file: &Path) -> io::Result<Option<String>> {
    let Some(file) = unless_missing(memorist_durable::open_plain(file))? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

fn unless_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

fn private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use memorist_engine::config::Config;
    use memorist_engine::types::{NewSource, Scope};
    use tempfile::TempDir;

    use super::*;

    fn store() -> (TempDir, Noted) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("hooks")).unwrap();
        let noted = Noted::of(folder.path());
        (folder, noted)
    }

    fn path(number: usize) -> PathBuf {
        format!("/home/ana/.claude/projects/-p/{number}\n\"x.jsonl").into()
    }

    fn paths<const N: usize>(numbers: [usize; N]) -> BTreeSet<PathBuf> {
        numbers.into_iter().map(path).collect()
    }

    #[test]
    fn a_second_reader_gets_no_lock_until_the_first_releases_it() {
        let (_folder, noted) = store();
        let alone = noted.alone().unwrap().expect("nobody reads");
        assert!(noted.alone().unwrap().is_none());
        drop(alone);
        assert!(noted.alone().unwrap().is_some());
        assert!(!noted.is_any().unwrap(), "its lock is no note");
    }

    #[test]
    fn a_transcript_is_noted_once_and_forgotten_when_it_is_read() {
        let (folder, noted) = store();
        assert!(!noted.is_any().unwrap() && noted.take().unwrap().paths().is_empty());
        for number in [1, 2, 1, 2] {
            noted.note(&path(number)).unwrap();
        }
        assert_eq!(read(&noted.file).unwrap().unwrap().lines().count(), 2);
        let taken = noted.take().unwrap();
        assert_eq!(taken.paths(), paths([1, 2]));
        // It goes on while it is read.
        for number in [1, 3] {
            noted.note(&path(number)).unwrap();
        }
        taken.forget().unwrap();
        let taken = noted.take().unwrap();
        assert_eq!(taken.paths(), paths([1, 3]), "noted meanwhile");
        taken.forget().unwrap();
        assert!(!noted.is_any().unwrap());
        assert_eq!(fs::read_dir(folder.path().join("hooks")).unwrap().count(), 0);
    }

    #[test]
    fn unfinished_notes_are_taken_again() {
        let (_folder, noted) = store();
        noted.note(&path(1)).unwrap();
        drop(noted.take().unwrap());
        assert!(noted.is_any().unwrap());
        noted.note(&path(2)).unwrap();
        let (one, other) = (noted.take().unwrap(), noted.take().unwrap());
        assert_eq!((one.paths(), other.paths()), (paths([1, 2]), paths([1, 2])));
        one.forget().unwrap();
        other.forget().unwrap();
        assert!(!noted.is_any().unwrap());
    }

    /// A hook that has opened the file writes into it also under its new name.
    #[test]
    fn a_note_written_after_the_file_was_taken_is_kept() {
        let (_folder, noted) = store();
        noted.note(&path(1)).unwrap();
        let mut hook = OpenOptions::new().append(true).open(&noted.file).unwrap();
        let taken = noted.take().unwrap();
        writeln!(hook, "{}", serde_json::to_string(&path(2)).unwrap()).unwrap();
        taken.forget().unwrap();
        assert_eq!(noted.take().unwrap().paths(), paths([1, 2]));
    }

    #[test]
    fn no_more_than_some_hundred_are_noted() {
        let (_folder, noted) = store();
        let long = "x".repeat(1_000);
        for number in 0..200 {
            noted.note(&Path::new("/").join(format!("{long}{number}"))).unwrap();
        }
        assert!(fs::metadata(&noted.file).unwrap().len() <= MOST_BYTES);
        assert!(noted.take().unwrap().paths().len() > 50);
    }

    #[test]
    fn invalid_lines_are_skipped() {
        let (_folder, noted) = store();
        fs::write(&noted.file, b"\xFF\n{}\n7\n\"/half").unwrap();
        noted.note(&path(1)).unwrap();
        assert_eq!(noted.take().unwrap().paths(), paths([1]));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_or_a_pipe_is_not_read() {
        let (folder, noted) = store();
        fs::write(folder.path().join("secret"), "\"/secret\"\n").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), &noted.file).unwrap();
        assert!(noted.note(&path(1)).is_err() && noted.take().is_err());
        assert_eq!(fs::read_to_string(folder.path().join("secret")).unwrap(), "\"/secret\"\n");
    }

    /// Notes of hooks lead to sources that were added, and nowhere else.
    #[test]
    fn a_folder_without_a_store_stays_without_one() {
        let (folder, noted) = store();
        assert!(!noted.is_wanted(&path(1)).unwrap());
        assert!(!folder.path().join("memory.db").exists());
    }

    #[test]
    fn only_sources_of_sessions_are_read() {
        let (folder, noted) = store();
        let engine = Engine::open(folder.path(), Config::without_model()).unwrap();
        let home = dunce::canonicalize(folder.path()).unwrap();
        let add = |name: &str, kind, format: Option<&str>| {
            fs::create_dir_all(home.join(name)).unwrap();
            let path = home.join(name).to_str().unwrap().to_owned();
            let new =
                NewSource { kind, path, format: format.map(str::to_owned), globs: vec![], scope: Scope::default() };
            engine.add_source(&new).unwrap().0
        };
        let sessions = add("projects", SourceKind::Sessions, Some("claude-code"));
        add("notes", SourceKind::Notes, None);
        let found = |path: PathBuf| {
            noted.note(&path).unwrap();
            let taken = noted.take().unwrap();
            let found = taken.sources(&engine).unwrap();
            taken.forget().unwrap();
            found
        };
        assert_eq!(found(home.join("projects/p/S.jsonl")), [sessions]);
        for other in ["notes/S.jsonl", "elsewhere/S.jsonl", "projects2/S.jsonl"] {
            assert_eq!(found(home.join(other)), [], "{other}");
        }
        assert_eq!(noted.take().unwrap().sources(&engine).unwrap(), []);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(home.join("projects"), home.join("link")).unwrap();
            assert_eq!(found(home.join("link/S.jsonl")), [sessions], "a home folder may be a link");
        }
    }
}
