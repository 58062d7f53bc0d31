//! Obsidian vaults.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::found::Discovery;
use super::survey::folders;
use crate::foreign;
use crate::machine::Machine;

const ABOUT: &str = "an Obsidian vault";
/// Where people keep vaults, besides the home folder.
const FOLDERS: [&str; 3] = ["Documents", "Notes", "notes"];
/// The longest list of vaults that is read.
const MAX_LIST: u64 = 4 << 20;

/// Obsidian's list of its vaults.
#[derive(Deserialize)]
struct VaultList {
    vaults: BTreeMap<String, Vault>,
}

#[derive(Deserialize)]
struct Vault {
    path: PathBuf,
}

/// Finds the vaults that Obsidian knows, and those where vaults usually are.
pub(super) fn find(machine: &Machine, found: &mut Discovery) {
    for list in lists(machine) {
        for vault in listed(&list) {
            found.notes(ABOUT, &vault);
        }
    }
    let home = machine.home().to_owned();
    for folder in std::iter::once(home.clone()).chain(FOLDERS.map(|name| home.join(name))) {
        found.progress()(&folder);
        for vault in folders(&folder).iter().filter(|folder| folder.join(".obsidian").is_dir()) {
            found.notes(ABOUT, vault);
        }
    }
}

/// Where Obsidian keeps its list: on Linux, also if it came as a Flatpak or a snap, on macOS and on Windows.
fn lists(machine: &Machine) -> [PathBuf; 5] {
    [
        machine.path("XDG_CONFIG_HOME", ".config"),
        machine.home().join(".var/app/md.obsidian.Obsidian/config"),
        machine.home().join("snap/obsidian/current/.config"),
        machine.home().join("Library/Application Support"),
        machine.path("APPDATA", "AppData/Roaming"),
    ]
    .map(|folder| folder.join("obsidian/obsidian.json"))
}

fn listed(list: &Path) -> Vec<PathBuf> {
    let list = foreign::lone(list, MAX_LIST).ok().and_then(|list| serde_json::from_slice::<VaultList>(&list).ok());
    let paths = list.into_iter().flat_map(|list| list.vaults.into_values()).map(|vault| vault.path);
    paths.filter(|path| path.is_absolute()).collect()
}
