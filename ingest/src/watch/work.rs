//! The thread of a watcher.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use memorist_engine::progress::Progress as _;
use memorist_engine::types::{NewSource, Source, SourceId};
use memorist_engine::{Engine, Error};

use super::folders::Folders;
use super::mounts;
use super::plan::{Look, Plan};
use super::signals::{News, Signals};
use crate::lock::SyncGuard;
use crate::settings::SyncSettings;
use crate::sync::{SourceReport, SyncOptions, SyncReport, Syncer};

/// Interval of checks whether sources came or went, a folder appeared, or the process that watches has ended.
const LOOK: Duration = Duration::from_secs(2);

/// The thread of a watcher.
pub struct Worker<'a> {
    engine: &'a Engine,
    syncer: &'a Syncer,
    signals: &'a Signals,
    on_report: &'a dyn Fn(&SyncReport),
    folders: Folders,
    /// The lock of the process that watches for all others.
    lead: Option<SyncGuard<'a>>,
    sources: BTreeMap<SourceId, (Source, Plan)>,
    look_at: Instant,
    interval_at: Option<Instant>,
    said: Said,
}

/// Messages that were logged already.
#[derive(Default)]
struct Said {
    failure: Option<String>,
    polled: BTreeSet<SourceId>,
    problems: BTreeMap<SourceId, BTreeSet<(String, String)>>,
}

impl<'a> Worker<'a> {
    /// Reads files of the syncer's sources into the engine's store.
    pub fn new(
        engine: &'a Engine,
        syncer: &'a Syncer,
        signals: &'a Arc<Signals>,
        on_report: &'a dyn Fn(&SyncReport),
    ) -> Self {
        let now = Instant::now();
        Worker {
            engine,
            syncer,
            signals,
            on_report,
            folders: Folders::new(signals.clone()),
            lead: None,
            sources: BTreeMap::new(),
            look_at: now,
            interval_at: syncer.settings().interval().map(|interval| now + interval),
            said: Said::default(),
        }
    }

    /// Runs until it is stopped.
    pub fn run(&mut self) {
        if !self.settings().watch {
            self.look_for_sources(Instant::now(), self.settings().on_start);
        }
        while !self.signals.cancelled() {
            let now = Instant::now();
            if self.look_at <= now {
                self.take_the_lead(now);
                self.look_for_sources(now, !self.stands_by());
                self.look_at = now + LOOK;
            }
            if self.interval_at.is_some_and(|at| at <= now) {
                self.interval_at = self.settings().interval().map(|interval| now + interval);
                self.read_all(now);
            }
            self.signals.set_unread(self.sources.values().any(|(_, plan)| plan.is_behind(now)));
            let next = self.next();
            if let Some((_, id)) = next.filter(|(due, _)| *due <= now) {
                self.read(id);
                self.hear(now);
                continue;
            }
            let wakes = [Some(self.look_at), self.interval_at, next.map(|(due, _)| due)];
            self.hear(wakes.into_iter().flatten().min().unwrap_or(self.look_at));
        }
    }

    fn settings(&self) -> &'a SyncSettings {
        self.syncer.settings()
    }

    /// Whether another process watches.
    fn stands_by(&self) -> bool {
        self.settings().watch && self.lead.is_none()
    }

    /// The source that has to be read first, and when.
    fn next(&self) -> Option<(Instant, SourceId)> {
        let settings = self.settings();
        self.sources.iter().filter_map(|(id, (_, plan))| plan.due(settings).map(|due| (due, *id))).min()
    }

    fn read_all(&mut self, now: Instant) {
        self.sources.values_mut().for_each(|(_, plan)| plan.read_now(now));
    }

    /// Waits for news, at most until `until`.
    fn hear(&mut self, until: Instant) {
        let News { changed, all, searched } = self.signals.wait_until(until);
        let now = Instant::now();
        for (id, change) in changed {
            if let Some((_, plan)) = self.sources.get_mut(&id) {
                plan.change(change);
            }
        }
        if all {
            self.read_all(now);
        }
        if searched && self.settings().on_search && !self.stands_by() {
            self.sources.values_mut().for_each(|(_, plan)| plan.searched(now));
        }
    }

    /// Watches for all processes, if none does.
    fn take_the_lead(&mut self, now: Instant) {
        if !self.settings().watch || self.lead.is_some() {
            return;
        }
        match self.syncer.lead() {
            Ok(Some(lead)) => {
                self.lead = Some(lead);
                self.look_for_sources(now, false);
                let ids: Vec<SourceId> = self.sources.keys().copied().collect();
                if self.settings().on_start {
                    self.read_all(now);
                } else {
                    ids.into_iter().for_each(|id| self.watch_unread(id));
                }
                self.signals.set_leads(true);
            }
            Ok(None) => {}
            Err(error) => self.failed(&format!("the lock of its watcher: {error}")),
        }
    }

    /// Watches a source without reading it.
    fn watch_unread(&mut self, id: SourceId) {
        let Some((source, _)) = self.sources.get(&id) else { return };
        let source = source.source.clone();
        let folders = self.syncer.folders(self.engine, &source, self.signals);
        self.watch(id, &folders.unwrap_or_default());
    }

    /// Sources that others added, changed or removed, and folders that have appeared.
    fn look_for_sources(&mut self, now: Instant, read_new: bool) {
        let found = match self.engine.sources() {
            Ok(found) => found,
            Err(error) => return self.failed(&error.to_string()),
        };
        let ids: BTreeSet<SourceId> = found.iter().map(|source| source.id).collect();
        let gone: Vec<SourceId> = self.sources.keys().filter(|id| !ids.contains(id)).copied().collect();
        for id in gone {
            self.sources.remove(&id);
            self.folders.forget(id);
            self.said.problems.remove(&id);
        }
        for source in found {
            if self.sources.get(&source.id).is_some_and(|(known, _)| known.source == source.source) {
                continue;
            }
            let mut plan = Plan::new(now);
            if read_new {
                plan.read_now(now);
            }
            self.sources.insert(source.id, (source, plan));
        }
        for (source, plan) in self.sources.values_mut().filter(|(_, plan)| plan.look == Look::Missing) {
            if is_there(&source.source) {
                plan.look = Look::Never;
                plan.appeared(now);
            }
        }
    }

    /// Reads the changed files of a source.
    fn read(&mut self, id: SourceId) {
        let settings = self.settings();
        let Some((_, plan)) = self.sources.get_mut(&id) else { return };
        let files = plan.begin();
        let began = Instant::now();
        if let Some(files) = files
            && let Ok(Some(report)) = self.syncer.try_sync_files(self.engine, id, &files, self.signals)
        {
            plan.read(began.elapsed(), settings, Instant::now());
            report.sources.iter().for_each(|source| self.say_problems(source));
            return (self.on_report)(&report);
        }
        let options = SyncOptions { source: Some(id), force: false };
        let outcome = self.syncer.try_sync(self.engine, &options, self.signals);
        let (took, now) = (began.elapsed(), Instant::now());
        match outcome {
            Ok(Some(report)) => {
                self.said.failure = None;
                plan.read(took, settings, now);
                for source in &report.sources {
                    self.say_problems(source);
                    self.follow(source, now);
                }
                (self.on_report)(&report);
            }
            Ok(None) => plan.busy(now),
            Err(Error::Cancelled) => {}
            Err(error) => {
                plan.fail(now);
                self.failed(&error.to_string());
            }
        }
    }

    /// Watches the folders in which files were looked for.
    fn follow(&mut self, report: &SourceReport, now: Instant) {
        if self.lead.is_none() {
            return;
        }
        self.watch(report.source.id, &report.folders);
        let Some((_, plan)) = self.sources.get_mut(&report.source.id) else { return };
        match report.folders.is_empty() {
            true if plan.look != Look::Missing => plan.fail(now),
            true => {}
            false => plan.recovered(),
        }
    }

    /// Watches these folders of a source; without any, it cannot be looked at.
    fn watch(&mut self, id: SourceId, folders: &BTreeSet<PathBuf>) {
        let polls = self.settings().poll;
        let Some((source, plan)) = self.sources.get_mut(&id) else { return };
        if folders.is_empty() {
            self.folders.forget(id);
            plan.look = if is_there(&source.source) { Look::Never } else { Look::Missing };
            return;
        }
        if plan.look == Look::Polled {
            return;
        }
        let silent = || mounts::silent(Path::new(&source.source.path)).map(|kind| format!("{kind} does not tell"));
        let by_settings = polls.then(|| "by the settings".to_owned());
        let watched = match by_settings.or_else(silent) {
            Some(why) => Err(why),
            None => self.folders.watch(source, folders).map_err(|error| error.to_string()),
        };
        match watched {
            Ok(is_new) => {
                plan.look = Look::Watched;
                if is_new {
                    // It may have changed between the look and the watch.
                    plan.read_again(Instant::now());
                }
            }
            Err(why) => {
                plan.look = Look::Polled;
                if self.said.polled.insert(id) {
                    tracing::info!("{} is polled, not watched: {why}", source.source.path);
                }
            }
        }
    }

    fn say_problems(&mut self, report: &SourceReport) {
        let now: BTreeSet<_> = report.problems.iter().cloned().collect();
        let said = self.said.problems.entry(report.source.id).or_default();
        for (path, why) in now.difference(said) {
            tracing::warn!("not read: {path}: {why}");
        }
        *said = now;
    }

    /// Logs a failure, once as long as it lasts.
    fn failed(&mut self, why: &str) {
        if self.said.failure.as_deref() != Some(why) {
            tracing::warn!("files are not read: {why}");
            self.said.failure = Some(why.to_owned());
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.signals.set_leads(false);
    }
}

fn is_there(source: &NewSource) -> bool {
    fs::metadata(&source.path).is_ok()
}
