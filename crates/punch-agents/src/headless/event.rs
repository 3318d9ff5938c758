//! Neutral events of agents. Text is clipped on arrival, so no event can grow without limit.

use crate::usage_limit::UsageLimit;

/// Something an agent did.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEvent {
    /// The host has a name for the conversation.
    Started {
        /// Its name, to continue with it later.
        session: String,
    },
    /// It said something; one line of it, for people. May be dropped when too much comes.
    Text(String),
    /// It used a tool.
    ToolUsed {
        /// The name of the tool.
        name: String,
    },
    /// Its own plan, the whole of it. At most 200 entries.
    PlanSaid(Vec<AgentPlanEntry>),
    /// What it spent since the last such report, never a running sum.
    Usage(TokenSpending),
    /// It wants to be allowed something and waits.
    Permission(PermissionRequest),
    /// A turn is over; it waits for a further prompt, or for its end.
    TurnEnded {
        /// How.
        finish: AgentTurnEnd,
    },
    /// It is gone, and so is all it started.
    Exited {
        /// The exit code, 128 and more for signals; `None` where nobody knows.
        code: Option<i32>,
    },
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentTurnEnd {
    /// By itself.
    Natural,
    /// At a limit of the host: turns, tokens, cost.
    Limit,
    /// At the usage limit of the user's plan: the agent does no more work until the limit is reset.
    UsageLimit(UsageLimit),
    /// It was cancelled.
    Cancelled,
    /// By an error: of the model, the network, the host. One line.
    Failed(String),
}

/// One entry of an agent's own plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentPlanEntry {
    /// What it says; at most 500 characters.
    pub content: String,
    /// `pending`, `in_progress` or `completed`, as the agent spells it.
    pub status: String,
}

/// What was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TokenSpending {
    /// Tokens read, those from a cache among them.
    pub tokens_in: u64,
    /// Tokens written.
    pub tokens_out: u64,
    /// Of the tokens read, those from a cache.
    pub cached: u64,
    /// By how much contexts grew, where that can be told: the requests of a turn read the same again and again.
    pub grown: Option<u64>,
    /// What the context of the conversation holds now, where that is known.
    pub context: Option<u64>,
    /// Millionths of a dollar, where someone says so.
    pub cost_micros: Option<u64>,
    /// Turns of the model.
    pub turns: u32,
}

impl TokenSpending {
    /// Counts more of the same conversation.
    pub fn add(&mut self, more: &Self) {
        self.tokens_in = self.tokens_in.saturating_add(more.tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(more.tokens_out);
        self.cached = self.cached.saturating_add(more.cached);
        self.turns = self.turns.saturating_add(more.turns);
        let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.saturating_add(b)).or(a).or(b);
        self.grown = sum(self.grown, more.grown);
        self.cost_micros = sum(self.cost_micros, more.cost_micros);
        self.context = more.context.or(self.context);
    }

    /// Tokens read and written.
    pub const fn tokens(&self) -> u64 {
        self.tokens_in.saturating_add(self.tokens_out)
    }

    /// Of these, those that say nothing about what a todo takes: the context held them already. Where nobody says how it
    /// grew, what came from a cache was in it; without a word about a cache nothing is known.
    pub fn again(&self) -> u64 {
        let fresh = || (self.cached > 0).then(|| self.tokens().saturating_sub(self.cached));
        self.tokens().saturating_sub(self.grown.or_else(fresh).unwrap_or(0))
    }
}

/// A request for permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionRequest {
    /// The agent's name for the request.
    pub id: String,
    /// What it wants to do, on one line of at most 300 characters.
    pub what: String,
    /// All of it with its line ends, for the user who decides. At most 16,000 characters, safe to print line by line.
    pub detail: String,
    /// The tool it is about, where there is one.
    pub tool: Option<String>,
    /// What can be answered: (id, label, whether it allows).
    pub options: Vec<(String, String, bool)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_teaches_about_a_todo_is_what_its_context_grew_by() {
        let spent = TokenSpending { tokens_in: 59_000, tokens_out: 1_000, ..TokenSpending::default() };
        let table = [
            (TokenSpending { grown: Some(4_000), cached: 50_000, ..spent }, 56_000),
            (TokenSpending { grown: Some(90_000), ..spent }, 0),
            // From a cache comes what was there before.
            (TokenSpending { cached: 50_000, ..spent }, 50_000),
            // Nobody says anything: then it teaches nothing.
            (spent, 60_000),
            (TokenSpending::default(), 0),
        ];
        for (spent, again) in table {
            assert_eq!(spent.again(), again, "{spent:?}");
        }
    }

    #[test]
    fn spending_adds_up_without_overflow_and_keeps_what_is_unknown() {
        let mut sum = TokenSpending::default();
        sum.add(&TokenSpending {
            tokens_in: u64::MAX,
            cost_micros: Some(2),
            context: Some(9),
            ..TokenSpending::default()
        });
        sum.add(&TokenSpending {
            tokens_in: 1,
            tokens_out: 1,
            cost_micros: Some(3),
            turns: 1,
            ..TokenSpending::default()
        });
        let wanted = TokenSpending {
            tokens_in: u64::MAX,
            tokens_out: 1,
            cost_micros: Some(5),
            turns: 1,
            ..TokenSpending::default()
        };
        assert_eq!(sum, TokenSpending { context: Some(9), ..wanted });
        assert_eq!(sum.tokens(), u64::MAX);
    }
}
