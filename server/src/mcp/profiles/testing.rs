//! A server of a profile over a temporary store, for tests.

use std::sync::Arc;
use std::time::{Duration, Instant};

use memorist_engine::Engine;
use memorist_engine::config::{Config, ModelSource};
use memorist_engine::embed::HashEmbedder;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Kind, NewRecord, Reach, Record, Scope, Viewer};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Profile;
use crate::args::ProfileName;
use crate::mcp::clients::default_viewer;
use crate::memory_search::MemorySearch;
use crate::ops::Context;
use crate::wire::Defaults;

/// Timeout of background work.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A store, and a server of a profile over it.
pub struct Server {
    _folder: TempDir,
    pub engine: Engine,
    pub profile: &'static Profile,
    pub context: Context,
}

impl Server {
    fn new(profile: ProfileName, project: Option<&str>, open: impl FnOnce(&TempDir, Config) -> Engine) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let engine = open(&folder, Config::without_model());
        // Until the keyword index is built, texts are searched without it.
        engine.flush(&NoProgress).unwrap();
        let defaults = Defaults::named(project.map(str::to_owned), None).unwrap();
        let defaults = default_viewer(profile, false, defaults).unwrap();
        let (store, model) = (Some(folder.path().to_owned()), ModelSource::None.into());
        let memory_search = Arc::new(MemorySearch { store, model, ..MemorySearch::default() });
        let exports = folder.path().join("exports");
        let context = Context { defaults, exports, memory_search, ..Context::default() };
        Server { _folder: folder, engine, profile: Profile::of(profile), context }
    }

    /// A server with neither project nor agent, without a model.
    pub fn of(profile: ProfileName) -> Self {
        Server::new(profile, None, |folder, config| Engine::open(folder.path(), config).unwrap())
    }

    pub fn with_model(profile: ProfileName) -> Self {
        Server::new(profile, None, |folder, config| {
            Engine::open_with_embedder(folder.path(), config, Arc::new(HashEmbedder::new(64))).unwrap()
        })
    }

    pub fn krolik(project: Option<&str>) -> Self {
        Server::new(ProfileName::Krolik, project, |folder, config| Engine::open(folder.path(), config).unwrap())
    }

    pub fn memorizer() -> Self {
        Server::of(ProfileName::Memorizer)
    }

    pub fn asked(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        let Value::Object(arguments) = arguments else { panic!("not an object") };
        let tool = self.profile.tool(tool).unwrap();
        (tool.run)(&self.engine, &self.context, arguments).map(|answer| answer.structured.unwrap_or_default())
    }

    /// The answer of a tool as text.
    pub fn said(&self, tool: &str, arguments: Value) -> String {
        let Value::Object(arguments) = arguments else { panic!("not an object") };
        let answer = (self.profile.tool(tool).unwrap().run)(&self.engine, &self.context, arguments);
        answer.unwrap_or_else(|error| panic!("{tool}: {error}")).words.unwrap()
    }

    pub fn call(&self, tool: &str, arguments: Value) -> Value {
        self.asked(tool, arguments).unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    pub fn refused(&self, tool: &str, arguments: Value) -> String {
        self.asked(tool, arguments).unwrap_err()
    }

    /// A record saved by another profile, as a memory of `agent`.
    pub fn add(&self, kind: Kind, text: &str, agent: Option<&str>) -> i64 {
        let scope = Scope { agent: agent.map(str::to_owned), project: None };
        self.engine.add(&NewRecord { kind, scope, ..NewRecord::new(text) }).unwrap().id.get()
    }

    /// A row of Memorizer's table of contacts.
    pub fn add_contact(&self, name: &str) -> i64 {
        let scope = Scope { agent: Some(Reach::MAIN.into()), project: None };
        let record = NewRecord::of_body(Kind::Contact, json!({ "name": name })).unwrap();
        self.engine.add(&NewRecord { scope, ..record }).unwrap().id.get()
    }

    pub fn record(&self, id: i64) -> Record {
        self.engine.viewed_by(&Viewer::OWNER).get(id.into()).unwrap().unwrap()
    }

    /// Waits until the background has counted this many uses of a record. Returns the record.
    pub fn used(&self, id: i64, times: i64) -> Record {
        let until = Instant::now() + TIMEOUT;
        loop {
            let record = self.record(id);
            if record.access_count >= times {
                assert_eq!(record.access_count, times);
                return record;
            }
            assert!(Instant::now() < until, "used {} times instead of {times}", record.access_count);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

pub fn ids(list: &Value) -> Vec<i64> {
    list.as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect()
}
