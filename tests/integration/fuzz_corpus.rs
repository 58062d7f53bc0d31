//! Every file in `fuzz/corpus`, and copies with a few changes, are run through their fuzz target.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use memorist_embed::fuzzing::wheel;
use memorist_engine::fuzzing::{keyword_payload, keyword_seal, map_file, scale_file, sync_log, vector_payload};
use memorist_index::fuzzing::{manifest, segment};
use memorist_ingest::sources::fuzzing::{note, transcript};
use memorist_server::fuzzing::{arguments, import_file, message, time};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::number_from;

/// Changed copies of each file, unless MEMORIST_FUZZ_ROUNDS says otherwise.
const ROUNDS: u64 = 50;

/// Runs the target of this name on the bytes. False if there is none.
fn read(target: &str, bytes: &[u8], folder: &Path) -> bool {
    match target {
        "arguments" => arguments(bytes),
        "import_file" => import_file(bytes),
        "keyword_payload" => drop(keyword_payload(bytes)),
        "keyword_seal" => keyword_seal(bytes),
        "map_file" => drop(map_file(bytes)),
        "scale_file" => drop(scale_file(bytes)),
        "message" => message(bytes),
        "note" => note(bytes),
        "sync_log" => sync_log(bytes),
        "time" => time(bytes),
        "transcript" => transcript(bytes, folder),
        "vector_manifest" => drop(manifest(bytes)),
        "vector_payload" => drop(vector_payload(bytes)),
        "vector_segment" => drop(segment(bytes, folder)),
        "wheel" => wheel(bytes, folder),
        _ => return false,
    }
    true
}

/// A copy with a few changes: another bit or byte, a piece missing, or a piece of it once more.
fn changed(bytes: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.random_range(1..4) {
        let from = random.random_range(0..=bytes.len());
        let piece = from..random.random_range(from..=bytes.len().min(from + 16));
        match random.random_range(0..4) {
            0 if from < bytes.len() => bytes[from] ^= 1 << random.random_range(0..8),
            1 if from < bytes.len() => bytes[from] = random.random(),
            2 => drop(bytes.drain(piece)),
            _ => {
                let again = bytes[piece].to_vec();
                let to = random.random_range(0..=bytes.len());
                bytes.splice(to..to, again);
            }
        }
    }
    bytes
}

#[test]
fn every_target_reads_its_corpus() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let names = |folder: &Path| -> BTreeSet<String> {
        let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned()).collect()
    };
    let targets = names(&fuzz.join("fuzz_targets"));
    assert_eq!(names(&fuzz.join("corpus")), targets, "each target has a corpus");
    let folder = tempfile::tempdir().unwrap();
    let seed = number_from("MEMORIST_SEED", memorist_engine::now() as u64);
    eprintln!("MEMORIST_SEED={seed}");
    let rounds = number_from("MEMORIST_FUZZ_ROUNDS", ROUNDS);
    for target in targets {
        let files = fs::read_dir(fuzz.join("corpus").join(&target)).unwrap();
        for file in files.map(|file| file.unwrap().path()) {
            let bytes = fs::read(&file).unwrap();
            eprintln!("{}", file.display());
            assert!(read(&target, &bytes, folder.path()), "{target} is not known here");
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            for _ in 0..rounds {
                read(&target, &changed(&bytes, &mut random), folder.path());
            }
        }
    }
}

/// Seeds of a format that is no longer read would test its refusal only.
#[test]
fn sound_seeds_are_of_the_present_format() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let seed = |name: &str| fs::read(corpus.join(name)).unwrap();
    assert!(manifest(&seed("vector_manifest/sound")));
    assert!(keyword_payload(&seed("keyword_payload/sound")));
    assert!(vector_payload(&seed("vector_payload/sound")));
    assert!(map_file(&seed("map_file/sound")));
    assert!(scale_file(&seed("scale_file/sound")));
    for name in ["flat", "graph", "links_to_nowhere", "scales_of_nan"] {
        assert!(segment(&seed(&format!("vector_segment/{name}")), folder.path()), "{name} is opened, sound or not");
    }
}
