//! Row by row from a damaged database into a new one: sound rows are copied, others are reported.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Transaction, params_from_iter};

use super::doubts::Doubts;
use super::evidence::{IndexEvidence, print};
use super::pages::{PageRow, Pages};
use super::report::Salvage;
use super::roots::Roots;
use super::rows::{contradicts, integer, is_link_kind, label, problem_of_text, sound_rows, versions_in};
use super::tables::{SalvageTable, Standing, Trees};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::records::rows;
use crate::records::sqlite::integrity;
use crate::types::{Kind, RecordId, Scope, embedding, embedding_bytes};

/// The tables with row ids, in the order of [`Tables`]. The search log is not saved: queries are no memories.
const NAMES: [&str; 12] = [
    "records", "versions", "trash", "trash_versions", "embeddings", "scopes", "models", "access_log", "sources",
    "files", "sync_log", "sqlite_sequence",
];

/// Maximum id and sequence number, as in JSON: larger ones are damage.
pub(super) const LARGEST: i64 = (1 << 53) - 1;

/// Reads the damaged file, which nobody writes, and fills the new database. Rows that cannot be trusted go to `doubts`.
pub(super) fn transfer(
    damaged: &Path,
    to: &Transaction<'_>,
    doubts: &mut Doubts,
    progress: &dyn Progress,
) -> Result<Salvage> {
    let pages = Pages::open(damaged).map_err(|error| Error::io(damaged, error))?;
    let mut trees = Trees::new(&pages);
    let roots = Roots::find(&pages, &mut trees, SalvageTable::like(to, "sqlite_schema")?);
    for root in roots.of_others(to)? {
        trees.leave_out(root);
    }
    let mut tables = Vec::new();
    for name in NAMES {
        let mut table = SalvageTable::like(to, name)?;
        trees.follow(roots.get(name), &mut table);
        tables.push(table);
    }
    trees.find_strays(&mut tables);
    let evidence = IndexEvidence::collect(&mut trees, &roots);
    let meta = read_meta(&mut trees, &roots);
    let [
        records,
        versions,
        trash,
        trash_versions,
        embeddings,
        scopes,
        models,
        access_log,
        sources,
        files,
        sync_log,
        sequences,
    ] = &tables[..]
    else {
        unreachable!("one for each name")
    };
    let mut transfer = Transfer {
        pages: &pages,
        to,
        doubts,
        progress,
        scopes: HashMap::new(),
        dims: HashMap::new(),
        written: HashSet::new(),
        doubtful: BTreeSet::new(),
        last_id: RecordId::START,
    };
    transfer.scopes(scopes, &mut trees, &roots)?;
    transfer.models(models, &mut trees, &roots)?;
    transfer.embeddings(embeddings)?;
    let indexed = versions_in(&mut trees, roots.get("sqlite_autoindex_versions_1"));
    progress.start("saving memories", Some(evidence.ids().count() as u64));
    let saved = transfer.records(records, &evidence).and_then(|()| transfer.versions(versions, &indexed));
    progress.finish();
    saved?;
    let deleted = transfer.trash(trash, trash_versions, &mut trees, &roots)?;
    transfer.access_log(access_log)?;
    transfer.files(sources, files, &mut trees, &roots)?;
    let links_lost = transfer.links(&mut trees, &roots)?;
    transfer.tombstones(&mut trees, &roots)?;
    transfer.meta(&meta)?;
    transfer.sequences(sequences, sync_log, &meta, &evidence)?;
    Ok(Salvage { deleted, links_lost, ..transfer.finish(&evidence)? })
}

/// The rows of `meta` that can be read.
fn read_meta(trees: &mut Trees<'_>, roots: &Roots) -> HashMap<String, Value> {
    let mut meta = HashMap::new();
    trees.keys(roots.get("meta"), 2, |entry| {
        if let [Value::Text(key), value] = entry {
            meta.insert(key.clone(), value.clone());
        }
    });
    meta
}

pub(super) struct Transfer<'a> {
    pub(super) pages: &'a Pages,
    pub(super) to: &'a Transaction<'a>,
    doubts: &'a mut Doubts,
    progress: &'a dyn Progress,
    /// Scopes that are written so far, and the dimensions of the models.
    scopes: HashMap<i64, Scope>,
    pub(super) dims: HashMap<i64, i64>,
    /// Prints of the rows of records and versions: a page that was written to two places has each row twice.
    written: HashSet<u64>,
    pub(super) doubtful: BTreeSet<RecordId>,
    pub(super) last_id: RecordId,
}

impl Transfer<'_> {
    /// Reads the scopes from their rows and from the index of names; where the two contradict each other, neither counts.
    fn scopes(&mut self, table: &SalvageTable, trees: &mut Trees<'_>, roots: &Roots) -> Result<()> {
        let mut found: BTreeMap<i64, Option<Scope>> = BTreeMap::new();
        let mut note = |id: i64, scope: Scope| {
            let known = found.entry(id).or_insert_with(|| Some(scope.clone()));
            if known.as_ref() != Some(&scope) {
                *known = None;
            }
        };
        for row in sound_rows(table, self.pages) {
            if let (Ok(agent), Ok(project)) = (label(&row.values[1]), label(&row.values[2])) {
                note(row.id, Scope { agent, project });
            }
        }
        trees.keys(roots.get("scopes_by_names"), 3, |entry| {
            if let [agent, project, Value::Integer(id)] = entry
                && let (Ok(agent), Ok(project)) = (label(agent), label(project))
            {
                note(*id, Scope { agent, project });
            }
        });
        self.scopes.insert(1, Scope::default());
        let mut insert = self.to.prepare("INSERT OR IGNORE INTO scopes VALUES (?, ?, ?)")?;
        for (id, scope) in found {
            let Some(scope) = scope else { continue };
            if insert.execute((id, &scope.agent, &scope.project))? == 1 {
                self.scopes.insert(id, scope);
            }
        }
        Ok(())
    }

    fn models(&mut self, table: &SalvageTable, trees: &mut Trees<'_>, roots: &Roots) -> Result<()> {
        let mut indexed = HashMap::new();
        trees.keys(roots.get("sqlite_autoindex_models_1"), 4, |entry| {
            if let Some(Value::Integer(id)) = entry.last() {
                indexed.insert(*id, print("model", &entry[..3]));
            }
        });
        for row in sound_rows(table, self.pages) {
            let contradicted = indexed.get(&row.id).is_some_and(|entry| *entry != print("model", &row.values[2..]));
            let dims = integer(table.value(&row, "dims")).unwrap_or(0);
            if !contradicted && self.insert(table, &row)?.is_ok() {
                self.dims.insert(row.id, dims);
            }
        }
        Ok(())
    }

    /// Copies embeddings. One that no model could have made is left out: its text waits to be embedded again. A deleted
    /// one does no harm: it belongs to its text, or to none that is saved.
    fn embeddings(&mut self, table: &SalvageTable) -> Result<()> {
        let mut insert =
            self.to.prepare("INSERT OR IGNORE INTO embeddings (model_id, hash, vector) VALUES (?, ?, ?)")?;
        for (row, _) in table.rows(self.pages).filter(|(row, _)| row.whole) {
            let [_, Value::Integer(model), hash @ Value::Blob(key), Value::Blob(vector)] = &row.values[..] else {
                continue;
            };
            let dims = self.dims.get(model).copied().unwrap_or(0);
            let Some(vector) = integrity::vector_of(vector, dims) else { continue };
            if key.len() == 32 && embedding::is_one(embedding::length(&vector)) {
                insert.execute((model, hash, embedding_bytes(&vector)))?;
            }
            self.cancel_point()?;
        }
        Ok(())
    }

    fn records(&mut self, table: &SalvageTable, evidence: &IndexEvidence) -> Result<()> {
        for (row, standing) in table.rows(self.pages) {
            self.progress.advance(1);
            self.cancel_point()?;
            let id = RecordId::from(row.id);
            if standing == Standing::Unlikely && !evidence.knows(id) {
                continue;
            }
            if row.id <= LARGEST {
                self.last_id = self.last_id.max(id);
            }
            let print = print(("record", row.id), &row.values);
            if self.written.contains(&print) {
                continue;
            }
            let may_be_deleted = standing == Standing::Unsure && !evidence.knows(id);
            let problem = may_be_deleted
                .then_some("nothing leads to it any more: it may have been deleted")
                .or_else(|| problem_of_text(table, &row))
                .or_else(|| self.scope(table, &row).is_none().then_some("its scope cannot be read"))
                .or_else(|| evidence.objection(table, &row));
            let problem = match problem {
                Some(problem) => Some(problem.to_owned()),
                None if self.repeats(table, &row) => self.insert(table, &row)?.err(),
                None => match self.twin(table, &row)? {
                    Some(twin) => Some(format!("memory {twin} of its scope has the same text")),
                    None => self.insert(table, &row)?.err(),
                },
            };
            match problem {
                None => drop(self.written.insert(print)),
                Some(problem) => {
                    self.doubtful.insert(id);
                    self.doubt(table, &row, id, &problem)?;
                }
            }
        }
        Ok(())
    }

    fn versions(&mut self, table: &SalvageTable, indexed: &HashMap<i64, (i64, i64)>) -> Result<()> {
        let mut newest = self.to.prepare("SELECT version FROM records WHERE id = ?")?;
        for (row, standing) in table.rows(self.pages) {
            self.cancel_point()?;
            let print = print("version", &row.values);
            if self.written.contains(&print) {
                continue;
            }
            let id = RecordId::from(integer(table.value(&row, "record_id")).unwrap_or(0));
            let newest: Option<i64> = newest.query_row([id], |row| row.get(0)).optional()?;
            // Versions never change and go only with their record: where that is there, they are.
            if standing == Standing::Unlikely && newest.is_none() {
                continue;
            }
            let problem = match problem_of_text(table, &row) {
                Some(problem) => Err(problem.to_owned()),
                None if contradicts(indexed, table, &row) => Err("an index has it as another version".to_owned()),
                None if newest.is_none() => Err("its memory is not saved".to_owned()),
                None if integer(table.value(&row, "version")) >= newest => {
                    Err("it is not an earlier version".to_owned())
                }
                None => self.insert(table, &row)?,
            };
            match problem {
                Ok(()) => drop(self.written.insert(print)),
                Err(problem) => self.doubt(table, &row, id, &problem)?,
            }
        }
        Ok(())
    }

    /// Copies the trash, without doubtful rows: a lost row was deleted anyway. Returns how many records.
    fn trash(
        &mut self,
        trash: &SalvageTable,
        versions: &SalvageTable,
        trees: &mut Trees<'_>,
        roots: &Roots,
    ) -> Result<u64> {
        let mut is_live = self.to.prepare("SELECT 1 FROM records WHERE id = ? OR ulid = ?")?;
        let mut saved = HashSet::new();
        for row in sound_rows(trash, self.pages) {
            self.cancel_point()?;
            let is_sound = (1..=LARGEST).contains(&row.id)
                && problem_of_text(trash, &row).is_none()
                && self.scope(trash, &row).is_some()
                && !is_live.exists((row.id, trash.value(&row, "ulid")))?;
            if is_sound && self.insert(trash, &row)?.is_ok() {
                self.last_id = self.last_id.max(row.id.into());
                saved.insert(row.id);
            }
        }
        let indexed = versions_in(trees, roots.get("sqlite_autoindex_trash_versions_1"));
        for row in sound_rows(versions, self.pages) {
            if contradicts(&indexed, versions, &row) {
                continue;
            }
            let of_saved = integer(versions.value(&row, "record_id")).is_some_and(|id| saved.contains(&id));
            if of_saved && problem_of_text(versions, &row).is_none() {
                let _refused = self.insert(versions, &row)?;
            }
        }
        let mut links = Vec::new();
        trees.keys(roots.get("trash_links"), 5, |entry| {
            let numbers: Option<Vec<i64>> = entry.iter().map(integer).collect();
            links.extend(numbers.filter(|numbers| saved.contains(&numbers[0]) && is_link_kind(numbers[2])));
        });
        let mut insert = self.to.prepare("INSERT OR IGNORE INTO trash_links VALUES (?, ?, ?, ?, ?)")?;
        for link in links {
            insert.execute(params_from_iter(link))?;
        }
        Ok(saved.len() as u64)
    }

    /// Copies the accesses of saved records; nobody misses one.
    fn access_log(&mut self, table: &SalvageTable) -> Result<()> {
        for row in sound_rows(table, self.pages) {
            self.cancel_point()?;
            let is_kind =
                matches!(table.value(&row, "access_type"), Value::Text(kind) if kind == "get" || kind == "search");
            if is_kind && (1..=LARGEST).contains(&row.id) {
                let _refused = self.insert(table, &row)?;
            }
        }
        Ok(())
    }

    /// Copies sources, their files, and the origins that are not read again. A lost file is read once more, which adds
    /// nothing.
    fn files(
        &mut self,
        sources: &SalvageTable,
        files: &SalvageTable,
        trees: &mut Trees<'_>,
        roots: &Roots,
    ) -> Result<()> {
        for table in [sources, files] {
            for row in sound_rows(table, self.pages).filter(|row| (1..=LARGEST).contains(&row.id)) {
                let _refused = self.insert(table, &row)?;
            }
        }
        // Half of what is known of a source would not be what its owner added.
        self.to.execute("DELETE FROM files WHERE source_id NOT IN (SELECT id FROM sources)", [])?;
        let mut insert = self.to.prepare("INSERT OR IGNORE INTO forgotten VALUES (?)")?;
        let mut forgotten = Vec::new();
        trees.keys(roots.get("forgotten"), 1, |entry| {
            if let [Value::Blob(origin)] = entry
                && origin.len() == 16
            {
                forgotten.push(origin.clone());
            }
        });
        for origin in forgotten {
            insert.execute([origin])?;
        }
        Ok(())
    }

    /// Copies tombstones: other machines must not bring back the deleted memories.
    fn tombstones(&self, trees: &mut Trees<'_>, roots: &Roots) -> Result<()> {
        for (table, width) in [("tombstones", 5), ("version_tombstones", 2), ("link_tombstones", 4)] {
            let mut rows = Vec::new();
            trees.keys(roots.get(table), width, |entry| rows.push(entry.to_vec()));
            let sql = format!("INSERT OR IGNORE INTO {table} VALUES ({})", vec!["?"; width].join(", "));
            let mut insert = self.to.prepare(&sql)?;
            for mut row in rows {
                if table == "tombstones" && !integer(&row[1]).is_some_and(|scope| self.scopes.contains_key(&scope)) {
                    row[1] = Value::Null;
                }
                match insert.execute(params_from_iter(row)) {
                    Err(error) if error.sqlite_error_code() != Some(rusqlite::ErrorCode::ConstraintViolation) => {
                        return Err(error.into());
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Copies links between saved records that are in both the table and its index; if that cannot be read whole, the
    /// table decides. Returns how many links were lost.
    fn links(&self, trees: &mut Trees<'_>, roots: &Roots) -> Result<u64> {
        let (mut listed, mut indexed) = (BTreeMap::new(), BTreeSet::new());
        trees.keys(roots.get("links"), 6, |entry| {
            if let [Value::Integer(from), Value::Integer(kind), Value::Integer(to), _, _, Value::Integer(made)] = entry
            {
                listed.insert((*from, *kind, *to), *made);
            }
        });
        let all_indexed = trees.keys(roots.get("links_to"), 3, |entry| {
            if let [Value::Integer(to), Value::Integer(kind), Value::Integer(from)] = entry {
                indexed.insert((*from, *kind, *to));
            }
        });
        let mut insert = self.to.prepare(
            "INSERT INTO links SELECT r.id, ?2, t.id, r.scope_id, t.scope_id, ?4 FROM records r, records t
             WHERE r.id = ?1 AND t.id = ?3",
        )?;
        for (&(from, kind, to), made) in &listed {
            if (!all_indexed || indexed.contains(&(from, kind, to))) && is_link_kind(kind) && from != to {
                insert.execute((from, kind, to, made))?;
            }
        }
        let mut lost = 0;
        let mut find = self.to.prepare(
            "SELECT 1 FROM records r, records t WHERE r.id = ?1 AND t.id = ?3
                 AND NOT EXISTS (SELECT 1 FROM links WHERE from_id = ?1 AND kind = ?2 AND to_id = ?3)",
        )?;
        indexed.extend(listed.keys());
        for link in indexed {
            lost += u64::from(find.exists(link)?);
        }
        Ok(lost)
    }

    fn repeats(&self, table: &SalvageTable, row: &PageRow) -> bool {
        integer(table.value(row, "kind")).and_then(rows::kind_of).is_some_and(Kind::repeats)
    }

    /// Another record that is saved already and has the same text in the same scope, as the same turn if it is one: a damaged
    /// index let it through.
    fn twin(&self, table: &SalvageTable, row: &PageRow) -> Result<Option<RecordId>> {
        let mut statement = self.to.prepare_cached(
            "SELECT id FROM records WHERE content_hash = ? AND scope_id = ? AND id <> ? AND kind NOT IN (14, 15)
                 AND session IS ? AND turn IS ?",
        )?;
        let value = |name| table.value(row, name);
        let key = (value("content_hash"), value("scope_id"), row.id, value("session"), value("turn"));
        Ok(statement.query_row(key, |row| row.get(0)).optional()?)
    }

    /// Writes a row as it is, or says which rule of the database it breaks.
    fn insert(&self, table: &SalvageTable, row: &PageRow) -> Result<std::result::Result<(), String>> {
        let marks = vec!["?"; table.width()].join(", ");
        let mut statement = self.to.prepare_cached(&format!("INSERT INTO {} VALUES ({marks})", table.name))?;
        // Only a row id is null in the first column.
        let id = Value::Integer(row.id);
        let first = if row.values[0] == Value::Null { &id } else { &row.values[0] };
        match statement.execute(params_from_iter([first].into_iter().chain(&row.values[1..]))) {
            Ok(_) => Ok(Ok(())),
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) => {
                Ok(Err(format!("it breaks a rule of the database: {error}")))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn scope(&self, table: &SalvageTable, row: &PageRow) -> Option<&Scope> {
        self.scopes.get(&integer(table.value(row, "scope_id"))?)
    }

    fn doubt(&mut self, table: &SalvageTable, row: &PageRow, id: RecordId, problem: &str) -> Result<()> {
        let scope = integer(table.value(row, "scope_id")).and_then(|scope| self.scopes.get(&scope));
        let added = self.doubts.add(table, row, id, scope, problem);
        added.map_err(|error| Error::io("the file of doubtful memories", error))
    }

    fn cancel_point(&self) -> Result<()> {
        if self.progress.cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}
