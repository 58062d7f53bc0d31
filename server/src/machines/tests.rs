//! Three machines of one person that change at random and exchange what they have, over pipes and over folders that are carried:
//! whatever the order, all end alike, nothing that was saved is lost, and nothing that was purged comes back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use memorist_engine::config::{Clock, Config};
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    Carried, Exported, Filter, Link, LinkKind, Millis, NewRecord, Purge, RecordId, RecordUpdate, Stamps, UlidBytes,
    Viewer,
};
use memorist_engine::{Engine, Error};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rusqlite::Connection;
use tempfile::TempDir;

use super::folder::meet as meet_in_folder;
use super::known::{Known, Peer};
use super::merge::{Exchange, Met};
use super::talk::{Pipe, answer, lead};

const STORES: usize = 3;
/// Histories that are tried; five times as many, from the seed of the night, with `MEMORIST_NIGHTLY`. `MEMORIST_HISTORIES` sets
/// another number.
const HISTORIES: u32 = 200;
const NOW: Millis = 1_800_000_000_000;

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
    /// With another machine, over a pipe, which may break after so many bytes.
    Meet(usize, Option<u64>),
    /// In its copy of the folder.
    Folder,
    /// The files of the others are carried into its copy of the folder. The last one may be cut.
    Carry(Option<u64>),
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
        3 => (0..STORES, proptest::option::of(0..4_000_u64)).prop_map(|(with, broken)| Act::Meet(with, broken)),
        3 => Just(Act::Folder),
        2 => proptest::option::of(0..2_000_u64).prop_map(Act::Carry),
        1 => prop_oneof![Just(-86_400_000), Just(3_600_000), Just(-5_000)].prop_map(Act::Clock),
    ]
}

struct Machine {
    engine: Engine,
    folder: TempDir,
    /// Its copy of the folder that is carried.
    carried: TempDir,
    clock: Arc<AtomicI64>,
}

/// A pipe that breaks after so many bytes.
struct Breaking<R>(R, u64);

impl<R: Read> Read for Breaking<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.1).unwrap_or(usize::MAX).min(bytes.len());
        let read = self.0.read(&mut bytes[..most])?;
        self.1 -= read as u64;
        Ok(read)
    }
}

/// A folder in memory, where the system has one: a thousand histories wait for no disk.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

impl Machine {
    fn new(at: usize) -> Self {
        let folder = folder();
        let clock = Arc::new(AtomicI64::new(NOW + at as i64 * 300));
        let time = Arc::clone(&clock);
        let mut config = Config::without_model();
        config.clock = Clock::new(move || time.load(Ordering::Relaxed));
        config.index_writer = false;
        let engine = Engine::open(folder.path(), config).unwrap();
        Machine { engine, folder, carried: self::folder(), clock }
    }

    /// No two machines do something in the same millisecond.
    fn tick(&self) {
        self.clock.fetch_add(1_000, Ordering::Relaxed);
    }

    fn database(&self) -> Connection {
        Connection::open(self.folder.path().join("memory.db")).unwrap()
    }

    fn number(&self, sql: &str) -> i64 {
        self.database().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn live(&self) -> Vec<RecordId> {
        self.ids("SELECT id FROM records ORDER BY ulid")
    }

    fn ids(&self, sql: &str) -> Vec<RecordId> {
        let database = self.database();
        let mut ids = database.prepare(sql).unwrap();
        ids.query_map([], |row| row.get::<_, i64>(0)).unwrap().map(|id| id.unwrap().into()).collect()
    }

    fn stamps(&self) -> Stamps {
        self.engine.stamps(&Filter::default()).unwrap()
    }

    fn exchange<'a>(&'a self, known: &'a Known) -> Exchange<'a> {
        let (engine, folder) = (&self.engine, self.folder.path());
        Exchange { engine, folder, known, dry_run: false, quiet: true, progress: &NoProgress }
    }

    /// Meets another machine over a pipe.
    fn meet(&self, other: &Machine, broken: Option<u64>) {
        let known = Known::of(&self.engine).unwrap();
        let (there, to) = io::pipe().unwrap();
        let (back, from) = io::pipe().unwrap();
        let mut met = Met::default();
        let outcome = std::thread::scope(|scope| {
            let input = BufReader::new(there);
            let folder = other.folder.path();
            let answering = scope.spawn(move || answer(&other.engine, Pipe { input, output: from, folder }));
            let input = BufReader::new(Breaking(back, broken.unwrap_or(u64::MAX)));
            let mut pipe = Pipe { input, output: to, folder: self.folder.path() };
            let outcome = lead(&self.exchange(&known), &mut pipe, &Peer::default(), &mut met);
            drop(pipe);
            let answered = answering.join().unwrap();
            if broken.is_none() {
                answered.unwrap();
            }
            outcome
        });
        if broken.is_none() {
            outcome.unwrap();
            assert_eq!(met.notes.iter().filter(|note| !note.contains("clock")).count(), 0, "{:?}", met.notes);
        }
    }

    /// Meets the others in its copy of the folder.
    fn meet_in_folder(&self) {
        let known = Known::of(&self.engine).unwrap();
        let fresh = Peer { address: "folder".into(), ..Peer::default() };
        let mut peer = known.peers.first().cloned().unwrap_or(fresh);
        let mut met = Met::default();
        meet_in_folder(&self.exchange(&known), self.carried.path(), &mut peer, &mut met).unwrap();
        assert_eq!(met.here.refused, 0, "{:?}", met.notes);
        Known::remember(&self.engine, &peer).unwrap();
    }

    fn purge(&self, purge: Purge) {
        self.engine.viewed_by(&Viewer::OWNER).purge(&purge, &NoProgress).unwrap();
    }

    fn lines(&self) -> Vec<Carried> {
        let wanted: BTreeSet<UlidBytes> = self.stamps().into_keys().collect();
        let mut lines = Vec::new();
        let visit = |line| {
            lines.push(line);
            Ok::<_, Error>(())
        };
        self.engine.export_states(&wanted, &Filter::default(), false, visit).unwrap();
        lines
    }

    /// All that it shows: the versions of each memory, oldest first, and the links.
    fn shows(&self) -> (BTreeMap<String, Vec<String>>, BTreeSet<String>) {
        let (mut memories, mut links) = (BTreeMap::new(), BTreeSet::new());
        for line in self.lines() {
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
            .any(|table| self.number(&format!("SELECT count(*) FROM {table} WHERE content = '{text}'")) > 0)
    }

    /// Whether a memory, or the twin that it was united with, was purged as far as this store knows, or some version of it.
    fn is_purged(&self, ulid: &str) -> bool {
        let mut hex = hex_of(ulid);
        loop {
            let of = format!("FROM tombstones WHERE lower(hex(ulid)) = '{hex}'");
            let versions = format!("SELECT count(*) FROM version_tombstones WHERE lower(hex(ulid)) = '{hex}'");
            if self.number(&format!("SELECT count(*) {of} AND is_purged")) > 0 || self.number(&versions) > 0 {
                return true;
            }
            if self.number(&format!("SELECT count(*) {of} AND into_ulid IS NOT NULL")) == 0 {
                return false;
            }
            hex =
                self.database().query_row(&format!("SELECT lower(hex(into_ulid)) {of}"), [], |row| row.get(0)).unwrap();
        }
    }
}

/// The hex digits of a ULID.
fn hex_of(ulid: &str) -> String {
    let digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let number = ulid.chars().fold(0_u128, |number, char| number << 5 | digits.find(char).unwrap() as u128);
    format!("{number:032x}")
}

/// The files of a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort_unstable();
    files
}

/// Makes a folder a copy of another one.
fn copy_anew(from: &Path, to: &Path) {
    _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    for file in files(from) {
        fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
    }
}

/// The machines, and what they should keep.
struct Fleet {
    machines: Vec<Machine>,
    /// Own texts, with the memory that each was saved in.
    saved: Vec<(String, String)>,
    purged: BTreeSet<String>,
    /// Texts of memories that were restored: each has two versions with the same text.
    restored: BTreeSet<String>,
}

impl Fleet {
    fn new() -> Self {
        Fleet {
            machines: (0..STORES).map(Machine::new).collect(),
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
        let ulid = machine.engine.viewed_by(&Viewer::OWNER).get(id).unwrap().unwrap().ulid;
        self.saved.push((text.to_owned(), ulid));
    }

    fn act(&mut self, at: usize, act: &Act) {
        let machine = &self.machines[at];
        machine.tick();
        let live = machine.live();
        let choose = |which: usize, all: &[RecordId]| (!all.is_empty()).then(|| all[which % all.len()]);
        let (owner, engine) = (&Viewer::OWNER, &machine.engine);
        match act {
            Act::Save(text) => {
                let text = self.text(text);
                let id = engine.add(&NewRecord::new(text.as_str())).unwrap().id;
                self.note(at, id, &text);
            }
            Act::Edit(which, text) => {
                let Some(id) = choose(*which, &live) else { return };
                let text = self.text(text);
                let update = RecordUpdate { content: Some(text.clone()), ..RecordUpdate::default() };
                match engine.viewed_by(owner).update(id, &update) {
                    Ok(_) => self.note(at, id, &text),
                    Err(Error::Duplicate(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            Act::Link(from, kind, to) => {
                let (Some(from), Some(to)) = (choose(*from, &live), choose(*to, &live)) else { return };
                // Memories that would supersede each other are refused here.
                _ = engine.viewed_by(owner).link(Link { from, to, kind: *kind });
            }
            Act::Unlink(which) => {
                let sql = "SELECT from_id, to_id FROM links WHERE kind = 2 ORDER BY from_id, to_id";
                let database = machine.database();
                let mut links = database.prepare(sql).unwrap();
                let links: Vec<(i64, i64)> = links
                    .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
                    .unwrap()
                    .map(|row| row.unwrap())
                    .collect();
                if let Some(&(from, to)) = links.get(which % links.len().max(1)) {
                    let link = Link { from: from.into(), to: to.into(), kind: LinkKind::Supersedes };
                    assert!(engine.viewed_by(owner).unlink(link).unwrap());
                }
            }
            Act::Delete(which) => _ = choose(*which, &live).map(|id| engine.viewed_by(owner).delete(id).unwrap()),
            Act::Restore(which) => {
                let deleted = machine.ids("SELECT id FROM trash ORDER BY ulid");
                if let Some(id) = choose(*which, &deleted) {
                    // Its text may be another one's by now.
                    let restored = engine.viewed_by(owner).restore(id);
                    self.restored.extend(restored.map(|restored| restored.record.content));
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
            Act::Folder => machine.meet_in_folder(),
            Act::Carry(cut) => self.carry(at, *cut),
            Act::Clock(by) => _ = machine.clock.fetch_add(*by, Ordering::Relaxed),
        }
    }

    fn purge(&mut self, at: usize, texts: &str, purge: Purge) {
        let database = self.machines[at].database();
        let mut texts = database.prepare(texts).unwrap();
        let texts = texts.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
        self.purged.extend(texts.filter(|text| text.starts_with("own")));
        self.machines[at].purge(purge);
    }

    fn meet(&self, one: usize, other: usize, broken: Option<u64>) {
        if one != other {
            self.machines[other].tick();
            self.machines[one].meet(&self.machines[other], broken);
        }
    }

    /// Carries the files of the others to a machine, as they are now.
    fn carry(&self, to: usize, cut: Option<u64>) {
        let there = self.machines[to].carried.path().join("memorist-sync");
        for from in self.machines.iter().filter(|from| !std::ptr::eq(*from, &self.machines[to])) {
            let own = Known::of(&from.engine).unwrap().machine;
            let here = from.carried.path().join("memorist-sync").join(&own);
            copy_anew(&here, &there.join(&own));
            if let (Some(cut), Some(last)) = (cut, files(&there.join(&own)).pop()) {
                let length = fs::metadata(&last).unwrap().len();
                fs::File::options().write(true).open(last).unwrap().set_len(cut.min(length)).unwrap();
            }
        }
    }

    /// All meet until nobody has news.
    fn settle(&mut self, over_folder: bool) {
        for _ in 0..8 {
            for (one, other) in [(0, 1), (1, 2), (0, 2)] {
                if over_folder {
                    self.carry(one, None);
                    self.machines[one].meet_in_folder();
                    self.carry(other, None);
                    self.machines[other].meet_in_folder();
                } else {
                    self.meet(one, other, None);
                }
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
            let diagnosis = machine.engine.doctor(false, &NoProgress).unwrap();
            let database = diagnosis.checks.iter().find(|check| check.name == "database").unwrap();
            assert!(database.ok, "{database:?}");
        }
    }
}

/// 46: the promise.
#[test]
fn three_stores_end_alike_and_lose_nothing() {
    let number = |name: &str| std::env::var(name).ok().map(|number| number.parse::<u64>().unwrap());
    let wanted = number("MEMORIST_HISTORIES").map(|wanted| u32::try_from(wanted).unwrap());
    // The same ones on each run, unless others are wanted.
    let rng_seed = match number("MEMORIST_SEED") {
        None if wanted.is_some() => RngSeed::Random,
        seed => RngSeed::Fixed(seed.unwrap_or(46)),
    };
    let usual = if std::env::var_os("MEMORIST_NIGHTLY").is_some() { 5 * HISTORIES } else { HISTORIES };
    let acts = proptest::collection::vec((0..STORES, act()), 1..40);
    let config = ProptestConfig {
        cases: wanted.unwrap_or(usual),
        rng_seed,
        max_shrink_iters: 3_000,
        ..ProptestConfig::default()
    };
    proptest!(config, |(acts in acts, over_folder: bool)| try_history(&acts, over_folder));
}

fn try_history(acts: &[(usize, Act)], over_folder: bool) {
    let mut fleet = Fleet::new();
    for (at, act) in acts {
        fleet.act(*at, act);
    }
    fleet.settle(over_folder);
    fleet.check();
}

/// The names of machines are random, and their order decides which one hears of what first in a folder.
fn try_over_folder(acts: &[(usize, Act)], times: usize) {
    for _ in 0..times {
        try_history(acts, true);
    }
}

/// A version that was purged left a gap, in which a twin has a version of its own.
#[test]
fn a_twin_has_versions_where_others_were_purged() {
    let common = |which| Text::Common(which);
    let acts = [
        (0, Act::Save(common(0))),
        (1, Act::Save(common(0))),
        (0, Act::Save(common(0))),
        (0, Act::Save(common(0))),
        (0, Act::Edit(0, common(1))),
        (2, Act::Meet(0, None)),
        (0, Act::PurgeVersion(0)),
        (2, Act::Edit(0, common(0))),
    ];
    try_history(&acts, false);
    try_history(&acts, true);
}

/// A machine that hears of the union has the twin alone, and has deleted the memory.
#[test]
fn a_twin_of_a_deleted_memory_is_deleted() {
    let acts = [
        (1, Act::Save(Text::Common(3))),
        (1, Act::Meet(0, Some(516))),
        (2, Act::Save(Text::Common(3))),
        (0, Act::Delete(0)),
        (2, Act::Folder),
        (1, Act::Folder),
    ];
    try_over_folder(&acts, 10);
}

/// A version of a deleted memory is purged elsewhere. The memory that comes back is whole but for that.
#[test]
fn a_deleted_memory_comes_back_without_a_purged_version() {
    let acts = [
        (1, Act::Save(Text::Common(0))),
        (1, Act::Edit(0, Text::Common(1))),
        (1, Act::Meet(0, None)),
        (0, Act::PurgeVersion(0)),
        (0, Act::Folder),
        (1, Act::Carry(None)),
        (1, Act::Delete(0)),
        (1, Act::Folder),
        (1, Act::Restore(0)),
    ];
    try_history(&acts, false);
}

/// A version that follows a purged one says itself when it began, in each store the same.
#[test]
fn a_version_behind_a_purged_one_keeps_its_moment() {
    let acts = [
        (1, Act::Save(Text::Own)),
        (0, Act::Unlink(0)),
        (1, Act::Folder),
        (0, Act::Save(Text::Common(1))),
        (1, Act::Edit(0, Text::Common(1))),
        (0, Act::Meet(2, None)),
        (0, Act::Edit(0, Text::Own)),
        (0, Act::PurgeVersion(0)),
        (2, Act::Meet(1, Some(3_527))),
        (1, Act::Edit(0, Text::Own)),
    ];
    try_over_folder(&acts, 30);
}

/// A memory that was deleted here was united elsewhere with another one, which is purged: so is what is kept of it.
#[test]
fn a_deleted_twin_of_a_purged_memory_is_purged() {
    let acts = [
        (0, Act::Save(Text::Common(0))),
        (1, Act::Save(Text::Own)),
        (1, Act::Meet(2, None)),
        (1, Act::Delete(0)),
        (2, Act::Edit(0, Text::Common(1))),
        (0, Act::Edit(0, Text::Common(1))),
        (0, Act::Meet(2, None)),
        (2, Act::Purge(0)),
    ];
    try_history(&acts, false);
}

/// A restored memory is its old text once more. Where that is purged, it is still the one that was restored.
#[test]
fn a_restored_memory_lives_on_without_its_purged_version() {
    let acts = [
        (1, Act::Save(Text::Own)),
        (2, Act::Save(Text::Own)),
        (0, Act::Meet(1, None)),
        (1, Act::Meet(2, None)),
        (1, Act::Delete(0)),
        (1, Act::Restore(0)),
        (1, Act::PurgeVersion(0)),
    ];
    try_over_folder(&acts, 10);
    try_history(&acts, false);
}
