//! Progress and cancellation of long operations.

/// Receives progress. All methods take `&self`: work may report from several threads.
pub trait Progress: Send + Sync {
    /// A phase begins: `what` it does ("embedding"), and of how many units (`None`: not known).
    fn start(&self, what: &str, total: Option<u64>);
    /// `units` more are done.
    fn advance(&self, units: u64);
    /// The phase is over.
    fn finish(&self);
    /// Whether the work should stop at the next safe point; it then returns an error that says so.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Ignores progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn start(&self, _what: &str, _total: Option<u64>) {}
    fn advance(&self, _units: u64) {}
    fn finish(&self) {}
}
