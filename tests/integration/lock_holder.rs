//! Eight processes read and write one store, and every second the one that holds the writer lock is killed. The others
//! must not notice: what was acknowledged to one is visible to all, at once, and the lock is passed on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use memorist_engine::paths::StorePaths;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{EmbeddingState, Mode, Query, RecordId};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::process::{Answer, Ask, Process, WORDS};
use crate::support::{assert_same, hashed, number_from};

/// How long it runs, unless MEMORIST_PROCESS_SECONDS says otherwise.
const SECONDS: u64 = 20;
/// A writer keeps at most this many records: those of all fit into one answer.
const MOST: usize = 100;
/// Most hits of one answer.
const ALL: usize = 1_000;
const MODES: [Mode; 3] = [Mode::Hybrid, Mode::Vector, Mode::Keyword];
/// How often to check who holds the lock.
const LOOK: Duration = Duration::from_millis(1);

/// The processes. A killed one is replaced.
struct Crowd {
    store: PathBuf,
    places: Vec<Place>,
}

struct Place {
    process: Mutex<Process>,
    /// The id of the process, also while it is busy.
    id: AtomicU32,
}

impl Crowd {
    fn start(store: &Path) -> Self {
        let place = |process: Process| Place { id: process.id().into(), process: process.into() };
        let places = WORDS.iter().map(|_| place(Process::start(store))).collect();
        Crowd { store: store.into(), places }
    }

    /// Sends a request to this process. `None` if it has been killed: then another has replaced it already.
    fn ask(&self, at: usize, ask: &Ask) -> Option<Answer> {
        let place = &self.places[at];
        let mut process = place.process.lock().expect("no test has failed here");
        let answer = process.ask(ask);
        if answer.is_none() {
            let dead = std::mem::replace(&mut *process, Process::start(&self.store));
            place.id.store(process.id(), Ordering::Relaxed);
            assert!(dead.end(), "a process ends only when it is killed");
        }
        answer
    }

    /// Which of the processes holds the lock. The kernel reports it in lines like `1: FLOCK  ADVISORY  WRITE 19814
    /// fe:00:10010644 0 EOF`: the process, then device and inode of the file.
    fn lock_holder(&self) -> Option<u32> {
        let inode = fs::metadata(StorePaths::new(&self.store).writer_lock()).ok()?.ino().to_string();
        let locks = fs::read_to_string("/proc/locks").expect("Linux");
        locks.lines().find_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, "FLOCK", _, _, id, file, ..] = words[..] else { return None };
            let id = id.parse().ok()?;
            let ours = self.places.iter().any(|place| place.id.load(Ordering::Relaxed) == id);
            (ours && file.rsplit(':').next() == Some(&inode)).then_some(id)
        })
    }

    /// Kills a process that holds the lock. `None` if none was seen to hold it before `until`.
    fn kill_lock_holder(&self, until: Instant) -> Option<u32> {
        while Instant::now() < until {
            if let Some(id) = self.lock_holder() {
                // Stopped, it cannot release the lock between the check and the kill.
                signal("STOP", id);
                if self.lock_holder() == Some(id) {
                    signal("KILL", id);
                    return Some(id);
                }
                signal("CONT", id);
            }
            thread::sleep(LOOK);
        }
        None
    }
}

fn signal(name: &str, process: u32) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status().expect("a shell");
    assert!(sent.success(), "{name} to {process}: {sent}");
}

/// Unique text, with a number by which it is found.
#[derive(Debug, Clone, PartialEq)]
struct NumberedText {
    number: String,
    whole: String,
}

/// A writer: it writes through one process, and searches through the others.
struct Writer<'crowd> {
    crowd: &'crowd Crowd,
    at: usize,
    random: ChaCha8Rng,
    live: BTreeMap<RecordId, NumberedText>,
    /// Memories whose vector was not ready when they were acknowledged.
    pending: BTreeSet<RecordId>,
    /// Texts that were acknowledged, and those of them whose vector was ready then.
    texts: u64,
    embedded: u64,
}

impl Writer<'_> {
    fn text(&mut self) -> NumberedText {
        // With fewer digits than a card number, which would be refused.
        let number = self.random.random_range(0..1_000_000_000_000_u64).to_string();
        NumberedText { whole: format!("common {} text {number}", WORDS[self.at]), number }
    }

    /// Asks another process, and the next if that is killed.
    fn ask_another(&mut self, ask: &Ask) -> Answer {
        loop {
            let other = (self.at + self.random.random_range(1..WORDS.len())) % WORDS.len();
            if let Some(answer) = self.crowd.ask(other, ask) {
                return answer;
            }
        }
    }

    fn find(&mut self, mode: Mode, limit: usize, text: &str) -> BTreeMap<RecordId, String> {
        let Answer::Found(hits) = self.ask_another(&Ask::Search(mode, limit, text.into())) else {
            panic!("no answer to a search")
        };
        let count = hits.len();
        let found: BTreeMap<_, _> = hits.into_iter().collect();
        assert_eq!(found.len(), count, "nothing twice: {found:?}");
        found
    }

    /// Another process finds this record in its current state.
    fn assert_found(&mut self, id: RecordId) {
        let text = self.live[&id].clone();
        let by_words = self.find(Mode::Keyword, 10, &text.number);
        assert_eq!(by_words.get(&id), Some(&text.whole), "{id} by words: {by_words:?}");
        if !self.pending.contains(&id) {
            let by_vector = self.find(Mode::Vector, 10, &text.whole);
            assert_eq!(by_vector.get(&id), Some(&text.whole), "{id} by vector: {by_vector:?}");
        }
    }

    /// Another process finds nothing of an earlier state of this record.
    fn assert_gone(&mut self, id: RecordId, was: &NumberedText) {
        let by_words = self.find(Mode::Keyword, 10, &was.number);
        assert!(!by_words.contains_key(&id), "{id} is found by its old words {was:?}: {by_words:?}");
        let by_vector = self.find(Mode::Vector, 10, &was.whole);
        assert_ne!(by_vector.get(&id), Some(&was.whole), "{id} is found by its old vector");
    }

    /// Another process finds exactly the records of this one.
    fn assert_all_found(&mut self) {
        let mode = MODES[self.random.random_range(0..MODES.len())];
        let mut found = self.find(mode, ALL, &format!("common {}", WORDS[self.at]));
        found.retain(|_, text| text.split(' ').nth(1) == Some(WORDS[self.at]));
        let mut live: BTreeMap<_, _> = self.live.iter().map(|(id, text)| (*id, text.whole.clone())).collect();
        if mode == Mode::Vector {
            found.retain(|id, _| !self.pending.contains(id));
            live.retain(|id, _| !self.pending.contains(id));
        }
        assert_same(&found, &live, &format!("{mode:?}"));
    }

    fn add(&mut self) {
        let text = self.text();
        let saved = match self.crowd.ask(self.at, &Ask::Add(text.whole.clone())) {
            Some(Answer::Added(id, embedding)) => Some((id, embedding)),
            Some(other) => panic!("{other:?} is not an answer to an add"),
            // In doubt: it was saved, or it was not.
            None => {
                let found = self.find(Mode::Keyword, ALL, &text.number);
                let mut found = found.into_iter().filter(|(_, found)| *found == text.whole);
                let saved = found.next().map(|(id, _)| (id, EmbeddingState::Pending));
                assert_eq!(found.next(), None, "saved twice");
                saved
            }
        };
        let Some((id, embedding)) = saved else { return };
        assert!(self.live.insert(id, text).is_none(), "{id} is a new one");
        self.note(id, embedding);
        self.assert_found(id);
    }

    fn update(&mut self, id: RecordId) {
        let (text, was) = (self.text(), self.live[&id].clone());
        let embedding = match self.crowd.ask(self.at, &Ask::Update(id, text.whole.clone())) {
            Some(Answer::Updated(embedding)) => embedding,
            Some(other) => panic!("{other:?} is not an answer to an update"),
            None => match self.ask_another(&Ask::Get(id)) {
                Answer::Got(Some(now)) if now == text.whole => EmbeddingState::Pending,
                Answer::Got(Some(now)) if now == was.whole => return,
                other => panic!("{id} was {was:?}, was to be {text:?}, is {other:?}"),
            },
        };
        self.live.insert(id, text);
        self.note(id, embedding);
        self.assert_found(id);
        self.assert_gone(id, &was);
    }

    fn delete(&mut self, id: RecordId) {
        let was = self.live[&id].clone();
        match self.crowd.ask(self.at, &Ask::Delete(id)) {
            Some(answer) => assert_eq!(answer, Answer::Deleted(true), "{id}"),
            None => match self.ask_another(&Ask::Get(id)) {
                Answer::Got(None) => {}
                Answer::Got(Some(now)) if now == was.whole => return,
                other => panic!("{id} was {was:?}, is {other:?}"),
            },
        }
        self.live.remove(&id);
        self.assert_gone(id, &was);
    }

    fn note(&mut self, id: RecordId, embedding: EmbeddingState) {
        self.texts += 1;
        if embedding == EmbeddingState::Ready {
            self.embedded += 1;
            self.pending.remove(&id);
        } else {
            self.pending.insert(id);
        }
    }

    fn work(&mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let some = self.live.keys().nth(self.random.random_range(0..MOST)).copied();
            match (self.random.random_range(0..10), some) {
                (0..3, Some(id)) => self.update(id),
                (3..5, Some(id)) => self.delete(id),
                (5, _) => self.assert_all_found(),
                (6, _) if self.random.random_bool(0.1) => {
                    assert_eq!(self.ask_another(&Ask::Examine), Answer::Examined(Vec::new()), "{}", self.at);
                }
                _ if self.live.len() < MOST => self.add(),
                _ => {}
            }
        }
    }
}

/// Kills lock holders for this many seconds, while eight writers write. Returns the writers and the ids of the killed.
fn write_and_kill<'crowd>(crowd: &'crowd Crowd, seed: u64, seconds: u64) -> (Vec<Writer<'crowd>>, BTreeSet<u32>) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WORDS.len())
            .map(|at| Writer {
                crowd,
                at,
                random: ChaCha8Rng::seed_from_u64(seed ^ at as u64),
                live: BTreeMap::new(),
                pending: BTreeSet::new(),
                texts: 0,
                embedded: 0,
            })
            .map(|mut writer| {
                let stop = &stop;
                scope.spawn(move || {
                    writer.work(stop);
                    writer
                })
            })
            .collect();
        let mut killed = BTreeSet::new();
        let started = Instant::now();
        for second in 1..=seconds {
            let until = started + Duration::from_secs(second);
            killed.extend(crowd.kill_lock_holder(until));
            thread::sleep(until.saturating_duration_since(Instant::now()));
            if writers.iter().any(|writer| writer.is_finished()) {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
        (writers.into_iter().map(|writer| writer.join().expect("a writer content")).collect(), killed)
    })
}

#[test]
fn killing_the_lock_holder_every_second_is_noticed_by_nobody() {
    let seconds = number_from("MEMORIST_PROCESS_SECONDS", SECONDS);
    let seed = number_from("MEMORIST_SEED", memorist_engine::now() as u64);
    eprintln!("MEMORIST_SEED={seed}");
    let folder = tempfile::tempdir().expect("a folder");
    let crowd = Crowd::start(folder.path());
    let (writers, killed) = write_and_kill(&crowd, seed, seconds);

    let (mut live, mut texts, mut embedded) = (BTreeMap::new(), 0, 0);
    for writer in writers {
        live.extend(writer.live.into_iter().map(|(id, text)| (id, text.whole)));
        (texts, embedded) = (texts + writer.texts, embedded + writer.embedded);
    }
    let kills = killed.len() as u64;
    eprintln!("{kills} killed in {seconds} s, {texts} texts saved, {embedded} embedded at once, {} left", live.len());
    assert!(
        kills >= seconds.div_ceil(2),
        "{kills} kills in {seconds} s: the lock does not pass on, or nobody has work"
    );
    assert!(embedded > texts / 2, "most are looked for by vector too");
    for place in crowd.places {
        let process = place.process.into_inner().expect("no test has failed here");
        assert!(!process.end() || killed.contains(&place.id.into_inner()), "killed, and not by this test");
    }

    let engine = hashed().open(folder.path()).expect("the store opens");
    engine.embed_pending(&NoProgress).expect("embeds");
    for mode in MODES {
        let hits = engine.search(&Query { mode, limit: ALL, ..Query::new("common") }).expect("searches").hits;
        assert_eq!(hits.len(), live.len(), "{mode:?}");
        let found = hits.into_iter().map(|hit| (hit.record.id, hit.record.content)).collect();
        assert_same(&found, &live, &format!("{mode:?}"));
    }
    engine.flush(&NoProgress).expect("the lock is free");
    let diagnosis = engine.doctor(false, &NoProgress).expect("examines");
    assert!(diagnosis.is_sound(), "{diagnosis:#?}");
}
