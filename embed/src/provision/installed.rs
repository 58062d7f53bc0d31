//! Files of packages that a package manager has installed beside this program.
//!
//! memorist's own wheel names the model's package as a dependency, and npm's and Debian's packages have one for it: then
//! nothing is fetched. What is found is no more trusted than what is fetched: a file is compared with its hash, and copied
//! into the cache.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use memorist_durable::ThisProgram;

use super::cache::CacheFolder;
use super::packages::{Artefact, FileSet};
use crate::error::{Error, Result};

/// The folder of our own packages' files, where they have no other name.
const OWN: &str = "memorist";

/// Where packages may be installed.
#[derive(Debug, Clone, Default)]
pub(super) struct Installed {
    folders: Vec<PathBuf>,
}

impl Installed {
    /// In `folders`, and beside this program.
    pub(super) fn new(folders: &[PathBuf]) -> Self {
        // A link leads to where the packages are.
        let this = ThisProgram::find().unwrap_or_default();
        let beside = fs::canonicalize(&this.file).map(|program| beside(&program)).unwrap_or_default();
        Installed { folders: folders.iter().cloned().chain(this.packages).chain(beside).collect() }
    }

    /// Whether a file as long as that of `artefact` is there.
    pub(super) fn has(&self, artefact: &Artefact) -> bool {
        self.candidates(artefact).next().is_some()
    }

    /// Copies the file of `artefact` into the cache, if it is there. The caller holds the lock of the cache.
    pub(super) fn place(&self, cache: &CacheFolder, set: &FileSet, artefact: &Artefact) -> Result<bool> {
        for path in self.candidates(artefact) {
            let placed = File::open(&path)
                .map_err(|error| Error::io(&path, error))
                .and_then(|mut file| cache.place(set, artefact, &mut file));
            match placed {
                Ok(()) => return Ok(true),
                Err(error @ Error::Damaged(_)) => tracing::warn!("{} is not used: {error}", path.display()),
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn candidates(&self, artefact: &Artefact) -> impl Iterator<Item = PathBuf> {
        let paths =
            self.folders.iter().flat_map(|folder| [folder.join(artefact.member), folder.join(OWN).join(artefact.file)]);
        paths.filter(|path| fs::metadata(path).is_ok_and(|at| at.is_file() && at.len() == artefact.bytes))
    }
}

/// The folders of packages of the environment that has `program` in its `bin` (`Scripts` on Windows).
fn beside(program: &Path) -> Vec<PathBuf> {
    let Some(prefix) = program.parent().and_then(Path::parent) else { return Vec::new() };
    let mut folders = vec![prefix.join("share"), prefix.join("Lib").join("site-packages")];
    // npm installs the package of this platform and that of the model side by side.
    folders.extend(prefix.parent().map(|scope| scope.join("model")));
    for library in ["lib", "lib64"] {
        let Ok(entries) = fs::read_dir(prefix.join(library)) else { continue };
        let pythons = entries.flatten().filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"python3"));
        // Debian's Python calls it dist-packages.
        folders.extend(pythons.flat_map(|at| ["site-packages", "dist-packages"].map(|name| at.path().join(name))));
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provision::fetch::testing::{MEMBER, artefact, set_of};

    #[test]
    fn files_are_found_wherever_a_package_manager_puts_them() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = artefact(b"");
        for place in [
            "lib/python3.12/site-packages/pkg", "lib/python3/dist-packages/pkg", "Lib/site-packages/pkg",
            "share/memorist", "../model/memorist",
        ] {
            let prefix = tempfile::tempdir_in(folder.path()).unwrap().keep().join("prefix");
            fs::create_dir(&prefix).unwrap();
            let installed = || Installed { folders: beside(&prefix.join("bin/memorist")) };
            assert!(!installed().has(&wanted), "{place}");
            fs::create_dir_all(prefix.join(place)).unwrap();
            fs::write(prefix.join(place).join("hello.txt"), MEMBER).unwrap();
            assert!(installed().has(&wanted), "{place}");
        }
    }

    #[test]
    fn a_file_is_used_for_its_hash_and_another_beside_it_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let [false_one, true_one] = ["a", "b"].map(|name| folder.path().join(name));
        let set = set_of(artefact(b""));
        for (packages, content) in [(&false_one, &b"HELLO WORLD"[..]), (&true_one, MEMBER)] {
            fs::create_dir_all(packages.join("pkg")).unwrap();
            fs::write(packages.join("pkg/hello.txt"), content).unwrap();
        }
        let cache = CacheFolder::new(folder.path().join("cache"));
        let place = |folders: &[&PathBuf]| {
            let installed = Installed { folders: folders.iter().copied().cloned().collect() };
            installed.place(&cache, &set, &set.artefacts[0]).unwrap()
        };
        assert!(!place(&[&false_one]));
        assert!(!cache.file(&set, &set.artefacts[0]).exists());
        assert!(place(&[&false_one, &true_one]));
        assert_eq!(fs::read(cache.file(&set, &set.artefacts[0])).unwrap(), MEMBER);
    }
}
