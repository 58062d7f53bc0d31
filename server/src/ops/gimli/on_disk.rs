//! The text of a file of notes, if it is still the file that was read: no link, and below the folder of its source.

use std::fs;
use std::path::Path;

use memorist_engine::types::{Source, SourceKind};
use memorist_ingest::sources::foreign::{Deadline, Root};
use memorist_secrets::{Finding, scan};

/// The text, with secrets redacted. `None` if the file is gone, is another, or is longer than `most` bytes.
pub fn text(path: &Path, sources: &[Source], most: u64) -> Option<String> {
    let source = sources.iter().find(|source| is_of(path, source))?;
    // The name may lead to something else by now, but not out of the folder.
    let root = Root::open(Path::new(&source.source.path)).ok()?;
    let bytes = root.bytes(path, most, &Deadline::default()).ok()?;
    Some(redacted(&String::from_utf8_lossy(&bytes)))
}

/// Whether this path is one of a source of notes, and no part of it below the source is a link.
fn is_of(path: &Path, source: &Source) -> bool {
    let root = Path::new(&source.source.path);
    let Ok(below) = path.strip_prefix(root) else { return false };
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    let (Ok(root), Ok(real)) = (fs::canonicalize(root), fs::canonicalize(path)) else { return false };
    // A source may be a file itself.
    let wanted = if below.as_os_str().is_empty() { root } else { root.join(below) };
    source.source.kind == SourceKind::Notes && is_file && real == wanted
}

/// The text with secrets redacted. Its lines keep their numbers.
fn redacted(text: &str) -> String {
    let mut text = text.to_owned();
    loop {
        // What was glued to a value may be found only once the value is gone.
        let found = scan(&text);
        if found.is_empty() {
            return text;
        }
        let mut redacted = String::with_capacity(text.len());
        let mut kept = 0;
        for Finding { what, range } in found {
            let breaks = text[range.clone()].matches('\n').count();
            redacted.push_str(&text[kept..range.start]);
            redacted.push_str(&format!("[redacted: {what}]{}", "\n".repeat(breaks)));
            kept = range.end;
        }
        redacted.push_str(&text[kept..]);
        text = redacted;
    }
}
