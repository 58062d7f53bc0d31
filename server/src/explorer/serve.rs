//! The command's work: opens the store, listens, prints and opens the address, and ends.

use std::io::{self, BufRead as _, Read as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use memorist_engine::config::ModelSource;
use serde::Serialize;
use tempfile::NamedTempFile;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::api::Api;
use super::gate::Gate;
use super::idle::Idle;
use super::map::Making;
use super::opening;
use super::pace::Pace;
use super::sessions::{BrowserSessions, CODE_TIME};
use super::streams::{MOST_EVENTS, MOST_EXPORTS, StreamLimit};
use crate::exit::{Failure, Kind, Outcome};
use crate::http::serve as serve_connections;
use crate::ops::Context;
use crate::output::Output;
use crate::serving::{Changes, Dispatcher, stop_signal};
use crate::settings::Settings;
use crate::wire::Defaults;

/// The server ends when no page was open for so long.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// How often the store is looked at for changes.
const LOOK: Duration = Duration::from_millis(300);
/// Bytes of a line of stdin.
const LINE: u64 = 1024;
/// How long the end waits for requests in flight.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The options of the command.
#[derive(Debug, Clone, Copy)]
pub struct ExplorerOptions {
    /// 0: a free one.
    pub port: u16,
    /// Whether to open a browser.
    pub open: bool,
    /// Whether the page can change nothing.
    pub read_only: bool,
}

/// Serves the page until Ctrl-C, or until it was closed for long.
pub fn run(settings: Settings, options: ExplorerOptions) -> Outcome {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Kind::Io, format!("cannot start: {error}")))?;
    let outcome = runtime.block_on(serve(settings, options));
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}

async fn serve(settings: Settings, options: ExplorerOptions) -> Outcome {
    let stop = stop_signal()?;
    let closed = terminal_closed()?;
    let mut stop = pin!(async move {
        tokio::select! {
            () = stop => {}
            () = closed => {}
        }
    });
    let mut config = settings.engine;
    config.log_searches = false;
    config.index_writer &= !options.read_only;
    config.fetch_in_background =
        config.model.source != ModelSource::None && config.model.may_download && !options.read_only;
    let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
    let io = |error: io::Error| Failure::new(Kind::Io, format!("cannot serve at {wanted}: {error}"));
    let listener = TcpListener::bind(wanted).await.map_err(io)?;
    let address = listener.local_addr().map_err(io)?;
    let store = settings.store.display().to_string();
    let (dispatcher, opened) = Dispatcher::open(settings.store, config);
    let mut opened = pin!(opened);
    tokio::select! {
        Err(failure) = &mut opened => return Err(failure),
        _ = dispatcher.opened() => {}
        () = &mut stop => return Ok(0),
    }
    let (sessions, idle) = (Arc::new(BrowserSessions::default()), Arc::new(Idle::new()));
    let changes = Changes::of(dispatcher.clone(), LOOK);
    let making = Making::default();
    let api = Api {
        dispatcher: dispatcher.clone(),
        context: Arc::new(Context { tool: "memorist explore", ..settings.context }),
        changes: changes.clone(),
        making: making.clone(),
        pace: Pace::default(),
        events: StreamLimit::of(MOST_EVENTS),
        exports: StreamLimit::of(MOST_EXPORTS),
        store,
        read_only: options.read_only,
    };
    let mut front = Front { address, sessions: sessions.clone(), output: settings.output, options, file: None };
    front.introduce(&api.store, &api.context.defaults);
    front.let_in()?;
    let gate = Arc::new(Gate::new(address.port(), sessions, idle.clone(), api));
    let answer = move |request, slot| {
        let gate = gate.clone();
        async move { gate.answer(request, slot).await }
    };
    let output = settings.output;
    let ending = changes.clone();
    let until = async move {
        tokio::select! {
            () = stop => {}
            () = idle.for_long(IDLE) => {
                output.note("stopped after 30 minutes without an open page; run `memorist explore` to restart");
            }
        }
        // Nobody waits any longer for what may never come.
        ending.end();
        making.stop();
    };
    let asking = tokio::spawn(async move {
        let mut lines = lines();
        while lines.recv().await.is_some() {
            if let Err(failure) = front.let_in() {
                front.output.note(format!("no new address: {failure}"));
            }
        }
        // The browser may still read the file.
        std::future::pending::<()>().await;
    });
    serve_connections(listener, answer, until, DRAIN_TIMEOUT).await;
    asking.abort();
    let _ = asking.await;
    changes.close().await;
    dispatcher.close().await;
    Ok(0)
}

/// Ends when the terminal is closed: nobody can end the server there any longer. On Windows that is a signal to stop.
fn terminal_closed() -> Result<impl Future<Output = ()>, Failure> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let failure = |error| Failure::new(Kind::Io, format!("cannot watch for signals: {error}"));
        let mut hangup = signal(SignalKind::hangup()).map_err(failure)?;
        Ok(async move {
            hangup.recv().await;
        })
    }
    #[cfg(not(unix))]
    Ok(std::future::pending())
}

/// The part of the server that a person sees in the terminal.
struct Front {
    address: SocketAddr,
    sessions: Arc<BrowserSessions>,
    output: Output,
    options: ExplorerOptions,
    /// The file that was last opened in a browser.
    file: Option<NamedTempFile>,
}

/// The address, with `--json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Address<'a> {
    url: &'a str,
    seconds_valid: u64,
    read_only: bool,
}

impl Front {
    fn introduce(&self, store: &str, defaults: &Defaults) {
        let shown = match (defaults.project(), defaults.agent()) {
            (None, None) => "of all projects and agents".to_owned(),
            (Some(project), None) => format!("of the project {project} and of none"),
            (None, Some(agent)) => format!("of the agent {agent} and of none"),
            (Some(project), Some(agent)) => format!("of the project {project} and the agent {agent}, and of none"),
        };
        let may = if self.options.read_only { "can be viewed" } else { "can be viewed and edited" };
        self.output.note(format!(
            "the memories in {store}, {shown}, {may} at this address, which opens once, within {} minutes.\n\
             Enter: new address. Ctrl-C: stop (automatic after 30 minutes without an open page).",
            CODE_TIME.as_secs() / 60
        ));
    }

    /// Prints an address that lets one browser in, and opens it.
    fn let_in(&mut self) -> Result<(), Failure> {
        let code = self.sessions.new_code(Instant::now())?;
        let url = format!("http://{}/#code={code}", self.address);
        let printed = Address { url: &url, seconds_valid: CODE_TIME.as_secs(), read_only: self.options.read_only };
        self.output.result(&printed, |printed| printed.url.to_owned())?;
        if self.options.open {
            self.file = opening::open(&url);
        }
        Ok(())
    }
}

/// The lines of stdin: who presses Enter wants a new address. What has longer lines is no person.
fn lines() -> mpsc::Receiver<()> {
    let (sender, receiver) = mpsc::channel(1);
    // A thread, as nothing can end a read of a terminal.
    thread::spawn(move || {
        if is_in_background() {
            return;
        }
        let mut stdin = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let is_line = stdin.by_ref().take(LINE).read_until(b'\n', &mut line).is_ok() && line.ends_with(b"\n");
            if !is_line || sender.blocking_send(()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Whether the terminal listens to another command: the system stops who reads from it then (`memorist explore &`).
fn is_in_background() -> bool {
    #[cfg(unix)]
    let others = rustix::termios::tcgetpgrp(io::stdin()).is_ok_and(|group| group != rustix::process::getpgrp());
    #[cfg(not(unix))]
    let others = false;
    others
}
