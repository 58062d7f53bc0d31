//! The histories of one memory in two stores, as one. No version that either has is lost, and each store that is offered the other
//! one's ends with the same.
//!
//! A version is known by its text and by the moment when it became the newest. The last one is the newest of both.

use std::ops::Range;

use sha2::{Digest as _, Sha256};

use crate::body::Body;
use crate::records::rows;
use crate::text::{self, Hash};
use crate::types::{Millis, NewRecord, Portable, Replaced, Version};

/// Why a version was replaced that was the newest in one of the two stores.
pub(super) const ELSEWHERE: &str = "changed in another store";

/// The history of one memory in two stores.
#[derive(Debug, PartialEq)]
pub(super) enum Union {
    /// The other store has no version that this one lacks.
    Ours,
    /// This store has no version that the other one lacks.
    Theirs,
    /// Each has versions that the other one lacks.
    Both {
        /// All versions, oldest first.
        versions: Vec<Version>,
        /// Whether the newest is ours.
        is_ours: bool,
        /// If both have changed the memory since they parted: the version that is the newest in one of them, and not of all.
        other: Option<i64>,
    },
}

/// A version, and when it became the newest.
struct Dated {
    version: Version,
    /// The hash of a version without its body, whose references are ids of one store.
    digest: Hash,
    began: Millis,
    /// Whether that is known: the version before it is there.
    is_certain: bool,
    is_ours: bool,
    is_theirs: bool,
}

/// The versions of a memory in one store, oldest first and with the newest, and when it was saved there.
pub(super) type History = (Millis, Vec<Version>);

/// Unites the histories of one memory. The versions that became the newest in the moments `purged` stay away.
pub(super) fn unite(ours: History, theirs: History, purged: &[Millis]) -> Union {
    unite_histories(ours, theirs, purged, true)
}

/// Unites the histories of two memories, whose numbers have nothing to do with each other. The outcome is never [`Union::Theirs`].
pub(super) fn unite_twins(ours: History, theirs: History, purged: &[Millis]) -> Union {
    unite_histories(ours, theirs, purged, false)
}

fn unite_histories(
    (created_at, ours): History,
    (their_created_at, theirs): History,
    purged: &[Millis],
    is_one: bool,
) -> Union {
    let mut all: Vec<Dated> = dated(created_at, ours, true).collect();
    // Without a tombstone, what is missing here was purged before there were any. A twin's versions are others.
    let gaps = if is_one && purged.is_empty() { gaps(created_at, &all) } else { Vec::new() };
    // With tombstones, each version that is behind a purged one says itself when it began.
    let is_exact = !purged.is_empty();
    let mut ends = [all.len().saturating_sub(1); 2];
    let (mut is_more, mut is_less, mut follows) = (false, false, false);
    let mut least = Millis::MIN;
    for mut their in dated(their_created_at, theirs, false) {
        let known = all.iter().position(|known| known.is_ours && !known.is_theirs && is_same(known, &their, is_exact));
        let began = their.began;
        // It was purged, here or on a machine that said so.
        if known.is_none() && (purged.contains(&began) || gaps.iter().any(|gap| gap.contains(&began))) {
            is_less = true;
            continue;
        }
        follows = false;
        ends[1] = known.unwrap_or(all.len());
        match known {
            Some(place) => all[place].is_known_as(&their),
            None => {
                // What it has replaced there is not known: by its number, ours is among that.
                let last = all.iter().filter(|one| one.is_ours).max_by_key(|one| one.key());
                let is_later =
                    |last: &&Dated| is_one && !their.is_certain && last.version.version < their.version.version;
                match last.filter(is_later) {
                    Some(last) if is_exact => follows = last.began < began,
                    Some(last) => {
                        (least, their.is_certain) = (last.began + 1, true);
                        follows = true;
                    }
                    None => {}
                }
                // Those after one that was moved stay after it.
                their.began = their.began.max(least);
                if least > Millis::MIN {
                    least = their.began + 1;
                }
                is_more = true;
                all.push(their);
            }
        }
    }
    if !is_more {
        return Union::Ours;
    }
    let is_conflict = !follows && !all[ends[0]].is_theirs;
    if is_one && !is_less && all.iter().all(|one| one.is_theirs) {
        return Union::Theirs;
    }
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&at| all[at].key());
    let last = order.last().copied().unwrap_or_default();
    let other = ends.into_iter().find(|end| is_conflict && *end != last);
    let (is_ours, other) = (all[last].is_ours, other.and_then(|other| order.iter().position(|at| *at == other)));
    let versions = numbered(all, &order, created_at.min(their_created_at));
    let other = other.map(|at| versions[at].version);
    Union::Both { versions, is_ours, other }
}

/// When each version of a history became the newest, by its number.
pub(super) fn beginnings(created_at: Millis, history: Vec<Version>) -> Vec<(i64, Millis)> {
    dated(created_at, history, true).map(|one| (one.version.version, one.began)).collect()
}

impl Dated {
    /// Notes that the other store has it, too.
    fn is_known_as(&mut self, their: &Dated) {
        self.is_theirs = true;
        self.version.version = self.version.version.max(their.version.version);
        if their.is_certain && !self.is_certain {
            (self.began, self.is_certain) = (their.began, true);
        }
    }

    /// By which versions are ordered.
    fn key(&self) -> (Millis, Hash) {
        (self.began, self.digest)
    }
}

/// Each version with the moment when it became the newest. A clock may have been set back meanwhile, and two versions of one moment
/// may be in another order than by their keys: then the later one is dated by a millisecond later.
fn dated(created_at: Millis, history: Vec<Version>, is_ours: bool) -> impl Iterator<Item = Dated> {
    let mut before: Option<(i64, Option<Millis>, (Millis, Hash))> = None;
    history.into_iter().map(move |version| {
        let (began, is_certain) = match before {
            None if version.version == 1 => (created_at, true),
            Some((number, Some(replaced), _)) if number + 1 == version.version => (replaced, true),
            _ => (version.since, false),
        };
        let digest = digest(&version);
        let began = match before {
            Some((.., earlier)) if (began, digest) <= earlier => earlier.0 + i64::from(digest <= earlier.1),
            _ => began,
        };
        let replaced = version.replaced.as_ref().map(|replaced| replaced.at);
        before = Some((version.version, replaced, (began, digest)));
        Dated { version, digest, began, is_certain, is_ours, is_theirs: !is_ours }
    })
}

fn digest(version: &Version) -> Hash {
    let Version { kind, source, context, confidence, importance, valid, .. } = version;
    let (content, tags) = (text::to_hex(&rows::hash_of_content(&version.content)), rows::unique_tags(&version.tags));
    let fields = (kind.as_str(), content, context, source, tags, (importance, confidence, valid.from, valid.to));
    Sha256::digest(serde_json::json!(fields).to_string()).into()
}

/// When the versions were the newest that a history lacks.
fn gaps(created_at: Millis, history: &[Dated]) -> Vec<Range<Millis>> {
    let starts = history.iter().map(|one| one.version.replaced.as_ref().map_or(one.began, |replaced| replaced.at));
    let starts = [created_at].into_iter().chain(starts);
    let gaps = starts.zip(history).filter(|(_, one)| !one.is_certain);
    gaps.map(|(start, one)| start..one.began).collect()
}

/// Whether two are one version. It may expire at another moment: a memory that is restored loses an expiry that has passed.
fn is_same(one: &Dated, other: &Dated, is_exact: bool) -> bool {
    let (a, b) = (&one.version, &other.version);
    let is_text = one.digest == other.digest && a.body == b.body;
    let is_dated = is_exact || one.is_certain && other.is_certain;
    is_text && if is_dated { one.began == other.began } else { a.expires_at == b.expires_at }
}

/// The versions in this order, with numbers that rise and with when and why each was replaced.
fn numbered(all: Vec<Dated>, order: &[usize], created_at: Millis) -> Vec<Version> {
    let began: Vec<(Millis, bool)> = order.iter().map(|&at| (all[at].began, all[at].is_certain)).collect();
    let mut all: Vec<Option<Version>> = all.into_iter().map(|one| Some(one.version)).collect();
    let in_order = order.iter().filter_map(|&at| all[at].take());
    // Version 1 is what was saved first. Where that was purged, the next one says itself when it began.
    let lacks_first = began.first().is_some_and(|(began, _)| *began != created_at);
    let mut number = i64::from(lacks_first);
    let numbered = in_order.enumerate().map(|(at, mut version)| {
        if at > 0 || lacks_first {
            version.since = began[at].0;
        }
        // A gap says that the version before it does not say when this one began.
        let step = if at > 0 && !began[at].1 { 2 } else { 1 };
        number = version.version.max(number + step);
        version.version = number;
        let before = version.replaced.take();
        version.replaced = began.get(at + 1).map(|&(next, is_certain)| {
            let reason = before.as_ref().map_or_else(|| ELSEWHERE.to_owned(), |before| before.reason.clone());
            // Behind a version that was purged, nobody knows when it began.
            Replaced { at: before.filter(|_| !is_certain).map_or(next, |before| before.at), reason }
        });
        version
    });
    numbered.collect()
}

/// When the newest version of an incoming memory became that.
pub(super) fn newest_began(portable: &Portable) -> Millis {
    let versions = versions_of(portable, None, vec![None; portable.earlier.len()]);
    beginnings(portable.created_at, versions).last().map_or(portable.created_at, |&(_, began)| began)
}

/// The versions of an incoming memory, oldest first, with bodies whose references were resolved.
pub(super) fn versions_of(portable: &Portable, body: Option<Body>, bodies: Vec<Option<Body>>) -> Vec<Version> {
    let version = |number, since, replaced, text: &NewRecord, body| Version {
        version: number,
        since,
        replaced,
        content: text.content.clone(),
        kind: text.kind,
        source: text.source.clone(),
        context: text.context.clone(),
        confidence: text.confidence,
        importance: text.importance,
        tags: text.tags.clone(),
        expires_at: text.expires_at,
        valid: text.valid,
        body,
    };
    let earlier = portable.earlier.iter().zip(bodies).map(|(earlier, body)| {
        version(earlier.version, earlier.since, Some(earlier.replaced.clone()), &earlier.text, body)
    });
    let newest = version(portable.version, portable.updated_at, None, &portable.text, body);
    earlier.chain([newest]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::types::{Kind, Span};

    const START: Millis = 1_000;

    /// A history of these texts, each with the moment when it became the newest.
    fn history(texts: &[(Millis, &str)]) -> Vec<Version> {
        let NewRecord { source, confidence, importance, .. } = NewRecord::new("");
        let version = |at: usize| Version {
            version: at as i64 + 1,
            since: texts[at].0,
            replaced: texts.get(at + 1).map(|(next, _)| Replaced { at: *next, reason: "update".into() }),
            content: texts[at].1.to_owned(),
            kind: Kind::Fact,
            source: source.clone(),
            context: None,
            confidence,
            importance,
            tags: Vec::new(),
            expires_at: None,
            valid: Span::default(),
            body: None,
        };
        (0..texts.len()).map(version).collect()
    }

    fn texts(versions: &[Version]) -> Vec<&str> {
        versions.iter().map(|version| version.content.as_str()).collect()
    }

    fn unite_at_start(ours: &[Version], theirs: &[Version]) -> Union {
        unite((START, ours.to_vec()), (START, theirs.to_vec()), &[])
    }

    /// The history that a store has after it was offered another one.
    fn after(ours: &[Version], theirs: &[Version]) -> Vec<Version> {
        match unite_at_start(ours, theirs) {
            Union::Ours => ours.to_vec(),
            Union::Theirs => theirs.to_vec(),
            Union::Both { versions, .. } => versions,
        }
    }

    #[test]
    fn an_edit_of_each_store_stays() {
        let ours = history(&[(START, "on Tuesdays"), (1_100, "on Wednesdays")]);
        let theirs = history(&[(START, "on Tuesdays"), (1_050, "on Mondays"), (1_200, "on Fridays")]);
        let Union::Both { versions, is_ours, other } = unite_at_start(&ours, &theirs) else { panic!() };
        assert_eq!(texts(&versions), ["on Tuesdays", "on Mondays", "on Wednesdays", "on Fridays"]);
        assert_eq!((is_ours, other), (false, Some(3)), "the newest is theirs, and ours is version 3");
        let reasons: Vec<_> = versions.iter().map(|version| version.replaced.clone()).collect();
        let replaced = |at, reason: &str| Some(Replaced { at, reason: reason.into() });
        assert_eq!(reasons, [replaced(1_050, "update"), replaced(1_100, "update"), replaced(1_200, ELSEWHERE), None]);
        let Union::Both { versions: same, is_ours, other } = unite_at_start(&theirs, &ours) else { panic!() };
        assert_eq!((same, is_ours, other), (versions, true, Some(3)));
    }

    #[test]
    fn a_history_that_goes_on_is_no_conflict() {
        let short = history(&[(START, "one")]);
        let long = history(&[(START, "one"), (1_100, "two"), (1_200, "three")]);
        assert_eq!(unite_at_start(&short, &long), Union::Theirs);
        assert_eq!(unite_at_start(&long, &short), Union::Ours);
        assert_eq!(unite_at_start(&long, &long), Union::Ours);
    }

    #[test]
    fn a_version_that_was_purged_stays_away() {
        let whole = history(&[(START, "one"), (1_100, "secret"), (1_200, "three"), (1_300, "four")]);
        for gone in 0..3 {
            let mut purged = whole[..3].to_vec();
            purged[2].replaced = None;
            purged.remove(gone);
            if gone == 2 {
                purged[1].replaced = Some(Replaced { at: 1_200, reason: "update".into() });
                purged.push(Version { version: 5, since: 1_400, ..whole[3].clone() });
            }
            let united = after(&purged, &whole);
            assert!(!texts(&united).contains(&whole[gone].content.as_str()), "{gone}: {united:?}");
            assert!(texts(&united).contains(&"four"), "{gone}: {united:?}");
        }
    }

    proptest! {
        /// In any order of unions, all stores end with the same versions, and no version is lost.
        #[test]
        fn unions_commute_associate_and_repeat(
            shared in vec((1..40_i64, "[a-c]"), 0..3),
            own in vec(vec((1..40_i64, "[a-c]"), 0..3), 3),
        ) {
            let histories: Vec<Vec<Version>> = own.iter().map(|own| {
                let mut at = START;
                let mut all = vec![(START, "first")];
                for (later, text) in shared.iter().chain(own) {
                    at += later;
                    all.push((at, text.as_str()));
                }
                history(&all)
            }).collect();
            let [a, b, c] = &histories[..] else { unreachable!() };
            let key = |versions: &[Version]| -> Vec<(Millis, String)> {
                dated(START, versions.to_vec(), true).map(|one| (one.began, one.version.content)).collect()
            };
            let ab = after(a, b);
            prop_assert_eq!(key(&ab), key(&after(b, a)));
            prop_assert_eq!(key(&after(&ab, c)), key(&after(a, &after(b, c))));
            for offered in [a, b, &ab] {
                prop_assert_eq!(unite_at_start(&ab, offered), Union::Ours, "again, it changes nothing");
            }
            for (began, text) in key(a).into_iter().chain(key(b)) {
                prop_assert!(key(&ab).contains(&(began, text)));
            }
        }
    }
}
