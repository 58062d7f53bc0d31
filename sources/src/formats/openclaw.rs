//! OpenClaw: `~/.openclaw/agents/<agent>/sessions/<id>.jsonl` until 2026.7, and `agent/openclaw-agent.sqlite` since. pi, on
//! which it is built: `~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl`.
//!
//! Both have the same events. An event is identified by its own identifier and time, so the remaining events of the older files,
//! and those that a fork copies, are the same turns. `.jsonl.reset.<time>` and `.jsonl.deleted.<time>` are history, too.

use std::path::{Path, PathBuf};

use self::event::{OpenClawSession, take};
use super::jsonl::Lines;
use super::records::{for_each_line, read_compressed};
use super::{Batch, Cursor, Format, ReadError};
use crate::foreign::Foreign;
use crate::machine::Machine;

mod database;
mod event;
mod wrappers;

/// Reads transcripts of OpenClaw.
pub struct OpenClaw;

/// The file name of an agent's database.
const DATABASE: &str = "openclaw-agent.sqlite";
/// Texts between a session and a time in the file names of its history.
const HISTORY: [&str; 2] = [".jsonl.reset.", ".jsonl.deleted."];

impl Format for OpenClaw {
    fn name(&self) -> &'static str {
        "openclaw"
    }

    fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        let of_pi = machine.path("PI_CODING_AGENT_DIR", ".pi/agent").join("sessions");
        vec![machine.path("OPENCLAW_STATE_DIR", ".openclaw").join("agents"), of_pi]
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut folders = path.iter().rev().skip(1);
        let folder = folders.next().unwrap_or_default();
        let is_of_pi =
            folder.to_string_lossy().starts_with("--") && folders.next().is_some_and(|above| above == "sessions");
        let is_time = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit() || b"TZ.:-".contains(&byte));
        let mut of_history = HISTORY.iter().filter_map(|part| name.split_once(part));
        let is_history = of_history.any(|(_, rest)| is_time(rest.trim_end_matches(".zst")));
        let is_session = name.ends_with(".jsonl") || is_history;
        let is_among = folder == "sessions" || is_of_pi;
        (folder == "agent" && name == DATABASE) || (is_among && is_session && !self.is_other(path))
    }

    fn is_other(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        [".checkpoint.", ".trajectory.", ".bak"].iter().any(|part| name.contains(part))
    }

    fn read_file(&self, file: Foreign<'_>, since: Option<&Cursor>) -> Result<Batch, ReadError> {
        let path = file.path;
        let mut batch = Batch::default();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("sqlite") => database::read(file, since, &mut batch)?,
            Some("zst") => read_compressed(file, since, &mut batch, |lines, batch| read_lines(path, lines, batch))?,
            _ => read_lines(path, &mut Lines::open(file, since)?, &mut batch)?,
        }
        Ok(batch)
    }
}

fn read_lines(path: &Path, lines: &mut Lines<OpenClawSession>, batch: &mut Batch) -> std::io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.find(".jsonl").map_or(&*name, |end| &name[..end]);
    for_each_line(lines, batch, |session, batch, line, bytes| {
        if session.id.is_empty() {
            stem.clone_into(&mut session.id);
        }
        take(bytes, session, batch, line, None);
    })
}

#[cfg(test)]
mod tests;
