//! Moves the stores of other memory systems into a store. A second run changes nothing, and does not restore memories that were
//! deleted here since.
//!
//! | file | job |
//! |---|---|
//! | `portable.rs` | a memory of another system, as an import takes it |

mod portable;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use memorist_engine::progress::Progress;
use memorist_engine::types::{Imported, LinkKind, Portable, PortableLink, Scope, Viewer};
use memorist_engine::{Engine, Error, Import, Result};
use memorist_sources::moving::{self, Item, Link, Memory, MoveError, System};
use serde::Serialize;

use portable::{Mover, reason};

/// Memories, or links, per transaction.
const BATCH: usize = 500;
/// Bytes of text per transaction, so that a batch of long texts fits in memory.
const BATCH_BYTES: usize = 16 << 20;
/// Reasons that a report lists.
const NAMED: usize = 50;

/// A store of another system.
#[derive(Debug, Clone, Copy)]
pub struct MoveIn<'a> {
    pub system: System,
    /// Its store: a file, or the folder that it is in.
    pub path: &'a Path,
    /// The project and the agent of memories that have none there.
    pub defaults: &'a Scope,
}

/// The result of a move.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MoveReport {
    /// Memories that were read.
    pub memories: u64,
    /// Memories that are new here.
    pub created: u64,
    /// Memories whose older version was replaced.
    pub replaced: u64,
    /// Memories that were here already.
    pub unchanged: u64,
    /// Memories whose text another memory of the project and agent has.
    pub duplicates: u64,
    /// Memories that have expired.
    pub expired: u64,
    /// Memories that were deleted here, or expired here.
    pub deleted: u64,
    /// Memories from which secrets were redacted.
    pub redacted: u64,
    /// Owners of the memories that are here now, most memories first.
    pub owners: Vec<Owner>,
    /// Links that are new.
    pub links: u64,
    /// Memories and links that were refused: why, and how often.
    pub refused: BTreeMap<String, u64>,
    /// Other content that was not moved, or only after a repair: why, and how often.
    pub not_brought: BTreeMap<String, u64>,
}

/// The project and the agent of memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Owner {
    /// The project and the agent, if there is one.
    #[serde(flatten)]
    pub scope: Scope,
    /// How many memories belong to them.
    pub memories: u64,
}

impl MoveReport {
    fn owned_by(&mut self, scope: Scope) {
        match self.owners.iter_mut().find(|owner| owner.scope == scope) {
            Some(owner) => owner.memories += 1,
            None => self.owners.push(Owner { scope, memories: 1 }),
        }
    }

    fn count(&mut self, outcome: &Imported) {
        match outcome {
            Imported::Created => self.created += 1,
            Imported::Replaced | Imported::United { .. } => self.replaced += 1,
            Imported::Unchanged => self.unchanged += 1,
            Imported::Duplicate => self.duplicates += 1,
            Imported::Expired => self.expired += 1,
            Imported::Deleted => self.deleted += 1,
            // It is offered again.
            Imported::Waits(_) | Imported::Turned(_) => {}
        }
    }

    fn refuse(&mut self, why: String) {
        let is_named = self.refused.len() < NAMED || self.refused.contains_key(&why);
        let why = if is_named { why } else { "other reasons".into() };
        *self.refused.entry(why).or_default() += 1;
    }

    fn not_brought(&mut self, why: &str, many: u64) {
        if many > 0 {
            *self.not_brought.entry(why.into()).or_default() += many;
        }
    }
}

/// Moves a store in. `report` has the result, also if this fails: saved memories stay saved, and another run does the rest.
///
/// # Errors
/// [`MoveError::Store`] if it cannot be read; [`MoveError::Visit`] is the error of this store, or [`Error::Cancelled`].
pub fn move_in(
    engine: &Engine,
    store: MoveIn<'_>,
    progress: &dyn Progress,
    report: &mut MoveReport,
) -> Result<(), MoveError<Error>> {
    let MoveIn { system, path, defaults } = store;
    let mut import = engine.viewed_by(&Viewer::OWNER).import().map_err(MoveError::Visit)?;
    import.of_another_system();
    let mover = Mover { system, defaults, now: memorist_engine::now() };
    let mut arriving = Arriving {
        mover,
        import,
        progress,
        report,
        ulids: HashMap::new(),
        records: Vec::new(),
        bytes: 0,
        waiting: Vec::new(),
        links: Vec::new(),
    };
    progress.start("moving in", None);
    let read = moving::read(system, path, &mut |item| match item {
        Item::Memory(memory) => arriving.memory(*memory),
        Item::Link(link) => arriving.link(link),
    });
    let done = read.and_then(|read| {
        arriving.finish().map_err(MoveError::Visit)?;
        read.not_brought.iter().for_each(|(why, many)| arriving.report.not_brought(why, *many));
        Ok(())
    });
    arriving.report.redacted = arriving.import.redacted();
    arriving.report.owners.sort_by_key(|owner| Reverse(owner.memories));
    progress.finish();
    done
}

/// A store that is being moved in.
struct Arriving<'a> {
    mover: Mover<'a>,
    import: Import<'a>,
    progress: &'a dyn Progress,
    report: &'a mut MoveReport,
    /// ULIDs by the keys of the other system.
    ulids: HashMap<String, String>,
    records: Vec<Portable>,
    bytes: usize,
    /// Memories that refer to others which were not read yet.
    waiting: Vec<Portable>,
    links: Vec<PortableLink>,
}

impl Arriving<'_> {
    fn memory(&mut self, memory: Memory) -> Result<()> {
        self.report.memories += 1;
        let ulid = self.mover.ulid(&memory);
        self.ulids.insert(memory.key.clone(), ulid.clone());
        match self.mover.portable(memory, ulid, |key| self.ulids.get(key).cloned()) {
            Ok((portable, lost)) => {
                self.report.not_brought("earlier versions without a text", lost);
                self.bytes += bytes(&portable);
                self.records.push(portable);
            }
            Err(error @ Error::Invalid { .. }) => self.report.refuse(reason(&error)),
            Err(error) => return Err(error),
        }
        if self.records.len() >= BATCH || self.bytes >= BATCH_BYTES {
            self.save_records()?;
        }
        Ok(())
    }

    /// Links come after all memories.
    fn link(&mut self, link: Link) -> Result<()> {
        self.settle()?;
        let ends = [&link.from, &link.to].map(|key| self.ulids.get(key).cloned());
        let ([Some(from), Some(to)], Ok(kind)) = (ends, link.kind.parse::<LinkKind>()) else {
            self.report.not_brought("links of memories that are gone", 1);
            return Ok(());
        };
        self.links.push(PortableLink { from, kind, to, created_at: link.created_at.unwrap_or(self.mover.now) });
        if self.links.len() >= BATCH { self.save_links() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<()> {
        self.settle()?;
        self.save_links()
    }

    /// Saves all memories that were read.
    fn settle(&mut self) -> Result<()> {
        self.save_records()?;
        let waiting = std::mem::take(&mut self.waiting);
        for records in waiting.chunks(BATCH) {
            self.offer(records.to_vec())?;
        }
        let missing = std::mem::take(&mut self.waiting).len();
        (0..missing).for_each(|_| self.report.refuse("memories that refer to one that was refused".into()));
        Ok(())
    }

    fn save_records(&mut self) -> Result<()> {
        self.bytes = 0;
        let records = std::mem::take(&mut self.records);
        if records.is_empty() { Ok(()) } else { self.offer(records) }
    }

    fn offer(&mut self, records: Vec<Portable>) -> Result<()> {
        self.go_on()?;
        let outcomes = self.import.records(&records)?;
        for (record, outcome) in records.into_iter().zip(outcomes) {
            match outcome {
                Ok(Imported::Waits(_)) => self.waiting.push(record),
                Ok(outcome) => {
                    self.progress.advance(1);
                    self.report.count(&outcome);
                    if !matches!(outcome, Imported::Expired | Imported::Deleted) {
                        self.report.owned_by(record.text.scope);
                    }
                }
                Err(error) => self.report.refuse(reason(&error)),
            }
        }
        Ok(())
    }

    fn save_links(&mut self) -> Result<()> {
        let links = std::mem::take(&mut self.links);
        if links.is_empty() {
            return Ok(());
        }
        self.go_on()?;
        for outcome in self.import.links(&links)? {
            match outcome {
                Ok(Imported::Created) => self.report.links += 1,
                Ok(Imported::Expired) => self.report.not_brought("links of memories that were left out", 1),
                Ok(_) => {}
                Err(Error::Invalid { field: "from" | "to", .. }) => {
                    self.report.not_brought("links of memories that were refused", 1);
                }
                Err(error) => self.report.refuse(format!("a link: {}", reason(&error))),
            }
        }
        Ok(())
    }

    fn go_on(&self) -> Result<()> {
        if self.progress.cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

fn bytes(portable: &Portable) -> usize {
    let earlier: usize = portable.earlier.iter().map(|earlier| earlier.text.content.len()).sum();
    portable.text.content.len() + earlier
}
