//! The real model, fetched for real. Its cache is kept in the target folder, so that it is fetched once.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::onnx::embedder::OnnxEmbedder;
use crate::onnx::tokenize::{MAX_TOKENS, TextTokenizer};
use crate::progress::NoProgress;
use crate::provision::{Provision, SourceFile};
use crate::{Embedder, Error, ModelHost, ModelIdentity, ModelSettings, ModelSource, allocator};

fn cache_dir() -> PathBuf {
    // .../target/debug/deps/<this test>
    let program = env::current_exe().unwrap();
    program.ancestors().nth(3).unwrap().join("tmp").join("model-cache")
}

pub fn settings() -> ModelSettings {
    ModelSettings { cache_dir: Some(cache_dir()), idle: Duration::from_secs(60), ..ModelSettings::default() }
}

/// The `tokenizer.json` of the default model.
pub fn tokenizer_json() -> Vec<u8> {
    let files = Provision::new(&settings()).unwrap().ensure(&mut |_| {}, &NoProgress).unwrap();
    files.tokenizer.read().unwrap()
}

fn embedder() -> OnnxEmbedder {
    let provision = Provision::new(&settings()).unwrap();
    OnnxEmbedder::load(&provision.ensure(&mut |_| {}, &NoProgress).unwrap()).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Texts of 1 to about 300 words, all different.
fn texts(count: usize) -> Vec<String> {
    let words =
        ["engine", "memory", "theme", "login", "queue", "Berlin", "coffee", "deploy", "index", "\u{65e5}\u{672c}"];
    (0..count)
        .map(|i| {
            let length = if i % 40 == 7 { 300 } else { 1 + i * 7 % 23 };
            (0..length).map(|j| words[(i * 31 + j * 17 + j * j) % words.len()]).collect::<Vec<_>>().join(" ")
        })
        .collect()
}

/// E1, E3: the default model, 384 dimensions, of length 1.
#[test]
fn meaning_is_found_without_shared_words() {
    let embedder = embedder();
    assert_eq!(*embedder.identity(), ModelIdentity::default_model());
    let memories = [
        "User prefers dark mode for all applications",
        "Use JWT tokens for authentication in the API gateway",
        "The quarterly budget review is on Thursday",
        "My sister's cat is called Miso",
    ];
    let vectors = embedder.embed_batch(&memories).unwrap();
    assert!(vectors.iter().all(|vector| vector.len() == 384));
    for (query, right) in [("dark theme", 0), ("login security", 1), ("family pets", 3)] {
        let query_vector = embedder.embed_query(query).unwrap();
        assert!((cosine(&query_vector, &query_vector) - 1.0).abs() < 1e-5);
        let scores: Vec<f32> = vectors.iter().map(|vector| cosine(&query_vector, vector)).collect();
        for (other, score) in scores.iter().enumerate().filter(|(other, _)| *other != right) {
            assert!(
                scores[right] > score + 0.05,
                "{query}: {other} scores {score}, and {right} scores {}",
                scores[right]
            );
        }
    }
}

/// E4.
#[test]
fn a_batch_gives_what_single_texts_give_in_their_order() {
    let embedder = embedder();
    let texts = texts(150);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = embedder.embed_batch(&texts).unwrap();
    assert_eq!(together.len(), texts.len());
    for (text, vector) in texts.iter().zip(&together).step_by(7) {
        let alone = embedder.embed_query(text).unwrap();
        let most = alone.iter().zip(vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(most < 1e-5, "differs by {most}: {text}");
    }
    assert!(embedder.embed_batch(&[]).unwrap().is_empty());
}

/// Z5: the same model gives the same vector.
#[test]
fn queries_at_once_give_what_they_give_alone() {
    let embedder = embedder();
    let texts = texts(40);
    let alone: Vec<Vec<f32>> = texts.iter().map(|text| embedder.embed_query(text).unwrap()).collect();
    std::thread::scope(|scope| {
        for first in 0..8 {
            let (embedder, texts, alone) = (&embedder, &texts, &alone);
            scope.spawn(move || {
                for index in (first..first + 16).map(|index| index % texts.len()) {
                    assert_eq!(embedder.embed_query(&texts[index]).unwrap(), alone[index], "{}", texts[index]);
                }
            });
        }
    });
}

#[test]
fn two_loads_give_the_same_vectors_and_odd_texts_have_one() {
    let (first, second) = (embedder(), embedder());
    for text in ["", " ", "\u{1f600}", "\0", "AND OR NOT ( \" *", "The quick brown fox"] {
        assert_eq!(first.embed_query(text).unwrap(), second.embed_query(text).unwrap(), "{text:?}");
    }
}

#[test]
fn long_texts_are_cut_and_short_ones_are_not_padded() {
    let files = Provision::new(&settings()).unwrap().ensure(&mut |_| {}, &NoProgress).unwrap();
    let tokenizer = TextTokenizer::load(&files.tokenizer).unwrap();
    assert_eq!(tokenizer.encode("dark theme").unwrap().len(), 4, "two words and two marks");
    let (long, longer) = ("word ".repeat(400), "word ".repeat(200_000));
    assert_eq!(tokenizer.encode(&long).unwrap().len(), MAX_TOKENS);
    assert_eq!(tokenizer.encode(&long).unwrap(), tokenizer.encode(&longer).unwrap());
    assert_eq!(tokenizer.encode(&"\u{1f600}".repeat(100_000)).unwrap().len().min(3), 3, "cut between characters");
}

/// Z5: once it is fetched, it works offline.
#[test]
fn a_whole_cache_needs_no_network_and_passes_its_full_check() {
    drop(embedder());
    let provision = Provision::new(&ModelSettings { may_download: false, ..settings() }).unwrap();
    assert_eq!(provision.plan().unwrap(), None);
    provision.ensure(&mut |plan| panic!("fetches {plan}"), &NoProgress).unwrap();
    provision.verify_full().unwrap();
}

#[test]
fn an_own_folder_serves_and_remembers_its_identity() {
    let files = Provision::new(&settings()).unwrap().ensure(&mut |_| {}, &NoProgress).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::copy(files.model.path(), folder.path().join("model.onnx")).unwrap();
    fs::copy(files.tokenizer.path(), folder.path().join("tokenizer.json")).unwrap();
    let settings = ModelSettings { source: ModelSource::Folder(folder.path().to_owned()), ..settings() };
    let host = ModelHost::new(&settings).unwrap();
    let identity = host.identity().unwrap();
    assert!(host.is_warm(), "an unknown model has to be loaded");
    let default = ModelIdentity::default_model();
    assert_eq!((identity.dims, &identity.weights_sha256), (384, &default.weights_sha256));
    let host = ModelHost::new(&settings).unwrap();
    assert_eq!(host.identity().unwrap(), identity);
    assert!(!host.is_warm(), "a remembered identity needs no model");
}

#[test]
fn a_file_that_is_not_a_model_is_an_error_and_no_crash() {
    let files = Provision::new(&settings()).unwrap().ensure(&mut |_| {}, &NoProgress).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut bad = files.clone();
    let cut = folder.path().join("model.onnx");
    fs::write(&cut, &fs::read(files.model.path()).unwrap()[..1_000_000]).unwrap();
    bad.model = SourceFile::own(cut);
    let error = OnnxEmbedder::load(&bad).err().unwrap();
    assert!(matches!(&error, Error::Failed(why) if why.contains("model.onnx")), "{error}");
}

#[test]
fn a_file_that_is_not_a_library_is_an_error_and_no_crash() {
    // In a separate process: this one may have loaded the right library already, and then keeps it.
    let library = "MEMORIST_ORT";
    if env::var_os(CHILD).is_none() {
        drop(embedder());
        let file = tempfile::NamedTempFile::new().unwrap();
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", "tests::a_file_that_is_not_a_library_is_an_error_and_no_crash"])
            .env(CHILD, "1")
            .env(library, file.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        return;
    }
    let named = env::var(library).unwrap();
    let files = Provision::new(&settings()).unwrap().ensure(&mut |_| {}, &NoProgress).unwrap();
    for _ in 0..2 {
        let error = OnnxEmbedder::load(&files).err().unwrap();
        assert!(matches!(&error, Error::Failed(why) if why.contains(&named)), "{error}");
    }
}

/// Set in a process that a test starts from its own executable.
const CHILD: &str = "MEMORIST_TEST_CHILD";

/// Resident memory of this process, in MiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

/// The allocator's settings apply to a whole process, so this runs itself again in a separate one.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn a_released_model_gives_its_memory_back() {
    if env::var_os(CHILD).is_none() {
        drop(embedder());
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", "tests::a_released_model_gives_its_memory_back", "--nocapture", "--test-threads=1"])
            .env(CHILD, "1")
            .env_remove("GLIBC_TUNABLES")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("resident after the release"), "{output:?}");
        eprint!("{}", said.lines().filter(|line| line.starts_with("resident")).collect::<Vec<_>>().join("\n"));
        return;
    }
    allocator::restart_with_returning_allocator();
    let before = resident();
    let host = ModelHost::new(&settings()).unwrap();
    let texts = texts(300);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for round in 0..2 {
        let embedder: Arc<dyn Embedder> = host.embedder().unwrap();
        let loaded = resident();
        embedder.embed_query("dark theme").unwrap();
        if round == 0 {
            embedder.embed_batch(&texts).unwrap();
        }
        let used = resident();
        drop(embedder);
        assert!(host.release_if_idle(Instant::now() + Duration::from_secs(61)));
        let released = resident();
        eprintln!(
            "resident before {before:.0} MiB, loaded {loaded:.0}, used {used:.0}, resident after the release {released:.0}"
        );
        assert!(loaded > 90.0, "the model is in this process: {loaded} MiB");
        assert!(released < 60.0, "{released} MiB stay");
    }
}
