//! Memories and links that a promoted standby has lost, and this node still has: they are kept in a file before the copy
//! becomes equal to the server. Nothing vanishes in silence, and `memorist import` restores them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use jiff::Timestamp;
use memorist_durable::sync_folder;

use super::follower::Follower;
use crate::error::{Error, Result};
use crate::files::{private_file, private_folders};
use crate::records::postgres::connection::Client;
use crate::records::postgres::schema::SCHEMA;
use crate::records::rows::link_code;
use crate::records::sqlite::snapshot::{RecordIdentity, Snapshot};
use crate::records::sqlite::store::Database;
use crate::text;
use crate::types::exchange::parse_ulid;
use crate::types::{Export, Exported, Millis, PortableLink};

/// Links that the server is asked about in one question.
const LINKS_AT_ONCE: usize = 1_000;

/// The file with the losses of one comparison, created at the first of them.
pub(super) struct LostFile {
    path: PathBuf,
    file: Option<File>,
    pub(super) memories: u64,
    pub(super) links: u64,
    /// The time of the server.
    now: Millis,
}

impl LostFile {
    /// A file beside the copy, or in the folder of the settings.
    pub(super) fn of(follower: &Follower, now: Millis) -> Self {
        let when = Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S%.3fZ");
        LostFile {
            path: follower.lost_folder.join(format!("lost-{when}.jsonl")),
            file: None,
            memories: 0,
            links: 0,
            now,
        }
    }

    /// Keeps everything in these ranges that the server lacks, before it is removed here: memories, and then links whose
    /// two ends are on the server or in the file.
    pub(super) fn keep(
        &mut self,
        follower: &Follower,
        client: &mut Client,
        database: &Database,
        [memories, links]: [Vec<(i64, i64)>; 2],
    ) -> Result<()> {
        let snapshot = database.snapshot()?;
        for bounds in memories {
            self.keep_memories(follower, client, &snapshot, bounds)?;
        }
        for bounds in links {
            self.keep_links(follower, client, &snapshot.portable_links(bounds, self.now)?)?;
        }
        self.sync()?;
        self.tell();
        Ok(())
    }

    fn keep_memories(
        &mut self,
        follower: &Follower,
        client: &mut Client,
        snapshot: &Snapshot,
        bounds: (i64, i64),
    ) -> Result<()> {
        let here = snapshot.identities(bounds)?;
        if here.is_empty() {
            return Ok(());
        }
        let known = known(client, &here)?;
        for RecordIdentity { id, .. } in here.iter().filter(|one| !known.contains(&text::to_hex(&one.ulid))) {
            let portable = snapshot.portable(*id, None, &Export::default(), self.now)?;
            if portable.text.expires_at.is_some_and(|at| at <= self.now) {
                continue; // not missed
            }
            self.write(Exported::Record(Box::new(portable)), follower)?;
            self.memories += 1;
        }
        Ok(())
    }

    fn keep_links(&mut self, follower: &Follower, client: &mut Client, here: &[PortableLink]) -> Result<()> {
        for links in here.chunks(LINKS_AT_ONCE) {
            let known = known_links(client, links)?;
            for (_, link) in (0..).zip(links).filter(|(at, _)| !known.contains(at)) {
                self.write(Exported::Link(link.clone()), follower)?;
                self.links += 1;
            }
        }
        Ok(())
    }

    fn write(&mut self, lost: Exported, follower: &Follower) -> Result<()> {
        let io = |error| Error::io(&self.path, error);
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let folder = self.path.parent().unwrap_or("".as_ref());
                private_folders().recursive(true).create(folder).map_err(io)?;
                let mut file = private_file().write(true).create_new(true).open(&self.path).map_err(io)?;
                sync_folder(folder).map_err(io)?;
                writeln!(file, "{}", follower.lost.header()).map_err(io)?;
                self.file.insert(file)
            }
        };
        writeln!(file, "{}", follower.lost.line(lost)).map_err(io)
    }

    /// Waits until the file is on the disk, before the copy loses its contents.
    fn sync(&self) -> Result<()> {
        let synced = self.file.as_ref().map_or(Ok(()), File::sync_all);
        synced.map_err(|error| Error::io(&self.path, error))
    }

    /// Logs how much was lost, and where the file is.
    fn tell(&self) {
        if self.file.is_some() {
            let LostFile { memories, links, .. } = self;
            let path = self.path.display();
            tracing::error!(
                "the team store lost {memories} acknowledged memories and {links} links, for example after a failover \
                 or restore; they are in {path}: `memorist import` restores them"
            );
        }
    }
}

/// ULIDs, in hex, of those of these records that the server has, or has a later state of: somebody deleted or changed
/// them there.
fn known(client: &mut Client, here: &[RecordIdentity]) -> Result<BTreeSet<String>> {
    let listed = here.iter().map(|RecordIdentity { ulid, version, embedding_hash, .. }| {
        format!("('\\x{}'::bytea, {version}, '\\x{}'::bytea)", text::to_hex(ulid), text::to_hex(embedding_hash))
    });
    let listed = listed.collect::<Vec<_>>().join(", ");
    let sql = format!(
        "SELECT encode(s.ulid, 'hex') FROM (VALUES {listed}) s (ulid, version, hash) WHERE \
         EXISTS (SELECT FROM {SCHEMA}.trash t WHERE t.ulid = s.ulid) \
         OR EXISTS (SELECT FROM {SCHEMA}.removed d WHERE d.ulid = s.ulid) \
         OR EXISTS (SELECT FROM {SCHEMA}.records r WHERE r.ulid = s.ulid AND r.version = s.version AND r.embedding_hash = s.hash) \
         OR EXISTS (SELECT FROM {SCHEMA}.records r JOIN {SCHEMA}.versions v ON v.record_id = r.id \
             WHERE r.ulid = s.ulid AND v.version = s.version AND v.embedding_hash = s.hash)"
    );
    client.query_typed(&sql, &[])?.iter().map(|row| Ok(row.try_get::<_, String>(0)?)).collect()
}

/// Positions of those of these links that the server has, or can no longer have because somebody deleted one of the two
/// ends.
fn known_links(client: &mut Client, links: &[PortableLink]) -> Result<BTreeSet<i64>> {
    let ulid = |end| parse_ulid("ulid", end).map(|ulid| text::to_hex(&ulid));
    let listed = (0_i64..).zip(links).map(|(at, link)| {
        let (from, kind, to) = (ulid(&link.from)?, link_code(link.kind), ulid(&link.to)?);
        Ok(format!("({at}::bigint, '\\x{from}'::bytea, {kind}, '\\x{to}'::bytea)"))
    });
    let listed = listed.collect::<Result<Vec<_>>>()?.join(", ");
    let sql = format!(
        "SELECT s.at FROM (VALUES {listed}) s (at, one, kind, other) WHERE \
         EXISTS (SELECT FROM {SCHEMA}.records f JOIN {SCHEMA}.links l ON l.from_id = f.id \
             JOIN {SCHEMA}.records t ON t.id = l.to_id WHERE f.ulid = s.one AND l.kind = s.kind AND t.ulid = s.other) \
         OR EXISTS (SELECT FROM (SELECT ulid FROM {SCHEMA}.trash UNION ALL SELECT ulid FROM {SCHEMA}.removed) d \
             WHERE d.ulid IN (s.one, s.other) AND NOT EXISTS (SELECT FROM {SCHEMA}.records r WHERE r.ulid = d.ulid))"
    );
    client.query_typed(&sql, &[])?.iter().map(|row| Ok(row.try_get::<_, i64>(0)?)).collect()
}
