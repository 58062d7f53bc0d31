//! Makes the store's folder and its database file, readable by the user alone.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::error::{Error, Result};
use crate::paths::StorePaths;

/// Makes sure that the folder and the database file exist. What is there already is left as it is, but for an empty
/// folder, which becomes private like a new one.
pub(super) fn prepare(paths: &StorePaths) -> Result<()> {
    let root = paths.root();
    let refuse = |why: String| Error::Store { path: root.to_owned(), why };
    match fs::metadata(root) {
        Ok(found) if !found.is_dir() => return Err(refuse("it is a file; name a folder".into())),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            create_folder(root).map_err(|e| refuse(cannot_make(&e)))?
        }
        Err(error) => return Err(refuse(format!("{error}; choose another folder"))),
    }
    let database = paths.database();
    match fs::metadata(&database) {
        Ok(found) if found.is_dir() => Err(Error::Database {
            path: database,
            why: "it is a folder; move it away, or choose another folder for the store".into(),
        }),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            make_private_if_empty(root).map_err(|e| refuse(cannot_make(&e)))?;
            create_file(&database).map_err(|e| refuse(cannot_make(&e)))
        }
        Err(error) => Err(refuse(format!("{error}; mend its permissions, or choose another folder"))),
    }
}

fn cannot_make(error: &io::Error) -> String {
    format!("it cannot be written ({error}); mend its permissions, or choose another folder")
}

/// Creates the folder and those above it that are missing, and makes their names durable.
fn create_folder(root: &Path) -> io::Result<()> {
    let parent = root.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(missing) = parent.filter(|parent| !parent.exists()) {
        create_folder(missing)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(root) {
        Ok(()) => sync_folder(parent.unwrap_or(Path::new("."))),
        Err(_) if root.is_dir() => Ok(()), // another process was first
        Err(error) => Err(error),
    }
}

/// Creates an empty file, which SQLite takes for an empty database; its companion files get the same permissions.
fn create_file(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    // Only ever created, never opened: closing a second handle would drop the locks that SQLite holds in this process.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
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

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
