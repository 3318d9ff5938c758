//! `punch assign`: a new conversation for some todos, that answers for these and for nothing else.

mod agent;
mod keep_going;

use std::ffi::OsString;

use clap::Args;
use punch_core::reason::PlanReader;
use punch_core::{Footprint, Todo, Uid};
use punch_engine::assignment_key;
use punch_store::SessionKey;
use serde_json::json;

use crate::failure::{Exit, Failure};
use crate::project::{OpenProject, Project};
use crate::reply::{self, Body, VerbReply};
use crate::{environment, output};
use agent::{Recipient, recipients};

pub use agent::{installed, names as agents};
use keep_going::keep_going;

const EXAMPLES: &str = "\
Examples:
  punch assign T-1 T-2 --to claude
  punch assign T-3 --to codex -- --full-auto      # what follows -- goes to the agent
  punch assign T-1 T-2 --to print                 # only the text, for a conversation of your own";

/// The arguments of `punch assign`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct AssignArgs {
    /// Ids, or parts of their texts
    #[arg(required_unless_present = "session", value_name = "TODO")]
    todos: Vec<String>,
    /// An assignment that the web board made: its todos
    #[arg(long, hide = true, conflicts_with = "todos")]
    session: Option<String>,
    #[command(flatten)]
    to: To,
}

/// Who gets todos.
#[derive(Args)]
pub struct To {
    /// Agent to start, or `print` to only print the prompt
    #[arg(long, value_name = "AGENT", value_parser = recipients())]
    to: Recipient,
    /// Arguments for the agent
    #[arg(last = true, value_name = "ARGUMENT")]
    more: Vec<OsString>,
}

impl AssignArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let open = project.open_named(&self.todos)?;
        if let Some(session) = self.session {
            let key = SessionKey::new(session, None);
            let todos = open.engine.assigned_todos(&key)?.unwrap_or_default();
            return hand_out_as(&open, &key, &todos, &self.to, |_, _| Ok(()));
        }
        let todos = self.todos.iter().map(|name| open.engine.resolve(open.plan, name));
        let todos: Vec<Uid> = todos.collect::<Result<_, _>>()?;
        hand_out(&open, &todos, &self.to, |_, _| Ok(()))
    }
}

/// Assigns todos to a new session and reports the result. `noted` is called once they are assigned.
pub fn hand_out(
    open: &OpenProject,
    todos: &[Uid],
    to: &To,
    noted: impl FnOnce(&str, &[String]) -> Result<(), Failure>,
) -> Result<VerbReply, Failure> {
    hand_out_as(open, &assignment_key(&environment::process_tag()), todos, to, noted)
}

/// Hands todos out to this session.
fn hand_out_as(
    open: &OpenProject,
    key: &SessionKey,
    todos: &[Uid],
    to: &To,
    noted: impl FnOnce(&str, &[String]) -> Result<(), Failure>,
) -> Result<VerbReply, Failure> {
    let given = open.engine.hand_out(open.plan, &open.project.actor(), &open.project.config.settings, key, todos)?;
    noted(key.session_id(), &given.ids)?;
    let Some(ended) = to.to.run(open, &given, &to.more)? else {
        let variable = environment::ASSIGNED;
        output::remark(&format!(
            "note: an agent started with {variable}={} may report on these todos only",
            key.session_id()
        ));
        let json = json!({"session": key.session_id(), "ids": given.ids, "prompt": given.prompt});
        return Ok(VerbReply::new(given.prompt, json).after_write());
    };
    let ended = keep_going(open, &given, to, ended)?;
    let part = Footprint { todos: given.todos.iter().copied().collect(), ..Footprint::default() };
    let (plan, now) = (open.engine.slice(open.plan, &part)?, open.engine.now());
    let found: Vec<&Todo> = given.todos.iter().filter_map(|uid| plan.get(*uid)).collect();
    let open_ids: Vec<&str> = found.iter().filter(|t| t.status_at(now).is_open()).map(|t| t.id.as_str()).collect();
    let mut body = Body(reply::lines(PlanReader::new(&plan, now), found.iter().copied(), open.project.layout(now)));
    body.push(match (open_ids.is_empty(), ended.success()) {
        (true, _) => format!("{} has finished", to.to.name()),
        (false, true) => format!("{} ended with {} left open", to.to.name(), open_ids.len()),
        (false, false) => format!("{} failed ({ended}) with {} left open", to.to.name(), open_ids.len()),
    });
    let json = json!({
        "session": key.session_id(), "ids": given.ids, "open": open_ids, "code": ended.code(),
        "todos": reply::records(&plan, found.iter().copied(), now), "revision": plan.row.revision,
    });
    let exit = if open_ids.is_empty() { Exit::Ok } else { Exit::Refused };
    Ok(VerbReply { exit, ..VerbReply::new(body, json).after_write() })
}
