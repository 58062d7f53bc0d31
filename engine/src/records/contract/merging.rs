//! Merging: several records become one, all or nothing.

use super::*;
use crate::records::rules::{merge, undo};
use crate::types::{LinkKind, Merge};

fn records<S: Subject>(store: &S, texts: [&str; 3]) -> [RecordId; 3] {
    texts.map(|text| store.add(&new(text), NOW).id)
}

fn merged(store: &impl Subject, merge: &Merge) -> Result<(i64, Vec<RecordId>)> {
    let update = RecordUpdate { content: merge.content.clone(), ..RecordUpdate::default() };
    let outcome = merge::merge(store.authority(), merge, &update, None, &Viewer::OWNER, NOW + 1)?;
    Ok((outcome.0.after.version, outcome.1))
}

fn a_merge_lets_one_supersede_the_others_and_is_undone_in_the_order_that_it_names(store: &impl Subject) {
    let [keep, one, other] = records(store, ["tea at four", "tea is at 4", "four o'clock: tea"]);
    store.update(other, &content("tea: four o'clock"), NOW).unwrap();
    store.link(Link { from: one, to: other, kind: LinkKind::Related }, &Viewer::OWNER, NOW).unwrap();
    let text = "tea is at four o'clock";
    let merge = Merge { keep: (keep, 1), replaced: vec![(one, 1), (other, 2)], content: Some(text.into()) };
    let (version, undoing) = merged(store, &merge).unwrap();
    assert_eq!((version, &undoing[..]), (2, &[one, other, keep][..]));
    assert_eq!(store.record(keep, NOW).unwrap().content, text);
    let superseded = "SELECT count(*) FROM links WHERE kind = 2";
    assert_eq!(store.number(superseded), 2);
    for id in undoing {
        undo::undo(store.authority(), id, None, &Viewer::OWNER, NOW + 2).unwrap();
    }
    assert_eq!((store.number(superseded), store.count("links")), (0, 1));
    assert_eq!(store.record(keep, NOW).unwrap().content, "tea at four");
    assert_eq!(store.record(other, NOW).unwrap().content, "tea: four o'clock");
    store.assert_sound();
}

fn a_merge_that_is_refused_changes_nothing(store: &impl Subject) {
    let [keep, one, other] = records(store, ["tea at four", "tea is at 4", "four o'clock: tea"]);
    let newer = store.add(&new("coffee"), NOW).id;
    store.link(Link { from: newer, to: other, kind: LinkKind::Supersedes }, &Viewer::OWNER, NOW).unwrap();
    let before = store.contents();
    let text = || Some("tea is at four o'clock".to_owned());
    let refused = [
        (Merge { keep: (keep, 2), replaced: vec![(one, 1)], content: text() }, "version 1, not 2"),
        (Merge { keep: (keep, 1), replaced: vec![(one, 1), (newer, 3)], content: text() }, "version 1, not 3"),
        (Merge { keep: (keep, 1), replaced: vec![(one, 1), (99.into(), 1)], content: text() }, "not found"),
        (Merge { keep: (other, 1), replaced: vec![(one, 1)], content: text() }, "is now superseded by"),
        (Merge { keep: (keep, 1), replaced: vec![(one, 1)], content: Some("tea is at 4".into()) }, "keep that one"),
    ];
    for (merge, why) in refused {
        let error = store.keeping_numbers(|| merged(store, &merge)).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert_eq!(store.contents(), before, "{why}");
    }
}

on_every_database![
    a_merge_lets_one_supersede_the_others_and_is_undone_in_the_order_that_it_names,
    a_merge_that_is_refused_changes_nothing,
];
