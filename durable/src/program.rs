//! Starts other programs, here alone. The working folder of an agent may contain anything, an `xdg-open` too: a program is
//! looked up in the absolute folders of the `PATH`, and gets no others to look up its own.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The command that runs `program`: an absolute path, or a name that the `PATH` has.
///
/// # Errors
/// When no absolute folder of the `PATH` has it, and for a relative path.
pub fn command(program: impl AsRef<OsStr>) -> Result<Command> {
    let program = Path::new(program.as_ref());
    let path = env::var_os("PATH");
    let found = match program.is_absolute() {
        true => program.to_owned(),
        false => find_program(program, path.as_deref().unwrap_or_default()).ok_or_else(|| {
            let why = format!("{} is in no folder of the PATH; relative ones do not count", program.display());
            Error::new(ErrorKind::NotFound, why)
        })?,
    };
    let mut command = Command::new(found);
    match path.map(|path| env::join_paths(absolute_folders(&path)).unwrap_or_default()) {
        Some(path) if !path.is_empty() => command.env("PATH", path),
        // An empty one is the working folder.
        _ => command.env_remove("PATH"),
    };
    Ok(command)
}

/// The way to start this program again.
#[derive(Debug, Clone, Default)]
pub struct ThisProgram {
    /// The file to run, as an absolute path.
    pub file: PathBuf,
    /// Words before its own arguments, where the file is an interpreter.
    pub before: Vec<String>,
    /// Folders of packages that were installed with it, if others know them than those beside the file.
    pub packages: Vec<PathBuf>,
}

static THIS: OnceLock<ThisProgram> = OnceLock::new();

impl ThisProgram {
    /// The program of this process: its own file, unless [`ThisProgram::declare`] has said otherwise.
    ///
    /// # Errors
    /// If the system does not say which file that is.
    pub fn find() -> Result<Self> {
        match THIS.get() {
            Some(this) => Ok(this.clone()),
            None => Ok(ThisProgram { file: env::current_exe()?, ..ThisProgram::default() }),
        }
    }

    /// Says what starts this process again, where its own file is only an interpreter. The first call counts.
    pub fn declare(this: ThisProgram) {
        let _said_already = THIS.set(this);
    }

    /// Whether it is a file of its own, and no interpreter runs it.
    pub fn is_own_file() -> bool {
        THIS.get().is_none()
    }

    /// The command that starts it, to which its arguments are added.
    ///
    /// # Errors
    /// As [`command()`].
    pub fn command(&self) -> Result<Command> {
        let mut command = command(&self.file)?;
        command.args(&self.before);
        Ok(command)
    }
}

/// The program of this name in the absolute folders of `path`. A name with a folder is found in none.
pub fn find_program(name: impl AsRef<OsStr>, path: &OsStr) -> Option<PathBuf> {
    let ends: &[&str] = if cfg!(windows) { &[".exe", ".cmd"] } else { &[""] };
    let name = name.as_ref();
    let mut parts = Path::new(name).components();
    let (Some(Component::Normal(only)), None) = (parts.next(), parts.next()) else { return None };
    if only != name {
        return None;
    }
    let with = |folder: PathBuf, end: &&str| {
        let mut name = name.to_owned();
        name.push(end);
        folder.join(name)
    };
    let mut paths = absolute_folders(path).flat_map(|folder| ends.iter().map(move |end| with(folder.clone(), end)));
    paths.find(|path| is_executable(path))
}

/// An empty or relative folder is the working folder, or within it.
fn absolute_folders(path: &OsStr) -> impl Iterator<Item = PathBuf> {
    env::split_paths(path).filter(|folder| folder.is_absolute())
}

/// Whether a file can be run.
pub fn is_executable(path: &Path) -> bool {
    let Ok(found) = fs::metadata(path) else { return false };
    #[cfg(unix)]
    let may = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may = true;
    found.is_file() && may
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Item 8: what stands in the working folder is not run, however the `PATH` leads there.
    #[test]
    fn item_8_a_program_is_found_in_absolute_folders_alone() {
        let here = env::current_dir().unwrap();
        // Below the working folder, so that a relative entry leads to it.
        let folder = tempfile::tempdir_in(&here).unwrap();
        let relative = folder.path().strip_prefix(&here).unwrap();
        let program = folder.path().join("xdg-open");
        fs::write(&program, "#!/bin/sh\n").unwrap();
        let find = |name: &str, path: &str| find_program(name, OsStr::new(path));
        let absolute = folder.path().display().to_string();
        assert_eq!(find("xdg-open", &absolute), None, "it cannot be run");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let relative = relative.display();
        for path in [format!("{relative}"), format!("./{relative}:."), String::new(), format!(":{relative}:")] {
            assert_eq!(find("xdg-open", &path), None, "{path}");
        }
        assert_eq!(find("xdg-open", &format!("{relative}:{absolute}")), Some(program.clone()));
        for name in ["./xdg-open", "../xdg-open", "a/xdg-open", "xdg-open/", "", ".", ".."] {
            assert_eq!(find(name, &absolute), None, "{name}");
        }
        assert!(command(relative.to_string() + "/xdg-open").is_err(), "a relative path");
        assert_eq!(command(&program).unwrap().get_program(), program);
    }

    #[test]
    fn this_program_is_its_file_until_another_is_named() {
        assert!(ThisProgram::is_own_file());
        assert_eq!(ThisProgram::find().unwrap().file, env::current_exe().unwrap());
        let named = |file: &str| ThisProgram { file: file.into(), before: vec!["-m".into()], packages: Vec::new() };
        ThisProgram::declare(named("/bin/sh"));
        ThisProgram::declare(named("/bin/ls"));
        assert!(!ThisProgram::is_own_file());
        let command = ThisProgram::find().unwrap().command().unwrap();
        assert_eq!(command.get_program(), "/bin/sh");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["-m"]);
    }

    #[test]
    fn a_program_gets_the_absolute_folders_alone() {
        let path = OsStr::new("bin:/usr/bin::.:/bin");
        assert_eq!(absolute_folders(path).collect::<Vec<_>>(), [Path::new("/usr/bin"), Path::new("/bin")]);
        let found = command("sh").unwrap();
        assert!(Path::new(found.get_program()).is_absolute());
        assert!(found.get_envs().any(|(name, value)| name == "PATH" && value.is_some()));
    }
}
