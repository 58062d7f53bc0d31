//! [`ConnectionPool`]: connections to the server, opened when they are needed. A [`Client`] blocks, and never for ever.

use std::future::{Future, poll_fn};
use std::ops::{Deref, DerefMut};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::future::{MaybeDone, maybe_done};
use futures_util::{StreamExt, TryStreamExt};
use parking_lot::Mutex;
use tokio::runtime::Runtime;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{NoTls, Row, SimpleQueryMessage};

use super::errors::{is_disconnected, silent};
use super::statement::Statement;
use crate::address::{CONNECT_TIMEOUT, ServerAddress};
use crate::error::{Error, Result};

/// Time for which an idle connection is kept; one of each process is kept longer.
const IDLE: Duration = Duration::from_secs(5);
const LAST_IDLE: Duration = Duration::from_secs(60);
/// Timeout of a statement: without an answer it is given up, with its connection.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// Parameters of a statement, each with its type.
pub(crate) type Parameters<'a> = [(&'a (dyn ToSql + Sync), Type)];

/// The result of a statement.
pub(crate) struct Outcome {
    pub(super) rows: Vec<Row>,
    /// How many rows it changed.
    pub(super) changed: u64,
}

/// The result of statements that were sent as one text.
pub(crate) struct Ended {
    /// Their answers, up to an error.
    pub(super) messages: Vec<SimpleQueryMessage>,
    pub(super) outcome: Result<()>,
}

impl Ended {
    /// How many of them were completed.
    pub(super) fn completed(&self) -> usize {
        let is_end = |message: &&SimpleQueryMessage| matches!(message, SimpleQueryMessage::CommandComplete(_));
        self.messages.iter().filter(is_end).count()
    }
}

/// A connection. Its statements are unnamed: a pooler may run each of them in another session.
pub(crate) struct Client {
    client: tokio_postgres::Client,
    /// Runs the connection while a statement waits for its answer; taken only by drop.
    runtime: Option<Runtime>,
    timeout: Duration,
    is_lost: bool,
}

impl Client {
    fn connect(address: &ServerAddress) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| Error::Server { address: address.to_string(), why: error.to_string() })?;
        let tls = address.encryption()?;
        let connecting = async {
            let config = address.config();
            Ok(match tls {
                Some(tls) => {
                    let (client, connection) = config.connect(tls).await?;
                    tokio::spawn(connection);
                    client
                }
                None => {
                    let (client, connection) = config.connect(NoTls).await?;
                    tokio::spawn(connection);
                    client
                }
            })
        };
        // The limit of the settings is for the connection, not for what is said over it.
        let client = runtime.block_on(async { within(CONNECT_TIMEOUT * address.hosts(), connecting).await })?;
        Ok(Client { client, runtime: Some(runtime), timeout: TIMEOUT, is_lost: false })
    }

    /// Sets the timeout for the next answers.
    pub(crate) fn time_out_after(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Whether the connection can no longer be used.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_lost || self.client.is_closed()
    }

    /// The rows of a query.
    pub(crate) fn query_typed(&mut self, sql: &str, parameters: &Parameters<'_>) -> Result<Vec<Row>> {
        self.run(|client| client.query_typed(sql, parameters))
    }

    /// Runs statements in one round trip.
    pub(crate) fn batch_execute(&mut self, sql: &str) -> Result<()> {
        self.run(|client| client.batch_execute(sql))
    }

    /// Runs statements in one round trip, and returns their rows as text.
    pub(crate) fn simple_query(&mut self, sql: &str) -> Result<Vec<SimpleQueryMessage>> {
        self.run(|client| client.simple_query(sql))
    }

    /// Runs statements like [`Self::simple_query`], and `meanwhile` until their answer comes.
    pub(crate) fn simple_query_while(
        &mut self,
        sql: &str,
        meanwhile: impl FnOnce(),
    ) -> Result<Vec<SimpleQueryMessage>> {
        let runtime = self.runtime.as_ref().expect("taken only by drop");
        let mut answer = Box::pin(self.client.simple_query(sql));
        let first = runtime.block_on(async {
            let first = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await;
            // Meanwhile the connection sends the question.
            tokio::task::yield_now().await;
            first
        });
        meanwhile();
        let answer = match first {
            Poll::Ready(answer) => answer.map_err(Error::from),
            Poll::Pending => runtime.block_on(async { within(self.timeout, async { Ok(answer.await?) }).await }),
        };
        self.is_lost |= answer.as_ref().is_err_and(is_disconnected);
        answer
    }

    /// Sends statements one after the other, and then takes their answers: in one round trip. The text `first` may go
    /// before them. Returns its answer, and theirs.
    ///
    /// # Errors
    /// The error of the text. The error of the first failed statement is returned in place of the answers.
    pub(super) fn send(
        &mut self,
        first: Option<&str>,
        statements: &[Statement],
    ) -> Result<(Vec<SimpleQueryMessage>, Result<Vec<Outcome>>)> {
        self.run(|client| async move {
            let mut first = pin!(maybe_done(async {
                match first {
                    Some(sql) => client.simple_query(sql).await,
                    None => Ok(Vec::new()),
                }
            }));
            let mut sent = in_order(client, statements);
            poll_fn(|context| {
                _ = first.as_mut().poll(context);
                sent.iter_mut().for_each(|one| _ = one.as_mut().poll(context));
                Poll::Ready(())
            })
            .await;
            first.as_mut().await;
            let first = first.take_output().expect("it is done")?;
            Ok((first, answers(sent).await))
        })
        .map(|(first, answers)| (first, answers.map_err(Error::from)))
    }

    /// Sends statements, with the text `last` of more statements after them, in one round trip.
    pub(super) fn send_and_end(&mut self, statements: &[Statement], last: &str) -> Ended {
        let mut messages = Vec::new();
        let all = &mut messages;
        let outcome = self.run(|client| async move {
            let mut sent = in_order(client, statements);
            let mut last = pin!(maybe_done(client.simple_query_raw(last)));
            poll_fn(|context| {
                sent.iter_mut().for_each(|one| _ = one.as_mut().poll(context));
                _ = last.as_mut().poll(context);
                Poll::Ready(())
            })
            .await;
            answers(sent).await?;
            last.as_mut().await;
            let mut last = pin!(last.take_output().expect("it is done")?);
            while let Some(message) = last.next().await {
                all.push(message?);
            }
            Ok(())
        });
        Ended { messages, outcome }
    }

    fn run<'a, T, F>(&'a mut self, send: impl FnOnce(&'a tokio_postgres::Client) -> F) -> Result<T>
    where
        F: Future<Output = std::result::Result<T, tokio_postgres::Error>>,
    {
        let runtime = self.runtime.as_ref().expect("taken only by drop");
        let answer = runtime.block_on(async { within(self.timeout, async { Ok(send(&self.client).await?) }).await });
        // What comes later would be taken for the answer to something else.
        self.is_lost |= answer.as_ref().is_err_and(is_disconnected);
        answer
    }
}

type Sent<F> = Vec<Pin<Box<MaybeDone<F>>>>;

/// Statements that are sent when each is polled for the first time.
fn in_order<'a>(
    client: &'a tokio_postgres::Client,
    statements: &'a [Statement],
) -> Sent<impl Future<Output = std::result::Result<Outcome, tokio_postgres::Error>> + 'a> {
    let outcome = async move |statement: &Statement| {
        let mut rows = pin!(client.query_typed_raw(&statement.sql, statement.typed()).await?);
        let all = rows.as_mut().try_collect().await?;
        Ok(Outcome { rows: all, changed: rows.rows_affected().unwrap_or_default() })
    };
    statements.iter().map(|statement| Box::pin(maybe_done(outcome(statement)))).collect()
}

async fn answers<F>(sent: Sent<F>) -> std::result::Result<Vec<Outcome>, tokio_postgres::Error>
where
    F: Future<Output = std::result::Result<Outcome, tokio_postgres::Error>>,
{
    let mut outcomes = Vec::with_capacity(sent.len());
    for mut one in sent {
        one.as_mut().await;
        outcomes.push(one.as_mut().take_output().expect("it is done")?);
    }
    Ok(outcomes)
}

async fn within<T>(timeout: Duration, answer: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout(timeout, answer).await.unwrap_or_else(|_| Err(silent(timeout)))
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Dropping a runtime may block, which is not allowed where another one runs.
            runtime.shutdown_background();
        }
    }
}

/// Connections to one server, for any number of threads.
pub(crate) struct ConnectionPool {
    address: ServerAddress,
    /// Idle connections, each with the time since when; the last used one is the last.
    idle: Mutex<Vec<(Client, Instant)>>,
}

impl ConnectionPool {
    pub(crate) fn new(address: ServerAddress) -> Self {
        ConnectionPool { address, idle: Mutex::default() }
    }

    pub(crate) fn address(&self) -> &ServerAddress {
        &self.address
    }

    /// A connection. One that was idle may have been lost meanwhile.
    pub(crate) fn lend(&self) -> Result<Lent<'_>> {
        let idle = {
            let mut idle = self.idle.lock();
            idle.retain(|(client, _)| !client.is_closed());
            idle.pop().map(|(client, _)| client)
        };
        let was_idle = idle.is_some();
        let mut client = idle.map_or_else(|| Client::connect(&self.address), Ok)?;
        client.time_out_after(TIMEOUT);
        Ok(Lent { client: Some(client), pool: self, was_idle, is_clean: false })
    }

    /// Closes connections that were idle for long: a server has few connections for many nodes.
    pub(crate) fn close_idle(&self) {
        let mut idle = self.idle.lock();
        let last = idle.pop().filter(|(_, since)| since.elapsed() < LAST_IDLE);
        idle.retain(|(_, since)| since.elapsed() < IDLE);
        idle.extend(last);
    }

    /// How many connections are idle.
    #[cfg(all(test, unix))]
    pub(crate) fn idle(&self) -> usize {
        self.idle.lock().len()
    }

    /// Closes all idle connections: the server is another one by now, or was restarted.
    pub(crate) fn forget_idle(&self) {
        self.idle.lock().clear();
    }
}

/// A connection on loan. It returns to the pool only if it is given back: it is clean then, in no transaction.
pub(crate) struct Lent<'a> {
    client: Option<Client>,
    pool: &'a ConnectionPool,
    /// Whether it waited in the pool, and so may have been lost there.
    pub(crate) was_idle: bool,
    is_clean: bool,
}

impl Lent<'_> {
    /// Returns the connection to the pool.
    pub(crate) fn give_back(mut self) {
        self.is_clean = true;
    }
}

impl Deref for Lent<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client.as_ref().expect("the connection is taken only by drop")
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut Client {
        self.client.as_mut().expect("the connection is taken only by drop")
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let Some(client) = self.client.take().filter(|client| self.is_clean && !client.is_closed()) else { return };
        self.pool.idle.lock().push((client, Instant::now()));
    }
}
