//! PostgreSQL as an [`Authority`]: a write is one serializable transaction on the server.
//!
//! It runs again when it lost against another one. When [`Authority::write`] returns, the server has committed with
//! `synchronous_commit` at least `on`: it is on the server's disk, and on that of a synchronous standby where there is one.
//!
//! A connection that is lost in the COMMIT leaves the outcome open. So the transaction writes a token with it, and the node that lost the
//! connection writes the same token, as given up: this waits for a COMMIT that is still on its way, and changes nothing if it came
//! through.
//!
//! A server may be far away, so that what is sent together counts, not how much: BEGIN goes with the first questions, a statement
//! whose outcome is not used with the next one, and COMMIT with the last, and with the question what is new.

use std::cell::{Cell, RefCell};
use std::mem;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio_postgres::SimpleQueryMessage;
use ulid::Ulid;

use super::connection::{Client, ConnectionPool, Outcome};
use super::errors::{explained, has_lost, is_disconnected, is_doubled, was_dropped};
use super::format;
use super::schema::SCHEMA;
use super::statement::Statement;
use crate::error::{Error, Result};
use crate::records::transaction::{Authority, Each, Row, Select, Tx, Value, Work, keep_result};
use crate::text;

/// A write gives up after waiting this long for other writes.
const WRITE_TIMEOUT: Duration = Duration::from_secs(15);
/// Time after which a COMMIT without an answer mostly waits for a standby.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Violations of a unique index after which they are no longer taken for a race.
const MOST_DOUBLED: u32 = 4;
/// Transactions that a process has open at once. More would fail each other, and each needs a connection.
const WRITES_AT_ONCE: usize = 6;
/// The first pause before a transaction runs again; later ones are longer.
const PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(64);

/// The `synchronous_commit` of a transaction that a failover must not lose, whatever the defaults of the role are.
const COMMITS: &str = "CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on' \
     ELSE current_setting('synchronous_commit') END";

/// The `synchronous_commit` of a transaction that waits for no standby.
const COMMITS_LOCALLY: &str = "'local'";

/// SQL before statements that wait for no standby, in the same message.
pub(crate) const LOCALLY: &str = "SELECT set_config('synchronous_commit', 'local', true);";

/// The server of a team store.
pub(crate) struct Server {
    pool: ConnectionPool,
    /// The node that writes: a ULID.
    node: String,
    limiter: TxLimiter,
}

impl Server {
    /// A server, seen from `node`. Nothing is connected yet.
    pub(crate) fn new(pool: ConnectionPool, node: String) -> Self {
        Server { pool, node, limiter: TxLimiter { free: Mutex::new(WRITES_AT_ONCE), freed: Condvar::new() } }
    }

    pub(crate) fn pool(&self) -> &ConnectionPool {
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

    /// Runs `work` in a transaction that is on the disk of the server when this returns, but need not be on a standby's.
    pub(crate) fn write_locally<T>(&self, work: impl FnMut(&dyn Tx) -> Result<T>) -> Result<T> {
        keep_result(work, |work| {
            let done = self.transact(COMMITS_LOCALLY, WRITE_TIMEOUT, &mut || None, work);
            explained(self.pool.address(), done).map(drop)
        })
    }

    /// [Runs](Authority::run) `work`, and asks a question behind the COMMIT if no other thread of this process writes. Returns its
    /// answer, if there was one.
    pub(crate) fn write_and_ask(
        &self,
        mut question: impl FnMut() -> Option<String>,
        work: &mut Work<'_>,
    ) -> Result<Option<Answer>> {
        explained(self.pool.address(), self.transact(COMMITS, WRITE_TIMEOUT, &mut question, work))
    }

    fn transact(
        &self,
        commits: &str,
        timeout: Duration,
        question: &mut dyn FnMut() -> Option<String>,
        work: &mut Work<'_>,
    ) -> Result<Option<Answer>> {
        let began = Instant::now();
        let (mut pause, mut doubled) = (PAUSE, 0);
        loop {
            match self.attempt(commits, timeout, question, work)? {
                Attempt::Done(answer) => return Ok(answer),
                Attempt::Lost(error) if began.elapsed() >= timeout => return Err(error),
                Attempt::Lost(error) if is_doubled(&error) && doubled == MOST_DOUBLED => {
                    let why = "the team store already has it, but this role cannot see it";
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

    fn attempt(
        &self,
        commits: &str,
        timeout: Duration,
        question: &mut dyn FnMut() -> Option<String>,
        work: &mut Work<'_>,
    ) -> Result<Attempt> {
        let Some(_permit) = self.limiter.take(timeout) else {
            let why = "timed out while this node was writing; retry".into();
            return Err(Error::Server { address: self.pool.address().to_string(), why });
        };
        let mut client = self.pool.lend()?;
        let tx = Transaction::new(&mut client, self.begin(commits, timeout));
        let rest = work(&tx).and_then(|()| tx.rest());
        let has_begun = tx.has_begun();
        let rest = match rest {
            Ok(rest) => rest,
            // It was lost while it was idle.
            Err(error) if client.was_idle && !has_begun && was_dropped(&error) => {
                self.pool.forget_idle();
                return Ok(Attempt::Lost(error));
            }
            Err(error) => {
                let has_ended = client.batch_execute("ROLLBACK").is_ok();
                if has_ended {
                    client.give_back();
                }
                return if has_lost(&error) { Ok(Attempt::Lost(error)) } else { Err(error) };
            }
        };
        let token = text::to_hex(&Ulid::generate().to_bytes());
        // Writers of one process share what they pull: then each asks later, or not at all.
        let question = if self.limiter.is_alone() { question() } else { None };
        let last = question.as_deref().unwrap_or_default();
        let commit = format!("INSERT INTO {SCHEMA}.writes (token) VALUES ('\\x{token}'); COMMIT; {last}");
        client.time_out_after(COMMIT_TIMEOUT);
        let ended = client.send_and_end(&rest, &commit);
        let has_committed = ended.completed() >= 2;
        match ended.outcome {
            Ok(()) => {
                client.give_back();
                Ok(Attempt::Done(question.map(|_| ended.messages)))
            }
            Err(error) if is_disconnected(&error) || client.is_closed() => {
                drop(client);
                if let Some(why) = self.missing_standby() {
                    return Err(Error::Server { address: self.pool.address().to_string(), why });
                }
                // Also where its answer came, and that to the question did not: another server may be the primary by now.
                match self.has_committed(&token, timeout)? {
                    true => Ok(Attempt::Done(None)),
                    false => Ok(Attempt::Lost(error)),
                }
            }
            Err(error) if has_committed => {
                tracing::debug!("the changes after a write are unknown: {error}");
                client.give_back();
                Ok(Attempt::Done(None))
            }
            Err(error) => {
                if client.batch_execute("ROLLBACK").is_ok() {
                    client.give_back();
                }
                if has_lost(&error) { Ok(Attempt::Lost(error)) } else { Err(error) }
            }
        }
    }

    /// The standby that a COMMIT of this role waits for, if one does.
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
            "it waits for its synchronous standby ({names}), which does not answer: a search shows whether this was \
             saved once the standby is back; restore it, or remove it from synchronous_standby_names"
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
                    let why = "the connection was lost during the save, and the server does not answer: a search \
                         shows whether this was saved once the server is back";
                    return Err(Error::Server { address: self.pool.address().to_string(), why: why.into() });
                }
            }
        }
    }
}

/// The answer to a question.
pub(crate) type Answer = Vec<SimpleQueryMessage>;

/// The first value of an answer.
fn first_value(answer: &[SimpleQueryMessage]) -> Option<&str> {
    answer.iter().find_map(|message| if let SimpleQueryMessage::Row(row) = message { row.get(0) } else { None })
}

/// Limits how many transactions run at the same time.
struct TxLimiter {
    free: Mutex<usize>,
    freed: Condvar,
}

impl TxLimiter {
    /// Waits for a permit; `None` if none becomes free in time.
    fn take(&self, timeout: Duration) -> Option<TxPermit<'_>> {
        let mut free = self.free.lock();
        let was_given_up = self.freed.wait_while_for(&mut free, |free| *free == 0, timeout).timed_out();
        if was_given_up {
            return None;
        }
        *free -= 1;
        Some(TxPermit(self))
    }

    /// Whether exactly one permit is taken.
    fn is_alone(&self) -> bool {
        *self.free.lock() + 1 == WRITES_AT_ONCE
    }
}

/// A permit that is taken.
struct TxPermit<'a>(&'a TxLimiter);

impl Drop for TxPermit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock() += 1;
        self.0.freed.notify_one();
    }
}

/// The outcome of a transaction.
enum Attempt {
    Done(Option<Answer>),
    /// It lost against another one, and changed nothing.
    Lost(Error),
}

impl Authority for Server {
    fn run(&self, work: &mut Work<'_>) -> Result<()> {
        self.write_and_ask(|| None, work).map(drop)
    }

    fn run_unsynced(&self, timeout: Duration, work: &mut Work<'_>) -> Result<()> {
        explained(self.pool.address(), self.transact("'off'", timeout, &mut || None, work)).map(drop)
    }
}

/// A transaction.
struct Transaction<'a> {
    client: RefCell<&'a mut Client>,
    /// BEGIN, until it is sent.
    begin: Cell<Option<String>>,
    has_begun: Cell<bool>,
    /// Statements whose outcome is not used, sent with the next one.
    queued: RefCell<Vec<Statement>>,
    /// Questions that were foreseen, with their answers, until something is written.
    foreseen: RefCell<Vec<(Statement, Rc<Vec<tokio_postgres::Row>>)>>,
}

impl<'a> Transaction<'a> {
    fn new(client: &'a mut Client, begin: String) -> Self {
        Transaction {
            client: RefCell::new(client),
            begin: Cell::new(Some(begin)),
            has_begun: Cell::new(false),
            queued: RefCell::default(),
            foreseen: RefCell::default(),
        }
    }

    /// Whether the server has answered.
    fn has_begun(&self) -> bool {
        self.has_begun.get()
    }

    /// Sends questions, or statements that change something. Nothing is changed before the server has confirmed that this
    /// node may write.
    fn send(&self, statements: &mut Vec<Statement>, are_questions: bool) -> Result<Vec<Outcome>> {
        let mut client = self.client.borrow_mut();
        let mut queued = mem::take(&mut *self.queued.borrow_mut());
        let begin = self.begin.take();
        let is_alone = begin.is_some() && !(are_questions && queued.is_empty());
        if is_alone {
            let (answer, _) = client.send(begin.as_deref(), &[])?;
            self.note_begin(&answer)?;
        }
        let before = queued.len();
        queued.append(statements);
        if queued.is_empty() {
            return Ok(Vec::new());
        }
        let (answer, outcomes) = client.send(begin.as_deref().filter(|_| !is_alone), &queued)?;
        if !is_alone && begin.is_some() {
            self.note_begin(&answer)?;
        }
        let mut outcomes = outcomes?;
        *statements = queued.split_off(before);
        Ok(outcomes.split_off(before))
    }

    /// # Errors
    /// [`Error::Held`] if the tables there are too new for this node.
    fn note_begin(&self, answer: &[SimpleQueryMessage]) -> Result<()> {
        self.has_begun.set(true);
        format::check(first_value(answer))
    }

    /// Runs a statement that changes something.
    fn change(&self, sql: &str, values: &[Value<'_>]) -> Result<Outcome> {
        self.foreseen.borrow_mut().clear();
        let mut outcomes = self.send(&mut vec![Statement::of(sql, values)?], false)?;
        outcomes.pop().ok_or_else(|| Error::unreadable("a statement has no outcome"))
    }

    /// Takes the statements that are not sent yet, once the transaction has begun.
    fn rest(&self) -> Result<Vec<Statement>> {
        let rest = mem::take(&mut *self.queued.borrow_mut());
        self.send(&mut Vec::new(), false)?;
        Ok(rest)
    }
}

impl Select for Transaction<'_> {
    fn select(&self, sql: &str, values: &[Value<'_>], each: &mut Each<'_>) -> Result<()> {
        let question = Statement::of(sql, values)?;
        let known = self.foreseen.borrow().iter().find(|(known, _)| *known == question).map(|(_, rows)| rows.clone());
        let rows = match known {
            Some(rows) => rows,
            None => {
                Rc::new(self.send(&mut vec![question], true)?.pop().map(|outcome| outcome.rows).unwrap_or_default())
            }
        };
        for row in &*rows {
            if let ControlFlow::Break(()) = each(row)? {
                break;
            }
        }
        Ok(())
    }
}

impl Tx for Transaction<'_> {
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<usize> {
        Ok(usize::try_from(self.change(sql, values)?.changed).unwrap_or(usize::MAX))
    }

    fn insert(&self, sql: &str, values: &[Value<'_>]) -> Result<i64> {
        let rows = self.change(sql, values)?.rows;
        let row: &dyn Row = rows.first().ok_or_else(|| Error::unreadable("an INSERT has returned no id"))?;
        row.get(0)
    }

    fn keeps_tombstones(&self) -> bool {
        false
    }

    fn queue(&self, sql: &str, values: &[Value<'_>]) -> Result<()> {
        self.foreseen.borrow_mut().clear();
        self.queued.borrow_mut().push(Statement::of(sql, values)?);
        Ok(())
    }

    fn prefetch(&self, read: &dyn Fn(&dyn Tx)) -> Result<()> {
        let noted = Noted::default();
        read(&noted);
        let mut questions = noted.0.into_inner();
        questions.dedup();
        let answers = self.send(&mut questions, true)?;
        let answers = answers.into_iter().map(|outcome| Rc::new(outcome.rows));
        *self.foreseen.borrow_mut() = questions.into_iter().zip(answers).collect();
        Ok(())
    }
}

/// Notes the questions of a rule, and gives no answers.
#[derive(Default)]
struct Noted(RefCell<Vec<Statement>>);

impl Select for Noted {
    fn select(&self, sql: &str, values: &[Value<'_>], _: &mut Each<'_>) -> Result<()> {
        self.0.borrow_mut().push(Statement::of(sql, values)?);
        Ok(())
    }
}

impl Tx for Noted {
    fn keeps_tombstones(&self) -> bool {
        false
    }

    fn execute(&self, _: &str, _: &[Value<'_>]) -> Result<usize> {
        Ok(0)
    }

    fn insert(&self, _: &str, _: &[Value<'_>]) -> Result<i64> {
        Err(Error::unreadable("nothing is inserted yet"))
    }
}
