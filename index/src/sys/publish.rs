//! The files of an index: segments are written new, the manifest is replaced when all that it refers to is durable.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::steps::step;

/// Linux keeps what is written in pieces of this length in pages of this length where it can, and maps them as such: a
/// walk then finds its way to a node without looking up a page for each part of it.
const HUGE_PAGE: usize = 2 << 20;
/// A manifest that is replaced may be held by a reader, or a virus scanner, for so long. Only Windows minds.
const HELD: Duration = Duration::from_millis(500);

/// Why a file was not put in place.
#[derive(Debug)]
pub(crate) enum Error {
    /// The old content is unchanged.
    Write(io::Error),
    /// The content on the disk is unknown: the same sync may succeed next time and yet have lost data.
    Sync(io::Error),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

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
        step("file written");
        writer.get_ref().sync_all().map_err(Error::Sync)?;
        step("file synced");
        Ok(value)
    });
    if filled.is_err() {
        // Half a file helps nobody, and on a full disk its space does.
        let _ = fs::remove_file(path);
    }
    filled
}

/// Replaces the content of `path` by `bytes`, atomically: after a crash the old or the new content is there. They are written
/// to `temporary` first, in the same folder, whose lock keeps other writers away from it.
pub(crate) fn replace(path: &Path, temporary: &Path, bytes: &[u8]) -> Result<(), Error> {
    // The files that the new content refers to have to be found after a crash, so their names go to the disk first.
    sync_folder_of(path)?;
    step("names synced");
    write_new(temporary, |writer| writer.write_all(bytes))?;
    if let Err(error) = rename(temporary, path) {
        let _ = fs::remove_file(temporary);
        return Err(Error::Write(error));
    }
    step("file renamed");
    sync_folder_of(path)?;
    step("folder synced");
    Ok(())
}

/// Renames a file. On Windows it tries again for a moment where another process has `to` open.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    /// ERROR_ACCESS_DENIED and ERROR_SHARING_VIOLATION.
    const IN_USE: [Option<i32>; 2] = [Some(5), Some(32)];
    let began = Instant::now();
    loop {
        match fs::rename(from, to) {
            Err(error) if cfg!(windows) && IN_USE.contains(&error.raw_os_error()) && began.elapsed() < HELD => {
                thread::sleep(Duration::from_millis(5));
            }
            renamed => return renamed,
        }
    }
}

/// Makes the names in the folder of a file durable. Windows does so itself, and cannot open folders.
fn sync_folder_of(file: &Path) -> Result<(), Error> {
    if cfg!(windows) {
        return Ok(());
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(Error::Sync)
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
    fn a_file_is_replaced_whole_or_stays() {
        let folder = tempfile::tempdir().unwrap();
        let [path, temporary] = ["file", "file.tmp"].map(|name| folder.path().join(name));
        fs::write(&temporary, "half of what a crash has left").unwrap();
        for content in ["old", "new"] {
            replace(&path, &temporary, content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
        let full = folder.path().join("full");
        fs::create_dir(&full).unwrap();
        fs::write(full.join("precious"), "").unwrap();
        assert!(matches!(replace(&full, &temporary, b"x"), Err(Error::Write(_))));
        assert!(full.join("precious").exists() && !temporary.exists());
    }

    #[test]
    fn a_file_is_replaced_while_another_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let [path, temporary] = ["file", "file.tmp"].map(|name| folder.path().join(name));
        replace(&path, &temporary, &[0; 1_000]).unwrap();
        let is_done = std::sync::atomic::AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                    let read = fs::read(&path).unwrap();
                    assert!(read.len() == 1_000 && read.iter().all(|byte| *byte == read[0]));
                    thread::sleep(Duration::from_millis(5));
                }
            });
            let replaced = (1..50).try_for_each(|round| replace(&path, &temporary, &[round; 1_000]));
            is_done.store(true, std::sync::atomic::Ordering::Relaxed);
            replaced.unwrap();
        });
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
