//! Suggestions of a save: memories that it may replace or contradict. Made pairs, on the real model.

use std::collections::BTreeMap;

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{NewRecord, Viewer};

use crate::meaning::engine_with_model;

/// A line: whether the second replaces or contradicts the first, or neither; both texts.
const PAIRS: &str = include_str!("../../bench-data/src/agents/changes.tsv");

/// Item 4 of what agents need: a new text that shares few words with what it replaces.
#[test]
fn a_save_names_what_it_may_replace_or_contradict() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with_model(folder.path());
    let pairs: Vec<Vec<&str>> = PAIRS.lines().map(|line| line.split('\t').collect()).collect();
    let mut ids = BTreeMap::new();
    for pair in &pairs {
        ids.insert(pair[1], engine.add(&NewRecord::new(pair[1])).unwrap().id);
    }
    engine.embed_pending(&NoProgress).unwrap();
    engine.flush(&NoProgress).unwrap();
    // Per kind of pair: all, named, named as a change or a duplicate, anything named.
    let mut counts: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for pair in &pairs {
        let new = engine.add(&NewRecord::new(pair[2])).unwrap().id;
        engine.embed_pending(&NoProgress).unwrap();
        let named = engine.viewed_by(&Viewer::OWNER).related(new, 3).unwrap();
        let own = named.iter().find(|one| one.record.id == ids[pair[1]]);
        let counts = counts.entry(pair[0]).or_default();
        counts[0] += 1;
        counts[1] += usize::from(own.is_some());
        counts[2] += usize::from(own.is_some_and(|one| one.is_change || one.is_duplicate()));
        counts[3] += usize::from(named.iter().any(|one| one.is_change || one.is_duplicate()));
        engine.viewed_by(&Viewer::OWNER).delete(new).unwrap();
    }
    for (kind, [all, named, change, alarm]) in &counts {
        eprintln!(
            "{kind}: of {all}, {named} named, {change} as replaced, contradicted or alike; {alarm} have any such"
        );
    }
    let (supersedes, contradicts, none) = (counts["supersedes"], counts["contradicts"], counts["none"]);
    assert!(supersedes[1] + contradicts[1] >= 80, "{counts:?}");
    assert!(none[2] <= 30, "{counts:?}");
}
