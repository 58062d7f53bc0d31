//! `meta.json` with a seal. tantivy gives it no checksum, and accepts an intact file of one segment in place of
//! another's.
//!
//! On disk, tantivy's text is followed by one line, the seal:
//!
//! ```json
//! {"files":{"NAME":{"length":N,"end":"HEX"},...},"check":"HEX"}
//! ```
//!
//! `files` are those of the segments that the text names. `end` is of the last 128 bytes of the file, in which tantivy
//! keeps the checksum of the rest; `check` is of the text and of `files` as written. Both are the first 8 hex digits of
//! a SHA-256.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memorist_durable::LockedFile;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::footer::Footer;
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, FileSlice, Lock, META_LOCK, ManagedDirectory, MmapDirectory, WatchCallback,
    WatchHandle, WritePtr,
};
use tantivy::index::SegmentId;
use tantivy::{HasLen, TantivyError};

use crate::files::{make_private, private_file};

/// The file that lists the live segments. It is replaced atomically.
pub(super) const META: &str = "meta.json";
/// tantivy's footer, which contains the checksum of the rest, is shorter than this many bytes.
const END: usize = 128;

/// The extension of tantivy's stored fields. We have none, so the file is small. But to open it, tantivy allocates as
/// much memory as the file says, and a failed allocation ends the process. So this file is verified before it is
/// opened.
const STORE: &str = "store";

/// The state of a file when it was sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Sealed {
    length: u64,
    end: String,
}

/// The files of one commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Files(BTreeMap<String, Sealed>);

#[derive(Serialize, Deserialize)]
struct Seal {
    files: Files,
    check: String,
}

impl Files {
    /// Their names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The files that are not among `known`.
    pub(super) fn without(&self, known: &BTreeSet<String>) -> Files {
        let unknown = self.0.iter().filter(|(name, _)| !known.contains(*name));
        Files(unknown.map(|(name, file)| (name.clone(), file.clone())).collect())
    }

    /// Their total length in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.0.values().map(|file| file.length).sum()
    }
}

/// The files that `meta.json` on disk was sealed with.
pub(super) fn files(meta: &[u8]) -> Result<Files, String> {
    split(meta).map(|(_, files)| files)
}

/// tantivy's text and the seal, as they are written.
pub(crate) fn join(text: &[u8], files: Files) -> io::Result<Vec<u8>> {
    let check = check(text, &files).map_err(io::Error::other)?;
    let mut meta = text.to_vec();
    serde_json::to_writer(&mut meta, &Seal { files, check })?;
    meta.push(b'\n');
    Ok(meta)
}

/// tantivy's text, and the files; or what is wrong with the seal.
pub(crate) fn split(meta: &[u8]) -> Result<(&[u8], Files), String> {
    let line_start = meta.trim_ascii_end().iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let (text, line) = meta.split_at(line_start);
    let seal: Seal = serde_json::from_slice(line).map_err(|why| format!("its seal is damaged: {why}"))?;
    if seal.check != check(text, &seal.files)? {
        return Err("its checksum is wrong: it was changed after it was written".to_owned());
    }
    Ok((text, seal.files))
}

/// Reads a whole file of tantivy and compares it with the checksum at its end.
fn check_all(file: Arc<dyn FileHandle>) -> io::Result<()> {
    let (footer, body) = Footer::extract_footer(FileSlice::new(file))?;
    match crc32fast::hash(&body.read_bytes()?) == footer.crc {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, "it does not match its checksum")),
    }
}

fn check(text: &[u8], files: &Files) -> Result<String, String> {
    let files = serde_json::to_vec(files).map_err(|why| why.to_string())?;
    Ok(digest(&[text, &files].concat()))
}

fn digest(bytes: &[u8]) -> String {
    crate::text::to_hex(&Sha256::digest(bytes)[..4])
}

/// A folder of tantivy in which `meta.json` is sealed when it is written and refused if its seal is broken. Unlike
/// tantivy's own directory, it makes a replacement durable before it returns, as the sync log is trimmed afterwards.
#[derive(Debug, Clone)]
pub(super) struct SealedDirectory {
    folder: PathBuf,
    inner: MmapDirectory,
    /// Whether this handle only reads.
    reads_only: bool,
    /// Files never change, so each is read once.
    known: Arc<Mutex<BTreeMap<String, Sealed>>>,
}

impl SealedDirectory {
    /// Opens an existing folder.
    pub(super) fn open(folder: &Path) -> Result<Self, TantivyError> {
        let inner = MmapDirectory::open(folder)?;
        Ok(SealedDirectory { folder: folder.to_owned(), inner, reads_only: false, known: Arc::default() })
    }

    /// Opens a folder that others may write to.
    pub(super) fn open_to_read(folder: &Path) -> Result<Self, TantivyError> {
        Ok(SealedDirectory { reads_only: true, ..Self::open(folder)? })
    }

    /// Reads a whole file of `files`, and returns what is wrong with it.
    pub(super) fn fault(&self, name: &str, files: &Files, checksums: &ManagedDirectory) -> Option<String> {
        let path = self.folder.join(name);
        let unreadable = |error: &dyn std::fmt::Display| Some(format!("{} cannot be read: {error}", path.display()));
        match self.as_sealed(name) {
            Err(error) => return unreadable(&error),
            Ok(found) if Some(&found) != files.0.get(name) => {
                return Some(format!("{} is not the file that was written", path.display()));
            }
            Ok(_) => {}
        }
        match checksums.validate_checksum(Path::new(name)) {
            Ok(true) => None,
            Ok(false) => Some(format!("{} does not match its checksum", path.display())),
            Err(error) => unreadable(&error),
        }
    }

    /// The current state of a file. A mapped file can be read although it was removed meanwhile.
    fn as_sealed(&self, name: &str) -> io::Result<Sealed> {
        let file = self.inner.open_read(Path::new(name)).map_err(io::Error::other)?;
        let end = file.slice_from_end(file.len().min(END)).read_bytes()?;
        Ok(Sealed { length: file.len() as u64, end: digest(&end) })
    }

    /// Whether a file belongs to what is published. An unreadable file is assumed to.
    fn is_live(&self, path: &Path) -> bool {
        let published = fs::read(self.folder.join(META)).map_err(|error| error.to_string());
        let files = published.and_then(|meta| files(&meta));
        files.map_or(true, |files| files.names().any(|name| path == Path::new(name)))
    }

    fn seal(&self, text: &[u8]) -> io::Result<Vec<u8>> {
        join(text, Files(self.files_of(&serde_json::from_slice(text)?)?))
    }

    fn files_of(&self, listed: &Listed) -> io::Result<BTreeMap<String, Sealed>> {
        let mut known = self.known.lock();
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            let Some(name) = name.to_str().filter(|name| listed.names(name)) else { continue };
            let file = match known.get(name) {
                Some(file) => file.clone(),
                None => self.as_sealed(name)?,
            };
            files.insert(name.to_owned(), file);
        }
        known.clone_from(&files);
        Ok(files)
    }
}

/// A lock to hold while segments are opened, so that none of their files is removed.
/// tantivy's own lock makes processes that open the same segments wait for one another, and after each commit every
/// process does.
fn lock_shared(path: &Path) -> io::Result<Option<LockedFile>> {
    // NFS locks a file in the mode in which it was opened: for reading, or not at all.
    let file = match private_file().read(true).create(true).truncate(false).open(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
            match File::open(path) {
                // If the file cannot be created, no process that could remove a file has been here.
                Err(missing) if missing.kind() == io::ErrorKind::NotFound => return Ok(None),
                opened => opened?,
            }
        }
        opened => opened?,
    };
    LockedFile::lock_shared(file).map(Some)
}

/// The part of tantivy's `meta.json` that lists the live files.
#[derive(Deserialize)]
struct Listed {
    segments: Vec<ListedSegment>,
}

#[derive(Deserialize)]
struct ListedSegment {
    segment_id: SegmentId,
    deletes: Option<Deletes>,
}

#[derive(Deserialize)]
struct Deletes {
    opstamp: u64,
}

impl Listed {
    /// Whether a file belongs to one of the segments in its current state: an older list of its deletes does not.
    fn names(&self, file: &str) -> bool {
        let Some((stem, ending)) = file.split_once('.') else { return false };
        let segment = self.segments.iter().find(|segment| segment.segment_id.uuid_string() == stem);
        segment.is_some_and(|segment| match ending.strip_suffix(".del") {
            Some(opstamp) => segment.deletes.as_ref().is_some_and(|deletes| deletes.opstamp.to_string() == opstamp),
            None => true,
        })
    }
}

impl Directory for SealedDirectory {
    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let target = self.folder.join(path);
        let written = if path == Path::new(META) {
            memorist_durable::replace(&target, &self.seal(data)?)
        } else {
            memorist_durable::replace(&target, data)
        };
        Ok(written?)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let bytes = self.inner.atomic_read(path)?;
        if path != Path::new(META) {
            return Ok(bytes);
        }
        match split(&bytes) {
            Ok((text, _)) => Ok(text.to_vec()),
            Err(why) => {
                let error = io::Error::new(io::ErrorKind::InvalidData, why);
                Err(OpenReadError::wrap_io_error(error, path.to_owned()))
            }
        }
    }

    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let file = self.inner.get_file_handle(path)?;
        if path.extension().is_some_and(|ending| ending == STORE) {
            check_all(file.clone()).map_err(|why| OpenReadError::wrap_io_error(why, path.to_owned()))?;
        }
        Ok(file)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let failed = |error| OpenWriteError::wrap_io_error(error, path.to_owned());
        let opened = match self.inner.open_write(path) {
            // tantivy numbers lists of deletes from the last commit on, and would collide with those of a failed
            // commit.
            Err(OpenWriteError::FileAlreadyExists(_)) if !self.is_live(path) => {
                let removed = fs::remove_file(self.folder.join(path));
                removed.map_err(failed)?;
                self.inner.open_write(path)
            }
            opened => opened,
        }?;
        make_private(&self.folder.join(path)).map_err(failed)?;
        Ok(opened)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let path = self.folder.join(&lock.filepath);
        if self.reads_only && lock.filepath == META_LOCK.filepath {
            let locked = lock_shared(&path).map_err(LockError::wrap_io_error)?;
            return Ok(DirectoryLock::from(Box::new(locked)));
        }
        // tantivy's own lock ends when the file is closed, which is too late: see `LockedFile`.
        let opened = private_file().create(true).truncate(false).open(path).map_err(LockError::wrap_io_error)?;
        let locked = match lock.is_blocking {
            true => LockedFile::lock(opened).map(Some),
            false => LockedFile::try_lock(opened),
        };
        let locked = locked.map_err(LockError::wrap_io_error)?.ok_or(LockError::LockBusy)?;
        Ok(DirectoryLock::from(Box::new(locked)))
    }

    fn watch(&self, watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(watch_callback)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }
}
