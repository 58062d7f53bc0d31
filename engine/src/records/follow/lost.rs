//! What a promoted standby has lost, and this node still has: it is kept in a file before the copy becomes what the server
//! has. Nothing vanishes in silence, and `memorist import` brings it back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use jiff::Timestamp;
use memorist_durable::sync_folder;

use super::follower::Follower;
use super::question::{Rows, Unit};
use crate::error::{Error, Result};
use crate::files::{private_file, private_folders};
use crate::records::postgres::connection::Client;
use crate::records::postgres::schema::SCHEMA;
use crate::records::sqlite::snapshot::Identity;
use crate::records::sqlite::store::Database;
use crate::text;
use crate::types::{Export, Millis};

/// The file with what was lost in one comparison, made when something was.
pub(super) struct LostFile {
    path: PathBuf,
    file: Option<File>,
    pub(super) memories: u64,
    /// The time of the server.
    now: Millis,
}

impl LostFile {
    /// One beside the copy, or where the settings have it.
    pub(super) fn of(follower: &Follower, now: Millis) -> Self {
        let when = Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S%.3fZ");
        LostFile { path: follower.lost_folder.join(format!("lost-{when}.jsonl")), file: None, memories: 0, now }
    }

    /// Keeps the memories of a range that the server lacks as they are here, but for those that somebody deleted or changed
    /// there.
    pub(super) fn keep(
        &mut self,
        follower: &Follower,
        client: &mut Client,
        database: &Database,
        rows: &BTreeMap<Unit, Rows>,
        bounds: (i64, i64),
    ) -> Result<()> {
        let snapshot = database.snapshot()?;
        let here = snapshot.identities(bounds)?;
        let number = super::tables::RECORDS;
        let mut suspects = Vec::new();
        for identity in here {
            let there = rows.get(&(number, identity.id.get())).and_then(|rows| rows.first());
            let same = there.is_some_and(|(row, _)| {
                let has = |column: &str, bytes: &[u8]| {
                    row.get(column).and_then(|text| text.as_str()) == Some(&format!("\\x{}", text::to_hex(bytes)))
                };
                has("ulid", &identity.ulid)
                    && row.get("version").and_then(serde_json::Value::as_i64) == Some(identity.version)
                    && has("embedding_hash", &identity.embedding_hash)
            });
            if !same {
                suspects.push(identity);
            }
        }
        if suspects.is_empty() {
            return Ok(());
        }
        let known = known(client, &suspects)?;
        for Identity { id, .. } in suspects.iter().filter(|suspect| !known.contains(&text::to_hex(&suspect.ulid))) {
            let portable = snapshot.portable(*id, None, &Export::default(), self.now)?;
            if portable.text.expires_at.is_some_and(|at| at <= self.now) {
                continue; // not missed
            }
            let line = (follower.lost.line)(portable);
            self.write(&line, follower)?;
            self.memories += 1;
        }
        Ok(())
    }

    fn write(&mut self, line: &str, follower: &Follower) -> Result<()> {
        let io = |error| Error::io(&self.path, error);
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let folder = self.path.parent().unwrap_or("".as_ref());
                private_folders().recursive(true).create(folder).map_err(io)?;
                let mut file = private_file().write(true).create_new(true).open(&self.path).map_err(io)?;
                sync_folder(folder).map_err(io)?;
                writeln!(file, "{}", (follower.lost.header)()).map_err(io)?;
                self.file.insert(file)
            }
        };
        writeln!(file, "{line}").map_err(io)
    }

    /// Waits until the disk has what was kept of a range, before the copy loses it.
    pub(super) fn sync(&self) -> Result<()> {
        let synced = self.file.as_ref().map_or(Ok(()), File::sync_all);
        synced.map_err(|error| Error::io(&self.path, error))
    }

    /// Says what was lost, and where it is.
    pub(super) fn tell(&self) {
        if self.memories > 0 {
            let (count, path) = (self.memories, self.path.display());
            tracing::error!(
                "the team store has lost {count} memories that were acknowledged, as a server did that was promoted; they are in \
                 {path}: `memorist import` brings them back"
            );
        }
    }
}

/// Of which of these the server knows better: somebody has deleted them there, or changed what they were. Their ULIDs, in hex.
fn known(client: &mut Client, suspects: &[Identity]) -> Result<BTreeSet<String>> {
    let listed = suspects.iter().map(|Identity { ulid, version, embedding_hash, .. }| {
        format!("('\\x{}'::bytea, {version}, '\\x{}'::bytea)", text::to_hex(ulid), text::to_hex(embedding_hash))
    });
    let listed = listed.collect::<Vec<_>>().join(", ");
    let sql = format!(
        "SELECT encode(s.ulid, 'hex') FROM (VALUES {listed}) s (ulid, version, hash) WHERE \
         EXISTS (SELECT FROM {SCHEMA}.trash t WHERE t.ulid = s.ulid) \
         OR EXISTS (SELECT FROM {SCHEMA}.removed d WHERE d.ulid = s.ulid) \
         OR EXISTS (SELECT FROM {SCHEMA}.records r JOIN {SCHEMA}.versions v ON v.record_id = r.id \
             WHERE r.ulid = s.ulid AND v.version = s.version AND v.embedding_hash = s.hash)"
    );
    client.query_typed(&sql, &[])?.iter().map(|row| Ok(row.try_get::<_, String>(0)?)).collect()
}
