//! Sync, export and import: work that takes a while, and can be stopped.

use std::io::{BufRead, BufReader};
use std::path::Path;

use directories::BaseDirs;
use memorist_durable::open_plain;
use memorist_engine::Error;
use memorist_engine::config::ModelSource;
use memorist_engine::progress::Progress;
use memorist_engine::types::{Export, NewSource, Scope};
use memorist_ingest::detect::detect;
use memorist_ingest::sources::machine::Machine;
use memorist_ingest::sync::{SyncOptions, SyncReport, Syncer};
use serde_json::Value;

use super::open::Library;
use crate::atomic_file;
use crate::exit::Failure;
use crate::ops::{Importing, read_lines, write_lines};
use crate::tools::Problem;
use crate::tools::to_json;
use crate::wire::{self, ExportResult, ImportResult, SyncResult};

impl Library {
    /// Reads the files that have changed: those of `paths`, which become sources where they are none yet, or of all
    /// sources. Embeds what is new, where there is a model.
    ///
    /// # Errors
    /// If a path is not there, those of the store, and if it is stopped. A file that cannot be read is in the result.
    pub fn sync(&self, paths: &[&Path], force: bool, progress: &dyn Progress) -> Result<Value, Problem> {
        let each = match paths {
            [] => vec![SyncOptions { source: None, force }],
            paths => {
                let sources = paths.iter().map(|path| self.source(path));
                let sources = sources.collect::<Result<Vec<_>, Problem>>()?;
                let ids = sources.iter().map(|source| self.engine.add_source(source).map(|(id, _)| id));
                let options = ids.map(|id| Ok(SyncOptions { source: Some(id?), force }));
                options.collect::<Result<Vec<_>, Error>>()?
            }
        };
        let syncer = Syncer::new(&self.settings.store, self.settings.sync.clone(), self.settings.engine.model.clone());
        let mut report = SyncReport::default();
        for options in &each {
            report.sources.extend(syncer.sync(&self.engine, options, progress)?.sources);
        }
        let mut result = SyncResult::from(report);
        match self.flush(progress) {
            Ok(embedded) => result.embedded = embedded,
            Err(problem) if problem.kind == super::ProblemKind::Model => result.warnings.push(problem.message),
            Err(problem) => return Err(problem),
        }
        to_json(&result)
    }

    fn source(&self, path: &Path) -> Result<NewSource, Problem> {
        let real = dunce::canonicalize(path).map_err(|error| Failure::file(path, &error))?;
        let home = BaseDirs::new().ok_or_else(|| Problem::input("this account has no home folder"))?;
        let (kind, format) = detect(&real, &Machine::this(home.home_dir()));
        let no_text = |_| Problem::input(format!("{}: its path is not Unicode", path.display()));
        let path = real.into_os_string().into_string().map_err(no_text)?;
        let defaults = &self.context.defaults;
        let scope =
            Scope { project: defaults.project().map(str::to_owned), agent: defaults.agent().map(str::to_owned) };
        let format = format.map(|format| format.name().to_owned());
        Ok(NewSource { kind, path, format, globs: Vec::new(), scope })
    }

    /// Embeds what waits for it, where there is a model, and applies what is new to both indexes. Returns how many texts
    /// were embedded.
    ///
    /// # Errors
    /// If the model or the store fails, and if it is stopped.
    pub fn flush(&self, progress: &dyn Progress) -> Result<u64, Problem> {
        let has_model = self.settings.engine.model.source != ModelSource::None || self.engine.is_model_loaded();
        let embedded = if has_model { self.engine.embed_pending(progress) } else { Ok(0) };
        self.engine.flush(progress)?;
        Ok(embedded?)
    }

    /// Writes every memory that is seen, with versions and links, as lines of JSON into a file.
    ///
    /// # Errors
    /// If the file cannot be written, those of the store, and if it is stopped: then there is no file.
    pub fn export(&self, file: &Path, embeddings: bool, progress: &dyn Progress) -> Result<Value, Problem> {
        let export = Export { embeddings, ..Export::of(self.context.defaults.own_viewer()) };
        let failure = |error| Failure::file(file, &error);
        let written = atomic_file::write(&self.settings.store, file, |out| {
            write_lines(&self.engine, &export, progress, out, failure)
        })?;
        to_json(&ExportResult {
            file: file.display().to_string(),
            memories: wire::count(written.memories),
            links: wire::count(written.links),
        })
    }

    /// Merges the memories of such a file. The same file again changes nothing.
    ///
    /// # Errors
    /// If the file cannot be read, those of the store, and if it is stopped: what was read stays.
    pub fn import(&self, file: &Path, progress: &dyn Progress) -> Result<Value, Problem> {
        let opened = open_plain(file).map_err(|error| Failure::file(file, &error))?;
        self.import_from(BufReader::new(opened), file, false, progress)
    }

    /// Merges memories that an agent framework keeps, from lines of such a file: secrets are taken out, and what was deleted
    /// here stays deleted. The same lines again change nothing.
    ///
    /// # Errors
    /// Errors of the store, and if it is stopped: what was read stays.
    pub fn import_lines(&self, lines: &str, progress: &dyn Progress) -> Result<Value, Problem> {
        self.import_from(lines.as_bytes(), Path::new("lines"), true, progress)
    }

    fn import_from(
        &self,
        input: impl BufRead,
        name: &Path,
        from_another_system: bool,
        progress: &dyn Progress,
    ) -> Result<Value, Problem> {
        let mut result = ImportResult::default();
        let importing = Importing {
            engine: &self.engine,
            viewer: self.context.defaults.own_viewer(),
            keep_shared: false,
            restore_deleted: false,
            from_another_system,
            from_machine: false,
            defaults: &self.context.defaults,
            progress,
            saved: &|_| {},
        };
        read_lines(&importing, input, name, &mut result)?;
        to_json(&result)
    }
}
