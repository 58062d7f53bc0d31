//! A new file, written beside its target and moved into place atomically.
//!
//! ```text
//! .memorist-<16 random letters and digits>.tmp     and, where SQLite writes it, the same with -journal, -wal or -shm
//! .memorist-<16 random letters and digits>.locked  one whose writer holds a lock that is taken before each such file
//! .memorist-<16 random letters and digits>.work    a temporary folder for some work
//! ```
//!
//! Such a name is created exclusively, so it is never another program's file. A killed process leaves it behind;
//! [`sweep`] removes it once no process can still be writing to it.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use tempfile::{Builder, NamedTempFile, TempDir};

use crate::crash;

const PREFIX: &str = ".memorist-";
const RANDOM: usize = 16;
const SUFFIX: &str = ".tmp";
const LOCKED_SUFFIX: &str = ".locked";
const FOLDER_SUFFIX: &str = ".work";
/// A temporary file that was not written to for this long was left by a killed process.
pub const ABANDONED: Duration = Duration::from_secs(24 * 3_600);
/// A file that is replaced may be held by a reader, or a virus scanner, for so long. Only Windows minds.
const HELD: Duration = Duration::from_millis(500);
/// Suffixes that SQLite adds to the name of a database.
const COMPANIONS: [&str; 3] = ["-journal", "-wal", "-shm"];

/// Why a file was not put in place.
#[derive(Debug)]
pub enum Error {
    /// The old content is unchanged.
    Write(io::Error),
    /// The content on the disk is unknown: the same sync may succeed next time and yet have lost data.
    Sync(io::Error),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Write(error)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Write(error) | Error::Sync(error) => error,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Write(error) | Error::Sync(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

/// A temporary file, readable by this user only. Removed when dropped.
#[derive(Debug)]
pub struct NewFile {
    temporary: NamedTempFile<File>,
    target: PathBuf,
}

impl NewFile {
    /// Creates it in the folder of `target`, under a unique name.
    ///
    /// # Errors
    /// When it cannot be created, and when `target` is a pipe or a device, as `/dev/stdout` may be. Replacing one is
    /// never wanted, and root could.
    pub fn beside(target: &Path) -> io::Result<Self> {
        NewFile::named(target, SUFFIX)
    }

    /// Creates it for a caller that holds a lock as long as the file exists: [`sweep_locked`] removes one that a killed
    /// process left, at once.
    pub fn beside_locked(target: &Path) -> io::Result<Self> {
        NewFile::named(target, LOCKED_SUFFIX)
    }

    fn named(target: &Path, suffix: &str) -> io::Result<Self> {
        if fs::metadata(target).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            let why = "it is a pipe or a device, not a plain file, and is not replaced";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // Created here, because the library's own errors name the temporary file, which tells people nothing.
        let temporary = Builder::new()
            .prefix(PREFIX)
            .rand_bytes(RANDOM)
            .suffix(suffix)
            .make_in(folder_of(target), |path| options.open(path))?;
        Ok(NewFile { temporary, target: target.to_owned() })
    }

    /// Its name until it is in place, for libraries that need one.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// The open file, to write to.
    pub fn file(&self) -> &File {
        self.temporary.as_file()
    }

    /// Moves it to its target, atomically: after a crash the old or the new content is there; after this returns, the
    /// new. Returns its length.
    pub fn replace(self) -> Result<u64, Error> {
        self.put_in_place(rename)
    }

    /// Moves it into place if its target does not exist yet; otherwise fails with [`io::ErrorKind::AlreadyExists`].
    pub fn place(self) -> Result<u64, Error> {
        self.put_in_place(|from, to| match fs::hard_link(from, to) {
            Ok(()) => fs::remove_file(from),
            // A file system without hard links.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !to.exists() => fs::rename(from, to),
            Err(error) => Err(error),
        })
    }

    fn put_in_place(self, name: impl FnOnce(&Path, &Path) -> io::Result<()>) -> Result<u64, Error> {
        crash::point("file written");
        self.file().sync_all().map_err(Error::Sync)?;
        crash::point("file synced");
        let length = self.file().metadata()?.len();
        // Closed first: Windows cannot rename an open file, and a handle closed later would drop locks that SQLite
        // takes on it.
        let (file, path) = self.temporary.into_parts();
        drop(file);
        let path = path.keep().map_err(|error| error.error)?;
        if let Err(error) = name(&path, &self.target) {
            let _ = fs::remove_file(&path);
            return Err(error.into());
        }
        crash::point("file renamed");
        sync_folder(folder_of(&self.target)).map_err(Error::Sync)?;
        crash::point("folder synced");
        Ok(length)
    }
}

/// Renames a file. On Windows it tries again for a moment where another process has `to` open.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    /// ERROR_ACCESS_DENIED and ERROR_SHARING_VIOLATION.
    const IN_USE: [Option<i32>; 2] = [Some(5), Some(32)];
    let began = Instant::now();
    loop {
        match fs::rename(from, to) {
            Err(error) if cfg!(windows) && IN_USE.contains(&error.raw_os_error()) && began.elapsed() < HELD => {
                thread::sleep(Duration::from_millis(5));
            }
            renamed => return renamed,
        }
    }
}

/// Replaces `target` with a file that contains `bytes`.
pub fn replace(target: &Path, bytes: &[u8]) -> Result<(), Error> {
    let new = NewFile::beside(target)?;
    new.file().write_all(bytes)?;
    new.replace().map(drop)
}

/// Whether a file of this name was a [`NewFile`], or SQLite's companion of one.
pub fn is_temporary(name: &OsStr) -> bool {
    let is_companion = |rest: &str| rest.is_empty() || COMPANIONS.contains(&rest);
    let rest = after_random(name);
    is_locked(name) || rest.and_then(|rest| rest.strip_prefix(SUFFIX)).is_some_and(is_companion)
}

fn is_locked(name: &OsStr) -> bool {
    after_random(name) == Some(LOCKED_SUFFIX)
}

/// The part after the random one, of the name of a temporary file.
fn after_random(name: &OsStr) -> Option<&str> {
    let (random, rest) = name.to_str()?.strip_prefix(PREFIX)?.split_at_checked(RANDOM)?;
    random.bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some(rest)
}

/// Creates a temporary folder in `parent` under a unique name, for this user only. It is removed when it is dropped.
pub fn new_work_folder(parent: &Path) -> io::Result<TempDir> {
    let mut builder = Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.prefix(PREFIX).rand_bytes(RANDOM).suffix(FOLDER_SUFFIX).tempdir_in(parent)
}

/// Removes the work folders that killed processes left in `parent`. Only the caller may be working there. Failures are
/// ignored: a leftover is only untidy.
pub fn sweep_work_folders(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten().filter(|entry| after_random(&entry.file_name()) == Some(FOLDER_SUFFIX)) {
        // Of the entry itself: a link to a folder does not count.
        if entry.metadata().is_ok_and(|found| found.is_dir() && is_own(&found)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(unix)]
fn is_own(found: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(found) == nix::unistd::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}

/// Removes what killed processes left in `folder`: files named as above that were not written to for `idle`. Pass zero
/// only for folders in which nobody else writes. Failures are ignored: a leftover is only untidy.
pub fn sweep(folder: &Path, idle: Duration) {
    sweep_named(folder, idle, is_temporary);
}

/// Removes those of [`NewFile::beside_locked`] that killed processes left in `folder`. The caller holds the lock. A folder
/// with files of others, too.
pub fn sweep_locked(folder: &Path) {
    sweep_named(folder, Duration::ZERO, is_locked);
}

fn sweep_named(folder: &Path, idle: Duration, is_ours: impl Fn(&OsStr) -> bool) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| is_ours(&entry.file_name())) {
        let is_idle = |written: SystemTime| written.elapsed().is_ok_and(|since| since >= idle);
        let found = entry.metadata();
        if found.is_ok_and(|found| found.is_file() && (idle.is_zero() || found.modified().is_ok_and(is_idle))) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

pub fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the names in a folder durable. Windows does so itself, and cannot open folders.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_stays_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file");
        for content in ["old", "new"] {
            replace(&target, content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&target).unwrap(), content);
        }
        let abandoned = NewFile::beside(&target).unwrap();
        abandoned.file().write_all(b"half").unwrap();
        assert!(is_temporary(abandoned.path().file_name().unwrap()), "{:?}", abandoned.path());
        drop(abandoned);
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_in_the_making_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let new = NewFile::beside(&folder.path().join("file")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&new.file().metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn concurrent_new_files_are_separate_and_the_last_replace_wins() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file");
        let [first, second] = [1, 2].map(|_| NewFile::beside(&target).unwrap());
        first.file().write_all(b"first").unwrap();
        second.file().write_all(b"second").unwrap();
        assert_eq!(second.replace().unwrap(), 6);
        assert_eq!(first.replace().unwrap(), 5);
        assert_eq!(fs::read_to_string(&target).unwrap(), "first");
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn a_file_is_replaced_while_another_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file");
        replace(&target, &[0; 1_000]).unwrap();
        let is_done = std::sync::atomic::AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                    let read = fs::read(&target).unwrap();
                    assert!(read.len() == 1_000 && read.iter().all(|byte| *byte == read[0]));
                    thread::sleep(Duration::from_millis(5));
                }
            });
            let replaced = (1..50).try_for_each(|round| replace(&target, &[round; 1_000]));
            is_done.store(true, std::sync::atomic::Ordering::Relaxed);
            replaced.unwrap();
        });
    }

    #[test]
    fn place_never_overwrites_an_existing_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file");
        fs::write(&target, "theirs").unwrap();
        let Err(Error::Write(error)) = NewFile::beside(&target).unwrap().place() else { panic!("placed") };
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&target).unwrap(), "theirs");
        fs::remove_file(&target).unwrap();
        NewFile::beside(&target).unwrap().place().unwrap();
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn a_target_that_cannot_be_replaced_stays_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("full");
        fs::create_dir(&target).unwrap();
        fs::write(target.join("precious"), "").unwrap();
        assert!(matches!(replace(&target, b"x"), Err(Error::Write(_))));
        assert_eq!((names(folder.path()), names(&target)), (vec!["full".into()], vec!["precious".into()]));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_or_a_device_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, link) = (folder.path().join("pipe"), folder.path().join("link"));
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        for target in [&pipe, &link] {
            let error = NewFile::beside(target).unwrap_err();
            assert!(error.to_string().contains("a pipe or a device"), "{error}");
        }
        assert_eq!(names(folder.path()), ["link", "pipe"]);
    }

    #[test]
    fn only_abandoned_files_of_ours_are_swept() {
        let folder = tempfile::tempdir().unwrap();
        let left = ".memorist-0123456789abcdeF.tmp";
        let theirs = [
            ".memorist-0123456789abcdeF.tmp.txt", ".memorist-0123456789abcd_F.tmp", ".memorist-0123.tmp", "X.part",
            "memorist-0123456789abcdeF.tmp",
        ];
        for name in theirs.into_iter().chain([left, &format!("{left}-journal")]) {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let locked = ".memorist-0123456789abcdeF.locked";
        fs::write(folder.path().join(locked), "x").unwrap();
        sweep_locked(folder.path());
        assert!(!folder.path().join(locked).exists() && folder.path().join(left).exists());
        let ours_as_folder = ".memorist-folder1234567890.tmp";
        fs::create_dir(folder.path().join(ours_as_folder)).unwrap();
        sweep(folder.path(), Duration::from_secs(3_600));
        assert!(folder.path().join(left).exists(), "somebody may be writing to it");
        sweep(folder.path(), Duration::ZERO);
        let mut stay: Vec<_> = theirs.into_iter().chain([ours_as_folder]).map(str::to_owned).collect();
        stay.sort();
        assert_eq!(names(folder.path()), stay);
    }
}
