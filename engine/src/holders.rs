//! Names the process that holds a lock. This is advice for people: a missing or outdated name changes no outcome.

use std::fmt;
use std::path::Path;

use memorist_durable::ThisProgram;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::types::Millis;

/// A process that holds a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    pid: u32,
    /// Since when; `None` if only the system knows of it.
    since: Option<Millis>,
    program: Option<String>,
}

impl Holder {
    /// This process, since `now`.
    pub(crate) fn this_process(now: Millis) -> Self {
        let program = ThisProgram::find().ok();
        let program = program.and_then(|this| Some(this.file.file_name()?.to_string_lossy().into_owned()));
        Holder { pid: std::process::id(), since: Some(now), program }
    }

    /// The process that holds the byte `byte` of the file `path` locked for writing, if the system reports it (on
    /// Linux).
    pub(crate) fn of_byte(path: &Path, byte: u64) -> Option<Self> {
        let pid = system::lock_holder(path, byte)?;
        Some(Holder { pid, since: None, program: system::program(pid) })
    }

    fn is_this_process(&self) -> bool {
        self.pid == std::process::id()
    }
}

/// Formats it as "process 4242 (memorist) since 12:03:11".
impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)?;
        if self.is_this_process() {
            f.write_str(" (this one)")?;
        } else if let Some(program) = &self.program {
            // It is read from a file that any process of this user may have written.
            write!(f, " ({})", program.escape_debug())?;
        }
        if let Some(since) = self.since.and_then(|since| jiff::Timestamp::from_millisecond(since).ok()) {
            let since = since.to_zoned(jiff::tz::TimeZone::system());
            let is_today = since.date() == jiff::Zoned::now().date();
            write!(f, " since {}", since.strftime(if is_today { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" }))?;
        }
        Ok(())
    }
}

/// The error after waiting in vain: `what` is locked, by this process if that is known.
pub(crate) fn held(what: &str, holder: Option<&Holder>) -> Error {
    Error::Held(match holder {
        Some(holder) if system::is_stopped(holder.pid) => format!(
            "{what} is held by {holder}, which is stopped; resume it (`kill -CONT {pid}`) or end it, then retry",
            pid = holder.pid
        ),
        Some(holder) if holder.is_this_process() => format!("{what} is held by another task of this process; retry"),
        Some(holder) => format!("{what} is held by {holder}; retry, or stop that process if it hangs"),
        None => format!("{what} is held by another process; retry, or stop the programs that have the store open"),
    })
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    /// How often `/proc/locks` is read for a lock.
    const READS: usize = 3;

    /// From `/proc/locks`, in lines like `7: POSIX  ADVISORY  WRITE 4242 fe:00:10010644 120 120`: the process, then
    /// device and inode of the file, then the first and the last byte. `fcntl` would need to open the file, and closing
    /// it would drop SQLite's own locks on it.
    pub(super) fn lock_holder(path: &Path, byte: u64) -> Option<u32> {
        let inode = fs::metadata(path).ok()?.ino().to_string();
        // The system lists locks in parts, and leaves one out where others come and go meanwhile.
        (0..READS).find_map(|_| holder_in(&fs::read_to_string("/proc/locks").ok()?, &inode, byte))
    }

    pub(super) fn holder_in(locks: &str, inode: &str, byte: u64) -> Option<u32> {
        locks.lines().find_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, "POSIX", _, "WRITE", pid, file, first, last] = words[..] else { return None };
            let last = if last == "EOF" { u64::MAX } else { last.parse().ok()? };
            let holds = file.rsplit(':').next() == Some(inode) && (first.parse().ok()?..=last).contains(&byte);
            // 0 is a process that is not visible from here: in another container.
            pid.parse().ok().filter(|pid| holds && *pid != 0)
        })
    }

    pub(super) fn program(pid: u32) -> Option<String> {
        Some(fs::read_to_string(format!("/proc/{pid}/comm")).ok()?.trim_end().to_owned())
    }

    /// Whether it was stopped by a signal or a debugger.
    pub(super) fn is_stopped(pid: u32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name before it is in parentheses and may contain anything.
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::Path;

    pub(super) fn lock_holder(_: &Path, _: u64) -> Option<u32> {
        None
    }

    pub(super) fn program(_: u32) -> Option<String> {
        None
    }

    pub(super) fn is_stopped(_: u32) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_named_with_its_process_program_and_time() {
        let holder = Holder { pid: u32::MAX, since: Some(1_767_225_600_000), program: Some("memo\u{1b}rist".into()) };
        let named = holder.to_string();
        assert!(named.starts_with("process 4294967295 (memo\\u{1b}rist) since 20"), "{named}");
        assert!(Holder { since: Some(Millis::MAX), program: None, ..holder }.to_string().ends_with("4294967295"));
        let us = Holder::this_process(crate::clock::now());
        assert!(us.to_string().contains("(this one) since ") && us.to_string().len() < 60, "{us}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_holder_of_a_byte_is_read_from_the_list_of_locks() {
        let locks = "1: FLOCK  ADVISORY  WRITE 7 fe:00:42 0 EOF\n\
                     2: POSIX  ADVISORY  READ  8 fe:00:42 120 127\n\
                     3: POSIX  ADVISORY  WRITE 9 fe:00:421 120 120\n\
                     3: -> POSIX  ADVISORY  WRITE 10 fe:00:42 120 120\n\
                     4: POSIX  ADVISORY  WRITE 0 fe:00:43 120 120\n\
                     5: POSIX  ADVISORY  WRITE 11 fe:00:42 100 EOF\n";
        assert_eq!(system::holder_in(locks, "42", 120), Some(11));
        assert_eq!(system::holder_in(locks, "42", 99), None);
        assert_eq!(system::holder_in(locks, "43", 120), None);
        assert_eq!(system::holder_in("junk\n\n", "42", 120), None);
    }
}
