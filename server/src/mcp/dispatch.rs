//! The engine behind all sessions. It opens beside the handshake, which waits for nothing, and closes after the last
//! call has ended.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memorist_engine::Engine;
use memorist_engine::config::Config;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio::time::timeout;

use crate::exit::{Failure, Kind};

/// Calls that run at once; others wait. Each holds a thread.
const CALLS: u32 = 32;

/// Of those, calls that may write. A write waits for those of other processes, a read for none: the places left over are
/// for reads alone.
const WRITES: usize = 16;

/// How long a write waits for a place while none becomes free: with the engine's own patience, less than 20 s.
const PLACE_PATIENCE: Duration = Duration::from_secs(4);

/// A write that took longer waited for somebody else. That it has ended promises nothing to those behind it.
const PROMPT: Duration = Duration::from_secs(10);

/// How long closing waits for calls in hand.
const PATIENCE: Duration = Duration::from_secs(10);

/// A handle on the engine. Clones are the same door.
#[derive(Clone)]
pub struct Door {
    engine: Arc<watch::Sender<Option<Arc<Engine>>>>,
    calls: Arc<Semaphore>,
    writes: Arc<Semaphore>,
    /// Changes with each write that ends soon.
    progress: Arc<watch::Sender<()>>,
}

/// What a call does to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It reads, and counts at most that it did.
    Read,
    /// It writes.
    Write,
}

/// Why a call was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unavailable {
    /// The server is ending.
    Closing,
    /// Many writes wait for the store.
    Busy,
    /// The call panicked: a fault of this program, which is in its log.
    Panicked,
}

impl Unavailable {
    /// For the caller.
    pub fn message(self) -> &'static str {
        match self {
            Unavailable::Closing => "the server is ending; try again with a new one",
            Unavailable::Busy => {
                "the store is busy: many writes wait, and none could be made for some seconds; nothing was saved by this \
                 call, try it again later"
            }
            Unavailable::Panicked => "internal error; the server's log on stderr says more",
        }
    }
}

impl Door {
    /// Opens a store in the background. The future tells when that has failed; it never ends when all is well.
    pub fn open(store: PathBuf, config: Config) -> (Self, impl Future<Output = Result<(), Failure>>) {
        let door = Door::closed();
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

    /// With no engine behind it yet.
    fn closed() -> Self {
        Door {
            engine: Arc::new(watch::Sender::new(None)),
            calls: Arc::new(Semaphore::new(CALLS as usize)),
            writes: Arc::new(Semaphore::new(WRITES)),
            progress: Arc::new(watch::Sender::new(())),
        }
    }

    /// A place for a write. A long queue may take its time as long as it moves.
    async fn place(&self) -> Result<OwnedSemaphorePermit, Unavailable> {
        let mut progress = self.progress.subscribe();
        let place = self.writes.clone().acquire_owned();
        tokio::pin!(place);
        loop {
            tokio::select! {
                biased;
                place = &mut place => return place.map_err(|_| Unavailable::Closing),
                moved = timeout(PLACE_PATIENCE, progress.changed()) => {
                    // Until the store is open nobody can move.
                    if moved.is_err() && self.engine.borrow().is_some() {
                        return Err(Unavailable::Busy);
                    }
                }
            }
        }
    }

    /// Runs `call` on a thread that may block, as soon as the store is open.
    pub async fn call<T: Send + 'static>(
        &self,
        access: Access,
        call: impl FnOnce(&Engine) -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        let closing = |_| Unavailable::Closing;
        // First the scarcer one: a write that waits for it must not take a place from a read.
        let writes = match access {
            Access::Read => None,
            Access::Write => Some(self.place().await?),
        };
        let permit = self.calls.clone().acquire_owned().await.map_err(closing)?;
        let mut opened = self.engine.subscribe();
        let engine = opened.wait_for(Option::is_some).await.ok().and_then(|engine| engine.clone());
        let engine = engine.ok_or(Unavailable::Closing)?;
        let progress = self.progress.clone();
        let running = tokio::task::spawn_blocking(move || {
            let began = Instant::now();
            let result = call(&engine);
            if writes.is_some() && began.elapsed() < PROMPT {
                progress.send_replace(());
            }
            // In this order: who waits for all permits must find no engine held.
            drop(engine);
            drop(writes);
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

    use memorist_engine::config::ModelSource;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn writes_that_wait_leave_places_for_reads() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { model: ModelSource::None, ..Config::default() };
        let (door, _failed) = Door::open(folder.path().to_path_buf(), config);
        let (free, waits) = mpsc::channel::<()>();
        let waits = Arc::new(std::sync::Mutex::new(waits));
        let writes: Vec<_> = (0..40)
            .map(|_| {
                let (door, waits) = (door.clone(), waits.clone());
                tokio::spawn(
                    async move { door.call(Access::Write, move |_| waits.lock().unwrap().recv().is_err()).await },
                )
            })
            .collect();
        while door.writes.available_permits() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let read = tokio::time::timeout(Duration::from_secs(30), door.call(Access::Read, |_| true)).await;
        assert_eq!(read, Ok(Ok(true)), "writes have all the places");
        drop(free);
        for write in writes {
            assert_eq!(write.await.unwrap(), Ok(true), "each has its turn");
        }
        door.close().await;
        assert_eq!(door.call(Access::Write, |_| ()).await, Err(Unavailable::Closing));
    }

    async fn opened(folder: &std::path::Path) -> Door {
        let config = Config { model: ModelSource::None, ..Config::default() };
        let (door, _failed) = Door::open(folder.to_path_buf(), config);
        assert_eq!(door.call(Access::Read, |_| true).await, Ok(true));
        door
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_write_behind_others_that_do_not_move_is_refused_soon() {
        let folder = tempfile::tempdir().unwrap();
        let door = opened(folder.path()).await;
        let (free, waits) = mpsc::channel::<()>();
        let waits = Arc::new(std::sync::Mutex::new(waits));
        let held: Vec<_> = (0..WRITES)
            .map(|_| {
                let (door, waits) = (door.clone(), waits.clone());
                tokio::spawn(async move { door.call(Access::Write, move |_| waits.lock().unwrap().recv()).await })
            })
            .collect();
        while door.writes.available_permits() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let refused = timeout(PLACE_PATIENCE * 2, door.call(Access::Write, |_| ())).await;
        assert_eq!(refused, Ok(Err(Unavailable::Busy)));
        drop(free);
        for write in held {
            assert!(write.await.unwrap().is_ok());
        }
        door.close().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_long_queue_of_writes_that_moves_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let door = opened(folder.path()).await;
        let writes: Vec<_> = (0..WRITES * 4)
            .map(|_| {
                let door = door.clone();
                // The last waits longer than it would without those that end before it.
                tokio::spawn(async move {
                    door.call(Access::Write, |_| std::thread::sleep(Duration::from_millis(1_800))).await
                })
            })
            .collect();
        for write in writes {
            assert_eq!(write.await.unwrap(), Ok(()));
        }
        door.close().await;
    }
}
