//! Exchanges between two machines of one person: by the states of their memories, only what differs, with tombstones.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    Carried, Exported, Filter, Link, LinkKind, NewRecord, Purge, RecordUpdate, Scope, Viewer,
};
use memorist_engine::{Engine, Error};

use crate::support::{Store, hashed};

/// Everything that `to` lacks, or has in another state.
fn differing(from: &Engine, to: &Engine, filter: &Filter) -> Vec<Carried> {
    let (ours, theirs) = (from.stamps(filter).unwrap(), to.stamps(filter).unwrap());
    let wanted: BTreeSet<_> =
        ours.iter().filter(|(ulid, state)| theirs.get(*ulid) != Some(state)).map(|(ulid, _)| *ulid).collect();
    let mut all = Vec::new();
    let visit = |piece| {
        all.push(piece);
        Ok::<_, Error>(())
    };
    from.export_states(&wanted, filter, true, visit).unwrap();
    all
}

fn carry(from: &Engine, to: &Engine, filter: &Filter) -> usize {
    let all = differing(from, to, filter);
    let mut import = to.viewed_by(&Viewer::OWNER).import().unwrap();
    for piece in &all {
        match piece.clone() {
            Carried::Tombstone(tombstone) => drop(import.tombstones(&[tombstone]).unwrap().pop().unwrap().unwrap()),
            Carried::Exported(Exported::Model(model)) => assert_eq!(import.model(&model).unwrap(), None),
            Carried::Exported(Exported::Record(record)) => {
                import.records(&[*record]).unwrap().pop().unwrap().unwrap();
            }
            Carried::Exported(Exported::Link(link)) => drop(import.links(&[link]).unwrap().pop().unwrap().unwrap()),
        }
    }
    assert!(import.purge(&NoProgress).unwrap().complete);
    all.len()
}

fn contents(engine: &Engine) -> BTreeSet<String> {
    super::exported(engine, &super::everything())
        .into_iter()
        .filter_map(|piece| match piece {
            Exported::Record(record) => Some(record.text.content),
            _ => None,
        })
        .collect()
}

fn has_bytes(folder: &Path, text: &str) -> bool {
    Command::new("grep").args(["-rqaF", "--", text]).arg(folder).status().unwrap().success()
}

/// 46: deletions, purges and removed links reach the other machine, and its files are clean.
#[test]
fn removals_on_one_machine_go_on_the_other() {
    let (laptop, desktop) = (Store::new(hashed()), Store::new(hashed()));
    let all = Filter::default();
    for text in ["a heron", "a stork", "a secret kestrel", "a swan"] {
        laptop.add(text);
    }
    let update = RecordUpdate { content: Some("a swan of today".into()), ..RecordUpdate::default() };
    laptop.engine.viewed_by(&Viewer::OWNER).update(4.into(), &update).unwrap();
    let link = Link { from: 1.into(), to: 2.into(), kind: LinkKind::Related };
    laptop.engine.viewed_by(&Viewer::OWNER).link(link).unwrap();
    laptop.settle();
    assert_eq!(carry(&laptop.engine, &desktop.engine, &all), 6, "the model, four memories and a link");
    desktop.settle();
    assert_eq!(carry(&laptop.engine, &desktop.engine, &all), 1, "the model alone: nothing is news");
    assert!(has_bytes(desktop.folder.path(), "kestrel"), "the test sees what is there");

    laptop.engine.viewed_by(&Viewer::OWNER).delete(2.into()).unwrap();
    laptop.engine.viewed_by(&Viewer::OWNER).purge(&Purge::Ids(vec![3.into()]), &NoProgress).unwrap();
    laptop.engine.viewed_by(&Viewer::OWNER).purge(&Purge::Versions(vec![(4.into(), 1)]), &NoProgress).unwrap();
    carry(&laptop.engine, &desktop.engine, &all);
    assert_eq!(contents(&desktop.engine), ["a heron".to_owned(), "a swan of today".to_owned()].into());
    assert!(!has_bytes(desktop.folder.path(), "kestrel"), "a purge reaches the files of the other machine");
    assert_eq!(laptop.engine.stamps(&all).unwrap(), desktop.engine.stamps(&all).unwrap());
    super::assert_sound(&desktop.engine);
}

/// 46: a project that is left out is in no piece, and neither are its tombstones.
#[test]
fn another_project_is_not_carried() {
    let (laptop, desktop) = (Store::new(hashed()), Store::new(hashed()));
    for (project, text) in [("atlas", "of atlas"), ("apollo", "of apollo"), ("apollo", "of apollo, deleted")] {
        let scope = Scope { agent: None, project: Some(project.into()) };
        laptop.engine.add(&NewRecord { scope, ..NewRecord::new(text) }).unwrap();
    }
    laptop.engine.viewed_by(&Viewer::OWNER).delete(3.into()).unwrap();
    let atlas = Filter::of(Viewer::in_project("atlas"));
    let pieces = format!("{:?}", differing(&laptop.engine, &desktop.engine, &atlas));
    assert!(pieces.contains("of atlas") && !pieces.contains("apollo") && !pieces.contains("Tombstone"), "{pieces}");
}
