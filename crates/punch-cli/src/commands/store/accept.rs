//! `punch store accept`: continue with a store that has lost writes.

use clap::Args;
use punch_core::text;
use punch_engine::locate::Location;
use punch_store::OpenMode;
use serde_json::json;

use crate::environment;
use crate::failure::Failure;
use crate::open_store;
use crate::reply::VerbReply;
use crate::safety::Safety;

/// The arguments of `punch store accept`.
#[derive(Args)]
pub struct AcceptArgs {}

impl AcceptArgs {
    /// Runs the verb.
    pub fn run(self, location: &Location) -> Result<VerbReply, Failure> {
        super::need(location)?;
        let mut store = open_store::open(location, OpenMode::Existing, None)?;
        let Some(lost) = store.lost().cloned() else {
            return Ok(VerbReply::new("Nothing is missing.", json!({"accepted": false})));
        };
        if let Some(mark) = environment::inside_agent() {
            let message = format!(
                "only the user accepts lost writes, and this shell belongs to an agent ({} is set)",
                mark.variable
            );
            return Err(Failure::refused(
                "needs_user",
                message,
                "ask the user to run this command in their own terminal",
            ));
        }
        // First, so that no other process can overwrite the copy as soon as writes are allowed again.
        let copy = Safety::of(location).and_then(|safety| safety.keep_after_loss());
        store.accept_loss()?;
        let mut message = format!("Accepted: {}.", text::neutral(&lost.to_string()));
        let copy = copy.map(|path| path.display().to_string());
        if let Some(copy) = &copy {
            message.push_str(&format!("\nThe latest copy is in `{}`", text::neutral(copy)));
        }
        let plans: Vec<_> = lost
            .plans
            .iter()
            .map(|plan| json!({"name": plan.name, "recorded": plan.recorded, "found": plan.found}))
            .collect();
        Ok(VerbReply::new(message, json!({"accepted": true, "writes": lost.writes, "plans": plans, "copy": copy})))
    }
}
