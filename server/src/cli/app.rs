//! Parts that all commands share: the settings, the store, the progress bars.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::embed::Plan;
use memorist_engine::paths::StorePaths;
use memorist_engine::types::MAX_CONTENT_BYTES;
use serde::Serialize;
use serde_json::Value;
use signal_hook::consts::TERM_SIGNALS;

use super::progress::Bars;
use crate::exit::{Failure, Kind, Outcome};
use crate::output::Output;
use crate::settings::Settings;

/// The context of a command.
pub struct App {
    settings: Settings,
}

/// Whether the engine maintains the indexes in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maintenance {
    /// No: the command needs only the records, or runs the work itself with visible progress.
    Off,
    /// Yes, as a search needs it.
    On,
}

impl App {
    /// A context with these settings.
    pub fn new(settings: Settings) -> Self {
        App { settings }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The settings, for the server.
    pub fn into_settings(self) -> Settings {
        self.settings
    }

    /// Where results go.
    pub fn output(&self) -> Output {
        self.settings.output
    }

    /// Prints a result. If `missing` says that there is no such memory, the exit code is that of not found, and people
    /// get an error.
    pub fn answer<T: Serialize>(&self, result: &T, missing: Option<&str>, text: impl FnOnce(&T) -> String) -> Outcome {
        match missing {
            Some(why) if !self.output().json => Err(Failure::new(Kind::NotFound, why)),
            _ => {
                self.output().result(result, text)?;
                Ok(if missing.is_some() { Kind::NotFound.code() } else { 0 })
            }
        }
    }

    /// The store.
    pub fn engine(&self, maintenance: Maintenance) -> Result<Engine, Failure> {
        Ok(Engine::open(&self.settings.store, self.config(maintenance))?)
    }

    /// The store of a command that reads or changes what is there: none is made for it.
    pub fn existing(&self, maintenance: Maintenance) -> Result<Engine, Failure> {
        self.require_store()?;
        self.engine(maintenance)
    }

    /// Fails if there is no store.
    pub fn require_store(&self) -> Result<(), Failure> {
        self.missing_store().map_or(Ok(()), |why| Err(Failure::new(Kind::Store, why)))
    }

    /// The message where there is no store; `None` where there is one.
    pub fn missing_store(&self) -> Option<String> {
        let Settings { store, engine, .. } = &self.settings;
        let is_there = engine.team.is_some() || store.is_file() || StorePaths::new(store).is_any_there();
        let store = store.display();
        (!is_there).then(|| {
            format!("no store in {store}; `memorist add` or `memorist serve` creates one, and --store names another")
        })
    }

    /// The configuration for opening the store.
    pub fn config(&self, maintenance: Maintenance) -> Config {
        let mut config = self.settings.engine.clone();
        config.index_writer = maintenance == Maintenance::On;
        config
    }

    /// Notes that memories are on the server of a team alone, where they are.
    pub fn note_unfollowed(&self, engine: &Engine) -> Result<(), Failure> {
        let unfollowed = engine.viewed_by(&self.settings.context.defaults.own_viewer()).unfollowed()?;
        unfollowed.into_iter().for_each(|why| self.output().note(why));
        Ok(())
    }

    /// Tells people what is about to be fetched, its size and where it goes.
    pub fn announce(&self, plan: &Plan) {
        self.output().note(plan.to_string());
    }

    /// Progress bars for work that takes a while. From here on, Ctrl-C cancels the work at the next safe point; a
    /// second one ends the process at once.
    pub fn bars(&self) -> Result<Bars, Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in TERM_SIGNALS {
            signal_hook::flag::register_conditional_shutdown(*signal, Kind::Cancelled.code().into(), stop.clone())
                .and_then(|_| signal_hook::flag::register(*signal, stop.clone()))
                .map_err(|error| Failure::new(Kind::Io, format!("cannot watch for Ctrl-C: {error}")))?;
        }
        Ok(Bars::new(self.output(), stop))
    }
}

/// The text of an argument, or of stdin when it is `-`.
pub fn text_or_stdin(argument: String) -> Result<String, Failure> {
    static IS_READ: AtomicBool = AtomicBool::new(false);
    if argument != "-" {
        return Ok(argument);
    }
    if IS_READ.swap(true, Ordering::Relaxed) {
        return Err(Failure::input("stdin can be read once: only one argument can be `-`"));
    }
    let mut bytes = Vec::new();
    // One byte more than the limit is enough for the engine to refuse it.
    let mut stdin = std::io::stdin().lock().take(MAX_CONTENT_BYTES as u64 + 2);
    stdin.read_to_end(&mut bytes).map_err(|error| Failure::file(Path::new("stdin"), &error))?;
    let mut text =
        String::from_utf8(bytes).map_err(|error| Failure::input(format!("stdin is not UTF-8 text: {error}")))?;
    text.truncate(text.trim_end_matches(['\r', '\n']).len());
    Ok(text)
}

/// The body of a memory: the JSON of an argument, or of stdin when it is `-`.
pub fn body(argument: String) -> Result<Value, Failure> {
    object("body", argument, r#"{"name": "Ana Torres", "role": "designer"}"#)
}

/// The metadata of a memory: the JSON of an argument, or of stdin when it is `-`.
pub fn metadata(argument: String) -> Result<Value, Failure> {
    object("metadata", argument, r#"{"year": 2024, "lang": "de"}"#)
}

fn object(what: &str, argument: String, example: &str) -> Result<Value, Failure> {
    let text = text_or_stdin(argument)?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::input(format!("{what}: {error}; give a JSON object, like '{example}'")))
}
