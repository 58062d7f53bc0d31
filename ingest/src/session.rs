//! A transcript, read into turns.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::SystemTime;

use memorist_engine::types::{
    FileContent, FileReading, FileStamp, Kind, MAX_LABEL_BYTES, MIN_PLAUSIBLE_MILLIS, NewRecord, Place, Scope,
    SourceFile, Span,
};
use memorist_sources::chunks::{self, Limits};
use memorist_sources::foreign::Foreign;
use memorist_sources::formats::records::{UNREADABLE, is_uuid};
use memorist_sources::formats::{Cursor, Format, Role, Turn, first_folder};
use memorist_sources::notes::NoteKind;
use memorist_sources::tokens::TokenCount;
use serde::{Deserialize, Serialize};

use crate::{origins, project, stamp};

/// Which turns are made of a transcript. With a higher number every transcript that is still there is read once more: what is
/// new in it is added, and what is no turn any more goes.
const READER: u32 = 3;

/// How far a transcript was read, and by which reader.
#[derive(Serialize, Deserialize)]
struct Progress {
    reader: u32,
    /// The project of the session, once it was known: its folder may be gone later.
    project: Option<String>,
    cursor: String,
}

impl Progress {
    fn of(known: &SourceFile) -> Option<Self> {
        serde_json::from_str(known.cursor.as_deref()?).ok().filter(|known: &Self| known.reader == READER)
    }
}

/// Whether a transcript that did not change has the turns that this reader makes of it.
pub fn is_current(known: &SourceFile) -> bool {
    let beginning = format!("{{\"reader\":{READER},");
    known.cursor.as_ref().is_some_and(|cursor| cursor.starts_with(&beginning))
}

/// The projects of the sessions of a file: one each, wherever the agent goes.
#[derive(Default)]
struct Projects {
    /// If the file is one session.
    of_file: Option<String>,
    of_sessions: HashMap<String, Option<String>>,
}

/// How transcripts are read.
pub struct SessionReader<'a> {
    /// The agent's.
    pub format: &'static dyn Format,
    /// How long the parts of a long turn are.
    pub limits: Limits,
    pub tokens: &'a dyn TokenCount,
    /// Whether files are read as if they were new.
    pub force: bool,
    /// The owner of the turns; without a project, that of their working folder.
    pub scope: &'a Scope,
    /// The home folder, which is no project.
    pub home: Option<&'a Path>,
}

impl SessionReader<'_> {
    /// Reads what is new in a transcript, or the next part of it if that `goes_on` with what is known, and whether it has
    /// more.
    pub fn read(
        &self,
        file: Foreign<'_>,
        found: FileStamp,
        known: Option<&SourceFile>,
        goes_on: bool,
    ) -> (FileReading, bool) {
        let read_at = SystemTime::now();
        let path = file.path;
        let blank = FileReading {
            file: known.map(|known| known.id),
            stamp: stamp::settled(found, read_at),
            cursor: known.and_then(|known| known.cursor.clone()),
            ..FileReading::new(path.to_string_lossy(), FileContent::Unchanged)
        };
        let read = known.and_then(Progress::of);
        let is_other_reader = known.is_some_and(|known| known.cursor.is_some()) && read.is_none();
        let read = read.filter(|_| !self.force || goes_on);
        let (project, since) = read.map_or((None, None), |read| (read.project, Some(Cursor(read.cursor))));
        let batch = match self.format.read_file(file, since.as_ref()) {
            Ok(batch) => batch,
            Err(error) => return (FileReading { problem: Some(error.to_string()), ..blank }, false),
        };
        let wants_project = self.scope.project.is_none() && !batch.turns.is_empty();
        let project = project.or_else(|| wants_project.then(|| self.project_of(file))?);
        let mut projects = Projects { of_file: project, ..Projects::default() };
        let turns: Vec<NewRecord> =
            batch.turns.into_iter().flat_map(|turn| self.records(turn, &blank.path, &mut projects)).collect();
        // The file that another reader has read, as far as it was then.
        let is_same = |known: &SourceFile| known.stamp.identity == found.identity && known.stamp.size <= found.size;
        let is_again = is_other_reader && known.is_some_and(is_same);
        let whole = batch.whole && (self.format.takes_back() || is_again);
        // A file that has lost its content, or cannot be read, has taken back nothing.
        let is_taken_back =
            whole && known.is_some() && found.size > 0 && !batch.skipped.counts.contains_key(UNREADABLE);
        let content = if turns.is_empty() && !is_taken_back {
            FileContent::Unchanged
        } else {
            FileContent::Turns { turns, whole }
        };
        // Where it ends early, it is not known as it is.
        let stamp = if batch.more || batch.is_torn { stamp::unsettled(found) } else { blank.stamp };
        let cursor =
            serde_json::to_string(&Progress { reader: READER, project: projects.of_file, cursor: batch.cursor.0 }).ok();
        (FileReading { cursor, stamp, skipped: batch.skipped.counts, content, ..blank }, batch.more)
    }

    /// The project of a file that is one session: that of the folder in which it began, or in which the session began to which
    /// it belongs.
    fn project_of(&self, file: Foreign<'_>) -> Option<String> {
        let main = self.format.main(file.path);
        let of_main = main.as_deref().and_then(|path| first_folder(Foreign { path, ..file }));
        let folder = of_main.or_else(|| first_folder(file))?;
        project::of_session(Path::new(&folder), self.home)
    }

    /// The records of a turn: one, or several of a long one.
    fn records(&self, turn: Turn, path: &str, projects: &mut Projects) -> Vec<NewRecord> {
        let project = self.scope.project.clone().or_else(|| projects.of_file.clone()).or_else(|| {
            let cwd = turn.cwd.as_ref()?;
            let of_session = projects.of_sessions.entry(turn.session.clone());
            of_session.or_insert_with(|| project::of_session(Path::new(cwd), self.home)).clone()
        });
        let scope = Scope { project, agent: self.scope.agent.clone() };
        let at = turn.at.filter(|&at| at >= MIN_PLAUSIBLE_MILLIS);
        let role = match turn.role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Summary => "summary",
        };
        let short = |text: Option<String>| text.map(shortened).filter(|text| !text.trim().is_empty());
        let is_of_file = self.format.ids_are_of_files() && !is_uuid(&turn.id);
        let id = if is_of_file { format!("{path}:{}", turn.id) } else { turn.id.clone() };
        let place = |part: u64| Place {
            role: Some(role.to_owned()),
            cwd: short(turn.cwd.clone()),
            branch: short(turn.branch.clone()),
            model: short(turn.model.clone()),
            subagent: short(turn.subagent.clone()),
            ..Place::new(origins::turn(self.format.name(), &id, part), path, turn.lines.0, turn.lines.1)
        };
        // What a subagent was given and said is a thread of its own.
        let session = turn.subagent.iter().fold(turn.session.clone(), |session, agent| format!("{session}/{agent}"));
        let session = shortened(session);
        let title = short(turn.title.clone());
        let parts = self.parts(&turn.text);
        let record = |(part, text): (usize, String)| NewRecord {
            kind: Kind::Conversation,
            source: self.format.name().to_owned(),
            tags: vec![role.to_owned()],
            valid: Span { from: at, to: None },
            scope: scope.clone(),
            // The name of a session is found with its first turn.
            context: title.clone().filter(|_| part == 0),
            session: Some(session.clone()),
            place: Some(place(part as u64)),
            ..NewRecord::new(text)
        };
        parts.into_iter().enumerate().map(record).collect()
    }

    fn parts(&self, text: &str) -> Vec<String> {
        let text = text.replace('\0', " ");
        // Most turns are short: a token has at least one byte.
        if text.len() <= self.limits.tokens || self.tokens.count(&text) <= self.limits.tokens {
            return vec![text];
        }
        let note = chunks::chunk(&text, NoteKind::Markdown, &self.limits, self.tokens, &HashSet::new());
        note.chunks.into_iter().map(|chunk| chunk.text).collect()
    }
}

fn shortened(text: String) -> String {
    let mut text = text.replace('\0', " ");
    text.truncate(text.floor_char_boundary(MAX_LABEL_BYTES));
    text
}
