//! Reads lines of a file into the store, one transaction per batch. A refused line does not stop the others. An
//! interrupted import can be repeated: existing memories stay as they are.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use memorist_engine::progress::Progress;
use memorist_engine::types::{
    Imported, Link, LinkKind, NewRecord, Portable, PortableLink, PortableTombstone, RecordId, Scope, Viewer,
};
use memorist_engine::{Engine, Error, Import};

use crate::exit::{Failure, Kind};
use crate::wire::{self, Defaults, ImportLine, ImportResult, Lines, Unread};
use crate::wording::Worded as _;

/// Memories and links per transaction.
const BATCH: usize = 1_000;
/// Bytes of input per transaction, so that a batch of long texts fits in memory.
const BATCH_BYTES: u64 = 16 << 20;
/// A relation is linked to the memories of an end if it has at most this many.
const FEW: usize = 8;

/// The viewer of an import, and the callbacks for its progress.
pub struct Importing<'a> {
    /// The store.
    pub engine: &'a Engine,
    /// Sees every imported memory, and may change it.
    pub viewer: Viewer,
    /// Whether memories that belong to no agent stay unchanged.
    pub keep_shared: bool,
    /// Whether what was deleted here comes back.
    pub restore_deleted: bool,
    /// Whether the lines are those of another system: then secrets are taken out of them, and what was deleted here stays so in
    /// a team's store, too.
    pub from_another_system: bool,
    /// Whether the lines are another machine's of the same person: then what is gone there is gone here.
    pub from_machine: bool,
    /// The default scope of lines.
    pub defaults: &'a Defaults,
    /// Receives every byte that was read; may cancel.
    pub progress: &'a dyn Progress,
    /// Called after each batch.
    pub saved: &'a dyn Fn(&ImportResult),
}

/// Reads all lines. `result` says what was done, also if this fails: what was saved stays saved.
///
/// # Errors
/// If the file cannot be read or has a newer format, if the store fails, and on cancellation.
pub fn read_lines(
    importing: &Importing<'_>,
    input: impl BufRead,
    file: &Path,
    result: &mut ImportResult,
) -> Result<(), Failure> {
    let mut import = importing.engine.viewed_by(&importing.viewer).import()?;
    if importing.keep_shared {
        import.keep_shared();
    }
    if importing.restore_deleted {
        import.restore_deleted();
    }
    if importing.from_another_system {
        import.of_another_system();
    }
    let mut batches =
        Batches { importing, import, batch: Batch::default(), waiting: Vec::new(), names: HashMap::new(), result };
    let mut lines = Lines::new(input);
    let mut bytes = 0;
    while let Some(line) = lines.next_line().map_err(|error| Failure::file(file, &error))? {
        if importing.progress.cancelled() {
            // Save what was read: there is less to do when it is repeated.
            batches.save()?;
            return Err(Failure::new(Kind::Cancelled, "interrupted"));
        }
        importing.progress.advance(line.bytes);
        bytes += line.bytes;
        if !line.text.as_ref().is_ok_and(String::is_empty) {
            batches.result.lines += 1;
            let said = line.text.map_err(Unread::Line).and_then(|text| wire::read(&text, importing.defaults));
            batches.take(line.number, said)?;
        }
        if batches.batch.len() >= BATCH || bytes >= BATCH_BYTES {
            bytes = 0;
            batches.save()?;
        }
    }
    batches.save()?;
    batches.offer_waiting(true)?;
    if importing.from_machine {
        let purged = batches.import.purge(importing.progress)?;
        batches.result.purged += purged.records + purged.versions;
    }
    Ok(())
}

/// The lines that are saved together, with their numbers. Only one of the lists has any.
#[derive(Default)]
struct Batch {
    tombstones: Vec<(u64, PortableTombstone)>,
    records: Vec<(u64, Portable)>,
    links: Vec<(u64, PortableLink)>,
    added: Vec<(u64, NewRecord, Part)>,
}

/// A memory's role in a knowledge graph.
enum Part {
    None,
    /// An observation about the entity of this name.
    Of(String),
    /// A relation between the entities of these names.
    Between([String; 2]),
}

impl Batch {
    fn len(&self) -> usize {
        self.tombstones.len() + self.records.len() + self.links.len() + self.added.len()
    }
}

struct Batches<'a> {
    importing: &'a Importing<'a>,
    import: Import<'a>,
    batch: Batch,
    /// Memories that refer to a memory that has not been read yet, with its ULID.
    waiting: Vec<(u64, Portable, String)>,
    /// The memories of each entity.
    names: HashMap<String, Vec<RecordId>>,
    result: &'a mut ImportResult,
}

impl Batches<'_> {
    /// Takes in a line. Lines of different types are saved in order.
    fn take(&mut self, number: u64, said: Result<ImportLine, Unread>) -> Result<(), Failure> {
        match said {
            Err(Unread::Line(error)) => self.result.refuse(number, error),
            Err(Unread::File(error)) => {
                self.save()?;
                return Err(Failure::input(format!("line {number}: {error}")));
            }
            Ok(ImportLine::Header(model)) => {
                self.save()?;
                let warning = model.map(|model| self.import.model(&model)).transpose();
                match warning {
                    Ok(warning) => self.result.warnings.extend(warning.flatten()),
                    Err(refused @ Error::Invalid { .. }) => self.result.refuse(number, refused.worded()),
                    Err(error) => return Err(error.into()),
                }
            }
            // The rest of what another machine has is not asked for.
            Ok(ImportLine::Record(record)) if self.is_left_out(&record.text.scope) => {}
            Ok(ImportLine::Tombstone(PortableTombstone::Memory(gone))) if self.is_left_out(&gone.scope) => {}
            Ok(ImportLine::Record(record)) => {
                self.save_unless(|batch| &batch.records)?;
                self.batch.records.push((number, *record));
            }
            Ok(ImportLine::Link(link)) => {
                self.save_unless(|batch| &batch.links)?;
                self.batch.links.push((number, link));
            }
            Ok(ImportLine::Tombstone(_)) if !self.importing.from_machine => {
                let why = "type: only `memorist sync-with` may delete memories; an import does not";
                self.result.refuse(number, why.into());
            }
            Ok(ImportLine::Tombstone(tombstone)) => {
                self.save_unless(|batch| &batch.tombstones)?;
                self.batch.tombstones.push((number, tombstone));
            }
            Ok(ImportLine::New(record)) => self.add(number, *record, Part::None)?,
            Ok(ImportLine::Entity(entity)) => {
                for record in entity.records(&self.own_scope()) {
                    self.add(number, record, Part::Of(entity.name.clone()))?;
                }
            }
            Ok(ImportLine::Relation(relation)) => {
                let record = relation.record(&self.own_scope());
                self.add(number, record, Part::Between([relation.from, relation.to]))?;
            }
        }
        Ok(())
    }

    /// Whether a memory of another machine is of a project that this exchange is not about.
    fn is_left_out(&self, scope: &Scope) -> bool {
        self.importing.from_machine && !self.importing.viewer.sees(scope)
    }

    fn own_scope(&self) -> Scope {
        self.importing.defaults.own_scope()
    }

    fn add(&mut self, number: u64, record: NewRecord, part: Part) -> Result<(), Failure> {
        if !self.importing.viewer.changes(&record.scope) {
            self.result.refuse(number, "project, agent: differ from those of this call".into());
            return Ok(());
        }
        self.save_unless(|batch| &batch.added)?;
        self.batch.added.push((number, record, part));
        Ok(())
    }

    /// Saves the batch, unless all of it has this type.
    fn save_unless<T>(&mut self, of: impl Fn(&Batch) -> &Vec<T>) -> Result<(), Failure> {
        if of(&self.batch).len() < self.batch.len() { self.save() } else { Ok(()) }
    }

    fn save(&mut self) -> Result<(), Failure> {
        let Batch { tombstones, records, links, added } = std::mem::take(&mut self.batch);
        if !tombstones.is_empty() {
            self.save_tombstones(tombstones)?;
        }
        if !records.is_empty() {
            self.save_records(records)?;
        }
        if !links.is_empty() {
            self.offer_waiting(false)?;
            self.save_links(links)?;
        }
        if !added.is_empty() {
            self.save_added(added)?;
        }
        (self.importing.saved)(self.result);
        Ok(())
    }

    fn save_tombstones(&mut self, tombstones: Vec<(u64, PortableTombstone)>) -> Result<(), Failure> {
        let (numbers, tombstones): (Vec<_>, Vec<_>) = tombstones.into_iter().unzip();
        for (number, outcome) in numbers.into_iter().zip(self.import.tombstones(&tombstones)?) {
            match outcome {
                Ok(Imported::Deleted) => self.result.count(&Imported::Deleted),
                Ok(_) => {}
                Err(error) => self.result.refuse(number, error.worded()),
            }
        }
        Ok(())
    }

    fn save_records(&mut self, records: Vec<(u64, Portable)>) -> Result<(), Failure> {
        let (numbers, records): (Vec<_>, Vec<_>) = records.into_iter().unzip();
        let outcomes = self.import.records(&records)?;
        for ((number, record), outcome) in numbers.into_iter().zip(records).zip(outcomes) {
            match outcome {
                Ok(Imported::Waits(missing)) => self.waiting.push((number, record, missing)),
                Ok(outcome) => self.result.count(&outcome),
                Err(error) => self.result.refuse(number, error.worded()),
            }
        }
        Ok(())
    }

    /// Retries memories that refer to others that had not been read yet. `at_the_end`, none will follow.
    fn offer_waiting(&mut self, at_the_end: bool) -> Result<(), Failure> {
        let waiting = std::mem::take(&mut self.waiting).into_iter().map(|(number, record, _)| (number, record));
        let mut waiting = waiting.peekable();
        while waiting.peek().is_some() {
            self.save_records(waiting.by_ref().take(BATCH).collect())?;
        }
        if at_the_end {
            for (number, _, missing) in std::mem::take(&mut self.waiting) {
                let why = format!("body: refers to {missing}, which is neither in the file nor here; import that, too");
                self.result.refuse(number, why);
            }
        }
        Ok(())
    }

    fn save_links(&mut self, links: Vec<(u64, PortableLink)>) -> Result<(), Failure> {
        let (numbers, links): (Vec<_>, Vec<_>) = links.into_iter().unzip();
        for (number, outcome) in numbers.into_iter().zip(self.import.links(&links)?) {
            match outcome {
                Ok(outcome) => {
                    self.result.links += i64::from(matches!(outcome, Imported::Created));
                    if matches!(outcome, Imported::Deleted | Imported::Turned(_)) {
                        self.result.count(&outcome);
                    }
                }
                // An end is in another project.
                Err(_) if self.importing.from_machine && self.importing.viewer != Viewer::OWNER => {}
                Err(error) => self.result.refuse(number, error.worded()),
            }
        }
        Ok(())
    }

    fn save_added(&mut self, added: Vec<(u64, NewRecord, Part)>) -> Result<(), Failure> {
        let mut records = Vec::with_capacity(added.len());
        let mut parts = Vec::with_capacity(added.len());
        for (number, record, part) in added {
            records.push(record);
            parts.push((number, part));
        }
        let mut links = Vec::new();
        for ((number, part), outcome) in parts.into_iter().zip(self.importing.engine.add_batch(&records)?) {
            let added = match outcome {
                Ok(added) => added,
                Err(error) => {
                    self.result.refuse(number, error.worded());
                    continue;
                }
            };
            self.result.count(if added.created { &Imported::Created } else { &Imported::Duplicate });
            match part {
                Part::None => {}
                Part::Of(name) => self.names.entry(name).or_default().push(added.id),
                Part::Between(names) => {
                    let ends = names.iter().filter_map(|name| self.names.get(name)).filter(|ids| ids.len() <= FEW);
                    links.extend(ends.flatten().map(|&to| Link { from: added.id, kind: LinkKind::Related, to }));
                }
            }
        }
        // A refused one has lost an end meanwhile.
        let made = self.importing.engine.viewed_by(&self.importing.viewer).link_batch(&links)?;
        self.result.links += wire::count(made.iter().filter(|made| matches!(made, Ok(true))).count() as u64);
        Ok(())
    }
}
