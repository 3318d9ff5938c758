//! `punch usage`: records what an attempt at a todo took.

use clap::Args;
use punch_core::text;
use punch_engine::UsageDelta;
use serde_json::json;

use crate::failure::Failure;
use crate::input;
use crate::project::Project;
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch stats record T-3 --tokens 18500
  punch stats record T-3 --tokens 4000 --seconds 90        # adds to what is there
  punch stats record T-3 --tokens 9000 --attempt 1         # an earlier attempt";

/// The arguments of `punch usage`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct UsageArgs {
    /// An id, or a part of the text
    #[arg(value_name = "TODO")]
    todo: String,
    /// Tokens to add
    #[arg(long, value_name = "N", required_unless_present = "seconds", value_parser = input::tokens)]
    tokens: Option<u64>,
    /// Seconds to add
    #[arg(long, value_name = "S")]
    seconds: Option<u64>,
    /// The attempt, counted from 1, instead of the current one
    #[arg(long, value_name = "A", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    attempt: Option<u32>,
}

impl UsageArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let open = project.open_named(std::slice::from_ref(&self.todo))?;
        let uid = open.engine.resolve(open.plan, &self.todo)?;
        let used = UsageDelta { tokens: self.tokens.unwrap_or(0), ms: self.seconds.unwrap_or(0).saturating_mul(1_000) };
        let (id, usage) = open.engine.record_usage(open.plan, uid, self.attempt, used)?;
        let (attempt, tokens, seconds) = (usage.attempt, usage.tokens, usage.ms / 1_000);
        let text =
            format!("{}: {} tokens, {seconds} s in attempt {attempt}", text::neutral(&id), text::grouped(tokens));
        let json = json!({"id": id, "attempt": attempt, "tokens": tokens, "seconds": seconds});
        Ok(VerbReply::new(text, json).after_write())
    }
}
