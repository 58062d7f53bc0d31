//! Loads the model once a client is there, so that the first save of a session gets the same hints as later ones.

use std::time::Duration;

use super::dispatch::{Access, Dispatcher};

/// How long a save waits for a model that is being loaded; the default one takes some 50 ms.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Loads the model in the background. A client that has its handshake calls this.
pub fn warm_up(dispatcher: &Dispatcher) {
    let dispatcher = dispatcher.clone();
    tokio::spawn(async move { load(&dispatcher).await });
}

/// Waits a moment for the model, where it is not loaded: before a save.
pub async fn wait_for_model(dispatcher: &Dispatcher) {
    let is_loaded = dispatcher.opened().await.is_none_or(|engine| engine.is_model_loaded());
    if !is_loaded {
        // Loading goes on meanwhile, and when nobody waits for it.
        let _ = tokio::time::timeout(TIMEOUT, load(dispatcher)).await;
    }
}

async fn load(dispatcher: &Dispatcher) {
    let loaded = dispatcher.call(Access::Read, |engine| engine.warm_up()).await;
    if let Ok(Err(error)) = loaded {
        tracing::debug!("the model was not loaded: {error}");
    }
}
