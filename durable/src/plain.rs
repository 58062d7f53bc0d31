//! Opening files that another user may have put there.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a plain file for reading. Its type is checked on the open file, so it cannot be swapped in between. It never
/// waits for the other end of a pipe.
///
/// # Errors
/// When it cannot be opened, and when it is a link, a folder, a pipe or a device.
pub fn open_plain(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, read_flags().bits());
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::custom_flags(&mut options, FILE_FLAG_OPEN_REPARSE_POINT);
    check_plain(options.open(path).map_err(explain)?)
}

/// Opens a link, not what it points to.
#[cfg(windows)]
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

#[cfg(unix)]
pub(crate) fn read_flags() -> nix::fcntl::OFlag {
    use nix::fcntl::OFlag;
    OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC
}

pub(crate) fn check_plain(file: File) -> io::Result<File> {
    let found = file.metadata()?;
    let what = match () {
        _ if found.is_file() => return Ok(file),
        _ if found.is_dir() => "it is a folder, not a file",
        _ if found.is_symlink() => LINK,
        _ => "it is a pipe or a device, not a plain file",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

const LINK: &str = "it is a link, not a plain file; name the file that it points to";

/// The system's message for a link that is not followed speaks of levels ("too many levels of symbolic links").
pub(crate) fn explain(error: io::Error) -> io::Error {
    #[cfg(unix)]
    {
        use nix::errno::Errno;
        // The last is the error of opening a socket.
        match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::ELOOP) => return io::Error::new(io::ErrorKind::InvalidInput, LINK),
            Some(Errno::ENXIO) => {
                return io::Error::new(io::ErrorKind::InvalidInput, "it is a socket, not a plain file");
            }
            _ => {}
        }
    }
    error
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_folders_pipes_and_devices_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        assert_eq!(io::read_to_string(open_plain(&at("file")).unwrap()).unwrap(), "text");
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for (path, what) in [
            (at("link"), "a link"),
            (at("pipe"), "a pipe"),
            (at("socket"), "a socket"),
            (folder.path().into(), "a folder"),
            ("/dev/null".into(), "a device"),
        ] {
            let error = open_plain(&path).unwrap_err();
            assert!(error.to_string().contains(what), "{}: {error}", path.display());
        }
        assert_eq!(open_plain(&at("absent")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    /// A program that checks first and opens afterwards follows the link now and then.
    #[test]
    fn a_link_that_is_swapped_in_is_never_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("secret"), "secret").unwrap();
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    std::os::unix::fs::symlink(at("secret"), at("next")).unwrap();
                    std::fs::rename(at("next"), at("file")).unwrap();
                    std::fs::write(at("next"), "harmless").unwrap();
                    std::fs::rename(at("next"), at("file")).unwrap();
                }
            });
            let read = |_| open_plain(&at("file")).and_then(io::read_to_string).unwrap_or_default();
            let followed = (0..5_000).map(read).filter(|text| text == "secret").count();
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(followed, 0);
        });
    }
}
