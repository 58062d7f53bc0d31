//! The file of a store in a folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::database::StoreDatabase;
use super::error::StoreError;
use super::files::StoreFiles;
use super::reader::is_database;

/// The database of a store: the path itself, or the database in that folder that has a table of these names. Its usual paths are
/// tried first.
///
/// # Errors
/// If there is none, or more than one.
pub fn database(files: &StoreFiles, usual: &[&str], tables: &[&'static str]) -> Result<PathBuf, StoreError> {
    let (system, path) = (files.system(), files.path());
    if !path.is_dir() {
        return Ok(path.into());
    }
    if let Some(found) = usual.iter().map(|name| path.join(name)).find(|file| files.is_file(file)) {
        return Ok(found);
    }
    let mut found = databases(files, path, tables)?;
    match (found.pop(), found.is_empty()) {
        (Some(one), true) => Ok(one),
        (Some(_), false) => Err(StoreError::unexpected(system, path, "has more than one; name the file")),
        (None, _) => Err(StoreError::unexpected(system, path, "has none")),
    }
}

/// The databases in a folder, not below it, that have a table of these names, in the order of their names.
///
/// # Errors
/// Errors of the file system and of the databases.
pub fn databases(files: &StoreFiles, folder: &Path, tables: &[&'static str]) -> Result<Vec<PathBuf>, StoreError> {
    let mut found = Vec::new();
    for file in entries(folder)? {
        if is_database(files, &file) && has_table(&StoreDatabase::open(files, &file)?, tables)? {
            found.push(file);
        }
    }
    Ok(found)
}

fn has_table(database: &StoreDatabase, tables: &[&'static str]) -> Result<bool, StoreError> {
    for table in tables {
        if database.table(table)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The entries of a folder, in the order of their names.
///
/// # Errors
/// Errors of the file system.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = StoreError::io(folder);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(&failed)? {
        paths.push(entry.map_err(&failed)?.path());
    }
    paths.sort();
    Ok(paths)
}
