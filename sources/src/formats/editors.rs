//! Where editors of the family of VS Code keep what belongs to a user.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;

use super::field::label;
use crate::machine::{Machine, drive_first};

/// The names of their folders.
const EDITORS: [&str; 5] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
/// The folders of their servers, to which an editor on another machine connects.
const SERVERS: [&str; 4] = [".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server"];

/// The folders of the user, whether they exist or not.
pub fn user_folders(machine: &Machine) -> impl Iterator<Item = PathBuf> {
    let own = EDITORS.into_iter().flat_map(|editor| user_folders_of(machine, editor));
    own.chain(SERVERS.map(|server| machine.home().join(server).join("data/User")))
}

pub fn user_folders_of(machine: &Machine, editor: &str) -> impl Iterator<Item = PathBuf> {
    let folders = [
        machine.path("XDG_CONFIG_HOME", ".config"),
        machine.home().join("Library/Application Support"),
        machine.path("APPDATA", "AppData/Roaming"),
    ];
    folders.map(|folder| folder.join(editor).join("User")).into_iter()
}

/// The folder of an address that editors keep, or of a path; `None` if it is on another machine.
pub fn folder_of(address: &str) -> Option<String> {
    match address.strip_prefix("file://") {
        Some(path) => Some(label(drive_first(&percent_decode_str(path).decode_utf8_lossy()))),
        None => (!address.is_empty() && !address.contains("://")).then(|| label(address)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_windows_begins_with_its_drive() {
        for (address, folder) in [
            ("file:///c%3A/Users/ana/atlas", Some("c:/Users/ana/atlas")),
            ("file:///home/ana/atlas", Some("/home/ana/atlas")),
            ("/home/ana/atlas", Some("/home/ana/atlas")),
            ("vscode-remote://wsl/home/ana", None),
            ("", None),
        ] {
            assert_eq!(folder_of(address).as_deref(), folder, "{address}");
        }
    }
}
