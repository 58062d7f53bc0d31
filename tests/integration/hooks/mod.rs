//! `memorist hook`, as clients run it.
//!
//! | file | what it tests |
//! |---|---|
//! | `answers.rs` | the answer to each client, and when nothing is said |
//! | `actions.rs` | what an agent is given before it acts and after a failure |
//! | `trouble.rs` | whatever is wrong: it ends with 0 and in time, with all of an answer or nothing |
//! | `server.rs` | a running server answers; a killed, stopped or strange one stops nobody |
//! | `transcripts.rs` | transcripts are noted, and read at the next start, if somebody has added them; what a short question continues |

mod actions;
mod answers;
mod server;
mod transcripts;
mod trouble;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{memorist, text};

/// The deadline of a hook, and what a machine that is busy with other tests takes to start and to end a process.
const IN_TIME: Duration = Duration::from_millis(300 + 900);
/// The memory that answers `QUESTION`.
const FACT: &str = "The staging database password rotation happens every Thursday at the harbour office";
const QUESTION: &str = "when is the staging database rotation?";
/// No answer is longer.
const MOST_BYTES: usize = 2_048;

/// A store with memories of the project `atlas`, and a folder of that project.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("work/atlas")).unwrap();
        let world = World { folder };
        let others = (0..60)
            .map(|at| ("fact", format!("Keeper {at} of the lighthouse reports fog and paints boat {at} at noon")));
        world.save(
            [("decision", FACT.to_owned()), ("task", "Mend the gangway lamp".to_owned())].into_iter().chain(others),
        );
        world
    }

    /// Saves memories of the project, in a process of its own: tests that fork share its locks.
    fn save(&self, memories: impl IntoIterator<Item = (&'static str, String)>) {
        let line = |(kind, text)| {
            json!({ "entryType": kind, "content": text, "importance": 8, "project": "atlas" }).to_string() + "\n"
        };
        let file = self.folder.path().join("memories.jsonl");
        std::fs::write(&file, memories.into_iter().map(line).collect::<String>()).unwrap();
        let output = self.command(&["import", file.to_str().unwrap()]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("work/atlas")
    }

    fn settings(&self, text: &str) {
        std::fs::write(self.store().join("memorist.toml"), text).unwrap();
    }

    /// The input of Claude Code when this was typed in a session.
    fn prompt(&self, session: &str, message: &str) -> Value {
        json!({ "session_id": session, "cwd": self.project(), "hook_event_name": "UserPromptSubmit", "prompt": message })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = memorist(&self.store(), arguments);
        command.current_dir(self.folder.path());
        command
    }

    fn hook(&self, client: &str, event: &str, input: &Value) -> Ran {
        Ran::of(self.command(&["hook", client, event]), input.to_string().into_bytes())
    }

    /// Asks `QUESTION` in a new session.
    fn recalled(&self) -> Ran {
        let session = format!("{:?}", Instant::now());
        self.hook("codex", "prompt", &self.prompt(&session, QUESTION))
    }
}

/// A hook that has ended.
#[derive(Debug)]
struct Ran {
    out: String,
    said: String,
    took: Duration,
}

impl Ran {
    /// Runs a hook with this on stdin, which is closed. It must end with 0 and in time, with a whole answer or nothing.
    fn of(mut command: Command, input: Vec<u8>) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A hook that does not read must not block the test.
        thread::spawn(move || stdin.write_all(&input));
        Ran::ended(child, started)
    }

    fn ended(child: Child, started: Instant) -> Self {
        let (tell, ended) = mpsc::channel();
        let process = child.id();
        thread::spawn(move || tell.send(child.wait_with_output().unwrap()));
        let output = ended.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|_| {
            crate::process::signal("KILL", process);
            panic!("the hook does not end");
        });
        let took = started.elapsed();
        let ran = Ran { out: text(&output.stdout).to_owned(), said: text(&output.stderr).to_owned(), took };
        assert_eq!(output.status.code(), Some(0), "{ran:?}");
        assert!(took < IN_TIME && ran.out.len() <= MOST_BYTES, "{ran:?}");
        ran
    }

    fn is_silent(&self) -> bool {
        self.out.is_empty()
    }

    fn has_fact(&self) -> bool {
        self.out.contains(FACT)
    }
}

/// Today, as memories show a date.
fn today() -> String {
    let output = Command::new("date").arg("+%Y-%m-%d %a").env("LC_ALL", "C").output().unwrap();
    text(&output.stdout).trim().to_owned()
}
