//! Statistics of a store.

use std::collections::{BTreeMap, HashMap};

use rusqlite::params_from_iter;

use super::filter::Condition;
use super::snapshot::Snapshot;
use super::tally::{self, BILLIONTHS, Tally};
use crate::error::Result;
use crate::records::rows::{self, MOST_ACCESSES};
use crate::records::transaction::SelectExt;
use crate::types::{Filter, Millis, Stats};

/// When the first and the last record was made.
type CreationSpan = (Option<Millis>, Option<Millis>);

/// Counts of the rows of each sort.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Live records.
    pub live: u64,
    /// Live records with a stored embedding.
    pub embedded: u64,
    /// Expired records that are not deleted yet.
    pub expired: u64,
    /// Earlier versions.
    pub versions: u64,
    /// Vectors, of texts and of passages (two records of one text share one).
    pub embeddings: u64,
    /// Rows of the access log.
    pub accesses: u64,
    /// Entries of the sync log.
    pub log_entries: u64,
}

/// The sum of a number over tallies. Tampered ones may be too large to add.
fn total(tallies: &[Tally], number: impl Fn(&Tally) -> u64) -> u64 {
    tallies.iter().map(number).fold(0, u64::saturating_add)
}

impl Snapshot {
    /// Statistics of the records that pass the filter.
    pub fn stats(&self, filter: &Filter, now: Millis) -> Result<Stats> {
        let (tallies, (oldest, newest)) = if tally::answers(filter) {
            (self.tallies(filter, None, now)?, self.span(filter, now)?)
        } else {
            self.counted(filter, now)?
        };
        let sum = |number: fn(&Tally) -> u64| total(&tallies, number);
        let mut by_kind = BTreeMap::new();
        for tally in &tallies {
            let records: &mut u64 = by_kind.entry(tally.kind).or_default();
            *records = records.saturating_add(tally.records);
        }
        let total = sum(|tally| tally.records);
        let mean = |sum: f64| if total == 0 { 0.0 } else { sum / total as f64 };
        Ok(Stats {
            total,
            by_kind: by_kind.into_iter().collect(),
            avg_importance: mean(sum(|tally| tally.importance.unsigned_abs().saturating_mul(tally.records)) as f64),
            avg_confidence: mean(sum(|tally| tally.confidence) as f64 / BILLIONTHS),
            total_accesses: sum(|tally| tally.accesses),
            oldest,
            newest,
            pending_embeddings: sum(|tally| tally.waiting).saturating_add(self.pending_passages(filter, now)?),
        })
    }

    /// Totals for a filter that `tallies` cannot answer, and when the first and the last record was made.
    fn counted(&self, filter: &Filter, now: Millis) -> Result<(Vec<Tally>, CreationSpan)> {
        let Condition { sql, values } = Condition::new(filter, None, now);
        let waiting = format!(
            "SELECT kind, importance, count(*) FROM records r INDEXED BY records_pending
             WHERE embedding_id IS NULL AND {sql} GROUP BY kind, importance"
        );
        let mut statement = self.conn().prepare_cached(&waiting)?;
        let waiting = statement.query_map(params_from_iter(values.iter()), |row| {
            Ok(((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?), row.get::<_, i64>(2)?.unsigned_abs()))
        })?;
        let waiting = waiting.collect::<rusqlite::Result<HashMap<_, _>>>()?;
        let mut statement = self.conn().prepare_cached(&format!(
            "SELECT kind, importance, count(*), sum(min(max(access_count, 0), {MOST_ACCESSES})),
                 sum(CAST(round(confidence * {BILLIONTHS:.0}) AS INTEGER)), min(created_at), max(created_at)
             FROM records r INDEXED BY records_by_kind WHERE {sql} GROUP BY kind, importance"
        ))?;
        let mut rows = statement.query(params_from_iter(values.iter()))?;
        let (mut tallies, mut span) = (Vec::new(), (None, None));
        while let Some(row) = rows.next()? {
            let number = |column| Ok::<_, rusqlite::Error>(row.get::<_, i64>(column)?.unsigned_abs());
            let importance = row.get(1)?;
            tallies.push(Tally {
                kind: rows::to_kind(row, 0)?,
                importance,
                records: number(2)?,
                waiting: waiting.get(&(row.get(0)?, importance)).copied().unwrap_or(0),
                accesses: number(3)?,
                confidence: number(4)?,
            });
            let (first, last): (Millis, Millis) = (row.get(5)?, row.get(6)?);
            span.0 = Some(span.0.map_or(first, |oldest: Millis| oldest.min(first)));
            span.1 = Some(span.1.map_or(last, |newest: Millis| newest.max(last)));
        }
        Ok((tallies, span))
    }

    /// When the first and the last live record was made that passes a filter which `tallies` can answer.
    fn span(&self, filter: &Filter, now: Millis) -> Result<CreationSpan> {
        let Condition { sql, values } = tally::tallied(filter, None);
        let live = Condition::live("x", now);
        let at_end = |order| {
            format!(
                "(SELECT x.created_at FROM records x INDEXED BY records_by_scope
                  WHERE x.scope_id = r.scope_id AND x.kind = r.kind AND x.importance = r.importance AND {}
                  ORDER BY x.created_at {order}, x.id {order} LIMIT 1)",
                live.sql
            )
        };
        let sql = format!("SELECT min({}), max({}) FROM tallies r WHERE {sql}", at_end("ASC"), at_end("DESC"));
        let values = [live.values.clone(), live.values, values].concat();
        let mut statement = self.conn().prepare_cached(&sql)?;
        Ok(statement.query_row(params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// How many live records there are.
    pub fn live_count(&self, now: Millis) -> Result<u64> {
        Ok(total(&self.tallies(&Filter::default(), None, now)?, |tally| tally.records))
    }

    /// How many live records wait for their embedding.
    pub fn pending_count(&self, now: Millis) -> Result<u64> {
        // Mostly none does, and that is known at once.
        let sql = "SELECT 1 FROM records INDEXED BY records_pending WHERE embedding_id IS NULL";
        if !self.conn().exists(sql, &[])? {
            return Ok(0);
        }
        Ok(total(&self.tallies(&Filter::default(), None, now)?, |tally| tally.waiting))
    }

    /// How many passages of live records that pass the filter wait for their embedding, their beginnings not counted.
    pub fn pending_passages(&self, filter: &Filter, now: Millis) -> Result<u64> {
        // Mostly none does, and that is known at once.
        if !self.has_pending_passages()? {
            return Ok(0);
        }
        let Condition { sql, values } = Condition::new(filter, None, now);
        let sql = format!(
            "SELECT count(*) FROM passages p INDEXED BY passages_pending CROSS JOIN records r ON r.id = p.record_id
             WHERE p.embedding_id IS NULL AND {sql}"
        );
        self.count(&sql, params_from_iter(values))
    }

    /// Whether a passage waits for its embedding.
    pub fn has_pending_passages(&self) -> Result<bool> {
        self.conn().exists("SELECT 1 FROM passages INDEXED BY passages_pending WHERE embedding_id IS NULL", &[])
    }

    /// Counts of the rows of each sort.
    pub fn counts(&self, now: Millis) -> Result<Counts> {
        let all = |table: &str| self.count(&format!("SELECT count(*) FROM {table}"), ());
        let expired = self.count("SELECT count(*) FROM records WHERE expires_at <= ?", [now])?;
        let live = all("records")? - expired;
        Ok(Counts {
            live,
            embedded: live - self.pending_count(now)?,
            expired,
            versions: all("versions")?,
            embeddings: all("embeddings")?,
            accesses: all("access_log")?,
            log_entries: all("sync_log")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::super::testing::{NOW, TestStore, model, new};
    use super::*;
    use crate::records::{Access, AccessKind};
    use crate::types::{DigestQuery, Kind, NewRecord, RecordUpdate, Scope, Viewer};

    #[test]
    fn an_empty_store_has_no_times_and_no_means() {
        let stats = TestStore::new().view().stats(&Filter::default(), NOW).unwrap();
        let expected = Stats {
            total: 0,
            by_kind: vec![],
            avg_importance: 0.0,
            avg_confidence: 0.0,
            total_accesses: 0,
            oldest: None,
            newest: None,
            pending_embeddings: 0,
        };
        assert_eq!(stats, expected);
    }

    #[test]
    fn totals_are_of_live_records() {
        let store = TestStore::new();
        let add = |kind, importance, confidence, expires_at, at| {
            let text = format!("{kind} {importance}");
            store.add(&NewRecord { kind, importance, confidence, expires_at, ..new(&text) }, at).unwrap().id
        };
        let task = add(Kind::Task, 10, 1.0, None, NOW + 3);
        add(Kind::Fact, 1, 0.5, None, NOW + 1);
        add(Kind::Fact, 4, 0.0, None, NOW + 2);
        let brief = add(Kind::Event, 9, 1.0, Some(NOW + 10), NOW);
        for id in [task, brief] {
            let access = Access { id, kind: AccessKind::Get, score: None, query: None, counts: true };
            store.record_access(&[access, access], NOW).unwrap();
        }
        let model = store.model(&model(1)).unwrap();
        let hash = store.pending(model, 1, NOW).unwrap()[0].hash;
        store.store_embeddings(model, &[(hash, vec![1.0])]).unwrap();
        store.update(task, &RecordUpdate { importance: Some(8), ..Default::default() }, &Viewer::OWNER, NOW).unwrap();
        let expected = Stats {
            total: 3,
            by_kind: vec![(Kind::Fact, 2), (Kind::Task, 1)],
            avg_importance: 13.0 / 3.0,
            avg_confidence: 0.5,
            total_accesses: 2,
            oldest: Some(NOW + 1),
            newest: Some(NOW + 3),
            pending_embeddings: 2,
        };
        assert_eq!(store.view().stats(&Filter::default(), NOW + 10).unwrap(), expected);
        let counts =
            Counts { live: 3, embedded: 1, expired: 1, versions: 1, embeddings: 1, accesses: 4, log_entries: 6 };
        assert_eq!(store.view().counts(NOW + 10).unwrap(), counts);
        assert_eq!(store.view().stats(&Filter::default(), NOW).unwrap().total, 4);
    }

    /// The totals that are kept are those that counting finds, for every viewer, after every sort of change.
    #[test]
    fn totals_that_are_kept_are_those_that_counting_finds() {
        let store = TestStore::new();
        let model = store.model(&model(1)).unwrap();
        for at in 0..60_i64 {
            let scope = Scope { agent: (at % 3 == 0).then(|| "a".into()), project: (at % 2 == 0).then(|| "p".into()) };
            let kind = Kind::ALL[at as usize % 5];
            let expires_at = (at % 7 == 0).then_some(NOW + 5);
            let confidence = at as f64 / 59.0;
            let new =
                NewRecord { kind, scope, expires_at, confidence, importance: 1 + at % 10, ..new(&at.to_string()) };
            store.add(&new, NOW - at).unwrap();
        }
        let get = |id: i64| Access { id: id.into(), kind: AccessKind::Get, score: None, query: None, counts: true };
        store.record_access(&[get(1), get(8), get(8), get(15)], NOW).unwrap();
        let waiting = store.pending(model, 20, NOW).unwrap();
        let vectors: Vec<_> = waiting.iter().map(|waiting| (waiting.hash, vec![1.0])).collect();
        store.store_embeddings(model, &vectors).unwrap();
        for id in [2, 8, 30] {
            let update = RecordUpdate { kind: Some(Kind::Skill), confidence: Some(0.3), ..RecordUpdate::default() };
            store.update(id.into(), &update, &Viewer::OWNER, NOW).unwrap();
            store.delete((id + 1).into(), &Viewer::OWNER, NOW).unwrap();
        }
        assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
        let viewers = [Viewer::OWNER, Viewer::in_project("p"), Viewer::of(&Scope::default())];
        let kinds = [vec![], vec![Kind::Fact, Kind::Skill], vec![Kind::Chunk]];
        for now in [NOW, NOW + 5] {
            for viewer in &viewers {
                for (kinds, min_importance) in kinds.iter().zip([None, Some(4), Some(1)]) {
                    let kept = Filter { kinds: kinds.clone(), min_importance, ..Filter::of(viewer.clone()) };
                    let counted = Filter { min_confidence: Some(0.0), ..kept.clone() };
                    assert!(tally::answers(&kept) && !tally::answers(&counted));
                    let view = store.view();
                    let (kept, counted) = (view.stats(&kept, now).unwrap(), view.stats(&counted, now).unwrap());
                    assert_eq!(kept, counted, "{viewer:?} {kinds:?}");
                }
            }
        }
        let view = store.view();
        let live = "SELECT count(*) FROM records WHERE (expires_at IS NULL OR expires_at > ?)";
        let count = |sql: &str| view.count(sql, [NOW + 5]).unwrap();
        assert_eq!(view.live_count(NOW + 5).unwrap(), count(live));
        assert_eq!(view.pending_count(NOW + 5).unwrap(), count(&format!("{live} AND embedding_id IS NULL")));
    }

    /// Neither statistics nor a digest look at the records one by one: SQLite counts the steps it takes.
    #[test]
    fn stats_and_digests_need_no_more_steps_with_more_records() {
        let store = TestStore::new();
        let steps = || {
            let again = store.again();
            let mut reader = again.reader().unwrap();
            let steps = Arc::new(AtomicU64::new(0));
            let counted = steps.clone();
            let count = move || {
                counted.fetch_add(1, Ordering::Relaxed);
                false
            };
            reader.conn_mut().progress_handler(10, Some(count)).unwrap();
            let view = Snapshot::begin(reader).unwrap();
            for viewer in [Viewer::OWNER, Viewer::in_project("p")] {
                assert!(view.stats(&Filter::of(viewer.clone()), NOW).unwrap().total > 0);
                let query = DigestQuery { viewer, ..DigestQuery::default() };
                assert_eq!(view.digest(&query, &Default::default(), NOW).unwrap().key_decisions.len(), 5);
            }
            steps.load(Ordering::Relaxed)
        };
        let kinds = [Kind::Decision, Kind::Pattern, Kind::Bugfix, Kind::Fact];
        let add = |range: std::ops::Range<usize>| {
            let project = |at| Scope { agent: None, project: (at % 2 == 0).then(|| "p".into()) };
            let one = |at: usize| NewRecord {
                kind: kinds[at % 4],
                importance: 1 + (at / 4 % 10) as i64,
                scope: project(at / 40),
                ..new(&at.to_string())
            };
            store.add_batch(&range.map(one).collect::<Vec<_>>(), NOW).unwrap();
        };
        add(0..800);
        let few = steps();
        add(800..8_000);
        let many = steps();
        assert!(many < few * 3 / 2, "{few} steps, then {many}");
    }
}
