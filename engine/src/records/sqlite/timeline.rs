//! Events of each day: from the records, the versions, the links and the trash.

use std::collections::BTreeMap;

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::filter::Condition;
use super::snapshot::Snapshot;
use super::superseded::superseding;
use crate::error::Result;
use crate::records::rows;
use crate::types::{DAY, Filter, Happened, Kind, Millis, Viewer};

/// Bound of the codes of kinds: all are smaller.
const KINDS: i64 = 64;

impl Snapshot {
    /// Counts the events of the records that pass the filter, by the number of the day since 1970, where a day begins
    /// `offset` before midnight in UTC. An expired or deleted record counts as long as it can be restored.
    pub fn happened(&self, filter: &Filter, offset: Millis, now: Millis) -> Result<BTreeMap<i64, Happened>> {
        let mut days = Days { offset, ..Days::default() };
        let Condition { sql, values } = Condition::of_all(filter);
        // Counted by SQLite, by day and kind in one number: to hand over each row takes twice as long.
        let saved = format!(
            "SELECT (r.created_at + {offset} - CASE WHEN r.created_at + {offset} < 0 THEN {DAY} - 1 ELSE 0 END) / {DAY}
                 * {KINDS} + r.kind, count(*)
             FROM records r INDEXED BY records_by_kind WHERE {sql} GROUP BY 1"
        );
        self.moments(&saved, &values, |day_and_kind, count| {
            let day = days.numbered(day_and_kind.div_euclid(KINDS));
            day.save(day_and_kind.rem_euclid(KINDS), count.unsigned_abs());
        })?;
        let deleted = format!("SELECT r.created_at, r.kind, r.deleted_at FROM trash r WHERE {sql}");
        let mut statement = self.conn().prepare_cached(&deleted)?;
        let mut found = statement.query(params_from_iter(&values))?;
        while let Some(row) = found.next()? {
            days.of(row.get(0)?).save(row.get(1)?, 1);
            days.of(row.get(2)?).deleted += 1;
        }

        let is_all = *filter == Filter::of(Viewer::OWNER);
        let changed = match is_all {
            true => "SELECT v.replaced_at, 0 FROM versions v".to_owned(),
            false => format!(
                "SELECT v.replaced_at, 0 FROM versions v CROSS JOIN records r ON r.id = v.record_id WHERE {sql}"
            ),
        };
        self.moments(&changed, if is_all { &[] } else { &values }, |at, _| days.of(at).changed += 1)?;

        let by = superseding(&filter.viewer);
        // The index of these has no times: to look each of them up takes longer than to pass over the other links. With the plus
        // SQLite does not take it.
        let superseded = match is_all {
            true => format!("SELECT l.created_at, 0 FROM links l WHERE +{}", by.sql),
            false => format!(
                "SELECT l.created_at, 0 FROM links l CROSS JOIN records r ON r.id = l.to_id WHERE +{} AND {sql}",
                by.sql
            ),
        };
        let both = if is_all { by.values } else { [by.values, values.clone()].concat() };
        self.moments(&superseded, &both, |at, _| days.of(at).superseded += 1)?;

        let expired = format!(
            "SELECT r.expires_at, 0 FROM records r INDEXED BY records_by_expiry WHERE r.expires_at <= ? AND {sql}"
        );
        let until_now = [vec![Value::from(now)], values].concat();
        self.moments(&expired, &until_now, |at, _| days.of(at).expired += 1)?;
        Ok(days.into_map())
    }

    /// Calls `found` with both numbers of each row.
    fn moments(&self, sql: &str, values: &[Value], mut found: impl FnMut(Millis, i64)) -> Result<()> {
        let mut statement = self.conn().prepare_cached(sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            found(row.get(0)?, row.get(1)?);
        }
        Ok(())
    }
}

/// Event counts of a day.
#[derive(Default)]
struct EventCounts {
    /// By the position of the kind.
    saved: [u64; Kind::ALL.len()],
    changed: u64,
    superseded: u64,
    expired: u64,
    deleted: u64,
}

impl EventCounts {
    /// Counts records whose kind has this code.
    fn save(&mut self, code: i64, count: u64) {
        if let Some(saved) = usize::try_from(code).ok().and_then(|at| self.saved.get_mut(at)) {
            *saved += count;
        }
    }
}

/// Days by their numbers.
#[derive(Default)]
struct Days {
    offset: Millis,
    counts: BTreeMap<i64, EventCounts>,
}

impl Days {
    /// The day of this moment.
    fn of(&mut self, at: Millis) -> &mut EventCounts {
        self.numbered(at.saturating_add(self.offset).div_euclid(DAY))
    }

    fn numbered(&mut self, day: i64) -> &mut EventCounts {
        self.counts.entry(day).or_default()
    }

    fn into_map(self) -> BTreeMap<i64, Happened> {
        let happened = |EventCounts { saved, changed, superseded, expired, deleted }| {
            let saved = saved.into_iter().enumerate().filter(|(_, count)| *count > 0);
            let saved = saved.filter_map(|(at, count)| Some((rows::kind_of(at as i64)?, count))).collect();
            Happened { start: 0, saved, changed, superseded, expired, deleted }
        };
        self.counts.into_iter().map(|(day, counts)| (day, happened(counts))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::types::{Link, LinkKind, NewRecord, RecordUpdate, Scope};

    /// An event.
    #[derive(Clone, Copy, PartialEq)]
    enum Event {
        Saved(Kind),
        Changed,
        Superseded,
        Expired,
        Deleted,
    }

    /// Compares with a list of all changes, for several filters and time zones.
    #[test]
    fn each_day_has_what_happened_on_it() {
        let store = TestStore::new();
        let mut state = 7_u64;
        let mut below = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        let mut events: Vec<(Event, Millis, Scope, Kind)> = Vec::new();
        let mut ids = Vec::new();
        for at in 0..120 {
            // Some before 1970.
            let created =
                if at % 10 == 0 { -(below(9) as Millis) * DAY / 4 } else { NOW - below(40) as Millis * DAY / 2 };
            let scope = Scope { agent: None, project: (below(2) == 0).then(|| "atlas".to_owned()) };
            let kind = Kind::ALL[below(3) as usize];
            let expires_at = (at % 10 > 0 && below(5) == 0).then(|| created + below(30) as Millis * DAY);
            let record = NewRecord { kind, scope: scope.clone(), expires_at, ..new(&format!("note {at}")) };
            let id = store.add(&record, created).unwrap().id;
            events.push((Event::Saved(kind), created, scope.clone(), kind));
            let expired = expires_at.filter(|expired| *expired <= NOW);
            let mut last = created;
            for _ in 0..below(3) {
                let changed = last + below(5) as Millis * DAY / 3 + 1;
                if changed < NOW && expired.is_none_or(|at| changed < at) {
                    let update =
                        RecordUpdate { content: Some(format!("note {at} at {changed}")), ..Default::default() };
                    store.update(id, &update, &Viewer::OWNER, changed).unwrap();
                    events.push((Event::Changed, changed, scope.clone(), kind));
                    last = changed;
                }
            }
            match expired {
                Some(expired) => events.push((Event::Expired, expired, scope, kind)),
                None if expires_at.is_none() => ids.push((id, scope, kind)),
                None => {}
            }
        }
        for pair in ids.chunks_exact(2).take(20) {
            let [(from, ..), (to, scope, kind)] = pair else { continue };
            let made = NOW - below(9) as Millis * DAY;
            let link = Link { from: *from, to: *to, kind: LinkKind::Supersedes };
            assert!(store.link(link, &Viewer::OWNER, made).unwrap());
            events.push((Event::Superseded, made, scope.clone(), *kind));
        }
        // The others: a link goes with either end, and a version with its record.
        for (id, scope, kind) in ids.iter().skip(40).take(8) {
            if store.view().all_earlier(*id).unwrap().is_empty() {
                store.delete(*id, &Viewer::OWNER, NOW - DAY).unwrap();
                events.push((Event::Deleted, NOW - DAY, scope.clone(), *kind));
            }
        }
        assert!(
            [Event::Changed, Event::Superseded, Event::Expired, Event::Deleted]
                .iter()
                .all(|wanted| { events.iter().any(|(event, ..)| event == wanted) })
        );
        let filters = [
            Filter::of(Viewer::OWNER),
            Filter::of(Viewer::in_project("atlas")),
            Filter::of(Viewer::in_project("borealis")),
            Filter { kinds: vec![Kind::ALL[1]], ..Filter::default() },
        ];
        for filter in filters {
            for offset in [0, 11 * 60 * 60 * 1_000, -5 * 60 * 60 * 1_000] {
                let mut expected: BTreeMap<i64, Happened> = BTreeMap::new();
                for (event, at, scope, kind) in &events {
                    let passes = filter.viewer.sees(scope) && (filter.kinds.is_empty() || filter.kinds.contains(kind));
                    // The one that supersedes is seen, too, or nobody sees the link.
                    if !passes || *event == Event::Superseded && filter.viewer != Viewer::OWNER {
                        continue;
                    }
                    let day = expected.entry((at + offset).div_euclid(DAY)).or_default();
                    match event {
                        Event::Saved(kind) => *day.saved.entry(*kind).or_default() += 1,
                        Event::Changed => day.changed += 1,
                        Event::Superseded => day.superseded += 1,
                        Event::Expired => day.expired += 1,
                        Event::Deleted => day.deleted += 1,
                    }
                }
                let mut found = store.view().happened(&filter, offset, NOW).unwrap();
                if filter.viewer != Viewer::OWNER {
                    found.values_mut().for_each(|day| day.superseded = 0);
                    found.retain(|_, day| *day != Happened::default());
                }
                assert_eq!(found, expected, "{filter:?} {offset}");
            }
        }
    }

    #[test]
    fn a_link_counts_where_both_ends_are_seen() {
        let store = TestStore::new();
        let add = |text: &str, project: Option<&str>| {
            let scope = Scope { agent: None, project: project.map(Into::into) };
            store.add(&NewRecord { scope, ..new(text) }, NOW).unwrap().id
        };
        let (shared, own, theirs) = (add("shared", None), add("own", Some("atlas")), add("theirs", Some("borealis")));
        for from in [own, theirs] {
            let link = Link { from, to: shared, kind: LinkKind::Supersedes };
            assert!(store.link(link, &Viewer::OWNER, NOW).unwrap());
        }
        let superseded = |viewer: Viewer| {
            let days = store.view().happened(&Filter::of(viewer), 0, NOW).unwrap();
            days.values().map(|day| day.superseded).sum::<u64>()
        };
        assert_eq!(superseded(Viewer::OWNER), 2);
        assert_eq!((superseded(Viewer::in_project("atlas")), superseded(Viewer::in_project("calypso"))), (1, 0));
    }
}
