//! The command that clients run: this program, with the options that every call of it needs.

use std::path::{Path, PathBuf};

use memorist_sources::machine::Machine;

use crate::Client;
use crate::place::{Platform, on_path};

/// The name of our server in every client.
pub const NAME: &str = "memorist";

/// This program, as clients run it.
#[derive(Debug, Clone)]
pub struct Program {
    /// Where it is: clients with windows do not have the `PATH` of a shell.
    pub path: PathBuf,
    /// Words before all others, where that is an interpreter: of Python, `-m memorist`.
    pub before: Vec<String>,
    /// Options of every command, such as `--store`.
    pub options: Vec<String>,
    /// Options of `serve`.
    pub serve: Vec<String>,
    /// The system whose shells and paths the clients have.
    pub platform: Platform,
}

impl Program {
    /// The path by which clients run the program `current`: that of the `PATH` if it leads to it, as that one stays when
    /// the program is updated.
    pub fn stable_path(machine: &Machine, current: &Path) -> PathBuf {
        let real = |path: &Path| path.canonicalize().ok();
        match on_path(machine, NAME) {
            Some(path) if real(&path).is_some() && real(&path) == real(current) => path,
            _ => current.to_owned(),
        }
    }

    /// The way to install this program, if it was started from a cache: `uvx` and `npx` have it there, and may remove it at
    /// any time.
    pub fn way_to_stay(&self) -> Option<&'static str> {
        let is_in = |cache: &str| {
            self.path.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(cache.as_bytes()))
        };
        // uv names it archive-v0; tools that stay are in another folder.
        let ways = [("archive-v", "uv tool install memorist"), ("_npx", "npm install --global memorist")];
        ways.into_iter().find(|(cache, _)| is_in(cache)).map(|(_, way)| way)
    }

    /// Its path as text.
    pub fn command(&self) -> String {
        self.path.display().to_string()
    }

    /// The arguments that start the server.
    pub fn arguments(&self) -> Vec<String> {
        let serve = self.before.iter().cloned().chain(["serve".to_owned()]);
        serve.chain(self.serve.iter().cloned()).chain(self.options.iter().cloned()).collect()
    }

    /// The words of a hook's command.
    pub fn hook(&self, client: Client, event: &str) -> Vec<String> {
        let hook = ["hook", client.name(), event].map(str::to_owned);
        let words = [self.command()].into_iter().chain(self.before.iter().cloned()).chain(hook);
        words.chain(self.options.iter().cloned()).collect()
    }

    /// The command of a hook, as a line for a shell: on Windows for PowerShell, cmd and Git Bash.
    pub fn hook_line(&self, client: Client, event: &str) -> String {
        let quoted = if self.platform == Platform::Windows { quoted_on_windows } else { quoted };
        self.hook(client, event).iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// A word for a shell: in quotes if it has a character that might mean something.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    match word.chars().all(is_plain) && !word.is_empty() {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A word for each shell of Windows. Git Bash drops a `\`, and all of them know `/`. PowerShell runs no line that begins with a
/// quote, so quotes begin behind the drive.
fn quoted_on_windows(word: &str) -> String {
    let word = word.replace('\\', "/");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:".contains(c);
    match word.chars().all(is_plain) && !word.is_empty() {
        true => word,
        false => {
            let drive = if word.get(1..3) == Some(":/") { 3 } else { 0 };
            format!("{}\"{}\"", &word[..drive], &word[drive..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(path: &str, options: &[&str], platform: Platform) -> Program {
        let options = options.iter().map(|&option| option.to_owned()).collect();
        Program { path: path.into(), before: vec![], options, serve: vec![], platform }
    }

    #[test]
    fn a_program_in_a_cache_is_to_be_installed() {
        let way = |path: &str| program(path, &[], Platform::Linux).way_to_stay();
        assert_eq!(way("/home/ana/.cache/uv/archive-v0/Xy12/bin/memorist"), Some("uv tool install memorist"));
        let npx = "/home/ana/.npm/_npx/0f3a/node_modules/@memorist/linux-x64/bin/memorist";
        assert_eq!(way(npx), Some("npm install --global memorist"));
        assert_eq!(way("/home/ana/.local/share/uv/tools/memorist/bin/memorist"), None);
        assert_eq!(way("/usr/lib/node_modules/memorist/node_modules/@memorist/linux-x64/bin/memorist"), None);
    }

    #[test]
    fn a_command_for_a_shell_has_quotes_where_they_are_needed() {
        let program = |path: &str| program(path, &["--store", "/a b"], Platform::Linux);
        assert_eq!(
            program("/opt/memorist").hook_line(Client::Codex, "start"),
            "/opt/memorist hook codex start --store '/a b'"
        );
        assert!(program("/o'k/$(x)").hook_line(Client::Codex, "stop").starts_with("'/o'\\''k/$(x)' hook"));
        assert_eq!(program("/m").arguments(), ["serve", "--store", "/a b"]);
        let before = ["-P", "-m", "memorist"].map(str::to_owned).to_vec();
        let module = Program { before, ..program("/bin/python3") };
        assert_eq!(module.arguments(), ["-P", "-m", "memorist", "serve", "--store", "/a b"]);
        assert_eq!(
            module.hook_line(Client::Codex, "stop"),
            "/bin/python3 -P -m memorist hook codex stop --store '/a b'"
        );
    }

    #[test]
    fn a_command_on_windows_runs_in_each_of_its_shells() {
        let line = |path: &str, option: &str| {
            program(path, &[option], Platform::Windows).hook_line(Client::Codex, "stop").replace(" hook codex stop", "")
        };
        assert_eq!(line(r"C:\bin\memorist.exe", r"D:\a\b"), "C:/bin/memorist.exe D:/a/b");
        assert_eq!(line(r"C:\a b\memorist.exe", r"D:\é"), "C:/\"a b/memorist.exe\" D:/\"é\"");
        assert_eq!(line(r"\\server\a\memorist.exe", "a,b"), "//server/a/memorist.exe \"a,b\"");
    }
}
