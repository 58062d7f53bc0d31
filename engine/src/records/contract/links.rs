//! Links: which may be made, and that they go with their ends.

use super::*;
use crate::records::rules::links::{link_batch, unlink};
use crate::types::LinkKind;

fn link(from: RecordId, kind: LinkKind, to: RecordId) -> Link {
    Link { from, to, kind }
}

fn records<S: Subject, const N: usize>(store: &S, texts: [&str; N]) -> [RecordId; N] {
    texts.map(|text| store.add(&new(text), NOW).id)
}

/// T41, T42.
fn a_link_is_made_once_and_goes_with_either_end(store: &impl Subject) {
    let [a, b, c] = records(store, ["a", "b", "c"]);
    let (ab, bc) = (link(a, LinkKind::Caused, b), link(b, LinkKind::Supersedes, c));
    let head = store.head();
    for link in [ab, bc] {
        assert!(store.link(link, &Viewer::OWNER, NOW).unwrap());
        assert!(!store.link(link, &Viewer::OWNER, NOW).unwrap(), "unique");
    }
    assert_eq!((store.count("links"), store.head()), (2, head), "no index holds links");
    assert!(store.delete(c));
    assert_eq!(store.number("SELECT from_id FROM links"), a.get());
    assert!(unlink(store.authority(), ab, &Viewer::OWNER, NOW).unwrap());
    assert!(!unlink(store.authority(), ab, &Viewer::OWNER, NOW).unwrap());
    assert_eq!(store.count("links"), 0);
    store.assert_sound();
}

fn nothing_comes_to_supersede_itself(store: &impl Subject) {
    let [a, b, c] = records(store, ["a", "b", "c"]);
    let link = |from, kind, to| store.link(link(from, kind, to), &Viewer::OWNER, NOW);
    assert!(link(b, LinkKind::Supersedes, a).unwrap() && link(c, LinkKind::Supersedes, b).unwrap());
    for (from, to) in [(a, b), (a, c), (b, c)] {
        let refused = link(from, LinkKind::Supersedes, to).unwrap_err().to_string();
        assert!(refused.starts_with("link_kind: ") && refused.contains("already"), "{refused}");
    }
    assert!(link(c, LinkKind::Supersedes, a).unwrap() && link(a, LinkKind::Related, c).unwrap());
    assert!(!link(c, LinkKind::Supersedes, b).unwrap(), "there already");
}

fn only_what_is_there_and_seen_is_linked(store: &impl Subject) {
    let [a] = records(store, ["a"]);
    let brief = store.add(&NewRecord { expires_at: Some(NOW + 1), ..new("brief") }, NOW).id;
    let theirs = store.add(&NewRecord { scope: scope(None, Some("atlas")), ..new("theirs") }, NOW).id;
    let seen = Viewer::in_project("borealis");
    assert!(matches!(store.link(link(a, LinkKind::Related, a), &seen, NOW), Err(Error::Invalid { .. })));
    for (other, now) in [(99.into(), NOW), (theirs, NOW), (brief, NOW + 1)] {
        for link in [link(a, LinkKind::Related, other), link(other, LinkKind::Related, a)] {
            assert!(matches!(store.link(link, &seen, now), Err(Error::NotFound(id)) if id == other));
        }
    }
    let across = link(theirs, LinkKind::Supersedes, a);
    assert!(store.link(across, &Viewer::in_project("atlas"), NOW).unwrap());
    assert!(!unlink(store.authority(), across, &seen, NOW).unwrap(), "not seen from there");
    assert!(unlink(store.authority(), across, &Viewer::OWNER, NOW).unwrap());
}

fn a_refused_link_of_a_batch_does_not_stop_the_others(store: &impl Subject) {
    let [a, b] = records(store, ["a", "b"]);
    let links = [link(a, LinkKind::Related, b), link(a, LinkKind::Related, 99.into()), link(b, LinkKind::Related, a)];
    let made = link_batch(store.authority(), &links, &Viewer::OWNER, NOW).unwrap();
    assert!(matches!(made[..], [Ok(true), Err(Error::NotFound(unknown)), Ok(true)] if unknown.get() == 99), "{made:?}");
    assert_eq!(store.count("links"), 2);
}

on_every_database![
    a_link_is_made_once_and_goes_with_either_end,
    nothing_comes_to_supersede_itself,
    only_what_is_there_and_seen_is_linked,
    a_refused_link_of_a_batch_does_not_stop_the_others,
];
