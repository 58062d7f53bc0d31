//! Shared helpers: stores in temporary folders, with a model made of hashes or with none.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use memorist_engine::config::Config;
use memorist_engine::embed::{Embedder, HashEmbedder};
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{NewRecord, Query, RecordId, embedding_bytes, embedding_of, of_length_one};
use memorist_engine::{Engine, Error};
use serde_json::Value;
use tempfile::TempDir;

/// Vector dimensions of the stores that have no real model.
pub const DIMS: usize = 64;

/// A number from the environment, or `otherwise`.
pub fn number_from(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |number| number.parse().expect("a number"))
}

/// How often something is tried: as usual, or five times as often for `.ci/nightly`.
pub fn amount(usual: u64) -> u64 {
    if std::env::var_os("MEMORIST_NIGHTLY").is_some() { 5 * usual } else { usual }
}

/// How often something is killed, damaged or refused: as the variable says, or the [`amount`].
pub fn amount_from(variable: &str, usual: u64) -> u64 {
    number_from(variable, amount(usual))
}

/// This binary as another process, which runs the ignored test `name` and nothing else.
pub fn another_process(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    command
}

/// A command of memorist on the store in this folder and run in it, so that no git work tree names a project; without a
/// model unless the folder's settings name one, and without the settings of the user.
pub fn memorist(store: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memorist"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MEMORIST_") {
            command.env_remove(name);
        }
    }
    let config = store.join("memorist.toml");
    if !config.exists() {
        std::fs::create_dir_all(store).expect("a folder");
        std::fs::write(&config, "model = \"none\"\n").expect("a file of settings");
    }
    command.args(arguments).arg("--store").arg(store).arg("--config").arg(config).current_dir(store);
    command
}

/// The text that a process printed.
pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// The structured result of a run, which must be its only output on stdout.
pub fn document(output: &Output) -> Value {
    let mut documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let document = documents.next().expect("one").expect("JSON");
    assert!(documents.next().is_none(), "{}", text(&output.stdout));
    document
}

#[cfg(unix)]
type Texts = std::collections::BTreeMap<RecordId, String>;

/// The results are exactly the live records: ids and texts.
#[cfg(unix)]
pub fn assert_same(found: &Texts, live: &Texts, what: &str) {
    let lost: Vec<_> = live.iter().filter(|(id, text)| found.get(id) != Some(text)).collect();
    let invented: Vec<_> = found.iter().filter(|(id, text)| live.get(id) != Some(text)).collect();
    assert!(lost.is_empty() && invented.is_empty(), "{what}: lost {lost:?}, invented {invented:?}");
}

/// A store in a temporary folder.
pub struct Store {
    pub engine: Engine,
    pub folder: TempDir,
}

/// How a store is opened.
#[derive(Clone)]
pub struct Setup {
    pub config: Config,
    pub embedder: Option<Arc<dyn Embedder>>,
}

/// A setup with an embedder without files: equal words give near vectors.
pub fn hashed() -> Setup {
    with_embedder(Arc::new(HashEmbedder::new(DIMS)))
}

/// The setup of [`hashed`], with a change to the settings.
pub fn hashed_with(change: impl FnOnce(&mut Config)) -> Setup {
    let mut setup = hashed();
    change(&mut setup.config);
    setup
}

/// A setup with a custom embedder.
pub fn with_embedder(embedder: Arc<dyn Embedder>) -> Setup {
    Setup { config: words_only().config, embedder: Some(embedder) }
}

/// A setup with keywords only.
pub fn words_only() -> Setup {
    Setup { config: Config::without_model(), embedder: None }
}

impl Setup {
    pub fn open(&self, folder: &Path) -> Result<Engine, Error> {
        match &self.embedder {
            Some(embedder) => Engine::open_with_embedder(folder, self.config.clone(), embedder.clone()),
            None => Engine::open(folder, self.config.clone()),
        }
    }
}

impl Store {
    pub fn new(setup: Setup) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = setup.open(folder.path()).expect("a new store opens");
        Store { engine, folder }
    }

    /// Closes the store and opens it again.
    pub fn reopen(self, setup: Setup) -> Self {
        let Store { engine, folder } = self;
        engine.close();
        let engine = setup.open(folder.path()).expect("the store opens again");
        Store { engine, folder }
    }

    pub fn add(&self, content: &str) -> RecordId {
        self.engine.add(&NewRecord::new(content)).expect("a sound record").id
    }

    /// Embeds and applies everything.
    pub fn settle(&self) {
        self.engine.embed_pending(&NoProgress).expect("embeds");
        self.engine.flush(&NoProgress).expect("applies");
        assert_eq!(self.engine.index_stats().unwrap().unapplied, 0);
    }

    /// The ids that a search finds, best first.
    pub fn find(&self, query: &Query) -> Vec<RecordId> {
        let reply = self.engine.search(query).expect("a sound query");
        reply.hits.iter().map(|hit| hit.record.id).collect()
    }
}

/// A vector as a search has it once it is stored: in 16 bits, of length 1.
pub fn stored(vector: &[f32]) -> Vec<f32> {
    of_length_one(embedding_of(&embedding_bytes(vector), vector.len()).expect("a vector"))
}
