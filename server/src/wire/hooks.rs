//! The request of a hook, to its own process or to a running server, and the reply.

use std::path::{Path, PathBuf};

use memorist_clients::Client;
use memorist_clients::hooks::{Action, Call, Event};
use memorist_engine::ActionSubject;
use memorist_engine::snippet::both_ends;
use memorist_engine::types::{Filter, Mode, Reach, RecallRequest, Viewer};
use memorist_ingest::project::work_tree;
use serde::{Deserialize, Serialize};

use crate::hooks::HookSettings;

/// The version of the protocol on the socket. A server or a hook of another version is not understood.
pub const VERSION: u32 = 3;
/// Longest message that is passed on, in bytes: of a longer one, the beginning and the end.
const LONGEST_MESSAGE: usize = 32 << 10;
/// Longest message before it that is passed on, in bytes: of a longer one, the beginning and the end.
const LONGEST_BEFORE: usize = 4 << 10;
/// Longest command, in bytes: of a longer one, the beginning.
const LONGEST_COMMAND: usize = 8 << 10;

/// The request of a hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HookRequest {
    pub version: u32,
    /// The name of the client.
    pub client: String,
    pub event: Event,
    pub message: Option<String>,
    /// The messages before it, the newest last.
    pub before: Vec<String>,
    pub session: Option<String>,
    pub lost_context: bool,
    pub resumed: bool,
    /// Which memories are visible: those of this project and global ones, global ones alone, or with `*` all.
    pub project: Option<String>,
    /// Which memories are visible by their agent, in the same form.
    pub agent: Option<String>,
    /// Whether the memories of [`Reach::MAIN`] are visible, too. A hook of an earlier version does not say so.
    #[serde(default)]
    pub with_main: bool,
    pub max_results: usize,
    pub max_tokens: usize,
    pub min_relevance: f64,
    /// Whether words alone are searched.
    pub words_only: bool,
    /// The action of the agent.
    pub action: Option<Action>,
    /// The git work tree of the file that it is about.
    pub tree: Option<PathBuf>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookReply {
    pub version: u32,
    /// The text for stdout; `None` if there is nothing to say.
    pub text: Option<String>,
}

impl HookRequest {
    /// The request for the call of a client after the messages `before`, made as `viewer`.
    pub fn new(
        client: Client,
        event: Event,
        call: Call,
        before: &[String],
        viewer: &Viewer,
        settings: &HookSettings,
    ) -> Self {
        let name = |reach: &Reach| match reach {
            Reach::Every => Some(Reach::EVERY.to_owned()),
            reach => reach.name().map(str::to_owned),
        };
        HookRequest {
            version: VERSION,
            client: client.name().to_owned(),
            event,
            message: call.message.map(|message| both_ends(&message, LONGEST_MESSAGE).into_owned()),
            before: before.iter().map(|text| both_ends(text, LONGEST_BEFORE).into_owned()).collect(),
            session: call.session,
            lost_context: call.lost_context,
            resumed: call.resumed,
            project: name(&viewer.project),
            agent: name(&viewer.agent),
            with_main: matches!(viewer.agent, Reach::WithMain(_)),
            max_results: settings.max_results,
            max_tokens: settings.max_tokens,
            min_relevance: settings.min_relevance,
            words_only: false,
            tree: match &call.action {
                Some(Action::Edit(file)) => file.parent().and_then(work_tree).map(Path::to_owned),
                _ => None,
            },
            action: call.action.map(shortened),
        }
    }

    /// Who asks.
    pub fn viewer(&self) -> Viewer {
        let reach = |name: &Option<String>| match name.as_deref() {
            Some(Reach::EVERY) => Reach::Every,
            Some(name) => Reach::Own(name.to_owned()),
            None => Reach::Shared,
        };
        let agent = match reach(&self.agent) {
            Reach::Shared | Reach::Own(_) if self.with_main => Reach::WithMain(self.agent.clone()),
            agent => agent,
        };
        Viewer { project: reach(&self.project), agent }
    }

    /// The subjects of its action; none if it only looks.
    pub fn subjects(&self) -> Vec<ActionSubject> {
        match &self.action {
            Some(Action::Edit(file)) => {
                ActionSubject::of_file(&file.to_string_lossy(), self.tree.as_ref().and_then(|tree| tree.to_str()))
            }
            Some(Action::Run(line)) => ActionSubject::of_command(line),
            Some(Action::Failed(error)) => ActionSubject::of_error(error),
            None => Vec::new(),
        }
    }

    /// The recall of its message.
    pub fn recall(&self) -> Option<RecallRequest> {
        Some(RecallRequest {
            before: self.before.clone(),
            filter: Filter::of(self.viewer()),
            session: self.session.clone(),
            max_results: self.max_results,
            max_tokens: self.max_tokens,
            min_score: self.min_relevance,
            mode: if self.words_only { Mode::Keyword } else { Mode::Hybrid },
            ..RecallRequest::new(self.message.clone()?)
        })
    }
}

/// An action whose texts fit on the line of a socket.
fn shortened(action: Action) -> Action {
    match action {
        Action::Run(mut line) => {
            line.truncate(line.floor_char_boundary(LONGEST_COMMAND));
            Action::Run(line)
        }
        Action::Failed(error) => Action::Failed(both_ends(&error, LONGEST_MESSAGE).into_owned()),
        edit @ Action::Edit(_) => edit,
    }
}
