//! The MCP server: the tools over the engine, on stdio or streamable HTTP, in both eras of the protocol (2025-11-25
//! with its handshake, 2026-07-28 without).
//!
//! | file | job |
//! |---|---|
//! | `profiles` | the tools: names, descriptions, schemas, implementations |
//! | `tidy.rs` | a prompt with what there is to tidy up |
//! | `prompts.rs`, `resources.rs` | two prompts; every memory and every project's digest as a resource |
//! | `subscriptions.rs` | notices of resources that change |
//! | `completions.rs` | completion of their arguments |
//! | `errors.rs` | errors of JSON-RPC |
//! | `gimli.rs` | the configuration of Gimli's profile |
//! | `memorizer.rs` | the variables that Memorizer's profile reads |
//! | `handler.rs` | the request handler |
//! | `message.rs` | parses a message, and refuses an unreadable one |
//! | `stdio.rs`, `http.rs` | the transports |
//! | `services.rs` | the service for a client over HTTP, by its token and session |
//! | `accepts.rs` | the forms of an answer that a client accepts over HTTP, and the answer in that form |
//! | `sessions.rs` | the sessions of the older era over HTTP |
//! | `conformance/` | the fixtures of the official test suite; in no release |
//! | `streams.rs` | how many streams of notices there may be |
//! | `metrics.rs` | figures for an operator |
//! | `watching.rs` | files that change are read |
//! | `hooks.rs` | hooks of clients are answered |
//! | `guard.rs`, `token.rs` | access to HTTP: allowed hosts and origins, the token |
//! | `clients.rs` | views and rights of clients, and the state that they share |

mod accepts;
mod clients;
mod completions;
#[cfg(feature = "conformance")]
mod conformance;
mod errors;
mod gimli;
mod guard;
mod handler;
mod hooks;
mod http;
#[cfg(test)]
mod leaks;
mod memorizer;
pub mod message;
mod metrics;
#[cfg(test)]
mod only;
#[cfg(test)]
mod planted;
mod profiles;
mod prompts;
mod resources;
mod services;
mod sessions;
#[cfg(test)]
mod several;
mod stdio;
mod streams;
mod subscriptions;
mod tidy;
mod token;
mod watching;

use std::env;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use memorist_engine::Engine;
use memorist_engine::config::ModelSource;
use tokio::time::sleep;

use crate::args::{ProfileName, Serve};
use crate::exit::{Failure, Kind, Outcome};
use crate::ops::{self, Context};
use crate::serving::{Access, Changes, Dispatcher, INTERVAL, stop_signal};
use crate::settings::Settings;
use crate::wording::Worded as _;
use clients::ServerState;
pub use stdio::note_parent;
use watching::Watching;

/// How long a server that ends waits for the store to open, to report one that cannot be.
const OPENING_TIMEOUT: Duration = Duration::from_millis(500);

/// Serves until the client goes away or a signal stops it.
pub fn serve(settings: Settings, args: Serve) -> Outcome {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Kind::Io, format!("cannot start: {error}")))?;
    let outcome = runtime.block_on(run(settings, args));
    // A blocking read of stdin must not keep the process.
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}

/// Adds the files that a profile reads without their being named to the sources of the store, as soon as it is open.
async fn add_sources(dispatcher: &Dispatcher, context: Context) {
    let add = move |engine: &Engine| {
        ops::gimli::add_sources(engine, &context)?;
        ops::add_workspace(engine, &context)
    };
    if let Ok(Err(error)) = dispatcher.call(Access::Write, add).await {
        tracing::warn!("the files of this workspace are not read: {}", error.worded());
    }
}

async fn run(mut settings: Settings, args: Serve) -> Outcome {
    let stop = stop_signal()?;
    let web = match &args.http {
        Some(address) => Some(HttpOptions::from_args(address, &args)?),
        None => None,
    };
    let name = settings.profile;
    if name == ProfileName::Gimli {
        gimli::configure(&mut settings, &args)?;
    } else if args.memory_search.is_some() {
        return Err(Failure::input("--memory-search is for --profile gimli"));
    }
    if name == ProfileName::Memorizer {
        memorizer::configure(&mut settings)?;
    }
    let context = settings.context;
    tracing::info!(project = context.defaults.project(), isolate = args.isolate, "serving");
    let mut engine = settings.engine;
    let accepts_team_tokens = engine.team.is_some();
    engine.fetch_in_background = engine.model.source != ModelSource::None && engine.model.may_download;
    let (store, kept) = (settings.store.clone(), settings.kept);
    let options = watching::WatcherOptions { store: store.clone(), sync: settings.sync, model: engine.model.clone() };
    let (dispatcher, opened) = Dispatcher::open(settings.store, engine);
    let watching = Arc::new(Watching::default());
    let changes = Changes::of(dispatcher.clone(), INTERVAL);
    let state = ServerState {
        dispatcher: dispatcher.clone(),
        context,
        profile: name,
        only: args.isolate,
        watching: watching.clone(),
        metrics: Arc::default(),
        changes: changes.clone(),
    };
    let handler = state.trusted()?;
    let files = matches!(name, ProfileName::Gimli | ProfileName::Mudpuppy).then(|| handler.context());
    let starting = tokio::spawn({
        let (watching, dispatcher) = (watching.clone(), dispatcher.clone());
        async move {
            if let Some(context) = files {
                add_sources(&dispatcher, context).await;
            }
            watching.start(dispatcher, options).await;
        }
    });
    // A server that keeps to one project answers no hook of another.
    let hooks = (settings.hooks.enabled && !args.isolate)
        .then(|| tokio::spawn(hooks::answer(dispatcher.clone(), store.clone())));
    let serving = async {
        let Some(HttpOptions { policy, token }) = web else { return stdio::serve(handler, stop).await };
        let server = http::HttpServer::bind(policy).await?;
        tokio::pin!(stop);
        let access = tokio::select! {
            access = access(token, &dispatcher, &kept) => access?,
            () = &mut stop => return Ok(()),
        };
        server.serve(state, accepts_team_tokens, access, settings.output, stop).await
    };
    // A store that cannot be opened ends the server: a client shows that better than a tool that always fails.
    tokio::pin!(opened);
    let served = tokio::select! {
        biased;
        Err(failure) = &mut opened => Err(failure),
        served = serving => served,
    };
    let served = match served {
        // A client that leaves at once may be faster than the store.
        Ok(()) => tokio::select! {
            biased;
            Err(failure) = opened => Err(failure),
            _ = dispatcher.opened() => Ok(()),
            () = sleep(OPENING_TIMEOUT) => Ok(()),
        },
        failed => failed,
    };
    if let Some(hooks) = hooks {
        hooks.abort();
        // The socket is gone before the engine is closed.
        let _ = hooks.await;
    }
    starting.abort();
    // It has its own hold on the engine, which is closed next.
    let _ = starting.await;
    let _ = tokio::task::spawn_blocking(move || watching.stop()).await;
    changes.close().await;
    dispatcher.close().await;
    served.map(|()| 0)
}

/// The resolved options of the HTTP server.
struct HttpOptions {
    policy: guard::Policy,
    token: token::Choice,
}

impl HttpOptions {
    fn from_args(address: &str, args: &Serve) -> Result<Self, Failure> {
        let variable = env::var_os(token::VARIABLE);
        let token =
            token::choose(args.token.as_deref(), args.token_file.as_deref(), args.no_token, variable.as_deref())?;
        let policy = guard::Policy::new(guard::PolicyOptions {
            address: address.to_owned(),
            without_token: token == token::Choice::Disabled,
            allow_hosts: args.allow_hosts.clone(),
        })?;
        Ok(HttpOptions { policy, token })
    }
}

/// Reads the token that is kept in this folder once the store is open: that creates the folder of a store.
async fn access(choice: token::Choice, dispatcher: &Dispatcher, kept: &Path) -> Result<http::HttpAccess, Failure> {
    Ok(match choice {
        token::Choice::Given(token) => {
            http::HttpAccess { token: Some(token), note: "with the token that you gave".into(), show: false }
        }
        token::Choice::Disabled => http::HttpAccess {
            token: None,
            note: "without a token: every user of this machine can read and change the whole store".into(),
            show: true,
        },
        token::Choice::Stored => {
            dispatcher
                .call(Access::Read, |_| ())
                .await
                .map_err(|unavailable| Failure::new(Kind::Store, unavailable.message()))?;
            std::fs::create_dir_all(kept).map_err(|error| Failure::file(kept, &error))?;
            let (token, path) = token::stored(kept)?;
            http::HttpAccess { token: Some(token), note: format!("with the token in {}", path.display()), show: true }
        }
    })
}
