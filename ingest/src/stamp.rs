//! Stamps, by which a file is known to be unchanged.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use memorist_durable::FileId;
use memorist_engine::types::FileStamp;

/// A file that was changed more recently may change again without another time.
const GRAIN: Duration = Duration::from_millis(50);

/// The stamp of a transcript. The stamp of a database includes its write-ahead log.
///
/// # Errors
/// Errors of the file system.
pub fn of(path: &Path) -> io::Result<FileStamp> {
    let found = FileId::with_metadata(path)?;
    if !found.1.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut stamp = of_found(found);
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if let Ok(log) = FileId::with_metadata(log.as_ref()) {
        let log = of_found(log);
        stamp.size = stamp.size.wrapping_add(log.size);
        stamp.modified = stamp.modified.max(log.modified);
    }
    Ok(stamp)
}

/// The device of an existing file or folder.
pub fn device(path: &Path) -> Option<u64> {
    FileId::of(path).map(|id| id.device)
}

fn of_found((id, metadata): (FileId, Metadata)) -> FileStamp {
    FileStamp { size: metadata.len(), modified: modified(&metadata), identity: (id.device, id.number) }
}

fn modified(metadata: &Metadata) -> i64 {
    let since = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// A stamp that no file has, if this one is too fresh to be trusted: then the file is read again the next time.
pub fn settled(stamp: FileStamp, read_at: SystemTime) -> FileStamp {
    let read_at = read_at.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(GRAIN).as_nanos();
    let is_settled = u128::try_from(stamp.modified).is_ok_and(|modified| modified < read_at);
    if is_settled { stamp } else { unsettled(stamp) }
}

/// A stamp that no file has.
pub fn unsettled(stamp: FileStamp) -> FileStamp {
    FileStamp { modified: -1, ..stamp }
}
