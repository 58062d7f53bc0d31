//! Where clients keep their files on this platform.

use std::path::PathBuf;

use memorist_durable::find_program;
use memorist_sources::machine::Machine;

/// A file or a folder of a client.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// Below the home folder.
    Home(&'static str),
    /// A script below the home folder: on Windows one of PowerShell.
    Script(&'static str),
    /// Below the folder in a variable, else below one of the home folder.
    Variable(&'static str, &'static str, &'static str),
    /// Below the folder of settings: `XDG_CONFIG_HOME`, else `~/.config`, also on macOS.
    Config(&'static str),
    /// The first path as [`Place::Config`], and on Windows the second one below `%APPDATA%`.
    ConfigOr(&'static str, &'static str),
    /// Below the folder of settings of programs with windows: on macOS `~/Library/Application Support`, on Windows
    /// `%APPDATA%`, else as [`Place::Config`].
    Application(&'static str),
}

/// The conventions for paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux and other Unix systems.
    Linux,
    MacOs,
    Windows,
}

impl Platform {
    /// The platform of this process.
    pub const fn this() -> Self {
        if cfg!(windows) {
            Platform::Windows
        } else if cfg!(target_os = "macos") {
            Platform::MacOs
        } else {
            Platform::Linux
        }
    }
}

impl Place {
    pub fn path(self, machine: &Machine, platform: Platform) -> PathBuf {
        match self {
            Place::Home(path) => machine.home().join(path),
            Place::Script(path) if platform == Platform::Windows => machine.home().join(format!("{path}.ps1")),
            Place::Script(path) => machine.home().join(path),
            Place::Variable(variable, default, "") => machine.path(variable, default),
            Place::Variable(variable, default, path) => machine.path(variable, default).join(path),
            Place::Config(path) => match machine.path("XDG_CONFIG_HOME", ".config") {
                folder if folder.is_absolute() => folder.join(path),
                // The specification of these variables says so.
                _ => machine.home().join(".config").join(path),
            },
            Place::ConfigOr(_, path) if platform == Platform::Windows => {
                Place::Application(path).path(machine, platform)
            }
            Place::ConfigOr(path, _) => Place::Config(path).path(machine, platform),
            Place::Application(path) => match platform {
                Platform::Linux => Place::Config(path).path(machine, platform),
                Platform::MacOs => machine.home().join("Library/Application Support").join(path),
                Platform::Windows => machine.path("APPDATA", "AppData/Roaming").join(path),
            },
        }
    }
}

/// The program of this name on the `PATH`, whose relative entries count for nothing.
pub fn on_path(machine: &Machine, name: &str) -> Option<PathBuf> {
    find_program(name, machine.path("PATH", "").as_os_str())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn places_follow_the_variables_and_the_platform() {
        let plain = Machine::new("/home/ana", []);
        let path = |place: Place, platform| place.path(&plain, platform).display().to_string().replace('\\', "/");
        let claude = Place::Application("Claude/x.json");
        assert_eq!(path(claude, Platform::Linux), "/home/ana/.config/Claude/x.json");
        assert_eq!(path(claude, Platform::MacOs), "/home/ana/Library/Application Support/Claude/x.json");
        assert_eq!(path(claude, Platform::Windows), "/home/ana/AppData/Roaming/Claude/x.json");
        assert_eq!(path(Place::Config("zed/x"), Platform::MacOs), "/home/ana/.config/zed/x");
        let codex = Place::Variable("CODEX_HOME", ".codex", "config.toml");
        assert_eq!(path(codex, Platform::Linux), "/home/ana/.codex/config.toml");
        let absolute = if cfg!(windows) { "C:/x" } else { "/x" };
        let moved = Machine::new("/home/ana", [("CODEX_HOME", "/c"), ("XDG_CONFIG_HOME", absolute), ("PATH", "bin:.")]);
        assert_eq!(codex.path(&moved, Platform::Linux), Path::new("/c/config.toml"));
        assert_eq!(claude.path(&moved, Platform::Linux), Path::new(absolute).join("Claude/x.json"));
        let relative = Machine::new("/home/ana", [("XDG_CONFIG_HOME", "x")]);
        assert_eq!(Place::Config("zed").path(&relative, Platform::Linux), Path::new("/home/ana/.config/zed"));
        let goose = Place::ConfigOr("goose/x", "Block/goose/config/x");
        assert_eq!(path(goose, Platform::MacOs), "/home/ana/.config/goose/x");
        assert_eq!(path(goose, Platform::Windows), "/home/ana/AppData/Roaming/Block/goose/config/x");
        assert_eq!(on_path(&moved, "sh"), None, "a relative folder of the PATH depends on the working folder");
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_an_executable_file_of_the_path() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::new("/home/ana", [("PATH", folder.path().to_str().unwrap())]);
        let program = folder.path().join("claude");
        std::fs::write(&program, "").unwrap();
        assert_eq!(on_path(&machine, "claude"), None);
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(on_path(&machine, "claude"), Some(program));
    }
}
