//! Which pages belong to which table: by way of its tree, and where the tree is damaged, by their looks.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use rusqlite::Connection;
use rusqlite::types::Value;

use super::pages::{Holds, PageRow, Pages};

/// No sound tree is as deep.
const DEEPEST: u32 = 20;

/// A table with row ids, and what there is of it.
pub(super) struct SalvageTable {
    pub(super) name: &'static str,
    columns: Vec<Column>,
    leaves: Vec<Leaf>,
    /// Row ids that the tree does not lead to any more.
    gaps: Vec<RangeInclusive<i64>>,
}

struct Column {
    name: String,
    kind: String,
    not_null: bool,
    /// Whether it was added to the table later: rows that were written before end before it, and have null there.
    added: bool,
}

struct Leaf {
    page: u32,
    /// Steps from the root, and the row ids that belong there; `None` for a page that was found by its looks.
    place: Option<(u32, RangeInclusive<i64>)>,
}

/// Whether a row was deleted: its page may be one that is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It was not.
    Sure,
    /// There is a gap where it belongs, but its page may be free.
    Unsure,
    /// There is no gap where it belongs: either its page is free, or a page that led to it was overwritten by another
    /// that makes sense.
    Unlikely,
}

impl SalvageTable {
    /// The table of this name in `model`, a sound database.
    pub(super) fn like(model: &Connection, name: &'static str) -> rusqlite::Result<Self> {
        let mut statement = model.prepare("SELECT name, type, \"notnull\" FROM pragma_table_info(?)")?;
        let columns = statement
            .query_map([name], |row| {
                let name: String = row.get(0)?;
                let added = matches!(name.as_str(), "session" | "turn" | "origin");
                Ok(Column { name, kind: row.get(1)?, not_null: row.get(2)?, added })
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(SalvageTable { name, columns, leaves: Vec::new(), gaps: Vec::new() })
    }

    /// How many columns it has.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Which columns are texts.
    pub(super) fn texts(&self) -> impl Iterator<Item = bool> {
        self.columns.iter().map(|column| column.kind == "TEXT")
    }

    /// The value of a row in the column `name`.
    pub(super) fn value<'a>(&self, row: &'a PageRow, name: &str) -> &'a Value {
        let at = self.columns.iter().position(|column| column.name == name);
        at.and_then(|at| row.values.get(at)).unwrap_or(&Value::Null)
    }

    /// Whether a row has the types of the columns.
    fn fits(&self, row: &PageRow) -> bool {
        let missing = self.columns.get(row.values.len()..);
        missing.is_some_and(|missing| missing.iter().all(|column| column.added))
            && row.values.iter().zip(&self.columns).enumerate().all(|(at, (value, column))| {
                // A row does not repeat its row id.
                if at == 0 && column.name == "id" {
                    return *value == Value::Null;
                }
                match value {
                    Value::Null => !column.not_null || !row.whole,
                    Value::Integer(_) => matches!(column.kind.as_str(), "INTEGER" | "INT" | "REAL" | ""),
                    Value::Real(_) => matches!(column.kind.as_str(), "REAL" | ""),
                    Value::Text(_) => matches!(column.kind.as_str(), "TEXT" | ""),
                    Value::Blob(_) => matches!(column.kind.as_str(), "BLOB" | "TEXT" | ""),
                }
            })
    }

    fn misses(&self, id: i64) -> bool {
        self.gaps.iter().any(|gap| gap.contains(&id))
    }

    /// Every row that can be read, and how it stands.
    pub(super) fn rows<'a>(&'a self, pages: &'a Pages) -> impl Iterator<Item = (PageRow, Standing)> + 'a {
        self.leaves.iter().flat_map(move |leaf| {
            let rows = pages.node(leaf.page).map(|node| pages.rows(&node).flatten().collect::<Vec<_>>());
            rows.unwrap_or_default().into_iter().filter(|row| self.fits(row)).map(move |mut row| {
                row.values.resize(self.columns.len(), Value::Null);
                let standing = match (&leaf.place, self.misses(row.id)) {
                    (Some(_), _) => Standing::Sure,
                    (None, true) if pages.knows_all_free() => Standing::Sure,
                    (None, true) => Standing::Unsure,
                    (None, false) => Standing::Unlikely,
                };
                (row, standing)
            })
        })
    }
}

/// Assigns pages to tables, each to one.
pub(super) struct Trees<'a> {
    pages: &'a Pages,
    taken: HashSet<u32>,
}

impl<'a> Trees<'a> {
    /// No page is assigned yet.
    pub(super) fn new(pages: &'a Pages) -> Self {
        Trees { pages, taken: HashSet::new() }
    }

    /// Gives the table the pages that its tree leads to. Without a root the tree leads nowhere.
    pub(super) fn follow(&mut self, root: Option<u32>, table: &mut SalvageTable) {
        match root {
            Some(root) => self.descend(root, i64::MIN..=i64::MAX, 0, table),
            None => table.gaps.push(i64::MIN..=i64::MAX),
        }
        // All leaves of a sound tree are as deep. One that is not, or is the root itself, may have replaced a page
        // that led to others.
        let depth = |leaf: &Leaf| leaf.place.as_ref().map_or(0, |(depth, _)| *depth);
        let deepest = table.leaves.iter().map(depth).max().unwrap_or(0).max(1);
        let shallow = table.leaves.iter().filter(|leaf| depth(leaf) < deepest);
        table.gaps.extend(shallow.filter_map(|leaf| Some(leaf.place.as_ref()?.1.clone())));
    }

    fn descend(&mut self, page: u32, span: RangeInclusive<i64>, depth: u32, table: &mut SalvageTable) {
        let node = self.pages.node(page).filter(|_| depth < DEEPEST && !self.taken.contains(&page));
        let Some(node) = node else { return table.gaps.push(span) };
        if node.holds == Holds::WayToRows
            && let Some((ways, last)) = node.ways()
            && ways.iter().all(|(_, largest)| span.contains(largest))
        {
            self.taken.insert(page);
            let (mut least, most) = span.into_inner();
            for (child, largest) in ways {
                self.descend(child, least..=largest, depth + 1, table);
                least = largest.saturating_add(1);
            }
            return self.descend(last, least..=most, depth + 1, table);
        }
        if node.holds != Holds::Rows {
            return table.gaps.push(span);
        }
        let rows: Vec<_> = self.pages.rows(&node).map(|row| row.filter(|row| table.fits(row))).collect();
        let is_empty_table = rows.is_empty() && depth == 0;
        // One row in its place is enough: the bounds may be what is damaged. None is another leaf.
        let is_ours = is_empty_table || rows.iter().flatten().any(|row| span.contains(&row.id));
        if is_ours {
            self.taken.insert(page);
            table.leaves.push(Leaf { page, place: Some((depth, span.clone())) });
        }
        if !is_ours || rows.iter().any(Option::is_none) {
            table.gaps.push(span);
        }
    }

    /// Keeps the pages of the tree below `page` from every table.
    pub(super) fn leave_out(&mut self, page: u32) {
        let mut pages = vec![page];
        while let Some(page) = pages.pop() {
            if !self.taken.insert(page) {
                continue;
            }
            let Some(node) = self.pages.node(page) else { continue };
            pages.extend(node.children());
            if let Some((ways, last)) = (node.holds == Holds::WayToRows).then(|| node.ways()).flatten() {
                pages.extend(ways.into_iter().map(|(child, _)| child).chain([last]));
            }
        }
    }

    /// Gives tables the pages that no tree leads to, where rows on them look like theirs.
    pub(super) fn find_strays(&mut self, tables: &mut [SalvageTable]) {
        for page in 1..=self.pages.count() {
            if self.taken.contains(&page) || self.pages.is_free(page) {
                continue;
            }
            let Some(node) = self.pages.node(page).filter(|node| node.holds == Holds::Rows) else { continue };
            let rows: Vec<_> = self.pages.rows(&node).flatten().collect();
            let owner = tables.iter_mut().find(|table| rows.iter().any(|row| table.fits(row)));
            if let Some(table) = owner {
                self.taken.insert(page);
                table.leaves.push(Leaf { page, place: None });
            }
        }
    }

    /// Passes on the entries of an index that have so many values. Returns whether all of it could be read.
    pub(super) fn keys(&mut self, root: Option<u32>, width: usize, mut each: impl FnMut(&[Value])) -> bool {
        root.is_some_and(|root| self.descend_keys(root, width, 0, &mut each))
    }

    fn descend_keys(&mut self, page: u32, width: usize, depth: u32, each: &mut impl FnMut(&[Value])) -> bool {
        let node = self.pages.node(page).filter(|_| depth < DEEPEST && self.taken.insert(page));
        let Some(node) = node else { return false };
        if !matches!(node.holds, Holds::Keys | Holds::KeysAndWay) {
            return false;
        }
        let mut whole = true;
        for key in self.pages.keys(&node) {
            match key {
                Some(key) if key.whole && key.values.len() == width => each(&key.values),
                _ => whole = false,
            }
        }
        for child in node.children() {
            whole &= self.descend_keys(child, width, depth + 1, each);
        }
        whole
    }
}
