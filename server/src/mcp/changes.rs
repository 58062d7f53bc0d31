//! Tells subscribers that something in the store has changed, whichever process did it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memorist_engine::{Commits, Engine, Result};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::dispatch::{Access, Dispatcher};

/// How often the store is looked at, and so the most rounds of notices in that time, however much is written.
pub const INTERVAL: Duration = Duration::from_secs(1);

/// The changes of a store, as long as somebody waits for them.
#[derive(Clone)]
pub struct Changes {
    dispatcher: Dispatcher,
    rounds: Arc<watch::Sender<Round>>,
    looking: Arc<Mutex<Option<JoinHandle<()>>>>,
}

/// What a subscriber waits for.
#[derive(Debug, Clone, Copy, Default)]
struct Round {
    number: u64,
    is_last: bool,
}

impl Changes {
    /// Those of this store.
    pub fn of(dispatcher: Dispatcher) -> Self {
        Changes { dispatcher, rounds: Arc::default(), looking: Arc::default() }
    }

    /// Those from now on.
    pub fn subscribe(&self) -> Subscriber {
        let subscriber = Subscriber(self.rounds.subscribe());
        let mut looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        if looking.as_ref().is_none_or(JoinHandle::is_finished) {
            *looking = Some(tokio::spawn(look(self.dispatcher.clone(), self.rounds.clone())));
        }
        subscriber
    }

    /// Ends every wait: the server stops.
    pub fn end(&self) {
        self.rounds.send_modify(|round| round.is_last = true);
    }

    /// Ends every wait, and looks at the store no more.
    pub async fn close(&self) {
        self.end();
        let looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(looking) = looking {
            looking.abort();
            // It may hold a connection to the store, which is closed next.
            let _ = looking.await;
        }
    }
}

async fn look(dispatcher: Dispatcher, rounds: Arc<watch::Sender<Round>>) {
    let mut commits: Option<Commits> = None;
    while rounds.receiver_count() > 0 && !rounds.borrow().is_last {
        let looked = dispatcher.call(Access::Read, move |engine| any(engine, commits)).await;
        commits = match looked {
            Ok(Ok((commits, any))) => {
                if any {
                    rounds.send_modify(|round| round.number += 1);
                }
                Some(commits)
            }
            Ok(Err(error)) => {
                tracing::debug!("the store could not be looked at: {error}");
                None
            }
            Err(_) => return,
        };
        sleep(INTERVAL).await;
    }
}

/// Whether something was written since the last look. Before the first one there may have been something.
fn any(engine: &Engine, commits: Option<Commits>) -> Result<(Commits, bool)> {
    match commits {
        Some(mut commits) => commits.any().map(|any| (commits, any)),
        None => Ok((engine.commits()?, true)),
    }
}

/// Waits for changes.
pub struct Subscriber(watch::Receiver<Round>);

impl Subscriber {
    /// Ends when something has changed since the last call, or `within` this time; `false` when the server stops.
    pub async fn changed(&mut self, within: Option<Duration>) -> bool {
        let changed = self.0.changed();
        match within {
            None => drop(changed.await),
            Some(within) => drop(tokio::time::timeout(within, changed).await),
        }
        !self.0.borrow_and_update().is_last && self.0.has_changed().is_ok()
    }

    /// Ends when the server stops.
    pub async fn ended(&mut self) {
        let _ = self.0.wait_for(|round| round.is_last).await;
    }
}
