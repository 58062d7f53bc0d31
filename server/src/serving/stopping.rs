//! Ends when the process is signalled to stop.

use crate::exit::Failure;
#[cfg(unix)]
use crate::exit::Kind;

/// A future that ends when the process is signalled to stop: SIGTERM and SIGINT, or Ctrl-C.
pub fn stop_signal() -> Result<impl Future<Output = ()> + Send + 'static, Failure> {
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
