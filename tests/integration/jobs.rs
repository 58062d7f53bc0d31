//! Batch jobs of a provider: nothing is paid twice, and nothing is lost, whatever becomes of a job and of the process.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memorist_engine::config::{Config, ModelSource};
use memorist_engine::embed::{CacheSettings, Protocol, RemoteSettings};
use memorist_engine::progress::{NoProgress, Progress};
use memorist_engine::types::{Filter, NewRecord, Purge, Query, RecordId, RecordUpdate, Viewer};
use memorist_engine::{Engine, Error};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::job_provider::{JobProvider, Spoil, settings};
use crate::support::another_process;

const BOTH: [Protocol; 2] = [Protocol::OpenAi, Protocol::Gemini];

/// Every step of a job at which a process may be killed.
const STEPS: [&str; 5] = ["job noted", "job submitted", "job named", "job partly stored", "job stored"];

/// Longer than a test may wait for anything.
const LONG: Duration = Duration::from_secs(60);

fn open_with(folder: &Path, settings: RemoteSettings, background: bool) -> Engine {
    let mut config = Config::without_model();
    config.model.source = ModelSource::Remote(Box::new(settings));
    config.index_writer = background;
    Engine::open(folder, config).unwrap()
}

/// A store without background work.
fn open(folder: &Path, provider: &JobProvider, protocol: Protocol) -> Engine {
    open_with(folder, settings(protocol, provider.url(), "one"), false)
}

fn add(engine: &Engine, texts: std::ops::Range<usize>) {
    for number in texts {
        engine.add(&NewRecord::new(text(number))).unwrap();
    }
}

fn text(number: usize) -> String {
    format!("note {number} about the harbour")
}

fn waiting(engine: &Engine) -> u64 {
    engine.stats(&Filter::default()).unwrap().pending_embeddings
}

fn jobs(engine: &Engine) -> usize {
    engine.index_stats().unwrap().batch_jobs.len()
}

/// Everything has its vector, was paid once, and is left nowhere at the provider.
fn assert_embedded_once(engine: &Engine, provider: &JobProvider, texts: usize) {
    assert_eq!((waiting(engine), jobs(engine)), (0, 0));
    assert_eq!(provider.paid_twice(), Vec::<String>::new());
    let state = provider.state();
    assert_eq!(state.paid.len(), texts);
    assert!(state.files.is_empty(), "{:?}", state.files.keys());
    drop(state);
    engine.flush(&NoProgress).unwrap();
    let reply = engine.search(&Query::new(format!("{} ?", text(7)))).unwrap();
    assert!(reply.hits[0].record.content == text(7) && reply.hits[0].vector_score.is_some());
    let diagnosis = engine.doctor(false, &NoProgress).unwrap();
    assert!(diagnosis.is_sound(), "{diagnosis:?}");
}

/// E12: many texts go into a job, few do not; the job is fetched, and nothing is left at the provider.
#[test]
fn a_job_embeds_what_waits() {
    for protocol in BOTH {
        let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
        let engine = open(folder.path(), &provider, protocol);
        add(&engine, 0..9);
        engine.backfill(u64::MAX, &NoProgress).unwrap();
        assert_eq!((provider.counts(), waiting(&engine)), ((0, 9), 0), "{protocol:?}");
        add(&engine, 9..40);
        provider.state().status = None;
        let done = engine.backfill(u64::MAX, &NoProgress).unwrap();
        assert_eq!((done.embedded, done.remaining, done.in_batch_jobs), (0, 0, 31));
        assert_eq!(provider.counts(), (1, 9));
        let job = engine.index_stats().unwrap().batch_jobs.remove(0).about;
        assert!(job.provider.contains(provider.url()) && job.texts == 31 && job.name.is_some(), "{job:?}");
        let said = format!("{:?}", engine.doctor(false, &NoProgress).unwrap());
        assert!(said.contains("a batch job of 31 texts"), "{said}");
        // A new memory does not wait for it, and what is in it is not sent again.
        add(&engine, 40..41);
        assert_eq!(engine.backfill(u64::MAX, &NoProgress).unwrap().embedded, 1);
        assert_eq!((waiting(&engine), provider.state().singly), (31, 10));
        provider.state().status = Some("completed");
        assert_eq!(engine.await_batch_jobs(&Stop::late()).unwrap(), 31);
        assert_embedded_once(&engine, &provider, 41);
        assert_eq!(provider.state().singly, 10, "{protocol:?}");
    }
}

/// Many results of Gemini come in a file, which is deleted with the job.
#[test]
fn the_results_of_a_job_may_be_in_a_file() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(Protocol::Gemini));
    provider.state().has_result_files = true;
    let engine = open(folder.path(), &provider, Protocol::Gemini);
    add(&engine, 0..20);
    engine.backfill(u64::MAX, &NoProgress).unwrap();
    assert_eq!(engine.await_batch_jobs(&Stop::late()).unwrap(), 20);
    assert_embedded_once(&engine, &provider, 20);
}

/// E13: what a job leaves over is sent singly, and into no other job.
#[test]
fn texts_that_a_job_leaves_unembedded_are_sent_singly() {
    let failed: Spoil = |answers| {
        let failed = json!({ "status_code": 400, "body": { "error": { "message": "no" } } });
        for answer in &mut answers[2..14] {
            if answer.get("custom_id").is_some() {
                answer["response"] = failed.clone();
            } else {
                answer["error"] = json!({ "code": 400, "message": "no" });
                answer.as_object_mut().unwrap().remove("response");
            }
        }
    };
    let missing: Spoil = |answers| drop(answers.drain(2..14));
    let foreign: Spoil = |answers| {
        for answer in &mut answers[2..14] {
            let id = Value::from("0".repeat(64));
            *answer.pointer_mut("/custom_id").map_or_else(|| None, Some).unwrap_or(&mut Value::Null) = id.clone();
            if let Some(key) = answer.pointer_mut("/metadata/key") {
                *key = id;
            }
        }
    };
    let malformed: Spoil = |answers| {
        for answer in &mut answers[2..14] {
            *answer = Value::from("{\"custom_id\": \"");
        }
    };
    let other_dimensions: Spoil = |answers| {
        for answer in &mut answers[2..14] {
            for place in ["/response/body/data/0/embedding", "/response/embedding/values"] {
                if let Some(numbers) = answer.pointer_mut(place) {
                    *numbers = json!([1, 2, 3]);
                }
            }
        }
    };
    for protocol in BOTH {
        for (what, spoil) in [
            ("failed", failed),
            ("missing", missing),
            ("foreign", foreign),
            ("malformed", malformed),
            ("other dimensions", other_dimensions),
        ] {
            let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
            let engine = open(folder.path(), &provider, protocol);
            add(&engine, 0..30);
            provider.state().spoil = spoil;
            engine.backfill(u64::MAX, &NoProgress).unwrap();
            engine.await_batch_jobs(&Stop::late()).unwrap();
            assert_eq!((waiting(&engine), jobs(&engine)), (0, 0), "{protocol:?} {what}");
            assert_eq!(provider.counts(), (1, 12), "{protocol:?} {what}");
            assert!(provider.state().files.is_empty() && !engine.index_stats().unwrap().batch_jobs_failed);
        }
    }
}

/// A text that comes twice has its first vector.
#[test]
fn a_duplicate_answer_is_passed_over() {
    for protocol in BOTH {
        let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
        let engine = open(folder.path(), &provider, protocol);
        add(&engine, 0..30);
        provider.state().spoil = |answers| {
            let mut second = answers[7].clone();
            for place in ["/response/body/data/0/embedding", "/response/embedding/values"] {
                if let Some(numbers) = second.pointer_mut(place).and_then(Value::as_array_mut) {
                    numbers.iter_mut().for_each(|number| *number = json!(1));
                }
            }
            answers.push(second);
        };
        engine.backfill(u64::MAX, &NoProgress).unwrap();
        assert_eq!(engine.await_batch_jobs(&Stop::late()).unwrap(), 30);
        assert_embedded_once(&engine, &provider, 30);
    }
}

/// E13: two jobs that fail in a row switch jobs off, until somebody asks for them again.
#[test]
fn two_failures_in_a_row_switch_jobs_off() {
    for protocol in BOTH {
        for status in ["failed", "expired"] {
            let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
            let engine = open(folder.path(), &provider, protocol);
            provider.state().status = Some(status);
            for round in 0..3 {
                add(&engine, 20 * round..20 * round + 20);
                engine.backfill(u64::MAX, &NoProgress).unwrap();
                engine.await_batch_jobs(&Stop::late()).unwrap();
                assert_eq!(waiting(&engine), 0, "its texts are sent singly");
                assert_eq!(engine.index_stats().unwrap().batch_jobs_failed, round > 0, "{protocol:?} {status} {round}");
            }
            assert_eq!(provider.state().made, 2, "{protocol:?} {status}");
            assert_embedded_once(&engine, &provider, 60);
            let said = format!("{:?}", engine.doctor(false, &NoProgress).unwrap());
            assert!(said.contains("batch jobs are switched off"), "{said}");
            engine.allow_batch_jobs().unwrap();
            provider.state().status = Some("completed");
            add(&engine, 60..80);
            engine.backfill(u64::MAX, &NoProgress).unwrap();
            engine.await_batch_jobs(&Stop::late()).unwrap();
            assert_eq!(provider.state().made, 3);
        }
    }
}

/// E12, E13: a provider without jobs, or one that has not ended a job in time.
#[test]
fn a_refused_or_late_job_falls_back_to_single_requests() {
    for protocol in BOTH {
        let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
        let mut terms = settings(protocol, provider.url(), "one");
        terms.jobs.timeout = Duration::from_millis(200);
        let engine = open_with(folder.path(), terms, false);
        provider.state().refuses = true;
        add(&engine, 0..20);
        assert_eq!(engine.backfill(u64::MAX, &NoProgress).unwrap().embedded, 20);
        assert_embedded_once(&engine, &provider, 20);
        provider.state().refuses = false;
        provider.state().status = None;
        add(&engine, 20..40);
        engine.backfill(u64::MAX, &NoProgress).unwrap();
        engine.await_batch_jobs(&Stop::late()).unwrap();
        assert_eq!(provider.counts(), (1, 30), "half of it was made until then");
        assert_embedded_once(&engine, &provider, 40);
        assert!(engine.index_stats().unwrap().batch_jobs_failed, "both count");
    }
}

/// A submission whose answer is lost is found by its key.
#[test]
fn a_submission_without_an_answer_is_found_again() {
    for protocol in BOTH {
        let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
        let engine = open(folder.path(), &provider, protocol);
        add(&engine, 0..20);
        provider.state().is_mute = true;
        assert_eq!(engine.backfill(u64::MAX, &NoProgress).unwrap().embedded, 0);
        provider.state().is_mute = false;
        engine.await_batch_jobs(&Stop::late()).unwrap();
        assert_eq!(provider.counts(), (1, 0), "{protocol:?}");
        assert_embedded_once(&engine, &provider, 20);
    }
}

/// The process that is killed.
#[test]
#[ignore = "the others run it in a process of its own"]
fn a_child() {
    let [Ok(folder), Ok(url), Ok(protocol)] =
        ["STORE", "URL", "PROTOCOL"].map(|name| std::env::var(format!("MEMORIST_JOBS_{name}")))
    else {
        return;
    };
    let protocol = if protocol == "Gemini" { Protocol::Gemini } else { Protocol::OpenAi };
    let engine = open_with(Path::new(&folder), settings(protocol, &url, "one"), false);
    engine.backfill(u64::MAX, &NoProgress).unwrap();
    engine.await_batch_jobs(&Stop::late()).unwrap();
}

/// Killed at every step of a job: nothing is paid twice, nothing is lost, and another process finishes it.
#[test]
fn a_process_that_is_killed_pays_nothing_twice() {
    for protocol in BOTH {
        for step in STEPS {
            let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
            add(&open(folder.path(), &provider, protocol), 0..300);
            let child = another_process("jobs::a_child")
                .env("MEMORIST_JOBS_STORE", folder.path())
                .env("MEMORIST_JOBS_URL", provider.url())
                .env("MEMORIST_JOBS_PROTOCOL", format!("{protocol:?}"))
                .env("MEMORIST_CRASH_AT", format!("{step}:1"))
                .output()
                .unwrap();
            assert!(!child.status.success(), "{step} was not reached");
            let engine = open(folder.path(), &provider, protocol);
            assert_eq!(jobs(&engine), 1, "{protocol:?} {step}");
            assert_eq!(engine.backfill(u64::MAX, &NoProgress).unwrap().embedded, 0, "they wait for the job");
            engine.await_batch_jobs(&Stop::late()).unwrap();
            engine.backfill(u64::MAX, &NoProgress).unwrap();
            engine.await_batch_jobs(&Stop::late()).unwrap();
            assert_eq!(provider.counts(), (1, 0), "{protocol:?} {step}");
            assert_embedded_once(&engine, &provider, 300);
            assert!(provider.state().jobs.is_empty() || protocol == Protocol::OpenAi, "{step}");
        }
    }
}

/// A text that is purged while its job runs does not come back.
#[test]
fn a_text_that_is_purged_meanwhile_leaves_nothing() {
    for protocol in BOTH {
        let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
        let caches = folder.path().join("caches");
        let mut kept = settings(protocol, provider.url(), "one");
        kept.cache = Some(CacheSettings::new(&caches, None, 1_000));
        let cache = kept.cache.clone().unwrap();
        let engine = open_with(&folder.path().join("store"), kept, false);
        add(&engine, 0..20);
        provider.state().status = None;
        engine.backfill(u64::MAX, &NoProgress).unwrap();
        engine.viewed_by(&Viewer::OWNER).purge(&Purge::Ids(vec![RecordId::from(4)]), &NoProgress).unwrap();
        let update = RecordUpdate { content: Some("something else".into()), ..RecordUpdate::default() };
        engine.viewed_by(&Viewer::OWNER).update(RecordId::from(5), &update).unwrap();
        provider.state().status = Some("completed");
        engine.await_batch_jobs(&Stop::late()).unwrap();
        engine.backfill(u64::MAX, &NoProgress).unwrap();
        assert_eq!((waiting(&engine), provider.state().singly), (0, 1));
        let entries = memorist_engine::embed::cache_stats(&cache).entries;
        assert_eq!(entries, 19, "18 of the job, and the changed one: those of texts that are there");
        // Another store of the user pays nothing for the same texts.
        let mut second = settings(protocol, provider.url(), "one");
        second.cache = Some(cache);
        let second = open_with(&folder.path().join("second"), second, false);
        add(&second, 6..20);
        second.backfill(u64::MAX, &NoProgress).unwrap();
        assert_eq!((waiting(&second), provider.counts()), (0, (1, 1)));
    }
}

/// Gives up on request, or when a test takes too long.
struct Stop<'a> {
    request: Option<&'a AtomicBool>,
    started: Instant,
}

impl<'a> Stop<'a> {
    fn late() -> Self {
        Stop { request: None, started: Instant::now() }
    }

    fn on(request: &'a AtomicBool) -> Self {
        Stop { request: Some(request), ..Stop::late() }
    }
}

impl Progress for Stop<'_> {
    fn start(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
    fn finish(&self) {}
    fn cancelled(&self) -> bool {
        self.started.elapsed() > LONG || self.request.is_some_and(|request| request.load(Ordering::SeqCst))
    }
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < LONG, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// One process asks about the jobs; others see them, and send nothing twice.
#[test]
fn a_single_opener_polls_a_job_and_others_see_it() {
    let protocol = Protocol::OpenAi;
    let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
    let [first, second] = [0, 1].map(|_| open(folder.path(), &provider, protocol));
    add(&first, 0..20);
    provider.state().status = None;
    first.backfill(u64::MAX, &NoProgress).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| first.await_batch_jobs(&Stop::on(&stop)));
        until("a look", || provider.state().looks > 0);
        add(&second, 20..50);
        let done = second.backfill(u64::MAX, &NoProgress).unwrap();
        assert_eq!((done.embedded, jobs(&second)), (0, 1), "the process that polls submits the pending texts");
        let waits = scope.spawn(|| second.await_batch_jobs(&Stop::late()));
        std::thread::sleep(Duration::from_millis(300));
        assert!(!waits.is_finished());
        stop.store(true, Ordering::SeqCst);
        assert!(matches!(asking.join().unwrap(), Err(Error::Cancelled)), "interrupted, the job stays");
        until("the second asks", || jobs(&second) == 1);
        provider.state().status = Some("completed");
        assert!(waits.join().unwrap().unwrap() >= 20);
    });
    second.backfill(u64::MAX, &NoProgress).unwrap();
    second.await_batch_jobs(&Stop::late()).unwrap();
    assert_eq!(provider.state().singly, 0);
    assert_embedded_once(&second, &provider, 50);
}

/// A store of 40 texts that are in a job, and a provider that has not finished it.
fn with_unfinished_job(protocol: Protocol) -> (tempfile::TempDir, JobProvider, Engine) {
    let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
    let engine = open(folder.path(), &provider, protocol);
    add(&engine, 0..40);
    provider.state().status = None;
    engine.backfill(u64::MAX, &NoProgress).unwrap();
    (folder, provider, engine)
}

#[test]
fn a_cancelled_job_keeps_what_it_has_made() {
    for protocol in BOTH {
        let (_folder, provider, engine) = with_unfinished_job(protocol);
        assert_eq!(engine.cancel_batch_jobs(&NoProgress).unwrap(), 40);
        assert_eq!((waiting(&engine), jobs(&engine)), (20, 0), "{protocol:?}");
        engine.backfill(u64::MAX, &NoProgress).unwrap();
        assert_eq!(provider.counts(), (1, 20));
        assert!(!engine.index_stats().unwrap().batch_jobs_failed);
        assert_eq!(engine.cancel_batch_jobs(&NoProgress).unwrap(), 0);
        assert_embedded_once(&engine, &provider, 40);
    }
}

/// A provider that does not cancel one job: the error says so, and the other job is cancelled all the same.
#[test]
fn a_refused_cancellation_stops_no_other() {
    for protocol in BOTH {
        let (_folder, provider, engine) = with_unfinished_job(protocol);
        add(&engine, 40..80);
        engine.backfill(u64::MAX, &NoProgress).unwrap();
        provider.state().uncancellable = Some("batch-1");
        let error = engine.cancel_batch_jobs(&NoProgress).unwrap_err().to_string();
        assert!(error.contains("stays: status 400"), "{error}");
        let ended = ["batch-1", "batch-2"].map(|id| provider.state().jobs[id].ended);
        assert_eq!(ended, [None, Some("cancelled")], "{protocol:?}");
    }
}

/// A job is cancelled before its name is known: the provider is told when the job is found.
#[test]
fn an_unanswered_job_is_cancelled_at_the_provider() {
    for protocol in BOTH {
        let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
        let engine = open(folder.path(), &provider, protocol);
        add(&engine, 0..40);
        provider.state().status = None;
        provider.state().is_mute = true;
        engine.backfill(u64::MAX, &NoProgress).unwrap();
        provider.state().is_mute = false;
        assert_eq!(engine.cancel_batch_jobs(&NoProgress).unwrap(), 40);
        assert_eq!((waiting(&engine), jobs(&engine)), (20, 0), "{protocol:?}");
    }
}

/// A store with 20 texts left over by a cancelled job, the last ones of 40.
fn store_with_texts_left_over(folder: &Path, provider: &JobProvider, protocol: Protocol) -> Engine {
    let engine = open(folder, provider, protocol);
    add(&engine, 0..40);
    provider.state().status = None;
    engine.backfill(u64::MAX, &NoProgress).unwrap();
    engine.cancel_batch_jobs(&NoProgress).unwrap();
    assert_eq!((waiting(&engine), jobs(&engine)), (20, 0));
    engine
}

/// The texts left over belong to expired memories, so that none of them is among the pending texts.
#[test]
fn the_limit_of_a_backfill_holds_beside_texts_left_over() {
    let protocol = Protocol::OpenAi;
    let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
    let engine = store_with_texts_left_over(folder.path(), &provider, protocol);
    let expired = RecordUpdate { expires_at: Some(Some(memorist_engine::now() - 1_000)), ..RecordUpdate::default() };
    for id in 21..=40 {
        engine.viewed_by(&Viewer::OWNER).update(RecordId::from(id), &expired).unwrap();
    }
    add(&engine, 40..80);
    assert_eq!(waiting(&engine), 40);
    assert_eq!(engine.backfill(15, &NoProgress).unwrap().in_batch_jobs, 15);
}

/// While the model changes, a text left over may lack the vectors of both models.
#[test]
fn a_text_left_over_is_recorded_once_during_a_model_change() {
    let protocol = Protocol::OpenAi;
    let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
    let engine = store_with_texts_left_over(folder.path(), &provider, protocol);
    assert_eq!(engine.backfill(5, &NoProgress).unwrap().embedded, 5);
    engine.close();
    let engine = open_with(folder.path(), settings(protocol, provider.url(), "two"), false);
    let (stop, looked) = (AtomicBool::new(false), provider.state().looks);
    std::thread::scope(|scope| {
        let changing = scope.spawn(|| engine.reembed(&Stop::on(&stop)));
        until("a look", || provider.state().looks > looked);
        stop.store(true, Ordering::SeqCst);
        assert!(matches!(changing.join().unwrap(), Err(Error::Cancelled)));
    });
    engine.close();
    let database = Connection::open(folder.path().join("memory.db")).unwrap();
    let sql = "SELECT length(value) / 64 FROM meta WHERE key = 'batch_left'";
    let recorded: i64 = database.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(recorded, 20, "the next model has none of them");
}

/// A job whose model the store has given up: the provider is told, and deletes its files.
#[test]
fn a_job_for_a_former_model_is_cancelled_and_removed() {
    for protocol in BOTH {
        let (folder, provider, engine) = with_unfinished_job(protocol);
        engine.close();
        let engine = open_with(folder.path(), settings(protocol, provider.url(), "two"), false);
        provider.state().status = Some("completed");
        assert!(engine.reembed(&Stop::late()).unwrap().changed);
        provider.state().status = None;
        assert_eq!((jobs(&engine), provider.state().made), (1, 2), "{protocol:?}: that of the former model");
        engine.await_batch_jobs(&Stop::late()).unwrap();
        assert_eq!(jobs(&engine), 0);
        let state = provider.state();
        assert!(state.files.is_empty(), "{:?}", state.files.keys());
        assert!(state.jobs.is_empty() || protocol == Protocol::OpenAi);
        assert_eq!(state.paid.values().filter(|times| **times == 2).count(), 20, "half of it was made until then");
    }
}

/// E12: a change of the model goes into jobs, and is continued after an interruption.
#[test]
fn a_change_of_the_model_goes_into_jobs() {
    for protocol in BOTH {
        let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
        let engine = open(folder.path(), &provider, protocol);
        add(&engine, 0..40);
        engine.backfill(u64::MAX, &NoProgress).unwrap();
        engine.await_batch_jobs(&Stop::late()).unwrap();
        engine.close();
        let engine = open_with(folder.path(), settings(protocol, provider.url(), "two"), false);
        provider.state().status = None;
        let (stop, looked) = (AtomicBool::new(false), provider.state().looks);
        std::thread::scope(|scope| {
            let changing = scope.spawn(|| engine.reembed(&Stop::on(&stop)));
            until("a look", || provider.state().looks > looked);
            stop.store(true, Ordering::SeqCst);
            assert!(matches!(changing.join().unwrap(), Err(Error::Cancelled)));
        });
        assert_eq!((jobs(&engine), provider.state().made), (1, 2));
        provider.state().status = Some("completed");
        let report = engine.reembed(&NoProgress).unwrap();
        assert!(report.changed && report.embedded == 40, "{report:?}");
        assert_eq!((provider.counts(), jobs(&engine)), ((2, 0), 0), "{protocol:?}");
        assert_eq!(provider.state().paid.values().filter(|times| **times == 2).count(), 40, "once for each model");
        assert!(engine.search(&Query::new(format!("{} ?", text(7)))).unwrap().hits[0].vector_score.is_some());
        assert!(engine.doctor(false, &NoProgress).unwrap().is_sound());
    }
}

/// A server fetches the jobs of others by itself.
#[test]
fn the_background_fetches_a_job() {
    let protocol = Protocol::Gemini;
    let (folder, provider) = (tempfile::tempdir().unwrap(), JobProvider::start(protocol));
    let engine = open(folder.path(), &provider, protocol);
    add(&engine, 0..40);
    provider.state().status = None;
    engine.backfill(u64::MAX, &NoProgress).unwrap();
    engine.close();
    let server = open_with(folder.path(), settings(protocol, provider.url(), "one"), true);
    until("a look", || provider.state().looks > 0);
    add(&server, 40..41);
    until("a new memory is embedded", || waiting(&server) == 40);
    provider.state().status = Some("completed");
    until("all are", || waiting(&server) == 0 && jobs(&server) == 0);
    assert_eq!(provider.state().singly, 1);
    assert_embedded_once(&server, &provider, 41);
}
