//! `memorist connect` and `disconnect`: registers the server and its hooks with the agents of this machine, and undoes it.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use directories::ProjectDirs;
use memorist_clients::Client;
use memorist_clients::connect::{self, ClientPlan, Environment, Ledger, Step};
use memorist_clients::place::Platform;
use memorist_clients::program::Program;
use memorist_durable::ThisProgram;
use memorist_engine::config::{ModelSource, ServerAddress};
use memorist_engine::embed::{self, ModelSettings};
use memorist_engine::progress::NoProgress;
use memorist_ingest::sources::machine::Machine;
use serde_json::{Value, json};

use super::app::Maintenance;
use super::{App, add_sources};
use crate::args::{ClientArgs, Connect, Disconnect, Global};
use crate::exit::{Failure, Kind, Outcome};
use crate::wording::{self, Worded as _};

/// This machine, and what is registered on it.
pub struct Installation {
    machine: Machine,
    program: Program,
    /// Where the record of what was written is.
    pub ledger: PathBuf,
}

impl Installation {
    /// The installation of this process.
    pub fn this(global: &Global, serve: Vec<String>) -> Result<Self, Failure> {
        let directories = ProjectDirs::from("", "", "memorist");
        let ledger = directories.ok_or_else(|| Failure::input("this account has no home folder"))?;
        let machine = add_sources::machine()?;
        let this = ThisProgram::find().map_err(|error| Failure::file("this program".as_ref(), &error))?;
        let path = Program::stable_path(&machine, &this.file);
        let mut options = Vec::new();
        for (name, path) in [("--store", &global.store), ("--config", &global.config)] {
            if let Some(path) = path.as_ref().filter(|path| !path.as_os_str().is_empty()) {
                options.extend([name.to_owned(), place(name, path)?]);
            }
        }
        options.extend(typed(global)?);
        let program = Program { path, before: this.before, options, serve, platform: Platform::this() };
        let ledger = ledger.config_dir().join("connections");
        Ok(Installation { machine, program, ledger })
    }

    /// The environment for the crate of clients. `connecting` are the clients that get hooks together.
    pub fn around<'a>(&'a self, connecting: &'a [Client]) -> Environment<'a> {
        Environment { machine: &self.machine, program: &self.program, connecting }
    }
}

/// The other options of every command, as far as they are arguments: what the environment says may be of this shell alone.
fn typed(global: &Global) -> Result<Vec<String>, Failure> {
    let is_typed = |name: &str| global.typed.contains(&name.trim_start_matches('-'));
    let mut options = Vec::new();
    for (name, folder) in [("--cache", global.cache.as_deref()), ("--model", global.model.as_deref().map(Path::new))] {
        match folder.filter(|folder| is_typed(name) && !folder.as_os_str().is_empty()) {
            Some(model) if name == "--model" && !is_folder(model) => {
                options.extend([name.to_owned(), model.to_string_lossy().into_owned()]);
            }
            Some(folder) => options.extend([name.to_owned(), absolute(name, folder)?]),
            None => {}
        }
    }
    for (name, value) in [("--project", &global.project), ("--agent", &global.agent)] {
        options.extend(value.iter().filter(|_| is_typed(name)).flat_map(|value| [name.to_owned(), value.clone()]));
    }
    options.extend(global.no_project.then(|| "--no-project".to_owned()));
    Ok(options)
}

/// Whether `--model` names a folder, and not a model or none.
fn is_folder(model: &Path) -> bool {
    model.to_str().is_none_or(|name| matches!(ModelSource::called(name), ModelSource::Folder(_)))
}

/// The value of an option for a process that works in another folder. Passwords do not go into settings of others.
fn place(name: &str, path: &Path) -> Result<String, Failure> {
    match path.to_str().filter(|path| ServerAddress::is_one(path)) {
        Some(address) => Ok(ServerAddress::parse(address)?.without_password().to_owned()),
        None => absolute(name, path),
    }
}

fn absolute(name: &str, path: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(path).map_err(|error| Failure::file(path, &error))?;
    path.into_os_string().into_string().map_err(|_| Failure::input(format!("{name}: the path is not Unicode")))
}

pub fn run(app: &App, args: &Connect, global: &Global) -> Outcome {
    let profile = args.profile.and_then(|profile| profile.to_possible_value());
    let serve = profile.map(|profile| vec!["--profile".to_owned(), profile.get_name().to_owned()]);
    let installation = Installation::this(global, serve.unwrap_or_default())?;
    if let Some(way) = installation.program.way_to_stay() {
        let path = installation.program.command();
        return Err(Failure::input(format!(
            "cannot connect clients to {path}, which is in a cache and may be removed at any time: install memorist \
             (`{way}`), then run `memorist connect`"
        )));
    }
    if app.settings().engine.team.as_ref().is_some_and(|team| team.address.has_password()) {
        app.output().note("the password of the team store is not written into their settings: keep it in ~/.pgpass");
    }
    let all = if args.which.clients.is_empty() { &Client::ALL[..] } else { &args.which.clients };
    let around = installation.around(if args.no_hooks { &[] } else { all });
    let plan = |client, ledger: &Ledger| connect::connect(client, !args.no_hooks, ledger, &around);
    let plans = |ledger: &Ledger| all.iter().map(|&client| plan(client, ledger)).collect();
    let code = change(app, &args.which, &installation, plans, true)?;
    if code == 0 && !args.which.dry_run && !args.no_model {
        fetch_model(app, args.which.yes)?;
    }
    if let Some(suggestion) = suggested_model(app) {
        app.output().note(suggestion);
    }
    Ok(code)
}

/// Fetches the embedding model that agents will search with, if it is not there. Without it they are connected all the same.
fn fetch_model(app: &App, yes: bool) -> Result<(), Failure> {
    let settings = &app.settings().engine.model;
    let is_fetched = matches!(settings.source, ModelSource::Default | ModelSource::Named(_));
    let look = ModelSettings { may_download: false, ..settings.clone() };
    if !settings.may_download || !is_fetched || embed::setup(&look, &mut |_| {}, &NoProgress).is_ok() {
        return Ok(());
    }
    let question = "Download the embedding model, once? Without it, keyword search only.";
    // Without a terminal nothing was left to change, or --yes was given: no model is no failure.
    if !yes && !app.output().confirm(question, "--yes, or --no-model").unwrap_or(false) {
        app.output().note("no model was downloaded: `memorist setup` does it later");
        return Ok(());
    }
    if let Err(error) = embed::setup(settings, &mut |plan| app.announce(plan), &app.bars()?) {
        let why = memorist_engine::Error::from(error).worded();
        app.output().note(format!("the model was not downloaded: {why}; `memorist setup` tries again"));
    }
    Ok(())
}

/// Another model, if many memories of the store are in a language that its own does not know.
fn suggested_model(app: &App) -> Option<String> {
    // Connecting makes no store.
    if !app.settings().store.join("memory.db").exists() {
        return None;
    }
    let engine = app.engine(Maintenance::Off).ok()?;
    let foreign = engine.foreign_memories();
    engine.close();
    foreign.ok()?.map(wording::foreign)
}

/// Runs `disconnect`.
pub fn undo(app: &App, args: &Disconnect, global: &Global) -> Outcome {
    let installation = Installation::this(global, Vec::new())?;
    let plans = |ledger: &Ledger| {
        let all = if args.which.clients.is_empty() { &Client::ALL[..] } else { &args.which.clients };
        let plans = all.iter().map(|&client| connect::disconnect(client, ledger, &installation.around(&[])));
        plans
            .filter(|plan| !args.which.clients.is_empty() || !plan.steps.is_empty() || !plan.troubles.is_empty())
            .collect()
    };
    change(app, &args.which, &installation, plans, false)
}

/// Shows what would change, asks, and does it.
fn change(
    app: &App,
    which: &ClientArgs,
    installation: &Installation,
    plans: impl Fn(&Ledger) -> Vec<ClientPlan>,
    connects: bool,
) -> Outcome {
    let opened = if which.dry_run { Ledger::read(&installation.ledger) } else { Ledger::open(&installation.ledger) };
    let mut ledger = opened.map_err(|error| failure(&error))?;
    let mut plans = plans(&ledger);
    let is_named = !which.clients.is_empty();
    if connects {
        for plan in plans.iter_mut().filter(|plan| plan.found.is_none()) {
            plan.steps.clear();
            plan.troubles.clear();
        }
    }
    let steps: usize = plans.iter().map(|plan| plan.steps.len()).sum();
    if !which.dry_run && !which.yes && steps > 0 {
        let what = planned(&plans, false);
        let question = format!("{what}\n{}? (--dry-run shows each change)", files(steps, "Change"));
        if !app.output().confirm(&question, "--yes, or --dry-run to see what would change")? {
            app.output().note("nothing was changed");
            return Ok(Kind::Cancelled.code());
        }
    }
    let mut entries = Vec::new();
    for plan in &mut plans {
        let done = match which.dry_run {
            true => plan.steps.clone(),
            false => connect::apply(plan, &mut ledger),
        };
        entries.push(entry(plan, &done));
    }
    let missing = connects && is_named && plans.iter().any(|plan| plan.found.is_none());
    let failed = missing || plans.iter().any(|plan| !plan.troubles.is_empty());
    let document = json!({ "dryRun": which.dry_run, "clients": entries });
    app.output().result(&document, |_| match which.dry_run {
        true => planned(&plans, true),
        false => report(&plans, &entries, connects),
    })?;
    Ok(if failed { Kind::Input.code() } else { 0 })
}

fn failure(error: &connect::Error) -> Failure {
    let kind = if matches!(error, connect::Error::Busy) { Kind::Input } else { Kind::Io };
    Failure::new(kind, error.to_string())
}

fn entry(plan: &ClientPlan, done: &[Step]) -> Value {
    let changes = done.iter().map(|step| {
        let mut change = json!({
            "path": step.target.path,
            "for": step.role,
            "action": action(step),
            "diff": step.diff(),
        });
        if !step.commands.is_empty() {
            change["commands"] = json!(step.commands);
        }
        change
    });
    let problems = plan
        .troubles
        .iter()
        .map(|(path, trouble)| json!({ "path": path, "what": trouble.to_string(), "wayOut": trouble.way_out() }));
    let by_hand = plan.by_hand.iter().map(|(path, what)| json!({ "path": path, "what": what }));
    json!({
        "client": plan.profile.client,
        "found": plan.found,
        "changes": changes.collect::<Vec<_>>(),
        "unchanged": plan.done,
        "byHand": by_hand.collect::<Vec<_>>(),
        "problems": problems.collect::<Vec<_>>(),
    })
}

fn action(step: &Step) -> &'static str {
    match (&step.target.content, &step.after) {
        (None, Some(_)) => "create",
        (Some(_), None) => "delete",
        (before, after) if before == after => "none",
        _ => "change",
    }
}

fn files(count: usize, verb: &str) -> String {
    format!("{verb} {count} {}", if count == 1 { "file" } else { "files" })
}

/// Lists the planned changes, on request as a diff, and the files that stay as they are and why.
fn planned(plans: &[ClientPlan], as_diff: bool) -> String {
    let mut lines = Vec::new();
    for plan in plans.iter().filter(|plan| plan.found.is_some() || !plan.steps.is_empty()) {
        let place = plan.found.as_ref().map(|found| format!(" ({})", found.display())).unwrap_or_default();
        lines.push(format!("{}{place}", plan.profile.title));
        for step in plan.steps.iter().filter(|step| action(step) != "none") {
            lines.push(format!("  {} {}", action(step), step.target.path.display()));
            lines.extend(
                step.commands.iter().map(|words| format!("    with the client's own command: {}", words.join(" "))),
            );
            if as_diff {
                lines.extend(step.diff().lines().map(|line| format!("    {line}")));
            }
        }
        lines.extend(remarks(plan));
    }
    lines.extend(not_found(plans));
    if lines.is_empty() { NOTHING.to_owned() } else { lines.join("\n") }
}

/// The message when there is nothing to disconnect.
const NOTHING: &str = "nothing to remove: `memorist connect` wrote nothing that still exists";

/// Lists the files that stay as they are.
fn remarks(plan: &ClientPlan) -> Vec<String> {
    let done = plan.done.iter().map(|path| format!("  up to date: {}", path.display()));
    let by_hand = plan
        .by_hand
        .iter()
        .map(|(path, what)| format!("  registered by hand, unchanged: {what} in {}", path.display()));
    let troubles = plan
        .troubles
        .iter()
        .map(|(path, trouble)| format!("  NOT CHANGED {}: {trouble}\n    fix: {}", path.display(), trouble.way_out()));
    done.chain(by_hand).chain(troubles).collect()
}

fn not_found(plans: &[ClientPlan]) -> Option<String> {
    let missing: Vec<_> =
        plans.iter().filter(|plan| plan.found.is_none()).map(|plan| plan.profile.client.name()).collect();
    (!missing.is_empty()).then(|| format!("not found on this machine: {}", missing.join(", ")))
}

/// Lists the changes that were made, and the steps that a person has to take now.
fn report(plans: &[ClientPlan], entries: &[Value], connects: bool) -> String {
    let mut lines = Vec::new();
    for (plan, entry) in plans.iter().zip(entries) {
        let changes = entry["changes"].as_array().map_or(0, Vec::len);
        if plan.found.is_none() && changes == 0 && plan.troubles.is_empty() {
            continue;
        }
        let head = match (connects, changes) {
            (true, 0) if plan.troubles.is_empty() => "connected already".to_owned(),
            (true, 0) => "not connected".to_owned(),
            (true, changes) => format!("connected, {}", files(changes, "in")),
            (false, 0) => "not connected".to_owned(),
            (false, changes) => format!("disconnected, {}", files(changes, "in")),
        };
        lines.push(format!("{}: {head}", plan.profile.title));
        lines.extend(remarks(plan).into_iter().filter(|line| !line.starts_with("  up to date")));
        if connects && changes > 0 {
            lines.push(format!("  now: {}", plan.profile.advice));
        }
    }
    lines.extend(not_found(plans).filter(|_| connects));
    if lines.is_empty() { NOTHING.to_owned() } else { lines.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_of_a_team_store_is_written_nowhere() {
        let store = Some("postgres://ana:changeme@db.example/team?sslmode=verify-full".into());
        let installation = Installation::this(&Global { store, ..Global::default() }, Vec::new()).unwrap();
        let expected = ["--store", "postgres://ana@db.example/team?sslmode=verify-full"];
        assert_eq!(installation.program.options, expected);
    }
}
