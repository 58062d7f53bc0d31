//! The files of an index: segments are written new, the manifest is replaced when all that it refers to is durable.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

pub(crate) use memorist_durable::Error;
use memorist_durable::crash;

/// Linux keeps what is written in pieces of this length in pages of this length where it can, and maps them as such: a
/// walk then finds its way to a node without looking up a page for each part of it.
const HUGE_PAGE: usize = 2 << 20;

/// Writes a new file by `fill` and makes it durable. A file of that name, left by a crash, is unlinked first. The
/// file's name becomes durable with the next [`replace`] in the same folder.
pub(crate) fn write_new<T>(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>) -> Result<T, Error> {
    remove_if_present(path)?;
    let mut options = File::options();
    options.write(true).create_new(true);
    // What is in an index is its user's business.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    let mut writer = BufWriter::with_capacity(HUGE_PAGE, file);
    let filled = fill(&mut writer).and_then(|value| writer.flush().map(|()| value)).map_err(Error::Write);
    let filled = filled.and_then(|value| {
        crash::point("file written");
        writer.get_ref().sync_all().map_err(Error::Sync)?;
        crash::point("file synced");
        Ok(value)
    });
    if filled.is_err() {
        // Half a file helps nobody, and on a full disk its space does.
        let _ = fs::remove_file(path);
    }
    filled
}

/// Replaces the content of `path` by `bytes`, atomically: after a crash the old or the new content is there.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    // The files that the new content refers to have to be found after a crash, so their names go to the disk first.
    memorist_durable::sync_folder(memorist_durable::folder_of(path)).map_err(Error::Sync)?;
    crash::point("names synced");
    memorist_durable::replace(path, bytes)
}

/// Removes a file that no manifest names any more. Returns whether it is gone. Windows does not remove a file that a process
/// has mapped: it takes space and does no harm until the next writer tries again.
pub(crate) fn remove_unnamed(path: &Path) -> bool {
    let removed = remove_if_present(path);
    if let Err(error) = &removed {
        tracing::debug!(path = %path.display(), %error, "an old file of the index stays for now");
    }
    removed.is_ok()
}

/// Removes a file that may be absent.
fn remove_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes `bytes` so that all but the last of the pieces that reach the system are [`HUGE_PAGE`] bytes long.
pub(crate) fn put(writer: &mut BufWriter<impl Write>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let room = writer.capacity() - writer.buffer().len();
        if room == 0 {
            writer.flush()?;
            continue;
        }
        let (now, later) = bytes.split_at(bytes.len().min(room));
        writer.write_all(now)?;
        bytes = later;
    }
    Ok(())
}

/// Goes back to `position` to overwrite `bytes` there.
pub(crate) fn patch(writer: &mut BufWriter<File>, position: u64, bytes: &[u8]) -> io::Result<()> {
    writer.seek(io::SeekFrom::Start(position))?;
    writer.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps each piece that it is given to write.
    #[derive(Debug, Default)]
    struct Pieces(Vec<Vec<u8>>);

    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const SIZES: [&[usize]; 9] = [
        &[],
        &[0],
        &[1, HUGE_PAGE - 1],
        &[1, HUGE_PAGE],
        &[HUGE_PAGE - 1, 1, 1],
        &[HUGE_PAGE, HUGE_PAGE + 1, 0, 5],
        &[100, 2 * HUGE_PAGE - 100, 3],
        &[3 * HUGE_PAGE],
        &[HUGE_PAGE / 2 + 1, HUGE_PAGE / 2, HUGE_PAGE * 2 - 1, 7, HUGE_PAGE - 7],
    ];

    fn bytes(sizes: &[usize]) -> Vec<u8> {
        (0..sizes.iter().sum()).map(|at| (at % 251) as u8).collect()
    }

    fn put_in_turn(writer: &mut BufWriter<impl Write>, sizes: &[usize]) -> io::Result<()> {
        let all = bytes(sizes);
        let mut rest = &all[..];
        for &size in sizes {
            let (now, later) = rest.split_at(size);
            put(writer, now)?;
            rest = later;
        }
        Ok(())
    }

    #[test]
    fn all_pieces_but_the_last_are_huge_pages() {
        for sizes in SIZES {
            let mut writer = BufWriter::with_capacity(HUGE_PAGE, Pieces::default());
            put_in_turn(&mut writer, sizes).unwrap();
            let pieces = writer.into_inner().unwrap().0;
            assert!(pieces.concat() == bytes(sizes), "{sizes:?}");
            if let Some((last, others)) = pieces.split_last() {
                assert!(last.len() <= HUGE_PAGE && others.iter().all(|piece| piece.len() == HUGE_PAGE), "{sizes:?}");
            }
        }
    }

    #[test]
    fn written_bytes_and_patches_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for sizes in SIZES {
            write_new(&path, |writer| {
                put_in_turn(writer, sizes)?;
                put(writer, b"end")?;
                patch(writer, 0, b"start")
            })
            .unwrap();
            let mut expected = [bytes(sizes), b"end".to_vec()].concat();
            expected.resize(expected.len().max(5), 0);
            expected[..5].copy_from_slice(b"start");
            assert!(fs::read(&path).unwrap() == expected, "{sizes:?}");
        }
    }
}
