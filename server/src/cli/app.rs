//! What every command shares: the settings, the way to the store, the progress bars.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::embed::Plan;
use memorist_engine::types::MAX_CONTENT_BYTES;
use serde::Serialize;
use serde_json::Value;
use signal_hook::consts::TERM_SIGNALS;

use super::progress::Bars;
use crate::exit::{Failure, Kind, Outcome};
use crate::output::Output;
use crate::settings::Settings;

/// A command's surroundings.
pub struct App {
    settings: Settings,
}

/// What the engine does to the indexes by itself, in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upkeep {
    /// Nothing: the command needs the records alone, or asks for the work where its progress is seen.
    Off,
    /// What a search needs.
    On,
}

impl App {
    /// Surroundings with these settings.
    pub fn new(settings: Settings) -> Self {
        App { settings }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The settings, for a command that lives elsewhere.
    pub fn into_settings(self) -> Settings {
        self.settings
    }

    /// Where results go.
    pub fn output(&self) -> Output {
        self.settings.output
    }

    /// Prints a result. One that says that there is no such memory ends with the exit code of that, and is an error to
    /// people.
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
    pub fn engine(&self, upkeep: Upkeep) -> Result<Engine, Failure> {
        Ok(Engine::open(&self.settings.store, self.config(upkeep))?)
    }

    /// How the store is opened.
    pub fn config(&self, upkeep: Upkeep) -> Config {
        Config { index_writer: upkeep == Upkeep::On, ..self.settings.engine.clone() }
    }

    /// Tells people what is about to be fetched, how much it is and where it goes.
    pub fn announce(&self, plan: &Plan) {
        self.output().note(plan.to_string());
    }

    /// Progress bars for work that takes a while. From here on, Ctrl-C asks the work to stop at the next safe point;
    /// a second one ends the process at once.
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
    if argument != "-" {
        return Ok(argument);
    }
    let mut bytes = Vec::new();
    // One byte more than can be kept is enough for the engine to refuse it.
    let mut stdin = std::io::stdin().lock().take(MAX_CONTENT_BYTES as u64 + 2);
    stdin.read_to_end(&mut bytes).map_err(|error| Failure::file(Path::new("stdin"), &error))?;
    let mut text =
        String::from_utf8(bytes).map_err(|error| Failure::input(format!("stdin is not UTF-8 text: {error}")))?;
    text.truncate(text.trim_end_matches(['\r', '\n']).len());
    Ok(text)
}

/// The body of a memory: the JSON of an argument, or of stdin when it is `-`.
pub fn body(argument: String) -> Result<Value, Failure> {
    let text = text_or_stdin(argument)?;
    serde_json::from_str(&text).map_err(|error| {
        let example = r#"{"name": "Ana Torres", "role": "designer"}"#;
        Failure::input(format!("body: {error}; give a JSON object, like '{example}'"))
    })
}
