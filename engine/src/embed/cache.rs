//! The cache folder: files are put in place whole, and a manifest written last says that a set is complete.
//!
//! ```text
//! <cache>/lock                       held by the one process that fetches
//! <cache>/wheels/*.whl               packages put here by hand, for machines without network
//! <cache>/<set>/<file>
//! <cache>/<set>/manifest.json        {"version": 1, "files": [{"name", "bytes", "sha256"}]}
//! <cache>/.fetch-*                   a fetch under way; one left by a killed process goes with the next fetch
//! ```
//!
//! A set without a manifest, or with a file of another size than the manifest says, is not used and is fetched anew.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::embed::packages::{Artefact, FileSet};
use crate::error::{Error, Result};
use crate::files::{remove_if_present, sync_folder};
use crate::progress::Progress;
use crate::text::to_hex;

const MANIFEST_FILE: &str = "manifest.json";
const MANIFEST_VERSION: u32 = 1;
/// How names of folders of fetches under way begin.
pub(super) const FETCH_PREFIX: &str = ".fetch-";

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Manifest {
    version: u32,
    files: Vec<ManifestFile>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct ManifestFile {
    name: String,
    bytes: u64,
    sha256: String,
}

impl Manifest {
    fn of(set: &FileSet) -> Self {
        let files = set.artefacts.iter().map(|artefact| ManifestFile {
            name: artefact.file.to_owned(),
            bytes: artefact.bytes,
            sha256: artefact.sha256.to_owned(),
        });
        Manifest { version: MANIFEST_VERSION, files: files.collect() }
    }
}

/// The cache folder.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    root: PathBuf,
}

impl Cache {
    pub(super) fn new(root: PathBuf) -> Self {
        Cache { root }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Where packages may be put by hand.
    pub(super) fn wheels(&self) -> PathBuf {
        self.root.join("wheels")
    }

    /// The file `artefact` of `set`, whether or not it is there.
    pub(super) fn file(&self, set: &FileSet, artefact: &Artefact) -> PathBuf {
        self.root.join(set.folder).join(artefact.file)
    }

    /// Whether `set` was put in place completely. Looks at names and sizes, not at contents.
    pub(super) fn is_whole(&self, set: &FileSet) -> bool {
        let written = fs::read(self.manifest(set)).ok().and_then(|json| serde_json::from_slice::<Manifest>(&json).ok());
        written == Some(Manifest::of(set))
            && set.artefacts.iter().all(|artefact| {
                fs::metadata(self.file(set, artefact)).is_ok_and(|at| at.is_file() && at.len() == artefact.bytes)
            })
    }

    /// Reads every file of `set` and compares its hash. A set that fails loses its manifest, so that the next
    /// fetch replaces it.
    pub(super) fn verify(&self, set: &FileSet) -> Result<()> {
        let checked = set.artefacts.iter().try_for_each(|artefact| check_file(&self.file(set, artefact), artefact));
        if checked.is_err() {
            self.forget(set)?;
        }
        checked
    }

    /// Waits until no other process fetches into this cache. The lock ends with the returned file.
    pub(super) fn lock(&self, progress: &dyn Progress) -> Result<File> {
        fs::create_dir_all(&self.root).map_err(|error| Error::io(&self.root, error))?;
        let path = self.root.join("lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| Error::io(&path, error))?;
        let mut waiting = false;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if progress.cancelled() => return Err(Error::Cancelled),
                Err(TryLockError::WouldBlock) => {
                    if !waiting {
                        progress.start("waiting for another process that fetches the model", None);
                        waiting = true;
                    }
                    std::thread::sleep(Duration::from_millis(100));
                }
                Err(TryLockError::Error(error)) => return Err(Error::io(&path, error)),
            }
        }
        if waiting {
            progress.finish();
        }
        Ok(file)
    }

    /// Deletes what killed fetches left. The caller holds the lock.
    pub(super) fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.root) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(FETCH_PREFIX) {
                // What cannot be deleted is only untidy.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Puts one file in place: written under a temporary name, checked, synced, renamed. The caller holds the lock.
    pub(super) fn place(&self, set: &FileSet, artefact: &Artefact, content: &mut dyn Read) -> Result<()> {
        let folder = self.root.join(set.folder);
        fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, error))?;
        self.forget(set)?;
        let path = folder.join(artefact.file);
        let mut temporary = tempfile::NamedTempFile::new_in(&folder).map_err(|error| Error::io(&folder, error))?;
        let (bytes, sha256) =
            copy_and_hash(content, temporary.as_file_mut()).map_err(|error| Error::io(&path, error))?;
        check(&path, artefact, bytes, &sha256)?;
        persist(temporary, &path)
    }

    /// Says that `set` is complete, after every file of it was placed. The caller holds the lock.
    pub(super) fn complete(&self, set: &FileSet) -> Result<()> {
        let folder = self.root.join(set.folder);
        sync_folder(&folder).map_err(|error| Error::io(&folder, error))?;
        let path = self.manifest(set);
        let json = serde_json::to_vec_pretty(&Manifest::of(set))
            .map_err(|error| Error::Provision(format!("{} cannot be written: {error}", path.display())))?;
        let mut temporary = tempfile::NamedTempFile::new_in(&folder).map_err(|error| Error::io(&folder, error))?;
        temporary.write_all(&json).map_err(|error| Error::io(&path, error))?;
        persist(temporary, &path)?;
        sync_folder(&folder).map_err(|error| Error::io(&folder, error))
    }

    fn forget(&self, set: &FileSet) -> Result<()> {
        remove_if_present(&self.manifest(set))
    }

    fn manifest(&self, set: &FileSet) -> PathBuf {
        self.root.join(set.folder).join(MANIFEST_FILE)
    }
}

/// SHA-256 of a file, in hex.
pub(super) fn file_sha256(path: &Path) -> Result<String> {
    let mut file = File::open(path).map_err(|error| Error::io(path, error))?;
    let (_, sha256) = copy_and_hash(&mut file, &mut io::sink()).map_err(|error| Error::io(path, error))?;
    Ok(sha256)
}

fn check_file(path: &Path, artefact: &Artefact) -> Result<()> {
    let bytes = fs::metadata(path).map_err(|error| Error::io(path, error))?.len();
    check(path, artefact, bytes, &file_sha256(path)?)
}

fn check(path: &Path, artefact: &Artefact, bytes: u64, sha256: &str) -> Result<()> {
    if bytes == artefact.bytes && sha256 == artefact.sha256 {
        return Ok(());
    }
    Err(Error::Provision(format!(
        "{} is not the expected file: {bytes} bytes with SHA-256 {sha256}, but {} bytes with SHA-256 {} were expected; \
         run `memorist setup` to fetch it anew",
        path.display(),
        artefact.bytes,
        artefact.sha256
    )))
}

fn copy_and_hash(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<(u64, String)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 128 << 10];
    let mut total = 0;
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok((total, to_hex(&hasher.finalize()))),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&buffer[..count]);
        to.write_all(&buffer[..count])?;
        total += count as u64;
    }
}

fn persist(temporary: tempfile::NamedTempFile, path: &Path) -> Result<()> {
    temporary.as_file().sync_all().map_err(|error| Error::io(path, error))?;
    temporary.persist(path).map_err(|error| Error::io(path, error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::progress::NoProgress;

    const HELLO: Artefact = Artefact {
        requirement: "hello==1",
        wheel_sha256: "",
        wheel_bytes: 0,
        member: "pkg/hello.txt",
        file: "hello.txt",
        bytes: 11,
        sha256: "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
    };
    const SET: FileSet = FileSet { what: "a greeting", folder: "greeting", artefacts: &[HELLO] };

    fn whole() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned());
        cache.place(&SET, &HELLO, &mut &b"hello world"[..]).unwrap();
        cache.complete(&SET).unwrap();
        (folder, cache)
    }

    #[test]
    fn a_completed_set_is_whole_and_verifies() {
        let (_folder, cache) = whole();
        assert!(cache.is_whole(&SET));
        cache.verify(&SET).unwrap();
    }

    #[test]
    fn without_manifest_or_with_another_size_it_is_not_whole() {
        let (_folder, cache) = whole();
        fs::write(cache.file(&SET, &HELLO), "hello wor").unwrap();
        assert!(!cache.is_whole(&SET), "truncated");

        let (_folder, cache) = whole();
        fs::remove_file(cache.manifest(&SET)).unwrap();
        assert!(!cache.is_whole(&SET), "no manifest");

        let (_folder, cache) = whole();
        fs::write(cache.manifest(&SET), r#"{"version": 1, "files": []}"#).unwrap();
        assert!(!cache.is_whole(&SET), "another manifest");

        let (_folder, cache) = whole();
        fs::remove_file(cache.file(&SET, &HELLO)).unwrap();
        assert!(!cache.is_whole(&SET), "missing file");
    }

    #[test]
    fn a_changed_byte_is_found_by_verify_and_the_set_is_used_no_more() {
        let (_folder, cache) = whole();
        fs::write(cache.file(&SET, &HELLO), "hello_world").unwrap();
        assert!(cache.is_whole(&SET), "sizes alone cannot tell");
        let error = cache.verify(&SET).unwrap_err().to_string();
        assert!(error.contains("not the expected file"), "{error}");
        assert!(!cache.is_whole(&SET));
    }

    #[test]
    fn wrong_content_is_never_put_in_place() {
        let (_folder, cache) = whole();
        assert!(cache.place(&SET, &HELLO, &mut &b"HELLO WORLD"[..]).is_err());
        assert_eq!(fs::read(cache.file(&SET, &HELLO)).unwrap(), b"hello world", "the old file stays");
        assert!(!cache.is_whole(&SET));
        let names: Vec<_> = fs::read_dir(cache.root().join(SET.folder)).unwrap().flatten().collect();
        assert_eq!(names.len(), 1, "no temporary file stays: {names:?}");
    }

    #[test]
    fn the_lock_keeps_a_second_holder_out_and_says_so() {
        struct Stop(AtomicBool);
        impl Progress for Stop {
            fn start(&self, what: &str, _total: Option<u64>) {
                assert!(what.starts_with("waiting"));
                self.0.store(true, Ordering::Relaxed);
            }
            fn advance(&self, _units: u64) {}
            fn finish(&self) {}
            fn cancelled(&self) -> bool {
                self.0.load(Ordering::Relaxed)
            }
        }
        let (_folder, cache) = whole();
        let held = cache.lock(&NoProgress).unwrap();
        assert!(matches!(cache.lock(&Stop(AtomicBool::new(false))), Err(Error::Cancelled)));
        drop(held);
        cache.lock(&NoProgress).unwrap();
    }

    #[test]
    fn leftovers_of_killed_fetches_are_swept() {
        let (folder, cache) = whole();
        let left = folder.path().join(format!("{FETCH_PREFIX}abc"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join("half.whl"), "x").unwrap();
        cache.sweep();
        assert!(!left.exists());
        assert!(cache.is_whole(&SET));
    }
}
