//! What can be asked of a plan, in plain words: the same things the engine takes, in types of their own.

use crate::rules::Rules;

/// Names a todo.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// By its id.
    Id(String),
    /// The n-th todo ever added, counted from 0.
    Key(usize),
    /// The n-th add of this batch, counted from 0.
    New(usize),
}

/// A place in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Spot {
    /// Behind everything.
    #[default]
    End,
    /// Before everything.
    First,
    /// Right before a todo.
    Before(Name),
    /// Right behind a todo.
    After(Name),
}

/// The five stored statuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
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

impl Status {
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
pub struct Hold {
    /// Why.
    pub reason: String,
    /// When it ends by itself.
    pub until: Option<i64>,
    /// It is set aside: not open work.
    pub parked: bool,
}

/// Fields to change; `None` keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fields {
    /// A new id.
    pub id: Option<String>,
    /// What is to be done.
    pub content: Option<String>,
    /// The present-tense form, or none.
    pub active_form: Option<Option<String>>,
    /// The whole list of dependencies.
    pub deps: Option<Vec<Name>>,
    /// These will depend on it.
    pub blocks: Vec<Name>,
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
pub struct Evidence {
    /// The command that ran.
    pub command: Option<String>,
    /// How it ended.
    pub exit: Option<i32>,
    /// There are words in it.
    pub says: bool,
}

/// A new todo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct New {
    /// `None` makes one.
    pub id: Option<String>,
    /// Everything else.
    pub fields: Fields,
    /// Where.
    pub spot: Spot,
    /// The status it comes with.
    pub status: Status,
    /// The hold it comes with.
    pub hold: Option<Hold>,
    /// Remarks it comes with.
    pub notes: Vec<String>,
}

/// One thing asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    /// A new todo.
    Add(New),
    /// Change fields.
    Edit(Name, Fields),
    /// Begin.
    Start(Name),
    /// Begin under a lease that ends then.
    Claim(Name, i64),
    /// Lengthen the lease.
    Renew(Name, i64),
    /// Give the claim back.
    Unclaim(Name),
    /// Pass the claim to another name.
    HandOver(Name, String),
    /// Finish.
    Done(Name, Option<Evidence>, Option<u64>),
    /// The worker says that it is done, with words or without.
    Report(Name, bool, Option<u64>),
    /// Say whether a completion is stale, with evidence or without.
    Vouch(Name, bool, bool),
    /// Record that its command, or one it does not have, ended so.
    Check(Name, Evidence),
    /// Record the same for a todo that an agent called done: the check contradicts it.
    Refute(Name, Evidence),
    /// Put the work on it back: a status, a hold while pending, to be resumed.
    Restore(Name, Status, Option<Hold>, bool),
    /// Give up.
    Drop(Name),
    /// Report a failed attempt.
    Fail(Name, String),
    /// Open again.
    Reopen(Name),
    /// Put on hold.
    Hold(Name, Hold),
    /// End the hold.
    Release(Name),
    /// Said to be blocked.
    Block(Name),
    /// Archive.
    Rm(Name),
    /// Append a remark.
    Note(Name, String),
    /// Change the place.
    Move(Name, Spot),
    /// Bring these into this order.
    Arrange(Vec<Name>),
    /// The plan's own rules.
    Rules(Rules),
}

impl Ask {
    /// The one todo it is about.
    pub const fn target(&self) -> Option<&Name> {
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
pub struct Batch {
    /// In order.
    pub asks: Vec<Ask>,
    /// The session of the agent that asks; `None` is the user.
    pub owner: Option<String>,
    /// The rules of the session.
    pub rules: Rules,
    /// Milliseconds since the write before.
    pub elapsed: i64,
}
