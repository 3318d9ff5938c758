//! Questions of agents to the user, such as a request for permission.

use punch_core::Uid;
use serde::{Deserialize, Serialize};

/// How many settled questions of one plan are kept. Open ones always are.
pub const QUESTIONS_KEPT: u64 = 1_000;

/// A question or a permission request of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its number in the plan, growing and never reused. The store assigns it: what a caller puts here is ignored.
    pub id: u64,
    /// When it was asked.
    pub asked_at: i64,
    /// The run that the agent works in.
    pub run: Option<u64>,
    /// The seat of the run.
    pub seat: Option<u32>,
    /// The session that asks.
    pub session: Option<String>,
    /// The todo that the agent works on.
    pub todo: Option<Uid>,
    /// The agent that asks.
    pub agent: String,
    /// The question in full.
    pub text: String,
    /// What can be answered: JSON of the engine, kept as it is.
    pub options: String,
    /// Whether it waits for an answer.
    pub state: QuestionState,
}

/// Whether a question waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum QuestionState {
    /// It waits.
    Open,
    /// It was answered.
    Answered(QuestionAnswer),
    /// It was closed without an answer, as when the agent that asked has ended.
    Closed {
        /// Why.
        reason: String,
        /// When.
        at: i64,
    },
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswer {
    /// The chosen option, or text.
    pub answer: String,
    /// Who answered.
    pub by: String,
    /// Where the answer was given, such as the terminal of the run or a board.
    pub via: String,
    /// Why, if the user gave a reason.
    pub reason: Option<String>,
    /// When.
    pub at: i64,
    /// When the asker took the answer to apply it. An answer is taken once.
    pub taken_at: Option<i64>,
}

/// What became of an attempt to answer or close a question. Only the first attempt succeeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionOutcome {
    /// The question was open and has this answer now.
    Settled,
    /// The question was answered or closed before.
    AlreadySettled(QuestionState),
    /// No question has this number, or it was settled so long ago that it is no longer there.
    Unknown,
}

/// Which questions a listing is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionFilter {
    /// Those that wait for an answer.
    Open,
    /// Settled ones too.
    All,
}
