//! PostgreSQL as an [`Authority`]: a write is one serializable transaction on the server.
//!
//! It runs again when it lost against another one. When [`Authority::write`] returns, the server has committed with
//! `synchronous_commit` at least `on`: it is on the server's disk, and on that of a synchronous standby where there is one.
//!
//! A connection that is lost in the COMMIT leaves the outcome open. So the transaction writes a token with it, and whoever lost the
//! connection writes the same token, as given up: this waits for a COMMIT that is still on its way, and changes nothing if it came
//! through.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

use bytes_of::Bound;
use parking_lot::{Condvar, Mutex};
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::types::{ToSql, Type};
use ulid::Ulid;

use super::connection::{Client, Lent, Pool};
use super::errors::{explained, has_lost, is_disconnected, is_doubled, was_dropped};
use super::format;
use super::schema::SCHEMA;
use crate::error::{Error, Result};
use crate::records::transaction::{Authority, Each, Row, Select, Tx, Value};
use crate::text;

/// A write gives up after waiting this long for other writes.
const WRITE_TIMEOUT: Duration = Duration::from_secs(15);
/// A COMMIT without an answer for so long mostly waits for a standby.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(10);
/// How often what is unique may be met before it is no race.
const MOST_DOUBLED: u32 = 4;
/// Transactions that a process has open at once. More would fail each other, and each needs a connection.
const WRITES_AT_ONCE: usize = 6;
/// The first pause before a transaction runs again; later ones are longer.
const PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(64);

/// How a transaction commits that a failover must not lose, whatever the defaults of the role are.
const COMMITS: &str = "CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on' \
     ELSE current_setting('synchronous_commit') END";

/// How one commits that waits for no standby.
const COMMITS_LOCALLY: &str = "'local'";

/// Before statements that wait for no standby, in the same message.
pub(crate) const LOCALLY: &str = "SELECT set_config('synchronous_commit', 'local', true);";

/// The server of a team store.
pub(crate) struct Server {
    pool: Pool,
    /// Which node writes: a ULID.
    node: String,
    places: Places,
}

impl Server {
    /// A server, seen from `node`. Nothing is connected yet.
    pub(crate) fn new(pool: Pool, node: String) -> Self {
        Server { pool, node, places: Places { free: Mutex::new(WRITES_AT_ONCE), freed: Condvar::new() } }
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(crate) fn node(&self) -> &str {
        &self.node
    }

    /// `BEGIN`, with the settings of this transaction alone: a pooler may give the next one another session. The first value of
    /// its answer is the oldest format that a node may know. It stays that until the transaction ends: a migration waits for the
    /// lock, or this one for the migration, and then sees what that has made.
    fn begin(&self, commits: &str, timeout: Duration) -> String {
        let (millis, oldest) = (timeout.as_millis().max(1), format::oldest());
        format!(
            "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE; SET LOCAL search_path = {SCHEMA}, pg_catalog; \
             SET LOCAL lock_timeout = {millis}; LOCK TABLE {SCHEMA}.server IN ACCESS SHARE MODE; \
             SELECT {oldest}, set_config('synchronous_commit', {commits}, true), set_config('memorist.node', '{}', true), \
             set_config('idle_in_transaction_session_timeout', '60000', true)",
            self.node
        )
    }

    /// Writes what is on the disk of the server when this returns, and need not be on that of a standby.
    pub(crate) fn write_locally<T>(&self, work: impl FnMut(&dyn Tx) -> Result<T>) -> Result<T> {
        explained(self.pool.address(), self.transact(COMMITS_LOCALLY, WRITE_TIMEOUT, work))
    }

    fn transact<T>(&self, commits: &str, timeout: Duration, mut work: impl FnMut(&dyn Tx) -> Result<T>) -> Result<T> {
        let began = Instant::now();
        let (mut pause, mut doubled) = (PAUSE, 0);
        loop {
            match self.attempt(commits, timeout, &mut work)? {
                Attempt::Done(done) => return Ok(done),
                Attempt::Lost(error) if began.elapsed() >= timeout => return Err(error),
                Attempt::Lost(error) if is_doubled(&error) && doubled == MOST_DOUBLED => {
                    let why = "the team store has it already, where this role does not see it";
                    return Err(Error::invalid("content", why));
                }
                Attempt::Lost(error) => {
                    doubled += u32::from(is_doubled(&error));
                    // Each waits differently long, so that the same two do not meet again.
                    let random = u64::from(Ulid::generate().to_bytes()[15]);
                    thread::sleep(pause.mul_f64(0.5 + random as f64 / 255.0));
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    fn attempt<T>(
        &self,
        commits: &str,
        timeout: Duration,
        work: &mut impl FnMut(&dyn Tx) -> Result<T>,
    ) -> Result<Attempt<T>> {
        let Some(_place) = self.places.take(timeout) else {
            let why = "this node has been writing for too long; try again".into();
            return Err(Error::Server { address: self.pool.address().to_string(), why });
        };
        let mut client = self.begun(&self.begin(commits, timeout))?;
        let tx = Transaction { client: RefCell::new(&mut client) };
        let done = match work(&tx) {
            Ok(done) => done,
            Err(error) => {
                let has_ended = client.batch_execute("ROLLBACK").is_ok();
                if has_ended {
                    client.give_back();
                }
                return if has_lost(&error) { Ok(Attempt::Lost(error)) } else { Err(error) };
            }
        };
        let token = text::to_hex(&Ulid::generate().to_bytes());
        let commit = format!("INSERT INTO {SCHEMA}.writes (token) VALUES ('\\x{token}'); COMMIT");
        client.time_out_after(COMMIT_TIMEOUT);
        match client.batch_execute(&commit) {
            Ok(()) => {
                client.give_back();
                Ok(Attempt::Done(done))
            }
            Err(error) if has_lost(&error) => {
                if client.batch_execute("ROLLBACK").is_ok() {
                    client.give_back();
                }
                Ok(Attempt::Lost(error))
            }
            Err(error) if is_disconnected(&error) || client.is_closed() => {
                drop(client);
                if let Some(why) = self.missing_standby() {
                    return Err(Error::Server { address: self.pool.address().to_string(), why });
                }
                match self.has_committed(&token, timeout)? {
                    true => Ok(Attempt::Done(done)),
                    false => Ok(Attempt::Lost(error)),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// A connection with a transaction that has begun. One that was lost while it was idle is replaced.
    ///
    /// # Errors
    /// [`Error::Held`] if the tables there are too new for this node; those of the database.
    fn begun(&self, begin: &str) -> Result<Lent<'_>> {
        loop {
            let mut client = self.pool.lend()?;
            match client.simple_query(begin) {
                Ok(answer) => {
                    format::check(first_value(&answer))?;
                    return Ok(client);
                }
                Err(error) => {
                    if !client.was_idle || !was_dropped(&error) {
                        return Err(error);
                    }
                    self.pool.forget_idle();
                }
            }
        }
    }

    /// Says which standby a COMMIT of this role waits for, if one does.
    fn missing_standby(&self) -> Option<String> {
        let sql = "SELECT current_setting('synchronous_standby_names') FROM pg_stat_activity
             WHERE usename = session_user AND datname = current_database() AND wait_event = 'SyncRep' LIMIT 1";
        let mut client = self.pool.lend().ok()?;
        let answer = client.simple_query(sql).ok()?;
        client.give_back();
        let names = answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        })?;
        Some(format!(
            "it waits for its synchronous standby ({names}), which does not answer: whether this was saved will show in a \
             search when the standby is back; bring it back, or take it out of synchronous_standby_names"
        ))
    }

    /// Whether the transaction with this token has committed. If not, it never will. Asked again, the answer is the same.
    fn has_committed(&self, token: &str, timeout: Duration) -> Result<bool> {
        let began = Instant::now();
        // An update is written where nothing was to do, too, so that a synchronous standby has all that came before it.
        let sql = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT set_config('synchronous_commit', {COMMITS}, true); \
             INSERT INTO {SCHEMA}.writes AS w (token, was_given_up) VALUES ('\\x{token}', true) \
             ON CONFLICT (token) DO UPDATE SET was_given_up = w.was_given_up \
             RETURNING CASE WHEN was_given_up THEN 'given up' ELSE 'committed' END; COMMIT"
        );
        loop {
            let outcome = self.pool.lend().and_then(|mut client| {
                let answer = client.simple_query(&sql)?;
                client.give_back();
                Ok(answer)
            });
            match outcome {
                Ok(answer) => {
                    let is_so = |message: &SimpleQueryMessage| matches!(message, SimpleQueryMessage::Row(row) if row.get(0) == Some("committed"));
                    return Ok(answer.iter().any(is_so));
                }
                Err(_) if began.elapsed() < timeout => {
                    self.pool.forget_idle();
                    thread::sleep(Duration::from_millis(100));
                }
                Err(_) => {
                    let why = "the connection was lost while it saved, and it does not come back: whether this was saved will \
                               show in a search when it is back";
                    return Err(Error::Server { address: self.pool.address().to_string(), why: why.into() });
                }
            }
        }
    }
}

/// The first value of an answer.
fn first_value(answer: &[SimpleQueryMessage]) -> Option<&str> {
    answer.iter().find_map(|message| if let SimpleQueryMessage::Row(row) = message { row.get(0) } else { None })
}

/// Places for transactions that run at the same time.
struct Places {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Places {
    /// Waits for a place; `None` if none becomes free in time.
    fn take(&self, timeout: Duration) -> Option<Place<'_>> {
        let mut free = self.free.lock();
        let was_given_up = self.freed.wait_while_for(&mut free, |free| *free == 0, timeout).timed_out();
        if was_given_up {
            return None;
        }
        *free -= 1;
        Some(Place(self))
    }
}

/// A place that is taken.
struct Place<'a>(&'a Places);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.0.free.lock() += 1;
        self.0.freed.notify_one();
    }
}

/// What became of a transaction.
enum Attempt<T> {
    Done(T),
    /// It lost against another one, and changed nothing.
    Lost(Error),
}

impl Authority for Server {
    fn write<T>(&self, work: impl FnMut(&dyn Tx) -> Result<T>) -> Result<T> {
        explained(self.pool.address(), self.transact(COMMITS, WRITE_TIMEOUT, work))
    }

    fn write_unsynced_within<T>(&self, timeout: Duration, work: impl FnMut(&dyn Tx) -> Result<T>) -> Result<T> {
        explained(self.pool.address(), self.transact("'off'", timeout, work))
    }
}

/// A transaction that has begun.
struct Transaction<'a> {
    client: RefCell<&'a mut Client>,
}

impl Transaction<'_> {
    fn query(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<tokio_postgres::Row>> {
        let bound = Bound::of(values)?;
        self.client.borrow_mut().query_typed(&translated(sql), &bound.typed())
    }
}

impl Select for Transaction<'_> {
    fn select(&self, sql: &str, values: &[Value<'_>], each: &mut Each<'_>) -> Result<()> {
        for row in self.query(sql, values)? {
            if let ControlFlow::Break(()) = each(&row)? {
                break;
            }
        }
        Ok(())
    }
}

impl Tx for Transaction<'_> {
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<usize> {
        let bound = Bound::of(values)?;
        let changed = self.client.borrow_mut().execute_typed(&translated(sql), &bound.typed())?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    fn insert(&self, sql: &str, values: &[Value<'_>]) -> Result<i64> {
        let rows = self.query(sql, values)?;
        let row: &dyn Row = rows.first().ok_or_else(|| Error::unreadable("an INSERT has returned no id"))?;
        row.get(0)
    }
}

/// The SQL of a rule as PostgreSQL has it: `?1` is `$1`, and there are no hints for a planner.
fn translated(sql: &str) -> String {
    let mut translated = String::with_capacity(sql.len());
    let mut words = sql.split_inclusive(char::is_whitespace);
    while let Some(word) = words.next() {
        if word.trim_end() == "INDEXED" {
            words.nth(1);
            continue;
        }
        translated.extend(word.chars().map(|char| if char == '?' { '$' } else { char }));
    }
    translated
}

impl Row for tokio_postgres::Row {
    fn value(&self, column: usize) -> Result<Value<'_>> {
        let Some(described) = self.columns().get(column) else {
            return Err(Error::unreadable(format!("there is no column {column}")));
        };
        let value = match *described.type_() {
            Type::INT8 => self.try_get::<_, Option<i64>>(column)?.map(Value::Integer),
            Type::INT4 => self.try_get::<_, Option<i32>>(column)?.map(|number| Value::Integer(number.into())),
            Type::INT2 => self.try_get::<_, Option<i16>>(column)?.map(|number| Value::Integer(number.into())),
            Type::BOOL => self.try_get::<_, Option<bool>>(column)?.map(|is| Value::Integer(is.into())),
            Type::FLOAT8 => self.try_get::<_, Option<f64>>(column)?.map(Value::Real),
            Type::BYTEA => self.try_get::<_, Option<&[u8]>>(column)?.map(Value::Blob),
            Type::TEXT | Type::VARCHAR => self.try_get::<_, Option<&str>>(column)?.map(Value::Text),
            ref other => return Err(Error::unreadable(format!("column {column} is of the type {other}"))),
        };
        Ok(value.unwrap_or(Value::Null))
    }
}

/// Values as the client of PostgreSQL takes them.
mod bytes_of {
    use super::{Error, Result, ToSql, Type, Value};

    pub(super) struct Bound<'a>(Vec<(Box<dyn ToSql + Sync + 'a>, Type)>);

    impl<'a> Bound<'a> {
        /// # Errors
        /// [`Error::Invalid`] for a text with a null character, which PostgreSQL cannot hold.
        pub(super) fn of(values: &'a [Value<'a>]) -> Result<Self> {
            let bound = values.iter().map(|value| {
                Ok::<(Box<dyn ToSql + Sync + 'a>, Type), Error>(match *value {
                    // The server infers the type.
                    Value::Null => (Box::new(None::<&str>), Type::UNKNOWN),
                    Value::Integer(number) => (Box::new(number), Type::INT8),
                    Value::Real(number) => (Box::new(number), Type::FLOAT8),
                    Value::Text(text) if text.contains('\0') => {
                        let why = "it has a null character, which a team store cannot hold; remove it";
                        return Err(Error::Invalid { field: "content", why: why.into() });
                    }
                    Value::Text(text) => (Box::new(text), Type::TEXT),
                    Value::Blob(bytes) => (Box::new(bytes), Type::BYTEA),
                })
            });
            bound.collect::<Result<_>>().map(Bound)
        }

        pub(super) fn typed(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
            self.0.iter().map(|(value, of)| (&**value as &(dyn ToSql + Sync), of.clone())).collect()
        }
    }
}
