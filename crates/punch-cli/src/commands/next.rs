//! `punch next`: what to work on now: what is in progress already, else the best ready todo.

use clap::Args;
use punch_core::Plan;
use punch_core::schedule::{Estimate, batch};
use punch_engine::ReadyQuery;
use punch_engine::call::hold_others;
use punch_engine::config::Batches;
use serde_json::json;

use super::{ready, show};
use crate::failure::Failure;
use crate::input;
use crate::project::{OpenProject, Project};
use crate::reply::{self, VerbReply};

const EXAMPLES: &str = "\
Examples:
  punch next
  punch next --owner worker-1 --json
  punch next --budget 60000      # what fits into the tokens that are left";

/// The arguments of `punch next`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct NextArgs {
    /// Show the next todos for an agent that has this many tokens left; they fill at most 70% of them
    #[arg(long, value_name = "TOKENS", value_parser = input::tokens)]
    budget: Option<u64>,
}

impl NextArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let nothing = |text: &str| VerbReply::new(text, json!({"todo": null}));
        let Some(open) = project.read()?.plan() else {
            return Ok(nothing("No todos yet: `punch add 'First thing'` adds one."));
        };
        let now = open.engine.now();
        if let Some(budget) = self.budget {
            return next_batch(&open, budget, now);
        }
        let (actor, own) = (open.project.actor(), open.assigned_todos()?);
        let owner = actor.owner();
        let (plan, uid) = open.engine.read(open.plan, |snapshot| {
            let mut plan = Plan::slice(snapshot.row()?);
            let todo = ReadyQuery::for_owner(owner, own.as_deref(), now).next(snapshot)?;
            let Some(todo) = todo else { return Ok((plan, None)) };
            let uid = todo.uid;
            plan.put(todo);
            reply::load_names(snapshot, &mut plan, &[uid])?;
            Ok((plan, Some(uid)))
        })?;
        match uid.and_then(|uid| plan.get(uid)) {
            Some(todo) => {
                let layout = open.project.layout(now);
                Ok(VerbReply::new(show::fields(&plan, todo, layout), json!({"todo": reply::record(&plan, todo, now)})))
            }
            None if plan.row.counts.open() == 0 => Ok(nothing(&ready::nothing_open(&plan))),
            None => Ok(nothing("Nothing is ready; `punch why` shows what the open todos are waiting for.")),
        }
    }
}

/// What fits into the tokens that an agent has left, or the advice to begin a new window.
fn next_batch(open: &OpenProject, left: u64, now: i64) -> Result<VerbReply, Failure> {
    let (mut whole, calibration) = (open.engine.whole(open.plan)?, open.engine.calibration()?);
    if let Some(own) = open.assigned_todos()? {
        hold_others(&mut whole, &own);
    }
    let batch = batch(&whole, left, calibration, now);
    let given: Vec<String> = batch.todos.iter().map(|(id, _)| id.clone()).collect();
    let off = open.project.config.settings.checkpoint_batches.value == Batches::Off;
    // A store that cannot be written to can be read all the same.
    if !off && let Err(error) = open.engine.give_batch(open.plan, open.project.actor().by(), &given) {
        open.engine.trouble(&error);
    }
    let sized = |(id, estimate): &(String, Estimate)| json!({"id": id, "estimatedTokens": estimate.tokens, "assumed": estimate.assumed});
    let json = json!({
        "budget": batch.budget,
        "calibration": calibration,
        "todos": batch.todos.iter().map(sized).collect::<Vec<_>>(),
        "estimatedTokens": batch.tokens,
        "tooLarge": batch.too_large.as_ref().map(sized),
        "advice": batch.advice(),
    });
    Ok(VerbReply::new(batch.text(&whole), json))
}
