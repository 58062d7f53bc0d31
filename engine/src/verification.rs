//! Comparing files with their checksums while somebody waits, but not for ever.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::error::{Error, Result};

/// Up to so many bytes are read at once rather than in a thread of their own: less than a millisecond.
const AT_ONCE: u64 = 1 << 20;

/// The reading of some files, begun by the first who is about to rely on them; others share the verdict.
#[derive(Debug, Default)]
pub struct Inspection {
    /// `None` until it is known; an error says in words what is wrong.
    verdict: Mutex<Option<Result<(), String>>>,
    known: Condvar,
}

impl Inspection {
    /// Begins to read `bytes` bytes by `read`, which says in words what is wrong with them and must not panic. Few are
    /// read before this returns.
    pub fn begin(bytes: u64, read: impl FnOnce() -> Result<(), String> + Send + 'static) -> Arc<Self> {
        let inspection = Arc::new(Inspection::default());
        if bytes <= AT_ONCE {
            inspection.settle(read());
            return inspection;
        }
        let told = inspection.clone();
        let reading = std::thread::Builder::new().name("memorist-inspect".into()).spawn(move || told.settle(read()));
        if let Err(error) = reading {
            inspection.settle(Err(format!("no thread can be had to read it: {error}")));
        }
        inspection
    }

    fn settle(&self, verdict: Result<(), String>) {
        *self.verdict.lock() = Some(verdict);
        self.known.notify_all();
    }

    /// Waits at most `patience`. Returns whether it is known by then that the files are sound.
    ///
    /// # Errors
    /// [`Error::IndexUnusable`] of the index of this name when they are not.
    pub fn wait(&self, index: &'static str, patience: Duration) -> Result<bool> {
        let mut verdict = self.verdict.lock();
        self.known.wait_while_for(&mut verdict, |verdict| verdict.is_none(), patience);
        match &*verdict {
            None => Ok(false),
            Some(Ok(())) => Ok(true),
            Some(Err(why)) => Err(Error::IndexUnusable { index, why: why.clone() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_waited_for_but_not_for_ever() {
        let (tell, told) = std::sync::mpsc::channel::<Result<(), String>>();
        let slow = Inspection::begin(AT_ONCE + 1, move || told.recv().unwrap());
        assert!(!slow.wait("vector", Duration::from_millis(20)).unwrap(), "not known yet");
        tell.send(Err("a byte is wrong".into())).unwrap();
        for _ in 0..2 {
            let found = slow.wait("vector", Duration::from_secs(60));
            assert!(
                matches!(found, Err(Error::IndexUnusable { index: "vector", ref why }) if why == "a byte is wrong")
            );
        }
        let quick = Inspection::begin(AT_ONCE, || Ok(()));
        assert!(quick.wait("vector", Duration::ZERO).unwrap());
    }
}
