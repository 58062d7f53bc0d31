//! Where the programs are, and as which user they run.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use nix::unistd::{User, geteuid};

/// Where Debian and its kin install the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// A folder with fewer of them, such as one of links, is not meant.
const NEEDED: [&str; 3] = ["initdb", "postgres", "pg_basebackup"];

/// The folder of the server's programs.
pub(crate) fn server() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let named = std::env::var_os("MEMORIST_TEST_POSTGRES_BIN").filter(|folder| !folder.is_empty());
        let folders = named.map_or_else(usual, |folder| vec![PathBuf::from(folder)]);
        folders.into_iter().find(|folder| NEEDED.iter().all(|program| folder.join(program).is_file()))
    });
    found.as_deref()
}

/// Where pgbouncer is: mostly in a folder that is in the path of root only.
pub(crate) fn pgbouncer() -> Option<PathBuf> {
    let folders = path().into_iter().chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join("pgbouncer")).find(|program| program.is_file())
}

/// The path, then the newest version.
fn usual() -> Vec<PathBuf> {
    let mut versions: Vec<_> = std::fs::read_dir(VERSIONS)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort_unstable_by(|one, other| other.cmp(one));
    path().into_iter().chain(versions.into_iter().map(|(_, folder)| folder)).collect()
}

fn path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map_or_else(Vec::new, |path| std::env::split_paths(&path).collect())
}

/// Whether a program is there for a test. If not, says by name which test is left out.
pub(crate) fn is_present(test: &str, is_there: bool, what: &str) -> bool {
    if !is_there {
        let required = std::env::var_os("MEMORIST_REQUIRE_POSTGRES").is_some_and(|value| !value.is_empty());
        assert!(!required, "{test} needs {what}, which is not installed here");
        // Not `eprintln!`, which the test harness keeps to itself. Nobody is left to hear of a failure.
        _ = writeln!(std::io::stderr(), "LEFT OUT: {test} needs {what}, which is not installed here");
    }
    is_there
}

/// A user without rights, where this process has all: PostgreSQL refuses to run as root.
pub(crate) fn unprivileged() -> Option<&'static User> {
    static FOUND: OnceLock<Option<User>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        geteuid().is_root().then(|| {
            let users = ["postgres", "nobody"].into_iter().filter_map(|name| User::from_name(name).ok().flatten());
            users.into_iter().next().expect("a user postgres or nobody, as whom PostgreSQL can run")
        })
    });
    found.as_ref()
}

/// A command as that user, which has nothing of this process but the path.
pub(crate) fn command(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs([("LC_ALL", "C"), ("TZ", "UTC")]).current_dir(folder).stdin(Stdio::null());
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    // What a terminal or a test runner signals to its group is not for these.
    command.process_group(0);
    if let Some(user) = unprivileged() {
        command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    }
    command
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_owned();
    let output = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{} {}: {}", program.display(), output.status, String::from_utf8_lossy(&output.stderr).trim()))
}
