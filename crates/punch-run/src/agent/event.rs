//! What agents report, in words that no host has. Text is clipped where it comes in: nothing here grows.

/// Something an agent did.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The host has a name for the conversation.
    Started {
        /// Its name, to go on with it later.
        session: String,
    },
    /// It said something; one line of it, for people. May be dropped when too much comes.
    Text(String),
    /// It used a tool.
    ToolUsed {
        /// Which.
        name: String,
    },
    /// Its own plan, the whole of it. At most 200 entries.
    PlanSaid(Vec<PlanEntry>),
    /// What it spent since the last such report, never a running sum.
    Usage(Spending),
    /// It wants to be allowed something and waits.
    Permission(Permission),
    /// A turn is over; it waits for a further prompt, or for its end.
    TurnEnded {
        /// How.
        finish: Finish,
    },
    /// It is gone, and so is all it started.
    Exited {
        /// The exit code, 128 and more for signals; `None` where nobody knows.
        code: Option<i32>,
    },
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// By itself.
    Natural,
    /// At a limit of the host: turns, tokens, cost.
    Limit,
    /// It was cancelled.
    Cancelled,
    /// By an error: of the model, the network, the host. One line.
    Failed(String),
}

/// One entry of an agent's own plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEntry {
    /// What it says; at most 500 characters.
    pub content: String,
    /// `pending`, `in_progress` or `completed`, as the agent spells it.
    pub status: String,
}

/// What was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spending {
    /// Tokens read, those from a cache among them.
    pub tokens_in: u64,
    /// Tokens written.
    pub tokens_out: u64,
    /// Of the tokens read, those from a cache.
    pub cached: u64,
    /// Millionths of a dollar, where somebody says so.
    pub cost_micros: Option<u64>,
    /// Turns of the model.
    pub turns: u32,
}

/// A request for permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// The agent's name for the request.
    pub id: String,
    /// What it wants to do, on one line of at most 300 characters.
    pub what: String,
    /// The tool it is about, where there is one.
    pub tool: Option<String>,
    /// What can be answered: (id, label, whether it allows).
    pub options: Vec<(String, String, bool)>,
}
