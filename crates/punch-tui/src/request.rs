//! Requests of the board. The board itself does nothing: requests are carried out elsewhere, and their results come
//! back as input.

use punch_core::drive::Switch;
use punch_core::{Op, Uid, Verify};
use punch_engine::QuestionReply;
use punch_store::RequestedState;

/// Something that the board cannot do itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoardRequest {
    /// Change the plan. Completions run checks where the plan wants proof.
    Submit {
        /// The ops, as one batch.
        ops: Vec<Op>,
        /// What it is, for the notice: "T-3 completed".
        what: String,
    },
    /// Undo a revision, or the user's last change.
    Undo(Option<u64>),
    /// Redo what the user undid last.
    Redo,
    /// Answer a question.
    Answer {
        /// The number of the question.
        question: u64,
        /// The answer.
        answer: QuestionReply,
        /// Why.
        reason: Option<String>,
    },
    /// Approve a check command.
    Approve(Verify),
    /// Control a run or one of its seats.
    Control {
        /// The run.
        run: u64,
        /// The seat; `None` for the whole run.
        seat: Option<u32>,
        /// What is wanted.
        wanted: RequestedState,
    },
    /// Switch the continuation of a session.
    KeepGoing {
        /// The id of the session.
        session: String,
        /// To what.
        to: Switch,
    },
    /// Record that the user has looked up to a revision.
    MarkSeen(u64),
    /// Run a command of punch and show what it prints.
    Verb(Vec<String>),
    /// Run a command of punch on the whole terminal.
    Foreground(Vec<String>),
    /// Run a command of punch that starts an agent: in a window of its own where the terminal has windows.
    NewAgent(Vec<String>),
    /// Load what the detail of a todo shows beyond the plan.
    Detail(Uid),
    /// Load the changes of a revision and the plan as it was.
    PlanAt(u64),
    /// Load the last revisions, this many of them.
    Revisions(u64),
    /// Draw the run over time at a width.
    Timeline(usize),
    /// Show the diff of a todo's worktree.
    Diff(Uid),
    /// Show what the agent of a todo printed.
    AgentLog(Uid),
    /// Show the path of a todo's worktree.
    Worktree(Uid),
    /// Put a text on the clipboard of the terminal.
    Copy(String),
    /// Ring the bell of the terminal, and let it show a notification where it can.
    Notify(String),
    /// Stop the process until the shell continues it.
    Suspend,
    /// Leave.
    Quit,
}

/// The thread that carries out a request. Each one works through its requests in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestQueue {
    /// Changes of the plan, one after the other. A check may take minutes.
    Changes,
    /// What must not wait for a check: reading, and what an agent or a run waits for.
    AtOnce,
    /// Commands of punch, which may take as long as they like.
    Commands,
}

impl BoardRequest {
    /// Returns the thread that carries this out.
    pub const fn queue(&self) -> RequestQueue {
        match self {
            Self::Verb(_) => RequestQueue::Commands,
            Self::Answer { .. }
            | Self::Approve(_)
            | Self::Control { .. }
            | Self::KeepGoing { .. }
            | Self::MarkSeen(_) => RequestQueue::AtOnce,
            request if request.only_reads() => RequestQueue::AtOnce,
            _ => RequestQueue::Changes,
        }
    }

    /// Returns true if it changes the plan itself: such requests are carried out one after the other.
    pub const fn is_change(&self) -> bool {
        matches!(self, Self::Submit { .. } | Self::Undo(_) | Self::Redo)
    }

    /// Returns true if it changes neither the plan nor anything around it.
    pub const fn only_reads(&self) -> bool {
        matches!(
            self,
            Self::Detail(_)
                | Self::PlanAt(_)
                | Self::Revisions(_)
                | Self::Timeline(_)
                | Self::Diff(_)
                | Self::AgentLog(_)
                | Self::Worktree(_)
        )
    }
}
