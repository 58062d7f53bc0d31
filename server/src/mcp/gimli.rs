//! The configuration of Gimli's profile.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use directories::BaseDirs;
use memorist_engine::config::ModelSource;
use memorist_ingest::project;

use crate::args::Serve;
use crate::embedding::Provider;
use crate::exit::Failure;
use crate::memory_search::{self, Configured, MemorySearch};
use crate::settings::{self, Settings};

/// Adds what the tools of the profile follow: the file that the arguments name, over the settings. Its store is used where
/// nothing else names one.
pub fn configure(settings: &mut Settings, args: &Serve) -> Result<(), Failure> {
    let defaults =
        MemorySearch { weights: settings.context.weights, sync: settings.sync.clone(), ..MemorySearch::default() };
    let home = BaseDirs::new();
    let Configured { settings: mut found, warning } = match &args.memory_search {
        // Sessions are an experiment, which a file permits.
        None => Configured { settings: MemorySearch { sessions: false, ..defaults }, warning: None },
        Some(file) => {
            let text = fs::read_to_string(file).map_err(|error| Failure::file(file, &error))?;
            let home = home.as_ref().map(BaseDirs::home_dir);
            let agent = settings.context.defaults.agent();
            memory_search::read(&text, file, agent, home, defaults)
                .map_err(|why| Failure::input(format!("{}: {why}", file.display())))?
        }
    };
    let mut warnings: Vec<String> = warning.into_iter().collect();
    match found.store.take() {
        Some(_) if settings.store_is_named => warnings.push("store.path: another store is named".to_owned()),
        Some(store) => settings.store = store,
        None => {}
    }
    if let Some(section) = found.embedding.take() {
        match settings.engine.model.source {
            ModelSource::Default => {
                settings::embed_with(&section, &mut settings.engine.model, &settings.store, settings.output)?;
            }
            _ if section.provider == Some(Provider::Auto) => {}
            _ => warnings.push("provider: another model is named".to_owned()),
        }
    }
    if !warnings.is_empty() {
        settings.output.note(format!("memorySearch: {}", warnings.join("; ")));
    }
    found.store = Some(settings.store.clone());
    found.model = settings.engine.model.clone();
    // Over HTTP the folder says nothing about the clients.
    let is_local = args.http.is_none();
    found.workspace = is_local.then(|| std::env::current_dir().ok()).flatten();
    if let Some(workspace) = found.workspace.as_deref().filter(|_| settings.project_is_open) {
        let defaults = std::mem::take(&mut settings.context.defaults);
        settings.context.defaults = defaults.or_project(Some(project_of(workspace)?));
    }
    found.home = home.map(|home| home.home_dir().to_owned());
    settings.sync = found.sync.clone();
    settings.context.memory_search = Arc::new(found);
    Ok(())
}

/// The project of a workspace, which no other has: the name of its git work tree if that is the workspace, as in the other
/// profiles; else its path.
fn project_of(workspace: &Path) -> Result<String, Failure> {
    let of_tree = workspace.join(".git").exists().then(project::of_working_folder).flatten();
    let named = of_tree.or_else(|| workspace.to_str().map(str::to_owned));
    named.ok_or_else(|| {
        Failure::input("the path of this workspace is not Unicode; name its memories with --project NAME")
    })
}
