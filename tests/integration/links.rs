//! Links between memories: what they show, what they hide, and from whom; and digests.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    ChainQuery, DigestQuery, Direction, Filter, Kind, Link, LinkKind, Linked, Mode, NewRecord, OutdatedQuery, Query,
    Reach, RecordId, RecordUpdate, Scope, Tier, Viewer,
};
use memorist_engine::{Engine, Error};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::{Store, amount_from, hashed};

const MODES: [Mode; 3] = [Mode::Hybrid, Mode::Vector, Mode::Keyword];

fn link(from: RecordId, kind: LinkKind, to: RecordId) -> Link {
    Link { from, to, kind }
}

fn supersedes(from: RecordId, to: RecordId) -> Link {
    link(from, LinkKind::Supersedes, to)
}

fn add(engine: &Engine, content: &str, project: Option<&str>) -> RecordId {
    let scope = Scope { agent: None, project: project.map(Into::into) };
    engine.add(&NewRecord { scope, ..NewRecord::new(content) }).unwrap().id
}

fn found(engine: &Engine, query: &Query) -> BTreeSet<RecordId> {
    engine.search(query).unwrap().hits.iter().map(|hit| hit.record.id).collect()
}

/// Two openers of one store that apply nothing by themselves.
fn pair() -> (Store, Engine) {
    let mut setup = hashed();
    setup.config.index_writer = false;
    let store = Store::new(setup.clone());
    let other = setup.open(store.folder.path()).unwrap();
    (store, other)
}

/// R16, T41, T42.
#[test]
fn links_are_unique_scoped_and_removed_with_either_end() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let [a, b, c] = ["a", "b", "c"].map(|text| add(engine, text, None));
    let theirs = add(engine, "theirs", Some("atlas"));
    let seen = Viewer::in_project("borealis");
    for kind in LinkKind::ALL {
        assert!(engine.viewed_by(&seen).link(link(a, kind, b)).unwrap());
        assert!(!engine.viewed_by(&seen).link(link(a, kind, b)).unwrap(), "{kind}");
    }
    let across = link(theirs, LinkKind::Caused, a);
    assert!(matches!(engine.viewed_by(&seen).link(across), Err(Error::NotFound(id)) if id == theirs));
    assert!(engine.viewed_by(&Viewer::OWNER).link(across).unwrap());
    assert!(engine.viewed_by(&seen).link(link(c, LinkKind::Related, a)).unwrap());
    let own = LinkKind::ALL.map(|kind| link(a, kind, b));
    let to_c = link(c, LinkKind::Related, a);
    assert_eq!(
        engine.viewed_by(&seen).links(a, usize::MAX).unwrap(),
        [&own[..], &[to_c]].concat(),
        "not what leads out of view"
    );
    assert_eq!(engine.viewed_by(&Viewer::OWNER).links(a, usize::MAX).unwrap(), [&own[..], &[across, to_c]].concat());
    assert!(matches!(engine.viewed_by(&seen).links(theirs, usize::MAX), Err(Error::NotFound(id)) if id == theirs));
    let past = RecordUpdate { expires_at: Some(Some(200_000_000_000)), ..RecordUpdate::default() };
    drop(engine.viewed_by(&Viewer::OWNER).update(c, &past));
    assert_eq!(engine.viewed_by(&seen).links(a, usize::MAX).unwrap(), own, "nor to what has expired");
    assert!(!engine.viewed_by(&seen).unlink(across).unwrap());
    assert!(engine.viewed_by(&Viewer::OWNER).unlink(across).unwrap());
    assert!(engine.viewed_by(&Viewer::OWNER).delete(b).unwrap());
    assert_eq!(engine.viewed_by(&Viewer::OWNER).links(a, usize::MAX).unwrap(), []);
    assert!(
        engine.viewed_by(&seen).link(link(a, LinkKind::Related, a)).unwrap_err().to_string().starts_with("to_id: ")
    );
    let [d, e] = ["d", "e"].map(|text| add(engine, text, None));
    let batch = [link(a, LinkKind::Related, a), link(d, LinkKind::Caused, e), link(d, LinkKind::Caused, 99.into())];
    match engine.viewed_by(&seen).link_batch(&batch).unwrap().as_slice() {
        [Err(Error::Invalid { .. }), Ok(true), Err(Error::NotFound(id))] if id.get() == 99 => {}
        outcomes => panic!("{outcomes:?}"),
    }
    assert_eq!(engine.viewed_by(&seen).links(e, usize::MAX).unwrap(), batch[1..2]);
    let error = engine.viewed_by(&Viewer::in_project(Reach::EVERY)).link(link(a, LinkKind::Related, b)).unwrap_err();
    assert!(error.to_string().starts_with("project: "), "{error}");
}

/// Q16: in every mode and tier, in the tail and in the indexes, in both processes.
#[test]
fn a_superseded_memory_is_hidden_until_unlinked() {
    let (store, other) = pair();
    let engines = [&store.engine, &other];
    let old = add(&store.engine, "the heron nests in the reeds", None);
    let new = add(&store.engine, "the heron nests on the island", None);
    let third = add(&store.engine, "a stork on the chimney", None);
    let filters = [Filter::default(), Filter { min_importance: Some(2), ..Filter::default() }];
    let query = |mode, filter: &Filter| Query { mode, filter: filter.clone(), ..Query::new("heron nests") };
    let letters = |filter: &Filter| Query { mode: Mode::Keyword, filter: filter.clone(), ..Query::new("eron nes") };
    let check = |state: &str, is_hidden: bool| {
        for (at, engine) in engines.iter().enumerate() {
            for filter in &filters {
                for mode in MODES {
                    let found = found(engine, &query(mode, filter));
                    assert_eq!(found.contains(&old), !is_hidden, "{state}, {mode:?}, opener {at}, {filter:?}");
                    assert!(found.contains(&new), "{state}, {mode:?}, opener {at}");
                    let all = Query { include_superseded: true, ..query(mode, filter) };
                    assert!(self::found(engine, &all).contains(&old), "{state}, {mode:?}, opener {at}: requested");
                }
                let reply = engine.search(&letters(filter)).unwrap();
                assert_eq!(reply.tier, Tier::Substring);
                let by_letters: Vec<RecordId> = reply.hits.iter().map(|hit| hit.record.id).collect();
                assert_eq!(by_letters.contains(&old), !is_hidden, "{state}, by letters, opener {at}");
                let all = Query { include_superseded: true, ..letters(filter) };
                assert!(self::found(engine, &all).contains(&old));
            }
        }
    };
    store.engine.embed_pending(&NoProgress).unwrap();
    for state in ["in the tail", "applied"] {
        check(state, false);
        for (at, engine) in engines.iter().enumerate() {
            let state = format!("{state}, linked by {at}");
            assert!(engine.viewed_by(&Viewer::OWNER).link(supersedes(new, old)).unwrap());
            check(&state, true);
            assert!(engine.viewed_by(&Viewer::OWNER).unlink(supersedes(new, old)).unwrap());
            check(&state, false);
            let brief = add(engine, "it nests on the roof now", None);
            assert!(engine.viewed_by(&Viewer::OWNER).link(supersedes(brief, old)).unwrap());
            assert!(engine.viewed_by(&Viewer::OWNER).link(supersedes(third, old)).unwrap());
            assert!(engine.viewed_by(&Viewer::OWNER).delete(brief).unwrap());
            check(&state, true);
            assert!(engine.viewed_by(&Viewer::OWNER).unlink(supersedes(third, old)).unwrap());
            check(&state, false);
        }
        // An updated record is in the tail and in the index at once.
        store.settle();
    }
    assert!(other.viewed_by(&Viewer::OWNER).link(supersedes(new, old)).unwrap());
    let changed = RecordUpdate { importance: Some(9), ..RecordUpdate::default() };
    store.engine.viewed_by(&Viewer::OWNER).update(old, &changed).unwrap();
    check("changed after it was applied", true);
    assert!(store.engine.viewed_by(&Viewer::OWNER).delete(new).unwrap());
    for engine in engines {
        for mode in MODES {
            assert!(found(engine, &query(mode, &filters[1])).contains(&old), "{mode:?}: its superseder is deleted");
        }
    }
}

/// R24: a record of one project that supersedes a global memory hides it from that project only.
#[test]
fn a_project_hides_nothing_from_another() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let global = add(engine, "we deploy on fridays", None);
    let theirs = add(engine, "we deploy on mondays", Some("atlas"));
    assert!(engine.viewed_by(&Viewer::in_project("atlas")).link(supersedes(theirs, global)).unwrap());
    let shared = Viewer { project: Reach::Shared, ..Viewer::OWNER };
    for settled in [false, true] {
        if settled {
            store.settle();
        }
        for mode in [Mode::Hybrid, Mode::Keyword] {
            let find = |viewer: &Viewer| {
                let query = Query { mode, filter: Filter::of(viewer.clone()), ..Query::new("we deploy") };
                found(engine, &query).into_iter().collect::<Vec<_>>()
            };
            assert_eq!(find(&Viewer::in_project("atlas")), [theirs], "{mode:?} settled {settled}");
            assert_eq!(find(&Viewer::in_project("borealis")), [global], "{mode:?} settled {settled}");
            assert_eq!(find(&shared), [global]);
            assert_eq!(find(&Viewer::OWNER), [theirs]);
        }
    }
    let outdated = |viewer: Viewer| {
        let query = OutdatedQuery { project: None, before: None, limit: 10, viewer };
        engine.outdated(&query).unwrap().iter().map(|outdated| outdated.record.id).collect::<Vec<_>>()
    };
    assert_eq!(outdated(Viewer::in_project("atlas")), [global]);
    assert!(outdated(Viewer::in_project("borealis")).is_empty());
    let digest = |viewer| engine.digest(&DigestQuery { viewer, ..DigestQuery::default() }).unwrap().outdated;
    assert_eq!((digest(Viewer::in_project("atlas")), digest(Viewer::in_project("borealis"))), (1, 0));
}

/// Q16.
#[test]
fn a_result_says_by_what_it_is_contradicted() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let claim = add(engine, "tea is served at four", None);
    let agreed = add(engine, "tea is served at four by the window", None);
    let against = add(engine, "tea is never served", None);
    let theirs = add(engine, "atlas drinks coffee", Some("atlas"));
    let old = add(engine, "there was no tea last year", None);
    for from in [theirs, old, against] {
        assert!(engine.viewed_by(&Viewer::OWNER).link(link(from, LinkKind::Contradicts, claim)).unwrap());
    }
    assert!(engine.viewed_by(&Viewer::OWNER).link(link(claim, LinkKind::Contradicts, agreed)).unwrap());
    assert!(engine.viewed_by(&Viewer::OWNER).link(link(agreed, LinkKind::Related, claim)).unwrap());
    assert!(engine.viewed_by(&Viewer::OWNER).link(supersedes(against, old)).unwrap());
    let said = |viewer: Viewer, include_superseded| {
        let query = Query { include_superseded, filter: Filter::of(viewer), ..Query::new("tea served") };
        let hits = engine.search(&query).unwrap().hits;
        hits.into_iter().map(|hit| (hit.record.id, hit.contradicted_by)).collect::<BTreeMap<_, _>>()
    };
    let owner = said(Viewer::OWNER, false);
    assert_eq!((&owner[&claim], &owner[&agreed]), (&vec![against, theirs], &vec![claim]));
    assert!(owner[&against].is_empty());
    assert_eq!(said(Viewer::in_project("borealis"), false)[&claim], [against]);
    assert_eq!(said(Viewer::OWNER, true)[&claim], [against, theirs, old]);
    assert!(engine.viewed_by(&Viewer::OWNER).delete(against).unwrap());
    assert_eq!(said(Viewer::OWNER, false)[&claim], [theirs, old]);
}

/// Each hit of a chain of decisions comes after the one that replaced it, and scores no more.
#[test]
fn an_outdated_memory_never_ranks_above_what_supersedes_it() {
    let store = Store::new(hashed());
    let texts = ["the harbour opens at six in the morning", "the harbour opens at seven", "opening hours: eight"];
    let [first, second, third] = texts.map(|text| store.add(text));
    for (from, to) in [(second, first), (third, second)] {
        store.engine.viewed_by(&Viewer::OWNER).link(Link { from, kind: LinkKind::Supersedes, to }).unwrap();
    }
    store.settle();
    let query = |include_superseded| Query { include_superseded, ..Query::new("the harbour opens at six") };
    assert_eq!(store.find(&query(false)), [third]);
    let hits = store.engine.search(&query(true)).unwrap().hits;
    assert_eq!(hits.iter().map(|hit| hit.record.id).collect::<Vec<_>>(), [third, second, first]);
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
}

/// R17: linkedFrom(id, type?), linkedTo(id, type?), superseded(project?).
#[test]
fn listing_filters_links_by_kind_and_superseded_by_project() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let [cause, effect] = ["the pump leaks", "the cellar is wet"].map(|text| add(engine, text, None));
    let [old, new] = ["open on Mondays", "open on Tuesdays"].map(|text| add(engine, text, Some("atlas")));
    for link in [
        link(cause, LinkKind::Caused, effect),
        link(cause, LinkKind::Related, new),
        link(new, LinkKind::Related, effect),
        supersedes(new, old),
        supersedes(effect, cause),
    ] {
        assert!(engine.viewed_by(&Viewer::OWNER).link(link).unwrap());
    }
    let seen = |linked: memorist_engine::Result<Vec<Linked>>| {
        linked.unwrap().into_iter().map(|linked| (linked.kind, linked.record.id)).collect::<Vec<_>>()
    };
    let (owner, borealis) = (&Viewer::OWNER, &Viewer::in_project("borealis"));
    let both = [(LinkKind::Caused, effect), (LinkKind::Related, new)];
    assert_eq!(seen(engine.viewed_by(owner).linked(cause, Direction::Forward, None, 9)), both);
    assert_eq!(seen(engine.viewed_by(owner).linked(cause, Direction::Forward, Some(LinkKind::Related), 9)), both[1..]);
    assert_eq!(
        seen(engine.viewed_by(borealis).linked(cause, Direction::Forward, None, 9)),
        both[..1],
        "atlas is not its to see"
    );
    assert_eq!(
        seen(engine.viewed_by(owner).linked(effect, Direction::Backward, None, 9)),
        [(LinkKind::Caused, cause), (LinkKind::Related, new)]
    );
    assert_eq!(
        seen(engine.viewed_by(owner).linked(effect, Direction::Backward, Some(LinkKind::Caused), 9)),
        [(LinkKind::Caused, cause)]
    );
    assert_eq!(seen(engine.viewed_by(owner).linked(old, Direction::Backward, Some(LinkKind::Caused), 9)), []);
    assert!(
        matches!(engine.viewed_by(borealis).linked(old, Direction::Backward, None, 9), Err(Error::NotFound(id)) if id == old)
    );

    let superseded = |project, viewer| {
        let records = engine.viewed_by(viewer).superseded(project).unwrap();
        records.into_iter().map(|record| record.id).collect::<Vec<_>>()
    };
    assert_eq!(superseded(None, owner), [old, cause]);
    assert_eq!(superseded(Some("atlas"), owner), [old]);
    assert_eq!(superseded(Some("atlas"), borealis), Vec::<RecordId>::new());
    let many: Vec<_> = (0..1_005).map(|at| add(engine, &format!("draft {at}"), Some("drafts"))).collect();
    let links: Vec<_> = many.iter().map(|draft| supersedes(new, *draft)).collect();
    engine.viewed_by(owner).link_batch(&links).unwrap();
    assert_eq!(superseded(Some("drafts"), owner).len(), many.len(), "all of them, not a page");
}

/// T43, T45, T46.
#[test]
fn bounds_of_the_graph_are_refused_by_name() {
    let store = Store::new(hashed());
    let chain = ChainQuery::new(1.into(), Viewer::OWNER);
    let outdated = OutdatedQuery { project: None, before: None, limit: 10, viewer: Viewer::OWNER };
    let refusals = [
        ("max_depth: 11", store.engine.chain(&ChainQuery { max_depth: 11, ..chain.clone() }).err()),
        ("limit: 0", store.engine.chain(&ChainQuery { limit: 0, ..chain.clone() }).err()),
        ("limit: 1001", store.engine.chain(&ChainQuery { limit: 1_001, ..chain.clone() }).err()),
        ("limit: 0", store.engine.outdated(&OutdatedQuery { limit: 0, ..outdated.clone() }).err()),
        ("project: is empty", store.engine.outdated(&OutdatedQuery { project: Some(" ".into()), ..outdated }).err()),
        ("feature: ", store.engine.digest(&DigestQuery { feature: Some("".into()), ..DigestQuery::default() }).err()),
    ];
    for (expected, error) in refusals {
        let error = error.expect(expected).to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    assert_eq!((chain.max_depth, chain.limit, chain.direction), (3, 100, Direction::Both));
    assert_eq!(store.engine.chain(&ChainQuery { max_depth: 10, limit: 1_000, ..chain }).unwrap().hops, []);
    assert!("sideways".parse::<Direction>().unwrap_err().to_string().starts_with("direction: "));
}

/// T46, T47.
#[test]
fn a_digest_counts_but_by_default_omits_superseded_memories() {
    let store = Store::new(hashed());
    let engine = &store.engine;
    let bug = |text: &str| engine.add(&NewRecord { kind: Kind::Bugfix, ..NewRecord::new(text) }).unwrap().id;
    let [old, new] = ["old cure", "new cure"].map(bug);
    assert!(engine.viewed_by(&Viewer::OWNER).link(supersedes(new, old)).unwrap());
    let listed = |with_superseded| {
        let digest = engine.digest(&DigestQuery { with_superseded, ..DigestQuery::default() }).unwrap();
        assert_eq!((digest.total, digest.outdated), (2, 1));
        digest.recent_bugfixes.iter().map(|record| record.id).collect::<Vec<_>>()
    };
    assert_eq!((listed(false), listed(true)), (vec![new], vec![new, old]));
}

/// A step. Memories are identified by their position among all that were ever saved.
#[derive(Debug, Clone)]
enum LinkStep {
    Add { project: usize },
    Delete { which: usize },
    Expire { which: usize },
    Link { from: usize, kind: LinkKind, to: usize, viewer: usize },
    Unlink { which: usize, viewer: usize },
    Apply,
    Switch,
}

fn step() -> impl Strategy<Value = LinkStep> {
    let kind = prop::sample::select(LinkKind::ALL.to_vec());
    prop_oneof![
        4 => (0..3usize).prop_map(|project| LinkStep::Add { project }),
        1 => any::<usize>().prop_map(|which| LinkStep::Delete { which }),
        1 => any::<usize>().prop_map(|which| LinkStep::Expire { which }),
        9 => (any::<usize>(), kind, any::<usize>(), 0..3usize)
            .prop_map(|(from, kind, to, viewer)| LinkStep::Link { from, kind, to, viewer }),
        2 => (any::<usize>(), 0..3usize).prop_map(|(which, viewer)| LinkStep::Unlink { which, viewer }),
        1 => Just(LinkStep::Apply),
        1 => Just(LinkStep::Switch),
    ]
}

const PROJECTS: [Option<&str>; 3] = [None, Some("atlas"), Some("borealis")];

fn viewers() -> [Viewer; 3] {
    [Viewer::OWNER, Viewer::in_project("atlas"), Viewer { project: Reach::Shared, ..Viewer::OWNER }]
}

/// The expected content of the store.
#[derive(Default)]
struct LinkModel {
    ids: Vec<RecordId>,
    /// The records that are not deleted: project, and whether live.
    kept: BTreeMap<RecordId, (Option<&'static str>, bool)>,
    links: BTreeSet<(RecordId, LinkKind, RecordId)>,
}

impl LinkModel {
    /// Whether a record would come to supersede itself.
    fn would_be_a_ring(&self, from: RecordId, kind: LinkKind, to: RecordId) -> bool {
        let mut older = vec![to];
        for at in 0.. {
            let Some(&id) = older.get(at) else { break };
            let next = self.links.iter().filter(|link| (link.0, link.1) == (id, LinkKind::Supersedes));
            let next: Vec<RecordId> = next.map(|link| link.2).filter(|id| !older.contains(id)).collect();
            older.extend(next);
        }
        kind == LinkKind::Supersedes && older.contains(&from)
    }

    fn pick(&self, which: usize) -> RecordId {
        if self.ids.is_empty() { 1.into() } else { self.ids[which % self.ids.len()] }
    }

    fn is_kept(&self, id: RecordId, viewer: &Viewer) -> bool {
        self.kept.get(&id).is_some_and(|(project, _)| viewer.project.sees(*project))
    }

    fn is_live(&self, id: RecordId, viewer: &Viewer) -> bool {
        self.is_kept(id, viewer) && self.kept[&id].1
    }

    fn is_superseded(&self, id: RecordId, viewer: &Viewer) -> bool {
        let by = |&(from, kind, to): &_| kind == LinkKind::Supersedes && to == id && self.is_kept(from, viewer);
        self.links.iter().any(by)
    }

    /// The links of a record, by kind and the id at their other end.
    fn around(&self, id: RecordId, direction: Direction) -> Vec<(LinkKind, RecordId)> {
        let (forward, backward) = (direction != Direction::Backward, direction != Direction::Forward);
        let mut around = Vec::new();
        for &(from, kind, to) in &self.links {
            if from == id && forward {
                around.push((kind, to));
            } else if to == id && backward {
                around.push((kind, from));
            }
        }
        around.sort();
        around
    }

    /// Ids and depths, and whether there are more than the limit allows.
    fn chain(&self, query: &ChainQuery) -> (Vec<(RecordId, usize)>, bool) {
        let mut chain = Vec::new();
        let mut queue = VecDeque::from([(query.start, 0)]);
        let mut met = BTreeSet::from([query.start]);
        while let Some((id, depth)) = queue.pop_front() {
            if !self.is_live(id, &query.viewer) {
                continue;
            }
            chain.push((id, depth));
            for (_, next) in self.around(id, query.direction) {
                if depth < query.max_depth && met.insert(next) {
                    queue.push_back((next, depth + 1));
                }
            }
        }
        let cut = chain.len() > query.limit;
        chain.truncate(query.limit);
        (chain, cut)
    }
}

fn perform(step: &LinkStep, engine: &Engine, model: &mut LinkModel) {
    match step {
        LinkStep::Add { project } => {
            let project = PROJECTS[*project];
            let id = add(engine, &format!("common word {}", model.ids.len()), project);
            model.ids.push(id);
            model.kept.insert(id, (project, true));
        }
        LinkStep::Delete { which } => {
            let id = model.pick(*which);
            let was_kept = model.kept.remove(&id).is_some();
            assert_eq!(engine.viewed_by(&Viewer::OWNER).delete(id).unwrap(), was_kept);
            model.links.retain(|(from, _, to)| *from != id && *to != id);
        }
        LinkStep::Expire { which } => {
            let id = model.pick(*which);
            let past = RecordUpdate { expires_at: Some(Some(200_000_000_000)), ..RecordUpdate::default() };
            drop(engine.viewed_by(&Viewer::OWNER).update(id, &past));
            if let Some((_, is_live)) = model.kept.get_mut(&id) {
                *is_live = false;
            }
        }
        LinkStep::Link { from, kind, to, viewer } => {
            let (from, to, viewer) = (model.pick(*from), model.pick(*to), &viewers()[*viewer]);
            let outcome = engine.viewed_by(viewer).link(link(from, *kind, to));
            let missing = [from, to].into_iter().find(|id| !model.is_live(*id, viewer));
            match (outcome, missing) {
                (Err(Error::Invalid { field: "to_id", .. }), _) => assert_eq!(from, to),
                (Err(Error::NotFound(id)), missing) => assert_eq!(Some(id), missing),
                (Err(Error::Invalid { field: "link_kind", .. }), None) => {
                    assert!(model.would_be_a_ring(from, *kind, to))
                }
                (Ok(_), None) if model.would_be_a_ring(from, *kind, to) => panic!("{from} supersedes itself"),
                (outcome, None) if from != to => assert_eq!(outcome.unwrap(), model.links.insert((from, *kind, to))),
                (outcome, missing) => panic!("{outcome:?} from {from} to {to} without {missing:?}"),
            }
        }
        LinkStep::Unlink { which, viewer } => {
            let viewer = &viewers()[*viewer];
            let Some(&(from, kind, to)) = model.links.iter().nth(which % model.links.len().max(1)) else { return };
            let is_seen = model.is_kept(from, viewer) && model.is_kept(to, viewer);
            assert_eq!(engine.viewed_by(viewer).unlink(link(from, kind, to)).unwrap(), is_seen);
            if is_seen {
                model.links.remove(&(from, kind, to));
            }
        }
        LinkStep::Apply => engine.flush(&NoProgress).unwrap(),
        LinkStep::Switch => {}
    }
}

fn compare(engine: &Engine, model: &LinkModel, at: usize) {
    for viewer in viewers() {
        let live: Vec<RecordId> = model.kept.keys().copied().filter(|id| model.is_live(*id, &viewer)).collect();
        let superseded: Vec<RecordId> = live.iter().copied().filter(|id| model.is_superseded(*id, &viewer)).collect();
        let current: BTreeSet<RecordId> = live.iter().copied().filter(|id| !superseded.contains(id)).collect();
        let query =
            Query { limit: 1_000, mode: Mode::Keyword, filter: Filter::of(viewer.clone()), ..Query::new("common") };
        let hits = engine.search(&query).unwrap().hits;
        assert_eq!(hits.iter().map(|hit| hit.record.id).collect::<BTreeSet<_>>(), current, "{viewer:?}");
        for hit in &hits {
            let against = |&&from: &&RecordId| model.links.contains(&(from, LinkKind::Contradicts, hit.record.id));
            let against: Vec<RecordId> = current.iter().filter(against).copied().collect();
            assert_eq!(hit.contradicted_by, against, "{viewer:?}");
        }
        let outdated = OutdatedQuery { project: None, before: None, limit: 1_000, viewer: viewer.clone() };
        let outdated: Vec<RecordId> = engine.outdated(&outdated).unwrap().iter().map(|one| one.record.id).collect();
        assert!(outdated.iter().eq(superseded.iter().rev()), "{viewer:?}: {outdated:?}, not {superseded:?}");
        let digest = engine.digest(&DigestQuery { viewer: viewer.clone(), ..DigestQuery::default() }).unwrap();
        assert_eq!((digest.total, digest.outdated), (live.len() as u64, superseded.len() as u64), "{viewer:?}");
        let start = model.pick(at);
        for direction in Direction::ALL {
            let limit = [1_000, 4][at % 2];
            let query = ChainQuery { direction, max_depth: at % 5, limit, ..ChainQuery::new(start, viewer.clone()) };
            let chain = engine.chain(&query).unwrap();
            let walked: Vec<_> = chain.hops.iter().map(|hop| (hop.record.id, hop.depth)).collect();
            assert_eq!((walked, chain.truncated), model.chain(&query), "{query:?}");
            for hop in &chain.hops {
                let is_link = |link: &Link| model.links.contains(&(link.from, link.kind, link.to));
                assert!(hop.path.iter().all(is_link), "{:?}", hop.path);
                assert_eq!(hop.path.iter().fold(start, |at, link| link.other_end(at)), hop.record.id);
                assert_eq!(hop.path.len(), hop.depth);
            }
        }
        match engine.viewed_by(&viewer).links(start, usize::MAX) {
            Err(Error::NotFound(_)) => assert!(!model.is_live(start, &viewer)),
            links => {
                let mut links: Vec<_> = links.unwrap().iter().map(|link| (link.kind, link.other_end(start))).collect();
                links.sort();
                let mut around = model.around(start, Direction::Both);
                around.retain(|(_, id)| model.is_live(*id, &viewer));
                assert_eq!(links, around, "{viewer:?}");
            }
        }
    }
}

/// R16, R17, T42, T44, T45, Q16: any operations, in any order, by either of two openers.
#[test]
fn random_links_are_walked_and_hide_as_a_plain_model_says() {
    let cases = amount_from("MEMORIST_MODEL_CASES", 8) as u32;
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&prop::collection::vec(step(), 1..80), |steps| {
        let (store, other) = pair();
        let engines = [&store.engine, &other];
        let (mut model, mut active) = (LinkModel::default(), 0);
        for (at, step) in steps.iter().enumerate() {
            if matches!(step, LinkStep::Switch) {
                active = 1 - active;
            }
            perform(step, engines[active], &mut model);
            compare(engines[(active + at) % 2], &model, at);
        }
        store.engine.flush(&NoProgress).unwrap();
        let diagnosis = store.engine.doctor(false, &NoProgress).expect("examines");
        prop_assert!(diagnosis.is_sound(), "{diagnosis:#?}");
        Ok(())
    });
    outcome.unwrap();
}
