//! The token that HTTP clients must send: a given one, or a random one in the store's folder, so that users with access
//! to the store may use its server.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use memorist_durable::{NewFile, open_plain};
use memorist_engine::paths::StorePaths;

use crate::exit::Failure;
use crate::random;

/// Shorter ones can be guessed.
const SHORTEST: usize = 16;
/// Longest file that is read as a token.
const FILE_BYTES: u64 = 4096;
/// The environment variable of the token.
pub const VARIABLE: &str = "MEMORIST_TOKEN";

/// The token option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// This one.
    Given(Token),
    /// The store's own.
    Stored,
    /// No token is required.
    Disabled,
}

/// A secret. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Refuses a token that can be guessed, or cannot be sent in a header. `origin` names its source.
    fn new(text: &str, origin: &str) -> Result<Self, Failure> {
        let text = text.trim();
        if text.len() < SHORTEST {
            let why = format!("{origin}: a token has at least {SHORTEST} characters; this one has {}", text.len());
            return Err(Failure::input(why));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Failure::input(format!("{origin}: a token is of visible ASCII characters, without spaces")));
        }
        Ok(Token(text.to_owned()))
    }

    /// Compares in constant time.
    pub fn is(&self, given: &[u8]) -> bool {
        random::is_same(self.0.as_bytes(), given)
    }

    /// The token itself, for the settings of a client.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// An argument overrides the variable, which overrides the token of the store.
pub fn choose(
    typed: Option<&str>,
    file: Option<&Path>,
    none: bool,
    variable: Option<&OsStr>,
) -> Result<Choice, Failure> {
    if none {
        return Ok(Choice::Disabled);
    }
    if let Some(text) = typed {
        return Token::new(text, "--token").map(Choice::Given);
    }
    if let Some(path) = file {
        let text = read(path, open_at_once(path)).map_err(|error| {
            let way = "it must be a file of yours that nobody else can read (chmod 600)";
            Failure::input(format!("--token-file {}: {error}; {way}", path.display()))
        })?;
        return Token::new(&text, &path.display().to_string()).map(Choice::Given);
    }
    let variable = variable.map(|text| text.to_str().ok_or_else(|| Failure::input(format!("{VARIABLE} is not UTF-8"))));
    match variable.transpose()?.filter(|text| !text.trim().is_empty()) {
        Some(text) => Token::new(text, VARIABLE).map(Choice::Given),
        None => Ok(Choice::Stored),
    }
}

/// Opens a file for reading, also through a link, without waiting for the other end of a pipe.
fn open_at_once(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use nix::fcntl::OFlag;
        let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits());
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    Ok(file)
}

/// The token of the store in this folder, which exists. The first server that needs it creates it.
pub fn stored(store: &Path) -> Result<(Token, PathBuf), Failure> {
    let path = StorePaths::new(store).http_token();
    let failure = |error: io::Error| {
        let removal = if path.symlink_metadata().is_ok() { "remove that file, or " } else { "" };
        Failure::input(format!(
            "the token for HTTP cannot be kept in {}: {error}; {removal}name a token with --token-file or {VARIABLE}",
            path.display()
        ))
    };
    let text = match read(&path, open_plain(&path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Moved into place only if no other server was first: two servers that start together agree.
            let new = NewFile::beside(&path).map_err(failure)?;
            writeln!(new.file(), "{}", random::token()?).map_err(failure)?;
            match new.place().map_err(io::Error::from) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failure(error)),
                _ => read(&path, open_plain(&path)).map_err(failure)?,
            }
        }
        read => read.map_err(failure)?,
    };
    Ok((Token::new(&text, &path.display().to_string())?, path))
}

/// Reads a token, unless other users could have read or written it.
fn read(path: &Path, opened: io::Result<File>) -> io::Result<String> {
    let file = opened?;
    refuse_shared(&file)?;
    let mut text = String::new();
    file.take(FILE_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES {
        return Err(io::Error::other(format!("{} is longer than a token can be", path.display())));
    }
    Ok(text)
}

#[cfg(unix)]
fn refuse_shared(file: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    if metadata.uid() != nix::unistd::geteuid().as_raw() {
        return Err(io::Error::other(format!("it belongs to another user (uid {})", metadata.uid())));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!("others have access to it (mode {:o})", metadata.mode() & 0o777)));
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_shared(_file: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Kind;

    const LONG: &str = "a-token-of-25-characters.";

    fn refusal<T: fmt::Debug>(result: Result<T, Failure>) -> String {
        match result {
            Err(Failure::Error { kind: Kind::Input, message }) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_guessable_token_is_refused_from_every_origin() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        for short in ["", " ", "x", "fifteen-letters", "  fifteen-letters  "] {
            memorist_durable::replace(&file, short.as_bytes()).unwrap();
            for (origin, choice) in
                [("--token", choose(Some(short), None, false, None)), ("token", choose(None, Some(&file), false, None))]
            {
                let message = refusal(choice);
                assert!(message.contains("at least 16 characters") && message.contains(origin), "{message}");
            }
        }
        assert!(refusal(choose(None, None, false, Some("x".as_ref()))).contains("MEMORIST_TOKEN"));
        assert!(refusal(choose(Some("sixteen letters and spaces"), None, false, None)).contains("spaces"));
        assert_eq!(choose(Some(LONG), None, false, Some("x".as_ref())).unwrap(), Choice::Given(Token(LONG.into())));
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        for empty in [None, Some(""), Some(" ")] {
            assert_eq!(choose(None, None, false, empty.map(OsStr::new)).unwrap(), Choice::Stored);
        }
        assert_eq!(
            choose(None, None, true, Some(LONG.as_ref())).unwrap(),
            Choice::Disabled,
            "what is typed beats the variable"
        );
    }

    #[test]
    fn only_the_token_is_the_token() {
        let token = Token(LONG.into());
        assert!(token.is(LONG.as_bytes()));
        for other in ["", "a-token", "a-token-of-25-characters..", "A-token-of-25-characters."] {
            assert!(!token.is(other.as_bytes()), "{other}");
        }
        assert!(!format!("{token:?}").contains(LONG));
    }

    #[cfg(unix)]
    mod on_unix {
        use std::fs;
        use std::os::unix::fs::{PermissionsExt, symlink};

        use super::*;

        fn write(path: &Path, mode: u32) {
            fs::write(path, LONG).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }

        #[test]
        fn a_token_file_that_others_can_read_is_refused() {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("token");
            for mode in [0o644, 0o640, 0o604, 0o620, 0o606] {
                write(&file, mode);
                let message = refusal(choose(None, Some(&file), false, None));
                assert!(message.contains("chmod 600") && message.contains(&format!("{mode:o}")), "{message}");
            }
            for mode in [0o600, 0o400] {
                fs::remove_file(&file).unwrap();
                write(&file, mode);
                assert_eq!(choose(None, Some(&file), false, None).unwrap(), Choice::Given(Token(LONG.into())));
            }
            refusal(choose(None, Some(folder.path()), false, None));
            refusal(choose(None, Some(&folder.path().join("none")), false, None));
            fs::remove_file(&file).unwrap();
            write(&file, 0o600);
            fs::write(&file, "x".repeat(5000)).unwrap();
            assert!(refusal(choose(None, Some(&file), false, None)).contains("longer"));
        }

        #[test]
        fn a_token_file_may_be_a_link_but_not_a_pipe() {
            let folder = tempfile::tempdir().unwrap();
            let (pipe, file, link) =
                (folder.path().join("pipe"), folder.path().join("file"), folder.path().join("link"));
            let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&pipe).status().unwrap();
            assert!(made.success());
            assert!(refusal(choose(None, Some(&pipe), false, None)).contains("not a plain file"));
            write(&file, 0o600);
            symlink(&file, &link).unwrap();
            assert_eq!(choose(None, Some(&link), false, None).unwrap(), Choice::Given(Token(LONG.into())));
        }

        #[test]
        fn a_variable_that_is_not_utf8_is_refused() {
            let variable: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"sixteen-letters-\xFF\xFE");
            assert!(refusal(choose(None, None, false, Some(variable))).contains("MEMORIST_TOKEN is not UTF-8"));
            assert_eq!(choose(None, None, true, Some(variable)).unwrap(), Choice::Disabled);
        }

        #[test]
        fn the_error_suggests_removing_an_existing_file() {
            let folder = tempfile::tempdir().unwrap();
            let said = refusal(stored(&folder.path().join("absent")));
            assert!(said.contains("--token-file") && !said.contains("remove"), "{said}");
            write(&StorePaths::new(folder.path()).http_token(), 0o644);
            assert!(refusal(stored(folder.path())).contains("remove that file"));
        }

        #[test]
        fn the_kept_token_is_made_once_private_and_random() {
            let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let (token, path) = stored(one.path()).unwrap();
            assert_eq!(stored(one.path()).unwrap().0, token);
            assert_ne!(stored(other.path()).unwrap().0, token);
            assert_eq!(token.0.len(), 64, "256 bits");
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(fs::read_dir(one.path()).unwrap().count(), 1, "nothing is left beside it");
        }

        #[test]
        fn servers_that_start_together_agree_on_the_token() {
            for _ in 0..20 {
                let folder = tempfile::tempdir().unwrap();
                let tokens: Vec<Token> = std::thread::scope(|scope| {
                    let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| stored(folder.path()).unwrap().0)).collect();
                    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
                });
                assert!(tokens.windows(2).all(|pair| pair[0] == pair[1]));
            }
        }

        #[test]
        fn a_kept_token_that_somebody_else_could_have_made_is_refused() {
            let folder = tempfile::tempdir().unwrap();
            let path = StorePaths::new(folder.path()).http_token();
            let elsewhere = folder.path().join("elsewhere");
            write(&elsewhere, 0o600);
            symlink(&elsewhere, &path).unwrap();
            assert!(refusal(stored(folder.path())).contains("--token-file"));
            fs::remove_file(&elsewhere).unwrap();
            refusal(stored(folder.path()));
            assert!(!elsewhere.exists(), "nothing is made through a link");
            fs::remove_file(&path).unwrap();
            write(&path, 0o644);
            refusal(stored(folder.path()));
            fs::remove_file(&path).unwrap();
            fs::create_dir(&path).unwrap();
            refusal(stored(folder.path()));
        }
    }
}
