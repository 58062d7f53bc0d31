//! Files that somebody else can write: the only code of this crate and of `ingest` that opens them.
//!
//! A file is opened below the folder of its source, and no link leads out of that folder. Opening waits for nobody: a pipe
//! does not hold it up. Only regular files are read, up to a limit and until a deadline. All of that is checked on the
//! handle that is read, so that a file which is swapped meanwhile gains nothing.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

/// How long the reading of one file may take, unless the caller says otherwise.
const TIMEOUT: Duration = Duration::from_secs(300);

/// When the reading of a file ends early.
#[derive(Debug, Clone)]
pub struct Deadline {
    at: Instant,
    stopped: Arc<AtomicBool>,
}

impl Default for Deadline {
    fn default() -> Self {
        Deadline::of_file(&Arc::default())
    }
}

impl Deadline {
    /// A deadline after `timeout`, or when `stopped` becomes true.
    pub fn after(timeout: Duration, stopped: &Arc<AtomicBool>) -> Self {
        Deadline { at: Instant::now() + timeout, stopped: stopped.clone() }
    }

    /// A deadline after the time that one file may take, or when `stopped` becomes true.
    pub fn of_file(stopped: &Arc<AtomicBool>) -> Self {
        Deadline::after(TIMEOUT, stopped)
    }

    pub fn is_over(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || Instant::now() >= self.at
    }

    /// # Errors
    /// If it is over.
    pub fn check(&self) -> io::Result<()> {
        match () {
            _ if self.stopped.load(Ordering::Relaxed) => Err(io::Error::other("interrupted")),
            _ if self.is_over() => Err(io::Error::new(io::ErrorKind::TimedOut, "reading it took too long")),
            () => Ok(()),
        }
    }
}

/// A folder below which files are opened.
#[derive(Debug)]
pub struct Root {
    folder: Dir,
    path: PathBuf,
    /// Without links.
    real: PathBuf,
}

impl Root {
    /// Opens a folder, or that of a single file.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        let folder = if fs::metadata(&path)?.is_dir() { Some(&*path) } else { path.parent() };
        Root::of_folder(folder.unwrap_or(&path).to_owned())
    }

    /// Opens the folder that a file is in, whatever that file is.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn around(file: &Path) -> io::Result<Self> {
        let file = std::path::absolute(file)?;
        Root::of_folder(file.parent().unwrap_or(&file).to_owned())
    }

    fn of_folder(path: PathBuf) -> io::Result<Self> {
        let folder = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Root { folder, real: dunce::canonicalize(&path)?, path })
    }

    /// Opens a file below the folder to read at most `limit` bytes.
    ///
    /// # Errors
    /// If it leads out of the folder, or is no regular file; errors of the file system.
    pub fn file(&self, path: &Path, limit: u64, deadline: &Deadline) -> io::Result<ForeignFile> {
        deadline.check()?;
        let file = match self.open_below(&self.below(path)?) {
            // A link may name its goal from the root of the file system, and still lead to a place inside.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let real = dunce::canonicalize(self.path.join(path))?;
                self.open_below(real.strip_prefix(&self.real).map_err(|_| outside())?)?
            }
            opened => opened?,
        };
        Ok(Limited::new(file, limit, deadline))
    }

    /// All bytes of a file below the folder.
    ///
    /// # Errors
    /// As [`Root::file`], and if it has more.
    pub fn bytes(&self, path: &Path, limit: u64, deadline: &Deadline) -> io::Result<Vec<u8>> {
        self.file(path, limit, deadline)?.read_all()
    }

    fn below(&self, path: &Path) -> io::Result<PathBuf> {
        let below = path.strip_prefix(&self.path).or_else(|_| path.strip_prefix(&self.real));
        match below {
            Ok(below) => Ok(below.to_owned()),
            Err(_) if path.is_relative() => Ok(path.to_owned()),
            Err(_) => Err(outside()),
        }
    }

    fn open_below(&self, below: &Path) -> io::Result<fs::File> {
        // Opening a device may do something, even if nothing is read.
        if !self.folder.metadata(below)?.is_file() {
            return Err(no_file());
        }
        let file = self.folder.open_with(below, OpenOptions::new().read(true).nonblock(true))?.into_std();
        if file.metadata()?.is_file() { Ok(file) } else { Err(no_file()) }
    }
}

fn outside() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "the link points outside the source folder")
}

fn no_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

/// A regular file of somebody else.
pub type ForeignFile = Limited<fs::File>;

/// Bytes of somebody else. Reading them fails beyond a limit and a deadline.
#[derive(Debug)]
pub struct Limited<R> {
    bytes: R,
    limit: u64,
    left: u64,
    deadline: Deadline,
}

impl<R: Read> Limited<R> {
    pub fn new(bytes: R, limit: u64, deadline: &Deadline) -> Self {
        Limited { bytes, limit, left: limit, deadline: deadline.clone() }
    }

    /// Reads the rest of the bytes.
    ///
    /// # Errors
    /// If they are beyond the limit or the deadline; errors of the file system.
    pub fn read_all(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl ForeignFile {
    /// The metadata of the file.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn metadata(&self) -> io::Result<fs::Metadata> {
        self.bytes.metadata()
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.deadline.check()?;
        // One byte more than allowed says whether there is more.
        let most = usize::try_from(self.left.saturating_add(1)).unwrap_or(usize::MAX).min(bytes.len());
        let read = self.bytes.read(bytes.get_mut(..most).unwrap_or_default())?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                let why = format!("it has more than {} bytes, which is the limit", self.limit);
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
            }
        }
        Ok(read)
    }
}

impl Seek for ForeignFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

/// All bytes of a file that belongs to no source, if it has at most `limit`. No link leads out of the folder that it is in.
///
/// # Errors
/// As [`Root::bytes`].
pub fn lone(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let path = &std::path::absolute(path)?;
    Root::around(path)?.bytes(path, limit, &Deadline::default())
}

/// The place of a file below the folder of its source, and how long it may be read.
#[derive(Debug, Clone, Copy)]
pub struct Foreign<'a> {
    /// The folder of its source.
    pub root: &'a Root,
    /// The file, below that folder.
    pub path: &'a Path,
    /// When its reading ends.
    pub deadline: &'a Deadline,
}

impl Foreign<'_> {
    /// Opens it to read at most `limit` bytes.
    ///
    /// # Errors
    /// As [`Root::file`].
    pub fn open(&self, limit: u64) -> io::Result<ForeignFile> {
        self.root.file(self.path, limit, self.deadline)
    }

    /// The path without links, once it is known to be a regular file below the folder: for a library that opens it by
    /// itself.
    ///
    /// # Errors
    /// As [`Root::file`].
    pub fn checked_path(&self) -> io::Result<PathBuf> {
        drop(self.open(0)?);
        let real = dunce::canonicalize(self.root.path.join(self.path))?;
        if real.starts_with(&self.root.real) { Ok(real) } else { Err(outside()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(root: &Path, path: &Path) -> io::Result<Vec<u8>> {
        Root::open(root)?.bytes(path, 10, &Deadline::default())
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("fits"), "0123456789").unwrap();
        fs::write(root.join("longer"), "0123456789a").unwrap();
        assert_eq!(read(root, &root.join("fits")).unwrap(), b"0123456789");
        assert_eq!(read(root, Path::new("fits")).unwrap(), b"0123456789", "by its path below the folder");
        assert_eq!(read(&root.join("fits"), &root.join("fits")).unwrap(), b"0123456789", "a source may be a file");
        assert_eq!(read(root, &root.join("longer")).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(root, &root.join("gone")).unwrap_err().kind(), io::ErrorKind::NotFound);
        for not in [root.join(".."), root.join("../x"), root.to_owned(), PathBuf::from("/etc/passwd")] {
            assert!(read(root, &not).is_err(), "{not:?}");
        }
    }

    #[test]
    fn a_lone_file_may_be_named_from_the_working_folder() {
        for path in ["Cargo.toml", "src/foreign.rs", "../sources/src/foreign.rs"] {
            assert!(!lone(Path::new(path), 1 << 20).unwrap().is_empty(), "{path}");
        }
    }

    #[test]
    fn reading_ends_at_the_deadline_and_when_it_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "text").unwrap();
        let root = Root::open(folder.path()).unwrap();
        let stopped = Arc::default();
        let mut file = root.file(Path::new("a"), 10, &Deadline::of_file(&stopped)).unwrap();
        stopped.store(true, Ordering::Relaxed);
        assert_eq!(file.read_all().unwrap_err().to_string(), "interrupted");
        let over = Deadline::after(Duration::ZERO, &Arc::default());
        assert_eq!(root.bytes(Path::new("a"), 10, &over).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_inside_and_pipes_and_devices_are_refused() {
        use std::os::unix::fs::symlink;
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "secret").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("a")).unwrap();
        fs::write(root.join("a/text"), "text").unwrap();
        symlink("a/text", root.join("inside")).unwrap();
        symlink(root.join("a/text"), root.join("absolute")).unwrap();
        symlink(root.join("a"), root.join("folder")).unwrap();
        for link in ["inside", "absolute", "folder/text"] {
            assert_eq!(read(root, &root.join(link)).unwrap(), b"text", "{link}");
        }
        let goals =
            [outside.path().join("secret"), "/dev/zero".into(), "/etc/passwd".into(), "/proc/self/environ".into()];
        for (number, goal) in goals.iter().enumerate() {
            let link = root.join(format!("out-{number}"));
            symlink(goal, &link).unwrap();
            assert!(read(root, &link).is_err(), "{goal:?}");
        }
        symlink(outside.path(), root.join("out")).unwrap();
        assert!(read(root, &root.join("out/secret")).is_err());
        let pipe = root.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(read(root, &pipe).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let deadline = Deadline::default();
        let root = Root::open(root).unwrap();
        let checked = |path| Foreign { root: &root, path: Path::new(path), deadline: &deadline }.checked_path();
        assert!(checked("absolute").unwrap().ends_with("a/text"));
        assert!(checked("pipe").is_err() && checked("out-0").is_err() && checked("out/secret").is_err());
    }

    /// The race that a check of the path loses: the file is swapped for a link out of the folder, again and again.
    #[cfg(unix)]
    #[test]
    fn a_swapped_file_never_leads_outside() {
        use std::os::unix::fs::symlink;
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "secret").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (note, next) = (folder.path().join("note"), folder.path().join("next"));
        fs::write(&note, "ours").unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    symlink(outside.path().join("secret"), &next).unwrap();
                    fs::rename(&next, &note).unwrap();
                    fs::write(&next, "ours").unwrap();
                    fs::rename(&next, &note).unwrap();
                }
            });
            let (mut ours, mut others, begun) = (0, 0, Instant::now());
            // On a busy machine the other thread may sleep for long while the link is there.
            for number in 0.. {
                if number >= 5_000 && (ours > 0 || begun.elapsed() > Duration::from_secs(60)) {
                    break;
                }
                match read(folder.path(), &note) {
                    Ok(bytes) if bytes == b"ours" => ours += 1,
                    Ok(_) => others += 1,
                    Err(_) => {}
                }
            }
            over.store(true, Ordering::Relaxed);
            assert!(others == 0 && ours > 0, "{others} others, {ours} of ours");
        });
    }
}
