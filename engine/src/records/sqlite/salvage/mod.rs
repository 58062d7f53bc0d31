//! What can be read of a damaged database, saved into a new one.
//!
//! SQLite comes to a row by way of the pages above it, so that one damaged page hides thousands of sound ones. Here
//! every page is looked at for itself. Nothing is saved that may have been altered, and nothing comes back that was
//! deleted: a row is checked against its own hashes and against the indexes, and what fails goes to a file for people.
//! What neither an index nor a hash repeats (source, body, provenance, the end of a long context, some dates) is taken
//! as it stands.
//!
//! | file | job |
//! |---|---|
//! | `pages.rs` | the bytes of a page as rows and index entries |
//! | `tables.rs` | which pages belong to which table, also below a damaged one |
//! | `evidence.rs` | what the indexes say about the records |
//! | `transfer.rs` | row by row into the new database |
//! | `doubts.rs` | the file for people |
//! | `in_place.rs` | replaces the damaged database, which is kept |

mod doubts;
mod evidence;
mod in_place;
mod pages;
mod tables;
#[cfg(test)]
mod tests;
mod transfer;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::types::RecordId;
use pages::Pages;
use tables::{Standing, Table, Trees};

pub use in_place::{salvage, survey};

/// What could be saved, and what not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Salvage {
    /// Memories that are saved.
    pub records: u64,
    /// Memories of which something can be read, but not all of it can be trusted. They are not saved, but kept in a file
    /// of their own.
    pub doubtful: BTreeSet<RecordId>,
    /// Memories that an index knows of, but that cannot be read.
    pub unreadable: BTreeSet<RecordId>,
    /// Saved memories that lack an earlier version.
    pub versions_lost: Vec<RecordId>,
    /// Links between saved memories that are not saved.
    pub links_lost: u64,
    /// Saved memories whose embedding is not: they are embedded again.
    pub to_embed: u64,
    /// Where the rest went; `None` when nothing was changed.
    pub kept: Option<Kept>,
}

impl Salvage {
    /// How many memories there were, as far as is known.
    pub fn total(&self) -> u64 {
        self.records + (self.doubtful.len() + self.unreadable.len()) as u64
    }
}

/// The files that a salvage leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The damaged database, as it was.
    pub damaged: PathBuf,
    /// The doubtful memories and versions: one JSON document a line, with what is wrong. `None` when there were none.
    pub doubtful: Option<PathBuf>,
}

/// The first pages of tables and indexes, as far as the schema can be read.
struct Roots(HashMap<String, u32>);

impl Roots {
    fn find(pages: &Pages, trees: &mut Trees<'_>, mut schema: Table) -> Self {
        trees.follow(Some(1), &mut schema);
        trees.find_strays(std::slice::from_mut(&mut schema));
        let root = |(row, _): (pages::Row, Standing)| match (schema.value(&row, "name"), schema.value(&row, "rootpage"))
        {
            // Views and triggers have no page.
            (Value::Text(name), Value::Integer(page @ 1..)) => Some((name.clone(), u32::try_from(*page).ok()?)),
            _ => None,
        };
        let rows = schema.rows(pages).filter(|(_, standing)| *standing != Standing::Unlikely);
        Roots(rows.filter_map(root).collect())
    }

    /// The first pages of what is not memorist's: rows there may look like those of a table of ours, and were removed from
    /// it. Only where all of ours are known, because damage to a name makes ours look like another's.
    fn of_others(&self, sound: &Connection) -> rusqlite::Result<Vec<u32>> {
        let mut statement = sound.prepare("SELECT name, type = 'table' FROM sqlite_schema WHERE rootpage > 0")?;
        let ours = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let ours = ours.collect::<rusqlite::Result<HashMap<String, bool>>>()?;
        // An older version has other indexes.
        if ours.iter().any(|(name, is_table)| *is_table && self.get(name).is_none()) {
            return Ok(Vec::new());
        }
        let roots: HashSet<u32> = ours.keys().filter_map(|name| self.get(name)).collect();
        let others = self.0.iter().filter(|(name, root)| !ours.contains_key(*name) && !roots.contains(root));
        Ok(others.map(|(_, root)| *root).collect())
    }

    fn get(&self, name: &str) -> Option<u32> {
        self.0.get(name).copied()
    }
}
