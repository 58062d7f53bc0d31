//! Every file in `fuzz/corpus` is read by the target that it belongs to, as fuzzing would.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use memorist_engine::fuzzing::{keyword_payload, keyword_seal, sync_log, vector_payload, wheel};
use memorist_index::fuzzing::{manifest, segment};
use memorist_server::fuzzing::{arguments, import_file, time};

/// Gives the bytes to the target of this name. False when there is none.
fn read(target: &str, bytes: &[u8], folder: &Path) -> bool {
    match target {
        "arguments" => arguments(bytes),
        "import_file" => import_file(bytes),
        "keyword_payload" => keyword_payload(bytes),
        "keyword_seal" => keyword_seal(bytes),
        "sync_log" => sync_log(bytes),
        "time" => time(bytes),
        "vector_manifest" => manifest(bytes),
        "vector_payload" => vector_payload(bytes),
        "vector_segment" => segment(bytes, folder),
        "wheel" => wheel(bytes, folder),
        _ => return false,
    }
    true
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
    for target in targets {
        let files = fs::read_dir(fuzz.join("corpus").join(&target)).unwrap();
        for file in files.map(|file| file.unwrap().path()) {
            eprintln!("{}", file.display());
            assert!(read(&target, &fs::read(&file).unwrap(), folder.path()), "{target} is not known here");
        }
    }
}
