//! What can be asked of a plan, in plain words: the same things the engine takes, in types of their own.

use crate::rules::ModelRules;

/// Names a todo.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TodoName {
    /// By its id.
    Id(String),
    /// The n-th todo ever added, counted from 0.
    Key(usize),
    /// The n-th add of this batch, counted from 0.
    New(usize),
}

/// A place in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum ListSpot {
    /// Behind everything.
    #[default]
    End,
    /// Before everything.
    First,
    /// Right before a todo.
    Before(TodoName),
    /// Right behind a todo.
    After(TodoName),
}

/// The five stored statuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ModelStatus {
    /// Not started.
    #[default]
    Pending,
    /// Worked on.
    Active,
    /// Done.
    Completed,
    /// Given up.
    Cancelled,
    /// Not achieved.
    Failed,
}

impl ModelStatus {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Pending, Self::Active, Self::Completed, Self::Cancelled, Self::Failed];

    /// The status with that name in docs/rules.md.
    pub fn named(word: &str) -> Option<Self> {
        let words = ["pending", "in_progress", "completed", "cancelled", "failed"];
        words.iter().position(|known| *known == word).map(|at| Self::ALL[at])
    }

    /// Work is left.
    pub const fn open(self) -> bool {
        matches!(self, Self::Pending | Self::Active)
    }
}

/// Waiting for something that is no todo. With an end it is a timer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelHold {
    /// Why.
    pub reason: String,
    /// When it ends by itself.
    pub until: Option<i64>,
    /// It is set aside: not open work.
    pub parked: bool,
}

/// Fields to change; `None` keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ModelFields {
    /// A new id.
    pub id: Option<String>,
    /// What is to be done.
    pub content: Option<String>,
    /// The present-tense form, or none.
    pub active_form: Option<Option<String>>,
    /// The whole list of dependencies.
    pub deps: Option<Vec<TodoName>>,
    /// These will depend on it.
    pub blocks: Vec<TodoName>,
    /// The first phase of that name, made if missing; or none.
    pub phase: Option<Option<String>>,
    /// 1 to 5.
    pub priority: Option<u8>,
    /// The files it touches, as one glob.
    pub files: Option<Option<String>>,
    /// The command that proves it, or none.
    pub command: Option<Option<String>>,
}

/// What speaks for a completion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ModelEvidence {
    /// The command that ran.
    pub command: Option<String>,
    /// How it ended.
    pub exit: Option<i32>,
    /// There are words in it.
    pub says: bool,
}

/// A new todo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ModelNewTodo {
    /// `None` makes one.
    pub id: Option<String>,
    /// Everything else.
    pub fields: ModelFields,
    /// Where.
    pub spot: ListSpot,
    /// The status it comes with.
    pub status: ModelStatus,
    /// The hold it comes with.
    pub hold: Option<ModelHold>,
    /// Remarks it comes with.
    pub notes: Vec<String>,
}

/// One thing asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ModelOp {
    /// A new todo.
    Add(ModelNewTodo),
    /// Change fields.
    Edit(TodoName, ModelFields),
    /// Begin.
    Start(TodoName),
    /// Begin under a lease that ends then.
    Claim(TodoName, i64),
    /// Lengthen the lease.
    Renew(TodoName, i64),
    /// Give the claim back.
    Unclaim(TodoName),
    /// Pass the claim to another name.
    HandOver(TodoName, String),
    /// Finish.
    Done(TodoName, Option<ModelEvidence>, Option<u64>),
    /// The worker says that it is done, with words or without.
    Report(TodoName, bool, Option<u64>),
    /// Say whether a completion is stale, with evidence or without.
    Vouch(TodoName, bool, bool),
    /// Record that its command, or one it does not have, ended so.
    Check(TodoName, ModelEvidence),
    /// Record the same for a todo that an agent called done: the check contradicts it.
    Refute(TodoName, ModelEvidence),
    /// Put the work on it back: a status, a hold while pending, to be resumed.
    Restore(TodoName, ModelStatus, Option<ModelHold>, bool),
    /// Give up.
    Drop(TodoName),
    /// Report a failed attempt.
    Fail(TodoName, String),
    /// Open again.
    Reopen(TodoName),
    /// Put on hold.
    Hold(TodoName, ModelHold),
    /// End the hold.
    Release(TodoName),
    /// Said to be blocked.
    Block(TodoName),
    /// Archive.
    Rm(TodoName),
    /// Append a remark.
    Note(TodoName, String),
    /// Change the place.
    Move(TodoName, ListSpot),
    /// Bring these into this order.
    Arrange(Vec<TodoName>),
    /// The plan's own rules.
    Rules(ModelRules),
}

impl ModelOp {
    /// The one todo it is about.
    pub const fn target(&self) -> Option<&TodoName> {
        match self {
            Self::Edit(name, _)
            | Self::Start(name)
            | Self::Claim(name, _)
            | Self::Renew(name, _)
            | Self::Unclaim(name)
            | Self::HandOver(name, _)
            | Self::Done(name, _, _)
            | Self::Report(name, _, _)
            | Self::Vouch(name, _, _)
            | Self::Check(name, _)
            | Self::Refute(name, _)
            | Self::Restore(name, _, _, _)
            | Self::Drop(name)
            | Self::Fail(name, _)
            | Self::Reopen(name)
            | Self::Hold(name, _)
            | Self::Release(name)
            | Self::Block(name)
            | Self::Rm(name)
            | Self::Note(name, _)
            | Self::Move(name, _) => Some(name),
            Self::Add(_) | Self::Arrange(_) | Self::Rules(_) => None,
        }
    }
}

/// One write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelBatch {
    /// In order.
    pub asks: Vec<ModelOp>,
    /// The session of the agent that asks; `None` is the user.
    pub owner: Option<String>,
    /// The rules of the session.
    pub rules: ModelRules,
    /// Milliseconds since the write before.
    pub elapsed: i64,
}
