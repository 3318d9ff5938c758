//! The usage of a session. Agents report it in four ways, or not at all; every token is counted once.

use serde_json::Value;

use crate::agent::{AgentEvent, TokenSpending};
use punch_agents::headless::Contexts;
use punch_agents::headless::json::{count_of, micros};

/// Adds up one session.
#[derive(Debug)]
pub(super) struct AcpMeter {
    /// The reported usage of single requests of this turn.
    requests: TokenSpending,
    /// Cost of the session so far, in millionths of a dollar, and how much of it was reported. The sum includes
    /// what a resumed session had cost before, which is unknown.
    cost: Option<u64>,
    reported: Option<u64>,
    /// What the context held, in this turn and at the end of the last one.
    contexts: Contexts,
    context: Option<u64>,
}

impl AcpMeter {
    /// For a new session, or one that is resumed.
    pub fn new(resumed: bool) -> Self {
        let reported = (!resumed).then_some(0);
        Self { requests: TokenSpending::default(), cost: None, reported, contexts: Contexts::default(), context: None }
    }

    /// The cost of the session so far. Only dollars can be compared with a limit.
    pub fn cost(&mut self, cost: &Value) {
        if cost["currency"] == "USD" {
            self.cost = micros(&cost["amount"]).or(self.cost);
        }
    }

    /// What one request to the model took (Qwen Code).
    pub fn request(&mut self, usage: &Value) {
        if let Some(more) = read(usage) {
            self.contexts.read("", more.tokens_in);
            self.requests.add(&more);
        }
    }

    /// How many tokens the context holds.
    pub fn context(&mut self, used: &Value) {
        if let Some(used) = used.as_u64().filter(|used| *used > 0) {
            // A turn begins with what the last one left.
            if let Some(before) = self.context.take().filter(|_| self.contexts.main().is_none()) {
                self.contexts.read("", before);
            }
            self.contexts.read("", used);
        }
    }

    /// What the turn took; nothing if it was not reported. The protocol calls the numbers of an answer sums of the
    /// session; the agents that send them (Claude, Codex, OpenCode) mean the turn.
    pub fn turn_over(&mut self, result: &Value) -> Vec<AgentEvent> {
        let requests = std::mem::take(&mut self.requests);
        let quota = &result["_meta"]["quota"]["token_count"];
        let tokens = read(&result["usage"]).or_else(|| (requests.turns > 0).then_some(requests)).or_else(|| {
            quota.is_object().then(|| counts(count_of(quota, "input_tokens"), count_of(quota, "output_tokens")))
        });
        let (context, grown) = (self.contexts.main(), self.contexts.grown());
        self.context = context.or(self.context);
        let cost = self.cost.zip(self.reported).map(|(now, before)| now.saturating_sub(before));
        self.reported = self.cost.or(self.reported);
        match (tokens, cost) {
            (None, None | Some(0)) => Vec::new(),
            (tokens, cost) => {
                let tokens = tokens.unwrap_or_default();
                let grown = grown.map(|grown| grown.max(tokens.tokens_out));
                let turns = tokens.turns.max(1);
                vec![AgentEvent::Usage(TokenSpending { cost_micros: cost, turns, grown, context, ..tokens })]
            }
        }
    }
}

/// Whether tokens from a cache are among those read differs; what is not written was read.
fn read(usage: &Value) -> Option<TokenSpending> {
    usage.is_object().then(|| {
        let (given, out) = (count_of(usage, "inputTokens"), count_of(usage, "outputTokens"));
        let cached = count_of(usage, "cachedReadTokens");
        let tokens_in = count_of(usage, "totalTokens").saturating_sub(out).max(given);
        TokenSpending { cached, ..counts(tokens_in, out) }
    })
}

fn counts(tokens_in: u64, tokens_out: u64) -> TokenSpending {
    TokenSpending { tokens_in, tokens_out, turns: 1, ..TokenSpending::default() }
}
