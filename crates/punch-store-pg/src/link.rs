//! A connection with the statements that it knows. A statement that is used again gets a name on the server, which then
//! plans it once; a process that asks everything once never pays for that.
//!
//! A pooler may put another session of the server under each transaction. One that keeps names apart (pgbouncer since 1.21) does
//! no harm. Under an older one, a name may be unknown, but it never stands for a statement of another client: names hold a
//! random number. The statement that begins a transaction is the first to get a name, and others are named only after it in the same
//! session. So if that name is known, all are, and if it is not, nothing has happened yet.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use punch_store::{StoreError, StoreObstacle};

use crate::address::{Address, SCHEMA};
use crate::answer::{SqlRow, WireError};
use crate::value::SqlValue;
use crate::wire::{PgWire, WireOutcome, WireRequest};
use crate::{fail, handshake};

/// The oldest server that works.
const OLDEST: u32 = 14;

/// Has no name: there is nothing to plan, and whatever watches the connection sees where transactions end.
const COMMIT: &str = "COMMIT";

/// A statement gets a name once it was used this often on a connection.
const NAMED_AFTER: u32 = 2;

/// A statement with its parameters. Tables are named in the schema `punch`; a connection puts the real one in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What is done, for an error: "cannot {what}".
    pub what: &'static str,
    pub sql: &'static str,
    pub params: Vec<SqlValue>,
}

/// Makes a [`Statement`].
macro_rules! ask {
    ($what:expr, $sql:expr $(, $param:expr)* $(,)?) => {
        $crate::link::Statement { what: $what, sql: $sql, params: vec![$($crate::value::SqlValue::from($param)),*] }
    };
}
pub(crate) use ask;

/// The kinds of transactions. Each has names of its own, because each begins with another statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransactionKind {
    /// Sees one moment and changes nothing.
    Read,
    /// Sees what was committed before each statement.
    Write,
}

impl TransactionKind {
    const fn begin(self) -> &'static str {
        static READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        static WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
        match self {
            Self::Read => READ,
            Self::Write => WRITE,
        }
    }
}

/// Limits of the server in milliseconds, for transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionLimits {
    /// How long to wait for a lock.
    pub lock: u128,
    /// How long a statement may take.
    pub statement: u128,
    /// How long the client may say nothing inside a transaction.
    pub silence: u128,
}

impl TransactionLimits {
    /// Until the end of the transaction.
    fn of_transaction(&self) -> Statement {
        const SET: &str = "SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true), \
                           set_config('idle_in_transaction_session_timeout', $3, true), \
                           set_config('plan_cache_mode', 'force_generic_plan', true), \
                           set_config('enable_bitmapscan', 'off', true), set_config('enable_seqscan', 'off', true)";
        let Self { lock, statement, silence } = self;
        ask!("begin a transaction", SET, lock.to_string(), statement.to_string(), silence.to_string())
    }

    /// For as long as the session lives.
    fn of_session(&self) -> String {
        let Self { lock, statement, silence } = self;
        format!(
            "SET lock_timeout = {lock}; SET statement_timeout = {statement}; \
             SET idle_in_transaction_session_timeout = {silence}; SET plan_cache_mode = force_generic_plan; \
             SET enable_bitmapscan = off; SET enable_seqscan = off; SET enable_memoize = off"
        )
    }
}

/// A connection.
pub struct ServerLink {
    wire: PgWire,
    schema: String,
    /// What makes names of this connection unlike all others.
    mark: u64,
    statements: HashMap<(Option<TransactionKind>, StatementText), PreparedStatement>,
    /// The transaction that is open.
    open: Option<TransactionKind>,
    /// No pooler lies in between: the connection leads to the process that it was announced to lead to.
    is_direct: bool,
    /// Settings that the session has. Only sessions that are not shared through a pooler get any.
    session: Option<TransactionLimits>,
    /// A pooler that does not keep names lies in between.
    pub unprepared: bool,
}

struct PreparedStatement {
    sql: Cow<'static, str>,
    name: String,
    uses: u32,
    is_named: bool,
}

/// The text of a statement, told from others by where it lies: reading all of it for every statement would cost more than
/// sending it. A text that lies in two places is prepared twice.
#[derive(Clone, Copy, Debug)]
struct StatementText(&'static str);

impl PartialEq for StatementText {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for StatementText {}

impl Hash for StatementText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ptr().addr().hash(state);
        self.0.len().hash(state);
    }
}

impl ServerLink {
    /// Connects, and refuses servers that are not PostgreSQL or too old.
    pub async fn open(address: &Address) -> Result<Self, StoreError> {
        let wire = handshake::connect(address).await.map_err(|error| refused(address, &error))?;
        judge(address, &wire)?;
        Ok(Self {
            wire,
            schema: address.schema.clone(),
            mark: crate::watch::random(),
            statements: HashMap::new(),
            open: None,
            is_direct: false,
            session: None,
            unprepared: false,
        })
    }

    pub const fn is_closed(&self) -> bool {
        self.wire.is_broken()
    }

    /// Takes note of the process of the server that has answered.
    pub fn answered_by(&mut self, process: i64) {
        self.is_direct = self.wire.process == Some(process);
    }

    /// Begins a transaction, and asks in the same round trip. A session of our own gets the settings of writes once; under a
    /// pooler, each transaction may have another session, and others use it too.
    pub async fn begin(
        &mut self,
        kind: TransactionKind,
        settings: &TransactionLimits,
        asks: &[Statement],
    ) -> Result<Vec<Vec<SqlRow>>, (usize, WireError)> {
        let is_settled = kind == TransactionKind::Write && self.is_direct;
        if is_settled && self.session.as_ref() != Some(settings) {
            self.run(&settings.of_session()).await.map_err(|error| (usize::MAX, error))?;
            self.session = Some(settings.clone());
        }
        self.open = Some(kind);
        let mut first = vec![ask!("begin a transaction", kind.begin())];
        first.extend((!is_settled).then(|| settings.of_transaction()));
        let all: Vec<&Statement> = first.iter().chain(asks).collect();
        let done = self.ask(&all).await.map_err(|(n, error)| (n.checked_sub(first.len()).unwrap_or(usize::MAX), error));
        done.map(|mut rows| rows.split_off(first.len()))
    }

    /// Asks in one round trip. What follows a statement that fails is not executed; an error comes with its place.
    pub async fn send(&mut self, asks: &[Statement]) -> Result<Vec<Vec<SqlRow>>, (usize, WireError)> {
        self.ask(&asks.iter().collect::<Vec<_>>()).await
    }

    /// Asks and commits in one round trip. If a statement fails, the transaction is still open.
    pub async fn commit(&mut self, asks: &[Statement]) -> Result<(), (usize, WireError)> {
        let commit = ask!("commit", COMMIT);
        let all: Vec<&Statement> = asks.iter().chain([&commit]).collect();
        self.ask(&all).await?;
        self.open = None;
        Ok(())
    }

    async fn ask(&mut self, asks: &[&Statement]) -> Result<Vec<Vec<SqlRow>>, (usize, WireError)> {
        let may_name = self.open.is_some() && !self.unprepared;
        let Self { wire, schema, mark, statements, open, .. } = self;
        let mut named_now = Vec::with_capacity(asks.len());
        for ask in asks {
            let number = statements.len();
            let known = statements.entry((*open, StatementText(ask.sql))).or_insert_with(|| PreparedStatement {
                sql: qualified(ask.sql, schema),
                name: format!("punch_{mark:016x}_{number}"),
                uses: 0,
                is_named: false,
            });
            known.uses = known.uses.saturating_add(1);
            named_now.push(may_name && (known.is_named || (known.uses > NAMED_AFTER && ask.sql != COMMIT)));
        }
        // Until the beginning of a transaction has a name, nothing has one.
        let begin = open.and_then(|kind| statements.get(&(Some(kind), StatementText(kind.begin()))));
        let may_name = begin.is_some_and(|begin| begin.is_named || begin.uses > NAMED_AFTER);
        let mut named = Vec::new();
        let mut requests = Vec::with_capacity(asks.len());
        for (ask, is_due) in asks.iter().zip(named_now) {
            let key = (*open, StatementText(ask.sql));
            let Some(known) = statements.get(&key) else { continue };
            let name = if may_name && is_due { known.name.as_str() } else { "" };
            let is_known = !name.is_empty() && (known.is_named || named.contains(&Some(key)));
            if !is_known {
                named.push((!name.is_empty()).then_some(key));
            }
            let sql = (!is_known).then_some(&*known.sql);
            requests.push(WireRequest { name, sql, params: &ask.params });
        }
        let outcome = wire.exchange(&requests).await;
        drop(requests);
        let WireOutcome { rows, parsed, failed } = outcome.map_err(|error| (0, error))?;
        for key in named.into_iter().take(parsed).flatten() {
            if let Some(known) = statements.get_mut(&key) {
                known.is_named = true;
            }
        }
        match failed {
            None => Ok(rows),
            Some(error) => Err((rows.len(), error)),
        }
    }

    /// Runs plain statements that answer nothing.
    pub async fn run(&mut self, sql: &str) -> Result<(), WireError> {
        self.wire.run(sql).await
    }

    /// Sends plain statements whose answer nobody waits for. An open transaction must end with them.
    pub async fn post(&mut self, sql: &str) {
        self.open = None;
        self.wire.post(sql).await;
    }

    /// The payload of the next notification on the channels that this connection listens to.
    pub async fn notification(&mut self) -> Result<String, WireError> {
        self.wire.notification().await
    }

    /// Forgets notifications that have arrived.
    pub fn forget_notifications(&mut self) {
        self.wire.forget_notifications();
    }
}

/// Refuses servers that are not PostgreSQL or too old.
fn judge(address: &Address, wire: &PgWire) -> Result<(), StoreError> {
    let version = wire.parameter("server_version").unwrap_or_default();
    if wire.parameter("crdb_version").is_some() || version.contains("-YB-") {
        let why = "the server speaks PostgreSQL's protocol but is a different database, which is not supported";
        return Err(fail::unavailable(&address.label, StoreObstacle::Foreign, why));
    }
    let major: String = version.chars().take_while(char::is_ascii_digit).collect();
    match major.parse::<u32>() {
        Ok(major) if major < OLDEST => {
            let why = format!("the server runs PostgreSQL {version}, but {OLDEST} or newer is needed");
            Err(fail::unavailable(&address.label, StoreObstacle::Foreign, why))
        }
        _ => Ok(()),
    }
}

fn refused(address: &Address, error: &WireError) -> StoreError {
    let note = address.password_note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
    let (why, store) = (format!("cannot connect: {error}{note}"), address.label.clone());
    match fail::sql(&address.label, "connect", error) {
        StoreError::Unavailable { reason, .. } => StoreError::Unavailable { store, reason, why },
        // Before a connection stands, whatever goes wrong is about reaching the server or logging in.
        _ if why.contains("password") => StoreError::Unavailable { store, reason: StoreObstacle::Owner, why },
        _ => StoreError::Unavailable { store, reason: StoreObstacle::System, why },
    }
}

/// Puts the real schema into a statement.
pub fn qualified(sql: &'static str, schema: &str) -> Cow<'static, str> {
    if schema == SCHEMA { Cow::Borrowed(sql) } else { Cow::Owned(sql.replace("punch.", &format!("{schema}."))) }
}
