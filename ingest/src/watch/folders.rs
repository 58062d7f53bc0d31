//! The folders that are watched.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memorist_engine::types::{NewSource, Source, SourceId, SourceKind};
use memorist_sources::formats::{self, Format};
use memorist_sources::walk::Matcher;
use notify::event::{CreateKind, ModifyKind, RemoveKind};
use notify::{Config, ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use parking_lot::RwLock;

use super::signals::Signals;

/// Watches folders, one by one: never all below them, which may be far more than the notes.
pub struct Folders {
    system: Option<RecommendedWatcher>,
    places: Arc<RwLock<Places>>,
    signals: Arc<Signals>,
}

/// The folders that are watched, and a filter of each source.
#[derive(Default)]
struct Places {
    /// In order: folders below one come after it.
    folders: BTreeMap<PathBuf, BTreeSet<SourceId>>,
    filters: HashMap<SourceId, Filter>,
    /// Folders that were moved or deleted: the system may watch another one by this name, or none.
    stale: BTreeSet<PathBuf>,
}

/// The changes that matter to a source.
enum Filter {
    /// Changes of notes.
    Notes(Box<Matcher>),
    /// Changes of transcripts.
    Sessions(&'static dyn Format),
    /// Changes of one file.
    File(PathBuf),
    /// All changes: nothing better is known.
    All,
}

impl Places {
    /// A folder, or a file, came or went: the folders by its name and below it are stale. Returns the sources that have some
    /// of them.
    fn moved(&mut self, path: &Path) -> BTreeSet<SourceId> {
        let at_and_below = self.folders.range(path.to_owned()..).take_while(|(folder, _)| folder.starts_with(path));
        let (folders, sources): (Vec<_>, Vec<_>) = at_and_below.map(|(folder, of)| (folder.clone(), of)).unzip();
        self.stale.extend(folders);
        sources.into_iter().flatten().copied().collect()
    }
}

impl Folders {
    /// No folder is watched yet.
    pub fn new(signals: Arc<Signals>) -> Self {
        Folders { system: None, places: Arc::default(), signals }
    }

    /// Watches these folders of a source, and no others of it. Says whether some are new: what changed in them before is
    /// not known.
    ///
    /// # Errors
    /// If the system cannot watch them: then none of the source is watched.
    pub fn watch(&mut self, source: &Source, folders: &BTreeSet<PathBuf>) -> notify::Result<bool> {
        let filter = Filter::of(&source.source, folders);
        self.keep(source.id, folders);
        self.places.write().filters.insert(source.id, filter);
        let mut is_new = false;
        for folder in folders {
            if self.places.read().folders.get(folder).is_some_and(|sources| sources.contains(&source.id)) {
                continue;
            }
            match self.add(folder) {
                Ok(()) => {
                    self.places.write().folders.entry(folder.clone()).or_default().insert(source.id);
                    is_new = true;
                }
                // It is gone again. The folder above tells.
                Err(error) if matches!(error.kind, ErrorKind::PathNotFound) => {}
                Err(error) => {
                    self.forget(source.id);
                    return Err(error);
                }
            }
        }
        Ok(is_new)
    }

    /// Stops watching all folders of this source.
    pub fn forget(&mut self, source: SourceId) {
        self.keep(source, &BTreeSet::new());
        self.places.write().filters.remove(&source);
    }

    /// Stops watching the folders of a source that are not among these, and those that are stale: each source that had some
    /// was reported as changed, and watches them again.
    fn keep(&mut self, source: SourceId, folders: &BTreeSet<PathBuf>) {
        let mut places = self.places.write();
        let stale = std::mem::take(&mut places.stale);
        let mut unused: Vec<PathBuf> = stale.into_iter().collect();
        unused.iter().for_each(|folder| drop(places.folders.remove(folder)));
        places.folders.retain(|folder, sources| {
            if !folders.contains(folder) && sources.remove(&source) && sources.is_empty() {
                unused.push(folder.clone());
            }
            !sources.is_empty()
        });
        // The system's thread may wait for this lock, and is waited for below.
        drop(places);
        if let Some(system) = &mut self.system {
            // One that is gone is not watched any more.
            unused.iter().for_each(|folder| drop(system.unwatch(folder)));
        }
    }

    fn add(&mut self, folder: &Path) -> notify::Result<()> {
        if self.places.read().folders.contains_key(folder) {
            return Ok(());
        }
        let system = match &mut self.system {
            Some(system) => system,
            empty => {
                let (places, signals) = (self.places.clone(), self.signals.clone());
                let handle = move |event| handle(&places, &signals, event);
                empty.insert(RecommendedWatcher::new(handle, Config::default())?)
            }
        };
        system.watch(folder, RecursiveMode::NonRecursive)
    }
}

impl Filter {
    fn of(source: &NewSource, folders: &BTreeSet<PathBuf>) -> Self {
        let root = std::path::absolute(&source.path).unwrap_or_else(|_| source.path.clone().into());
        if !folders.contains(&root) {
            return Filter::File(root);
        }
        match source.kind {
            SourceKind::Notes => {
                Matcher::new(&root, &source.globs).map_or(Filter::All, |matcher| Filter::Notes(matcher.into()))
            }
            SourceKind::Sessions => {
                source.format.as_deref().and_then(formats::by_name).map_or(Filter::All, Filter::Sessions)
            }
        }
    }

    fn wants(&self, path: &Path, is_folder: bool) -> bool {
        match self {
            Filter::Notes(matcher) if is_folder => matcher.is_folder_wanted(path),
            Filter::Notes(matcher) => matcher.is_file_wanted(path),
            Filter::Sessions(format) => is_folder || format.is_transcript(&without_log(path)),
            Filter::File(file) => without_log(path) == *file,
            Filter::All => true,
        }
    }
}

/// The database to which a write-ahead log belongs; any other path as it is.
fn without_log(path: &Path) -> PathBuf {
    let database = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix("-wal"));
    database.map_or_else(|| path.to_owned(), |name| path.with_file_name(name))
}

/// Tells the thread which sources an event is of. Called by the system's thread.
fn handle(places: &RwLock<Places>, signals: &Signals, event: notify::Result<Event>) {
    let event = match event {
        Ok(event) => event,
        Err(error) => {
            tracing::debug!("events may be lost: {error}");
            return signals.change_all();
        }
    };
    if event.need_rescan() {
        return signals.change_all();
    }
    if matches!(event.kind, EventKind::Access(_)) {
        return;
    }
    for path in &event.paths {
        match changed(places, event.kind, path) {
            Some((sources, is_file)) => {
                let file = || is_file.then(|| without_log(path));
                sources.into_iter().for_each(|source| signals.change(source, file()));
            }
            None => signals.change_all(),
        }
    }
}

/// The sources to which a change of this path matters, and whether it is a file. `None` if it is in no folder that is
/// watched.
fn changed(places: &RwLock<Places>, kind: EventKind, path: &Path) -> Option<(BTreeSet<SourceId>, bool)> {
    let is_moved = matches!(kind, EventKind::Remove(_) | EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(_)));
    let is_folder = match kind {
        EventKind::Create(CreateKind::Folder) | EventKind::Remove(RemoveKind::Folder) => true,
        EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(_)) => path.is_dir(),
        _ => false,
    };
    let mut sources = if is_moved { places.write().moved(path) } else { BTreeSet::new() };
    let places = places.read();
    let own = places.folders.get(path);
    let of_parent = path.parent().and_then(|parent| places.folders.get(parent));
    if own.is_none() && of_parent.is_none() && sources.is_empty() {
        return None;
    }
    let wants = |source: &&SourceId| places.filters.get(source).is_none_or(|filter| filter.wants(path, is_folder));
    let of_parent = of_parent.into_iter().flatten().filter(wants);
    let is_file = own.is_none() && sources.is_empty() && !is_folder;
    sources.extend(own.into_iter().flatten().chain(of_parent));
    Some((sources, is_file))
}
