//! Records as rows of a database. The columns stand in the same order in the queries of every SQL backend, so that each
//! record is read in one place.

use punch_core::Uid;
use punch_core::drive::TodoOffer;

use crate::{
    Activity, AttemptUsage, CheckpointRow, CompletedFiles, ControlRecord, ControlScope, DecisionRow, ExpectedCall,
    LedgerEntry, PlanId, PlanInfo, Question, QuestionAnswer, QuestionState, ReadMarker, RequestedState, RunLease,
    SeatRecord, SessionKey, SessionRow, StoredRun, WorkerRecord,
};

/// Stands for the run as a whole in the column `seat` of a control.
const WHOLE_RUN: i64 = -1;

/// A row of an answer. An error means that a column does not hold what the backend writes there.
pub trait Columns {
    /// What is wrong with a column.
    type Error;

    /// A number.
    fn int(&self, at: usize) -> Result<i64, Self::Error>;

    /// A number, or NULL.
    fn maybe_int(&self, at: usize) -> Result<Option<i64>, Self::Error>;

    /// A text.
    fn text(&self, at: usize) -> Result<String, Self::Error>;

    /// A text, or NULL.
    fn maybe_text(&self, at: usize) -> Result<Option<String>, Self::Error>;

    /// True or false.
    fn flag(&self, at: usize) -> Result<bool, Self::Error>;

    /// A number that is never negative.
    fn number(&self, at: usize) -> Result<u64, Self::Error> {
        self.int(at).map(|n| u64::try_from(n).unwrap_or(0))
    }

    /// A number that is never negative, or NULL.
    fn maybe_number(&self, at: usize) -> Result<Option<u64>, Self::Error> {
        Ok(self.maybe_int(at)?.map(|n| u64::try_from(n).unwrap_or(0)))
    }

    /// A small number that is never negative.
    fn small(&self, at: usize) -> Result<u32, Self::Error> {
        self.number(at).map(|n| u32::try_from(n).unwrap_or(u32::MAX))
    }

    /// A plan.
    fn plan(&self, at: usize) -> Result<PlanId, Self::Error> {
        self.int(at).map(PlanId)
    }

    /// A todo.
    fn uid(&self, at: usize) -> Result<Uid, Self::Error> {
        self.number(at).map(Uid)
    }

    /// A todo, or NULL.
    fn maybe_uid(&self, at: usize) -> Result<Option<Uid>, Self::Error> {
        Ok(self.maybe_number(at)?.map(Uid))
    }

    /// A session in two columns.
    fn session_key(&self, at: usize) -> Result<SessionKey, Self::Error> {
        Ok(SessionKey::new(self.text(at)?, Some(&self.text(at + 1)?)))
    }
}

/// What a row of the database holds. Each implementation names the columns that it expects.
pub trait FromColumns: Sized {
    /// Reads the columns of a row.
    fn read<R: Columns + ?Sized>(row: &R) -> Result<Self, R::Error>;
}

/// Records that are made of columns in this order and of nothing else.
macro_rules! from_columns {
    ($($record:ident { $($field:ident: $read:ident),+ })+) => {
        $(impl FromColumns for $record {
            fn read<R: Columns + ?Sized>(row: &R) -> Result<Self, R::Error> {
                let mut at = 0..;
                let mut next = || at.next().unwrap_or_default();
                Ok(Self { $($field: row.$read(next())?),+ })
            }
        })+
    };
}

from_columns! {
    CheckpointRow { id: text, at: int, body: text }
    StoredRun { id: number, started_at: int, ended_at: maybe_int, body: text }
    SeatRecord { run: number, n: small, at: int, body: text }
    RunLease { holder: text, epoch: number, until: maybe_int }
    ReadMarker { reader: text, revision: number, at: int }
    PlanInfo { id: plan, name: text, created_at: int, archived: maybe_int, revision: number, pruned: number }
    Activity { seq: number, at: int, kind: text, source: maybe_text, todo: maybe_uid, body: text }
    TodoOffer { owner: text, uid: uid, at: int }
    CompletedFiles { todo: uid, at: int, blobs: text }
    LedgerEntry {
        uid: uid, attempt: small, run: maybe_number, agent: text, subagent: maybe_text, tokens_in: number,
        tokens_out: number, cost: maybe_number, ms: number, turns: small, estimated: flag, at: int, again: number
    }
    WorkerRecord { name: text, epoch: number, seen_at: int, until: maybe_int, body: text }
}

impl FromColumns for u64 {
    fn read<R: Columns + ?Sized>(row: &R) -> Result<Self, R::Error> {
        row.number(0)
    }
}

impl FromColumns for String {
    fn read<R: Columns + ?Sized>(row: &R) -> Result<Self, R::Error> {
        row.text(0)
    }
}

/// `host, subagent, plan, seen_at, body`
impl FromColumns for SessionRow {
    fn read<R: Columns + ?Sized>(row: &R) -> Result<Self, R::Error> {
        let (key, plan) = (row.session_key(0)?, row.maybe_int(2)?.map(PlanId));
        Ok(Self { key, plan, seen_at: row.int(3)?, body: row.text(4)? })
    }
}

/// `host, subagent, seq, at, body`
impl FromColumns for DecisionRow {
    fn read<R: Columns + ?Sized>(row: &R) -> Result<Self, R::Error> {
        Ok(Self { key: row.session_key(0)?, seq: row.number(2)?, at: row.int(3)?, body: row.text(4)? })
    }
}

/// `seq, host, subagent, plan, call, fingerprint, at`
impl FromColumns for ExpectedCall {
    fn read<R: Columns + ?Sized>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            seq: row.number(0)?,
            session: row.session_key(1)?,
            plan: row.plan(3)?,
            call: row.maybe_text(4)?,
            fingerprint: row.text(5)?,
            at: row.int(6)?,
        })
    }
}

/// `uid, attempt, tokens_in, tokens_out, ms, at, again`, with no tokens where they were estimated
impl FromColumns for AttemptUsage {
    fn read<R: Columns + ?Sized>(row: &R) -> Result<Self, R::Error> {
        let tokens = row.number(2)?.saturating_add(row.number(3)?).saturating_sub(row.number(6)?);
        let (uid, attempt) = (row.uid(0)?, row.small(1)?);
        Ok(Self { uid, attempt, tokens: sum(tokens, 0), ms: row.number(4)?, at: row.int(5)? })
    }
}

/// `id, asked_at, run, seat, session, todo, agent, text, options, state, settled_at, answer, by, via, reason, taken_at`
impl FromColumns for Question {
    fn read<R: Columns + ?Sized>(row: &R) -> Result<Self, R::Error> {
        let text = |at: usize| row.maybe_text(at).map(Option::unwrap_or_default);
        let at = row.maybe_int(10)?.unwrap_or_default();
        let state = match row.text(9)?.as_str() {
            "open" => QuestionState::Open,
            "answered" => QuestionState::Answered(QuestionAnswer {
                answer: text(11)?,
                by: text(12)?,
                via: text(13)?,
                reason: row.maybe_text(14)?,
                at,
                taken_at: row.maybe_int(15)?,
            }),
            _ => QuestionState::Closed { reason: text(14)?, at },
        };
        Ok(Self {
            id: row.number(0)?,
            asked_at: row.int(1)?,
            run: row.maybe_number(2)?,
            seat: row.maybe_number(3)?.map(|seat| u32::try_from(seat).unwrap_or(u32::MAX)),
            session: row.maybe_text(4)?,
            todo: row.maybe_uid(5)?,
            agent: row.text(6)?,
            text: row.text(7)?,
            options: row.text(8)?,
            state,
        })
    }
}

/// `plan, run, seat, session, wanted, by, at`
impl FromColumns for ControlRecord {
    fn read<R: Columns + ?Sized>(row: &R) -> Result<Self, R::Error> {
        let (plan, run, seat) = (row.int(0)?, row.number(1)?, row.int(2)?);
        let plan_id = PlanId(plan);
        let scope = match (plan, u32::try_from(seat)) {
            (0, Ok(_)) => ControlScope::Session(row.text(3)?),
            (0, Err(_)) => ControlScope::Sessions,
            (_, Ok(seat)) => ControlScope::Seat { plan: plan_id, run, seat },
            (_, Err(_)) => ControlScope::Run { plan: plan_id, run },
        };
        // A word of a newer program: the careful reading is that work stops.
        let wanted = RequestedState::parse(&row.text(4)?).unwrap_or(RequestedState::Pause);
        Ok(Self { scope, wanted, by: row.text(5)?, at: row.int(6)? })
    }
}

/// The columns `plan, run, seat, session` of a control: what it is about.
pub fn control_key(scope: &ControlScope) -> (i64, i64, i64, &str) {
    match scope {
        ControlScope::Run { plan, run } => (plan.0, most(*run), WHOLE_RUN, ""),
        ControlScope::Seat { plan, run, seat } => (plan.0, most(*run), i64::from(*seat), ""),
        ControlScope::Session(session) => (0, 0, 0, session),
        ControlScope::Sessions => (0, 0, WHOLE_RUN, ""),
    }
}

/// Adds up what attempts took, by todo and attempt, from the entries of the ledger in that order. Here and not in the
/// database, where a sum that overflows is an error.
pub fn add_up(entries: Vec<AttemptUsage>) -> Vec<AttemptUsage> {
    let mut out: Vec<AttemptUsage> = Vec::new();
    for entry in entries {
        match out.last_mut().filter(|last| (last.uid, last.attempt) == (entry.uid, entry.attempt)) {
            Some(last) => {
                (last.tokens, last.ms) = (sum(last.tokens, entry.tokens), sum(last.ms, entry.ms));
                last.at = last.at.max(entry.at);
            }
            None => out.push(entry),
        }
    }
    out
}

fn sum(a: u64, b: u64) -> u64 {
    a.saturating_add(b).min(i64::MAX.unsigned_abs())
}

/// What a number is stored as; what is too large becomes the largest.
pub fn most(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A limit as a parameter.
pub fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
