//! Named steps of publishing. A test that watches them may end the process at one, as a crash would.

use std::sync::OnceLock;

static WATCH: OnceLock<fn(&str)> = OnceLock::new();

/// Calls `watch` with the name of each step from now on. The first call counts.
pub fn watch_steps(watch: fn(&str)) {
    let _watched_already = WATCH.set(watch);
}

pub(crate) fn step(name: &str) {
    if let Some(watch) = WATCH.get() {
        watch(name);
    }
}
