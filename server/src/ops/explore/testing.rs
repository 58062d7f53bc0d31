//! Stores for the tests of the explorer.

use std::sync::Arc;

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::embed::HashEmbedder;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::Context;
use crate::wire::Defaults;

/// An empty store that embeds.
pub fn store() -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    (folder, engine)
}

pub fn open(folder: &std::path::Path) -> Engine {
    Engine::open_with_embedder(folder, Config::without_model(), Arc::new(HashEmbedder::new(64))).unwrap()
}

/// Parameters as the page sends them.
pub fn params<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).unwrap()
}

/// A page that sees one project and what is global.
pub fn of_project(name: &str) -> Context {
    Context { defaults: Defaults::named(Some(name.into()), Some("*".into())).unwrap(), ..Context::default() }
}
