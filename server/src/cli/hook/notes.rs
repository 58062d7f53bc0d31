//! The notes of hooks in the store's folder: transcripts that are to be read, and when each client called last.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use memorist_clients::Client;
use memorist_durable::{PrivateFolder, ThisProgram};
use memorist_engine::paths::StorePaths;
use memorist_ingest::noted::{Noted, Taken};

use crate::args::Global;

#[cfg(not(unix))]
const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
#[cfg(not(unix))]
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// The notes of a store, by one client. A note that cannot be made is left out: hooks work in a store that can only be read,
/// too.
pub struct Notes {
    noted: Noted,
    folder: PathBuf,
    machines: PathBuf,
    client: Client,
}

impl Notes {
    /// The notes of the store in this folder.
    pub fn of(store: &Path, client: Client) -> Self {
        let paths = StorePaths::new(store);
        Notes { noted: Noted::of(store), folder: paths.hooks(), machines: paths.machines_lock(), client }
    }

    /// Notes a transcript that has changed, to be read later, if somebody has added the folder that it is in.
    pub fn transcript(&self, transcript: &Path) {
        let noted = match self.noted.is_wanted(transcript) {
            Ok(true) => PrivateFolder::create(&self.folder).and_then(|_| self.noted.note(transcript)),
            Ok(false) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        };
        if let Err(error) = noted {
            tracing::info!("a transcript is not noted: {error}");
        }
    }

    /// Notes that the client has called now, as the time of the file `called-CLIENT`.
    pub fn called(&self) {
        let call = || {
            let folder = PrivateFolder::create(&self.folder)?;
            let file = folder.path().join(format!("called-{}", self.client));
            let mut options = OpenOptions::new();
            options.append(true).create(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(file)?.set_modified(SystemTime::now())
        };
        if let Err(error) = call() {
            tracing::debug!("a call is not noted: {error}");
        }
    }

    /// Forgets the transcripts that are noted: nobody reads them.
    pub fn forget_transcripts(&self) {
        let is_any = self.noted.is_any().unwrap_or_default();
        if is_any && let Err(error) = self.noted.take().and_then(Taken::forget) {
            tracing::info!("noted transcripts are not forgotten: {error}");
        }
    }

    /// Has another process read the transcripts that are noted, and does not wait for it.
    pub fn read_transcripts(&self, global: &Global) {
        if self.noted.is_any().unwrap_or_default() {
            run(global, &["sync", "--queued", "--quiet"]);
        }
    }

    /// Has another process meet the other machines of the person, unless it was tried less than `every` ago.
    pub fn meet_machines(&self, global: &Global, every: Duration) {
        // It is there while any machine is remembered. A time to come is of a clock that was set back.
        let tried = self.machines.metadata().and_then(|found| found.modified());
        if !every.is_zero() && tried.is_ok_and(|tried| tried.elapsed().is_ok_and(|since| since >= every)) {
            run(global, &["sync-with", "--quiet"]);
        }
    }
}

/// Keeps stdout and stderr for this process: a client that reads them to their end would wait for the other one, too. Each is
/// closed once a copy that no child inherits has its place.
#[cfg(not(unix))]
fn keep_streams() {
    use filedescriptor::{FileDescriptor, StdioDescriptor};
    drop(FileDescriptor::redirect_stdio(&io::stdout(), StdioDescriptor::Stdout));
    drop(FileDescriptor::redirect_stdio(&io::stderr(), StdioDescriptor::Stderr));
}

/// Runs this program in another process, and does not wait for it.
fn run(global: &Global, arguments: &[&str]) {
    let Ok(mut command) = ThisProgram::find().and_then(|this| this.command()) else { return };
    command.args(arguments);
    // What the environment says is said to the other process, too, and may have a password.
    let store = global.store.clone().filter(|_| global.typed.contains(&"store"));
    for (option, path) in [("--store", &store), ("--config", &global.config), ("--cache", &global.cache)] {
        if let Some(path) = path {
            command.arg(option).arg(path);
        }
    }
    if let Some(model) = &global.model {
        command.arg("--model").arg(model);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A client that ends its hooks with all that they started does not end it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    // Nor does the end of the terminal, and no window opens.
    #[cfg(not(unix))]
    {
        std::os::windows::process::CommandExt::creation_flags(
            &mut command,
            CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW,
        );
        keep_streams();
    }
    if let Err(error) = command.spawn() {
        tracing::info!("{} is not started: {error}", arguments[0]);
    }
}
