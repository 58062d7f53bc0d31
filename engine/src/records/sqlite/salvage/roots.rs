//! Where the tables and indexes of a damaged database begin.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;
use rusqlite::types::Value;

use super::pages::{PageRow, Pages};
use super::tables::{SalvageTable, Standing, Trees};

/// The first pages of tables and indexes, as far as the schema can be read.
pub(super) struct Roots(HashMap<String, u32>);

impl Roots {
    pub(super) fn find(pages: &Pages, trees: &mut Trees<'_>, mut schema: SalvageTable) -> Self {
        trees.follow(Some(1), &mut schema);
        trees.find_strays(std::slice::from_mut(&mut schema));
        let root = |(row, _): (PageRow, Standing)| match (schema.value(&row, "name"), schema.value(&row, "rootpage")) {
            // Views and triggers have no page.
            (Value::Text(name), Value::Integer(page @ 1..)) => Some((name.clone(), u32::try_from(*page).ok()?)),
            _ => None,
        };
        let rows = schema.rows(pages).filter(|(_, standing)| *standing != Standing::Unlikely);
        Roots(rows.filter_map(root).collect())
    }

    /// The first pages of what is not memorist's: rows there may look like those of a table of ours, and were removed from
    /// it. Only where all of ours are known, because damage to a name makes ours look like another's.
    pub(super) fn of_others(&self, sound: &Connection) -> rusqlite::Result<Vec<u32>> {
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

    pub(super) fn get(&self, name: &str) -> Option<u32> {
        self.0.get(name).copied()
    }
}
