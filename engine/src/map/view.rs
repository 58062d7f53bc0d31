//! A map as a viewer sees it: columns, ready to be drawn.

use std::collections::HashMap;

use roaring::RoaringTreemap;

use super::file::Map;
use super::random::mixed;
use crate::records::PointRows;
use crate::types::{DAY, Millis, Viewer};

/// The record is superseded by another that the viewer sees.
pub const SUPERSEDED: u8 = 1;
/// It was placed after the layout.
pub const PLACED_LATER: u8 = 2;
/// Its text has changed since it was placed, and waits for its vector.
pub const CHANGED: u8 = 4;

/// A map as a viewer sees it: one element for each point in each column, in an order that looks random and is the same each
/// time, so that the first of them are a fair sample.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MapView {
    /// Another one shows something else.
    pub generation: u32,
    /// The records.
    pub ids: Vec<u32>,
    /// From the left, over the whole width.
    pub x: Vec<u16>,
    /// From the top, in the same unit.
    pub y: Vec<u16>,
    /// The project: 0 for global, else 1 more than its position in `project_names`.
    pub projects: Vec<u16>,
    /// The agent: 0 for none, else 1 more than its position in `agent_names`.
    pub agents: Vec<u16>,
    /// The days from 1970 to the creation.
    pub days: Vec<u16>,
    /// The position of the kind in [`Kind::ALL`](crate::types::Kind::ALL).
    pub kinds: Vec<u8>,
    /// The importance of the record.
    pub importances: Vec<u8>,
    /// The sum of [`SUPERSEDED`], [`PLACED_LATER`] and [`CHANGED`], where they hold.
    pub flags: Vec<u8>,
    /// The projects of all that the viewer sees.
    pub project_names: Vec<String>,
    /// Its agents.
    pub agent_names: Vec<String>,
    /// How many memories the viewer sees, on the map or not.
    pub of: u64,
    /// When the first of them expires.
    next_expiry: Option<Millis>,
}

impl MapView {
    /// The view of `map` for `viewer`, for whom these records are superseded.
    pub fn new(map: &Map, rows: &PointRows, superseded: &RoaringTreemap, viewer: &Viewer) -> Self {
        let mut view = MapView::default();
        let (mut projects, mut agents) = (NameTable::default(), NameTable::default());
        let scopes: Vec<Option<(u16, u16)>> = rows
            .scopes
            .iter()
            .map(|scope| {
                let number =
                    |names: &mut NameTable, name: &Option<String>| name.as_ref().map_or(0, |name| names.number(name));
                viewer.sees(scope).then(|| (number(&mut projects, &scope.project), number(&mut agents, &scope.agent)))
            })
            .collect();
        let seen = rows.rows.iter().filter_map(|row| Some((row, scopes[row.scope as usize]?)));
        let mut points = Vec::with_capacity(map.points.len());
        for (row, scope) in seen {
            view.of += 1;
            view.next_expiry = row.expires_at.into_iter().chain(view.next_expiry).min();
            let id = u32::try_from(row.id.key()).ok();
            if let Some(point) = id.and_then(|id| map.row(id)).map(|at| map.points[at]) {
                points.push((mixed(row.id.key()), point, row, scope));
            }
        }
        points.sort_unstable_by_key(|(order, ..)| *order);
        for (_, point, row, (project, agent)) in points {
            view.ids.push(point.id);
            view.x.push(point.x);
            view.y.push(point.y);
            view.projects.push(project);
            view.agents.push(agent);
            view.days.push((row.created_at.max(0) / DAY).min(u16::MAX.into()) as u16);
            view.kinds.push(row.kind);
            view.importances.push(row.importance);
            let flags = [
                (superseded.contains(row.id.key()), SUPERSEDED),
                (point.is_later, PLACED_LATER),
                (point.text != row.text, CHANGED),
            ];
            view.flags.push(flags.into_iter().filter(|(holds, _)| *holds).map(|(_, flag)| flag).sum());
        }
        (view.project_names, view.agent_names) = (projects.names, agents.names);
        view
    }

    /// How many points.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// A bit for each point, the lowest of a byte first: whether it is one of `ids`.
    pub fn mask(&self, ids: &RoaringTreemap) -> Vec<u8> {
        let bits =
            |eight: &[u32]| eight.iter().enumerate().map(|(at, id)| u8::from(ids.contains(u64::from(*id))) << at).sum();
        self.ids.chunks(8).map(bits).collect()
    }

    /// Whether nothing of it has expired by then.
    pub(super) fn is_valid_at(&self, now: Millis) -> bool {
        self.next_expiry.is_none_or(|at| now < at)
    }

    /// Whether both show the same.
    pub(super) fn shows_same(&self, other: &MapView) -> bool {
        let of_mine = MapView { generation: other.generation, next_expiry: other.next_expiry, ..self.clone() };
        of_mine == *other
    }
}

/// Names, numbered from 1.
#[derive(Default)]
struct NameTable {
    names: Vec<String>,
    numbers: HashMap<String, u16>,
}

impl NameTable {
    /// Beyond what 16 bits can number, all have the last number.
    fn number(&mut self, name: &str) -> u16 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        if self.names.len() < usize::from(u16::MAX) {
            self.names.push(name.to_owned());
        }
        let number = self.names.len() as u16;
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Point;
    use crate::records::PointRow;
    use crate::types::{RecordId, Scope};

    #[test]
    fn a_view_has_what_the_viewer_sees_in_an_order_that_is_no_order() {
        let row = |id: u32| PointRow {
            id: RecordId::from_key(id.into()),
            kind: (id % 3) as u8,
            importance: (id % 10) as u8 + 1,
            scope: id % 3,
            created_at: i64::from(id) * DAY + 5,
            expires_at: (id == 9).then_some(1_000),
            text: id,
            has_vector: true,
        };
        let scope = |agent: Option<&str>, project: Option<&str>| Scope {
            agent: agent.map(Into::into),
            project: project.map(Into::into),
        };
        let scopes = vec![scope(None, None), scope(Some("ann"), Some("one")), scope(None, Some("two"))];
        let mut rows = PointRows { rows: (1..=300).map(row).collect(), scopes };
        // One of another text, one that is on no map, one that is gone.
        rows.rows[5].text = 999;
        let point = |id: u32| Point { id, text: id, x: id as u16, y: 7, is_later: id == 3 };
        let points: Vec<Point> = (1..=301).filter(|id| *id != 4).map(point).collect();
        let map =
            Map { generation: 4, lineage: String::new(), model: String::new(), laid_out: 300, width: 1.0, points };
        let superseded = RoaringTreemap::from([3, 6]);
        let view = MapView::new(&map, &rows, &superseded, &Viewer::OWNER);
        assert_eq!((view.len(), view.of), (299, 300));
        assert_eq!(
            (&view.project_names[..], &view.agent_names[..]),
            (&["one".to_owned(), "two".into()][..], &["ann".to_owned()][..])
        );
        for at in 0..view.len() {
            let id = view.ids[at];
            assert_eq!((view.x[at], view.y[at], view.days[at]), (id as u16, 7, id as u16));
            assert_eq!((view.kinds[at], view.importances[at]), ((id % 3) as u8, (id % 10) as u8 + 1));
            assert_eq!((view.projects[at], view.agents[at]), ((id % 3) as u16, u16::from(id % 3 == 1)));
            let flags = match id {
                3 => SUPERSEDED + PLACED_LATER,
                6 => SUPERSEDED + CHANGED,
                _ => 0,
            };
            assert_eq!(view.flags[at], flags, "{id}");
        }
        let low = view.ids[..100].iter().filter(|id| **id <= 150).count();
        assert!((30..70).contains(&low), "{low} of the first 100 are of the first half");
        assert!(view.is_valid_at(999) && !view.is_valid_at(1_000));

        let of_two = MapView::new(
            &map,
            &rows,
            &superseded,
            &Viewer { agent: crate::types::Reach::Shared, ..Viewer::in_project("two") },
        );
        assert_eq!((of_two.of, &of_two.project_names[..], of_two.agent_names.len()), (200, &["two".to_owned()][..], 0));
        assert!(of_two.ids.iter().all(|id| id % 3 != 1));
        assert_eq!(view.mask(&RoaringTreemap::from([u64::from(view.ids[9]), 4])), {
            let mut mask = vec![0; 38];
            mask[1] = 2;
            mask
        });
        let later = MapView { generation: 9, ..view.clone() };
        assert!(view.shows_same(&later) && !view.shows_same(&of_two));
    }
}
