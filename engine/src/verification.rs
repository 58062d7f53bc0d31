//! Compares files with their checksums in the background. Callers can wait for the result, with a timeout.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::error::{Error, IndexKind, Result};

/// Up to this many bytes are read at once rather than on a separate thread: less than a millisecond.
const AT_ONCE: u64 = 1 << 20;

/// The verification of some files, started by the first caller that relies on them; others share the result.
#[derive(Debug, Default)]
pub struct Verification {
    /// `None` until it is known; an error says what is wrong.
    verdict: Mutex<Option<Result<(), String>>>,
    known: Condvar,
}

impl Verification {
    /// Starts to read `bytes` bytes with `read`, which returns what is wrong with them and must not panic. A small
    /// number is read before this returns.
    pub fn start(bytes: u64, read: impl FnOnce() -> Result<(), String> + Send + 'static) -> Arc<Self> {
        let verification = Arc::new(Verification::default());
        if bytes <= AT_ONCE {
            verification.settle(read());
            return verification;
        }
        let shared = verification.clone();
        let reading = std::thread::Builder::new().name("memorist-verify".into()).spawn(move || shared.settle(read()));
        if let Err(error) = reading {
            verification.settle(Err(format!("no thread can be had to read it: {error}")));
        }
        verification
    }

    fn settle(&self, verdict: Result<(), String>) {
        *self.verdict.lock() = Some(verdict);
        self.known.notify_all();
    }

    /// Waits at most `timeout`. Returns whether the files are known to be sound by then.
    ///
    /// # Errors
    /// [`Error::IndexUnusable`] for this index if they are not.
    pub fn wait(&self, index: IndexKind, timeout: Duration) -> Result<bool> {
        let mut verdict = self.verdict.lock();
        self.known.wait_while_for(&mut verdict, |verdict| verdict.is_none(), timeout);
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
    fn waiting_for_a_result_times_out() {
        let (sender, receiver) = std::sync::mpsc::channel::<Result<(), String>>();
        let slow = Verification::start(AT_ONCE + 1, move || receiver.recv().unwrap());
        assert!(!slow.wait(IndexKind::Vector, Duration::from_millis(20)).unwrap(), "not known yet");
        sender.send(Err("a byte is wrong".into())).unwrap();
        for _ in 0..2 {
            let found = slow.wait(IndexKind::Vector, Duration::from_secs(60));
            assert!(
                matches!(found, Err(Error::IndexUnusable { index: IndexKind::Vector, ref why }) if why == "a byte is wrong")
            );
        }
        let quick = Verification::start(AT_ONCE, || Ok(()));
        assert!(quick.wait(IndexKind::Vector, Duration::ZERO).unwrap());
    }
}
