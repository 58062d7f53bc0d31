//! Transcripts that have changed, as hooks of clients say: noted in a file of the store's folder, one path a line as JSON,
//! until they are read. A note is no permission: a path is never opened because it is noted here. It only says which
//! sources to look at.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use memorist_engine::Engine;
use memorist_engine::paths::StorePaths;
use memorist_engine::types::{SourceId, SourceKind};

/// The file has at most so many bytes: some hundred paths. Nothing is lost beyond: the next `memorist sync` looks at all.
const MOST_BYTES: u64 = 64 << 10;

/// The file of a store.
#[derive(Debug, Clone)]
pub struct Noted {
    file: PathBuf,
}

impl Noted {
    /// That of the store in this folder.
    pub fn of(store: &Path) -> Self {
        Noted { file: StorePaths::new(store).hooks().join("transcripts") }
    }

    /// Notes a transcript, once. The folder must be there.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn note(&self, transcript: &Path) -> io::Result<()> {
        let Some(transcript) = transcript.to_str() else { return Ok(()) };
        let line = serde_json::to_string(transcript)?;
        let noted = self.read()?;
        if noted.lines().any(|other| other == line) || (noted.len() + line.len()) as u64 >= MOST_BYTES {
            return Ok(());
        }
        // What another process left half written ends here. A line is written at once, so that none tears another.
        let end = if noted.is_empty() || noted.ends_with('\n') { "" } else { "\n" };
        let mut file = private(OpenOptions::new().append(true).create(true), &self.file)?;
        file.write_all(format!("{end}{line}\n").as_bytes())
    }

    /// The transcripts. What is no path is left out.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn paths(&self) -> io::Result<BTreeSet<PathBuf>> {
        let noted = self.read()?;
        let paths = noted.lines().filter_map(|line| serde_json::from_str::<String>(line).ok());
        Ok(paths.map(PathBuf::from).collect())
    }

    /// The sources that these transcripts are in. Nothing else is read: whoever has added no source, or has removed it, does
    /// not want it.
    ///
    /// # Errors
    /// Those of the store.
    pub fn sources(&self, engine: &Engine, transcripts: &BTreeSet<PathBuf>) -> memorist_engine::Result<Vec<SourceId>> {
        let mut sources = engine.sources()?;
        sources.retain(|source| source.source.kind == SourceKind::Sessions);
        let is_in = |root: &str| {
            let root = Path::new(root);
            transcripts.iter().any(|transcript| {
                // A source is listed without links.
                let folder = transcript.parent().and_then(|folder| fs::canonicalize(folder).ok());
                transcript.starts_with(root) || folder.is_some_and(|folder| folder.starts_with(root))
            })
        };
        sources.retain(|source| is_in(&source.source.path));
        Ok(sources.into_iter().map(|source| source.id).collect())
    }

    /// Forgets these, once they are read; those that were noted meanwhile stay.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn forget(&self, read: &BTreeSet<PathBuf>) -> io::Result<()> {
        let left: BTreeSet<PathBuf> = self.paths()?.difference(read).cloned().collect();
        if left.is_empty() {
            return match fs::remove_file(&self.file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let lines: Vec<String> =
            left.iter().map(|path| serde_json::to_string(path).map(|line| line + "\n")).collect::<Result<_, _>>()?;
        memorist_durable::replace(&self.file, lines.concat().as_bytes()).map_err(io::Error::other)
    }

    fn read(&self) -> io::Result<String> {
        let file = match memorist_durable::open_plain(&self.file) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
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

    #[test]
    fn a_transcript_is_noted_once_and_forgotten_when_it_is_read() {
        let (_folder, noted) = store();
        assert_eq!(noted.paths().unwrap(), BTreeSet::new());
        for number in [1, 2, 1, 2] {
            noted.note(&path(number)).unwrap();
        }
        let read = noted.paths().unwrap();
        assert_eq!((read.len(), noted.read().unwrap().lines().count()), (2, 2));
        noted.note(&path(3)).unwrap();
        noted.forget(&read).unwrap();
        assert_eq!(noted.paths().unwrap(), BTreeSet::from([path(3)]), "noted meanwhile");
        noted.forget(&BTreeSet::from([path(3)])).unwrap();
        noted.forget(&BTreeSet::from([path(3)])).unwrap();
        assert!(!noted.file.exists());
    }

    #[test]
    fn no_more_than_some_hundred_are_noted() {
        let (_folder, noted) = store();
        let long = "x".repeat(1_000);
        for number in 0..200 {
            noted.note(&Path::new("/").join(format!("{long}{number}"))).unwrap();
        }
        assert!(fs::metadata(&noted.file).unwrap().len() <= MOST_BYTES);
        assert!(noted.paths().unwrap().len() > 50);
    }

    #[test]
    fn what_is_broken_is_passed_over() {
        let (_folder, noted) = store();
        fs::write(&noted.file, b"\xFF\n{}\n7\n\"/half").unwrap();
        assert_eq!(noted.paths().unwrap(), BTreeSet::new());
        noted.note(&path(1)).unwrap();
        assert_eq!(noted.paths().unwrap(), BTreeSet::from([path(1)]));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_or_a_pipe_is_not_read() {
        let (folder, noted) = store();
        fs::write(folder.path().join("secret"), "\"/secret\"\n").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), &noted.file).unwrap();
        assert!(noted.paths().is_err() && noted.note(&path(1)).is_err());
        assert_eq!(fs::read_to_string(folder.path().join("secret")).unwrap(), "\"/secret\"\n");
    }

    /// What a hook notes leads to the sources that somebody has added, and nowhere else.
    #[test]
    fn only_sources_of_sessions_are_read() {
        let (folder, noted) = store();
        let engine = Engine::open(folder.path(), Config::without_model()).unwrap();
        let home = fs::canonicalize(folder.path()).unwrap();
        let add = |name: &str, kind, format: Option<&str>| {
            fs::create_dir_all(home.join(name)).unwrap();
            let path = home.join(name).to_str().unwrap().to_owned();
            let new =
                NewSource { kind, path, format: format.map(str::to_owned), globs: vec![], scope: Scope::default() };
            engine.add_source(&new).unwrap().0
        };
        let sessions = add("projects", SourceKind::Sessions, Some("claude-code"));
        add("notes", SourceKind::Notes, None);
        let found = |path: PathBuf| noted.sources(&engine, &BTreeSet::from([path])).unwrap();
        assert_eq!(found(home.join("projects/p/S.jsonl")), [sessions]);
        for other in ["notes/S.jsonl", "elsewhere/S.jsonl", "projects2/S.jsonl"] {
            assert_eq!(found(home.join(other)), [], "{other}");
        }
        assert_eq!(noted.sources(&engine, &BTreeSet::new()).unwrap(), []);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(home.join("projects"), home.join("link")).unwrap();
            assert_eq!(found(home.join("link/S.jsonl")), [sessions], "a home folder may be a link");
        }
    }
}
