//! The names in use: projects, and tags.

use std::collections::HashMap;

use rusqlite::params_from_iter;
use rusqlite::types::Value;
use unicode_normalization::UnicodeNormalization;

use super::filter::Condition;
use super::snapshot::{Snapshot, stored_limit};
use crate::error::Result;
use crate::types::{Filter, Millis, Names, RecordId, Viewer, label};

impl Snapshot {
    /// The projects of the live records that `viewer` sees, in the order of their names: at most `limit` that begin with
    /// `start`, in upper or lower case.
    pub fn projects(&self, viewer: &Viewer, start: &str, limit: usize, now: Millis) -> Result<Vec<String>> {
        let mut condition = Condition::live("r", now);
        condition.and_seen("s.id", viewer, None);
        let sql = format!(
            "SELECT DISTINCT s.project FROM scopes s WHERE s.project IS NOT NULL AND EXISTS
                 (SELECT 1 FROM records r INDEXED BY records_by_scope WHERE r.scope_id = s.id AND {}) ORDER BY s.project",
            condition.sql
        );
        let mut statement = self.conn().prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(condition.values))?;
        let mut names: Vec<String> = Vec::new();
        while let Some(row) = rows.next()?.filter(|_| names.len() < limit) {
            let name = label(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?);
            if begins(&name, start) && !names.iter().any(|known| *known == name) {
                names.push(name.into_owned());
            }
        }
        Ok(names)
    }

    /// The projects of the records that `viewer` sees, those with the most first, each with how many it has.
    pub fn project_sizes(&self, viewer: &Viewer) -> Result<Vec<(String, u64)>> {
        self.names_of_scopes("project", viewer)
    }

    /// Whether a record that `viewer` sees belongs to this project.
    pub fn has_project(&self, name: &str, viewer: &Viewer) -> Result<bool> {
        let mut condition = Condition { sql: String::new(), values: Vec::new() };
        condition.sql = condition.is_named("s.project", name);
        condition.and_seen("s.id", viewer, None);
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM scopes s JOIN tallies t ON t.scope_id = s.id AND t.records > 0 WHERE {})",
            condition.sql
        );
        let mut statement = self.conn().prepare_cached(&sql)?;
        Ok(statement.query_row(params_from_iter(condition.values), |row| row.get(0))?)
    }

    fn names_of_scopes(&self, column: &str, viewer: &Viewer) -> Result<Vec<(String, u64)>> {
        let mut condition = Condition { sql: "r.records > 0".into(), values: Vec::new() };
        condition.and_seen("r.scope_id", viewer, None);
        let sql = format!(
            "SELECT s.{column}, sum(r.records) FROM tallies r JOIN scopes s ON s.id = r.scope_id
             WHERE {} AND s.{column} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1",
            condition.sql
        );
        self.names_with_counts(&sql, condition.values)
    }

    /// The projects and the agents of the records that `viewer` sees, as [`Snapshot::project_sizes`] has the projects; and
    /// the tags of the newest `newest` of them, likewise.
    pub fn names(&self, viewer: &Viewer, newest: usize) -> Result<Names> {
        let mut seen = Condition { sql: "r.tags IS NOT NULL".into(), values: Vec::new() };
        seen.and_seen("r.scope_id", viewer, None);
        seen.values.push(stored_limit(newest).into());
        let sql = format!(
            "SELECT lower(j.value), count(*) FROM
                 (SELECT r.tags FROM records r NOT INDEXED WHERE {} ORDER BY r.id DESC LIMIT ?) t, json_each(t.tags) j
             GROUP BY 1 ORDER BY 2 DESC, 1",
            seen.sql
        );
        Ok(Names {
            projects: self.project_sizes(viewer)?,
            agents: self.names_of_scopes("agent", viewer)?,
            tags: self.names_with_counts(&sql, seen.values)?,
        })
    }

    fn names_with_counts(&self, sql: &str, values: Vec<Value>) -> Result<Vec<(String, u64)>> {
        let mut statement = self.conn().prepare_cached(sql)?;
        let counted = statement
            .query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?;
        let mut names: Vec<(String, u64)> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for counted in counted {
            let (name, count): (String, u64) = counted?;
            let name = label(&name).into_owned();
            match known.get(&name) {
                Some(&at) => names[at].1 += count,
                None => {
                    known.insert(name.clone(), names.len());
                    names.push((name, count));
                }
            }
        }
        names.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(names)
    }

    /// The tags of the live records that `viewer` sees, in lower case, as [`Snapshot::projects`] has the projects. Reads two indexes
    /// from end to end and no text.
    pub fn tags(&self, viewer: &Viewer, start: &str, limit: usize, now: Millis) -> Result<Vec<String>> {
        let seen = self.matching(&Filter::of(viewer.clone()), now)?;
        let mut statement = self.conn().prepare_cached("SELECT tag, record_id FROM record_tags ORDER BY tag")?;
        let mut rows = statement.query(())?;
        let mut names: Vec<String> = Vec::new();
        // Of the last tag: whether it begins so.
        let (mut last, mut fits) = (String::new(), false);
        while let Some(row) = rows.next()? {
            let tag = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            if tag != last {
                if names.len() == limit {
                    break;
                }
                tag.clone_into(&mut last);
                fits = begins(tag, start);
            }
            if fits && seen.contains(row.get::<_, RecordId>(1)?.key()) {
                let tag = label(tag);
                if !names.iter().any(|known| *known == tag) {
                    names.push(tag.into_owned());
                }
                fits = false;
            }
        }
        Ok(names)
    }
}

/// Whether `name` begins with `start`, in upper or lower case.
fn begins(name: &str, start: &str) -> bool {
    let (name, start) = (label(name), start.nfc().collect::<String>());
    let mut name = name.chars().flat_map(char::to_lowercase);
    start.chars().flat_map(char::to_lowercase).all(|wanted| name.next() == Some(wanted))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, TestStore, new};
    use super::*;
    use crate::types::{NewRecord, Scope};

    fn add(store: &TestStore, text: &str, agent: Option<&str>, project: Option<&str>, tags: &[&str]) -> RecordId {
        let scope = Scope { agent: agent.map(Into::into), project: project.map(Into::into) };
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        store.add(&NewRecord { scope, tags, ..new(text) }, NOW).unwrap().id
    }

    /// R23, R24.
    #[test]
    fn names_are_those_of_live_records_in_view() {
        let store = TestStore::new();
        add(&store, "global", None, None, &["Shared", "über"]);
        add(&store, "a", None, Some("Atlas"), &["sails", "shared"]);
        add(&store, "ann's", Some("ann"), Some("atlas 2"), &["secret"]);
        let gone = add(&store, "b", None, Some("Borealis"), &["gone"]);
        store.delete(gone, &Viewer::OWNER, NOW).unwrap();
        let brief = NewRecord { expires_at: Some(NOW + 1), tags: vec!["brief".into()], ..new("brief") };
        let brief = NewRecord { scope: Scope { agent: None, project: Some("brief".into()) }, ..brief };
        store.add(&brief, NOW).unwrap();

        let view = store.view();
        let projects = |viewer: &Viewer, start| view.projects(viewer, start, 9, NOW + 1).unwrap();
        assert_eq!(projects(&Viewer::OWNER, ""), ["Atlas", "atlas 2"]);
        assert_eq!(projects(&Viewer::OWNER, "AT"), ["Atlas", "atlas 2"]);
        assert_eq!(projects(&Viewer::OWNER, "atlas "), ["atlas 2"]);
        assert_eq!(projects(&Viewer::of_agent("bob"), ""), ["Atlas"]);
        assert_eq!(projects(&Viewer::in_project("Atlas"), ""), ["Atlas"]);
        assert!(projects(&Viewer::OWNER, "tlas").is_empty());
        assert_eq!(view.projects(&Viewer::OWNER, "", 1, NOW).unwrap(), ["Atlas"]);
        assert_eq!(view.projects(&Viewer::OWNER, "b", 9, NOW).unwrap(), ["brief"], "it lives until then");

        let tags = |viewer: &Viewer, start| view.tags(viewer, start, 9, NOW + 1).unwrap();
        assert_eq!(tags(&Viewer::OWNER, ""), ["sails", "secret", "shared", "über"]);
        assert_eq!(tags(&Viewer::OWNER, "s"), ["sails", "secret", "shared"]);
        assert_eq!(tags(&Viewer::OWNER, "ÜB"), ["über"]);
        assert_eq!(tags(&Viewer::in_project("Atlas"), "S"), ["sails", "shared"]);
        assert_eq!(tags(&Viewer::of_agent("bob"), "se"), Vec::<String>::new());
        assert_eq!(view.tags(&Viewer::OWNER, "s", 2, NOW).unwrap(), ["sails", "secret"]);
        assert_eq!(view.tags(&Viewer::OWNER, "b", 2, NOW).unwrap(), ["brief"]);
    }

    /// Earlier versions saved names as they were typed.
    #[test]
    fn names_of_older_stores_are_found_in_either_form() {
        const DECOMPOSED: &str = "Cafe\u{301}";
        let store = TestStore::new();
        let old = add(&store, "old", None, Some("Caf\u{e9}"), &["th\u{e9}"]);
        store.sql(&format!("UPDATE scopes SET project = ' {DECOMPOSED}' WHERE id > 1"));
        store.sql("UPDATE records SET tags = '[\"the\u{301}\"]'");
        let padded = add(&store, "new", None, Some("Caf\u{e9}"), &["th\u{e9}"]);
        store.sql(&format!("UPDATE scopes SET project = '{DECOMPOSED}' WHERE project = 'Caf\u{e9}'"));
        let newest = add(&store, "newest", None, Some("Caf\u{e9}"), &["th\u{e9}"]);
        assert_eq!(store.number("SELECT count(*) FROM scopes"), 3, "the scope of the decomposed name is used");
        let view = store.view();
        for (project, tag) in [("Caf\u{e9}", "TH\u{e9}"), (DECOMPOSED, "the\u{301}")] {
            let viewer = Viewer::in_project(project);
            let filter = Filter { tags: vec![tag.into()], ..Filter::of(viewer.clone()) };
            let all = [old, padded, newest].map(RecordId::key).to_vec();
            assert_eq!(view.matching(&filter, NOW).unwrap().iter().collect::<Vec<_>>(), all, "{project:?}");
            let records = view.records(&[old, padded, newest], NOW).unwrap();
            assert!(records.iter().all(|record| filter.allows(record)), "{project:?}");
            assert!(view.has_project(project, &viewer).unwrap());
            assert_eq!(view.projects(&viewer, "cafe\u{301}", 9, NOW).unwrap(), ["Caf\u{e9}"]);
            assert_eq!(view.project_sizes(&viewer).unwrap(), [("Caf\u{e9}".to_owned(), 3)]);
            assert_eq!(view.tags(&viewer, "th\u{e9}", 9, NOW).unwrap(), ["th\u{e9}"]);
        }
        assert!(!view.has_project("Cafe", &Viewer::OWNER).unwrap());
    }

    /// Prints what it costs in a large store.
    #[test]
    #[ignore = "a measurement"]
    fn names_of_a_hundred_thousand_records() {
        let store = TestStore::new();
        let records: Vec<_> = (0..100_000)
            .map(|at| {
                let project = (at % 2 == 1).then(|| format!("project {}", at % 1_000));
                let tags = vec!["all".into(), format!("tag {}", at % 5_000), format!("own {at}")];
                NewRecord { scope: Scope { agent: None, project }, tags, ..new(&format!("note {at}")) }
            })
            .collect();
        store.add_batch(&records, NOW).unwrap().into_iter().for_each(|outcome| assert!(outcome.unwrap().created));
        let view = store.view();
        for viewer in [Viewer::OWNER, Viewer::in_project("project 7")] {
            for start in ["", "tag 49", "zzz"] {
                let at = std::time::Instant::now();
                let tags = view.tags(&viewer, start, 101, NOW).unwrap().len();
                let (tags_took, at) = (at.elapsed(), std::time::Instant::now());
                let projects = view.projects(&viewer, start, 101, NOW).unwrap().len();
                eprintln!("{start:?}: {tags} tags {tags_took:?}, {projects} projects {:?}", at.elapsed());
            }
        }
    }
}
