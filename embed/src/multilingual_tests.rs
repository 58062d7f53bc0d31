//! The multilingual model, fetched for real. Its cache is that of the other tests.

use std::fs;
use std::time::{Duration, Instant};

use memorist_bert::{E5File, Kernel, Model, Shape, pack_e5};
use sha2::{Digest, Sha256};

use crate::local::LocalEmbedder;
use crate::tests::{cosine, files, multilingual_file, private, settings};
use crate::{Embedder, Languages, ModelSettings, ModelSource, NamedModel, Tokenizer, local_tokenizer};

/// Texts, whether each is a query, and their vectors in thousandths: those of the file's weights in floating point, computed by
/// a program of its own.
const GOLDEN: &str = include_str!("multilingual_vectors.json");

fn multilingual_settings() -> ModelSettings {
    ModelSettings { source: ModelSource::Named(NamedModel::E5Small), ..settings() }
}

fn embedder() -> LocalEmbedder {
    LocalEmbedder::load(NamedModel::E5Small, &files(&multilingual_settings())).unwrap()
}

#[test]
fn vectors_are_those_of_the_weights_in_floating_point() {
    let embedder = embedder();
    let golden: Vec<(String, bool, Vec<f32>)> = serde_json::from_str(GOLDEN).unwrap();
    assert!(golden.len() >= 8);
    for (text, is_query, expected) in golden {
        let vector = match is_query {
            true => embedder.embed_query(&text).unwrap(),
            false => embedder.embed_batch(&[&text]).unwrap().remove(0),
        };
        let length = cosine(&expected, &expected).sqrt();
        let cosine = cosine(&vector, &expected) / length;
        assert!(cosine >= 0.999, "{cosine}: {text}");
    }
}

#[test]
fn meaning_is_found_across_languages() {
    let embedder = embedder();
    assert_eq!((embedder.languages(), embedder.dims()), (Languages::Many, 384));
    let memories = [
        "Der Wagen muss im Mai zum T\u{dc}V",
        "\u{41a}\u{43e}\u{442}\u{430} \u{437}\u{43e}\u{432}\u{443}\u{442} \u{41c}\u{438}\u{440}\u{43e}",
        "We deploy on Tuesdays",
    ];
    let vectors = embedder.embed_batch(&memories).unwrap();
    for (query, right) in [
        ("When is the car inspected?", 0),
        ("What is the name of the cat?", 1),
        ("\u{a1}Qu\u{e9} d\u{ed}a desplegamos?", 2),
    ] {
        let query_vector = embedder.embed_query(query).unwrap();
        let scores: Vec<f32> = vectors.iter().map(|vector| cosine(&query_vector, vector)).collect();
        assert!((0..3).all(|other| other == right || scores[right] > scores[other] + 0.01), "{query}: {scores:?}");
    }
}

#[test]
fn query_and_text_vectors_differ_and_batching_changes_nothing() {
    let embedder = embedder();
    let texts = ["dark theme", "\u{1f9a4}", "", "one two three four five six seven eight nine ten"];
    let together = embedder.embed_batch(&texts).unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(embedder.embed_batch(&[text]).unwrap()[0], *vector, "{text}");
        let query = embedder.embed_query(text).unwrap();
        assert!((cosine(&query, &query) - 1.0).abs() < 1e-5 && cosine(&query, vector) < 0.999, "{text}");
    }
}

#[test]
fn only_the_beginning_of_a_long_text_is_embedded() {
    let embedder = embedder();
    let (long, longer) = ("word ".repeat(1_000), "word ".repeat(2 << 20));
    let started = Instant::now();
    assert_eq!(embedder.embed_query(&long).unwrap(), embedder.embed_query(&longer).unwrap());
    embedder.embed_query(&"\u{1f9a4}".repeat(1 << 20)).unwrap();
    embedder.embed_query(&"x".repeat(1 << 20)).unwrap();
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn every_kernel_gives_the_vectors_of_the_scalar_one() {
    let file = multilingual_file();
    let source = Sha256::digest(&file).into();
    let packed = pack_e5(&file, b"rest").unwrap();
    let load = |kernel| Model::from_packed(packed.clone(), Shape::E5_SMALL, &source).unwrap().with_kernel(kernel);
    let scalar = load(Kernel::available()[0]);
    assert_eq!(scalar.rest(), b"rest");
    for length in [1, 2, 5, 16, 33] {
        let tokens: Vec<u32> = (0..length).map(|i| 4 + (i * 104_729 + length) % 250_000).collect();
        let expected = scalar.embed(&tokens).unwrap();
        for kernel in Kernel::available() {
            let cosine = cosine(&load(kernel).embed(&tokens).unwrap(), &expected);
            assert!(cosine >= 0.999_99, "{}: {cosine} with {length} tokens", kernel.name());
        }
    }
    assert!(matches!(scalar.embed(&[250_037]), Err(memorist_bert::Error::Tokens(_))));
    let other = Sha256::digest(b"other").into();
    assert!(Model::from_packed(packed.clone(), Shape::E5_SMALL, &other).is_err());
    assert!(Model::from_packed(packed, Shape::MINILM, &source).is_err());
    assert!(pack_e5(&file[..60_000_000], b"").is_err() && E5File::read(b"E5S1").is_err());
}

#[test]
fn a_damaged_packed_file_is_packed_again() {
    let (text, fetched) = ("dark theme", files(&multilingual_settings()));
    let cache = tempfile::tempdir().unwrap();
    let set = fetched.model.path().parent().unwrap();
    let folder = cache.path().join(set.file_name().unwrap());
    fs::create_dir(&folder).unwrap();
    for file in ["e5-small-q4.bin", "manifest.json"] {
        fs::copy(set.join(file), folder.join(file)).unwrap();
    }
    private(&folder);
    let own = ModelSettings { cache_dir: Some(cache.path().to_owned()), ..multilingual_settings() };
    let load = || LocalEmbedder::load(NamedModel::E5Small, &files(&own)).unwrap();
    let expected = load().embed_query(text).unwrap();
    let path = folder.join(format!("model.packed-{}", memorist_bert::PACKED_VERSION));
    let whole = fs::read(&path).unwrap();
    // Version, source, a matrix, the vocabulary.
    for at in [16, 30, whole.len() - 20_000_000, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        assert_eq!(load().embed_query(text).unwrap(), expected, "{at}");
        assert!(fs::read(&path).unwrap() == whole, "{at}");
    }
    // The row of the first mark is compared when it is read.
    let mut bytes = whole.clone();
    bytes[128 + 5] ^= 1;
    fs::remove_file(&path).unwrap();
    fs::write(&path, bytes).unwrap();
    assert_eq!(load().embed_query(text).unwrap(), expected);
    // Windows replaces no mapped file: the process has a copy of its own.
    assert!(cfg!(windows) || fs::read(&path).unwrap() == whole);
}

#[test]
fn its_tokens_are_counted_without_running_it() {
    drop(embedder());
    let tokenizer = local_tokenizer(&multilingual_settings()).unwrap();
    assert!(matches!(tokenizer, Tokenizer::Unigram(_)));
    assert_eq!(tokenizer.count("how much protein per day"), 5);
}
