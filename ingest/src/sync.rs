//! Reads all changed files of all sources into the store.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use directories::BaseDirs;
use memorist_engine::embed::{ModelSettings, Tokenizer, local_tokenizer};
use memorist_engine::progress::Progress;
use memorist_engine::sensitive::is_secret;
use memorist_engine::types::{
    FileChanges, FileReading, FileStamp, NewSource, PassedOver, Scope, Source, SourceFile, SourceId, SourceKind,
};
use memorist_engine::{Engine, Error, Result};
use memorist_sources::foreign::{Deadline, Foreign, Root};
use memorist_sources::formats::{self, Format, Skipped};
use memorist_sources::machine::Machine;
use memorist_sources::tokens::{Estimate, TokenCount};

use crate::delta;
use crate::detect::is_own;
use crate::listing::{self, Listing};
use crate::lock::{SyncGuard, SyncLock};
use crate::note::{NoteReader, why};
use crate::reading::{BATCH_FILES, SourceReader, Task};
use crate::session::{self, SessionReader};
use crate::settings::SyncSettings;
use crate::{origins, project, stamp};

/// Why the files of an empty folder are not gone.
const NOT_MOUNTED: &str = "it is empty, and its files were on another disk, which may not be mounted; their memories \
     stay until there are files again, or the source is removed";
/// Problems that a report lists.
const NAMED: usize = 20;

/// Reads the files of a store's sources.
pub struct Syncer {
    settings: SyncSettings,
    model: ModelSettings,
    lock: SyncLock,
    watching: SyncLock,
    home: Option<PathBuf>,
    words: OnceLock<Option<ModelTokens>>,
}

/// Selects the files to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncOptions {
    /// Only this source.
    pub source: Option<SourceId>,
    /// All files, as if they were new.
    pub force: bool,
}

/// The result of a sync.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// Results by source.
    pub sources: Vec<SourceReport>,
}

/// The result of the sync of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceReport {
    pub source: Source,
    pub files: u64,
    /// Files that were read.
    pub read: u64,
    /// Bytes of the files that were read.
    pub bytes: u64,
    /// Files that are gone since the last sync.
    pub gone: u64,
    /// Changes in the store.
    pub changes: FileChanges,
    /// How many files, and records within files, were passed over, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Files that could not be read, and why: the first 20.
    pub problems: Vec<(String, String)>,
    /// Number of files that could not be read.
    pub failed: u64,
    /// The folders that were listed.
    pub folders: BTreeSet<PathBuf>,
}

impl SyncReport {
    /// The changes of all sources together.
    pub fn changes(&self) -> FileChanges {
        let mut all = FileChanges::default();
        self.sources.iter().for_each(|source| all.add(source.changes.clone()));
        all
    }
}

impl Syncer {
    /// Reads files into the store in this folder. `model` is the store's, whose tokens are counted.
    pub fn new(store: &Path, settings: SyncSettings, model: ModelSettings) -> Self {
        let home =
            BaseDirs::new().map(|dirs| dunce::canonicalize(dirs.home_dir()).unwrap_or(dirs.home_dir().to_owned()));
        let (lock, watching) = (SyncLock::of(store), SyncLock::to_watch(store));
        Syncer { settings, model, lock, watching, home, words: OnceLock::new() }
    }

    pub fn settings(&self) -> &SyncSettings {
        &self.settings
    }

    /// Reads changed files. While another process does so, this one waits, and finds no changes. An interrupted sync is continued
    /// by the next.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; errors of the store. A file, or a source, that cannot be read is in the report.
    pub fn sync(&self, engine: &Engine, options: &SyncOptions, progress: &dyn Progress) -> Result<SyncReport> {
        let guard = self.lock.acquire(|| progress.cancelled()).map_err(|error| lock_error(&error))?;
        let Some(guard) = guard else { return Err(Error::Cancelled) };
        self.sync_locked(engine, options, progress, &guard)
    }

    /// Like [`Syncer::sync`], but returns `None` while another process reads files.
    ///
    /// # Errors
    /// Errors of [`Syncer::sync`].
    pub fn try_sync(
        &self,
        engine: &Engine,
        options: &SyncOptions,
        progress: &dyn Progress,
    ) -> Result<Option<SyncReport>> {
        match self.lock.try_acquire().map_err(|error| lock_error(&error))? {
            Some(guard) => self.sync_locked(engine, options, progress, &guard).map(Some),
            None => Ok(None),
        }
    }

    /// Reads these files of a source, which are known already, without looking at the others. `None` if one of them is new or
    /// gone, or if another process is reading: then all have to be looked at.
    pub(crate) fn try_sync_files(
        &self,
        engine: &Engine,
        source: SourceId,
        files: &BTreeSet<PathBuf>,
        progress: &dyn Progress,
    ) -> Result<Option<SyncReport>> {
        let guard = self.lock.try_acquire().map_err(|error| lock_error(&error))?;
        let source = engine.sources()?.into_iter().find(|known| known.id == source);
        let Some((source, _guard)) = source.zip(guard) else { return Ok(None) };
        let mut listing = Listing::default();
        let mut known = Vec::new();
        for path in files {
            let file = path.to_str().map_or(Ok(None), |path| engine.source_file(source.id, path))?;
            let Some(file) = file.filter(|file| file.gone_at.is_none()) else { return Ok(None) };
            let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
            let fits =
                |stamp: &FileStamp| stamp.size <= self.settings.max_file_bytes && !is_secret(&path.to_string_lossy());
            let Some(stamp) = stamp::of(path).ok().filter(|_| is_file).filter(fits) else { return Ok(None) };
            listing.files.insert(path.clone(), stamp);
            known.push(file);
        }
        let one = OneSource { syncer: self, engine, progress, force: false };
        Ok(one
            .read_listed(SourceReport::of(source), &known, &listing)?
            .map(|report| SyncReport { sources: vec![report] }))
    }

    /// The right to watch the files of the store for all of its processes, if no process has it.
    pub(crate) fn lead(&self) -> io::Result<Option<SyncGuard<'_>>> {
        self.watching.try_acquire()
    }

    /// The folders of a source that may have files, without reading any.
    pub(crate) fn folders(
        &self,
        engine: &Engine,
        source: &NewSource,
        progress: &dyn Progress,
    ) -> io::Result<BTreeSet<PathBuf>> {
        let format = source.format.as_deref().and_then(formats::by_name);
        let one = OneSource { syncer: self, engine, progress, force: false };
        one.list(source, format).map(|listing| listing.folders)
    }

    fn sync_locked(
        &self,
        engine: &Engine,
        options: &SyncOptions,
        progress: &dyn Progress,
        _guard: &SyncGuard<'_>,
    ) -> Result<SyncReport> {
        let sources = engine.sources()?;
        let mut report = SyncReport::default();
        // A file that two sources have belongs to the one that was added first.
        let mut taken = BTreeSet::new();
        let wanted = sources.iter().find(|source| options.source == Some(source.id)).map(|one| one.source.path.clone());
        for source in sources {
            let is_wanted = options.source.is_none_or(|id| id == source.id);
            if !is_wanted {
                if !wanted.as_ref().is_some_and(|path| overlap(path, &source.source.path)) {
                    continue;
                }
                taken.extend(engine.source_files(source.id)?.into_iter().map(|file| PathBuf::from(file.path)));
                continue;
            }
            let one = OneSource { syncer: self, engine, progress, force: options.force };
            if let Some(of_source) = one.sync(source, &mut taken)? {
                report.sources.push(of_source);
            }
        }
        Ok(report)
    }

    /// Counts the tokens of the store's model, if its tokenizer is on this machine.
    fn tokens(&self) -> &dyn TokenCount {
        let words = self.words.get_or_init(|| local_tokenizer(&self.model).map(ModelTokens)).as_ref();
        words.map_or(&Estimate as &dyn TokenCount, |words| words)
    }
}

/// Whether two paths can have files in common. A link may lead from one into the other, but its file is known by its path.
fn overlap(one: &str, other: &str) -> bool {
    let (one, other) = (Path::new(one), Path::new(other));
    one.starts_with(other) || other.starts_with(one)
}

/// Counts as the store's model does.
struct ModelTokens(Tokenizer);

impl TokenCount for ModelTokens {
    fn count(&self, text: &str) -> usize {
        self.0.count(text)
    }
}

fn lock_error(error: &io::Error) -> Error {
    Error::invalid("store", format!("its sources cannot be locked: {error}"))
}

/// One source, while it is read.
struct OneSource<'a> {
    syncer: &'a Syncer,
    engine: &'a Engine,
    progress: &'a dyn Progress,
    force: bool,
}

impl OneSource<'_> {
    /// Reads the changed files; `None` if the source is gone by now.
    fn sync(&self, source: Source, taken: &mut BTreeSet<PathBuf>) -> Result<Option<SourceReport>> {
        let known = self.engine.source_files(source.id)?;
        let mut report = SourceReport::of(source);
        let format = report.source.source.format.as_deref().and_then(formats::by_name);
        let found = self.list(&report.source.source, format);
        let (mut listing, root) =
            match found.and_then(|found| Ok((found, Root::open(Path::new(&report.source.source.path))?))) {
                Ok(found) => found,
                Err(_) if self.progress.cancelled() => return Err(Error::Cancelled),
                Err(error) => {
                    // A disk that is not mounted has lost nothing: what was read of it stays.
                    let path = report.source.source.path.clone();
                    report.problem(path, format!("{}; its memories stay", why(&error)));
                    taken.extend(known.into_iter().map(|file| PathBuf::from(file.path)));
                    return Ok(Some(report));
                }
            };
        listing.leave_out_secrets();
        let missing = unmounted(&known, &listing);
        let all = listing.files.len();
        listing.files.retain(|path, _| taken.insert(path.clone()));
        for _ in listing.files.len()..all {
            listing.skipped.count("in another source");
        }
        report.files = listing.files.len() as u64;
        report.folders = std::mem::take(&mut listing.folders);
        let gone = gone(&known, &listing, &missing, &mut report);
        if !missing.is_empty() {
            let path = report.source.source.path.clone();
            report.problem(path, NOT_MOUNTED.to_owned());
            listing.skipped.counts.insert("on a disk that is not mounted", missing.len() as u64);
        }
        let tasks = self.tasks(&root, &known, &listing, &gone, format);
        if !self.read_all(&mut report, &root, &tasks, &known, format)? {
            return Ok(None);
        }
        let moved: BTreeSet<i64> = tasks.iter().filter_map(|task| task.known).map(|file| file.id).collect();
        let gone: Vec<i64> = gone.iter().map(|file| file.id).filter(|id| !moved.contains(id)).collect();
        for gone in gone.chunks(BATCH_FILES) {
            report.changes.add(self.engine.miss_files(report.source.id, gone)?);
            report.gone += gone.len() as u64;
        }
        let Skipped { counts, files, all_files } = &listing.skipped;
        let files = files.iter().map(|(path, why)| (path.to_string_lossy().into_owned(), (*why).to_owned())).collect();
        let counts = counts.iter().map(|(why, count)| ((*why).to_owned(), *count)).collect();
        self.engine.finish_sync(report.source.id, &PassedOver { counts, files, all_files: *all_files })?;
        for (reason, count) in listing.skipped.counts {
            *report.skipped.entry(reason.to_owned()).or_default() += count;
        }
        Ok(Some(report))
    }

    /// Reads the changed ones among known files.
    fn read_listed(
        &self,
        mut report: SourceReport,
        known: &[SourceFile],
        listing: &Listing,
    ) -> Result<Option<SourceReport>> {
        let format = report.source.source.format.as_deref().and_then(formats::by_name);
        // What is wrong with the folder is said when all of it is looked at.
        let Ok(root) = Root::open(Path::new(&report.source.source.path)) else { return Ok(None) };
        let tasks = self.tasks(&root, known, listing, &[], format);
        report.files = known.len() as u64;
        Ok(self.read_all(&mut report, &root, &tasks, known, format)?.then_some(report))
    }

    fn list(&self, source: &NewSource, format: Option<&'static dyn Format>) -> io::Result<Listing> {
        let go_on = || if self.progress.cancelled() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) };
        match (source.kind, format) {
            (SourceKind::Notes, _) => listing::notes(source, &self.syncer.settings, &go_on),
            (SourceKind::Sessions, Some(format)) => {
                let machine = Machine::this(self.syncer.home.as_deref().unwrap_or(Path::new("/")));
                let is_own = is_own(Path::new(&source.path), format, &machine);
                listing::sessions(source, format, is_own, &go_on)
            }
            (SourceKind::Sessions, None) => {
                let name = source.format.as_deref().unwrap_or_default();
                Err(io::Error::other(format!("unknown format {name:?}")))
            }
        }
    }

    /// Its owner: the scope of the source, with the project of its folder if it has none.
    fn scope(&self, source: &NewSource) -> Scope {
        let of_folder = || project::of_folder(Path::new(&source.path), self.syncer.home.as_deref());
        let project = source.scope.project.clone();
        let project = if source.kind == SourceKind::Notes { project.or_else(of_folder) } else { project };
        Scope { project, agent: source.scope.agent.clone() }
    }

    /// The files that have to be read.
    fn tasks<'k>(
        &self,
        root: &Root,
        known: &'k [SourceFile],
        listing: &Listing,
        gone: &[&'k SourceFile],
        format: Option<&'static dyn Format>,
    ) -> Vec<Task<'k>> {
        let notes = self.notes();
        let by_path: HashMap<&str, &SourceFile> = known.iter().map(|file| (file.path.as_str(), file)).collect();
        // A note that is gone and has its inode elsewhere was renamed.
        let mut renamed: HashMap<(u64, u64), &SourceFile> = HashMap::new();
        if format.is_none() {
            renamed.extend(gone.iter().map(|file| (file.stamp.identity, *file)).filter(|(id, _)| *id != (0, 0)));
        }
        let mut tasks = Vec::new();
        for (path, &stamp) in &listing.files {
            let known = by_path.get(&*path.to_string_lossy()).copied();
            let is_unchanged = known.is_some_and(|known| {
                known.stamp == stamp
                    && known.problem.is_none()
                    && known.gone_at.is_none()
                    && !self.force
                    && if format.is_some() { session::is_current(known) } else { notes.is_current(known) }
            });
            if is_unchanged || known.is_some_and(|known| self.waits(known, root, path, stamp, format)) {
                continue;
            }
            let known = known.or_else(|| renamed.remove(&stamp.identity));
            tasks.push(Task { path: path.clone(), stamp, known });
        }
        tasks
    }

    /// Whether a transcript has grown too little to be read.
    fn waits(
        &self,
        known: &SourceFile,
        root: &Root,
        path: &Path,
        stamp: FileStamp,
        format: Option<&'static dyn Format>,
    ) -> bool {
        let deadline = Deadline::default();
        let file = Foreign { root, path, deadline: &deadline };
        format.is_some()
            && !self.force
            && delta::waits(&self.syncer.settings, file, known.stamp, stamp, SystemTime::now())
    }

    fn notes(&self) -> NoteReader<'_> {
        let settings = &self.syncer.settings;
        let (limits, max_bytes) = (settings.limits(), settings.max_file_bytes);
        NoteReader { limits, tokens: self.syncer.tokens(), force: self.force, max_bytes }
    }

    /// Reads files together and saves them together. False if the source is gone.
    fn read_all(
        &self,
        report: &mut SourceReport,
        root: &Root,
        tasks: &[Task<'_>],
        known: &[SourceFile],
        format: Option<&'static dyn Format>,
    ) -> Result<bool> {
        if tasks.is_empty() {
            return Ok(true);
        }
        let (notes, scope) = (self.notes(), self.scope(&report.source.source));
        let sessions = format.map(|format| SessionReader {
            format,
            limits: self.syncer.settings.limits(),
            tokens: self.syncer.tokens(),
            force: self.force,
            scope: &scope,
            home: self.syncer.home.as_deref(),
        });
        let has_new_notes = sessions.is_none() && tasks.iter().any(|task| task.known.is_none());
        let mut left = if has_new_notes { self.engine.left_threads()? } else { BTreeMap::new() };
        left.retain(|_, thread| !origins::is_moved_thread(thread));
        let threads = threads(tasks, known, &left);
        let what = format!("reading {}", report.source.source.path);
        self.progress.start(&what, Some(tasks.len() as u64));
        let reader = SourceReader {
            engine: self.engine,
            source: report.source.id,
            root,
            scope: &scope,
            notes: &notes,
            sessions,
            threads,
            progress: self.progress,
        };
        let outcome = reader.read_all(tasks, &mut |task, reading, is_first| report.count(task, reading, is_first));
        self.progress.finish();
        match outcome {
            Err(Error::NotFound(_)) => Ok(false),
            outcome => outcome.map(|changes| {
                report.changes.add(changes);
                true
            }),
        }
    }
}

impl SourceReport {
    /// The report of a source before its files are read.
    fn of(source: Source) -> Self {
        SourceReport {
            source,
            files: 0,
            read: 0,
            bytes: 0,
            gone: 0,
            changes: FileChanges::default(),
            skipped: BTreeMap::new(),
            problems: Vec::new(),
            failed: 0,
            folders: BTreeSet::new(),
        }
    }

    fn problem(&mut self, path: String, why: String) {
        self.failed += 1;
        if self.problems.len() < NAMED {
            self.problems.push((path, why));
        }
    }

    fn count(&mut self, task: &Task<'_>, reading: &FileReading, is_first: bool) {
        if let Some(why) = &reading.problem {
            self.problem(reading.path.clone(), why.clone());
            return;
        }
        if is_first {
            self.read += 1;
            self.bytes += task.stamp.size;
        }
        for (reason, count) in &reading.skipped {
            *self.skipped.entry((*reason).to_owned()).or_default() += count;
        }
    }
}

/// The files of an empty source that were on another disk than its folder is now: the disk may not be mounted. Where a disk is
/// unknown, it may be another one.
fn unmounted(known: &[SourceFile], listing: &Listing) -> BTreeSet<i64> {
    if !listing.files.is_empty() {
        return BTreeSet::new();
    }
    let is_elsewhere = |file: &&SourceFile| {
        let path = Path::new(&file.path);
        let is_missing = fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let folder = || path.ancestors().skip(1).find_map(stamp::device);
        is_missing && folder() != Some(file.stamp.identity.0).filter(|&device| device != 0)
    };
    known.iter().filter(|file| file.gone_at.is_none()).filter(is_elsewhere).map(|file| file.id).collect()
}

/// The files that were read and are not listed any more. A file that only cannot be reached is a problem, and stays.
fn gone<'k>(
    known: &'k [SourceFile],
    listing: &Listing,
    unmounted: &BTreeSet<i64>,
    report: &mut SourceReport,
) -> Vec<&'k SourceFile> {
    let missing = known.iter().filter(|file| {
        file.gone_at.is_none() && !unmounted.contains(&file.id) && !listing.files.contains_key(Path::new(&file.path))
    });
    let all_read = !listing.skipped.counts.contains_key("unreadable");
    let gone = missing.filter(|file| match fs::symlink_metadata(&file.path) {
        // It is there, and not wanted any more: a glob, or an ignore file, excludes it. Or its folder could not be read.
        Ok(_) if !all_read => {
            report.problem(file.path.clone(), "its folder is not readable; its memories stay".to_owned());
            false
        }
        Ok(_) => true,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => true,
        Err(error) => {
            report.problem(file.path.clone(), format!("{}; its memories stay", why(&error)));
            false
        }
    });
    gone.collect()
}

/// The thread of each note: the one that it has, or had in a source that was removed; else its path, unless another note still
/// has that.
fn threads(tasks: &[Task<'_>], known: &[SourceFile], left: &BTreeMap<String, String>) -> HashMap<PathBuf, String> {
    let mut used: BTreeSet<String> = known.iter().map(|file| file.thread.clone()).collect();
    used.extend(left.values().cloned());
    let thread = |task: &Task<'_>| {
        if let Some(known) = task.known {
            return (task.path.clone(), known.thread.clone());
        }
        let path = task.path.to_string_lossy();
        if let Some(thread) = left.get(&*path) {
            return (task.path.clone(), thread.clone());
        }
        let longest = memorist_engine::types::MAX_LABEL_BYTES - 16;
        let name = &path[path.ceil_char_boundary(path.len().saturating_sub(longest))..];
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| !used.contains(name));
        let thread = free.unwrap_or_else(|| name.to_owned());
        used.insert(thread.clone());
        (task.path.clone(), thread)
    };
    tasks.iter().map(thread).collect()
}
