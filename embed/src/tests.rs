//! The real model, fetched for real, and compared with ONNX Runtime. The cache is kept in the target folder, so that it is
//! fetched once.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use memorist_bert::{Kernel, Model, Shape, pack_minilm, pack_ms_marco};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::local::{LocalEmbedder, LocalReranker};
use crate::onnx::{OnnxEmbedder, TextTokenizer};
use crate::progress::{NoProgress, Progress};
use crate::provision::{ModelFiles, Provision, SourceFile};
use crate::window::MAX_TOKENS;
use crate::{Embedder, Error, Languages, ModelHost, ModelIdentity, ModelSettings, ModelSource, NamedModel, Reranker};

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
    files(&settings()).tokenizer.read().unwrap()
}

pub fn files(settings: &ModelSettings) -> ModelFiles {
    Provision::new(settings).unwrap().ensure(&mut |_| {}, &NoProgress).unwrap()
}

fn embedder() -> LocalEmbedder {
    LocalEmbedder::load(NamedModel::MiniLm, &files(&settings())).unwrap()
}

fn multilingual_settings() -> ModelSettings {
    ModelSettings { source: ModelSource::Named(NamedModel::E5Small), ..settings() }
}

/// The fetched file of the multilingual model.
pub fn multilingual_file() -> Vec<u8> {
    files(&multilingual_settings()).model.read().unwrap()
}

/// The default model in a folder of the user's own, which ONNX Runtime runs.
fn own_folder() -> (TempDir, ModelSettings) {
    let files = files(&settings());
    let folder = tempfile::tempdir().unwrap();
    fs::copy(files.model.path(), folder.path().join("model.onnx")).unwrap();
    fs::copy(files.tokenizer.path(), folder.path().join("tokenizer.json")).unwrap();
    let settings = ModelSettings { source: ModelSource::Folder(folder.path().to_owned()), ..settings() };
    (folder, settings)
}

fn load_own(files: &ModelFiles) -> crate::Result<OnnxEmbedder> {
    OnnxEmbedder::load(files, files.library.as_ref().unwrap())
}

pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
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
    let files = files(&settings());
    let tokenizer = TextTokenizer::load(&files.tokenizer).unwrap();
    assert_eq!(tokenizer.encode("dark theme").unwrap().len(), 4, "two words and two marks");
    let (long, longer) = ("word ".repeat(400), "word ".repeat(200_000));
    assert_eq!(tokenizer.encode(&long).unwrap().len(), MAX_TOKENS);
    assert_eq!(tokenizer.encode(&long).unwrap(), tokenizer.encode(&longer).unwrap());
    assert_eq!(tokenizer.encode(&"\u{1f600}".repeat(100_000)).unwrap().len().min(3), 3, "cut between characters");
}

#[test]
fn both_tokenizers_agree_on_what_is_unknown() {
    let files = files(&settings());
    let (ours, theirs) = (embedder(), TextTokenizer::load(&files.tokenizer).unwrap());
    assert_eq!(ours.languages(), Languages::English);
    for text in ["", "a report", "go \u{1f680}\u{1f680}", "\u{1f680}", "\u{43a}\u{43e}\u{442}", "caf\u{e9}!"] {
        assert_eq!(ours.unknown_share(text), theirs.unknown_share(text), "{text:?}");
    }
}

/// Z5: once it is fetched, it works offline.
#[test]
fn a_whole_cache_needs_no_network_and_passes_its_full_check() {
    drop(embedder());
    let provision = Provision::new(&ModelSettings { may_download: false, ..settings() }).unwrap();
    assert!(provision.is_local().unwrap());
    provision.ensure(&mut |plan| panic!("fetches {plan}"), &NoProgress).unwrap();
    provision.verify_full().unwrap();
}

#[test]
fn an_own_folder_serves_and_remembers_its_identity() {
    let (_folder, settings) = own_folder();
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
    let (folder, settings) = own_folder();
    let mut bad = files(&settings);
    let cut = folder.path().join("cut.onnx");
    fs::write(&cut, &fs::read(bad.model.path()).unwrap()[..1_000_000]).unwrap();
    bad.model = SourceFile::own(cut);
    let error = load_own(&bad).err().unwrap();
    assert!(matches!(&error, Error::Failed(why) if why.contains("cut.onnx")), "{error}");
}

#[test]
fn a_file_that_is_not_a_library_is_an_error_and_no_crash() {
    // In a separate process: this one may have loaded the right library already, and then keeps it.
    let library = "MEMORIST_ORT";
    if env::var_os(CHILD).is_none() {
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
    let (_folder, settings) = own_folder();
    let files = files(&settings);
    for _ in 0..2 {
        let error = load_own(&files).err().unwrap();
        assert!(matches!(&error, Error::Failed(why) if why.contains(&named)), "{error}");
    }
}

/// Texts in many scripts, of many lengths, with and without words that the model knows.
fn texts_in_many_scripts(count: usize) -> Vec<String> {
    const PIECES: [&str; 24] = [
        "The deploy failed on Friday",
        "unaffable",
        "SELECT * FROM users WHERE id = 7;",
        "https://example.org/a?b=c#d",
        "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442} \u{43c}\u{438}\u{440}",
        "\u{65e5}\u{672c}\u{8a9e}\u{306e}\u{30c6}\u{30b9}\u{30c8}",
        "\u{5d0}\u{5d1}\u{5d2}",
        "\u{645}\u{631}\u{62d}\u{628}\u{627}",
        "\u{928}\u{92e}\u{938}\u{94d}\u{924}\u{947}",
        "\u{e2a}\u{e27}\u{e31}\u{e2a}\u{e14}\u{e35}",
        "\u{d55c}\u{ad6d}\u{c5b4}",
        "\u{395}\u{3bb}\u{3bb}\u{3b7}\u{3bd}\u{3b9}\u{3ba}\u{3ac}",
        "caf\u{e9} na\u{ef}ve \u{c4}rger",
        "\u{1f600}\u{1f680}",
        "0x7fff5fbff8c8",
        "a",
        "!!!",
        "e\u{301}",
        "user@example.org",
        "fn main() { println!(\"{}\", 1 + 1); }",
        "\u{4e2d}\u{6587}",
        "quarterly budget review",
        "[SEP] in a text",
        "1234567890",
    ];
    let mut state = 1u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    (0..count)
        .map(|_| {
            let pieces = if random(40) == 0 { 60 } else { 1 + random(5) };
            (0..pieces).map(|_| PIECES[random(PIECES.len())]).collect::<Vec<_>>().join(" ")
        })
        .collect()
}

/// The vectors of the same weights in ONNX Runtime, which the stores of older versions have. `MEMORIST_TEXTS` sets the
/// number of texts.
#[test]
fn vectors_are_those_of_onnx_runtime() {
    let count = env::var("MEMORIST_TEXTS").map_or(600, |count| count.parse().unwrap());
    let (_folder, settings) = own_folder();
    let reference = load_own(&files(&settings)).unwrap();
    let ours = embedder();
    let mut least = 1.0f32;
    for texts in texts_in_many_scripts(count).chunks(500) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (expected, vectors) = (reference.embed_batch(&texts).unwrap(), ours.embed_batch(&texts).unwrap());
        for ((text, expected), vector) in texts.iter().zip(&expected).zip(&vectors) {
            let cosine = cosine(expected, vector);
            assert!(cosine >= 0.999_99, "{cosine}: {text}");
            least = least.min(cosine);
        }
    }
    eprintln!("{count} texts: the least cosine is {least}");
}

#[test]
fn every_kernel_gives_the_vectors_of_the_scalar_one() {
    let onnx = fs::read(files(&settings()).model.path()).unwrap();
    let source = Sha256::digest(&onnx).into();
    let packed = pack_minilm(onnx).unwrap();
    let load = |kernel| Model::from_packed(packed.clone(), Shape::MINILM, &source).unwrap().with_kernel(kernel);
    // The scalar kernel is slow: of these, it embeds the first ones alone and in a batch.
    const SCALAR_TEXTS: usize = 12;
    let mut lengths: Vec<u32> = (1..20).collect();
    lengths.extend([31, 32, 33, 63, 64, 65, 512]);
    let texts: Vec<Vec<u32>> =
        lengths.iter().map(|length| (0..*length).map(|i| 1000 + (i * 7919 + length) % 29_000).collect()).collect();
    let scalar = load(Kernel::available()[0]);
    let expected: Vec<Vec<f32>> = texts.iter().map(|text| scalar.embed(text).unwrap()).collect();
    for kernel in Kernel::available() {
        let model = load(kernel);
        let texts = if kernel.name() == Kernel::available()[0].name() { &texts[..SCALAR_TEXTS] } else { &texts[..] };
        let batch: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
        let together = model.embed_many(&batch, || false).unwrap();
        for ((text, expected), together) in texts.iter().zip(&expected).zip(together) {
            let vector = model.embed(text).unwrap();
            assert_eq!(vector, together, "{}: the same in a batch, bit for bit", kernel.name());
            let cosine = cosine(&vector, expected);
            assert!(cosine >= 0.999_999, "{}: {cosine} with {} tokens", kernel.name(), text.len());
        }
    }
    for wrong in [vec![], vec![101; 513], vec![30_522]] {
        assert!(matches!(scalar.embed(&wrong), Err(memorist_bert::Error::Tokens(_))), "{}", wrong.len());
    }
}

fn reranker_files() -> ModelFiles {
    Provision::of_reranker(&settings()).unwrap().ensure(&mut |_| {}, &NoProgress).unwrap()
}

/// The logits are those of the ONNX file with activations in floating point.
#[test]
fn the_reranker_judges_as_its_onnx_file_does() {
    let reranker = LocalReranker::load(&reranker_files()).unwrap();
    for (question, text, expected) in [
        ("where is the key?", "Anna: it is under the mat.", -9.958),
        ("where is the key?", "Anna: I like tea.", -11.302),
        ("what theme does the user like", "User prefers dark mode for all applications", -5.128),
        ("how many people live in berlin", "Berlin has a population of 3,520,031 registered inhabitants.", 9.106),
    ] {
        let logit = reranker.judge(question, text).unwrap();
        eprintln!("{question}: {logit} {expected}");
        assert!((logit - expected).abs() < 0.1, "{question}: {logit}, not {expected}");
    }
    let long = "the harbour ".repeat(1_000);
    for (question, text) in [("", ""), (long.as_str(), long.as_str()), ("?", long.as_str())] {
        assert!(reranker.judge(question, text).unwrap().is_finite());
    }
}

#[test]
fn every_kernel_judges_as_the_scalar_one() {
    let onnx = fs::read(reranker_files().model.path()).unwrap();
    let source = Sha256::digest(&onnx).into();
    let packed = pack_ms_marco(onnx).unwrap();
    let load = |kernel| Model::from_packed(packed.clone(), Shape::MS_MARCO, &source).unwrap().with_kernel(kernel);
    let tokens = |length: u32| -> Vec<u32> { (0..length).map(|i| 1000 + (i * 7919 + length) % 29_000).collect() };
    let scalar = load(Kernel::available()[0]);
    for length in [2, 31, 64, 130] {
        let expected = scalar.judge(&tokens(length), 12).unwrap();
        for kernel in &Kernel::available()[1..] {
            let logit = load(*kernel).judge(&tokens(length), 12).unwrap();
            assert!((logit - expected).abs() < 0.05, "{}: {logit}, not {expected}", kernel.name());
        }
    }
    assert!(scalar.embed(&[101, 102]).is_err(), "it makes no vectors");
    assert_ne!(scalar.judge(&tokens(40), 12).unwrap(), scalar.judge(&tokens(40), 30).unwrap(), "kinds of tokens");
}

/// Cancelled after so many looks.
struct CancelledAfter(AtomicUsize);

impl Progress for CancelledAfter {
    fn start(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn finish(&self) {}
    fn cancelled(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |looks| looks.checked_sub(1)).is_err()
    }
}

#[test]
fn a_cancelled_batch_has_the_vectors_of_its_first_texts() {
    let model = embedder();
    let texts: Vec<String> =
        (0..200).map(|n| format!("The ferry number {n} leaves the old harbour at noon.")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let all = model.embed_batch(&texts).unwrap();
    let made = model.embed_each(&texts, &CancelledAfter(1.into())).unwrap();
    assert!(made.len() < 20, "{} of {} texts were embedded after it was cancelled", made.len(), texts.len());
    for (vector, expected) in made.iter().zip(&all) {
        assert_eq!(vector.as_ref().unwrap(), expected);
    }
    let none = model.embed_each(&texts, &CancelledAfter(0.into()));
    assert!(matches!(none, Err(Error::Cancelled)), "not even one: {none:?}");
    assert!(model.embed_each(&[], &CancelledAfter(0.into())).unwrap().is_empty());
}

/// The packed file of this version, byte for byte.
#[test]
fn the_packed_format_stays() {
    let packed = pack_minilm(fs::read(files(&settings()).model.path()).unwrap()).unwrap();
    let hash: String = Sha256::digest(&packed).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, "1eb654affafa838a14701ceed9c99a3fb4108f694f33f0fcee0d406fea92b9ab");
}

#[test]
fn a_damaged_packed_file_is_packed_again() {
    let (text, files) = ("dark theme", files(&settings()));
    // A cache of its own, so that other tests keep theirs.
    let cache = tempfile::tempdir().unwrap();
    let set = files.model.path().parent().unwrap();
    let folder = cache.path().join(set.file_name().unwrap());
    fs::create_dir(&folder).unwrap();
    for file in ["model.onnx", "tokenizer.json", "manifest.json"] {
        fs::copy(set.join(file), folder.join(file)).unwrap();
    }
    private(&folder);
    let own = ModelSettings { cache_dir: Some(cache.path().to_owned()), ..settings() };
    let load = || LocalEmbedder::load(NamedModel::MiniLm, &self::files(&own)).unwrap();
    let expected = load().embed_query(text).unwrap();
    let path = folder.join(format!("model.packed-{}", memorist_bert::PACKED_VERSION));
    let whole = fs::read(&path).unwrap();
    let damage = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
    };
    // Magic, version, header, source, a matrix, a number.
    for at in [0, 16, 20, 30, whole.len() / 4 * 3, whole.len() - 1] {
        damage(at);
        assert_eq!(load().embed_query(text).unwrap(), expected, "{at}");
        assert_eq!(fs::read(&path).unwrap(), whole, "{at}");
    }
    fs::write(&path, &whole[..1000]).unwrap();
    assert_eq!(load().embed_query(text).unwrap(), expected);
    // A word's row is compared when it is read: "dark" is the token 2601.
    damage(128 + 2601 * 392 + 5);
    let opened = load();
    assert_ne!(fs::read(&path).unwrap(), whole, "not noticed yet");
    assert_eq!(opened.embed_query(text).unwrap(), expected);
    // Windows replaces no mapped file: the process has a copy of its own.
    assert!(cfg!(windows) || fs::read(&path).unwrap() == whole);
    assert_eq!(opened.embed_query(text).unwrap(), expected);
    // Where it cannot be kept, here because a folder is in its place, each process has its own.
    drop(opened);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(load().embed_query(text).unwrap(), expected);
}

#[cfg(unix)]
pub fn private(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
}

#[cfg(not(unix))]
pub fn private(_folder: &std::path::Path) {}

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
    crate::allocator::restart_with_returning_allocator(&env::args_os().collect::<Vec<_>>());
    let before = resident();
    let host = ModelHost::new(&settings()).unwrap();
    let texts = texts(300);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for round in 0..2 {
        let embedder: std::sync::Arc<dyn Embedder> = host.embedder().unwrap();
        let loaded = resident();
        embedder.embed_query("dark theme").unwrap();
        if round == 0 {
            embedder.embed_batch(&texts).unwrap();
        }
        let used = resident();
        drop(embedder);
        assert!(host.release_if_idle(std::time::Instant::now() + Duration::from_secs(61)));
        let released = resident();
        eprintln!(
            "resident before {before:.0} MiB, loaded {loaded:.0}, used {used:.0}, resident after the release {released:.0}"
        );
        assert!(released < 60.0, "{released} MiB stay");
    }
}
