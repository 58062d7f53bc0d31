//! Keeps the store up to date with its sources while a server runs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::serving::Dispatcher;
use memorist_engine::embed::ModelSettings;
use memorist_ingest::settings::SyncSettings;
use memorist_ingest::sync::Syncer;
use memorist_ingest::watch::Watcher;
use tokio::sync::Notify;
use tokio::time::timeout;

/// Files are read once a client has its handshake, or after this long without one.
const START: Duration = Duration::from_secs(1);

/// The watcher of a server. It starts after the first handshake, which it must not delay.
#[derive(Default)]
pub struct Watching {
    greeted: Notify,
    watcher: Mutex<Option<Watcher>>,
}

/// Settings of a watcher.
pub struct WatcherOptions {
    /// The store's folder.
    pub store: PathBuf,
    /// How files are read, and when.
    pub sync: SyncSettings,
    /// The store's model.
    pub model: ModelSettings,
}

impl Watching {
    /// Starts the watcher when the store is open, unless it cannot be written.
    pub async fn start(&self, dispatcher: Dispatcher, options: WatcherOptions) {
        if !options.sync.enabled {
            return;
        }
        // A server without a client reads files, too.
        let _ = timeout(START, self.greeted.notified()).await;
        let Some(engine) = dispatcher.opened().await else { return };
        if engine.can_write() {
            let syncer = Syncer::new(&options.store, options.sync, options.model);
            *self.watcher() = Some(Watcher::start(engine, Arc::new(syncer)));
        }
    }

    /// A client has its handshake.
    pub fn greeted(&self) {
        self.greeted.notify_one();
    }

    /// The store was searched.
    pub fn searched(&self) {
        if let Some(watcher) = self.watcher().as_ref() {
            watcher.searched();
        }
    }

    /// Waits, for a short time, until files that have changed are read, so that a search finds what is in them now.
    pub async fn catch_up(&self) {
        let unread = self.watcher().as_ref().and_then(Watcher::unread);
        if let Some(unread) = unread {
            let _ = tokio::task::spawn_blocking(move || unread.wait()).await;
        }
    }

    /// Ends the watcher. Waits for it, but not for a file system that does not respond.
    pub fn stop(&self) {
        let watcher = self.watcher().take();
        drop(watcher);
    }

    fn watcher(&self) -> MutexGuard<'_, Option<Watcher>> {
        self.watcher.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
