//! One connection to the server. Statements of one round trip are sent together and answered in order. A statement that is
//! used again is prepared by name before the next transaction begins, so that the server plans it once; the first use
//! takes no extra round trip.
//!
//! A pooler may put another session of the server under each transaction. One that keeps names apart (pgbouncer since 1.21) does
//! no harm; under an older one a name may stand for a statement of another client. So statements that are prepared together
//! get a witness, a statement with a random answer, and a transaction that hears another answer is given up at once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use punch_store::{Reason, StoreError};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Connection, Error, Row, Socket, Statement};

use crate::address::{Address, SCHEMA};
use crate::fail;
use crate::tls::{Encrypted, Tls};
use crate::value::Value;

/// The oldest server that works.
const OLDEST: u32 = 14;

/// A statement is prepared once it was used this often on a connection: a short-lived process never pays for it.
const PREPARED_AFTER: u32 = 2;

/// A statement with its parameters. Tables are named in the schema `punch`; a connection puts the real one in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// What is done, for an error: "cannot {what}".
    pub what: &'static str,
    pub sql: &'static str,
    pub params: Vec<Value>,
}

/// Makes an [`Ask`].
macro_rules! ask {
    ($what:expr, $sql:expr $(, $param:expr)* $(,)?) => {
        $crate::link::Ask { what: $what, sql: $sql, params: vec![$($crate::value::Value::from($param)),*] }
    };
}
pub(crate) use ask;

type Answer<'a> = Pin<Box<dyn Future<Output = Result<Vec<Row>, Error>> + Send + 'a>>;

/// A connection.
pub struct Link {
    client: Client,
    schema: String,
    statements: HashMap<&'static str, Known>,
    witnesses: Vec<Witness>,
    /// A transaction is open in which the witnesses have been heard.
    is_trusted: bool,
    /// A pooler that mixes up prepared statements lies in between.
    pub unprepared: bool,
}

/// A prepared statement whose answer nobody else has.
struct Witness {
    statement: Statement,
    answer: String,
}

struct Known {
    sql: Cow<'static, str>,
    types: Vec<Type>,
    uses: u32,
    prepared: Option<Statement>,
}

impl Link {
    /// Connects, and refuses servers that are not PostgreSQL or too old.
    pub async fn open(address: &Address) -> Result<Self, StoreError> {
        let (client, connection) = connect(address).await?;
        tokio::spawn(async move {
            // The client reports what went wrong.
            let _ = connection.await;
        });
        Ok(Self::new(client, address))
    }

    /// Connects to be told about notifications, which `hear` receives until it returns false.
    pub async fn listen(address: &Address, mut hear: impl FnMut(&str) + Send + 'static) -> Result<Self, StoreError> {
        let (client, mut connection) = connect(address).await?;
        tokio::spawn(async move {
            while let Some(Ok(message)) = std::future::poll_fn(|cx| connection.poll_message(cx)).await {
                if let AsyncMessage::Notification(note) = message {
                    hear(note.payload());
                }
            }
        });
        Ok(Self::new(client, address))
    }

    fn new(client: Client, address: &Address) -> Self {
        let (schema, statements, witnesses) = (address.schema.clone(), HashMap::new(), Vec::new());
        Self { client, schema, statements, witnesses, is_trusted: false, unprepared: false }
    }

    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Prepares what was used often enough, in one round trip. Before a transaction that locks anything, so that nobody waits
    /// for it.
    pub async fn prepare(&mut self) -> Result<(), Error> {
        if self.unprepared {
            return Ok(());
        }
        let is_due = |known: &Known| known.prepared.is_none() && known.uses >= PREPARED_AFTER;
        let due: Vec<&'static str> =
            self.statements.iter().filter(|(_, known)| is_due(known)).map(|(sql, _)| *sql).collect();
        if due.is_empty() {
            return Ok(());
        }
        let client = &self.client;
        let answer = format!("{:016x}", crate::watch::random());
        let witness = format!("SELECT '{answer}'::text");
        // One transaction is one session, also behind a pooler.
        let plain = |sql: &'static str| -> Asked<'_, Result<Option<Statement>, Error>> {
            Box::pin(async move { client.batch_execute(sql).await.map(|()| None) })
        };
        let mut asked = vec![plain("BEGIN")];
        for known in due.iter().filter_map(|sql| self.statements.get(sql)) {
            asked.push(Box::pin(async { client.prepare_typed(&known.sql, &known.types).await.map(Some) }));
        }
        asked.push(Box::pin(async { client.prepare(&witness).await.map(Some) }));
        asked.push(plain("END"));
        let answers: Result<Vec<Option<Statement>>, Error> = InOrder::new(asked).await.into_iter().collect();
        let mut prepared: Vec<Statement> = answers?.into_iter().flatten().collect();
        self.witnesses.extend(prepared.pop().map(|statement| Witness { statement, answer }));
        for (sql, statement) in due.into_iter().zip(prepared) {
            if let Some(known) = self.statements.get_mut(sql) {
                known.prepared = Some(statement);
            }
        }
        Ok(())
    }

    /// Sends plain statements and asks in one round trip: `before`, which begins a transaction, the asks, `after`, which ends it.
    /// The answers are those to the asks, then those to `after`; an error of `before` is an error of everything. If a pooler
    /// turns out to mix up statements, [`Link::unprepared`] is set, and neither the answers nor the link are of any use.
    pub async fn send(
        &mut self,
        before: Option<&str>,
        asks: &[Ask],
        after: Option<&str>,
    ) -> Result<Vec<Vec<Row>>, (usize, Error)> {
        for ask in asks {
            let schema = &self.schema;
            let known = self.statements.entry(ask.sql).or_insert_with(|| Known {
                sql: qualified(ask.sql, schema),
                types: ask.params.iter().map(Value::ty).collect(),
                uses: 0,
                prepared: None,
            });
            known.uses = known.uses.saturating_add(1);
        }
        let begins = before.is_some() && !self.unprepared;
        let is_trusted = !self.unprepared && (begins || self.is_trusted);
        let client = &self.client;
        let plain = |sql: &str| -> Answer<'_> {
            let sql = sql.to_owned();
            Box::pin(async move { client.batch_execute(&sql).await.map(|()| Vec::new()) })
        };
        let mut answers: Vec<Answer<'_>> = Vec::with_capacity(asks.len() + 2);
        answers.extend(before.map(plain));
        let witnesses = if begins { &self.witnesses[..] } else { &[] };
        for Witness { statement, .. } in witnesses {
            answers.push(Box::pin(client.query(statement, &[])));
        }
        for ask in asks {
            let Some(known) = self.statements.get(ask.sql) else { continue };
            answers.push(Box::pin(async move {
                match &known.prepared {
                    Some(statement) if is_trusted => {
                        let params: Vec<&(dyn ToSql + Sync)> = ask.params.iter().map(|value| value as _).collect();
                        client.query(statement, &params).await
                    }
                    _ => {
                        let params: Vec<(&(dyn ToSql + Sync), Type)> =
                            ask.params.iter().zip(&known.types).map(|(value, ty)| (value as _, ty.clone())).collect();
                        client.query_typed(&known.sql, &params).await
                    }
                }
            }));
        }
        answers.extend(after.map(plain));
        let done = InOrder::new(answers).await;
        let skip = usize::from(before.is_some()) + witnesses.len();
        let heard = |rows: &[Row], witness: &Witness| {
            rows.first().is_some_and(|row| row.try_get::<_, &str>(0).is_ok_and(|answer| answer == witness.answer))
        };
        let mut out = Vec::with_capacity(done.len());
        let mut is_mixed_up = false;
        for (n, answer) in done.into_iter().enumerate() {
            match answer {
                Ok(rows) if n >= skip => out.push(rows),
                Ok(rows) => {
                    let witness = (n + witnesses.len()).checked_sub(skip).and_then(|n| witnesses.get(n));
                    is_mixed_up |= witness.is_some_and(|witness| !heard(&rows, witness));
                }
                Err(error) => return Err((n.saturating_sub(skip), error)),
            }
        }
        self.unprepared |= is_mixed_up;
        self.is_trusted = is_trusted && after.is_none();
        Ok(out)
    }

    /// Sends a statement whose answer nobody waits for.
    pub async fn post(&mut self, sql: &str) {
        self.is_trusted = false;
        let mut sent = Box::pin(self.client.batch_execute(sql));
        // Polled once it is queued; the connection writes it when this task steps back.
        std::future::poll_fn(|cx| {
            let _ = sent.as_mut().poll(cx);
            Poll::Ready(())
        })
        .await;
        tokio::task::yield_now().await;
    }
}

async fn connect(address: &Address) -> Result<(Client, Connection<Socket, Encrypted>), StoreError> {
    let tls = Tls { verify: address.verify, root_certificate: address.root_certificate.clone() };
    let (client, connection) = address.config.connect(tls).await.map_err(|error| refused(address, &error))?;
    let version = connection.parameter("server_version").unwrap_or_default();
    let speaks = connection.parameter("crdb_version").is_some() || version.contains("-YB-");
    if speaks {
        let why = "the server speaks the protocol of PostgreSQL but is another database, which is not supported";
        return Err(fail::unavailable(&address.label, Reason::Foreign, why));
    }
    let major: String = version.chars().take_while(char::is_ascii_digit).collect();
    match major.parse::<u32>() {
        Ok(major) if major < OLDEST => {
            let why = format!("the server runs PostgreSQL {version}, but {OLDEST} or newer is needed");
            Err(fail::unavailable(&address.label, Reason::Foreign, why))
        }
        _ => Ok((client, connection)),
    }
}

fn refused(address: &Address, error: &Error) -> StoreError {
    let note = address.password_note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
    let (why, store) = (format!("cannot connect: {}{note}", fail::words(error)), address.label.clone());
    match fail::sql(&address.label, "connect", error) {
        StoreError::Unavailable { reason, .. } => StoreError::Unavailable { store, reason, why },
        // Before a connection stands, whatever goes wrong is about reaching the server or logging in.
        _ if why.contains("password") => StoreError::Unavailable { store, reason: Reason::Owner, why },
        _ => StoreError::Unavailable { store, reason: Reason::System, why },
    }
}

/// Puts the real schema into a statement.
pub fn qualified(sql: &'static str, schema: &str) -> Cow<'static, str> {
    if schema == SCHEMA { Cow::Borrowed(sql) } else { Cow::Owned(sql.replace("punch.", &format!("{schema}."))) }
}

type Asked<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Drives requests together. The first poll sends them, in the order in which they stand here; their answers come in that
/// order too.
struct InOrder<'a, T> {
    asked: std::collections::VecDeque<Result<T, Asked<'a, T>>>,
    answers: Vec<T>,
    is_sent: bool,
}

impl<'a, T> InOrder<'a, T> {
    fn new(asked: Vec<Asked<'a, T>>) -> Self {
        Self { answers: Vec::with_capacity(asked.len()), asked: asked.into_iter().map(Err).collect(), is_sent: false }
    }
}

impl<T: Unpin> Future for InOrder<'_, T> {
    type Output = Vec<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Vec<T>> {
        let this = &mut *self;
        if !std::mem::replace(&mut this.is_sent, true) {
            for asked in &mut this.asked {
                if let Err(future) = asked
                    && let Poll::Ready(value) = future.as_mut().poll(cx)
                {
                    *asked = Ok(value);
                }
            }
        }
        while let Some(asked) = this.asked.pop_front() {
            match asked {
                Ok(value) => this.answers.push(value),
                Err(mut future) => match future.as_mut().poll(cx) {
                    Poll::Ready(value) => this.answers.push(value),
                    Poll::Pending => {
                        this.asked.push_front(Err(future));
                        return Poll::Pending;
                    }
                },
            }
        }
        Poll::Ready(std::mem::take(&mut this.answers))
    }
}
