//! `punch done`: finish todos.

use clap::Args;
use punch_core::view::todo_detail::last_check;
use punch_core::{Evidence, MissingEvidence, Op, Policy, Ref, Todo, text};
use punch_engine::{WriteRequest, command_line};

use crate::failure::Failure;
use crate::project::Project;
use crate::reply::{self, VerbReply};

const EXAMPLES: &str = "\
Examples:
  punch done T-3
  punch done T-3 T-4 --evidence 'cargo test passes'
  punch done T-7 --owner worker-2 --fence 12     # a claimed todo";

/// The arguments of `punch done`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct DoneArgs {
    /// Ids, or parts of their texts
    #[arg(required = true, value_name = "TODO")]
    todos: Vec<String>,
    /// Evidence that it is done, for example 'cargo test passes'. Required for a todo without a check if
    /// `policy.verify` is "command"
    #[arg(long, value_name = "TEXT")]
    evidence: Option<String>,
    /// The fence of the claim; refused if someone else has claimed it since
    #[arg(long, value_name = "N")]
    fence: Option<u64>,
}

impl DoneArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let evidence = self.evidence.map(|text| Evidence { text: Some(text), ..Evidence::default() });
        let done = |r: &Ref| Op::Done { target: r.clone(), evidence: evidence.clone(), fence: self.fence };
        let open = project.open_named(&self.todos)?;
        let commit = open.project.tree().commit();
        let request = open.project.request();
        // The user's word overrules a failing check, an agent's does not.
        let overrules = evidence.is_some() && request.actor.is_user();
        let preset: fn(Policy) -> Policy = match overrules {
            true => |policy| Policy { missing_evidence: MissingEvidence::Refuse, ..policy.for_user() },
            false => |policy| Policy { missing_evidence: MissingEvidence::Refuse, ..policy },
        };
        let request = WriteRequest { commit: commit.as_deref(), preset, ..request };
        let ops = |refs: &[Ref]| refs.iter().map(done).collect();
        // If the plan requires proof, the checks run between the first refusal and the last try.
        let (changed, uids) = open.engine.proving(open.plan, &open.project.checker(), |proofs| {
            let request = WriteRequest { proofs: Some(proofs), ..request.clone() };
            open.engine.submit_named(open.plan, &request, &self.todos, &ops)
        })?;
        let mut reply = reply::changed(&changed, &uids, &open.project).or_unchanged("already done");
        let todos = uids.iter().filter_map(|uid| changed.plan.get(*uid));
        for check in todos.filter_map(|todo| last_check(todo, changed.now)).take(10) {
            reply.body.push(format!("check: {check}"));
        }
        for todo in uids.iter().filter_map(|uid| changed.plan.get(*uid)).take(10) {
            if let Some(line) = unchecked(todo, reply.wrote) {
                reply.body.push(line);
            }
        }
        if let Some(line) = open.check_plan()? {
            reply.body.push(line);
        }
        Ok(reply)
    }
}

/// What to type about a todo whose check says nothing for it: it never ran, or failed before the todo was done.
fn unchecked(todo: &Todo, wrote: bool) -> Option<String> {
    let command = todo.verify.as_ref().map(command_line)?;
    let (id, command) = (text::shell(&todo.id), text::clip(&text::neutral(&command), 120).into_owned());
    match todo.last_check() {
        None => Some(format!("note: its check `{command}` did not run; `punch verify {id}` runs it")),
        Some(check) if !wrote && !check.passed() => Some(format!("`punch verify {id}` checks it again")),
        Some(_) => None,
    }
}
