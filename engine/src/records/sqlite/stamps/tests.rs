//! Three stores of one person that change at random and exchange what they have: whatever the order, all end alike, nothing that was
//! saved is lost, and nothing that was purged comes back.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use ulid::Ulid;

use crate::error::{Error, Result};
use crate::progress::NoProgress;
use crate::records::Aliases;
use crate::records::sqlite::testing::{NOW, Store, new};
use crate::types::{
    Carried, Exported, Filter, Imported, Link, LinkKind, Millis, Portable, PortableLink, PortableTombstone, Purge,
    RecordId, RecordUpdate, Stamps, UlidBytes, Viewer,
};

const STORES: usize = 3;
/// Histories that are tried: `MEMORIST_HISTORIES` sets another number.
const HISTORIES: u32 = 60;

/// An act in one store. Numbers choose among what is there.
#[derive(Debug, Clone)]
enum Act {
    Save(Text),
    Edit(usize, Text),
    Link(usize, LinkKind, usize),
    Unlink(usize),
    Delete(usize),
    Restore(usize),
    Purge(usize),
    PurgeVersion(usize),
    /// With another store, of which one way may break off after so many lines.
    Meet(usize, Option<usize>),
    /// The clock of the store is set.
    Clock(i64),
}

/// A text of a few that may be saved anywhere, or one that nobody else saves.
#[derive(Debug, Clone)]
enum Text {
    Common(u8),
    Own,
}

fn text() -> impl Strategy<Value = Text> {
    prop_oneof![(0..4_u8).prop_map(Text::Common), Just(Text::Own)]
}

fn act() -> impl Strategy<Value = Act> {
    let at = || 0..20_usize;
    let kind = prop_oneof![3 => Just(LinkKind::Supersedes), 1 => Just(LinkKind::Related)];
    prop_oneof![
        5 => text().prop_map(Act::Save),
        5 => (at(), text()).prop_map(|(at, text)| Act::Edit(at, text)),
        3 => (at(), kind, at()).prop_map(|(from, kind, to)| Act::Link(from, kind, to)),
        1 => at().prop_map(Act::Unlink),
        2 => at().prop_map(Act::Delete),
        1 => at().prop_map(Act::Restore),
        1 => at().prop_map(Act::Purge),
        1 => at().prop_map(Act::PurgeVersion),
        4 => (0..STORES, proptest::option::of(0..12_usize)).prop_map(|(with, broken)| Act::Meet(with, broken)),
        1 => prop_oneof![Just(-86_400_000), Just(3_600_000), Just(-5_000)].prop_map(Act::Clock),
    ]
}

struct Machine {
    store: Store,
    clock: Millis,
}

impl Machine {
    fn now(&mut self) -> Millis {
        // No two machines do something in the same millisecond.
        self.clock += 1_000;
        self.clock
    }

    fn live(&self) -> Vec<RecordId> {
        self.ids("SELECT id FROM records ORDER BY ulid")
    }

    fn ids(&self, sql: &str) -> Vec<RecordId> {
        let conn = rusqlite::Connection::open(self.store.paths().database()).unwrap();
        let mut ids = conn.prepare(sql).unwrap();
        ids.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
    }

    fn stamps(&self) -> Stamps {
        self.store.view().stamps(&Filter::default(), self.clock).unwrap()
    }

    /// Lines for a machine with these stamps.
    fn lines_for(&self, theirs: &Stamps) -> Vec<Carried> {
        let ours = self.stamps();
        let wanted: BTreeSet<UlidBytes> =
            ours.iter().filter(|(ulid, state)| theirs.get(*ulid) != Some(state)).map(|(ulid, _)| *ulid).collect();
        let mut lines = Vec::new();
        let visit = |line| -> Result<()> {
            lines.push(line);
            Ok(())
        };
        self.store.view().export_states(&wanted, &Filter::default(), false, self.clock, visit).unwrap();
        lines
    }

    fn merge(&mut self, lines: &[Carried]) {
        let now = self.now();
        let (mut aliases, viewer) = (Aliases::default(), Viewer::OWNER);
        let (mut tombstones, mut records, mut links) = (Vec::new(), Vec::new(), Vec::new());
        for line in lines {
            match line {
                Carried::Tombstone(tombstone) => tombstones.push(tombstone.clone()),
                Carried::Exported(Exported::Record(portable)) => records.push((**portable).clone()),
                Carried::Exported(Exported::Link(link)) => links.push(link.clone()),
                Carried::Exported(Exported::Model(_)) => {}
            }
        }
        let is_done = |outcomes: Vec<Result<Imported>>| {
            for outcome in outcomes {
                outcome.expect("nothing that another store holds is refused");
            }
        };
        let tombstones: &[PortableTombstone] = &tombstones;
        is_done(self.store.import_tombstones(tombstones, &viewer, &aliases, now).unwrap());
        let records: &[Portable] = &records;
        let before = self.shows();
        let outcomes = self.store.import(records, None, &viewer, false, &mut aliases, now).unwrap();
        for (portable, outcome) in records.iter().zip(outcomes) {
            assert!(outcome.is_ok(), "{outcome:?} of {portable:?} in {before:#?}");
        }
        let links: &[PortableLink] = &links;
        for outcome in self.store.import_links(links, &viewer, &aliases, now).unwrap() {
            // The other end was not among the lines.
            assert!(matches!(outcome, Ok(_) | Err(Error::Invalid { field: "from" | "to", .. })), "{outcome:?}");
        }
        for purge in self.store.to_purge().unwrap() {
            self.purge(purge);
        }
    }

    fn purge(&self, purge: Purge) {
        if purge.validate().is_ok() {
            self.store.purge(&purge, &Viewer::OWNER, &NoProgress).unwrap();
        }
    }

    /// All that it shows: the versions of each memory, oldest first, and the links.
    fn shows(&self) -> (BTreeMap<String, Vec<String>>, BTreeSet<String>) {
        let (mut memories, mut links) = (BTreeMap::new(), BTreeSet::new());
        for line in self.lines_for(&Stamps::new()) {
            match line {
                Carried::Exported(Exported::Record(portable)) => {
                    let mut texts: Vec<_> =
                        portable.earlier.iter().map(|earlier| earlier.text.content.clone()).collect();
                    texts.push(portable.text.content.clone());
                    memories.insert(portable.ulid, texts);
                }
                Carried::Exported(Exported::Link(link)) => _ = links.insert(format!("{link:?}")),
                Carried::Exported(Exported::Model(_)) | Carried::Tombstone(_) => {}
            }
        }
        (memories, links)
    }

    /// Whether a text is in the store, deleted or not.
    fn has(&self, text: &str) -> bool {
        ["records", "versions", "trash", "trash_versions"]
            .iter()
            .any(|table| self.store.number(&format!("SELECT count(*) FROM {table} WHERE content = '{text}'")) > 0)
    }

    /// Whether a memory, or the twin that it was united with, was purged as far as this store knows, or some version of it.
    fn is_purged(&self, ulid: &str) -> bool {
        let mut hex = crate::text::to_hex(&Ulid::from_string(ulid).unwrap().to_bytes());
        loop {
            let of = format!("FROM tombstones WHERE lower(hex(ulid)) = '{hex}'");
            let versions = format!("SELECT count(*) FROM version_tombstones WHERE lower(hex(ulid)) = '{hex}'");
            if self.store.number(&format!("SELECT count(*) {of} AND is_purged")) > 0 || self.store.number(&versions) > 0
            {
                return true;
            }
            if self.store.number(&format!("SELECT count(*) {of} AND into_ulid IS NOT NULL")) == 0 {
                return false;
            }
            let conn = rusqlite::Connection::open(self.store.paths().database()).unwrap();
            hex = conn.query_row(&format!("SELECT lower(hex(into_ulid)) {of}"), [], |row| row.get(0)).unwrap();
        }
    }
}

/// The machines, and what they should keep.
struct World {
    machines: Vec<Machine>,
    /// Own texts, with the memory that each was saved in.
    saved: Vec<(String, String)>,
    purged: BTreeSet<String>,
    /// Texts of memories that were restored: each has two versions with the same text.
    restored: BTreeSet<String>,
}

impl World {
    fn new() -> Self {
        let machine = |at: usize| Machine { store: Store::new(), clock: NOW + at as i64 * 300 };
        World {
            machines: (0..STORES).map(machine).collect(),
            saved: Vec::new(),
            purged: BTreeSet::new(),
            restored: BTreeSet::new(),
        }
    }

    fn text(&self, text: &Text) -> String {
        match text {
            Text::Common(which) => format!("common {which}"),
            Text::Own => format!("own {}", self.saved.len()),
        }
    }

    fn note(&mut self, at: usize, id: RecordId, text: &str) {
        let machine = &self.machines[at];
        let ulid = machine.store.get(id, &Viewer::OWNER, machine.clock).unwrap().unwrap().ulid;
        self.saved.push((text.to_owned(), ulid));
    }

    fn act(&mut self, at: usize, act: &Act) {
        let machine = &mut self.machines[at];
        let now = machine.now();
        let live = machine.live();
        let choose = |which: usize, all: &[RecordId]| (!all.is_empty()).then(|| all[which % all.len()]);
        let (owner, store) = (&Viewer::OWNER, &machine.store);
        match act {
            Act::Save(text) => {
                let text = self.text(text);
                let id = self.machines[at].store.add(&new(&text), now).unwrap().id;
                self.note(at, id, &text);
            }
            Act::Edit(which, text) => {
                let Some(id) = choose(*which, &live) else { return };
                let text = self.text(text);
                let update = RecordUpdate { content: Some(text.clone()), ..RecordUpdate::default() };
                match self.machines[at].store.update(id, &update, owner, now) {
                    Ok(_) => self.note(at, id, &text),
                    Err(Error::Duplicate(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            Act::Link(from, kind, to) => {
                let (Some(from), Some(to)) = (choose(*from, &live), choose(*to, &live)) else { return };
                // Memories that would supersede each other are refused here.
                _ = store.link(Link { from, to, kind: *kind }, owner, now);
            }
            Act::Unlink(which) => {
                let sql = "SELECT from_id, to_id FROM links WHERE kind = 2 ORDER BY from_id, to_id";
                let conn = rusqlite::Connection::open(store.paths().database()).unwrap();
                let mut links = conn.prepare(sql).unwrap();
                let links: Vec<(RecordId, RecordId)> = links
                    .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
                    .unwrap()
                    .map(|row| row.unwrap())
                    .collect();
                if let Some(&(from, to)) = links.get(which % links.len().max(1)) {
                    assert!(store.unlink(Link { from, to, kind: LinkKind::Supersedes }, owner, now).unwrap());
                }
            }
            Act::Delete(which) => _ = choose(*which, &live).map(|id| store.delete(id, owner, now).unwrap()),
            Act::Restore(which) => {
                let deleted = machine.ids("SELECT id FROM trash ORDER BY ulid");
                if let Some(id) = choose(*which, &deleted) {
                    // Its text may be another one's by now.
                    let restored = machine.store.restore(id, owner, now);
                    self.restored.extend(restored.map(|record| record.content));
                }
            }
            Act::Purge(which) => {
                let Some(id) = choose(*which, &live) else { return };
                let texts = format!(
                    "SELECT content FROM records WHERE id = {id} UNION SELECT content FROM versions WHERE record_id = {id}"
                );
                self.purge(at, &texts, Purge::Ids(vec![id]));
            }
            Act::PurgeVersion(which) => {
                let Some(id) = choose(*which, &live) else { return };
                let texts = format!("SELECT content FROM versions WHERE record_id = {id} AND version = 1");
                self.purge(at, &texts, Purge::Versions(vec![(id, 1)]));
            }
            Act::Meet(with, broken) => self.meet(at, *with, *broken),
            Act::Clock(by) => machine.clock += by,
        }
    }

    fn purge(&mut self, at: usize, texts: &str, purge: Purge) {
        let conn = rusqlite::Connection::open(self.machines[at].store.paths().database()).unwrap();
        let mut texts = conn.prepare(texts).unwrap();
        let texts = texts.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
        self.purged.extend(texts.filter(|text| text.starts_with("own")));
        self.machines[at].purge(purge);
    }

    fn meet(&mut self, one: usize, other: usize, broken: Option<usize>) {
        if one == other {
            return;
        }
        let there = self.machines[one].lines_for(&self.machines[other].stamps());
        let back = self.machines[other].lines_for(&self.machines[one].stamps());
        self.machines[other].merge(&there[..broken.unwrap_or(there.len()).min(there.len())]);
        if broken.is_none() {
            self.machines[one].merge(&back);
        }
    }

    /// All meet until nobody has news.
    fn settle(&mut self) {
        for _ in 0..8 {
            for (one, other) in [(0, 1), (1, 2), (0, 2)] {
                self.meet(one, other, None);
            }
            let stamps: Vec<Stamps> = self.machines.iter().map(Machine::stamps).collect();
            if stamps.windows(2).all(|pair| pair[0] == pair[1]) {
                return;
            }
        }
        let shows: Vec<_> = self.machines.iter().map(Machine::shows).collect();
        panic!("they never agree: {shows:#?}");
    }

    fn check(&self) {
        let shows: Vec<_> = self.machines.iter().map(Machine::shows).collect();
        for pair in shows.windows(2) {
            assert_eq!(pair[0], pair[1]);
        }
        for (text, ulid) in &self.saved {
            if self.machines.iter().any(|machine| machine.is_purged(ulid)) {
                continue;
            }
            assert!(self.machines.iter().any(|machine| machine.has(text)), "{text} of {ulid} is lost: {shows:#?}");
        }
        for text in self.purged.difference(&self.restored) {
            for (at, machine) in self.machines.iter().enumerate() {
                assert!(!machine.has(text), "{text} is back in {at}");
            }
        }
        for machine in &self.machines {
            assert_eq!(machine.store.integrity().unwrap(), Vec::<String>::new());
        }
    }
}

/// 46: the promise.
#[test]
fn three_stores_end_alike_and_lose_nothing() {
    let wanted = std::env::var("MEMORIST_HISTORIES").ok().map(|number| number.parse().unwrap());
    // The same ones on each run, unless more are wanted.
    let rng_seed = if wanted.is_some() { RngSeed::Random } else { RngSeed::Fixed(46) };
    let acts = proptest::collection::vec((0..STORES, act()), 1..40);
    let config = ProptestConfig {
        cases: wanted.unwrap_or(HISTORIES),
        rng_seed,
        max_shrink_iters: 3_000,
        ..ProptestConfig::default()
    };
    proptest!(config, |(acts in acts)| {
        let mut world = World::new();
        for (at, act) in &acts {
            world.act(*at, act);
        }
        world.settle();
        world.check();
    });
}
