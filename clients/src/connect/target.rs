//! A file of a client, which only its user can change: followed through links, read, written, deleted.

use std::fs::{self, DirBuilder, Metadata};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use memorist_durable::{ABANDONED, NewFile, folder_of, open_plain, sweep, sync_folder};

use super::trouble::Trouble;
use crate::format::MAX_BYTES;

/// Links that lead to one another, at most.
const MAX_LINKS: usize = 40;

/// A file, and what was in it when it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Its path, without links.
    pub path: PathBuf,
    /// Its content; `None` if the file does not exist.
    pub content: Option<Vec<u8>>,
}

impl Target {
    /// Follows links to it and reads it.
    pub fn open(path: &Path) -> Result<Self, Trouble> {
        let path = std::path::absolute(path).map_err(|error| Trouble::read(&error))?;
        let path = follow(&path, MAX_LINKS)?;
        let existing = path.ancestors().skip(1).find(|folder| folder.exists());
        if let Some(folder) = existing {
            check_folder(&fs::metadata(folder).map_err(|error| Trouble::read(&error))?, folder)?;
        }
        let content = read(&path)?;
        Ok(Target { path, content })
    }

    pub fn text(&self) -> Result<Option<&str>, Trouble> {
        self.content.as_deref().map(|bytes| std::str::from_utf8(bytes).map_err(|_| Trouble::NotText)).transpose()
    }

    /// The folders that have to be made for it, the outermost first.
    pub fn missing_folders(&self) -> Vec<PathBuf> {
        let missing = self.path.ancestors().skip(1).take_while(|folder| !folder.exists());
        let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        missing.reverse();
        missing
    }

    /// Replaces it, or makes it, atomically; with the mode and the group that it had.
    pub fn write(&self, bytes: &[u8], executable: bool) -> Result<(), Trouble> {
        for folder in self.missing_folders() {
            match rights::folder_builder().create(&folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(Trouble::write(&error)),
                _ => {}
            }
        }
        let failed = |error: io::Error| Trouble::write(&error);
        sweep(folder_of(&self.path), ABANDONED);
        // A process that writes settings holds the lock of the ledger.
        let new = NewFile::beside_locked(&self.path).map_err(failed)?;
        new.file().write_all(bytes).map_err(failed)?;
        keep_rights(&new, &self.path, executable).map_err(failed)?;
        // This takes long, and what the client saves meanwhile would be lost if it came after the check.
        new.file().sync_all().map_err(failed)?;
        self.check_unchanged()?;
        let placed = if self.content.is_some() { new.replace() } else { new.place() };
        placed.map(drop).map_err(|error| match io::Error::from(error) {
            error if error.kind() == io::ErrorKind::AlreadyExists => Trouble::ChangedMeanwhile,
            error => Trouble::write(&error),
        })
    }

    /// Deletes it, and each of the folders that is empty then.
    pub fn delete(&self, folders: &[PathBuf]) -> Result<(), Trouble> {
        self.check_unchanged()?;
        let deleted = fs::remove_file(&self.path).and_then(|()| sync_folder(folder_of(&self.path)));
        deleted.map_err(|error| Trouble::write(&error))?;
        for folder in folders.iter().rev() {
            // One with something in it stays.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }

    /// Checks that nobody has written it since it was read.
    pub fn check_unchanged(&self) -> Result<(), Trouble> {
        match read(&self.path)? == self.content {
            true => Ok(()),
            false => Err(Trouble::ChangedMeanwhile),
        }
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Trouble> {
    let file = match open_plain(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| Trouble::read(&error))?,
    };
    let found = file.metadata().map_err(|error| Trouble::read(&error))?;
    check_file(&found)?;
    let mut content = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut content).map_err(|error| Trouble::read(&error))?;
    if content.len() as u64 > MAX_BYTES {
        return Err(Trouble::TooLarge);
    }
    Ok(Some(content))
}

/// Resolves the links of a path. Each must belong to this user or to root.
fn follow(path: &Path, links: usize) -> Result<PathBuf, Trouble> {
    let mut real = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(real.pop()),
            Component::Prefix(_) | Component::RootDir => real.push(part),
            Component::Normal(name) => {
                let next = real.join(name);
                let target = match fs::symlink_metadata(&next) {
                    Ok(found) if found.is_symlink() => {
                        check_link(&found, &next)?;
                        fs::read_link(&next).map_err(|error| Trouble::read(&error))?
                    }
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Trouble::read(&error)),
                    _ => {
                        real = next;
                        continue;
                    }
                };
                let links = links.checked_sub(1).ok_or_else(|| Trouble::Read("too many links".to_owned()))?;
                real = follow(&real.join(target), links)?;
            }
        }
    }
    Ok(real)
}

#[cfg(unix)]
mod rights {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};

    use super::*;

    fn foreign(owner: u32) -> String {
        format!("belongs to another user (id {owner})")
    }

    fn is_foreign(owner: u32) -> bool {
        owner != nix::unistd::geteuid().as_raw()
    }

    pub(super) fn check_file(found: &Metadata) -> Result<(), Trouble> {
        match is_foreign(found.uid()) {
            true => Err(Trouble::Foreign(format!("it {}", foreign(found.uid())))),
            false => Ok(()),
        }
    }

    pub(super) fn check_link(found: &Metadata, path: &Path) -> Result<(), Trouble> {
        match is_foreign(found.uid()) && found.uid() != 0 {
            true => Err(Trouble::Foreign(format!("the link {} {}", path.display(), foreign(found.uid())))),
            false => Ok(()),
        }
    }

    /// Refuses a folder of another user but root, and one that all can write to, unless it is sticky: there, nobody can replace
    /// a file of another user.
    pub(super) fn check_folder(found: &Metadata, path: &Path) -> Result<(), Trouble> {
        check_link(found, path)
            .map_err(|_| Trouble::Foreign(format!("the folder {} {}", path.display(), foreign(found.uid()))))?;
        match found.mode() & 0o1002 {
            0o002 => Err(Trouble::Foreign(format!("everybody can write to the folder {}", path.display()))),
            _ => Ok(()),
        }
    }

    pub(super) fn folder_builder() -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        builder
    }

    pub(super) fn keep_rights(new: &NewFile, old: &Path, executable: bool) -> io::Result<()> {
        match fs::metadata(old) {
            Ok(found) => {
                // A group that this user is not in cannot be given.
                let _ = std::os::unix::fs::fchown(new.file(), None, Some(found.gid()));
                new.file().set_permissions(fs::Permissions::from_mode(found.mode() & 0o7777))
            }
            Err(_) if executable => new.file().set_permissions(fs::Permissions::from_mode(0o700)),
            Err(_) => Ok(()),
        }
    }
}

#[cfg(not(unix))]
mod rights {
    use super::*;

    pub(super) fn check_file(_: &Metadata) -> Result<(), Trouble> {
        Ok(())
    }

    pub(super) fn check_link(_: &Metadata, _: &Path) -> Result<(), Trouble> {
        Ok(())
    }

    pub(super) fn check_folder(_: &Metadata, _: &Path) -> Result<(), Trouble> {
        Ok(())
    }

    pub(super) fn folder_builder() -> DirBuilder {
        DirBuilder::new()
    }

    pub(super) fn keep_rights(_: &NewFile, _: &Path, _: bool) -> io::Result<()> {
        Ok(())
    }
}

use rights::{check_file, check_folder, check_link, keep_rights};
