//! A folder that only its user can change.

use std::fs::{DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::new_file::NewFile;
use crate::plain;

/// A folder that belongs to this user (or to root) and that no other user can write to. It is held open, so that it
/// cannot be swapped while it is used.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    #[cfg(unix)]
    handle: File,
}

impl PrivateFolder {
    /// Creates it and its missing parents, readable by this user only, and opens it. An existing folder keeps its
    /// permissions.
    ///
    /// # Errors
    /// Errors of [`PrivateFolder::open`], and when it cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)?;
        Self::open(path)
    }

    /// Opens it. A link is followed, and its target is checked.
    ///
    /// # Errors
    /// When it does not exist, and with [`io::ErrorKind::PermissionDenied`] when another user owns it or can write to
    /// it.
    #[cfg(unix)]
    pub fn open(path: &Path) -> io::Result<Self> {
        use nix::fcntl::OFlag;
        use std::os::unix::fs::OpenOptionsExt;
        let path = dunce::canonicalize(path)?;
        let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let handle = File::options().read(true).custom_flags(flags.bits()).open(&path)?;
        check_owner(&handle)?;
        Ok(PrivateFolder { path, handle })
    }

    /// Opens it. Write permissions are left to the system's access control lists.
    #[cfg(not(unix))]
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = dunce::canonicalize(path)?;
        match path.is_dir() {
            true => Ok(PrivateFolder { path }),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Where it is, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder `name` in it.
    ///
    /// # Errors
    /// Errors of [`PrivateFolder::open`], and when it is a link.
    pub fn folder(&self, name: &str) -> io::Result<Self> {
        #[cfg(unix)]
        {
            use nix::fcntl::OFlag;
            let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
            let handle = self.open_at(name, flags).map_err(|error| self.explain(name, error))?;
            check_owner(&handle)?;
            Ok(PrivateFolder { path: self.path.join(name), handle })
        }
        #[cfg(not(unix))]
        Self::open(&self.path.join(name))
    }

    /// Opens the plain file `name` in it for reading: see [`open_plain`](crate::open_plain).
    pub fn open_plain(&self, name: &str) -> io::Result<File> {
        #[cfg(unix)]
        return plain::check_plain(self.open_at(name, plain::read_flags())?);
        #[cfg(not(unix))]
        plain::open_plain(&self.path.join(name))
    }

    /// Opens the plain file `name` in it for reading. Fails if another user owns it or can write to it.
    pub fn open_own(&self, name: &str) -> io::Result<File> {
        let file = self.open_plain(name)?;
        #[cfg(unix)]
        check_owner(&file)?;
        Ok(file)
    }

    /// A temporary file that will become `name` in it.
    pub fn new_file(&self, name: &str) -> io::Result<NewFile> {
        let new = NewFile::beside(&self.path.join(name))?;
        self.check_in_place()?;
        Ok(new)
    }

    /// Whether its path still leads to it.
    fn check_in_place(&self) -> io::Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let (now, held) = (std::fs::symlink_metadata(&self.path)?, self.handle.metadata()?);
            if (now.dev(), now.ino()) != (held.dev(), held.ino()) {
                return Err(io::Error::other("the folder was swapped for another meanwhile; try again"));
            }
        }
        Ok(())
    }

    /// Linux reports a link that is opened as a folder as "not a directory".
    #[cfg(unix)]
    fn explain(&self, name: &str, error: io::Error) -> io::Error {
        let is_link = || std::fs::symlink_metadata(self.path.join(name)).is_ok_and(|found| found.is_symlink());
        if error.kind() == io::ErrorKind::NotADirectory && is_link() {
            return io::Error::new(io::ErrorKind::InvalidInput, "it is a link, not a folder");
        }
        error
    }

    #[cfg(unix)]
    fn open_at(&self, name: &str, flags: nix::fcntl::OFlag) -> io::Result<File> {
        use nix::sys::stat::Mode;
        let opened = nix::fcntl::openat(&self.handle, name, flags, Mode::empty());
        opened.map(File::from).map_err(|errno| plain::explain(errno.into()))
    }
}

/// Refuses what another user could change. Root could change anything anyway.
#[cfg(unix)]
fn check_owner(file: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let found = file.metadata()?;
    let us = nix::unistd::geteuid().as_raw();
    let refuse = |why: String| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    match (found.uid(), found.mode() & 0o022) {
        (0, 0) => Ok(()),
        (owner, 0) if owner == us => Ok(()),
        (owner, _) if owner != us && owner != 0 => refuse(format!("it belongs to another user (id {owner})")),
        (_, _) => refuse(format!("others can write to it (mode {:04o})", found.mode() & 0o7777)),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("a").join("b");
        PrivateFolder::create(&path).unwrap();
        for made in [&path, path.parent().unwrap()] {
            assert_eq!(fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700, "{}", made.display());
        }
        set_mode(&path, 0o755);
        PrivateFolder::create(&path).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o755,
            "one that is there keeps its rights"
        );
        for mode in [0o770, 0o720, 0o702, 0o1777] {
            set_mode(&path, mode);
            let error = PrivateFolder::open(&path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            assert!(error.to_string().contains("others can write to it"), "{error}");
        }
    }

    #[test]
    fn a_foreign_owner_is_refused_and_root_is_not() {
        let folder = tempfile::tempdir().unwrap();
        PrivateFolder::open(Path::new("/")).unwrap();
        // Only root can give a folder away.
        if std::os::unix::fs::chown(folder.path(), Some(65_534), None).is_err() {
            return;
        }
        let error = PrivateFolder::open(folder.path()).unwrap_err();
        assert!(error.to_string().contains("another user (id 65534)"), "{error}");
    }

    #[test]
    fn links_are_refused_and_open_own_rejects_shared_write_access() {
        let above = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::create(&above.path().join("folder")).unwrap();
        fs::write(above.path().join("outside"), "secret").unwrap();
        symlink("../outside", folder.path().join("link")).unwrap();
        symlink("..", folder.path().join("up")).unwrap();
        assert!(folder.open_plain("link").unwrap_err().to_string().contains("a link"));
        assert!(folder.folder("up").unwrap_err().to_string().contains("a link"));
        let file = folder.path().join("file");
        fs::write(&file, "text").unwrap();
        folder.open_own("file").unwrap();
        set_mode(&file, 0o666);
        folder.open_plain("file").unwrap();
        assert!(folder.open_own("file").unwrap_err().to_string().contains("others can write"));
    }

    #[test]
    fn a_folder_that_was_swapped_is_noticed() {
        let above = tempfile::tempdir().unwrap();
        let (path, moved) = (above.path().join("folder"), above.path().join("moved"));
        let folder = PrivateFolder::create(&path).unwrap();
        fs::write(path.join("file"), "ours").unwrap();
        folder.new_file("new").unwrap();
        fs::rename(&path, &moved).unwrap();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("file"), "theirs").unwrap();
        assert_eq!(io::read_to_string(folder.open_plain("file").unwrap()).unwrap(), "ours");
        assert!(folder.new_file("new").unwrap_err().to_string().contains("swapped"));
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1, "nothing is left in the other");
    }
}
