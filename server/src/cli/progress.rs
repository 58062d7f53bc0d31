//! The engine's progress as bars on stderr: on a terminal with rate and time left, otherwise one line per phase.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use memorist_engine::progress::Progress;

use super::format;
use crate::escape;
use crate::output::Output;

const COUNTED: &str = "{msg:<22} {wide_bar} {human_pos}/{human_len}  {per_sec}  {eta} left ";
const BYTES: &str = "{msg:<22} {wide_bar} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left ";
const OPEN: &str = "{spinner} {msg} {human_pos}  {per_sec} ";

/// Draws progress, and passes on cancellation.
pub struct Bars {
    output: Output,
    drawn: bool,
    stop: Arc<AtomicBool>,
    current: Mutex<Option<ProgressBar>>,
}

impl Bars {
    /// Bars that cancel when `stop` is set.
    pub fn new(output: Output, stop: Arc<AtomicBool>) -> Self {
        let drawn = !output.quiet && std::io::stderr().is_terminal();
        Bars { output, drawn, stop, current: Mutex::default() }
    }

    /// Starts a phase that is counted in bytes.
    pub fn start_bytes(&self, what: &str, total: Option<u64>) {
        let size = total.map(|total| format!(" ({})", indicatif::DecimalBytes(total)));
        self.begin(what, total, BYTES, size);
    }

    /// Changes the text before the bar.
    pub fn message(&self, text: String) {
        if let Some(bar) = self.current().as_ref() {
            bar.set_message(escape::text(&text).into_owned());
        }
    }

    /// The bar on the screen. If a thread panicked while it held the lock, the bar can still be drawn.
    fn current(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, what: &str, total: Option<u64>, template: &str, amount: Option<String>) {
        self.finish();
        if !self.drawn {
            self.output.note(format!("{what}{}", amount.unwrap_or_default()));
            return;
        }
        let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        let template = if total.is_some() { template } else { OPEN };
        // The templates are constants; an invalid one would be drawn in the library's default style.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(escape::text(what).into_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        *self.current() = Some(bar);
    }
}

impl Progress for Bars {
    fn start(&self, what: &str, total: Option<u64>) {
        // The engine counts downloads in bytes, and everything else in texts.
        if what.starts_with("fetching") {
            return self.start_bytes(what, total);
        }
        let amount = total.map(|total| format!(" ({})", format::thousands(total)));
        self.begin(what, total, COUNTED, amount);
    }

    fn advance(&self, units: u64) {
        if let Some(bar) = self.current().as_ref() {
            bar.inc(units);
        }
    }

    fn finish(&self) {
        if let Some(bar) = self.current().take() {
            bar.finish_and_clear();
        }
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_parse() {
        for template in [COUNTED, BYTES, OPEN] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn cancellation_reaches_the_work() {
        let stop = Arc::new(AtomicBool::new(false));
        let bars = Bars::new(Output { json: false, quiet: true }, stop.clone());
        bars.start("embedding", Some(2));
        bars.advance(1);
        assert!(!bars.cancelled());
        stop.store(true, Ordering::Relaxed);
        assert!(bars.cancelled());
    }
}
