//! Whether a transcript that is being written has grown enough to be read.

use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use memorist_engine::types::FileStamp;
use memorist_sources::foreign::Foreign;

use crate::settings::SyncSettings;

/// A transcript that grew too little is read after this long, if the settings name no interval.
const LONGEST: Duration = Duration::from_secs(600);
/// Lines are counted in this much of what is new; more is enough by itself.
const COUNTED: u64 = 8 << 20;

/// Whether a transcript waits: it grew, by fewer bytes and fewer lines than the settings say, and was read less than an
/// interval ago. A line is a message: in most formats each has one. A file that does not consist of lines waits for bytes
/// alone.
pub fn waits(settings: &SyncSettings, file: Foreign<'_>, known: FileStamp, found: FileStamp, now: SystemTime) -> bool {
    let Some(grown) = found.size.checked_sub(known.size).filter(|grown| *grown > 0) else { return false };
    let (bytes, messages) = (settings.min_new_bytes, settings.min_new_lines);
    let counts_lines = messages > 0 && file.path.extension().is_some_and(|end| end == "jsonl");
    if (bytes == 0 && !counts_lines) || (bytes > 0 && grown >= bytes) || is_late(settings, known, now) {
        return false;
    }
    !counts_lines || lines(file, known.size, grown).is_ok_and(|lines| lines < messages)
}

fn is_late(settings: &SyncSettings, known: FileStamp, now: SystemTime) -> bool {
    let longest = settings.interval().unwrap_or(LONGEST);
    let read = Duration::from_nanos(u64::try_from(known.modified).unwrap_or_default());
    now.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(read) >= longest
}

/// The lines that end in what is new.
fn lines(file: Foreign<'_>, from: u64, grown: u64) -> io::Result<u64> {
    if grown > COUNTED {
        return Ok(u64::MAX);
    }
    let mut file = file.open(grown)?;
    file.seek(SeekFrom::Start(from))?;
    let mut lines = 0;
    for byte in BufReader::new(file.take(grown)).bytes() {
        lines += u64::from(byte? == b'\n');
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use memorist_sources::foreign::{Deadline, Root};

    use super::*;

    /// F14, Z7.
    #[test]
    fn a_transcript_waits_for_bytes_or_lines_but_not_forever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        std::fs::write(&path, "{}\n{}\n{}\n{\"torn").unwrap();
        let now = SystemTime::now();
        let nanos = |at: SystemTime| i64::try_from(at.duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap();
        let stamp = |size, modified| FileStamp { size, modified: nanos(modified), identity: (1, 1) };
        let waits = |bytes, messages, path: &Path, read: SystemTime, found: u64| {
            let settings = SyncSettings { min_new_bytes: bytes, min_new_lines: messages, ..SyncSettings::default() };
            let (root, deadline) = (Root::around(path).unwrap(), Deadline::default());
            let file = Foreign { root: &root, path, deadline: &deadline };
            super::waits(&settings, file, stamp(3, read), stamp(found, now), now)
        };
        let all = std::fs::metadata(&path).unwrap().len();
        assert!(!waits(0, 0, &path, now, all), "at every change");
        assert!(waits(100, 0, &path, now, all) && !waits(5, 0, &path, now, all));
        assert!(waits(0, 3, &path, now, all) && !waits(0, 2, &path, now, all), "two lines are new");
        assert!(waits(100, 3, &path, now, all) && !waits(100, 2, &path, now, all), "either is enough");
        assert!(!waits(100, 3, &path, now, 2) && !waits(100, 3, &path, now, 3), "it was cut, or only touched");
        let database = folder.path().join("a.db");
        assert!(!waits(0, 3, &database, now, all) && waits(100, 3, &database, now, all), "it has no lines");
        let early = now - Duration::from_secs(601);
        assert!(!waits(100, 3, &path, early, all), "it was read an interval ago");
    }
}
