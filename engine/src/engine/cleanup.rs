//! Finds memories to clean up: duplicates, contradictions, and memories that nobody finds; and merges several into one.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use roaring::RoaringTreemap;

use super::similar::shared_words;
use super::{Engine, Memories};
use crate::error::Result;
use crate::overlap::{SIMILAR, numbers};
use crate::records::Changed;
use crate::records::rules::merge;
use crate::search::{View, neighbors};
use crate::types::bounds::check_limit;
use crate::types::{
    Duplicates, DuplicatesPage, Filter, Kind, ListQuery, Merge, Merged, Millis, Query, Record, RecordId, RecordUpdate,
    Scope, Similar, Viewer,
};

/// A page of duplicates is made within about this time.
const TIME: Duration = Duration::from_millis(35);
/// Memories that are read at once.
const CHUNK: usize = 32;
/// The nearest of a memory that are looked at.
const NEAREST: usize = 16;
/// Cosine from which the words of two memories are compared.
const LIKELY: f64 = 0.6;
/// Most memories of a group: more cannot be compared side by side.
const MOST_MEMBERS: usize = 12;

impl Memories<'_> {
    /// Some of the groups of memories that are probably the same: of one owner, and of those that the viewer sees, without what is
    /// superseded and what is mostly read from files. Memories that are linked with each other are no group: somebody has seen
    /// them, and kept them. At most `limit` groups, of memories before `before`, the newest first. After about 35 ms the page
    /// ends, also with no group: [`DuplicatesPage::next`] goes on.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names what is out of bounds.
    pub fn duplicates(&self, before: Option<RecordId>, limit: usize) -> Result<DuplicatesPage> {
        self.viewer.validate()?;
        check_limit(limit)?;
        self.engine.store.records.refresh()?;
        self.engine.with_indexes(|context| {
            let (started, now) = (Instant::now(), self.engine.store.now());
            let model = self.engine.store.model()?.map(|(model, _)| model);
            let query = Query { filter: Filter::of(self.viewer.clone()), ..Query::new("duplicates") };
            let view = context.open_view(&query, model, now)?;
            let mut walk = ListQuery {
                after: before.unwrap_or(RecordId::START),
                newest_first: true,
                limit: CHUNK,
                filter: Filter { kinds: kept_kinds(), ..query.filter },
                ..ListQuery::default()
            };
            let mut search =
                DuplicateSearch { engine: self.engine, view: &view, now, known: HashMap::new(), owned: HashMap::new() };
            let mut page = DuplicatesPage::default();
            loop {
                let records = view.records.list(&walk, now)?;
                let is_last = records.len() < CHUNK;
                for record in records {
                    (walk.after, page.next) = (record.id, Some(record.id));
                    page.groups.extend(search.group_of(record)?);
                    if page.groups.len() == limit || started.elapsed() >= TIME {
                        return Ok(page);
                    }
                }
                if is_last {
                    return Ok(DuplicatesPage { next: None, ..page });
                }
            }
        })
    }

    /// At most `limit` of the memories that the viewer sees, were saved before `since`, and that nobody fetched or found from then
    /// on, as far as the access log reaches back; the oldest first, after `after`. With the id to go on after, if not all were
    /// looked at: then also a page without any may have a next one.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names what is out of bounds.
    pub fn unused(&self, since: Millis, after: RecordId, limit: usize) -> Result<(Vec<Record>, Option<RecordId>)> {
        self.viewer.validate()?;
        check_limit(limit)?;
        let snapshot = self.engine.store.records.snapshot()?;
        let now = self.engine.store.now();
        let (mut ids, next) = snapshot.unused(&Filter::of(self.viewer.clone()), since, after, limit, now)?;
        let superseded = self.engine.sets.superseded(self.viewer, &snapshot)?;
        ids.retain(|id| !superseded.contains(id.key()));
        Ok((snapshot.records(&ids, now)?, next))
    }

    /// At most `limit` of the memories above `after` that contradict others, each with these: of what the viewer sees, and what
    /// nothing supersedes.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names what is out of bounds.
    pub fn contradictions(&self, after: RecordId, limit: usize) -> Result<Vec<(RecordId, Vec<RecordId>)>> {
        self.viewer.validate()?;
        check_limit(limit)?;
        let snapshot = self.engine.store.records.snapshot()?;
        let superseded = self.engine.sets.superseded(self.viewer, &snapshot)?;
        snapshot.contradictions(self.viewer, &superseded, after, limit, self.engine.store.now())
    }

    /// Makes one of several memories, in one transaction: one of them gets a text, and supersedes the others.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) names a memory that the viewer does not see;
    /// [`Error::Invalid`](crate::Error::Invalid) says of `expect` which one has changed meanwhile; and as [`Memories::update`].
    pub fn merge(&self, merge: &Merge) -> Result<Merged> {
        self.viewer.validate()?;
        merge.validate()?;
        let update =
            RecordUpdate { content: merge.content.clone(), reason: Some("merge".into()), ..RecordUpdate::default() };
        let (update, vectors) = match merge.content {
            Some(_) => {
                let update = self.engine.checked(&update)?.into_owned();
                let text = self.text_after(merge.keep.0, &update);
                (update, self.engine.quick_vectors(text.into_iter().collect()))
            }
            None => (update, None),
        };
        let (Changed { before, after }, undo) = merge::merge(
            &self.engine.store.records,
            merge,
            &update,
            vectors.as_ref(),
            self.viewer,
            self.engine.store.now(),
        )?;
        Ok(Merged { kept: self.engine.finish_change(Some(before), after)?, undo })
    }
}

/// The kinds that are not mostly read from files.
pub(super) fn kept_kinds() -> Vec<Kind> {
    Kind::ALL.into_iter().filter(|kind| !kind.is_read()).collect()
}

/// A memory that is probably the same as another.
#[derive(Debug, Clone)]
struct NearDuplicate {
    record: Record,
    words: Option<f64>,
    cosine: Option<f64>,
}

/// A search for duplicates in one view.
struct DuplicateSearch<'a> {
    engine: &'a Engine,
    view: &'a View,
    now: Millis,
    /// The twins of the memories that were looked at.
    known: HashMap<RecordId, Vec<NearDuplicate>>,
    /// Memories that may be in a group, by owner, of the owners that were looked at.
    owned: HashMap<Scope, RoaringTreemap>,
}

impl DuplicateSearch<'_> {
    /// The group whose newest memory this is, if it is one's.
    fn group_of(&mut self, record: Record) -> Result<Option<Duplicates>> {
        if self.view.hidden.contains(record.id.key()) {
            return Ok(None);
        }
        let twins = self.twins(&record)?;
        if twins.is_empty() {
            return Ok(None);
        }
        // Those after it in the walk come with it; it came with one before it, unless that one has nearer ones.
        let mut one_sided = Vec::new();
        for twin in twins.iter().filter(|twin| twin.record.id > record.id) {
            if self.twins(&twin.record)?.iter().any(|other| other.record.id == record.id) {
                return Ok(None);
            }
            one_sided.push(twin.record.clone());
        }
        let most = |of: fn(&NearDuplicate) -> Option<f64>| twins.iter().filter_map(of).reduce(f64::max);
        let (words, cosine) = (most(|twin| twin.words), most(|twin| twin.cosine));
        let mut most = MOST_MEMBERS;
        let mut records = loop {
            let Some(records) = self.reached(&record, &one_sided, most)? else { return Ok(None) };
            let mut unlinked = self.unlinked(&records)?;
            if unlinked.len() > 1 {
                // What was kept before and is too much to show with the others stands behind one of it.
                unlinked.truncate(MOST_MEMBERS);
                break if records.len() > MOST_MEMBERS { unlinked } else { records };
            }
            if records.len() < most {
                return Ok(None);
            }
            most += MOST_MEMBERS;
        };
        records.sort_by_key(|record| std::cmp::Reverse(record.id));
        let same_numbers = records.windows(2).all(|pair| numbers(&pair[0].content) == numbers(&pair[1].content));
        Ok(Some(Duplicates { records, words, cosine, same_numbers }))
    }

    /// At most so many of what a record leads to, over twins of twins. `None` if a newer one leads to it: that shows the group.
    /// Newer ones that do not list the record itself are `one_sided`.
    fn reached(&mut self, record: &Record, one_sided: &[Record], most: usize) -> Result<Option<Vec<Record>>> {
        let mut named = BTreeSet::from([record.id]);
        let mut records = vec![record.clone()];
        // From which each was reached, if the way back leads to the first.
        let mut from = vec![Some(record.id)];
        let mut at = 0;
        while at < records.len() && records.len() < most {
            let one = records[at].clone();
            let twins = self.twins(&one)?;
            let leads_back = from[at].is_some_and(|from| at == 0 || twins.iter().any(|twin| twin.record.id == from));
            for NearDuplicate { record: twin, .. } in twins {
                if records.len() == most || named.contains(&twin.id) {
                    continue;
                }
                if twin.id > one.id && !(leads_back && self.twins(&twin)?.iter().any(|back| back.record.id == one.id)) {
                    continue;
                }
                if twin.id > record.id {
                    return Ok(None);
                }
                named.insert(twin.id);
                records.push(twin);
                from.push(leads_back.then_some(one.id));
            }
            at += 1;
        }
        let others = one_sided.iter().filter(|other| !named.contains(&other.id)).cloned();
        records.extend(others.take(most - records.len()).collect::<Vec<_>>());
        Ok(Some(records))
    }

    /// The first of each set of these that links lead through, over any of them.
    fn unlinked(&self, records: &[Record]) -> Result<Vec<Record>> {
        let ids: Vec<RecordId> = records.iter().map(|record| record.id).collect();
        let links = self.view.records.links_among(&ids, &Viewer::OWNER, self.now)?;
        let mut reached = BTreeSet::new();
        let mut first = Vec::new();
        for record in records {
            if !reached.insert(record.id) {
                continue;
            }
            first.push(record.clone());
            let mut before = 0;
            while before < reached.len() {
                before = reached.len();
                for link in &links {
                    if reached.contains(&link.from) || reached.contains(&link.to) {
                        reached.extend([link.from, link.to]);
                    }
                }
            }
        }
        Ok(first)
    }

    fn twins(&mut self, record: &Record) -> Result<Vec<NearDuplicate>> {
        if let Some(known) = self.known.get(&record.id) {
            return Ok(known.clone());
        }
        let mut twins = match self.near_twins(record, None)? {
            Some((twins, false)) => twins,
            Some((_, true)) => {
                let owned = self.of_owner(&record.scope)?;
                self.near_twins(record, Some(owned))?.unwrap_or_default().0
            }
            None => self.twins_by_words(record)?,
        };
        twins.retain(|twin| may_be_twins(record, &twin.record) && !self.view.hidden.contains(twin.record.id.key()));
        self.known.insert(record.id, twins.clone());
        Ok(twins)
    }

    /// The twins among the nearest, of these memories alone if some are given; and whether others, which cannot be twins, may
    /// have taken the places of more. `None` without a vector.
    fn near_twins(&self, record: &Record, among: Option<RoaringTreemap>) -> Result<Option<(Vec<NearDuplicate>, bool)>> {
        let quality = self.engine.config.quality;
        let Some(near) = neighbors(self.view, record.id, NEAREST, quality, among)? else { return Ok(None) };
        let likely: HashMap<RecordId, f64> = near.iter().filter(|(_, cosine)| *cosine >= LIKELY).copied().collect();
        let ids: Vec<RecordId> = near.iter().map(|(id, _)| *id).filter(|id| likely.contains_key(id)).collect();
        let mut others = self.view.records.records(&ids, self.now)?;
        let found = others.len();
        others.retain(|other| may_be_twins(record, other));
        let is_crowded = ids.len() == NEAREST && others.len() < found;
        let twins = others.into_iter().map(|other| {
            let words = (other.kind == record.kind).then(|| shared_words(&record.content, &other.content)).flatten();
            let words = words.filter(|share| *share >= SIMILAR);
            let cosine = likely.get(&other.id).copied().filter(|cosine| *cosine >= Similar::SAME);
            NearDuplicate { record: other, words, cosine }
        });
        Ok(Some((twins.filter(|twin| twin.words.is_some() || twin.cosine.is_some()).collect(), is_crowded)))
    }

    /// The memories of an owner that may be in a group.
    fn of_owner(&mut self, scope: &Scope) -> Result<RoaringTreemap> {
        if let Some(owned) = self.owned.get(scope) {
            return Ok(owned.clone());
        }
        let seen_by = |scope: &Scope| {
            let filter = Filter { kinds: kept_kinds(), ..Filter::of(Viewer::of(scope)) };
            self.view.records.matching(&filter, self.now)
        };
        let mut owned = seen_by(scope)?;
        // Without what is shared.
        if scope.project.is_some() {
            owned -= seen_by(&Scope { project: None, ..scope.clone() })?;
        }
        if scope.agent.is_some() {
            owned -= seen_by(&Scope { agent: None, ..scope.clone() })?;
        }
        owned -= &*self.view.hidden;
        self.owned.insert(scope.clone(), owned.clone());
        Ok(owned)
    }

    /// The twins of a memory without a vector.
    fn twins_by_words(&self, record: &Record) -> Result<Vec<NearDuplicate>> {
        let viewer = Viewer::of(&record.scope);
        let similar = self.engine.viewed_by(&viewer).similar_to(record, &[record.kind])?.into_iter();
        let twins = similar.filter(|one| one.words.is_some());
        Ok(twins.map(|one| NearDuplicate { record: one.record, words: one.words, cosine: None }).collect())
    }
}

/// Whether both are of one owner, and neither is mostly read from files.
fn may_be_twins(one: &Record, other: &Record) -> bool {
    one.scope.is(&other.scope) && !other.kind.is_read()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Clock, Config};
    use crate::types::{Link, LinkKind, NewRecord};

    /// All within one millisecond, in which the order of what was done cannot be seen from the times.
    #[test]
    fn a_merge_is_undone_within_the_millisecond_of_other_changes() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { clock: Clock::new(|| 1_700_000_000_000), ..Config::without_model() };
        let engine = Engine::open(folder.path(), config).unwrap();
        let [keep, one, other] = ["keep", "one", "other"].map(|text| engine.add(&NewRecord::new(text)).unwrap().id);
        let text = |text: &str| RecordUpdate { content: Some(text.into()), ..RecordUpdate::default() };
        engine.viewed_by(&Viewer::OWNER).update(one, &text("one, changed")).unwrap();
        engine.viewed_by(&Viewer::OWNER).update(keep, &text("keep, changed")).unwrap();
        engine.viewed_by(&Viewer::OWNER).link(Link { from: other, to: one, kind: LinkKind::Related }).unwrap();
        let state = || {
            [keep, one, other].map(|id| {
                let content = engine.viewed_by(&Viewer::OWNER).get(id).unwrap().unwrap().content;
                (content, engine.viewed_by(&Viewer::OWNER).links(id, 9).unwrap())
            })
        };
        let before = state();
        let merge = Merge { keep: (keep, 2), replaced: vec![(one, 2), (other, 1)], content: Some("all of it".into()) };
        let merged = engine.viewed_by(&Viewer::OWNER).merge(&merge).unwrap();
        assert_eq!((merged.kept.record.content.as_str(), merged.undo.clone()), ("all of it", vec![one, other, keep]));
        assert_ne!(state(), before);
        for id in merged.undo {
            engine.viewed_by(&Viewer::OWNER).undo(id).unwrap();
        }
        assert_eq!(state(), before);

        // What another one supersedes meanwhile is not kept: its text would be in no search.
        let newer = engine.add(&NewRecord::new("newer")).unwrap().id;
        engine.viewed_by(&Viewer::OWNER).link(Link { from: newer, to: one, kind: LinkKind::Supersedes }).unwrap();
        let version = engine.viewed_by(&Viewer::OWNER).get(one).unwrap().unwrap().version;
        let late = Merge { keep: (one, version), replaced: vec![(other, 1)], content: None };
        let refused = engine.viewed_by(&Viewer::OWNER).merge(&late).unwrap_err().to_string();
        assert!(refused.contains(&format!("superseded by {newer}")), "{refused}");
    }
}
