//! Tests of tidying up, with a little store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use memorist_engine::config::{Clock, Config};
use memorist_engine::embed::HashEmbedder;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    DAY, Export, Exported, Kind, Link, LinkKind, Millis, Mode, NewRecord, Query, RecordId, RecordUpdate, Scope, Viewer,
};
use memorist_engine::{Engine, Error};
use serde_json::json;

use super::*;
use crate::wire::tidy::{Do, Proposal, TidyPlan, TidyResult, TidyRun};

const NOW: Millis = 1_790_000_000_000;

fn open(folder: &std::path::Path, now: Millis) -> Engine {
    let mut config = Config::without_model();
    config.clock = Clock::new(move || now);
    Engine::open_with_embedder(folder, config, Arc::new(HashEmbedder::new(64))).unwrap()
}

/// A store with copies, a near-duplicate with another number, a contradiction and an old task; and its folder.
fn store() -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let old = open(folder.path(), NOW - 100 * DAY);
    let task = NewRecord {
        kind: Kind::Task,
        body: Some(json!({ "due": NOW - 90 * DAY })),
        ..NewRecord::new("Renew the harbour permit at the town hall")
    };
    old.add(&task).unwrap();
    old.close();
    let engine = open(folder.path(), NOW);
    for text in [
        "The ferry leaves at 17:40 from pier nine",
        "the ferry leaves at 17:40 from pier nine.",
        "The ferry leaves at 18:40 from pier nine",
        "Anna prefers the window seat",
        "Anna prefers the corridor instead",
    ] {
        engine.add(&NewRecord::new(text)).unwrap();
    }
    let contradicts = Link { from: 6.into(), to: 5.into(), kind: LinkKind::Contradicts };
    engine.viewed_by(&Viewer::OWNER).link(contradicts).unwrap();
    (folder, engine)
}

fn made(engine: &Engine) -> TidyPlan {
    plan(engine, &Viewer::OWNER, 50, &NoProgress).unwrap()
}

fn applied(engine: &Engine, plan: &TidyPlan) -> TidyResult {
    apply(engine, &Viewer::OWNER, plan, None, &NoProgress).unwrap()
}

fn undone(engine: &Engine) -> TidyResult {
    undo(engine, &Viewer::OWNER, "last", &NoProgress).unwrap()
}

/// Texts, fields and links, without versions and times.
fn state(engine: &Engine) -> Vec<String> {
    let mut lines = Vec::new();
    let each = engine.export(&Export::of(Viewer::OWNER), |exported: Exported| {
        lines.push(match exported {
            Exported::Record(record) => format!("{} {:?}", record.ulid, record.text),
            Exported::Link(link) => format!("{} {} {}", link.from, link.kind, link.to),
            Exported::Model(_) => String::new(),
        });
        Ok::<_, Error>(())
    });
    each.unwrap();
    lines
}

fn found(engine: &Engine, query: &str) -> Vec<RecordId> {
    let reply = engine.search_unlogged(&Query { mode: Mode::Keyword, ..Query::new(query) }).unwrap();
    let mut ids: Vec<_> = reply.hits.iter().map(|hit| hit.record.id).collect();
    ids.sort_unstable();
    ids
}

fn numbered(plan: &TidyPlan, n: u32) -> &Proposal {
    plan.proposals.iter().find(|proposal| proposal.n == n).unwrap()
}

#[test]
fn proposals_are_made_without_a_change() {
    let (folder, engine) = store();
    let before = state(&engine);
    let mut commits = engine.commits().unwrap();
    let plan = made(&engine);
    let said: Vec<_> = plan
        .proposals
        .iter()
        .map(|one| (one.r#do, one.apply, one.keep, one.memories.iter().map(|memory| memory.id).collect::<Vec<_>>()))
        .collect();
    assert_eq!(
        said,
        [
            (Do::Supersede, true, Some(3), vec![3, 2]),
            (Do::Ask, false, None, vec![6, 5]),
            (Do::Close, false, None, vec![1]),
            (Do::Ask, false, None, vec![4, 3]),
        ]
    );
    assert_eq!(plan.never_found, BTreeMap::from([("task".to_owned(), 1)]));
    assert!(state(&engine) == before && !commits.any().unwrap());
    assert!(!folder.path().join("tidy").exists());
    let few = super::plan(&engine, &Viewer::OWNER, 1, &NoProgress).unwrap();
    assert_eq!((few.proposals.len(), few.more), (2, true));
}

#[test]
fn a_run_is_undone_as_a_whole() {
    let (_folder, engine) = store();
    let before = (state(&engine), found(&engine, "ferry pier"), found(&engine, "Anna prefers"));
    let mut plan = made(&engine);
    assert_eq!(applied(&engine, &plan).done, 1);
    assert_eq!(found(&engine, "ferry pier"), [3.into(), 4.into()]);
    assert_eq!(undone(&engine).left, []);
    assert_eq!((state(&engine), found(&engine, "ferry pier"), found(&engine, "Anna prefers")), before);

    // All four kinds, with a text that has everything of both.
    plan = made(&engine);
    for proposal in &mut plan.proposals {
        proposal.apply = true;
        if proposal.memories[0].id == 6 {
            (proposal.r#do, proposal.keep) = (Do::Supersede, Some(6));
            proposal.content = Some("Anna preferred the window seat, and now the corridor".into());
        } else if proposal.r#do == Do::Ask {
            proposal.r#do = Do::Link;
        }
    }
    let result = applied(&engine, &plan);
    assert_eq!((result.done, &*result.left), (4, &[][..]));
    let task = engine.viewed_by(&Viewer::OWNER).get(1.into()).unwrap().unwrap();
    assert_eq!(task.body.unwrap().get("status"), Some(&json!("dropped")));
    assert_eq!(made(&engine).proposals, [], "what was decided is not proposed again");
    assert_eq!(runs(&engine).unwrap().len(), 2);
    let result = undone(&engine);
    assert_eq!((result.done, &*result.left), (4, &[][..]));
    assert_eq!((state(&engine), found(&engine, "ferry pier"), found(&engine, "Anna prefers")), before);
    // The undo is a change of the task: it is not old any more.
    assert_eq!(made(&engine).proposals.len(), 3);
    assert!(undo(&engine, &Viewer::OWNER, "last", &NoProgress).unwrap_err().to_string().contains("no run"));
    assert_eq!(undo(&engine, &Viewer::OWNER, &result.run.unwrap(), &NoProgress).unwrap().done, 0);
}

#[test]
fn a_memory_that_was_changed_meanwhile_is_left_alone() {
    let (_folder, engine) = store();
    let plan = made(&engine);
    let change = |id: i64, importance: i64| {
        let update = RecordUpdate { importance: Some(importance), ..RecordUpdate::default() };
        engine.viewed_by(&Viewer::OWNER).update(id.into(), &update).unwrap();
    };
    change(2, 9);
    let before = state(&engine);
    let result = applied(&engine, &plan);
    assert_eq!((result.done, result.run), (0, None));
    assert!(result.left[0].why.contains("memory 2 was changed"), "{:?}", result.left);
    assert_eq!(state(&engine), before);

    // Between apply and undo, too.
    let mut plan = made(&engine);
    let merged = plan.proposals.iter_mut().find(|proposal| proposal.r#do == Do::Ask).unwrap();
    (merged.r#do, merged.keep, merged.apply) = (Do::Supersede, Some(5), true);
    merged.content = Some("Anna prefers to sit".into());
    assert_eq!(applied(&engine, &plan).done, 2);
    change(5, 2);
    engine.viewed_by(&Viewer::OWNER).delete(3.into()).unwrap();
    let after = engine.viewed_by(&Viewer::OWNER).get(5.into()).unwrap();
    let result = undone(&engine);
    assert_eq!(result.done, 0);
    let left: Vec<_> = result.left.iter().map(|left| &*left.why).collect();
    assert_eq!(left, ["memory 5 was changed since", "memory 3 is deleted, or belongs to another project"]);
    assert_eq!(engine.viewed_by(&Viewer::OWNER).get(5.into()).unwrap(), after);
    // A change that was left can be undone later.
    engine.viewed_by(&Viewer::OWNER).undo(3.into()).unwrap();
    assert_eq!(undone(&engine).done, 1);
    assert!(engine.viewed_by(&Viewer::OWNER).links(3.into(), 9).unwrap().is_empty());
}

/// Another project is as far away as a `cd`.
#[test]
fn an_undo_from_another_project_leaves_the_run_as_it_is() {
    let (_folder, engine) = store();
    let in_project = |project: &str| Scope { agent: None, project: Some(project.into()) };
    for text in ["Deploy on Tuesday morning", "deploy on Tuesday morning."] {
        engine.add(&NewRecord { scope: in_project("atlas"), ..NewRecord::new(text) }).unwrap();
    }
    let (atlas, borealis) = (Viewer::of(&in_project("atlas")), Viewer::of(&in_project("borealis")));
    let before = state(&engine);
    let plan = copies(&engine, &atlas, &NoProgress).unwrap();
    assert_eq!(apply(&engine, &atlas, &plan, Some(&BTreeSet::from([2])), &NoProgress).unwrap().done, 1);
    let result = undo(&engine, &borealis, "last", &NoProgress).unwrap();
    assert!(result.done == 0 && result.left[0].why.contains("belongs to another project"), "{result:?}");
    assert_eq!(undo(&engine, &atlas, "last", &NoProgress).unwrap().done, 1);
    assert_eq!(state(&engine), before);
}

#[test]
fn a_run_that_is_still_at_work_is_not_undone() {
    let (_folder, engine) = store();
    let plan = made(&engine);
    let working = journal::Journal::begin(&engine).unwrap();
    let why = undo(&engine, &Viewer::OWNER, &working.run, &NoProgress).unwrap_err().to_string();
    assert!(why.contains("still at work"), "{why}");
    working.discard();
    assert_eq!(applied(&engine, &plan).done, 1);
    assert_eq!(undone(&engine).done, 1);
}

#[test]
fn a_refused_change_is_no_run() {
    let (folder, engine) = store();
    let first = applied(&engine, &made(&engine)).run;
    let mut plan = made(&engine);
    plan.proposals.retain(|one| one.memories[0].id == 6);
    let proposal = &mut plan.proposals[0];
    (proposal.r#do, proposal.apply) = (Do::Close, true);
    proposal.memories.truncate(1);
    let result = applied(&engine, &plan);
    assert_eq!((result.done, &result.run), (0, &None));
    assert_eq!(runs(&engine).unwrap().len(), 1);
    assert_eq!(undone(&engine).run, first);

    // Beside one that is applied, it is not counted, and not undone.
    let mut plan = made(&engine);
    plan.proposals.retain(|one| one.apply || one.memories[0].id == 6);
    plan.proposals[1].memories.truncate(1);
    (plan.proposals[1].r#do, plan.proposals[1].apply) = (Do::Close, true);
    let result = applied(&engine, &plan);
    assert_eq!((result.done, result.left.len()), (1, 1));
    assert_eq!((runs(&engine).unwrap()[0].applied, undone(&engine).done), (1, 1));
    assert_eq!(std::fs::read_dir(folder.path().join("tidy")).unwrap().count(), 2);
}

#[test]
fn another_text_is_never_a_certain_copy() {
    let (_folder, engine) = store();
    let scope = |project: &str| Scope { agent: None, project: Some(project.into()) };
    engine
        .add(&NewRecord { scope: scope("atlas"), ..NewRecord::new("The ferry leaves at 17:40 from pier nine") })
        .unwrap();
    engine
        .add(&NewRecord { kind: Kind::Decision, ..NewRecord::new("The ferry leaves at 17:40 from Pier nine") })
        .unwrap();
    let plan = made(&engine);
    let certain: Vec<_> = plan.proposals.iter().filter(|one| one.apply).flat_map(|one| &one.memories).collect();
    assert_eq!(certain.iter().map(|one| one.id).collect::<Vec<_>>(), [3, 2]);
    assert!(plan.proposals.iter().all(|one| one.apply || one.r#do != Do::Supersede || one.memories.len() > 1));
}

#[test]
fn a_viewer_sees_and_changes_its_own_memories_alone() {
    let (_folder, engine) = store();
    let scope = |project: &str| Scope { agent: None, project: Some(project.into()) };
    for text in ["Deploy on Tuesday", "deploy on Tuesday."] {
        for project in ["atlas", "borealis"] {
            engine.add(&NewRecord { scope: scope(project), ..NewRecord::new(text) }).unwrap();
        }
    }
    let only = Viewer::of(&scope("atlas"));
    let plan = plan(&engine, &only, 50, &NoProgress).unwrap();
    let seen: BTreeSet<i64> = plan.proposals.iter().flat_map(|one| &one.memories).map(|memory| memory.id).collect();
    assert!(seen.is_superset(&BTreeSet::from([7, 9])) && seen.is_disjoint(&BTreeSet::from([8, 10])), "{seen:?}");
    let of_others = made(&engine);
    let result = apply(&engine, &only, &of_others, None, &NoProgress).unwrap();
    assert!(result.left.iter().any(|left| numbered(&of_others, left.n).memories[0].id == 10), "{result:?}");
    assert!(engine.viewed_by(&Viewer::OWNER).links(10.into(), 9).unwrap().is_empty());
}

#[test]
fn a_plan_of_another_store_or_number_is_refused() {
    let (_folder, engine) = store();
    let (_other_folder, other) = store();
    let theirs = made(&other);
    let why = apply(&engine, &Viewer::OWNER, &theirs, None, &NoProgress).unwrap_err().to_string();
    assert!(why.contains("another store"), "{why}");
    let plan = made(&engine);
    let why = chosen(&engine, &plan, Some(&BTreeSet::from([99]))).unwrap_err().to_string();
    assert!(why.contains("no proposal 99"), "{why}");
    // Numbers choose also what needs a decision, and nothing else.
    let result = apply(&engine, &Viewer::OWNER, &plan, Some(&BTreeSet::from([2, 3])), &NoProgress).unwrap();
    assert_eq!((result.done, result.left[0].n), (1, 2));
    assert!(result.left[0].why.contains("needs a decision"), "{result:?}");
    assert_eq!(found(&engine, "ferry pier").len(), 3);
}

#[test]
fn a_plan_that_makes_no_sense_changes_nothing() {
    let (_folder, engine) = store();
    let before = state(&engine);
    type ProposalEdit = &'static dyn Fn(&mut Proposal);
    let cases: [(&str, ProposalEdit); 7] = [
        ("keep: name", &|one| one.keep = Some(99)),
        ("keep: name", &|one| one.keep = None),
        ("two memories or more", &|one| one.memories.truncate(1)),
        ("99", &|one| one.memories[1].id = 99),
        ("twice", &|one| one.memories.push(one.memories[1].clone())),
        ("only `supersede` takes", &|one| (one.r#do, one.content) = (Do::Link, Some("x".into()))),
        ("contains a secret", &|one| one.content = Some(concat!("password = ", "Tr0ub4dor&3x").into())),
    ];
    for (wanted, change) in cases {
        let mut plan = made(&engine);
        plan.proposals.truncate(1);
        change(&mut plan.proposals[0]);
        let result = applied(&engine, &plan);
        assert!(result.done == 0 && result.left[0].why.contains(wanted), "{wanted:?}: {result:?}");
        assert_eq!(state(&engine), before, "{wanted}");
    }
}

#[test]
fn a_journal_that_ends_in_a_cut_line_is_undone() {
    use std::io::Write;
    let (folder, engine) = store();
    let before = state(&engine);
    let run = applied(&engine, &made(&engine)).run.unwrap();
    let path = folder.path().join("tidy").join(run.clone() + ".jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(br#"{"change":{"n":2,"lin"#).unwrap();
    assert_eq!(undone(&engine).done, 1);
    assert_eq!(state(&engine), before);
    assert_eq!(runs(&engine).unwrap(), [TidyRun { run, applied: 1, undone: 1, error: None }]);
}

#[test]
fn a_journal_that_cannot_be_read_is_listed_with_the_reason() {
    let (folder, engine) = store();
    let first = applied(&engine, &made(&engine)).run.unwrap();
    let journals = folder.path().join("tidy");
    std::fs::write(journals.join("9.jsonl"), "{\"delete\":1}\n").unwrap();
    std::fs::create_dir(journals.join("8.jsonl")).unwrap();
    let errors: Vec<_> = runs(&engine).unwrap().into_iter().map(|run| run.error).collect();
    assert!(matches!(&*errors, [Some(why), Some(_), None] if why.contains("unknown variant")), "{errors:?}");
    let why = undo(&engine, &Viewer::OWNER, "last", &NoProgress).unwrap_err().to_string();
    assert!(why.contains("name the run"), "{why}");
    assert_eq!(undo(&engine, &Viewer::OWNER, &first, &NoProgress).unwrap().done, 1);
}

#[test]
fn the_newest_twenty_journals_are_kept() {
    let (_folder, engine) = store();
    for _ in 0..23 {
        let plan = made(&engine);
        assert_eq!(applied(&engine, &plan).done, 1);
        assert_eq!(undone(&engine).done, 1);
    }
    let kept = runs(&engine).unwrap();
    assert_eq!(kept.len(), 20);
    assert!(kept[0].run > kept[19].run && kept.iter().all(|run| run.undone == 1), "{kept:?}");
}
