//! A seat: one of the agents that work at once, its conversation while there is one, and the todo it is on.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use punch_core::{Todo, Uid};
use punch_store::SessionKey;

use crate::agent::{Permission, Running, Spending};
use crate::worktree::Lane;

/// The longest pause between failed turns.
const LONGEST: Duration = Duration::from_secs(300);

/// One of the agents that work at once.
pub(super) struct Seat {
    /// Counted from 1, for people.
    pub number: usize,
    /// Which of the agents.
    pub spec: usize,
    /// The conversation, while there is one.
    pub conversation: Option<Conversation>,
    /// What it is on.
    pub job: Option<Job>,
    /// Nothing is started before.
    pub not_before: Option<Instant>,
    /// Failed turns in a row.
    pub failures: u32,
    /// Starts in a row that did not come to anything; with the reason of the last one.
    pub failed_starts: (u32, String),
    /// Its work tree.
    pub lane: Option<Lane>,
    /// What was completed in its conversation.
    pub done: Vec<Uid>,
    /// What it was last given: an agent that is being ended may still work on it.
    pub last: Option<Uid>,
}

/// A conversation with an agent.
pub(super) struct Conversation {
    /// The number of the start.
    pub start: u64,
    /// The same with the epoch: names its files.
    pub name: String,
    /// The agent.
    pub running: Box<dyn Running>,
    /// The owner under which it works.
    pub owner: String,
    /// The session that todos are assigned to.
    pub key: SessionKey,
    /// The host's name for the conversation.
    pub session: Option<String>,
    /// Tokens that its context holds by now, as far as anybody knows.
    pub used: u64,
    /// The last sign of life.
    pub seen: Instant,
    /// When the turn began.
    pub turn: Instant,
    /// What was spent in this turn.
    pub spending: Spending,
    /// What it asks a person for.
    pub asks: Option<Permission>,
    /// What it asks for besides.
    pub more: VecDeque<Permission>,
    /// It was asked to end, when and why.
    pub ending: Option<(Instant, EndReason)>,
}

/// Why an agent is ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EndReason {
    /// The run ends.
    RunEnds,
    /// Its todo is somebody else's by now.
    TodoLost,
    /// It failed: no sign of life, too much time.
    Failed(String),
}

/// What a seat is on.
pub(super) struct Job {
    /// The todo as it was when it was given, with its fence.
    pub todo: Todo,
    /// Whose it is.
    pub owner: String,
    /// Since when.
    pub since: Instant,
    /// When its lease was last lengthened.
    pub renewed: Instant,
    /// How far it is.
    pub stage: Stage,
    /// An estimate was already counted for this attempt.
    pub guessed: bool,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The agent works.
    Working,
    /// A person is asked.
    Asking,
    /// It is checked, under this number.
    Checking(u64),
}

impl Seat {
    pub const fn new(number: usize, spec: usize) -> Self {
        Self {
            number,
            spec,
            conversation: None,
            job: None,
            not_before: None,
            failures: 0,
            failed_starts: (0, String::new()),
            lane: None,
            done: Vec::new(),
            last: None,
        }
    }

    /// What its agent may still be at work on although nobody wants that any more.
    pub fn leaving(&self) -> Option<Uid> {
        self.last.filter(|_| self.conversation.as_ref().is_some_and(|conversation| conversation.ending.is_some()))
    }

    /// Something can be given to it now.
    pub fn is_free(&self) -> bool {
        let rested = self.not_before.is_none_or(|until| until <= Instant::now());
        self.job.is_none()
            && rested
            && self.conversation.as_ref().is_none_or(|conversation| conversation.ending.is_none())
    }

    /// Pauses after a failed turn, longer after every one in a row.
    pub fn pause(&mut self, base: Duration) {
        let pause = base.saturating_mul(1 << self.failures.min(16)).min(LONGEST);
        self.failures += 1;
        self.not_before = Some(Instant::now() + pause);
    }
}

impl Job {
    pub fn new(todo: Todo, owner: String, stage: Stage) -> Self {
        let now = Instant::now();
        Self { todo, owner, since: now, renewed: now, stage, guessed: false }
    }
}
