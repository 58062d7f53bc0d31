//! Databases of other memory systems, known by a column of a table.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::errors::database_error;
use crate::error::{Error, Remedy};

/// Names of systems, each with a table and a column of it.
const SYSTEMS: [(&str, &str, &str); 5] = [
    ("mudpuppy", "memory_entries", "entry_type"),
    ("memorizer", "facts", "fact"),
    ("krolik", "memories", "title"),
    ("openclaw", "memory_index_chunks", "text"),
    ("gimli", "chunks", "text"),
];

/// The error for a database that is not ours.
pub fn refusal(conn: &Connection, path: &Path) -> Error {
    match system_of(conn) {
        Some(system) => Error::Database {
            path: path.to_owned(),
            why: format!("it is a database of {system}; choose another folder for the store"),
            remedy: Some(Remedy::MoveIn(system)),
        },
        None => database_error(
            path,
            "it is an SQLite database of another program; choose another folder for the store, or move the file away",
        ),
    }
}

/// Refuses a file that is a database of another system.
pub fn refuse(file: &Path) -> Result<(), Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let is_file = fs::metadata(file).is_ok_and(|found| found.is_file());
    let conn = is_file.then(|| Connection::open_with_flags(file, flags).ok()).flatten();
    match conn.filter(|conn| system_of(conn).is_some()) {
        Some(conn) => Err(refusal(&conn, file)),
        None => Ok(()),
    }
}

/// The system whose database this is.
fn system_of(conn: &Connection) -> Option<&'static str> {
    let has = |table: &str, column: &str| {
        let sql = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
        conn.query_row(sql, [table, column], |row| row.get::<_, i64>(0)).is_ok_and(|count| count > 0)
    };
    SYSTEMS.iter().find(|(_, table, column)| has(table, column)).map(|(system, ..)| *system)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::StorePaths;
    use crate::records::Records;

    /// 45.8: who points the store at the data of another system learns how to bring it in.
    #[test]
    fn data_of_another_system_names_the_import() {
        for (system, table, column) in SYSTEMS {
            for name in ["memory.db", "main.sqlite"] {
                let folder = tempfile::tempdir().unwrap();
                let file = folder.path().join(name);
                let sql = format!("CREATE TABLE {table} (id, {column})");
                Connection::open(&file).unwrap().execute_batch(&sql).unwrap();
                let roots = if name == "memory.db" { vec![folder.path(), &file] } else { vec![file.as_path()] };
                for root in roots {
                    let error = Records::open(&StorePaths::new(root)).err().expect("refused");
                    assert_eq!(error.remedy(), Some(Remedy::MoveIn(system)), "{error}");
                }
                assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{system}: something was made");
            }
        }
    }

    /// 45.8: databases beside a store do not keep it from being made.
    #[test]
    fn a_database_beside_a_store_is_no_reason() {
        let folder = tempfile::tempdir().unwrap();
        Connection::open(folder.path().join("a.db")).unwrap().execute_batch("CREATE TABLE facts (fact)").unwrap();
        Records::open(&StorePaths::new(folder.path())).unwrap();
    }
}
