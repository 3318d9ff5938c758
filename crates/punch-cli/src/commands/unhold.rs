//! `punch unhold`: take todos off hold. `punch release` is the older name, which gives back claims as well.

use clap::Args;
use punch_core::{ApplyStop, Footprint, Op, Plan, Ref, Status, Todo, text};

use crate::failure::Failure;
use crate::named_todos::act;
use crate::project::Project;
use crate::reply::{self, VerbReply};

const EXAMPLES: &str = "\
Examples:
  punch unhold T-3
  punch unhold T-3 --note 'Use SQLite'   # answers what it was waiting for";

/// The arguments of `punch unhold`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct UnholdArgs {
    /// Ids, or parts of their texts
    #[arg(required = true, value_name = "TODO")]
    todos: Vec<String>,
    /// Add a note, such as the answer to a question; it also says what the todo was waiting for
    #[arg(long, short = 'm', value_name = "TEXT")]
    note: Option<String>,
}

impl UnholdArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let reply = match self.note {
            None => act(project, &self.todos, &|refs| refs.iter().cloned().map(Op::Release).collect()),
            Some(answer) => answered(project, &self.todos, &answer),
        };
        Ok(reply?.or_unchanged("not on hold"))
    }
}

/// Ends holds with an answer. The question is stored with it, because nothing else records it once the hold is over.
fn answered(project: Project, todos: &[String], answer: &str) -> Result<VerbReply, Failure> {
    let open = project.open_named(todos)?;
    let mut uids = Vec::with_capacity(todos.len());
    for name in todos {
        uids.push(open.engine.resolve(open.plan, name)?);
    }
    let first = Footprint { todos: uids.iter().copied().collect(), ..Footprint::default() };
    let (plan, now) = (open.engine.slice(open.plan, &first)?, open.engine.now());
    let free = uids.iter().filter_map(|uid| plan.get(*uid)).filter(|todo| todo.hold_at(now).is_none());
    let free: Vec<String> = free.map(|todo| text::neutral(&todo.id).into_owned()).collect();
    let mut ask = |plan: &Plan, now| -> Result<Vec<Op>, ApplyStop> {
        let mut ops = Vec::with_capacity(2 * uids.len());
        for uid in &uids {
            let hold = plan.need(*uid)?.hold_at(now);
            let note = hold.map_or_else(|| answer.to_owned(), |hold| hold.answered(answer));
            ops.extend([Op::Note(Ref::Uid(*uid), note), Op::Release(Ref::Uid(*uid))]);
        }
        Ok(ops)
    };
    let changed = open.engine.submit_with(open.plan, &open.project.request(), &first, &mut ask)?;
    let mut reply = reply::changed(&changed, &uids, &open.project);
    // An answer to a todo that asked nothing is often a mistyped id.
    for id in &free {
        reply.body.push(format!("note: `{id}` was not on hold; the note was added anyway"));
    }
    if !free.is_empty() {
        reply.body.push("`punch inbox` shows what is waiting for you, and `punch undo` removes the note");
    }
    Ok(reply)
}

const RELEASE: &str = "\
Examples:
  punch release T-3      # `unhold` for a todo on hold, `unclaim` for a claimed one";

/// The arguments of `punch release`.
#[derive(Args)]
#[command(after_help = RELEASE)]
pub struct ReleaseArgs {
    /// Ids, or parts of their texts
    #[arg(required = true, value_name = "TODO")]
    todos: Vec<String>,
}

impl ReleaseArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let open = project.open_named(&self.todos)?;
        let mut uids = Vec::with_capacity(self.todos.len());
        for name in &self.todos {
            uids.push(open.engine.resolve(open.plan, name)?);
        }
        let part = Footprint { todos: uids.iter().copied().collect(), ..Footprint::default() };
        let (plan, now) = (open.engine.slice(open.plan, &part)?, open.engine.now());
        let claimed = |todo: &Todo| todo.status_at(now) == Status::InProgress && todo.hold_at(now).is_none();
        let op = |uid: &punch_core::Uid| match plan.get(*uid).is_some_and(claimed) {
            true => Op::Unclaim(Ref::Uid(*uid)),
            false => Op::Release(Ref::Uid(*uid)),
        };
        let ops: Vec<Op> = uids.iter().map(op).collect();
        let changed = open.engine.submit(open.plan, &open.project.request(), &ops)?;
        Ok(reply::changed(&changed, &uids, &open.project))
    }
}
