//! The cache folder: files are moved into place atomically, and a manifest written last marks a set as complete.
//!
//! ```text
//! <cache>/lock                       held by the one process that fetches
//! <cache>/wheels/*.whl               packages put here by hand, for machines without network
//! <cache>/<set>/<file>
//! <cache>/<set>/manifest.json        {"version": 1, "files": [{"name", "bytes", "sha256"}]}
//! <cache>/.memorist-*.work           a fetch under way; one left by a killed process goes with the next fetch
//! ```
//!
//! A set is not used if it has no manifest, or if a file has another size than the manifest says; it is fetched again.
//! One of the files is code that is loaded into this process. So cache folders are created for this user only (mode
//! 0700); a folder that another user owns or can write to is refused before anything is fetched; and each file is
//! compared with its hash whenever it is opened for loading.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use memorist_durable::PrivateFolder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::packages::{Artefact, FileSet};
use crate::error::{Error, Result};

const MANIFEST_FILE: &str = "manifest.json";
const MANIFEST_VERSION: u32 = 1;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
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
    pub(super) fn of(set: &FileSet) -> Self {
        let files = set.artefacts.iter().map(|artefact| ManifestFile {
            name: artefact.file.to_owned(),
            bytes: artefact.bytes,
            sha256: artefact.sha256.to_owned(),
        });
        Manifest { version: MANIFEST_VERSION, files: files.collect() }
    }
}

/// Why a file of the cache is not used.
enum Fault {
    /// It cannot be opened, or another user could change it.
    Refused(Error),
    /// It is missing, or is not the expected one.
    Damaged(Error),
}

/// The cache folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CacheFolder {
    root: PathBuf,
}

impl CacheFolder {
    pub(super) fn new(root: PathBuf) -> Self {
        CacheFolder { root }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The file `artefact` of `set`, whether or not it is there.
    pub(super) fn file(&self, set: &FileSet, artefact: &Artefact) -> PathBuf {
        self.root.join(set.folder).join(artefact.file)
    }

    /// Whether `set` is complete. Checks names and sizes, not contents.
    pub(super) fn is_whole(&self, set: &FileSet) -> bool {
        let written = fs::read(self.manifest(set)).ok().and_then(|json| serde_json::from_slice::<Manifest>(&json).ok());
        written == Some(Manifest::of(set))
            && set.artefacts.iter().all(|artefact| {
                fs::metadata(self.file(set, artefact)).is_ok_and(|at| at.is_file() && at.len() == artefact.bytes)
            })
    }

    /// Reads every file of `set` and compares its hash. If a file is missing or wrong, the set loses its manifest, so
    /// that the next fetch replaces it. A file that cannot be opened is left: fetching it again would not help.
    pub(super) fn verify(&self, set: &FileSet) -> Result<()> {
        set.artefacts.iter().try_for_each(|artefact| match self.examine(set, artefact) {
            Ok(_) => Ok(()),
            Err(Fault::Refused(error)) => Err(error),
            Err(Fault::Damaged(error)) => {
                self.forget(set)?;
                Err(error)
            }
        })
    }

    /// Fails if another user owns or can write to the cache or one of these sets. Folders that do not exist yet pass.
    pub(super) fn check_is_ours(&self, sets: &[&FileSet]) -> Result<()> {
        let absent = |error: &io::Error| error.kind() == ErrorKind::NotFound;
        let root = match PrivateFolder::open(&self.root) {
            Ok(root) => root,
            Err(error) if absent(&error) => return Ok(()),
            Err(error) => return Err(self.refused(&self.root, error)),
        };
        sets.iter().try_for_each(|set| match root.folder(set.folder) {
            Err(error) if !absent(&error) => Err(self.refused(&self.root.join(set.folder), error)),
            _ => Ok(()),
        })
    }

    /// Opens a file of `set` that only this user can change, and checks that it is the expected one.
    pub(super) fn open_verified(&self, set: &FileSet, artefact: &Artefact) -> Result<File> {
        self.examine(set, artefact).map_err(|fault| match fault {
            Fault::Refused(error) | Fault::Damaged(error) => error,
        })
    }

    fn examine(&self, set: &FileSet, artefact: &Artefact) -> std::result::Result<File, Fault> {
        let path = self.file(set, artefact);
        let root = PrivateFolder::open(&self.root);
        let opened = root.and_then(|root| root.folder(set.folder)).and_then(|folder| folder.open_own(artefact.file));
        let mut file = opened.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Fault::Damaged(Error::io(&path, error)),
            _ => Fault::Refused(self.refused(&path, error)),
        })?;
        let failed = |error| Fault::Refused(Error::io(&path, error));
        let (bytes, sha256) = copy_and_hash(&mut file, &mut io::sink()).map_err(failed)?;
        check(&path, artefact, bytes, &sha256).map_err(Fault::Damaged)?;
        Ok(file)
    }

    pub(super) fn refused(&self, path: &Path, error: io::Error) -> Error {
        // An error of the system needs no further explanation.
        if error.kind() != ErrorKind::PermissionDenied || error.raw_os_error().is_some() {
            return Error::io(path, error);
        }
        let root = self.root.display();
        Error::Exposed(format!(
            "{} is not used: {error}. Code is loaded from the cache, so only you may be able to change it: delete \
             {root}, remove the rights of others (`chmod -R go-w {root}`), or use another cache folder",
            path.display()
        ))
    }

    pub(super) fn forget(&self, set: &FileSet) -> Result<()> {
        let path = self.manifest(set);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io(path, error)),
            _ => Ok(()),
        }
    }

    pub(super) fn manifest(&self, set: &FileSet) -> PathBuf {
        self.root.join(set.folder).join(MANIFEST_FILE)
    }
}

/// SHA-256 of a file, in hex.
#[cfg(any(feature = "onnx", feature = "provision"))]
pub(super) fn file_sha256(path: &Path) -> Result<String> {
    let mut file = File::open(path).map_err(|error| Error::io(path, error))?;
    let (_, sha256) = copy_and_hash(&mut file, &mut io::sink()).map_err(|error| Error::io(path, error))?;
    Ok(sha256)
}

pub(super) fn check(path: &Path, artefact: &Artefact, bytes: u64, sha256: &str) -> Result<()> {
    if bytes == artefact.bytes && sha256 == artefact.sha256 {
        return Ok(());
    }
    Err(Error::Damaged(format!(
        "{} is not the expected file: {bytes} bytes with SHA-256 {sha256}, but {} bytes with SHA-256 {} were expected",
        path.display(),
        artefact.bytes,
        artefact.sha256
    )))
}

pub(super) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn copy_and_hash(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<(u64, String)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 128 << 10];
    let mut total = 0;
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok((total, to_hex(&hasher.finalize()))),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&buffer[..count]);
        to.write_all(&buffer[..count])?;
        total += count as u64;
    }
}

#[cfg(all(test, feature = "provision"))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::progress::{NoProgress, Progress};

    const HELLO: Artefact = Artefact {
        requirement: "hello==1",
        wheel_sha256: "",
        wheel_bytes: 0,
        member: "pkg/hello.txt",
        file: "hello.txt",
        bytes: 11,
        sha256: "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
    };
    const SET: FileSet = FileSet { what: "a greeting", folder: "greeting", tags: &[], artefacts: &[HELLO] };

    fn whole() -> (tempfile::TempDir, CacheFolder) {
        let folder = tempfile::tempdir().unwrap();
        let cache = CacheFolder::new(folder.path().to_owned());
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
    fn verify_finds_a_changed_byte_and_the_set_is_not_used_again() {
        let (_folder, cache) = whole();
        fs::write(cache.file(&SET, &HELLO), "hello_world").unwrap();
        assert!(cache.is_whole(&SET), "sizes alone cannot show it");
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
        struct CancelOnStart(AtomicBool);
        impl Progress for CancelOnStart {
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
        assert!(matches!(cache.lock(&CancelOnStart(AtomicBool::new(false))), Err(Error::Cancelled)));
        drop(held);
        cache.lock(&NoProgress).unwrap();
    }

    #[test]
    fn leftovers_of_killed_fetches_are_swept() {
        let (folder, cache) = whole();
        let left = memorist_durable::new_work_folder(folder.path()).unwrap().keep();
        fs::write(left.join("half.whl"), "x").unwrap();
        let others =
            [".fetch-notes", ".memorist-notes", ".memorist-0123456789abcdef", ".memorist-0123456789abcdef.work.old"];
        others.iter().for_each(|name| fs::create_dir(folder.path().join(name)).unwrap());
        cache.sweep();
        assert!(!left.exists());
        assert!(others.iter().all(|name| folder.path().join(name).is_dir()), "folders of others stay");
        assert!(cache.is_whole(&SET));
    }

    #[cfg(unix)]
    mod on_unix {
        use std::os::unix::fs::{PermissionsExt, symlink};

        use super::*;

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).unwrap().permissions().mode() & 0o777
        }

        #[test]
        fn a_folder_of_the_user_s_keeps_its_rights() {
            let folder = tempfile::tempdir().unwrap();
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
            let cache = CacheFolder::new(folder.path().to_owned());
            for _ in 0..2 {
                drop(cache.lock(&NoProgress).unwrap());
                cache.place(&SET, &HELLO, &mut &b"hello world"[..]).unwrap();
            }
            assert_eq!(mode(folder.path()), 0o755);
            assert_eq!(mode(&folder.path().join(SET.folder)), 0o700, "what is made here is private");
        }

        #[test]
        fn a_set_that_others_can_write_to_is_refused_and_stays_whole() {
            let (folder, cache) = whole();
            let set = folder.path().join(SET.folder);
            fs::set_permissions(&set, fs::Permissions::from_mode(0o770)).unwrap();
            for checked in [cache.check_is_ours(&[&SET]), cache.verify(&SET)] {
                let error = checked.unwrap_err().to_string();
                assert!(error.contains("others can write to it") && error.contains("chmod"), "{error}");
            }
            fs::set_permissions(&set, fs::Permissions::from_mode(0o700)).unwrap();
            assert!(cache.is_whole(&SET), "the manifest is there");
        }

        #[test]
        fn a_set_that_is_a_link_is_refused_and_stays_whole() {
            let (folder, cache) = whole();
            let (set, elsewhere) = (folder.path().join(SET.folder), folder.path().join("elsewhere"));
            fs::rename(&set, &elsewhere).unwrap();
            symlink(&elsewhere, &set).unwrap();
            for checked in [cache.check_is_ours(&[&SET]), cache.verify(&SET)] {
                let error = checked.unwrap_err().to_string();
                assert!(error.contains("it is a link"), "{error}");
            }
            assert!(cache.is_whole(&SET), "the manifest is there");
        }
    }
}
