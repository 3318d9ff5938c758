//! What a dialect costs, by bytes: a tokenizer would be larger than the rest of the program.

use punch_engine::call::{Dialect, Tool, ToolCaller, budget};
use punch_engine::{Engine, PlanChoice};
use punch_store::{MemoryStore, SessionKey};
use serde_json::{Value, json};

use crate::{ServeProblem, ToolOffers, guide};

/// Tokens of a text, estimated: English and JSON come to about four bytes each.
pub const fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// What every conversation pays before the first call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// Name and tokens of each tool.
    pub tools: Vec<(String, usize)>,
    /// Tokens of the instructions.
    pub instructions: usize,
}

impl Price {
    /// The price of an offer.
    pub fn of(offer: &ToolOffers) -> Self {
        let tools = offer.tools.iter().map(|tool| (tool.name.clone(), tokens(&tool.priced()))).collect();
        Self { tools, instructions: tokens(&guide::instructions(offer.dialect)) }
    }

    /// All tools.
    pub fn offered(&self) -> usize {
        self.tools.iter().map(|(_, tokens)| tokens).sum()
    }
}

/// What calls cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallTokens {
    /// How many.
    pub calls: usize,
    /// Tokens that the model writes.
    pub arguments: usize,
    /// Tokens that the model reads.
    pub results: usize,
}

/// Runs the calls of one recording, in the form that `punch replay` reads, on a plan in memory and counts.
pub fn replay(dialect: Dialect, recording: &Value, spent: &mut CallTokens) -> Result<(), ServeProblem> {
    let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(|| 0));
    let plan = engine.choose_or_create(&PlanChoice::default())?;
    let caller = ToolCaller {
        session: SessionKey::new("cost", None),
        actor: punch_core::Actor::agent("cost", "cost"),
        role: None,
        mode: Default::default(),
        limits: Default::default(),
        open_limit: u64::MAX,
        settings: None,
        structured: false,
        work: Default::default(),
        server: None,
        embedding: Default::default(),
    };
    let unreadable =
        || ServeProblem::new("invalid", "a recording has a list `calls` or `batches`", "see `punch replay --help`");
    let (list, batches) = match (recording.get("calls"), recording.get("batches")) {
        (Some(calls), _) => (calls, false),
        (None, Some(batches)) => (batches, true),
        (None, None) => return Err(unreadable()),
    };
    for call in list.as_array().ok_or_else(unreadable)? {
        let arguments = if batches { json!({"ops": call}) } else { call.clone() };
        let reads = dialect != Dialect::Todowrite && arguments.get("view").is_some();
        let tool = if reads { Tool::Read } else { Tool::Write };
        let answer = engine.call(plan, &caller, dialect, tool, &arguments, None)?;
        spent.calls += 1;
        spent.arguments += tokens(&arguments.to_string());
        spent.results += tokens(&budget::text(&answer.text, Some(answer.revision)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_counted_call_by_call() {
        let mut spent = CallTokens::default();
        let recording = json!({"calls": [
            {"ops": [{"op": "add", "id": "a", "content": "first"}]},
            {"view": "next"},
            {"ops": [{"op": "done", "id": "nothing"}]},
        ]});
        replay(Dialect::Native, &recording, &mut spent).unwrap();
        assert_eq!(spent.calls, 3);
        assert!(spent.arguments > 10 && spent.results > 10, "{spent:?}");
        assert_eq!(replay(Dialect::Native, &json!({}), &mut spent).unwrap_err().code, "invalid");
    }
}
