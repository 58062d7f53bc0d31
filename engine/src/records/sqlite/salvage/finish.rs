//! The last steps of the new database, once the rows are in it: its model, the next ids, and the references between rows.

use std::collections::{BTreeSet, HashMap};

use rusqlite::OptionalExtension;
use rusqlite::types::Value;

use super::evidence::IndexEvidence;
use super::report::Salvage;
use super::rows::integer;
use super::tables::SalvageTable;
use super::transfer::{LARGEST, Transfer};
use crate::error::Result;
use crate::records::rules::passages;
use crate::records::sqlite::recount;
use crate::records::sqlite::schema::{misplaced, place_conversations};
use crate::types::RecordId;

impl Transfer<'_> {
    /// Keeps the id of the store and its models.
    pub(super) fn meta(&self, meta: &HashMap<String, Value>) -> Result<()> {
        if let Some(Value::Text(id)) = meta.get("store_id")
            && ulid::Ulid::from_string(id).is_ok()
        {
            self.to.execute("UPDATE meta SET value = ? WHERE key = 'store_id'", [id])?;
        }
        let named = |key| meta.get(key).and_then(integer).filter(|model| self.dims.contains_key(model));
        let next = named("next_model");
        let model = named("model").map_or_else(|| self.likely_model(next), |model| Ok(Some(model)))?;
        for (key, model) in [("model", model), ("next_model", next.filter(|next| Some(*next) != model))] {
            if let Some(model) = model {
                self.to.execute("INSERT INTO meta VALUES (?, ?)", (key, model))?;
            }
        }
        Ok(())
    }

    /// The model that made the most embeddings, of which the next one has fewer until the change; the latest where two
    /// made as many, because the one before a change has rows in the database and no embeddings.
    fn likely_model(&self, next: Option<i64>) -> Result<Option<i64>> {
        let mut statement = self.to.prepare(
            "SELECT id FROM models WHERE id IS NOT ?
             ORDER BY (SELECT count(*) FROM embeddings WHERE model_id = models.id) DESC, id DESC",
        )?;
        Ok(statement.query_row([next], |row| row.get(0)).optional()?)
    }

    /// Continues ids and the numbers of the log where they were. The log itself is not copied: both indexes are rebuilt.
    pub(super) fn sequences(
        &self,
        sequences: &SalvageTable,
        sync_log: &SalvageTable,
        meta: &HashMap<String, Value>,
        evidence: &IndexEvidence,
    ) -> Result<()> {
        let plausible = |number: &i64| (0..=LARGEST).contains(number);
        let known = |name: &str| {
            let rows = sequences.rows(self.pages).filter(|(row, _)| row.whole);
            let of_name = rows.filter(|(row, _)| matches!(&row.values[0], Value::Text(found) if found == name));
            of_name.filter_map(|(row, _)| integer(&row.values[1])).filter(plausible).max()
        };
        let logged = sync_log.rows(self.pages).map(|(row, _)| row.id).filter(plausible).max();
        let trimmed = meta.get("trimmed_to").and_then(integer).filter(plausible);
        let head = [known("sync_log"), logged, trimmed].into_iter().flatten().max().unwrap_or(0);
        // Each new record is a new entry of the log: there never were more ids than entries.
        let given = RecordId::from(known("records").unwrap_or(head));
        let last = evidence.ids().filter(|id| plausible(&id.get())).fold(given.max(self.last_id), RecordId::max);
        self.to.execute("DELETE FROM sqlite_sequence WHERE name IN ('records', 'sync_log')", [])?;
        let mut insert = self.to.prepare("INSERT INTO sqlite_sequence VALUES (?, ?)")?;
        insert.execute(("records", last))?;
        insert.execute(("sync_log", head))?;
        self.to.execute("UPDATE meta SET value = ? WHERE key = 'trimmed_to'", [head])?;
        Ok(())
    }

    /// Connects records with their embeddings, drops unused embeddings, and counts the results.
    pub(super) fn finish(self, evidence: &IndexEvidence) -> Result<Salvage> {
        let count = |sql: &str| self.to.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs);
        let ids = |sql: &str| {
            let mut statement = self.to.prepare(sql)?;
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<RecordId>>>()
        };
        let embedded = count("SELECT count(*) FROM records WHERE embedding_id IS NOT NULL")?;
        // Passages depend on the texts alone.
        passages::cut(self.to, RecordId::START, RecordId::MAX)?;
        self.to.execute_batch(
            "UPDATE records SET embedding_id = (SELECT e.id FROM embeddings e WHERE e.hash = records.embedding_hash
                 AND e.model_id = (SELECT value FROM meta WHERE key = 'model'));
             UPDATE passages SET embedding_id = (SELECT e.id FROM embeddings e WHERE e.hash = passages.hash
                 AND e.model_id = (SELECT value FROM meta WHERE key = 'model'));
             DELETE FROM embeddings WHERE hash NOT IN (SELECT embedding_hash FROM records)
                 AND hash NOT IN (SELECT hash FROM passages)
                 AND hash NOT IN (SELECT embedding_hash FROM versions);
             DELETE FROM embeddings
                 WHERE model_id NOT IN (SELECT value FROM meta WHERE key IN ('model', 'next_model'));",
        )?;
        // Those of a store of an older version.
        self.to.execute_batch(concat!(place_conversations!("records"), place_conversations!("trash")))?;
        self.to.execute(concat!("UPDATE records SET origin = NULL, provenance = NULL WHERE ", misplaced!()), [])?;
        recount::limit_accesses(self.to)?;
        let versions_lost = ids(
            "SELECT id FROM records r WHERE version - 1 <> (SELECT count(*) FROM versions WHERE record_id = r.id)",
        )?;
        self.to.execute(
            "INSERT INTO meta SELECT 'versions_lost', json_group_array(value) FROM json_each(?) HAVING count(*) > 0",
            [serde_json::json!(versions_lost).to_string()],
        )?;
        let saved: BTreeSet<RecordId> = ids("SELECT id FROM records")?.into_iter().collect();
        let given: RecordId =
            self.to.query_row("SELECT seq FROM sqlite_sequence WHERE name = 'records'", [], |row| row.get(0))?;
        let unreadable: BTreeSet<RecordId> = evidence.ids().filter(|id| *id <= given).collect();
        Ok(Salvage {
            records: saved.len() as u64,
            doubtful: &self.doubtful - &saved,
            unreadable: &(&unreadable - &saved) - &self.doubtful,
            versions_lost,
            to_embed: embedded.saturating_sub(count("SELECT count(*) FROM records WHERE embedding_id IS NOT NULL")?),
            ..Salvage::default()
        })
    }
}
