//! Views and rights of clients: by the settings of the server, and by the token of a team store that a client sends.

use std::sync::Arc;

use memorist_engine::text::content_hash;
use memorist_engine::types::{Reach, Rights, TokenRights, Viewer};

use super::handler::Handler;
use super::metrics::Metrics;
use super::profiles::Profile;
use super::watching::Watching;
use crate::args::ProfileName;
use crate::exit::Failure;
use crate::ops::Context;
use crate::serving::{Access, Changes, Dispatcher, Unavailable};
use crate::wire::Defaults;

/// The state that all clients of a server share.
pub struct ServerState {
    pub dispatcher: Dispatcher,
    /// The context before the profile and `--isolate` are applied.
    pub context: Context,
    pub profile: ProfileName,
    /// Whether the server keeps to its project and agent.
    pub only: bool,
    pub watching: Arc<Watching>,
    pub metrics: Arc<Metrics>,
    pub changes: Changes,
}

impl ServerState {
    /// The state over a store without a model, with the tools of `core`.
    #[cfg(test)]
    pub fn of_store(folder: &std::path::Path) -> Self {
        use crate::serving::INTERVAL;

        let config = memorist_engine::config::Config::without_model();
        let (dispatcher, _failed) = Dispatcher::open(folder.to_path_buf(), config);
        ServerState {
            changes: Changes::of(dispatcher.clone(), INTERVAL),
            dispatcher,
            context: Context::default(),
            profile: ProfileName::Core,
            only: false,
            watching: Arc::default(),
            metrics: Arc::default(),
        }
    }

    /// The handler for clients that the server lets do everything.
    ///
    /// # Errors
    /// If the server is to keep to a project or an agent, and none is named.
    pub fn trusted(&self) -> Result<Handler, Failure> {
        self.handler(context(self.context.clone(), self.profile, self.only)?, Rights::Write)
    }

    /// The handler for clients whose token has these rights; `None` if the server keeps to another project or agent.
    ///
    /// # Errors
    /// Fails for invalid names.
    pub fn bound(&self, token: &TokenRights) -> Result<Option<Handler>, Failure> {
        let TokenRights { projects, agent, rights } = token;
        if !token.is_bound() {
            let context = context(self.context.clone(), self.profile, self.only)?;
            return self.handler(context, *rights).map(Some);
        }
        let own = &self.context.defaults;
        let projects = match own.project().filter(|_| self.only) {
            // Of several projects, the one that the server keeps to.
            Some(project) => projects.iter().filter(|name| *name == project).cloned().collect(),
            None => projects.clone(),
        };
        if self.only && (own.project(), own.agent()) != (projects.first().map(String::as_str), agent.as_deref()) {
            return Ok(None);
        }
        self.handler(bound_context(self.context.clone(), self.profile, &projects, agent.clone())?, *rights).map(Some)
    }

    fn handler(&self, context: Context, rights: Rights) -> Result<Handler, Failure> {
        let defaults = &context.defaults;
        let profile = match (defaults.is_only(), defaults.others()) {
            (false, _) => Profile::of(self.profile),
            (true, []) => Profile::of_only(self.profile),
            (true, _) => Profile::of_projects(self.profile),
        };
        let (dispatcher, watching, metrics) = (self.dispatcher.clone(), self.watching.clone(), self.metrics.clone());
        Ok(Handler::new(dispatcher, context, profile, rights, watching, metrics, self.changes.clone()))
    }

    /// The metrics of the server and its store, as text.
    ///
    /// # Errors
    /// Says why the store cannot be read.
    pub async fn metrics_text(&self) -> Result<String, String> {
        let metrics = self.metrics.clone();
        let text = self.dispatcher.call(Access::Read, move |engine| metrics.text(engine)).await;
        text.map_err(|error: Unavailable| error.message().to_owned())?.map_err(|error| error.to_string())
    }

    /// Says that the store can be read, and what a node of a team cannot do meanwhile.
    ///
    /// # Errors
    /// Says why the store cannot be read.
    pub async fn readiness(&self) -> Result<&'static str, String> {
        let error = self.dispatcher.call(Access::Read, |engine| {
            // A node that has no copy yet fails, and one whose server is away does not.
            engine.viewed_by(&Viewer::OWNER).get(0.into())?;
            Ok::<_, memorist_engine::Error>(engine.node().and_then(|node| node.error))
        });
        let error = error.await.map_err(|error: Unavailable| error.message().to_owned())?;
        Ok(match error.map_err(|error| error.to_string())? {
            Some(_) => "ready to search; saving waits for the server of the team store",
            None => "ready",
        })
    }

    /// The rights of a token of the team store; `None` if the store has no such token.
    ///
    /// # Errors
    /// Says why they are not known.
    pub async fn rights_of(&self, token: String) -> Result<Option<TokenRights>, String> {
        let rights = self.dispatcher.call(Access::Read, move |engine| engine.token_rights(&token)).await;
        rights.map_err(|error: Unavailable| error.message().to_owned())?.map_err(|error| error.to_string())
    }
}

/// The defaults of calls to a server of this profile; with `only`, other names are refused.
pub fn context(settings: Context, profile: ProfileName, only: bool) -> Result<Context, Failure> {
    let mut context = Context { defaults: default_viewer(profile, only, settings.defaults)?, ..settings };
    if only {
        context.exports.push(own_folder(&context.defaults));
    }
    Ok(context)
}

/// The defaults of calls of a client whose token is bound to these projects and this agent.
pub fn bound_context(
    settings: Context,
    profile: ProfileName,
    projects: &[String],
    agent: Option<String>,
) -> Result<Context, Failure> {
    let (project, others) = match projects {
        [first, others @ ..] => (Some(first.clone()), others),
        [] => (None, &[][..]),
    };
    let named = Defaults::named(project, agent)?;
    let mut context = Context { defaults: of_profile(profile, true, named).bound(others), ..settings };
    context.exports.push(own_folder(&context.defaults));
    Ok(context)
}

/// The default viewer of a server of this profile. Resources and completions use the same one as its tools.
pub fn default_viewer(profile: ProfileName, only: bool, defaults: Defaults) -> Result<Defaults, Failure> {
    let defaults = of_profile(profile, only, defaults);
    if only { Ok(defaults.only()?) } else { Ok(defaults) }
}

fn of_profile(profile: ProfileName, only: bool, defaults: Defaults) -> Defaults {
    let defaults = defaults.for_agents();
    match profile {
        // Its memories all belong to an agent.
        ProfileName::Memorizer => defaults.or_agent(Reach::MAIN),
        // Their documents omit nothing if there is no project.
        ProfileName::Krolik | ProfileName::Gimli if !only => defaults.with_main().or_every_project(),
        _ => defaults.with_main(),
    }
}

/// The export folder of a client that keeps to projects or an agent, so that it neither reads nor replaces the files of
/// others: `NAME-HASH`, of letters that every file system accepts.
fn own_folder(defaults: &Defaults) -> String {
    let others = defaults.others().iter().map(|name| Some(name.as_str()));
    let whose: Vec<_> = [defaults.project(), defaults.agent()].into_iter().chain(others).collect();
    let name = whose.iter().flatten().copied().collect::<Vec<_>>().join("-");
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    let hash = content_hash(&format!("{whose:?}"));
    format!("{name}-{}", &hash[..16])
}
