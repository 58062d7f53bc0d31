//! A call asks the server once, however often it reads: what it reads is as of its beginning or later.

use std::cell::Cell;

thread_local! {
    /// Whether the call that runs on this thread has asked; `None` outside of calls.
    static HAS_ASKED: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Runs a call of a client.
pub(crate) fn in_one_call<T>(call: impl FnOnce() -> T) -> T {
    /// A call that panics ends, too.
    struct End(Option<bool>);
    impl Drop for End {
        fn drop(&mut self) {
            HAS_ASKED.set(self.0);
        }
    }
    let _end = End(HAS_ASKED.replace(Some(false)));
    call()
}

/// Whether this call has asked already.
pub(super) fn has_asked() -> bool {
    HAS_ASKED.get() == Some(true)
}

/// Notes that this call has asked, and was answered.
pub(super) fn note_answer() {
    if HAS_ASKED.get().is_some() {
        HAS_ASKED.set(Some(true));
    }
}
