//! The engine behind all sessions. It opens beside the handshake, which waits for nothing, and closes after the last
//! call has ended.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memorist_engine::Engine;
use memorist_engine::config::Config;
use tokio::sync::{Semaphore, oneshot, watch};

use crate::exit::{Failure, Kind};

/// Calls that run at once; others wait. Each holds a thread.
const CALLS: u32 = 32;

/// How long closing waits for calls in hand.
const PATIENCE: Duration = Duration::from_secs(10);

/// A handle on the engine. Clones are the same door.
#[derive(Clone)]
pub struct Door {
    engine: Arc<watch::Sender<Option<Arc<Engine>>>>,
    calls: Arc<Semaphore>,
}

/// Why a call was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unavailable {
    /// The server is ending.
    Closing,
    /// The call panicked: a fault of this program, which is in its log.
    Panicked,
}

impl Unavailable {
    /// For the caller.
    pub fn message(self) -> &'static str {
        match self {
            Unavailable::Closing => "the server is ending; try again with a new one",
            Unavailable::Panicked => "internal error; the server's log on stderr says more",
        }
    }
}

impl Door {
    /// Opens a store in the background. The future tells when that has failed; it never ends when all is well.
    pub fn open(store: PathBuf, config: Config) -> (Self, impl Future<Output = Result<(), Failure>>) {
        let door = Door { engine: Arc::new(watch::Sender::new(None)), calls: Arc::new(Semaphore::new(CALLS as usize)) };
        let (tell, told) = oneshot::channel::<Failure>();
        let engine = door.engine.clone();
        let opening = tokio::task::spawn_blocking(move || Engine::open(store, config));
        tokio::spawn(async move {
            let failure = match opening.await {
                Ok(Ok(opened)) => {
                    engine.send_replace(Some(Arc::new(opened)));
                    return;
                }
                Ok(Err(error)) => Failure::from(error),
                Err(panic) => Failure::new(Kind::Internal, format!("opening the store failed: {panic}")),
            };
            // Nobody listens when the server has ended already.
            let _ = tell.send(failure);
        });
        let failed = async move {
            match told.await {
                Ok(failure) => Err(failure),
                Err(_) => std::future::pending().await,
            }
        };
        (door, failed)
    }

    /// Runs `call` on a thread that may block, as soon as the store is open.
    pub async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Engine) -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        let permit = self.calls.clone().acquire_owned().await.map_err(|_| Unavailable::Closing)?;
        let mut opened = self.engine.subscribe();
        let engine = opened.wait_for(Option::is_some).await.ok().and_then(|engine| engine.clone());
        let engine = engine.ok_or(Unavailable::Closing)?;
        let running = tokio::task::spawn_blocking(move || {
            let result = call(&engine);
            // In this order: who waits for all permits must find no engine held.
            drop(engine);
            drop(permit);
            result
        });
        running.await.map_err(|_| Unavailable::Panicked)
    }

    /// Lets the calls in hand end, refuses others, and closes the engine: its background work is finished first.
    pub async fn close(&self) {
        let all = self.calls.acquire_many(CALLS);
        let idle = tokio::time::timeout(PATIENCE, all).await;
        self.calls.close();
        let engine = self.engine.send_replace(None).and_then(Arc::into_inner);
        if let (Ok(_), Some(engine)) = (idle, engine) {
            // A panic of the closing engine changes nothing: every record is on disk.
            let _ = tokio::task::spawn_blocking(move || engine.close()).await;
        }
    }
}
