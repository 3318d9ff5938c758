//! What the server needs from a service that answers tool calls: calls, resources and wake-ups, with no type of the
//! protocol.

use std::time::Duration;

use punch_engine::call::{CallResult, Dialect, ReadCall, Tool, ToolAnswer};
use punch_engine::{PassedCheck, Proofs};
use punch_store::SessionKey;
use serde_json::Value;

use crate::ServeProblem;
use crate::plan_follower::PlanFollower;

/// One tool call and its caller, as far as the protocol names it.
#[derive(Clone, Debug)]
pub struct ToolRequest {
    /// The dialect of the server's tools.
    pub dialect: Dialect,
    /// What the tool does.
    pub tool: Tool,
    /// What the model sent.
    pub arguments: Value,
    /// The session that the call names, else the one that the server was started for, else the server's own key.
    pub session: SessionKey,
    /// The key of the server, if the call itself does not name its session.
    pub server: Option<SessionKey>,
    /// How events are signed: the name of the token that the request carries, else that of the client program.
    pub by: String,
    /// The plan, where the call names one.
    pub plan: Option<String>,
    /// The agent's id of the call. A call that comes twice from one session takes effect once.
    pub id: Option<String>,
    /// True if the answer for programs is requested too.
    pub structured: bool,
    /// Checks that passed for this call.
    pub proofs: Proofs,
}

impl ToolRequest {
    /// Returns true if `other` is the same question from the same caller, so that a stored answer fits both.
    pub fn is_same_as(&self, other: &Self) -> bool {
        (self.dialect, self.tool, self.structured) == (other.dialect, other.tool, other.structured)
            && (&self.session, &self.plan, &self.by) == (&other.session, &other.plan, &other.by)
            && self.arguments == other.arguments
    }

    /// Returns true for a reading that costs less than handing it to another thread. Readers never wait for writers.
    pub fn is_light(&self) -> bool {
        // What a conversation in the extended dialect is shown is noted with its session.
        let noted = self.dialect == Dialect::Extended;
        self.tool == Tool::Read && !noted && ReadCall::parse(&self.arguments).is_ok_and(|call| call.is_light())
    }

    /// A reading on behalf of no session, such as that of a resource.
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

/// A resource of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PlanResource {
    /// The whole plan.
    Plan,
    /// One todo by id.
    Todo(String),
}

/// The result of a check.
#[derive(Debug)]
pub enum CheckResult {
    /// It passed.
    Passed(Box<PassedCheck>),
    /// The answer to the call that waited for it.
    Answered(ToolAnswer),
}

/// Returns true once the client no longer waits for the answer.
pub type ClientGone<'a> = dyn Fn() -> bool + Sync + 'a;

/// Answers tool calls. Its methods block: the server calls them on a thread of their own.
pub trait ToolService: Send + Sync {
    /// Runs one call.
    fn call(&self, request: &ToolRequest) -> Result<CallResult, ServeProblem>;

    /// Runs the check that a call waits for, while other calls continue. A check that does not pass is answered at once.
    fn check(
        &self,
        request: &ToolRequest,
        id: &str,
        limit: Duration,
        stopped: &ClientGone<'_>,
    ) -> Result<CheckResult, ServeProblem>;

    /// The text of a resource; `None` if there is no such todo.
    fn read(&self, reading: &PlanResource) -> Result<Option<String>, ServeProblem>;

    /// Follows the plan that resources show, from now on; `None` while there is no store.
    fn follow(&self) -> Result<Option<PlanFollower>, ServeProblem>;
}
