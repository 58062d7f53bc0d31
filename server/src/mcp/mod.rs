//! The MCP server: the tools over the engine, on stdio or streamable HTTP, in both eras of the protocol (2025-11-25
//! with its handshake, 2026-07-28 without).
//!
//! | file | job |
//! |---|---|
//! | `profiles` | the tools: names, descriptions, schemas, and what they call |
//! | `prompts.rs`, `resources.rs` | two prompts; every memory and every project's digest as a resource |
//! | `completions.rs` | what a client offers for their arguments |
//! | `handler.rs` | answers requests |
//! | `door.rs` | the engine behind all sessions: opened beside the handshake, closed after the last call |
//! | `stdio.rs`, `http.rs`, `guard.rs` | the transports, and who may use the second |

mod completions;
mod door;
mod guard;
mod handler;
mod http;
#[cfg(test)]
mod leaks;
mod profiles;
mod prompts;
mod resources;
mod stdio;

use std::env;
use std::time::Duration;

use directories::BaseDirs;
use memorist_engine::config::{Config, ModelSource};
use memorist_engine::types::Reach;

use crate::args::{ProfileName, Serve};
use crate::exit::{Failure, Kind, Outcome};
use crate::project;
use crate::settings::Settings;
use crate::wire::memorizer;
use door::Door;
use handler::Handler;
use profiles::Profile;

/// Serves until the client goes away or a signal says to stop.
pub fn serve(settings: Settings, args: Serve) -> Outcome {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Kind::Io, format!("cannot start: {error}")))?;
    let outcome = runtime.block_on(run(settings, args));
    // A read of stdin that will never return must not keep the process.
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}

async fn run(settings: Settings, args: Serve) -> Outcome {
    let stop = stop_signal()?;
    let wanted = settings.engine.model != ModelSource::None;
    let engine = Config { fetch_in_background: wanted && settings.engine.may_download, ..settings.engine };
    let (door, opened) = Door::open(settings.store, engine);
    let mut context = settings.context;
    // What belongs to a project or an agent is for those who say that they are it.
    context.defaults.otherwise = Reach::Shared;
    let profile = args.profile().unwrap_or(settings.profile);
    if args.no_project {
        (context.defaults.project, context.defaults.every_project) = (None, false);
    } else if context.defaults.project.is_none() && !context.defaults.every_project {
        context.defaults.project = working_project(&args, profile);
    }
    if profile == ProfileName::Memorizer && !context.defaults.every_agent {
        // Its memories are all of an agent: resources and completions look as this one, as its tools do.
        context.defaults.agent.get_or_insert_with(|| memorizer::MAIN.into());
    }
    tracing::info!(project = context.defaults.project, "serving");
    let profile = Profile::of(profile);
    let handler = Handler::new(door.clone(), context, profile);
    let serving = async {
        match args.http {
            None => stdio::serve(handler, stop).await,
            Some(address) => {
                let options = guard::Options { address, token: args.token, allow_hosts: args.allow_hosts };
                http::serve(handler, options, settings.output, stop).await
            }
        }
    };
    // A store that cannot be opened ends the server: a client shows that better than a tool that always fails.
    let served = tokio::select! {
        biased;
        Err(failure) = opened => Err(failure),
        served = serving => served,
    };
    door.close().await;
    served.map(|()| 0)
}

/// The project of the folder that the server was started in. That of a server for many clients says nothing of them, and
/// what these profiles take the place of has one memory for all projects.
fn working_project(args: &Serve, profile: ProfileName) -> Option<String> {
    if args.http.is_some() || matches!(profile, ProfileName::Mudpuppy | ProfileName::Memorizer) {
        return None;
    }
    let home = BaseDirs::new();
    project::of_folder(&env::current_dir().ok()?, home.as_ref().map(BaseDirs::home_dir))
}

/// A future that ends when the process is asked to stop: SIGTERM and SIGINT, or Ctrl-C.
fn stop_signal() -> Result<impl Future<Output = ()> + Send + 'static, Failure> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let failure = |error| Failure::new(Kind::Io, format!("cannot watch for signals: {error}"));
        let mut terminate = signal(SignalKind::terminate()).map_err(failure)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failure)?;
        Ok(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without a handler the system ends the process by itself.
            std::future::pending::<()>().await;
        }
    })
}
