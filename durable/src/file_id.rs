//! The identity of a file, by which a replacement is noticed.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Identifies a file or folder as long as it exists: by device and inode, on Windows by volume and file index. It keeps
/// nothing open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The device or volume.
    pub device: u64,
    /// The number of the file on the device.
    pub number: u64,
}

impl FileId {
    /// The id of the file or folder that is at `path` now. `None` where there is none, or the system does not tell.
    pub fn of(path: &Path) -> Option<Self> {
        FileId::with_metadata(path).ok().map(|(id, _)| id)
    }

    pub fn of_open(file: &File) -> Option<Self> {
        identify(file).ok().map(|(id, _)| id)
    }

    /// The id and the metadata of the file or folder at `path`, in one look. A link is followed.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn with_metadata(path: &Path) -> io::Result<(Self, Metadata)> {
        #[cfg(unix)]
        return path.metadata().map(of_inode);
        #[cfg(windows)]
        {
            use std::os::windows::fs::OpenOptionsExt as _;
            // Without access to its content it is opened although others lock it; only the flag opens folders.
            const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
            let mut options = File::options();
            identify(&options.access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)?)
        }
    }
}

#[cfg(unix)]
fn identify(file: &File) -> io::Result<(FileId, Metadata)> {
    file.metadata().map(of_inode)
}

#[cfg(unix)]
fn of_inode(metadata: Metadata) -> (FileId, Metadata) {
    use std::os::unix::fs::MetadataExt as _;
    (FileId { device: metadata.dev(), number: metadata.ino() }, metadata)
}

#[cfg(windows)]
fn identify(file: &File) -> io::Result<(FileId, Metadata)> {
    let found = winapi_util::file::information(file)?;
    Ok((FileId { device: found.volume_serial_number(), number: found.file_index() }, file.metadata()?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::FileId;

    #[test]
    fn an_id_is_of_the_file_and_not_of_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let [file, moved] = ["file", "moved"].map(|name| folder.path().join(name));
        assert_eq!(FileId::of(&file), None);
        fs::write(&file, "first").unwrap();
        let id = FileId::of(&file).expect("a file");
        assert_eq!(FileId::of_open(&fs::File::open(&file).unwrap()), Some(id));
        fs::write(&file, "written to").unwrap();
        assert_eq!(FileId::of(&file), Some(id));
        fs::rename(&file, &moved).unwrap();
        fs::write(&file, "another").unwrap();
        assert_eq!(FileId::of(&moved), Some(id));
        assert_ne!(FileId::of(&file), Some(id));
        fs::rename(&file, &moved).unwrap();
        assert_ne!(FileId::of(&moved), Some(id), "replaced");
        let (of_folder, metadata) = FileId::with_metadata(folder.path()).unwrap();
        assert!(metadata.is_dir() && FileId::of(&moved) != Some(of_folder));
    }

    #[test]
    fn a_locked_file_has_an_id_for_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = fs::File::create(&path).unwrap();
        let locked = crate::LockedFile::try_lock(file).unwrap().expect("free");
        let id = FileId::of(&path);
        assert!(id.is_some());
        assert_eq!(id, FileId::of_open(&locked));
    }
}
