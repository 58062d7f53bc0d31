//! The store that a file names.

use std::path::{Path, PathBuf};

/// The ending of a store's folder: it stands beside the database that the file names, which stays as it is.
const FOLDER: &str = ".memorist";
/// The endings of databases.
const DATABASES: [&str; 3] = [".sqlite", ".sqlite3", ".db"];

/// Values that paths in the file depend on.
pub struct Paths<'a> {
    pub file: &'a Path,
    pub agent: &'a str,
    pub home: Option<&'a Path>,
}

/// The folder of the store beside this database, of this agent.
pub fn folder(path: &str, paths: &Paths<'_>) -> Result<PathBuf, String> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.@".contains(c);
    // A name is one part of a path.
    let agent: String = paths.agent.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let path = path.replace("${agentId}", &agent).replace("{agentId}", &agent);
    let name = DATABASES.into_iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(&path);
    let path = format!("{name}{FOLDER}");
    let path = match (path.strip_prefix("~/"), paths.home) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_), None) => return Err("store.path: this account has no home folder".to_owned()),
        (None, _) => paths.file.parent().map_or_else(|| PathBuf::from(&path), |folder| folder.join(&path)),
    };
    Ok(path)
}
