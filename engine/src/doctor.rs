//! Checks that a store is sound: that the database keeps its rules, that both indexes are complete, and that all three
//! agree on the records.

use std::sync::Arc;
use std::time::Duration;

use roaring::RoaringTreemap;

use crate::config::ModelSource;
use crate::error::{Error, Remedy, Result};
use crate::passages::{PassageKey, of_records};
use crate::progress::Progress;
use crate::records::{Change, MAX_JOB_FAILURES, NextModel, Refused, Salvage, Snapshot};
use crate::sync::{Store, has_model, identity};
use crate::types::{AboutJob, Filter, ForeignMemories, Millis, RecordId, Seq};
use crate::vectors::VectorSnapshot;

/// Most findings named per check; the rest is counted.
const NAMED: usize = 5;
/// Records per step of a walk over all of them.
const STEP: usize = 5_000;
/// How often to retry if the log was trimmed between taking the two snapshots.
const RETRIES: usize = 50;
/// How long a provider is waited for. A local one may accept a connection and never answer.
const PROVIDER_WAIT: Duration = Duration::from_secs(5);
const BEHIND: &str = "it is behind the oldest entry of the sync log";
/// A stored vector and its copy in the index are equal if their cosine is within this of 1 (f32 rounding).
const SAME: f32 = 1e-3;

/// The result of one check.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Check {
    /// The checked part: `database`, `keywords`, `vectors` or `model`; and `map`, where there is one.
    pub name: String,
    /// Whether it is sound.
    pub ok: bool,
    /// The findings, as text.
    pub details: Vec<String>,
    /// The remedy for a failed check, or for a model that is not set up.
    pub remedy: Option<Remedy>,
}

/// The result of [`crate::Engine::doctor`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// Every check, in order. If the database is damaged, it is the only one: the indexes cannot be judged then.
    pub checks: Vec<Check>,
    /// For a damaged database: what can be salvaged, or what was.
    pub salvage: Option<Salvage>,
}

impl Diagnosis {
    /// Whether every check is sound.
    pub fn is_sound(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }

    /// Whether this check was made and failed.
    pub(crate) fn has_failed(&self, name: &str) -> bool {
        self.checks.iter().any(|check| check.name == name && !check.ok)
    }

    /// For a database that cannot even be opened.
    pub(crate) fn of_unusable_database(why: &Error) -> Self {
        let remedy = why.remedy().unwrap_or(Remedy::Repair);
        Diagnosis { checks: vec![verdict(DATABASE, vec![why.to_string()], String::new(), remedy)], salvage: None }
    }
}

/// Runs all checks. Reads the whole store once; changes nothing.
pub(crate) fn examine(store: &Store, progress: &dyn Progress) -> Result<Diagnosis> {
    let checks = [
        (DATABASE, database as fn(&Store, &dyn Progress) -> Result<Check>),
        (KEYWORDS, keywords),
        (VECTORS, vectors),
        ("model", model),
    ];
    let mut diagnosis = Diagnosis { checks: Vec::new(), salvage: None };
    for (name, check) in checks {
        progress.start(&format!("checking {name}"), None);
        let result = check(store, progress);
        progress.finish();
        if progress.cancelled() {
            return Err(Error::Cancelled);
        }
        diagnosis.checks.push(result?);
        if diagnosis.has_failed(DATABASE) {
            break;
        }
    }
    if !diagnosis.has_failed(DATABASE) {
        diagnosis.checks.extend(map(store)?);
    }
    Ok(diagnosis)
}

fn map(store: &Store) -> Result<Option<Check>> {
    let model = store.model()?.map(|(_, model)| identity(&model)).unwrap_or_default();
    let found = crate::map::examine(store.map.folder(), store.records.lineage(), &model)?;
    Ok(found.map(|found| match found {
        Ok(found) => verdict(MAP, Vec::new(), found, Remedy::RebuildMap),
        Err(problem) => verdict(MAP, vec![problem], String::new(), Remedy::RebuildMap),
    }))
}

fn database(store: &Store, _progress: &dyn Progress) -> Result<Check> {
    let problems = match store.records.integrity() {
        Err(error @ (Error::DatabaseFailed(_) | Error::Database { .. })) => vec![error.to_string()],
        problems => problems?,
    };
    let count = if problems.is_empty() { store.records.snapshot()?.live_count(store.now())? } else { 0 };
    let mut check = verdict(DATABASE, problems, format!("{count} records"), Remedy::Repair);
    if check.ok {
        check.details.extend(not_taken_over(store)?);
    }
    Ok(check)
}

/// Lists the data from the server that a node of a team does not use. It is no damage.
fn not_taken_over(store: &Store) -> Result<Vec<String>> {
    let mut lines = store.records.set_aside_here()?;
    for source in store.records.copy().snapshot()?.sources()? {
        if !store.records.is_own_source(&source.source) {
            let path = source.source.path;
            lines.push(format!(
                "the source {path} was not added on this node, and is not read; `memorist source add` adds it, `memorist source \
                 remove` then removes it"
            ));
        }
    }
    let more = lines.len().saturating_sub(NAMED);
    lines.truncate(NAMED);
    lines.extend((more > 0).then(|| format!("... and {more} more")));
    Ok(lines)
}

fn keywords(store: &Store, _progress: &dyn Progress) -> Result<Check> {
    let index = match store.keywords.get() {
        Ok(index) => index,
        Err(_) if store.unbuilt_keywords()?.is_some() => {
            return Ok(verdict(KEYWORDS, Vec::new(), NOT_MADE.into(), Remedy::Rebuild));
        }
        Err(why) => return Ok(out_of_use(KEYWORDS, why)),
    };
    let mut problems = index.verify()?;
    let Some((snapshot, records)) = side_by_side(store, || index.snapshot(), |snapshot| snapshot.applied())? else {
        return Ok(out_of_use("keywords", BEHIND.into()));
    };
    let tail = touched(&records, snapshot.applied(), Change::concerns_words)?;
    let indexed = snapshot.matching(&Filter::default())?;
    problems.extend(disagreement(&(record_ids(&records)? - &tail), &(&indexed - &tail), "document"));
    Ok(verdict(KEYWORDS, problems, format!("{} documents", indexed.len()), Remedy::Rebuild))
}

fn vectors(store: &Store, progress: &dyn Progress) -> Result<Check> {
    // Another process may have changed the model, and the index with it.
    store.reopen()?;
    let Some((id, model)) = store.model()? else {
        return Ok(verdict(VECTORS, Vec::new(), "no embedding model has been used yet".into(), Remedy::Rebuild));
    };
    let index = match store.vectors.get() {
        Ok(index) if has_model(&*index, &model) => index,
        Ok(_) => return Ok(out_of_use(VECTORS, Error::of_another_model().to_string())),
        Err(_) if store.unbuilt_vectors()?.is_some() => {
            return Ok(verdict(VECTORS, Vec::new(), NOT_MADE.into(), Remedy::Rebuild));
        }
        Err(why) => return Ok(out_of_use(VECTORS, why)),
    };
    let mut problems = index.verify()?;
    let Some((snapshot, records)) = side_by_side(store, || index.snapshot(), |snapshot| snapshot.applied())? else {
        return Ok(out_of_use("vectors", BEHIND.into()));
    };
    let tail = touched(&records, snapshot.applied(), Change::concerns_vectors)?;
    let mut embedded = RoaringTreemap::new();
    let mut changed = Vec::new();
    for ids in record_ids(&records)?.iter().collect::<Vec<_>>().chunks(STEP) {
        let ids: Vec<RecordId> = ids.iter().copied().map(RecordId::from_key).collect();
        for (key, vector) in records.embeddings(id, &ids)? {
            embedded.insert(key.get());
            if !tail.contains(key.record().key()) && !is_copied(&*snapshot, key, &vector)? {
                changed.push(key);
            }
        }
        progress.advance(ids.len() as u64);
    }
    let indexed = snapshot.keys();
    let tail = &tail | of_records(&tail, &(&embedded | &indexed));
    problems.extend(disagreement(&(embedded - &tail), &(&indexed - &tail), "vector"));
    problems.extend(named(&changed, "vector differs from the stored embedding: record"));
    Ok(verdict(VECTORS, problems, format!("{} vectors", indexed.len()), Remedy::Rebuild))
}

fn model(store: &Store, _progress: &dyn Progress) -> Result<Check> {
    let is_folder = matches!(store.config().model.source, ModelSource::Folder(_));
    let (ok, found, remedy) = match store.host.verify_within(PROVIDER_WAIT).map_err(Error::from) {
        Ok(Some(name)) => (true, name, None),
        Ok(None) if store.config().model.source == ModelSource::None => {
            (true, "none: keyword search only".into(), None)
        }
        Ok(None) => (true, "not set up: keyword search only until then".into(), Some(Remedy::SetUpModel)),
        Err(error) if is_folder => (false, error.to_string(), Some(Remedy::ConfigureModel)),
        Err(error) => (false, error.to_string(), error.remedy()),
    };
    let mut check = Check { name: "model".into(), ok, details: vec![found], remedy };
    let refused = store.records.refused(store.now())?;
    check.details.extend(refused.iter().take(NAMED).map(|Refused { record_id, why }| {
        format!("it rejected the text of record {record_id}, which only keyword search finds: {why}")
    }));
    if refused.len() > NAMED {
        check.details.push(format!("... and {} more that it rejected", refused.len() - NAMED));
    }
    check.details.extend(store.records.batch_jobs()?.iter().take(NAMED).map(|job| {
        let AboutJob { provider, texts, state, began, .. } = &job.about;
        let since =
            jiff::Timestamp::from_millisecond(*began).map_or_else(|_| began.to_string(), |time| time.to_string());
        format!("a batch job of {texts} texts is with {provider} since {since}: {state}")
    }));
    if store.records.batch_failures()? >= MAX_JOB_FAILURES {
        check
            .details
            .push("batch jobs are switched off: two failed in a row; an explicit backfill switches them on".into());
    }
    if let Some(ForeignMemories { count, examined }) = store.foreign_memories()? {
        check.details.push(format!(
            "{count} of the newest {examined} memories are in a language that it does not know: only keyword search \
             finds them"
        ));
        check.remedy = check.remedy.or(Some(Remedy::UseMultilingualModel));
    }
    if let Some(NextModel { model, texts, missing }) = store.records.snapshot()?.next_model(store.now())? {
        check.details.push(format!(
            "a change to {} is unfinished: {} of {texts} texts; re-embedding with that model continues it",
            model.name,
            texts - missing,
        ));
    }
    Ok(check)
}

pub(crate) const DATABASE: &str = "database";
pub(crate) const KEYWORDS: &str = "keywords";
pub(crate) const VECTORS: &str = "vectors";
pub(crate) const MAP: &str = "map";

const NOT_MADE: &str = "not built yet; searches scan the records until then";

fn verdict(name: &str, problems: Vec<String>, found: String, remedy: Remedy) -> Check {
    match problems.is_empty() {
        true => Check { name: name.into(), ok: true, details: vec![found], remedy: None },
        false => Check { name: name.into(), ok: false, details: problems, remedy: Some(remedy) },
    }
}

fn out_of_use(name: &str, why: String) -> Check {
    verdict(name, vec![format!("out of use: {why}")], String::new(), Remedy::Rebuild)
}

/// A snapshot of an index, and one of the records whose log has everything that the index has not applied. `None` if
/// the index stays behind the log.
fn side_by_side<S: ?Sized>(
    store: &Store,
    snapshot: impl Fn() -> Result<Arc<S>>,
    applied: impl Fn(&S) -> Seq,
) -> Result<Option<(Arc<S>, Snapshot)>> {
    for _ in 0..RETRIES {
        let (index, records) = (snapshot()?, store.records.snapshot()?);
        if applied(&index) >= records.trimmed_to() {
            return Ok(Some((index, records)));
        }
        // Another process published and trimmed between our snapshots.
        std::thread::yield_now();
    }
    Ok(None)
}

/// The records whose state in an index that has applied the log up to `applied` is stale.
fn touched(records: &Snapshot, applied: Seq, concerns: impl Fn(&Change) -> bool) -> Result<RoaringTreemap> {
    let tail = records.tail(applied, usize::MAX)?;
    Ok(tail.iter().filter(|entry| concerns(&entry.change)).map(|entry| entry.record_id.key()).collect())
}

/// Every record, including expired ones: that is what the indexes contain.
fn record_ids(records: &Snapshot) -> Result<RoaringTreemap> {
    let (mut all, mut after) = (RoaringTreemap::new(), RecordId::START);
    loop {
        let ids = records.live_ids_after(after, STEP, Millis::MIN)?;
        let Some(last) = ids.last() else { return Ok(all) };
        after = *last;
        all.extend(ids.iter().map(|id| id.key()));
    }
}

fn is_copied(snapshot: &dyn VectorSnapshot, key: PassageKey, vector: &[f32]) -> Result<bool> {
    match snapshot.scores(vector, &[key])?[..] {
        // Missing ones are named by the comparison of ids.
        [None] => Ok(true),
        [Some(cosine)] => Ok((cosine - 1.0).abs() <= SAME),
        _ => Ok(false),
    }
}

fn disagreement(wanted: &RoaringTreemap, indexed: &RoaringTreemap, what: &str) -> Vec<String> {
    let keys = |set: RoaringTreemap| set.iter().map(PassageKey::from).collect::<Vec<_>>();
    let mut problems = named(&keys(wanted - indexed), &format!("no {what} in the index: record"));
    problems.extend(named(&keys(indexed - wanted), &format!("a {what} in the index without its record:")));
    problems
}

fn named(keys: &[PassageKey], what: &str) -> Vec<String> {
    let mut problems: Vec<String> = keys.iter().take(NAMED).map(|key| format!("{what} {key}")).collect();
    if keys.len() > NAMED {
        problems.push(format!("... and {} more", keys.len() - NAMED));
    }
    problems
}
