//! Runs the calls of all clients on the engine. The engine is opened in the background, so that the handshake does not
//! wait, and closed after the last call.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memorist_engine::Engine;
use memorist_engine::config::Config;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio::time::timeout;

use crate::exit::{Failure, Kind};

/// Calls that run at once; others wait. Each occupies a thread.
const CALLS: u32 = 32;

/// Maximum number of writes among them. A write waits for those of other processes, a read does not: the remaining
/// places are for reads only.
const WRITES: usize = 16;

/// How long a write waits for a place while none becomes free: together with the engine's own timeout less than 20 s.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(4);

/// A write that took longer waited for another process. Its end says nothing about the writes behind it.
const PROMPT: Duration = Duration::from_secs(10);

/// How long closing waits for running calls.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A handle on the engine. Clones share it.
#[derive(Clone)]
pub struct Dispatcher {
    engine: Arc<watch::Sender<Option<Arc<Engine>>>>,
    calls: Arc<Semaphore>,
    writes: Arc<Semaphore>,
    /// Changes with each write that ends quickly.
    progress: Arc<watch::Sender<()>>,
}

/// The access of a call to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It only reads, and may count accesses.
    Read,
    Write,
}

/// Why a call was not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unavailable {
    /// The server is shutting down.
    Closing,
    /// Many writes wait for the store.
    Busy,
    /// The call panicked: a bug of this program, reported in its log.
    Panicked,
}

impl Unavailable {
    /// Its name where failures are counted.
    pub fn name(self) -> &'static str {
        match self {
            Unavailable::Closing => "closing",
            Unavailable::Busy => "busy",
            Unavailable::Panicked => "internal",
        }
    }

    /// The message for the caller.
    pub fn message(self) -> &'static str {
        match self {
            Unavailable::Closing => "the server is shutting down; retry with a new one",
            Unavailable::Busy => {
                "the store is busy: no write succeeded for some seconds; this call saved nothing, retry later"
            }
            Unavailable::Panicked => "internal error; the server's log on stderr says more",
        }
    }
}

impl Dispatcher {
    /// Opens a store in the background. The future ends if that fails; otherwise it never does.
    pub fn open(store: PathBuf, config: Config) -> (Self, impl Future<Output = Result<(), Failure>>) {
        let dispatcher = Dispatcher::closed();
        let (send_failure, failure) = oneshot::channel::<Failure>();
        let engine = dispatcher.engine.clone();
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
            // Nobody listens if the server has ended already.
            let _ = send_failure.send(failure);
        });
        let failed = async move {
            match failure.await {
                Ok(failure) => Err(failure),
                Err(_) => std::future::pending().await,
            }
        };
        (dispatcher, failed)
    }

    /// Without an engine yet.
    fn closed() -> Self {
        Dispatcher {
            engine: Arc::new(watch::Sender::new(None)),
            calls: Arc::new(Semaphore::new(CALLS as usize)),
            writes: Arc::new(Semaphore::new(WRITES)),
            progress: Arc::new(watch::Sender::new(())),
        }
    }

    /// A place for a write. In a long queue it may wait as long as the queue moves.
    async fn place(&self) -> Result<OwnedSemaphorePermit, Unavailable> {
        let mut progress = self.progress.subscribe();
        let place = self.writes.clone().acquire_owned();
        tokio::pin!(place);
        loop {
            tokio::select! {
                biased;
                place = &mut place => return place.map_err(|_| Unavailable::Closing),
                moved = timeout(QUEUE_TIMEOUT, progress.changed()) => {
                    // While the store is opening, nothing can move.
                    if moved.is_err() && self.engine.borrow().is_some() {
                        return Err(Unavailable::Busy);
                    }
                }
            }
        }
    }

    /// The engine, as soon as the store is open; `None` if the server ends before. Closing waits for no other holder of
    /// it.
    pub async fn opened(&self) -> Option<Arc<Engine>> {
        self.engine.subscribe().wait_for(Option::is_some).await.ok().and_then(|engine| engine.clone())
    }

    /// Runs `call` on a blocking thread, as soon as the store is open.
    pub async fn call<T: Send + 'static>(
        &self,
        access: Access,
        call: impl FnOnce(&Engine) -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        let closing = |_| Unavailable::Closing;
        // The scarcer one first: a write that waits for it must not take a place from a read.
        let writes = match access {
            Access::Read => None,
            Access::Write => Some(self.place().await?),
        };
        let permit = self.calls.clone().acquire_owned().await.map_err(closing)?;
        let engine = self.opened().await.ok_or(Unavailable::Closing)?;
        let progress = self.progress.clone();
        let running = tokio::task::spawn_blocking(move || {
            let began = Instant::now();
            let result = engine.in_one_call(call);
            if writes.is_some() && began.elapsed() < PROMPT {
                progress.send_replace(());
            }
            // In this order: a caller that acquires all permits must find the engine unused.
            drop(engine);
            drop(writes);
            drop(permit);
            result
        });
        running.await.map_err(|_| Unavailable::Panicked)
    }

    /// Waits for running calls, refuses others, and closes the engine, which finishes its background work first.
    pub async fn close(&self) {
        let all = self.calls.acquire_many(CALLS);
        let idle = tokio::time::timeout(TIMEOUT, all).await;
        self.calls.close();
        self.writes.close();
        let engine = self.engine.send_replace(None).and_then(Arc::into_inner);
        if let (Ok(_), Some(engine)) = (idle, engine) {
            // A panic of the closing engine changes nothing: every record is on disk.
            let _ = tokio::task::spawn_blocking(move || engine.close()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn writes_that_wait_leave_places_for_reads() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::without_model();
        let (dispatcher, _failed) = Dispatcher::open(folder.path().to_path_buf(), config);
        let (free, waits) = mpsc::channel::<()>();
        let waits = Arc::new(std::sync::Mutex::new(waits));
        let writes: Vec<_> = (0..40)
            .map(|_| {
                let (dispatcher, waits) = (dispatcher.clone(), waits.clone());
                tokio::spawn(async move {
                    dispatcher.call(Access::Write, move |_| waits.lock().unwrap().recv().is_err()).await
                })
            })
            .collect();
        while dispatcher.writes.available_permits() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let read = tokio::time::timeout(Duration::from_secs(30), dispatcher.call(Access::Read, |_| true)).await;
        assert_eq!(read, Ok(Ok(true)), "writes have all the places");
        drop(free);
        for write in writes {
            assert_eq!(write.await.unwrap(), Ok(true), "each has its turn");
        }
        dispatcher.close().await;
        assert_eq!(dispatcher.call(Access::Write, |_| ()).await, Err(Unavailable::Closing));
    }

    async fn opened(folder: &std::path::Path) -> Dispatcher {
        let config = Config::without_model();
        let (dispatcher, _failed) = Dispatcher::open(folder.to_path_buf(), config);
        assert_eq!(dispatcher.call(Access::Read, |_| true).await, Ok(true));
        dispatcher
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_write_behind_others_that_do_not_move_is_refused_soon() {
        let folder = tempfile::tempdir().unwrap();
        let dispatcher = opened(folder.path()).await;
        let (free, waits) = mpsc::channel::<()>();
        let waits = Arc::new(std::sync::Mutex::new(waits));
        let held: Vec<_> = (0..WRITES)
            .map(|_| {
                let (dispatcher, waits) = (dispatcher.clone(), waits.clone());
                tokio::spawn(async move { dispatcher.call(Access::Write, move |_| waits.lock().unwrap().recv()).await })
            })
            .collect();
        while dispatcher.writes.available_permits() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let refused = timeout(QUEUE_TIMEOUT * 2, dispatcher.call(Access::Write, |_| ())).await;
        assert_eq!(refused, Ok(Err(Unavailable::Busy)));
        drop(free);
        for write in held {
            assert!(write.await.unwrap().is_ok());
        }
        dispatcher.close().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_long_queue_of_writes_that_moves_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let dispatcher = opened(folder.path()).await;
        let writes: Vec<_> = (0..WRITES * 4)
            .map(|_| {
                let dispatcher = dispatcher.clone();
                // The last one waits longer than the timeout, but earlier ones end before.
                tokio::spawn(async move {
                    dispatcher.call(Access::Write, |_| std::thread::sleep(Duration::from_millis(1_800))).await
                })
            })
            .collect();
        for write in writes {
            assert_eq!(write.await.unwrap(), Ok(()));
        }
        dispatcher.close().await;
    }
}
