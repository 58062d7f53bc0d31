//! Whether Codex runs our hooks: it skips those that no person has trusted. Its own server says which are, to whoever asks on
//! its stdin (Codex 0.169, November 2026); the hash that it keeps of a trusted hook is nobody else's to write.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longest wait for an answer. It takes half a second.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The number of the question.
const QUESTION: u32 = 2;

/// Whether all hooks of this file that run memorist are trusted; `None` if nobody knows.
pub fn hooks_are_trusted(codex: &Path, hooks: &Path) -> Option<bool> {
    let answer = ask(codex)?;
    let real = |path: &Path| path.canonicalize().ok();
    let lists = answer["result"]["data"].as_array()?.iter().filter_map(|list| list["hooks"].as_array());
    let is_ours = |hook: &&Value| {
        let path = hook["sourcePath"].as_str().map(Path::new);
        let command = hook["command"].as_str().unwrap_or_default();
        path.is_some_and(|path| real(path) == real(hooks)) && command.contains(" hook codex ")
    };
    let mut ours = lists.flatten().filter(is_ours).peekable();
    ours.peek()?;
    Some(ours.all(|hook| hook["trustStatus"] == "trusted"))
}

fn ask(codex: &Path) -> Option<Value> {
    let mut command = memorist_durable::command(codex).ok()?;
    command.arg("app-server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let answer = (|| {
        let client = json!({ "name": "memorist", "title": "memorist", "version": env!("CARGO_PKG_VERSION") });
        let said = [
            json!({ "id": 1, "method": "initialize", "params": { "clientInfo": client } }),
            json!({ "method": "initialized" }),
            json!({ "id": QUESTION, "method": "hooks/list", "params": { "cwds": [std::env::current_dir().ok()?] } }),
        ];
        let mut stdin = child.stdin.take()?;
        let lines: String = said.iter().map(|message| format!("{message}\n")).collect();
        stdin.write_all(lines.as_bytes()).ok()?;
        let stdout = BufReader::new(child.stdout.take()?);
        let (send, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let until = Instant::now() + TIMEOUT;
        loop {
            let line = answers.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
            match serde_json::from_str::<Value>(&line) {
                Ok(message) if message["id"] == QUESTION => return Some(message),
                _ => {}
            }
        }
    })();
    let _ = child.kill().and_then(|()| child.wait());
    answer
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A program that answers as Codex does.
    fn codex(folder: &Path, answers: &str) -> std::path::PathBuf {
        let path = folder.join("codex");
        fs::write(&path, format!("#!/bin/sh\nread a\necho '{{\"id\":1}}'\nread b\nread c\n{answers}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn codex_says_what_is_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let hooks = folder.path().join("hooks.json");
        fs::write(&hooks, "{}").unwrap();
        let answer = |states: [&str; 3]| {
            let [ours, other, elsewhere] = states;
            let hook = |command: &str, path: &Path, state: &str| json!({ "command": command, "sourcePath": path, "trustStatus": state });
            let all = json!([
                hook("/m hook codex start", &hooks, ours),
                hook("/m hook codex stop", &hooks, "trusted"),
                hook("other", &hooks, other),
                hook("/m hook codex stop", Path::new("/elsewhere"), elsewhere),
            ]);
            let line = json!({ "id": 2, "result": { "data": [{ "hooks": all }] } });
            hooks_are_trusted(&codex(folder.path(), &format!("echo '{line}'")), &hooks)
        };
        assert_eq!(answer(["trusted", "untrusted", "untrusted"]), Some(true));
        assert_eq!(answer(["untrusted", "trusted", "trusted"]), Some(false));
        assert_eq!(answer(["modified", "trusted", "trusted"]), Some(false));
        for none in ["exit 1", "echo nonsense", "echo '{\"id\":2,\"error\":{}}'"] {
            assert_eq!(hooks_are_trusted(&codex(folder.path(), none), &hooks), None, "{none}");
        }
        assert_eq!(hooks_are_trusted(Path::new("/no/codex"), &hooks), None);
    }
}
