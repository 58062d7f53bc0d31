//! SQLite databases of other programs.

use std::path::Path;

use super::System;
use super::error::StoreError;
use super::files::StoreFiles;
use super::reader::{SnapshotReader, quoted};
use super::table::Table;
use super::types::Report;

/// Why embeddings are not moved.
pub const EMBEDDINGS: &str = "embeddings (made again)";

/// A database, read as it was when it was opened.
pub struct StoreDatabase {
    reader: SnapshotReader,
}

impl StoreDatabase {
    /// Opens a database of a store to read it.
    ///
    /// # Errors
    /// If it does not exist, or cannot be read.
    pub fn open(files: &StoreFiles, path: &Path) -> Result<Self, StoreError> {
        SnapshotReader::open(files, path).map(|reader| StoreDatabase { reader })
    }

    pub fn reader(&self) -> &SnapshotReader {
        &self.reader
    }

    /// The table of this name, if there is one.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn table(&self, name: &'static str) -> Result<Option<Table<'_>>, StoreError> {
        if self.reader.has_table(name)? { Table::of(&self.reader, name).map(Some) } else { Ok(None) }
    }

    /// The table of this name.
    ///
    /// # Errors
    /// If it does not exist: then the database is no store of `system`.
    pub fn needed_table(&self, system: System, name: &'static str) -> Result<Table<'_>, StoreError> {
        let missing = || StoreError::unexpected(system, self.reader.path(), format!("has no table {name}"));
        self.table(name)?.ok_or_else(missing)
    }

    /// Counts the rows of the tables that are not among `known`. Virtual tables and their own tables are no data.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn count_unknown_tables(&self, known: &[&str], report: &mut Report) -> Result<(), StoreError> {
        let sql = "SELECT t.name FROM sqlite_schema t WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
                   AND t.rootpage > 0 AND t.sql LIKE 'CREATE TABLE %' AND NOT EXISTS (SELECT 1 FROM sqlite_schema v \
                   WHERE v.sql LIKE 'CREATE VIRTUAL%' AND substr(t.name, 1, length(v.name) + 1) = v.name || '_')";
        let names = self.reader.connection().prepare(sql).and_then(|mut statement| {
            statement.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()
        });
        for name in names.map_err(|error| self.reader.failed(error))? {
            if !known.contains(&name.as_str()) {
                let rows = self.reader.count(&format!("SELECT count(*) FROM {}", quoted(&name)))?;
                report.count_many(format!("rows of the table {name}, which memorist does not know"), rows);
            }
        }
        Ok(())
    }

    /// Counts the embeddings in a virtual table of sqlite-vec.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn count_embeddings(&self, table: &str, report: &mut Report) -> Result<(), StoreError> {
        let rows = format!("{table}_rowids");
        if self.reader.has_table(&rows)? {
            report.count_many(EMBEDDINGS, self.reader.count(&format!("SELECT count(*) FROM {}", quoted(&rows)))?);
        }
        Ok(())
    }
}
