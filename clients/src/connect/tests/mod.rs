//! A made home of all clients.
//!
//! | file | what |
//! |---|---|
//! | `whole.rs` | connecting and disconnecting give every file back |
//! | `commands.rs` | a client whose own command registers the server |
//! | `others.rs` | what others have written since, and before |
//! | `refusing.rs` | files that are left as they are |
//! | `attacked.rs` | copies that a killed process leaves, and many blank lines |

mod attacked;
#[cfg(unix)]
mod commands;
mod others;
mod refusing;
mod whole;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use memorist_sources::machine::Machine;
use tempfile::TempDir;

use super::*;
use crate::Client;
use crate::place::Platform;
use crate::program::Program;

/// A home folder, and the program that is registered.
struct Home {
    above: TempDir,
    machine: Machine,
    program: Program,
}

/// A file of settings for each client, as people have it: comments, odd indentation, other servers, line ends of Windows, a
/// byte order mark, no last line end.
const SETTINGS: [(&str, &str); 18] = [
    (
        ".claude.json",
        "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  }\n}",
    ),
    (
        ".claude/settings.json",
        "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}],\n        \"Other\": null\n    }\n}\n",
    ),
    (
        ".config/Claude/claude_desktop_config.json",
        "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"env\":{\"TOKEN\":\"theirs\"}}},\"scale\":0}",
    ),
    (
        ".codex/config.toml",
        "# mine\nmodel = \"gpt-x\"   # the big one\n\n[mcp_servers.other]\ncommand = 'x'\nargs = [ 'a',\n  'b' ]\n\n[projects.\"/p\"]\ntrust_level = \"trusted\"",
    ),
    (".codex/hooks.json", "{\"hooks\": null}"),
    (".gemini/settings.json", "{\r\n\t// theirs\r\n\t\"theme\": \"x\",\r\n\t\"mcpServers\": {},\r\n}\r\n"),
    (
        ".cursor/mcp.json",
        "\u{feff}{\n \"mcpServers\": {\n  \"a\": {\"url\": \"http://a\"},\n  \"b\": {\"command\": \"b\"}\n }\n}\n",
    ),
    (".cursor/hooks.json", "{ \"version\": 1, \"hooks\": { \"stop\": [ { \"command\": \"./x.sh\" } ] } }\n"),
    (
        ".config/Code/User/mcp.json",
        "{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"a\": { \"type\": \"http\", \"url\": \"http://a\" }, // c\n\t}\n}\n",
    ),
    (".codeium/windsurf/mcp_config.json", "{}"),
    (".codeium/windsurf/memories/global_rules.md", "# Rules\r\n\r\nBe brief.\r\n"),
    (
        ".config/zed/settings.json",
        "// Zed settings\n//\n{\n  \"theme\": \"One\", /* c */\n  \"lsp\": { \"a\": { \"b\": [1, 2, 3,] } },\n}\n",
    ),
    (".config/opencode/opencode.jsonc", "{\n  \"$schema\": \"x\",\n  // \"mcp\": {}\n}"),
    (
        ".config/goose/config.yaml",
        "# mine\nextensions:\n    developer:\n        enabled: true   # yes\n        type: builtin\nGOOSE_MODEL: x",
    ),
    (".continue/config.yaml", "name: Mine\nversion: 0.0.1\nschema: v1\nmodels:\n  - name: a\n    provider: ollama\n"),
    (".cline/data/settings/cline_mcp_settings.json", "{\n  \"mcpServers\": {\n  }\n}\n"),
    (".lmstudio/mcp.json", "{\n  \"mcpServers\": {}\n}"),
    (".openclaw/openclaw.json", "// gateway\n{\n  gateway: { port: 0x1F, bind: 'loopback', },\n  channels: {},\n}\n"),
];

impl Home {
    /// One where nothing is installed.
    fn new() -> Self {
        let above = tempfile::tempdir().unwrap();
        let home = above.path().canonicalize().unwrap().join("home");
        fs::create_dir(&home).unwrap();
        let path = "/opt/a b/memorist".into();
        let program = Program { path, before: vec![], options: vec![], serve: vec![], platform: Platform::Linux };
        Home { machine: Machine::new(&home, [("PATH", home.join("bin").to_str().unwrap())]), above, program }
    }

    /// One where every client has settings.
    fn full() -> Self {
        let home = Home::new();
        for (path, text) in SETTINGS {
            home.write(path, text);
        }
        fs::create_dir(home.path(".copilot")).unwrap();
        home
    }

    fn path(&self, path: &str) -> PathBuf {
        self.machine.home().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn ledger(&self) -> PathBuf {
        self.above.path().join("ours")
    }

    fn around(&self) -> Environment<'_> {
        Environment { machine: &self.machine, program: &self.program, connecting: &[] }
    }

    /// The ledger. A program that another test starts has its lock, too, until it runs.
    fn open(&self) -> Ledger {
        loop {
            match Ledger::open(&self.ledger()) {
                Err(Error::Busy) => std::thread::yield_now(),
                opened => return opened.unwrap(),
            }
        }
    }

    /// Connects, and returns what was left as it is and why.
    fn connect(&self, client: Client) -> (Vec<Step>, Vec<(PathBuf, Trouble)>) {
        let mut ledger = self.open();
        let mut plan = connect(client, true, &ledger, &self.around());
        (apply(&mut plan, &mut ledger), plan.troubles)
    }

    fn disconnect(&self, client: Client) -> (Vec<Step>, Vec<(PathBuf, Trouble)>) {
        let mut ledger = self.open();
        let mut plan = disconnect(client, &ledger, &self.around());
        (apply(&mut plan, &mut ledger), plan.troubles)
    }

    /// Connects, which must work.
    fn connected(&self, client: Client) {
        let (done, troubles) = self.connect(client);
        assert!(troubles.is_empty() && !done.is_empty(), "{client}: {troubles:?}");
    }

    /// Disconnects, which must work.
    fn disconnected(&self, client: Client) {
        let (done, troubles) = self.disconnect(client);
        assert!(troubles.is_empty() && !done.is_empty(), "{client}: {troubles:?}");
    }

    /// Every file and folder of the home folder, with its content and its mode.
    fn all(&self) -> BTreeMap<PathBuf, (Option<Vec<u8>>, u32)> {
        all_below(self.machine.home())
    }
}

fn all_below(folder: &Path) -> BTreeMap<PathBuf, (Option<Vec<u8>>, u32)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let found = entry.metadata().unwrap();
            #[cfg(unix)]
            let mode = std::os::unix::fs::PermissionsExt::mode(&found.permissions());
            #[cfg(not(unix))]
            let mode = 0;
            let content = match found.is_dir() {
                true => {
                    folders.push(entry.path());
                    None
                }
                false if found.is_symlink() => {
                    Some(entry.path().read_link().unwrap().into_os_string().into_encoded_bytes())
                }
                false => Some(fs::read(entry.path()).unwrap()),
            };
            all.insert(entry.path(), (content, mode));
        }
    }
    all
}
