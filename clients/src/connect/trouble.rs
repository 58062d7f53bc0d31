//! Why something was left as it is, and the way out.

use std::io;
use std::path::PathBuf;

use crate::format::{MAX_BYTES, Refused};

/// Why a file was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// It cannot be opened, or is no plain file.
    #[error("it cannot be read: {0}")]
    Read(String),
    /// It is not UTF-8.
    #[error("it is not UTF-8 text")]
    NotText,
    /// It is larger than a file of settings.
    #[error("it has more than {} MB", MAX_BYTES >> 20)]
    TooLarge,
    /// Another user owns it, or can change it.
    #[error("{0}")]
    Foreign(String),
    /// Its content stands in the way.
    #[error("{0}")]
    Content(#[from] Refused),
    /// Something else has our name.
    #[error("`{0}` is there already, and is not ours: it runs something else")]
    Taken(String),
    /// There is a file of this name already.
    #[error("there is a file of this name already, which is not ours")]
    FileTaken,
    /// The client would no longer read another file.
    #[error("if it were made, {} would no longer be read", .0.display())]
    Hides(PathBuf),
    /// A person has changed what we wrote.
    #[error("`{0}` was changed by hand since, and is kept")]
    Edited(String),
    /// Somebody wrote it since it was read.
    #[error("it was changed meanwhile")]
    ChangedMeanwhile,
    /// It cannot be written.
    #[error("it cannot be written: {0}")]
    Write(String),
    /// The client's own command failed.
    #[error("{0}")]
    Command(String),
}

impl Trouble {
    pub(super) fn read(error: &io::Error) -> Self {
        Trouble::Read(error.to_string())
    }

    pub(super) fn write(error: &io::Error) -> Self {
        Trouble::Write(error.to_string())
    }

    /// The way out: what a person can do.
    pub fn way_out(&self) -> &'static str {
        match self {
            Trouble::Read(_) | Trouble::Write(_) => {
                "make it readable and writable for this user, and run the command again"
            }
            Trouble::NotText | Trouble::TooLarge | Trouble::Content(Refused::Unreadable(_)) => {
                "mend the file, or move it away, and run the command again"
            }
            Trouble::Foreign(_) => "run the command as the user whose file it is, who alone may change it",
            Trouble::Content(Refused::InTheWay(_)) => "change that in the file, and run the command again",
            Trouble::Content(Refused::Unsafe) => "edit the file by hand: docs/src/agents.md has the entry",
            Trouble::Taken(_) => "rename or remove that entry, and run the command again",
            Trouble::FileTaken => "move that file away, and run the command again",
            Trouble::Hides(_) => "move its settings to the new file, as its vendor says, and run the command again",
            Trouble::Edited(_) => "remove it by hand if it is no longer wanted",
            Trouble::ChangedMeanwhile => "run the command again",
            Trouble::Command(_) => "run that command by hand to see why",
        }
    }
}

/// Why nothing could be done at all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process connects or disconnects.
    #[error("another `memorist connect` or `disconnect` is running; try again when it is done")]
    Busy,
    /// The ledger cannot be read.
    #[error("{}: the record of what was written cannot be read ({why}); put it back, or move it away: then nothing that was written before can be undone by `disconnect`", path.display())]
    Ledger {
        path: PathBuf,
        /// The reason why it cannot be read.
        why: String,
    },
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The path of the file or folder.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}
