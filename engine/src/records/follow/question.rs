//! Questions of a node to the server: the news, the sums of ranges, and their rows. One round trip each.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Map, Value as Json};
use tokio_postgres::SimpleQueryMessage;

use super::cursor::{Cursor, PgSnapshot};
use super::tables::Table;
use crate::clock;
use crate::error::{Error, Result};
use crate::records::postgres::connection::Client;
use crate::records::postgres::schema::SCHEMA;
use crate::records::postgres::{format, quoted};
use crate::text;
use crate::types::Millis;

/// A unit of rows: the number of its table, and its id.
pub(super) type Unit = (i64, i64);

/// Rows of a unit, each with its stamp.
pub(super) type Rows = Vec<(Map<String, Json>, i64)>;

/// Maximum number of units whose changes are fetched one by one. If more have changed, everything is compared, range by
/// range.
const MOST_CHANGES: usize = 2_000;

/// Transactions after which a cursor is replaced.
const OLD: u64 = 10_000;

/// The state of the server at one moment.
#[derive(Debug, Clone)]
pub(super) struct ServerState {
    pub(super) snapshot: PgSnapshot,
    pub(super) incarnation: String,
    /// The id of the team store.
    pub(super) store_id: String,
    /// The projects that this node's role belongs to.
    pub(super) sees: String,
    /// Whether there are changes by transactions that have not begun on the server: the database came as a dump.
    pub(super) is_of_another_cluster: bool,
    /// The time by its clock.
    pub(super) now: Millis,
    /// How far its clock is ahead of this machine's: 0 where its time lies between the question and the answer.
    pub(super) ahead: Millis,
    /// Changes of transactions below this one are gone.
    pub(super) trimmed_below: u64,
}

impl ServerState {
    /// The cursor of a node that has copied everything up to this state, and follows these projects.
    pub(super) fn cursor(&self, follow: &[String]) -> Cursor {
        let ServerState { snapshot, incarnation, store_id, sees, .. } = self.clone();
        Cursor { snapshot, incarnation, store_id, sees, follow: follow.to_vec() }
    }
}

/// Changes on the server since a cursor.
#[derive(Debug)]
pub(super) struct News {
    pub(super) state: ServerState,
    /// Whether there are too many changes to list: none of them is here.
    pub(super) is_far: bool,
    /// The units that have changed.
    pub(super) units: BTreeMap<Unit, Rows>,
    /// The entries of the log, in their order: operation, record, payload.
    pub(super) log: Vec<(i64, i64, Vec<u8>)>,
}

impl News {
    /// Whether these are all changes since `cursor`, from the same server.
    pub(super) fn continues(&self, cursor: &Cursor) -> bool {
        let ServerState { incarnation, store_id, sees, trimmed_below, .. } = &self.state;
        let is_same = (incarnation, store_id, sees) == (&cursor.incarnation, &cursor.store_id, &cursor.sees);
        !self.is_far && is_same && cursor.snapshot.xmin() >= *trimmed_below
    }

    /// Whether there is nothing to write. An old cursor has to be written: the server would look through more each time.
    pub(super) fn is_empty(&self, cursor: &Cursor) -> bool {
        let is_old = self.state.snapshot.xmin() > cursor.snapshot.xmin() + OLD;
        self.units.is_empty() && self.log.is_empty() && !is_old
    }
}

/// The first row of the answer.
#[derive(Deserialize)]
struct First {
    snapshot: String,
    /// The last transaction that has changed something since.
    last: Option<String>,
    incarnation: String,
    store_id: String,
    sees: String,
    server: BTreeMap<String, String>,
}

/// Asks for the state of the server, and for the changes since `cursor`, all as of one moment and in one round trip. Runs
/// `meanwhile` until the answer comes.
///
/// # Errors
/// Errors of [`answered`], and of the database.
pub(super) fn news(client: &mut Client, cursor: Option<&Cursor>, node: &str, meanwhile: impl FnOnce()) -> Result<News> {
    let asked = clock::now();
    let answer = client.simple_query_while(&question(cursor, node), meanwhile)?;
    answered(answer, cursor, asked)
}

/// The question of [`news`].
pub(super) fn question(cursor: Option<&Cursor>, node: &str) -> String {
    let since = match cursor {
        None => "NULL, NULL, NULL".to_owned(),
        Some(cursor) => {
            let names = cursor.follow.iter().map(|name| quoted::text(name)).collect::<Vec<_>>().join(", ");
            let follow = if names.is_empty() { "NULL".into() } else { format!("ARRAY[{names}]") };
            format!("{}, {follow}", cursor.snapshot.as_arguments())
        }
    };
    format!("SELECT * FROM {SCHEMA}.news({since}, {}, {MOST_CHANGES})", quoted::text(node))
}

/// Parses the answer to [`question`]. `asked` is the time of the question, by the clock of this machine.
///
/// # Errors
/// [`Error::Held`] if the tables there are too new for this node.
pub(super) fn answered(answer: Vec<SimpleQueryMessage>, cursor: Option<&Cursor>, asked: Millis) -> Result<News> {
    let unreadable = || Error::unreadable("the server's list of changes cannot be read");
    let mut state = None;
    let (mut is_far, mut units, mut log) = (false, BTreeMap::<Unit, Rows>::new(), Vec::new());
    for message in answer {
        let SimpleQueryMessage::Row(row) = message else { continue };
        let number = |at: usize| row.get(at).and_then(|text| text.parse::<i64>().ok());
        let (kind, unit) = number(0).zip(number(1)).ok_or_else(unreadable)?;
        match (kind, row.get(3)) {
            (0, first) => {
                let first: First = first.and_then(|json| serde_json::from_str(json).ok()).ok_or_else(unreadable)?;
                let of_server = |key: &str| first.server.get(key).and_then(|value| value.parse::<i64>().ok());
                format::check(first.server.get("min_reader").map(String::as_str))?;
                is_far = unit > MOST_CHANGES as i64;
                let next = PgSnapshot::parse(&first.snapshot).ok_or_else(unreadable)?.xmax();
                let now = number(2).ok_or_else(unreadable)?;
                let trimmed_below = of_server("trimmed_below").map_or(0, i64::unsigned_abs);
                let last = first.last.as_ref().and_then(|last| last.parse::<u64>().ok());
                state = Some(ServerState {
                    snapshot: {
                        let last = first.last.and_then(|last| last.parse::<u64>().ok());
                        let seen = cursor.map_or(0, |cursor| cursor.snapshot.xmax());
                        let seen = last.map_or(seen, |last| seen.max(last + 1));
                        PgSnapshot::parse_up_to(&first.snapshot, seen).ok_or_else(unreadable)?
                    },
                    incarnation: first.incarnation,
                    store_id: first.store_id,
                    sees: first.sees,
                    now,
                    ahead: clock::ahead(now, asked, clock::now()),
                    is_of_another_cluster: trimmed_below > next || last.is_some_and(|last| last >= next),
                    trimmed_below,
                });
            }
            (-1, payload) => {
                let payload = payload.and_then(text::bytes_of_hex).ok_or_else(unreadable)?;
                log.push((number(2).ok_or_else(unreadable)?, unit, payload));
            }
            (_, None) => drop(units.entry((kind, unit)).or_default()),
            (_, Some(json)) => {
                let row = serde_json::from_str(json).map_err(|_| unreadable())?;
                units.entry((kind, unit)).or_default().push((row, number(2).ok_or_else(unreadable)?));
            }
        }
    }
    Ok(News { state: state.ok_or_else(unreadable)?, is_far, units, log })
}

/// The ids of the scopes that are followed, as a subquery; `None` for all.
pub(super) fn scopes(follow: &[String]) -> Option<String> {
    let names = follow.iter().map(|name| quoted::text(name)).collect::<Vec<_>>().join(", ");
    (!follow.is_empty())
        .then(|| format!("SELECT s.id FROM {SCHEMA}.scopes s WHERE s.project IS NULL OR s.project IN ({names})"))
}

/// The condition on `t` for the rows of a table that a node copies.
pub(super) fn copied(table: &Table, follow: &[String], node: &str) -> String {
    let mut condition = "true".to_owned();
    if let (Some(followed), Some(scopes)) = (table.followed, scopes(follow)) {
        condition += " AND ";
        condition += &followed.replace("{scopes}", &scopes);
    }
    if table.is_of_a_node() {
        let _ = write!(condition, " AND t.node = {}", quoted::text(node));
    }
    condition
}

/// Fetches the rows of a table with units from `from` up to `to`, exclusive.
pub(super) fn fetch_range(
    client: &mut Client,
    table: &Table,
    (from, to): (i64, i64),
    follow: &[String],
    node: &str,
) -> Result<BTreeMap<Unit, Rows>> {
    let Table { number, server_name, .. } = table;
    let (unit, copied) = (table.unit(), copied(table, follow, node));
    let sql = format!(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1; \
         SELECT {unit}, t.stamp, row_to_json(t)::text FROM {SCHEMA}.{server_name} t \
         WHERE {unit} >= {from} AND {unit} < {to} AND {copied}; COMMIT"
    );
    let mut fetched: BTreeMap<Unit, Rows> = BTreeMap::new();
    for message in client.simple_query(&sql)? {
        let SimpleQueryMessage::Row(row) = message else { continue };
        let integer = |at: usize| row.get(at).and_then(|text| text.parse::<i64>().ok());
        let json = row.get(2).and_then(|json| serde_json::from_str(json).ok());
        let (Some(unit), Some(stamp), Some(json)) = (integer(0), integer(1), json) else {
            return Err(Error::unreadable("a row of the server cannot be read"));
        };
        fetched.entry((*number, unit)).or_default().push((json, stamp));
    }
    Ok(fetched)
}

/// How many rows a range of units has, and the sum of their stamps: by table and number of the range.
pub(super) fn digest(
    client: &mut Client,
    tables: &[Table],
    follow: &[String],
    node: &str,
    bits: u32,
) -> Result<BTreeMap<Unit, (i64, i64)>> {
    let mut sql = String::from("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ");
    for table in tables {
        let Table { number, server_name, .. } = table;
        let (unit, copied) = (table.unit(), copied(table, follow, node));
        let _ = write!(
            sql,
            "SELECT {number}, {unit} >> {bits}, count(*), sum(t.stamp)::bigint FROM {SCHEMA}.{server_name} t \
             WHERE {copied} GROUP BY 2; "
        );
    }
    sql += "COMMIT";
    let mut ranges = BTreeMap::new();
    for message in client.simple_query(&sql)? {
        let SimpleQueryMessage::Row(row) = message else { continue };
        let number = |at: usize| row.get(at).and_then(|text| text.parse::<i64>().ok());
        let (Some(table), Some(range), Some(rows), Some(stamps)) = (number(0), number(1), number(2), number(3)) else {
            return Err(Error::unreadable("a digest of the server cannot be read"));
        };
        ranges.insert((table, range), (rows, stamps));
    }
    Ok(ranges)
}
