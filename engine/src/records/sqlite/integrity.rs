//! Checks that the database keeps SQLite's rules and memorist's.

use rusqlite::{Connection, Row};

use super::schema::{MIGRATIONS, counted, metadata_rows, misplaced};
use super::shape;
use super::store::Database;
use crate::body::Body;
use crate::error::{Error, Result};
use crate::passages;
use crate::records::models;
use crate::records::rows;
use crate::text;
use crate::types::{Kind, RecordId, embedding_of};

/// Findings of one kind are listed up to this many; the rest is counted.
const MOST_LISTED: usize = 20;
/// The end of that count.
pub(super) const MORE_LIKE_THIS: &str = "more like this";

/// Finding for wrong totals, with the scope for `{}`.
pub(super) const WRONG_TALLY: &str = "the totals of scope {} are not those of its records";
/// Finding for an access count that is out of range, with the record for `{}`.
pub(super) const WRONG_ACCESSES: &str = "the access count of record {} is out of range";

/// A finding, and the query that looks for it: each row it gives is a number that replaces `{}`.
const RULES: [(&str, &str); 22] = [
    (
        "record {} has the text of another of its scope",
        // Kinds 14 and 15 repeat.
        "SELECT max(id) FROM records WHERE kind NOT IN (14, 15) GROUP BY content_hash, scope_id, session, turn HAVING count(*) > 1",
    ),
    (
        "a link from record {} is of an unknown kind or of other scopes than its records",
        "SELECT l.from_id FROM links l JOIN records r ON r.id = l.from_id JOIN records t ON t.id = l.to_id
         WHERE l.kind NOT BETWEEN 0 AND 4 OR l.from_scope <> r.scope_id OR l.to_scope <> t.scope_id",
    ),
    (
        WRONG_TALLY,
        concat!(
            "SELECT DISTINCT scope_id FROM (SELECT * FROM (",
            counted!(),
            ")
                 EXCEPT SELECT * FROM tallies
                 UNION ALL SELECT * FROM (SELECT * FROM tallies WHERE records <> 0 OR waiting <> 0 OR accesses <> 0
                     OR confidence <> 0 EXCEPT ",
            counted!(),
            "))"
        ),
    ),
    (WRONG_ACCESSES, "SELECT id FROM records WHERE access_count NOT BETWEEN 0 AND 4294967295"),
    (
        "the count of changes to what supersedes is missing ({} of 1)",
        "SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = 'superseding' AND typeof(value) = 'integer')",
    ),
    (
        "record {} names an embedding that is missing, of another text or of another model",
        "SELECT r.id FROM records r LEFT JOIN embeddings e ON e.id = r.embedding_id
         WHERE r.embedding_id IS NOT NULL AND (e.hash IS NULL OR e.hash <> r.embedding_hash
             OR e.model_id IS NOT (SELECT value FROM meta WHERE key = 'model'))",
    ),
    (
        "record {} waits for an embedding that is there",
        "SELECT r.id FROM records r JOIN embeddings e ON e.hash = r.embedding_hash
         WHERE r.embedding_id IS NULL AND e.model_id = (SELECT value FROM meta WHERE key = 'model')",
    ),
    (
        "a passage of record {} names an embedding that is missing, of another text or of another model",
        "SELECT DISTINCT p.record_id FROM passages p LEFT JOIN embeddings e ON e.id = p.embedding_id
         WHERE p.embedding_id IS NOT NULL AND (e.hash IS NULL OR e.hash <> p.hash
             OR e.model_id IS NOT (SELECT value FROM meta WHERE key = 'model'))",
    ),
    (
        "a passage of record {} waits for an embedding that is there",
        "SELECT DISTINCT p.record_id FROM passages p JOIN embeddings e ON e.hash = p.hash
         WHERE p.embedding_id IS NULL AND e.model_id = (SELECT value FROM meta WHERE key = 'model')",
    ),
    (
        "embedding {} belongs to no record, no passage and no version",
        "SELECT id FROM embeddings e WHERE NOT EXISTS (SELECT 1 FROM records WHERE embedding_hash = e.hash)
             AND NOT EXISTS (SELECT 1 FROM passages WHERE hash = e.hash)
             AND NOT EXISTS (SELECT 1 FROM versions WHERE embedding_hash = e.hash)",
    ),
    (
        "embedding {} is of a model that is neither the store's nor its next",
        "SELECT id FROM embeddings WHERE model_id NOT IN (SELECT value FROM meta WHERE key IN ('model', 'next_model'))",
    ),
    (
        "record {} has a tag that is not indexed",
        "SELECT DISTINCT r.id FROM records r, json_each(r.tags) j WHERE NOT EXISTS
             (SELECT 1 FROM record_tags t WHERE t.tag = lower(j.value) AND t.record_id = r.id)",
    ),
    (
        "record {} is indexed under a tag that it does not have",
        "SELECT DISTINCT t.record_id FROM record_tags t LEFT JOIN records r ON r.id = t.record_id
         WHERE t.tag NOT IN (SELECT lower(value) FROM json_each(coalesce(r.tags, '[]')))",
    ),
    (
        "record {} has metadata that is not indexed",
        concat!(
            "SELECT DISTINCT record_id FROM (",
            metadata_rows!("records r, ", "r.body", "r.id"),
            ") m
             WHERE (key, kind, value, record_id) NOT IN (SELECT key, kind, value, record_id FROM record_metadata)"
        ),
    ),
    (
        "record {} is indexed under metadata that it does not have",
        concat!(
            "SELECT DISTINCT record_id FROM record_metadata
             WHERE (key, kind, value, record_id) NOT IN (",
            metadata_rows!("records r, ", "r.body", "r.id"),
            ")"
        ),
    ),
    ("record {} is deleted and there", "SELECT id FROM records WHERE id IN (SELECT id FROM trash)"),
    (
        "record {} has a version that is not older than it",
        "SELECT DISTINCT r.id FROM versions v JOIN records r ON r.id = v.record_id WHERE v.version >= r.version",
    ),
    (
        "record {} lacks an earlier version",
        "SELECT r.id FROM records r WHERE r.version - 1 <> (SELECT count(*) FROM versions WHERE record_id = r.id)
             AND r.id NOT IN (SELECT j.value FROM meta m, json_each(m.value) j WHERE m.key = 'versions_lost')",
    ),
    (
        "record {} has a session without a turn, or a turn without a session",
        "SELECT id FROM records WHERE (session IS NULL) <> (turn IS NULL)",
    ),
    (
        "record {} has an origin and a place that do not belong together",
        concat!("SELECT id FROM records WHERE ", misplaced!()),
    ),
    (
        "the last number that was given is out of range: {}",
        // Half of all numbers are left.
        "SELECT seq FROM sqlite_sequence WHERE typeof(seq) <> 'integer' OR seq NOT BETWEEN 0 AND 4611686018427387904",
    ),
    (
        "the sync log says that entries are trimmed which are there or were never written: {}",
        "SELECT value FROM meta WHERE key = 'trimmed_to' AND
             (value > coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'sync_log'), 0)
              OR value >= (SELECT min(seq) FROM sync_log))",
    ),
];

/// A check, which adds its findings.
type IntegrityCheck = fn(&Connection, &mut Vec<String>) -> Result<()>;

impl Database {
    /// Checks everything that can be checked, and returns the findings; none means that all is well. Reads the whole
    /// database.
    pub fn integrity(&self) -> Result<Vec<String>> {
        findings(self.snapshot()?.conn())
    }
}

/// The findings of all checks of a database.
pub(super) fn findings(conn: &Connection) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for check in [
        check_shape as IntegrityCheck, check_pages, check_references, check_texts, check_passages, check_vectors,
        check_rules,
    ] {
        match check(conn, &mut findings) {
            // What cannot be read is a finding, not a failure of the check.
            Err(Error::DatabaseFailed(error)) => {
                let finding = format!("the database cannot be read: {error}");
                if !findings.contains(&finding) {
                    findings.push(finding);
                }
            }
            result => result?,
        }
    }
    Ok(findings)
}

/// Checks the schema: somebody may have changed the tables since the store was opened.
fn check_shape(conn: &Connection, findings: &mut Vec<String>) -> Result<()> {
    findings.extend(shape::difference(conn, MIGRATIONS.len())?);
    Ok(())
}

fn check_pages(conn: &Connection, findings: &mut Vec<String>) -> Result<()> {
    let mut statement = conn.prepare("PRAGMA integrity_check")?;
    let said = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    findings.extend(said.into_iter().filter(|line| line != "ok"));
    Ok(())
}

fn check_references(conn: &Connection, findings: &mut Vec<String>) -> Result<()> {
    let describe = |row: &Row<'_>| {
        let (table, rowid, parent): (String, Option<i64>, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(format!("row {} of {table} refers to a row of {parent} that is not there", rowid.unwrap_or(0)))
    };
    report(conn, "PRAGMA foreign_key_check", findings, |row| describe(row).map(Some))
}

/// Checks that contents have their hashes, and that kinds and tags can be read.
fn check_texts(conn: &Connection, findings: &mut Vec<String>) -> Result<()> {
    for (table, what) in [
        ("records", "id, 'record ' || id"),
        ("versions", "record_id, 'version ' || version || ' of record ' || record_id"),
    ] {
        let sql =
            format!("SELECT {what}, content_hash, embedding_hash, context, content, kind, tags, body FROM {table}");
        report(conn, &sql, findings, |row| {
            let problem = text_problem(&StoredText {
                content_hash: row.get_ref(2)?.as_blob()?,
                embedding_hash: row.get_ref(3)?.as_blob()?,
                context: row.get_ref(4)?.as_str_or_null()?,
                content: row.get_ref(5)?.as_str()?,
                kind: row.get(6)?,
                tags: row.get_ref(7)?.as_str_or_null()?,
                body: row.get_ref(8)?.as_str_or_null()?,
            });
            let what: String = row.get(1)?;
            Ok(problem.map(|problem| format!("{what}: {problem}")))
        })?;
    }
    Ok(())
}

/// The text of a record or a version, with its hashes, kind, tags and body.
pub(super) struct StoredText<'a> {
    pub(super) content: &'a str,
    pub(super) context: Option<&'a str>,
    pub(super) content_hash: &'a [u8],
    pub(super) embedding_hash: &'a [u8],
    pub(super) kind: i64,
    pub(super) tags: Option<&'a str>,
    pub(super) body: Option<&'a str>,
}

/// The problem of a text, if it has one.
pub(super) fn text_problem(text: &StoredText<'_>) -> Option<&'static str> {
    let tags_can_be_read = || text.tags.is_none_or(|tags| rows::tags_of(tags).is_ok());
    let body_can_be_read = || {
        let kind = rows::kind_of(text.kind).unwrap_or(Kind::Fact);
        text.body.is_none_or(|body| Body::from_stored(kind, body).is_ok())
    };
    if text.content_hash != rows::hash_of_content(text.content) {
        Some("its content does not have the hash it is known by")
    } else if text.embedding_hash != text::embedding_hash(text.context, text.content) {
        Some("its context and content do not have the hash they are embedded under")
    } else if rows::kind_of(text.kind).is_none() {
        Some("its kind is unknown")
    } else if !tags_can_be_read() {
        Some("its tags cannot be read")
    } else if !body_can_be_read() {
        Some("its body cannot be read")
    } else {
        None
    }
}

/// The vector of `dims` finite numbers in these bytes; `None` if they are not one.
pub(super) fn vector_of(bytes: &[u8], dims: i64) -> Option<Vec<f32>> {
    let vector = usize::try_from(dims).ok().and_then(|dims| embedding_of(bytes, dims));
    vector.filter(|vector| vector.iter().all(|number| number.is_finite()))
}

/// Checks that every record has the passages of its text, if it was cut already.
fn check_passages(conn: &Connection, findings: &mut Vec<String>) -> Result<()> {
    let uncut = models::uncut(conn)?.unwrap_or(RecordId::START);
    report(conn, "SELECT id, context, content FROM records ORDER BY id", findings, |row| {
        let id: RecordId = row.get(0)?;
        let passages = passages::further(row.get_ref(1)?.as_str_or_null()?, row.get_ref(2)?.as_str()?);
        let is_cut = models::of_record(conn, id).is_ok_and(|known| known == passages);
        Ok((!is_cut && id > uncut).then(|| format!("record {id} does not have the passages of its text")))
    })
}

/// Checks that vectors have their model's dimensions, and that their numbers are finite.
fn check_vectors(conn: &Connection, findings: &mut Vec<String>) -> Result<()> {
    let sql = "SELECT e.id, e.vector, m.dims FROM embeddings e JOIN models m ON m.id = e.model_id";
    report(conn, sql, findings, |row| {
        let bytes = row.get_ref(1)?.as_blob()?;
        let dims: i64 = row.get(2)?;
        let id: i64 = row.get(0)?;
        Ok(vector_of(bytes, dims).is_none().then(|| format!("embedding {id} is not a vector of {dims} finite numbers")))
    })
}

fn check_rules(conn: &Connection, findings: &mut Vec<String>) -> Result<()> {
    for (finding, sql) in RULES {
        report(conn, sql, findings, |row| Ok(Some(finding.replace("{}", &row.get::<_, i64>(0)?.to_string()))))?;
    }
    Ok(())
}

fn report(
    conn: &Connection,
    sql: &str,
    findings: &mut Vec<String>,
    describe: impl Fn(&Row<'_>) -> rusqlite::Result<Option<String>>,
) -> Result<()> {
    let mut statement = conn.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut found = 0;
    while let Some(row) = rows.next()? {
        let Some(finding) = describe(row)? else { continue };
        found += 1;
        if found <= MOST_LISTED {
            findings.push(finding);
        }
    }
    if found > MOST_LISTED {
        findings.push(format!("and {} {MORE_LIKE_THIS}", found - MOST_LISTED));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, model, new};
    use crate::types::{RecordUpdate, Viewer};

    /// Two records, one of them with a tag, an expiry, an earlier version and an embedding.
    fn store() -> TestStore {
        let store = TestStore::new();
        let model = store.model(&model(2)).unwrap();
        store.add(&new("first"), NOW).unwrap();
        let mut second = new("second");
        second.tags = vec!["a tag".into()];
        second.body = Some(serde_json::json!({ "metadata": { "year": 2024, "of": [true, "b"] } }));
        second.expires_at = Some(NOW + 1);
        let id = store.add(&second, NOW).unwrap().id;
        let hash = store.pending(model, 1, NOW).unwrap()[0].hash;
        store.store_embeddings(model, &[(hash, vec![0.0, 1.0])]).unwrap();
        store.update(id, &RecordUpdate { importance: Some(9), ..Default::default() }, &Viewer::OWNER, NOW).unwrap();
        store
    }

    #[test]
    fn a_sound_store_has_no_findings() {
        assert_eq!(store().integrity().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn every_rule_notices_its_breach() {
        let breaches = [
            ("UPDATE records SET content = 'other' WHERE id = 1", "record 1: its content does not have the hash"),
            ("UPDATE records SET context = 'other' WHERE id = 1", "record 1: its context and content"),
            ("UPDATE versions SET content = 'other'", "version 1 of record 2: its content"),
            ("UPDATE records SET kind = 99 WHERE id = 1", "record 1: its kind is unknown"),
            ("UPDATE records SET tags = '[1]' WHERE id = 2", "record 2: its tags cannot be read"),
            ("UPDATE records SET body = '[]' WHERE id = 2", "record 2: its body cannot be read"),
            ("UPDATE embeddings SET vector = x'0000C07F00000000'", "embedding 1 is not a vector of 2 finite"),
            ("UPDATE embeddings SET vector = x'00'", "embedding 1 is not a vector of 2 finite"),
            ("UPDATE records SET embedding_id = 7 WHERE id = 1", "record 1 names an embedding that is missing"),
            (
                "INSERT INTO models VALUES (9, 'other', 'x', 'mean', 2); UPDATE embeddings SET model_id = 9",
                "record 1 names an embedding that is missing, of another text or of another model",
            ),
            (
                "INSERT INTO models VALUES (9, 'other', 'x', 'mean', 2);
                 INSERT INTO embeddings SELECT 9, 9, hash, vector FROM embeddings",
                "embedding 9 is of a model that is neither the store's nor its next",
            ),
            ("UPDATE records SET embedding_id = NULL", "record 1 waits for an embedding that is there"),
            ("DELETE FROM records WHERE id = 1", "embedding 1 belongs to no record"),
            ("DELETE FROM record_tags", "record 2 has a tag that is not indexed"),
            ("INSERT INTO record_tags VALUES ('x', 1)", "record 1 is indexed under a tag that it does not have"),
            ("DELETE FROM record_metadata", "record 2 has metadata that is not indexed"),
            (
                "INSERT INTO record_metadata VALUES ('x', 3, 'y', 1)",
                "record 1 is indexed under metadata that it does not have",
            ),
            ("UPDATE versions SET version = 5", "record 2 has a version that is not older than it"),
            (
                "INSERT INTO records SELECT 3, zeroblob(16), 1, kind, scope_id, 5, 1.0, 1, 1, NULL, NULL, NULL, 0, NULL,
                     content_hash, embedding_hash, embedding_id, source, NULL, NULL, NULL, NULL, content, NULL, NULL, NULL
                 FROM records WHERE id = 1",
                "record 3 has the text of another of its scope",
            ),
            ("INSERT INTO links VALUES (1, 2, 2, 9, 1, 0)", "a link from record 1 is of an unknown kind or of other scopes"),
            ("INSERT INTO links VALUES (1, 2, 2, 1, 9, 0)", "a link from record 1 is of an unknown kind or of other scopes"),
            ("INSERT INTO links VALUES (1, 5, 2, 1, 1, 0)", "a link from record 1 is of an unknown kind"),
            ("UPDATE tallies SET records = 3 WHERE scope_id = 1", "the totals of scope 1 are not those of its records"),
            ("UPDATE tallies SET waiting = waiting + 1", "the totals of scope 1 are not those of its records"),
            ("UPDATE tallies SET accesses = accesses + 1", "the totals of scope 1 are not those of its records"),
            ("UPDATE tallies SET confidence = confidence + 1", "the totals of scope 1 are not those of its records"),
            ("INSERT INTO tallies VALUES (1, 3, 3, 0, 0, 1, 0)", "the totals of scope 1 are not those of its records"),
            ("DELETE FROM tallies", "the totals of scope 1 are not those of its records"),
            ("UPDATE records SET access_count = 9223372036854775807 WHERE id = 1", "the access count of record 1 is out of range"),
            ("UPDATE records SET access_count = -1 WHERE id = 2", "the access count of record 2 is out of range"),
            ("CREATE VIEW spy AS SELECT content FROM records", "its tables are not those that memorist makes (added: view \"spy\")"),
            ("UPDATE records SET turn = 1 WHERE id = 1", "record 1 has a session without a turn, or a turn without a session"),
            ("UPDATE records SET origin = zeroblob(16) WHERE id = 1", "record 1 has an origin and a place that do not belong"),
            ("UPDATE records SET provenance = '{}' WHERE id = 1", "record 1 has an origin and a place that do not belong"),
            ("UPDATE records SET provenance = '{' WHERE id = 1", "record 1 has an origin and a place that do not belong"),
            ("DELETE FROM meta WHERE key = 'superseding'", "the count of changes to what supersedes is missing"),
            ("PRAGMA foreign_keys = OFF; INSERT INTO links VALUES (1, 0, 9, 1, 1, 0)", "of links refers to"),
            ("DELETE FROM versions", "record 2 lacks an earlier version"),
            ("UPDATE meta SET value = 2 WHERE key = 'trimmed_to'", "the sync log says that entries are trimmed"),
            ("UPDATE meta SET value = 99 WHERE key = 'trimmed_to'", "the sync log says that entries are trimmed"),
            ("PRAGMA foreign_keys = OFF; UPDATE records SET scope_id = 9 WHERE id = 2", "row 2 of records refers to"),
        ];
        for (breach, finding) in breaches {
            let store = store();
            store.sql(breach);
            let findings = store.integrity().unwrap();
            assert!(findings.iter().any(|found| found.contains(finding)), "{breach}: {findings:?}");
        }
    }

    #[test]
    fn a_thousand_findings_are_counted_not_listed() {
        let store = TestStore::new();
        let news: Vec<_> = (0..100).map(|n| new(&format!("text {n}"))).collect();
        store.add_batch(&news, NOW).unwrap();
        store.sql("UPDATE records SET content = content || '!'");
        let findings = store.integrity().unwrap();
        assert_eq!(findings.len(), 21);
        assert_eq!(findings[20], "and 80 more like this");
    }
}
