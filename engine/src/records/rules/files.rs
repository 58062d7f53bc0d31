//! Sources, their files, and the records that are read from them. The records of one file are saved in one transaction: a
//! search finds the file as it was before, or as it is now.

use std::collections::{BTreeMap, BTreeSet};

use super::add::{Identity, insert_row, remove};
use super::log::append;
use super::origins;
use super::scopes::scope_id;
use crate::error::{Error, Result};
use crate::records::log::Change;
use crate::records::transaction::{Authority, SelectExt, Tx};
use crate::records::{lookup, rows};
use crate::text::{self, Hash};
use crate::types::{
    FileChanges, FileContent, FileReading, MAX_TURN, Millis, NewRecord, NewSource, Origin, PassedOver, Place, RecordId,
    SourceId, SourceKind,
};

/// Distance of the chunks of a note, so that others fit between them.
const STEP: i64 = 1 << 10;

/// SQL that has the files of the sources that pass a condition read again, as if they were new.
macro_rules! read_again {
    ($condition:literal) => {
        concat!(
            "UPDATE files SET hash = NULL, cursor = NULL, modified = -1
             WHERE source_id IN (SELECT id FROM sources WHERE ",
            $condition,
            ")"
        )
    };
}

/// Adds a source, unless it is there already: then it gets the globs and the scope of this one. Returns its id, and whether
/// it is new.
pub(crate) fn add_source(authority: &impl Authority, new: &NewSource, now: Millis) -> Result<(SourceId, bool)> {
    new.validate()?;
    let globs = (!new.globs.is_empty()).then(|| serde_json::Value::from(new.globs.clone()).to_string());
    let kind = kind_code(new.kind);
    authority.write(|tx| {
        let sql = "SELECT id FROM sources WHERE path = ?1 AND kind = ?2 AND coalesce(format, '') = coalesce(?3, '')";
        let known: Option<i64> =
            tx.first(sql, &[(&new.path).into(), kind.into(), new.format.as_ref().into()], |row| row.get(0))?;
        if let Some(id) = known {
            let sql = "UPDATE sources SET globs = ?2, agent = ?3, project = ?4 WHERE id = ?1";
            let (agent, project) = (new.scope.agent.as_ref().into(), new.scope.project.as_ref().into());
            // What was read belongs to another owner by now: it is read again.
            let reread = read_again!("id = ?1 AND (agent IS DISTINCT FROM ?2 OR project IS DISTINCT FROM ?3)");
            tx.execute(reread, &[id.into(), agent, project])?;
            tx.execute(sql, &[id.into(), globs.as_ref().into(), agent, project])?;
            return Ok((id.into(), false));
        }
        let sql = "INSERT INTO sources (kind, path, format, globs, agent, project, added_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING id";
        let values = [
            kind.into(),
            (&new.path).into(),
            new.format.as_ref().into(),
            globs.as_ref().into(),
            new.scope.agent.as_ref().into(),
            new.scope.project.as_ref().into(),
            now.into(),
        ];
        Ok((tx.insert(sql, &values)?.into(), true))
    })
}

/// Removes a source. Its records stay. Returns the paths of its files that no other source has, if there was one. If
/// `with_copies`, the other transcripts of its format are read again: they may repeat turns of it.
pub(crate) fn remove_source(
    authority: &impl Authority,
    id: SourceId,
    with_copies: bool,
) -> Result<Option<Vec<String>>> {
    authority.write(|tx| {
        let id = id.get();
        if with_copies {
            let reread = read_again!("format = (SELECT format FROM sources WHERE id = ?1) AND id <> ?1");
            tx.execute(reread, &[id.into()])?;
        }
        let sql = "SELECT path FROM files f WHERE source_id = ?1
                 AND NOT EXISTS (SELECT 1 FROM files o WHERE o.path = f.path AND o.source_id <> ?1) ORDER BY path";
        let paths = tx.all(sql, &[id.into()], |row| row.get(0))?;
        Ok((tx.execute("DELETE FROM sources WHERE id = ?1", &[id.into()])? == 1).then_some(paths))
    })
}

/// Notes that all files of a source were looked at.
pub(crate) fn finish_sync(authority: &impl Authority, id: SourceId, skipped: &PassedOver, now: Millis) -> Result<()> {
    let skipped = (*skipped != PassedOver::default()).then(|| serde_json::json!(skipped).to_string());
    let sql = "UPDATE sources SET synced_at = ?2, skipped = ?3 WHERE id = ?1";
    authority.write(|tx| tx.execute(sql, &[id.get().into(), now.into(), skipped.as_ref().into()]).map(drop))
}

/// Saves readings of files of one source, in one transaction. The outcomes are in their order. `None` if the source is
/// gone.
pub(crate) fn save_readings(
    authority: &impl Authority,
    source: SourceId,
    readings: &[FileReading],
    now: Millis,
) -> Result<Option<Vec<FileChanges>>> {
    authority.write(|tx| {
        if !tx.exists("SELECT 1 FROM sources WHERE id = ?1", &[source.get().into()])? {
            return Ok(None);
        }
        readings.iter().map(|reading| save_reading(tx, source, reading, now)).collect::<Result<_>>().map(Some)
    })
}

/// Notes that files of a source no longer exist. Turns stay, and their files get the time of this note; the chunks of
/// notes are deleted.
pub(crate) fn miss_files(
    authority: &impl Authority,
    source: SourceId,
    files: &[i64],
    now: Millis,
) -> Result<FileChanges> {
    authority.write(|tx| {
        let mut changes = FileChanges::default();
        let kind = tx.first("SELECT kind FROM sources WHERE id = ?1", &[source.get().into()], |row| row.get(0))?;
        for &file in files {
            let values = [file.into(), source.get().into()];
            if kind == Some(kind_code(SourceKind::Notes)) {
                // Another source may have the file by now.
                let sql = "SELECT f.thread FROM files f WHERE f.id = ?1 AND f.source_id = ?2 AND NOT EXISTS
                     (SELECT 1 FROM files o WHERE o.thread = f.thread AND o.id <> f.id)";
                let thread = tx.first(sql, &values, |row| row.get::<String>(0))?;
                for chunk in thread.map_or(Ok(Vec::new()), |thread| chunks_of(tx, &thread))? {
                    changes.removed += u64::from(remove(tx, chunk.id)?);
                }
                tx.execute("DELETE FROM files WHERE id = ?1 AND source_id = ?2", &values)?;
            } else {
                let sql = "UPDATE files SET gone_at = ?3 WHERE id = ?1 AND source_id = ?2 AND gone_at IS NULL";
                tx.execute(sql, &[file.into(), source.get().into(), now.into()])?;
            }
        }
        Ok(changes)
    })
}

/// Deletes these records, which were read from files, so that they may be read again.
pub(crate) fn remove_read(authority: &impl Authority, ids: &[RecordId]) -> Result<u64> {
    authority.write(|tx| {
        let mut removed = 0;
        for &id in ids {
            if tx.exists("SELECT 1 FROM records WHERE id = ?1 AND origin IS NOT NULL", &[id.into()])? {
                removed += u64::from(remove(tx, id)?);
            }
        }
        Ok(removed)
    })
}

/// The number that stands for a kind of source.
pub(crate) fn kind_code(kind: SourceKind) -> i64 {
    match kind {
        SourceKind::Notes => 0,
        SourceKind::Sessions => 1,
    }
}

fn counts_json(counts: &BTreeMap<&'static str, u64>) -> Option<String> {
    (!counts.is_empty()).then(|| serde_json::json!(counts).to_string())
}

fn save_reading(tx: &dyn Tx, source: SourceId, reading: &FileReading, now: Millis) -> Result<FileChanges> {
    save_file(tx, source, reading, now)?;
    let mut update = FileUpdate { tx, now, changes: FileChanges::default() };
    match &reading.content {
        FileContent::Unchanged => {}
        FileContent::Chunks(chunks) => update.chunks(&reading.thread, chunks)?,
        FileContent::Turns { turns, whole } => {
            update.turns(turns)?;
            if *whole {
                update.remove_others(&reading.path, turns)?;
            }
        }
    }
    Ok(update.changes)
}

/// Writes the row of a file.
fn save_file(tx: &dyn Tx, source: SourceId, reading: &FileReading, now: Millis) -> Result<()> {
    // Another process may have read it first, or it was renamed onto another.
    let others = "DELETE FROM files WHERE source_id = ?1 AND path = ?2 AND id IS DISTINCT FROM ?3";
    tx.execute(others, &[source.get().into(), (&reading.path).into(), reading.file.into()])?;
    let skipped = counts_json(&reading.skipped);
    let (device, inode) = reading.stamp.identity;
    let values = [
        reading.file.unwrap_or(source.get()).into(),
        (&reading.path).into(),
        reading.stamp.size.cast_signed().into(),
        reading.stamp.modified.into(),
        device.cast_signed().into(),
        inode.cast_signed().into(),
        reading.hash.as_ref().into(),
        reading.cursor.as_ref().into(),
        now.into(),
        reading.problem.as_ref().into(),
        skipped.as_ref().into(),
        (&reading.thread).into(),
    ];
    // Of a note whose chunks are as they were, so is what was passed over within it.
    let is_same_note = reading.content == FileContent::Unchanged && reading.hash.is_some();
    let known = format!(
        "UPDATE files SET path = ?2, size = ?3, modified = ?4, device = ?5, inode = ?6, hash = ?7, cursor = ?8,
             read_at = ?9, gone_at = NULL, problem = ?10, skipped = CASE WHEN {is_same_note} THEN skipped ELSE ?11 END,
             thread = ?12
         WHERE id = ?1"
    );
    if reading.file.is_some() && tx.execute(&known, &values)? == 1 {
        return Ok(());
    }
    let sql =
        "INSERT INTO files (source_id, path, size, modified, device, inode, hash, cursor, read_at, problem, skipped,
             thread)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let mut values = values;
    values[0] = source.get().into();
    tx.execute(sql, &values).map(drop)
}

/// A chunk, or a turn, that is there.
struct ExistingChunk {
    id: RecordId,
    origin: Origin,
    turn: i64,
    scope: i64,
    place: Option<Place>,
    tags: Vec<String>,
}

/// The records of a thread of one scope. A condition on the origin would have SQLite read every record that has one, and
/// so would a join with the scopes.
pub(in crate::records) const OF_THREAD: &str = "SELECT id, origin, turn, scope_id, provenance, tags FROM records
     WHERE scope_id = ?1 AND session = ?2 ORDER BY turn, id";

/// The chunks of a note, in their order, scope by scope.
fn chunks_of(tx: &dyn Tx, thread: &str) -> Result<Vec<ExistingChunk>> {
    let mut known = Vec::new();
    for scope in tx.all("SELECT id FROM scopes ORDER BY id", &[], |row| row.get::<i64>(0))? {
        let all = tx.all(OF_THREAD, &[scope.into(), thread.into()], |row| {
            let Some(origin) = row.get::<Option<[u8; 16]>>(1)? else { return Ok(None) };
            Ok(Some(ExistingChunk {
                id: row.get(0)?,
                origin: Origin::from_bytes(origin),
                turn: row.get::<Option<i64>>(2)?.unwrap_or(0),
                scope: row.get(3)?,
                place: rows::to_place(row, 4)?,
                tags: rows::to_tags(row, 5)?,
            }))
        })?;
        known.extend(all.into_iter().flatten());
    }
    Ok(known)
}

/// The update of one file, within its transaction.
struct FileUpdate<'a> {
    tx: &'a dyn Tx,
    now: Millis,
    changes: FileChanges,
}

impl FileUpdate<'_> {
    fn chunks(&mut self, thread: &str, chunks: &[NewRecord]) -> Result<()> {
        let known = chunks_of(self.tx, thread)?;
        let scope = chunks.first().map_or(Ok(0), |chunk| scope_id(self.tx, &chunk.scope))?;
        let mut by_origin: BTreeMap<Origin, &ExistingChunk> = BTreeMap::new();
        by_origin.extend(known.iter().filter(|chunk| chunk.scope == scope).map(|chunk| (chunk.origin, chunk)));
        let origins: BTreeSet<Origin> =
            chunks.iter().filter_map(|chunk| chunk.place.as_ref()).map(|place| place.origin).collect();
        for chunk in known.iter().filter(|chunk| chunk.scope != scope || !origins.contains(&chunk.origin)) {
            self.changes.removed += u64::from(remove(self.tx, chunk.id)?);
        }
        let turn = |chunk: &NewRecord| Some(by_origin.get(&chunk.place.as_ref()?.origin)?.turn);
        let turns = turns_between(&chunks.iter().map(turn).collect::<Vec<_>>());
        for (chunk, turn) in chunks.iter().zip(turns) {
            let Some(place) = &chunk.place else { continue };
            match by_origin.get(&place.origin) {
                Some(known) => self.keep(known, chunk, turn)?,
                None => {
                    let session = Some(thread.to_owned());
                    self.insert(&NewRecord { session, turn: Some(turn), ..chunk.clone() }, place)?;
                }
            }
        }
        Ok(())
    }

    /// Brings the lines, the turn and the tags of a chunk up to date whose text is as it was.
    fn keep(&mut self, known: &ExistingChunk, chunk: &NewRecord, turn: i64) -> Result<()> {
        self.changes.kept += 1;
        if known.place != chunk.place {
            let place = chunk.place.as_ref().map(rows::place_json);
            let sql = "UPDATE records SET provenance = ?2 WHERE id = ?1";
            self.tx.execute(sql, &[known.id.into(), place.as_ref().into()])?;
        }
        let tags = rows::unique_tags(&chunk.tags);
        if known.turn != turn || known.tags != tags {
            let tags = rows::tags_json(&tags);
            let sql = "UPDATE records SET turn = ?2, tags = ?3 WHERE id = ?1 RETURNING version";
            let values = [known.id.into(), turn.into(), tags.as_ref().into()];
            let version = self.tx.first(sql, &values, |row| row.get(0))?.unwrap_or(1);
            append(self.tx, known.id, &Change::Put { version, new_text: false })?;
        }
        Ok(())
    }

    fn turns(&mut self, turns: &[NewRecord]) -> Result<()> {
        for turn in turns {
            let Some(place) = &turn.place else { continue };
            let sql = "SELECT id, content_hash, turn, session FROM records WHERE origin = ?1";
            let known = self.tx.first(sql, &[place.origin.as_bytes().into()], |row| {
                Ok((
                    row.get::<RecordId>(0)?,
                    row.get::<Hash>(1)?,
                    row.get::<Option<i64>>(2)?,
                    row.get::<Option<String>>(3)?,
                ))
            })?;
            match known {
                None => self.insert(turn, place)?,
                Some((id, hash, ..)) if hash == rows::hash_of_content(&turn.content) && self.stays(id, turn)? => {
                    self.changes.kept += 1;
                    self.adopt(id, place)?;
                }
                Some((id, _, number, session)) => {
                    // A text that grew while the agent was writing it.
                    remove(self.tx, id)?;
                    let number = number.filter(|_| session == turn.session).or(turn.turn);
                    let added = self.changes.added;
                    self.insert(&NewRecord { turn: number, ..turn.clone() }, place)?;
                    self.changes.changed += self.changes.added - added;
                    self.changes.added = added;
                }
            }
        }
        Ok(())
    }

    /// Whether a turn whose text is as it was stays: not if its file gives it another owner by now.
    fn stays(&self, id: RecordId, turn: &NewRecord) -> Result<bool> {
        let sql = "SELECT scope_id, provenance FROM records WHERE id = ?1";
        let known = self.tx.first(sql, &[id.into()], |row| Ok((row.get::<i64>(0)?, rows::to_place(row, 1)?)))?;
        let Some((scope, Some(place))) = known else { return Ok(true) };
        let is_copy = turn.place.as_ref().is_some_and(|own| own.path != place.path);
        Ok(is_copy || scope == scope_id(self.tx, &turn.scope)?)
    }

    /// Assigns a turn to this file, which repeats it, if its own file no longer belongs to a source.
    fn adopt(&self, id: RecordId, place: &Place) -> Result<()> {
        let sql = "SELECT provenance FROM records WHERE id = ?1";
        let known = self.tx.first(sql, &[id.into()], |row| rows::to_place(row, 0))?.flatten();
        let Some(known) = known.filter(|known| known.path != place.path) else { return Ok(()) };
        if !self.tx.exists("SELECT 1 FROM files WHERE path = ?1", &[(&known.path).into()])? {
            let sql = "UPDATE records SET provenance = ?2 WHERE id = ?1";
            self.tx.execute(sql, &[id.into(), rows::place_json(place).as_str().into()])?;
        }
        Ok(())
    }

    /// Removes the turns of this file that are not among `turns`, of the sessions that these have; without any, all of the
    /// file.
    fn remove_others(&mut self, path: &str, turns: &[NewRecord]) -> Result<()> {
        if turns.is_empty() {
            for turn in lookup::read_from(self.tx, |of| of == path)? {
                self.changes.removed += u64::from(remove(self.tx, turn)?);
            }
        }
        let origins: BTreeSet<Origin> =
            turns.iter().filter_map(|turn| turn.place.as_ref()).map(|place| place.origin).collect();
        let sessions: BTreeSet<&str> = turns.iter().filter_map(|turn| turn.session.as_deref()).collect();
        for session in sessions {
            for turn in chunks_of(self.tx, session)? {
                if !origins.contains(&turn.origin) && turn.place.is_some_and(|place| place.path == path) {
                    self.changes.removed += u64::from(remove(self.tx, turn.id)?);
                }
            }
        }
        Ok(())
    }

    fn insert(&mut self, new: &NewRecord, place: &Place) -> Result<()> {
        if origins::is_forgotten(self.tx, place.origin)? {
            self.changes.forgotten += 1;
            return Ok(());
        }
        if let Err(refused) = new.validate() {
            let Error::Invalid { field, .. } = &refused else { return Err(refused) };
            *self.changes.refused.entry(format!("a {field} that no memory can have")).or_default() += 1;
            return Ok(());
        }
        if let Some(other) = origins::record_of(self.tx, place.origin)? {
            // It is in another scope or thread by now.
            remove(self.tx, other)?;
        }
        let scope = scope_id(self.tx, &new.scope)?;
        let at = new.valid.from.filter(|&at| at <= self.now && at >= crate::types::MIN_PLAUSIBLE_MILLIS);
        let identity = Identity {
            ulid: rows::new_ulid(at.unwrap_or(self.now)),
            scope,
            version: 1,
            created_at: at.unwrap_or(self.now),
            updated_at: self.now,
        };
        let hash = text::embedding_hash(None, &new.content);
        insert_row(self.tx, new, None, &hash, (&identity, None))?;
        self.changes.added += 1;
        Ok(())
    }
}

/// Ascending turns for a list in which some items have one already, and keep it if possible: if not, all are numbered
/// again.
fn turns_between(known: &[Option<i64>]) -> Vec<i64> {
    let is_rising = known.iter().flatten().is_sorted_by(|before, after| before < after);
    let kept = if is_rising { spread(known) } else { None };
    kept.unwrap_or_else(|| (1..).map(|number| number * STEP).take(known.len()).collect())
}

/// Gives items without a turn one between their neighbors; `None` where these leave no room.
fn spread(known: &[Option<i64>]) -> Option<Vec<i64>> {
    let mut turns: Vec<i64> = Vec::with_capacity(known.len());
    let mut at = 0;
    while at < known.len() {
        if let Some(turn) = known[at] {
            turns.push(turn);
            at += 1;
            continue;
        }
        let gap = known[at..].iter().take_while(|turn| turn.is_none()).count();
        let before = turns.last().copied().unwrap_or(0);
        let wanted = i64::try_from(gap).ok()?.checked_add(1)?;
        let after = known.get(at + gap).copied().flatten();
        let step = match after {
            Some(after) => (after - before) / wanted,
            None => STEP,
        };
        if step < 1 || before.checked_add(step.checked_mul(wanted)?)? > MAX_TURN {
            return None;
        }
        turns.extend((1..wanted).map(|number| before + number * step));
        at += gap;
    }
    Some(turns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_stay_where_they_are_and_others_come_between() {
        assert_eq!(turns_between(&[None, None]), [STEP, 2 * STEP]);
        assert_eq!(turns_between(&[Some(8), None, Some(16), None]), [8, 12, 16, 16 + STEP]);
        assert_eq!(turns_between(&[None, Some(9)]), [4, 9]);
        assert_eq!(turns_between(&[]), [0_i64; 0]);
    }

    #[test]
    fn turns_are_spread_again_without_room_and_out_of_order() {
        assert_eq!(turns_between(&[Some(8), None, Some(9)]), [STEP, 2 * STEP, 3 * STEP]);
        assert_eq!(turns_between(&[Some(9), Some(8)]), [STEP, 2 * STEP]);
        assert_eq!(turns_between(&[Some(MAX_TURN), None]), [STEP, 2 * STEP]);
    }
}
