//! Named steps at which a test may end the process, as a crash would. Without the feature `crash-points` they do
//! nothing.

/// The variable that names a step and how often it is passed before the process ends there: `file renamed:3`.
#[cfg(feature = "crash-points")]
pub const VARIABLE: &str = "MEMORIST_CRASH_AT";

/// A step that may be the last one before a crash.
#[cfg(not(feature = "crash-points"))]
#[inline(always)]
pub fn point(_step: &str) {}

/// A step that may be the last one before a crash. After it nothing is flushed, dropped or unwound.
#[cfg(feature = "crash-points")]
pub fn point(step: &str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static WANTED: OnceLock<Option<(String, AtomicUsize)>> = OnceLock::new();
    let wanted = WANTED.get_or_init(|| {
        let value = std::env::var(VARIABLE).ok()?;
        let (step, times) = value.rsplit_once(':')?;
        Some((step.to_owned(), AtomicUsize::new(times.parse().ok()?)))
    });
    if let Some((last, times)) = wanted
        && last == step
        && times.fetch_sub(1, Ordering::Relaxed) == 1
    {
        std::process::abort();
    }
}
