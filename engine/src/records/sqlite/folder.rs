//! Makes the store's folder and its database file, readable by the user alone.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use memorist_durable::{is_temporary, sync_folder};

use super::other_systems;
use crate::error::{Error, Remedy, Result};
use crate::files::{private_file, private_folders};
use crate::paths::{StorePaths, companions};

/// Makes sure that the folder exists. What is there already is left as it is, but for an empty folder, which becomes
/// private like a new one.
pub fn prepare_root(paths: &StorePaths) -> Result<()> {
    let root = paths.root();
    let refuse = |why: String| Error::Store { path: root.to_owned(), why };
    match fs::metadata(root) {
        Ok(found) if !found.is_dir() => {
            other_systems::refuse(root)?;
            Err(refuse("it is a file; name a folder".into()))
        }
        Ok(_) => {
            refuse_foreign_indexes(paths)?;
            make_private_if_empty(root).map_err(|e| refuse(cannot_make(&e)))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => create_folder(root).map_err(|e| refuse(cannot_make(&e))),
        Err(error) => Err(refuse(format!("{error}; choose another folder"))),
    }
}

/// Makes sure that the folder and the database file exist.
pub(super) fn prepare(paths: &StorePaths) -> Result<()> {
    prepare_root(paths)?;
    let root = paths.root();
    let refuse = |why: String| Error::Store { path: root.to_owned(), why };
    let database = paths.database();
    match fs::metadata(&database) {
        Ok(found) if found.is_dir() => Err(Error::Database {
            path: database,
            why: "it is a folder; move it away, or choose another folder for the store".into(),
            remedy: None,
        }),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            create_file(&database).map_err(|e| refuse(cannot_make(&e)))
        }
        Err(error) => Err(refuse(format!("{error}; fix its permissions, or choose another folder"))),
    }
}

/// Refuses a store whose database is lost: missing or empty, beside what only a store with memories has.
///
/// # Errors
/// [`Error::Database`] names the file that shows it.
pub fn refuse_lost(paths: &StorePaths) -> Result<()> {
    match sign_of_lost(paths) {
        None => Ok(()),
        Some(sign) => {
            let why = format!(
                "it is missing or empty, but {} shows that this store has had memories; their texts are in no index",
                sign.display()
            );
            Err(Error::Database { path: paths.database(), why, remedy: Some(Remedy::Restore) })
        }
    }
}

/// A file that shows that the database is lost. A new database has its first page on the disk before SQLite makes a
/// write-ahead log, and before there is anything to index.
pub(super) fn sign_of_lost(paths: &StorePaths) -> Option<PathBuf> {
    let is_empty = || match fs::metadata(paths.database()) {
        Ok(found) => found.is_file() && found.len() == 0,
        Err(error) => error.kind() == ErrorKind::NotFound,
    };
    if !is_empty() {
        return None;
    }
    let [log, ..] = companions(&paths.database());
    let is_written = |log: &PathBuf| fs::metadata(log).is_ok_and(|found| found.len() > 0);
    let sign = paths.index_folders().iter().find_map(|folder| segment_in(folder)).or(Some(log).filter(is_written));
    // Another process may have made the store while we looked.
    sign.filter(|_| is_empty())
}

/// A file of an index that has been given something to find.
fn segment_in(folder: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(folder).ok()?.filter_map(std::result::Result::ok);
    entries.find(|entry| entry.file_name().to_str().is_some_and(is_of_segment)).map(|entry| entry.path())
}

/// Whether a name is that of a segment of one of the indexes.
fn is_of_segment(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    name.starts_with("segment-") || stem.len() == 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// An index that is of no use is deleted. Where there is no store yet, what bears the name of one may be somebody else's.
fn refuse_foreign_indexes(paths: &StorePaths) -> Result<()> {
    if fs::metadata(paths.database()).is_ok_and(|found| found.len() > 0) {
        return Ok(());
    }
    match paths.index_folders().into_iter().find(|folder| folder.exists() && !is_index(folder)) {
        None => Ok(()),
        Some(folder) => {
            let why = format!(
                "the folder contains {}, which does not belong to memorist; choose another folder",
                folder.display()
            );
            Err(Error::Store { path: paths.root().to_owned(), why })
        }
    }
}

/// Whether a folder holds nothing but what an index does.
fn is_index(folder: &Path) -> bool {
    let is_part = |name: &str| {
        let begins = ["manifest", "writer.lock", "meta.json", ".managed.json", ".tantivy-"];
        is_of_segment(name) || begins.iter().any(|begin| name.starts_with(begin)) || is_temporary(name.as_ref())
    };
    let Ok(mut entries) = fs::read_dir(folder) else { return false };
    entries.all(|entry| {
        entry.is_ok_and(|entry| {
            entry.file_type().is_ok_and(|found| found.is_file()) && entry.file_name().to_str().is_some_and(is_part)
        })
    })
}

/// Whether a file can be made in the folder.
pub(super) fn can_be_written(root: &Path) -> bool {
    tempfile::tempfile_in(root).is_ok()
}

fn cannot_make(error: &io::Error) -> String {
    format!("it is not writable ({error}); fix its permissions, or choose another folder")
}

/// Creates the folder and those above it that are missing, and makes their names durable.
fn create_folder(root: &Path) -> io::Result<()> {
    let parent = root.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(missing) = parent.filter(|parent| !parent.exists()) {
        create_folder(missing)?;
    }
    private_folders().create(root)?;
    sync_folder(parent.unwrap_or(Path::new(".")))
}

/// Creates an empty file, which SQLite takes for an empty database; its companion files get the same permissions.
pub(super) fn create_file(path: &Path) -> io::Result<()> {
    // Only ever created, never opened: closing a second handle would drop the locks that SQLite holds in this process.
    match private_file().create_new(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn make_private_if_empty(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if fs::read_dir(folder)?.next().is_none() {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_private_if_empty(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, new};
    use super::*;
    use crate::records::Records;

    #[cfg(unix)]
    fn mode(path: &Path) -> u32 {
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o777
    }

    #[cfg(unix)]
    #[test]
    fn a_new_store_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let empty = folder.path().join("empty");
        fs::create_dir(&empty).unwrap();
        fs::set_permissions(&empty, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        for root in [folder.path().join("deep").join("store"), empty] {
            let records = Records::open(&StorePaths::new(&root)).unwrap();
            records.add(&new("text"), NOW).unwrap();
            assert_eq!(mode(&root), 0o700);
            assert!(!folder.path().join("deep").exists() || mode(&folder.path().join("deep")) == 0o700, "on the way");
            let files: Vec<_> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
            assert!(files.len() >= 3, "database, log and shared memory: {files:?}");
            for file in files {
                assert_eq!(mode(&file), 0o600, "{}", file.display());
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_holds_other_things_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("other"), "").unwrap();
        fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        Records::open(&StorePaths::new(folder.path())).unwrap();
        assert_eq!(mode(folder.path()), 0o755);
        assert_eq!(mode(&folder.path().join("memory.db")), 0o600);
    }

    /// 39.9: each sign that there were memories, beside a database that is missing and one of 0 bytes.
    #[test]
    fn a_store_that_lost_its_database_is_refused_and_left_as_it_is() {
        let segment = "0123456789abcdef0123456789abcdef.term";
        let signs = ["keywords", "keywords.old", "keywords.rebuild"].map(|folder| format!("{folder}/{segment}"));
        let others = ["vectors/segment-00000000000000a7", "memory.db-wal"].map(str::to_owned);
        for sign in signs.into_iter().chain(others) {
            for is_empty in [false, true] {
                let folder = tempfile::tempdir().unwrap();
                let (paths, sign) = (StorePaths::new(folder.path()), folder.path().join(&sign));
                fs::create_dir_all(sign.parent().unwrap()).unwrap();
                fs::write(&sign, "something").unwrap();
                if is_empty {
                    fs::write(paths.database(), "").unwrap();
                }
                let error = Records::open(&paths).err().expect("refused");
                assert_eq!(error.remedy(), Some(Remedy::Restore), "{error}");
                assert!(error.to_string().contains(sign.to_str().unwrap()), "{error}");
                assert_eq!(fs::metadata(paths.database()).ok().map(|found| found.len()), is_empty.then_some(0));
                assert!(sign.exists());
            }
        }
    }

    /// 39.9: as a process leaves them that was killed while it made the store, or had nothing to index yet.
    #[test]
    fn the_beginnings_of_a_store_become_one() {
        let folder = tempfile::tempdir().unwrap();
        let paths = StorePaths::new(folder.path());
        for index in paths.index_folders() {
            fs::create_dir(&index).unwrap();
        }
        fs::write(paths.keywords().join("meta.json"), "{}").unwrap();
        fs::write(paths.keywords().join(".managed.json"), "[]").unwrap();
        fs::write(paths.vectors().join("manifest"), "of an index without a vector").unwrap();
        fs::write(paths.vectors().join("writer.lock"), "").unwrap();
        for file in companions(&paths.database()).into_iter().chain([paths.database(), paths.writer_lock()]) {
            fs::write(file, "").unwrap();
        }
        Records::open(&paths).unwrap().add(&new("text"), NOW).unwrap();
    }

    #[test]
    fn a_path_that_cannot_be_a_store_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "precious").unwrap();
        for root in [file.clone(), file.join("below")] {
            let error = Records::open(&StorePaths::new(&root)).err().expect("refused");
            assert!(matches!(error, Error::Store { .. }), "{error:?}");
            assert!(error.to_string().contains("folder"), "{error}");
        }
        assert_eq!(fs::read(&file).unwrap(), b"precious");
        fs::create_dir(folder.path().join("memory.db")).unwrap();
        let error = Records::open(&StorePaths::new(folder.path())).err().expect("refused");
        assert!(matches!(error, Error::Database { .. }) && error.to_string().contains("it is a folder"), "{error}");
    }

    /// The process file system refuses new folders even to the superuser.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_that_cannot_be_written_is_refused() {
        for root in ["/proc/memorist", "/proc/self"] {
            let error = Records::open(&StorePaths::new(root)).err().expect("refused");
            assert!(matches!(error, Error::Store { .. }), "{error:?}");
            assert!(error.to_string().contains("choose another folder"), "{error}");
        }
    }
}
