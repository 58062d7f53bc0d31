//! A power cut right before or after a sync: exactly what was acknowledged is there, and the store is sound.

use std::path::Path;
use std::time::Duration;

use memorist_engine::keywords::{KeywordIndex, TantivyIndex};
use memorist_engine::paths::StorePaths;
use memorist_engine::records::Records;
use memorist_index::Reader;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::on_disk;
use super::trace::{self, Disk, Event, Left};
use crate::crash::{Acknowledged, child, run, verify};
use crate::support::{amount_from, number_from};

/// Number of cuts, unless MEMORIST_POWER_CUTS says otherwise.
const CUTS: u64 = 48;
/// How long the child writes.
const WRITING: Duration = Duration::from_millis(2_500);

#[test]
fn acknowledged_writes_survive_power_loss_at_any_sync() {
    let cuts = amount_from("MEMORIST_POWER_CUTS", CUTS) as usize;
    let seed = number_from("MEMORIST_SEED", memorist_engine::now() as u64);
    eprintln!("MEMORIST_SEED={seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let folder = tempfile::tempdir().expect("a folder");
    let (root, file) = (folder.path().join("disk"), folder.path().join("trace"));
    std::fs::create_dir(&root).expect("a folder");
    let mut command = child(&root.join("store"), seed);
    on_disk(&mut command, &root).env("MEMORIST_DISK_TRACE", &file);
    run(command.spawn().expect("a child"), Some(WRITING), &mut Acknowledged::default(), "before the cut");

    let events = trace::read(&file);
    let syncs: Vec<usize> = (0..events.len()).filter(|&at| events[at].is_sync()).collect();
    // Those of the database are many and alike; of the indexes' every one is worth a cut.
    let is_of_database = |at: &&usize| matches!(&events[**at], Event::Sync { .. });
    let (of_files, of_folders): (Vec<usize>, Vec<usize>) = syncs.iter().partition(is_of_database);
    let mut chosen: Vec<usize> = of_folders.sample(&mut random, cuts / 2).copied().collect();
    chosen.extend(of_files.sample(&mut random, cuts - chosen.len()));
    chosen.iter_mut().for_each(|at| *at += usize::from(random.random::<bool>()));
    chosen.sort_unstable();
    eprintln!("{} events, {} syncs, {} cuts", events.len(), syncs.len(), chosen.len());
    assert!(
        of_folders.len() > 20 && of_files.len() > 100,
        "the child published: {} {}",
        of_folders.len(),
        of_files.len()
    );

    let (mut disk, mut said) = (Disk::new(&root), Vec::new());
    let mut played = 0;
    for cut in chosen {
        events[played..cut].iter().for_each(|event| play(event, &mut disk, &mut said));
        played = cut;
        for left in [Left::Nothing, Left::Some] {
            let what = format!("seed {seed}, cut at {cut} of {}, left: {left:?}", events.len());
            check(&disk, left, &mut random, &said, &what);
        }
    }
}

fn play(event: &Event, disk: &mut Disk, said: &mut Vec<u8>) {
    disk.play(event);
    if let Event::Say { bytes } = event {
        said.extend(bytes);
    }
}

/// Opens what is left on the disk as the next process would.
fn check(disk: &Disk, left: Left, random: &mut ChaCha8Rng, said: &[u8], what: &str) {
    let found = tempfile::tempdir().expect("a folder");
    disk.after_power_cut(left, random, found.path());
    let mut acknowledged = Acknowledged::default();
    let said = String::from_utf8_lossy(said);
    // An incomplete line was not acknowledged.
    let whole = said.rfind('\n').map_or("", |end| &said[..end]);
    whole.lines().filter_map(|line| line.strip_prefix('@')).for_each(|line| acknowledged.hear(line));
    let store = found.path().join("store");
    assert_published_is_whole(&store, what);
    verify(&store, &mut acknowledged, what);
}

/// A published index is as it was published, and the log reaches back to it: a power cut does not require a rebuild.
fn assert_published_is_whole(store: &Path, what: &str) {
    let paths = StorePaths::new(store);
    if !paths.database().exists() {
        return;
    }
    let records = Records::open(&paths).and_then(|records| Ok((records.store_id().to_owned(), records.snapshot()?)));
    let (store, trimmed_to) = records
        .map(|(store, snapshot)| (store, snapshot.trimmed_to().get()))
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    if paths.vectors().exists() {
        let index = Reader::open(paths.vectors()).unwrap_or_else(|error| panic!("{what}: {error}")).snapshot();
        assert!(index.check().is_ok(), "{what}: {:?}", index.check());
        let applied = index.payload().first_chunk().map(|applied| u64::from_le_bytes(*applied));
        assert!(applied >= Some(trimmed_to), "{what}: the vectors have applied {applied:?} of {trimmed_to}");
    }
    if paths.keywords().exists() {
        let index = TantivyIndex::open(&paths.keywords(), &store).and_then(|index| index.snapshot());
        let index = index.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(index.wait_verified(Duration::MAX).is_ok(), "{what}");
        let applied = index.applied().get();
        assert!(applied >= trimmed_to, "{what}: the words have applied {applied} of {trimmed_to}");
    }
}

#[test]
fn the_disk_forgets_what_was_not_synced() {
    let mut disk = Disk::new(Path::new("/r"));
    let path = |name: &str| Path::new("/r").join(name);
    let write = |text: &str| Event::Write { inode: 7, at: 0, bytes: text.into() };
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut found = |disk: &Disk| {
        let to = tempfile::tempdir().expect("a folder");
        disk.after_power_cut(Left::Nothing, &mut random, to.path());
        let read = |name: &str| std::fs::read_to_string(to.path().join(name)).ok();
        (read("tmp"), read("file"))
    };
    for (event, tmp, file) in [
        (Event::Create { path: path("tmp"), inode: 7 }, None, None),
        (write("one"), None, None),
        (Event::Sync { inode: 7 }, None, None),
        (Event::SyncFolder { path: path("") }, Some("one"), None),
        (Event::Rename { from: path("tmp"), to: path("file") }, Some("one"), None),
        (write("two"), Some("one"), None),
        (Event::SyncFolder { path: path("") }, None, Some("one")),
        (Event::Sync { inode: 7 }, None, Some("two")),
        (Event::Remove { path: path("file") }, None, Some("two")),
        (Event::SyncFolder { path: path("") }, None, None),
    ] {
        disk.play(&event);
        assert_eq!(found(&disk), (tmp.map(String::from), file.map(String::from)), "after {event:?}");
    }
}
