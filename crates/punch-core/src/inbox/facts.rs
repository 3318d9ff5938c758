//! The facts other than the plan that the inbox needs. Stores and runners provide them; the core only reads them.

use std::collections::BTreeSet;

use crate::{Label, Plan, RunOutcome, Uid};

/// Everything that the inbox follows from.
#[derive(Clone, Copy, Debug)]
pub struct InboxFacts<'a> {
    /// The whole plan.
    pub plan: &'a Plan,
    /// The name of the plan.
    pub plan_name: &'a str,
    /// The name of the plan in commands, where they would mean another one without it.
    pub plan_flag: Option<&'a str>,
    /// Questions of agents that wait for an answer.
    pub questions: &'a [QuestionFact],
    /// Conflicts between the plan and its plan file.
    pub file_conflicts: &'a [FileConflictFact],
    /// Approvals that are missing.
    pub approvals: &'a [ApprovalFact],
    /// Runs that matter: the last one, and any that still works.
    pub runs: &'a [RunFact],
    /// Agents at work: seats of runs, and sessions with a todo in progress.
    pub workers: &'a [WorkerFact],
    /// Conversations whose agent was allowed to stop although it could have worked on.
    pub stopped: &'a [StoppedFact],
    /// Todos whose check failed after the agent that called them done had stopped, so that no agent has read the result.
    pub unread_failures: &'a [Uid],
    /// The labels of each worker of the fleet that is alive; `None` where no fleet works on the plan.
    pub fleet: Option<&'a [BTreeSet<Label>]>,
    /// After how many milliseconds without a sign of life an agent is quiet.
    pub quiet_after: i64,
    /// Up to where the user has looked; `None` if never.
    pub seen: Option<SeenFact>,
    /// The latest change of the plan is the user's own: then the user knows that the plan is finished.
    pub last_by_user: bool,
    /// The time.
    pub now: i64,
}

/// A question of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionFact {
    /// Its number in the plan, where it can be answered.
    pub id: Option<u64>,
    /// The agent that asks.
    pub agent: String,
    /// The text of the question.
    pub text: String,
    /// The todo it works on.
    pub todo: Option<Uid>,
    /// The run it works in.
    pub run: Option<u64>,
    /// When the agent asked.
    pub since: i64,
}

/// A thing that the plan and its plan file say differently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileConflictFact {
    /// What is in conflict, in words.
    pub text: String,
    /// The todo that it is about.
    pub todo: Option<Uid>,
    /// When the conflict was noticed.
    pub since: i64,
}

/// Something that waits for the user's approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// A command that checks todos.
    Check(String),
    /// A setting of the project, and its value as one would type it.
    Setting(String, String),
}

/// An approval that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalFact {
    /// What is to be approved.
    pub what: Approval,
    /// The todos that need it, in list order.
    pub todos: Vec<Uid>,
    /// Since when.
    pub since: i64,
}

/// The facts about a run that concern the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFact {
    /// Its number in the plan.
    pub number: u64,
    /// What it has spent of each of its limits.
    pub spending: Vec<LimitSpending>,
    /// When it ended; `None` while it works, or if it was killed.
    pub ended_at: Option<i64>,
    /// The outcome of the run, once it has ended.
    pub outcome: Option<RunOutcome>,
    /// Why it ended so, in words.
    pub because: Option<String>,
    /// The revision of the plan when it ended.
    pub revision: u64,
    /// The branch with its work, while that is not merged.
    pub unmerged: Option<String>,
}

/// What was spent of one limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitSpending {
    /// The resource that is limited, in a word: `tokens`.
    pub what: &'static str,
    /// How much, in words: `85000 of 100000 tokens`.
    pub text: String,
    /// The amount that was spent.
    pub used: u64,
    /// The amount that may be spent.
    pub limit: u64,
    /// When most of it was gone.
    pub since: i64,
}

impl LimitSpending {
    /// Returns true if more than 80 % is gone.
    pub(super) fn is_most(&self) -> bool {
        self.limit > 0 && u128::from(self.used) * 5 > u128::from(self.limit) * 4
    }
}

/// An agent at work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerFact {
    /// What it is called: a session, or a seat of a run.
    pub name: String,
    /// The todo it works on.
    pub todo: Option<Uid>,
    /// The run it belongs to.
    pub run: Option<u64>,
    /// When it last gave a sign of life.
    pub last_sign: i64,
}

/// An agent that stopped with work left: auto-continue reached a limit, and the user has sent no message since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoppedFact {
    /// The name of the session.
    pub name: String,
    /// Why it was allowed to stop, in words.
    pub because: String,
    /// When.
    pub at: i64,
}

/// Up to where a reader has looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenFact {
    /// The last revision that was looked at.
    pub revision: u64,
    /// When.
    pub at: i64,
}
