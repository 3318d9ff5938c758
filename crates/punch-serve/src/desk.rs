//! What the server asks for, without a word of protocol: tool calls, readings, wake-ups.

use std::time::Duration;

use punch_engine::call::{Answer, Called, Dialect, ReadCall, Tool};
use punch_engine::{Proof, Proofs};
use punch_store::{Changes, SessionKey};
use serde_json::Value;

use crate::Problem;

/// One tool call with who makes it.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The dialect.
    pub dialect: Dialect,
    /// Write, read or claim.
    pub tool: Tool,
    /// What the model sent.
    pub arguments: Value,
    /// The conversation, as far as the call or the start of the server says.
    pub session: SessionKey,
    /// The key of the server, if the call itself does not name its session.
    pub server: Option<SessionKey>,
    /// The program that speaks, for events.
    pub by: String,
    /// The plan, where the call names one.
    pub plan: Option<String>,
    /// The host's id of the call: the same call of the same session twice gets the first answer again.
    pub id: Option<String>,
    /// The answer for programs is wanted too.
    pub structured: bool,
    /// Checks that were made for it.
    pub proofs: Proofs,
}

impl Ask {
    /// The same question by the same caller.
    pub fn asks_same(&self, other: &Self) -> bool {
        (self.dialect, self.tool, self.structured) == (other.dialect, other.tool, other.structured)
            && (&self.session, &self.plan, &self.by) == (&other.session, &other.plan, &other.by)
            && self.arguments == other.arguments
    }

    /// Costs less than handing it to another thread: a page of the plan, what is next, one todo. Readers never wait
    /// for writers.
    pub fn is_light(&self) -> bool {
        // What a conversation in the extended dialect is shown is noted with its session.
        let noted = self.dialect == Dialect::Extended;
        self.tool == Tool::Read && !noted && ReadCall::parse(&self.arguments).is_ok_and(|call| call.is_light())
    }

    /// A reading that no conversation makes.
    pub fn reading(arguments: Value) -> Self {
        Self {
            dialect: Dialect::Native,
            tool: Tool::Read,
            arguments,
            session: SessionKey::new("", None),
            by: String::new(),
            server: None,
            plan: None,
            id: None,
            structured: false,
            proofs: Proofs::default(),
        }
    }
}

/// What can be read as a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// The whole plan.
    Plan,
    /// One todo by id.
    Todo(String),
}

/// What came of a check.
#[derive(Debug)]
pub enum Checked {
    /// It passed.
    Passed(Box<Proof>),
    /// The answer to the call that waited for it.
    Answered(Answer),
}

/// True as soon as nobody wants the answer any more.
pub type Stopped<'a> = dyn Fn() -> bool + Sync + 'a;

/// Answers calls. Slow and blocking: the server asks on a thread of its own.
pub trait Desk: Send + Sync {
    /// Runs one call.
    fn call(&self, ask: &Ask) -> Result<Called, Problem>;

    /// Makes the check that a call waits for, outside the order of calls: others go on meanwhile. Without proof the
    /// answer is there instead.
    fn check(&self, ask: &Ask, id: &str, limit: Duration, stopped: &Stopped<'_>) -> Result<Checked, Problem>;

    /// The text of a resource; `None` if there is no such todo.
    fn read(&self, reading: &Reading) -> Result<Option<String>, Problem>;

    /// The last revision, and the ids of todos that changed after `since` (none of them without it); `None` in place
    /// of the ids if they are too many to name.
    fn changed(&self, since: Option<u64>) -> Result<(u64, Option<Vec<String>>), Problem>;

    /// Wake-ups for commits; `None` while there is no store.
    fn changes(&self) -> Option<Box<dyn Changes>>;
}
