//! Ends when the process is signalled to stop.

use crate::exit::{Failure, Kind};

/// A future that ends when the process is signalled to stop: SIGTERM and SIGINT; on Windows Ctrl-C, Ctrl-Break, and the end
/// of the terminal or of the system.
pub fn stop_signal() -> Result<impl Future<Output = ()> + Send + 'static, Failure> {
    let failure = |error| Failure::new(Kind::Io, format!("cannot watch for signals: {error}"));
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
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
    {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
        let mut interrupt = ctrl_c().map_err(failure)?;
        let mut terminate = ctrl_break().map_err(failure)?;
        let mut closed = ctrl_close().map_err(failure)?;
        let mut shutdown = ctrl_shutdown().map_err(failure)?;
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = closed.recv() => {}
                _ = shutdown.recv() => {}
            }
        })
    }
}
