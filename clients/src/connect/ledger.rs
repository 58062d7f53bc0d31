//! The ledger records what was written where, so that exactly this can be undone.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use memorist_durable::{LockedFile, NewFile, PrivateFolder, folder_of, replace, sweep, sweep_locked};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::trouble::Error;
use crate::Client;
use crate::format::{Entry, Format};
use crate::profile::Role;

const LEDGER: &str = "ledger.json";
const LOCK: &str = "lock";
const BACKUPS: &str = "backups";
const VERSION: u32 = 1;

/// A record of what was written into one file. It is made before the file is written, so that nothing is forgotten.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The client that the file belongs to.
    pub client: Client,
    /// The purpose of our part.
    pub role: Role,
    /// The path of the file, without links.
    pub path: PathBuf,
    /// Our part.
    pub written: Written,
    /// Whether there was no such file.
    pub created: bool,
    /// The folders that were made for it, the outermost first.
    pub folders: Vec<PathBuf>,
    /// A copy of the file without our part.
    pub base: Option<Base>,
    /// The SHA-256 of the file with our part; empty if the client's own command writes it.
    pub after: String,
    /// Whether the client's own command wrote it.
    pub by_command: bool,
    /// The record that is being replaced, until the file is written: after a kill in between, the file may be as either says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Box<Record>>,
}

impl Record {
    /// The record and those that it was to replace: the file may be as any of them says.
    pub fn versions(&self) -> impl Iterator<Item = &Record> {
        std::iter::successors(Some(self), |record| record.previous.as_deref())
    }
}

/// A part that was written into a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    /// Entries among others.
    Entries {
        /// The language of the file.
        format: Format,
        /// Our entries.
        entries: Vec<Entry>,
        /// The objects and lists that were made around them: removed if nothing else is in them.
        made: Vec<Entry>,
        /// Entries that the client requires of the file: they stay as long as the file.
        frame: Vec<Entry>,
    },
    /// The whole file.
    File,
    /// A paragraph.
    Block(String),
}

/// A copy of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Base {
    /// Its name in the folder of copies.
    pub name: String,
    /// Its SHA-256.
    pub sha256: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Document {
    version: u32,
    records: Vec<Record>,
}

/// The records, in a folder of this user's own.
#[derive(Debug)]
pub struct Ledger {
    folder: PathBuf,
    records: Vec<Record>,
    /// The lock that is held while the ledger may be changed.
    lock: Option<LockedFile>,
}

impl Ledger {
    /// Opens the ledger read-only.
    ///
    /// # Errors
    /// [`Error::Ledger`].
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(LEDGER);
        let unreadable = |why: String| Error::Ledger { path: path.clone(), why };
        let records = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(unreadable(error.to_string())),
            Ok(text) => {
                let document: Document = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
                if document.version != VERSION {
                    return Err(unreadable("a newer version wrote it".to_owned()));
                }
                document.records
            }
        };
        Ok(Ledger { folder: folder.to_owned(), records, lock: None })
    }

    /// Opens the ledger for changes, which one process at a time can do.
    ///
    /// # Errors
    /// All variants of [`Error`].
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let failed = |error| Error::Io { path: folder.to_owned(), error };
        let private = PrivateFolder::create(folder).map_err(failed)?;
        let lock = File::options().create(true).truncate(false).write(true).open(private.path().join(LOCK));
        let lock = LockedFile::try_lock(lock.map_err(failed)?).map_err(failed)?.ok_or(Error::Busy)?;
        let ledger = Ledger { lock: Some(lock), ..Ledger::read(private.path())? };
        ledger.sweep();
        Ok(ledger)
    }

    /// Removes the copies that killed processes left: a file is recorded before one is made beside it, and the lock says that
    /// nobody is making one.
    fn sweep(&self) {
        [self.folder.clone(), self.folder.join(BACKUPS)].iter().for_each(|folder| sweep(folder, Duration::ZERO));
        self.records.iter().for_each(|record| sweep_locked(folder_of(&record.path)));
    }

    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The record of the file at `path`.
    pub fn record(&self, path: &Path) -> Option<&Record> {
        self.records.iter().find(|record| record.path == path)
    }

    /// Replaces the record of a file, durably.
    pub fn set(&mut self, path: &Path, record: Option<Record>) -> io::Result<()> {
        let mut records = self.records.clone();
        records.retain(|record| record.path != path);
        records.extend(record);
        let document = Document { version: VERSION, records };
        let file = self.folder.join(LEDGER);
        if self.lock.is_none() {
            return Err(io::Error::other("the record is open for reading alone"));
        }
        match document.records.is_empty() {
            true => match fs::remove_file(&file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            },
            false => replace(&file, &serde_json::to_vec_pretty(&document)?)?,
        }
        self.records = document.records;
        Ok(())
    }

    /// Keeps a copy of a file, with the date in its name.
    pub fn keep(&self, client: Client, path: &Path, content: &[u8]) -> io::Result<Base> {
        let folder = PrivateFolder::create(&self.folder.join(BACKUPS))?;
        let now = jiff::Zoned::now().strftime("%Y-%m-%dT%H-%M-%S").to_string();
        let of = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for number in 1..1_000 {
            let name = format!("{client}-{now}-{number}-{of}");
            let new = NewFile::beside(&folder.path().join(&name))?;
            new.file().write_all(content)?;
            match new.place().map_err(io::Error::from) {
                Ok(_) => return Ok(Base { name, sha256: sha256(content) }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("too many copies of one second"))
    }

    /// The content of a copy, if it is there and as it was.
    pub fn kept(&self, base: &Base) -> Option<Vec<u8>> {
        let content = fs::read(self.folder.join(BACKUPS).join(&base.name)).ok()?;
        (sha256(&content) == base.sha256).then_some(content)
    }

    /// Removes a copy that is no longer needed. One that stays is only untidy.
    pub fn forget(&self, base: &Base) {
        let _ = fs::remove_file(self.folder.join(BACKUPS).join(&base.name));
        let _ = fs::remove_dir(self.folder.join(BACKUPS));
    }
}

/// The SHA-256 of some bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
