//! Tells that something in the store has changed, whichever process did it.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use memorist_engine::{Commits, Engine, Result};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::dispatch::{Access, Dispatcher};

/// How often a store is looked at for agents, and so the most rounds of notices in that time, however much is written.
pub const INTERVAL: Duration = Duration::from_secs(1);

/// The changes of a store. It is looked at as long as somebody waits for them.
#[derive(Clone)]
pub struct Changes {
    dispatcher: Dispatcher,
    interval: Duration,
    /// Counts the looks that have found something.
    rounds: Arc<watch::Sender<u64>>,
    /// Whether the server stops.
    is_over: Arc<watch::Sender<bool>>,
    looking: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Changes {
    /// The changes of this store, which is looked at once an `interval`.
    pub fn of(dispatcher: Dispatcher, interval: Duration) -> Self {
        Changes { dispatcher, interval, rounds: Arc::default(), is_over: Arc::default(), looking: Arc::default() }
    }

    /// Subscribes to changes from now on.
    pub fn subscribe(&self) -> Subscriber {
        let subscriber = Subscriber { rounds: self.rounds.subscribe(), is_over: self.is_over.subscribe() };
        let mut looking = self.looking();
        if looking.as_ref().is_none_or(JoinHandle::is_finished) {
            *looking = Some(tokio::spawn(self.clone().look()));
        }
        subscriber
    }

    /// The number of the round, which grows with each look that finds something.
    pub fn round(&self) -> u64 {
        *self.rounds.borrow()
    }

    /// A future that ends when the server stops.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + Sync + use<> {
        let mut is_over = self.is_over.subscribe();
        async move {
            // A dropped sender means the same.
            let _ = is_over.wait_for(|is_over| *is_over).await;
        }
    }

    /// Ends every wait: the server stops.
    pub fn end(&self) {
        self.is_over.send_replace(true);
    }

    /// Ends every wait, and looks at the store no more.
    pub async fn close(&self) {
        self.end();
        let looking = self.looking().take();
        if let Some(looking) = looking {
            looking.abort();
            // It may hold a connection to the store, which is closed next.
            let _ = looking.await;
        }
    }

    fn looking(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.looking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no caller waits any longer. A later caller starts another look.
    fn is_idle(&self) -> bool {
        let mut looking = self.looking();
        let is_idle = self.rounds.receiver_count() == 0 || *self.is_over.borrow();
        if is_idle {
            *looking = None;
        }
        is_idle
    }

    async fn look(self) {
        let mut commits: Option<Commits> = None;
        while !self.is_idle() {
            let looked = self.dispatcher.call(Access::Read, move |engine| any(engine, commits)).await;
            commits = match looked {
                Ok(Ok((commits, any))) => {
                    if any {
                        self.rounds.send_modify(|round| *round += 1);
                    }
                    Some(commits)
                }
                Ok(Err(error)) => {
                    tracing::debug!("the store could not be polled: {error}");
                    None
                }
                Err(unavailable) => {
                    tracing::debug!("the store could not be polled: {}", unavailable.message());
                    None
                }
            };
            sleep(self.interval).await;
        }
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
pub struct Subscriber {
    rounds: watch::Receiver<u64>,
    is_over: watch::Receiver<bool>,
}

impl Subscriber {
    /// Ends when something has changed since the last call, or `within` this time; `false` when the server stops.
    pub async fn changed(&mut self, within: Option<Duration>) -> bool {
        let late = async {
            match within {
                Some(within) => sleep(within).await,
                None => pending().await,
            }
        };
        tokio::select! {
            _ = self.is_over.wait_for(|is_over| *is_over) => false,
            changed = self.rounds.changed() => changed.is_ok(),
            () = late => true,
        }
    }
}
