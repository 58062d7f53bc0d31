//! Answers a hook: by a running server, which has everything in memory, else by the store itself.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use memorist_clients::hooks::Event;
use memorist_engine::Engine;
use memorist_engine::config::{Config, ModelSource, Reads};

use super::deadline::Deadline;
use crate::ops::hooks::{self, HookOutput};
use crate::settings::Settings;
use crate::wire::HookRequest;
use crate::wording::Worded as _;

/// How long a server may take: the rest of the time is enough to do without it.
const SERVER: Duration = Duration::from_millis(100);
/// How long a server may take before an action. Without a server, the store has to be open by then, since the process began.
const FOR_ACTION: Duration = Duration::from_millis(60);
/// How long a search may wait for the model, since the process began.
const WITH_MODEL: Duration = Duration::from_millis(200);

pub fn give(
    settings: &Settings,
    mut request: HookRequest,
    started: Instant,
    deadline: &Deadline,
) -> Result<(), String> {
    // No message goes to a provider without consent, and a hook could not wait for it.
    request.words_only = matches!(settings.engine.model.source, ModelSource::None | ModelSource::Remote(_));
    let server = if request.event.is_of_action() { FOR_ACTION } else { SERVER };
    if let Some(reply) = crate::local::ask(&settings.store, &request, server) {
        if let Some(text) = reply.text {
            deadline.print(&text).map_err(|error| error.to_string())?;
        }
        return Ok(());
    }
    // The process ends whatever its threads do, and ONNX Runtime is not made for that.
    request.words_only |= matches!(settings.engine.model.source, ModelSource::Folder(_));
    let engine = Engine::open(&settings.store, own_engine(&settings.engine)).map_err(|error| error.worded())?;
    // A reminder that is too late would be noted and never come, and one that nothing notes would come from every process.
    if request.event.is_of_action() && (started.elapsed() > FOR_ACTION || !engine.can_write()) {
        std::mem::forget(engine);
        return Ok(());
    }
    let engine = Arc::new(engine);
    let answered = answer(&engine, &request, started)?;
    if let Some(text) = &answered.text {
        deadline.print(text).map_err(|error| error.to_string())?;
    }
    if let Err(error) = hooks::delivered(&engine, &request, &answered) {
        tracing::info!("the memories given to a session could not be recorded: {error}");
    }
    // Closing it would wait for its threads; the end of the process does not.
    std::mem::forget(engine);
    Ok(())
}

/// Settings of an engine that answers one hook: it neither builds nor fetches anything, and keeps no search.
fn own_engine(settings: &Config) -> Config {
    let mut config = settings.clone();
    config.index_writer = false;
    config.log_searches = false;
    if let Some(team) = &mut config.team {
        // There is no time to wait for a server.
        team.reads = Reads::Copy;
    }
    config
}

/// Answers by hybrid search, and by keyword search if the model takes too long.
fn answer(engine: &Arc<Engine>, request: &HookRequest, started: Instant) -> Result<HookOutput, String> {
    if request.words_only || request.event != Event::Prompt {
        return hooks::answer(engine, request).map_err(|error| error.worded());
    }
    let (tell, found) = mpsc::channel();
    let (of_thread, asked) = (engine.clone(), request.clone());
    let search = move || tell.send(hooks::answer(&of_thread, &asked));
    let searching = thread::Builder::new().name("search".into()).spawn(search);
    let left = WITH_MODEL.saturating_sub(started.elapsed());
    if searching.is_ok()
        && let Ok(answered) = found.recv_timeout(left)
    {
        return answered.map_err(|error| error.worded());
    }
    tracing::info!("the model takes too long: keyword search only");
    hooks::answer(engine, &HookRequest { words_only: true, ..request.clone() }).map_err(|error| error.worded())
}
