//! Sources, and the files that were read of them.

use std::collections::BTreeMap;

use super::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::records::transaction::{Row, SelectExt};
use crate::records::{lookup, rows};
use crate::text::Hash;
use crate::types::{
    FileStamp, Kind, KnownFile, Millis, NewSource, PassedOver, RecordId, Scope, Source, SourceFile, SourceId,
    SourceKind, SourceStats,
};

const NANOS: i64 = 1_000_000;
/// Maximum number of files without a reading that are named.
const NAMED: usize = 20;

/// `SELECT` of the columns that [`to_file`] reads.
macro_rules! file_columns {
    () => {
        "SELECT id, path, thread, size, modified, device, inode, hash, cursor, gone_at, problem FROM files"
    };
}

impl Snapshot {
    /// All sources, in the order in which they were added.
    pub fn sources(&self) -> Result<Vec<Source>> {
        let sql = "SELECT id, kind, path, format, globs, agent, project, added_at, synced_at, skipped FROM sources
             ORDER BY id";
        self.conn().all(sql, &[], |row| {
            let globs = row.get::<Option<&str>>(4)?.map(rows::tags_of).transpose();
            let globs = globs.map_err(|error| Error::unreadable(format!("globs: {error}")))?;
            Ok(Source {
                id: row.get::<i64>(0)?.into(),
                source: NewSource {
                    kind: to_kind(row.get(1)?),
                    path: row.get(2)?,
                    format: row.get(3)?,
                    globs: globs.unwrap_or_default(),
                    scope: Scope { agent: row.get(5)?, project: row.get(6)? },
                },
                added_at: row.get(7)?,
                synced_at: row.get(8)?,
                skipped: passed_over(row, 9)?,
            })
        })
    }

    /// Statistics of each source.
    pub fn source_stats(&self) -> Result<Vec<SourceStats>> {
        let all = self.sources()?.into_iter();
        let stats = all.map(|source| {
            let sql =
                "SELECT count(*) FILTER (WHERE gone_at IS NULL), coalesce(sum(size) FILTER (WHERE gone_at IS NULL), 0),
                     count(gone_at), count(problem) FILTER (WHERE gone_at IS NULL), max(modified) FROM files
                 WHERE source_id = ?1";
            let stats = self.conn().first(sql, &[source.id.get().into()], |row| {
                let number = |column| Ok::<_, Error>(row.get::<i64>(column)?.unsigned_abs());
                let newest = row.get::<Option<Millis>>(4)?.map(|at| at / NANOS);
                Ok((number(0)?, number(1)?, number(2)?, number(3)?, newest))
            })?;
            let (files, bytes, gone, failed, newest) = stats.unwrap_or_default();
            let mut skipped = BTreeMap::new();
            let sql = "SELECT skipped FROM files WHERE source_id = ?1 AND skipped IS NOT NULL";
            for of_file in self.conn().all(sql, &[source.id.get().into()], |row| counts(row, 0))? {
                of_file.into_iter().for_each(|(why, count)| *skipped.entry(why).or_default() += count);
            }
            // A note, which has a hash, is passed over as a whole.
            let sql = "SELECT path, coalesce(problem, (SELECT key FROM json_each(skipped) WHERE key LIKE 'the PDF %'),
                     'it is no text') FROM files WHERE source_id = ?1 AND gone_at IS NULL
                 AND (problem IS NOT NULL OR hash IS NOT NULL
                     AND (skipped LIKE '%\"no text\"%' OR skipped LIKE '%\"the PDF %')) ORDER BY path";
            let mut unread = self.conn().all(sql, &[source.id.get().into()], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let all_unread = unread.len() as u64 + source.skipped.all_files;
            unread.extend(source.skipped.files.iter().cloned());
            unread.truncate(NAMED);
            Ok(SourceStats { source, files, bytes, gone, failed, skipped, unread, all_unread, newest })
        });
        stats.collect()
    }

    /// Every file of a source, by path.
    pub fn source_files(&self, source: SourceId) -> Result<Vec<SourceFile>> {
        let sql = concat!(file_columns!(), " WHERE source_id = ?1 ORDER BY path");
        self.conn().all(sql, &[source.get().into()], to_file)
    }

    /// The file of a source with this path.
    pub fn source_file(&self, source: SourceId, path: &str) -> Result<Option<SourceFile>> {
        let sql = concat!(file_columns!(), " WHERE source_id = ?1 AND path = ?2");
        self.conn().first(sql, &[source.get().into(), path.into()], to_file)
    }

    /// The sources that have a file with this path.
    pub fn known_files(&self, path: &str) -> Result<Vec<KnownFile>> {
        let sql = "SELECT f.source_id, s.kind, f.thread, f.gone_at FROM files f JOIN sources s ON s.id = f.source_id
             WHERE f.path = ?1 ORDER BY f.source_id";
        self.conn().all(sql, &[path.into()], |row| {
            Ok(KnownFile {
                source: row.get::<i64>(0)?.into(),
                kind: to_kind(row.get(1)?),
                thread: row.get(2)?,
                gone_at: row.get(3)?,
            })
        })
    }

    /// The threads of chunks that no file has, by the path of their note.
    pub fn left_threads(&self) -> Result<BTreeMap<String, String>> {
        let sql = "WITH threads AS MATERIALIZED (SELECT session, min(id) AS id FROM records
                 WHERE session IS NOT NULL AND session NOT IN (SELECT thread FROM files) GROUP BY scope_id, session)
             SELECT t.session, r.provenance FROM threads t JOIN records r ON r.id = t.id WHERE r.kind = ?1";
        let all = self.conn().all(sql, &[rows::kind_code(Kind::Chunk).into()], |row| {
            let thread = row.get(0)?;
            Ok(rows::to_place(row, 1)?.map(|place| (place.path, thread)))
        })?;
        Ok(all.into_iter().flatten().collect())
    }

    /// The files whose path ends with `/` and this, at most `limit`.
    pub fn paths_ending_with(&self, end: &str, limit: usize) -> Result<Vec<String>> {
        let sql = "SELECT DISTINCT path FROM files WHERE substr(path, -length(?1) - 1) IN ('/' || ?1, '\\' || ?1)
             ORDER BY path LIMIT ?2";
        self.conn().all(sql, &[end.into(), i64::try_from(limit).unwrap_or(i64::MAX).into()], |row| row.get(0))
    }

    /// The records that were read from files that `holds` is true of, with the files' paths.
    pub fn read_from(&self, holds: impl Fn(&str) -> bool) -> Result<Vec<RecordId>> {
        lookup::read_from(self.conn(), holds)
    }
}

/// Reads a row of [`file_columns`].
fn to_file(row: &dyn Row) -> Result<SourceFile> {
    Ok(SourceFile {
        id: row.get(0)?,
        path: row.get(1)?,
        thread: row.get(2)?,
        stamp: FileStamp {
            size: row.get::<i64>(3)?.cast_unsigned(),
            modified: row.get(4)?,
            identity: (row.get::<i64>(5)?.cast_unsigned(), row.get::<i64>(6)?.cast_unsigned()),
        },
        hash: row.get::<Option<Hash>>(7)?,
        cursor: row.get(8)?,
        gone_at: row.get(9)?,
        problem: row.get(10)?,
    })
}

fn to_kind(code: i64) -> SourceKind {
    if code == 0 { SourceKind::Notes } else { SourceKind::Sessions }
}

/// Counts by reason, in this column. Damage to them counts as none.
fn counts(row: &dyn Row, column: usize) -> Result<BTreeMap<String, u64>> {
    Ok(row.get::<Option<&str>>(column)?.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default())
}

/// Files passed over in a source, in this column. Damage to it, and an older version's counts, count as nothing until the
/// next sync.
fn passed_over(row: &dyn Row, column: usize) -> Result<PassedOver> {
    Ok(row.get::<Option<&str>>(column)?.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use crate::records::rules::files::OF_THREAD;
    use crate::types::{NewRecord, Origin, Place};

    /// A reading looks for the records of each file: however many there are, it reads those alone.
    #[test]
    fn the_records_of_a_thread_are_found_in_its_index() {
        let store = TestStore::new();
        for number in 0..50_u8 {
            let place = Some(Place::new(Origin::from_bytes([number; 16]), "/a", 1, 1));
            let session = Some(format!("s{}", number / 5));
            store.add(&NewRecord { place, session, ..new(&number.to_string()) }, NOW).unwrap();
        }
        for analyzed in [false, true] {
            if analyzed {
                store.sql("ANALYZE");
            }
            let view = store.view();
            let mut plan = view.conn().prepare(&format!("EXPLAIN QUERY PLAN {OF_THREAD}")).unwrap();
            let plan = plan.query_map((1, "s1"), |row| row.get::<_, String>(3)).unwrap();
            let plan = plan.map(Result::unwrap).collect::<Vec<_>>().join("; ");
            assert!(plan.contains("SEARCH records USING INDEX records_by_thread (scope_id=? AND session=?)"), "{plan}");
        }
    }
}
