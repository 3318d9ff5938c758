//! `punch unhold`: take todos off hold. `punch release` is the older name, which gives back claims as well.

use clap::Args;
use punch_core::{Footprint, Op, Ref, Status, Todo};

use crate::failure::Failure;
use crate::named_todos::act;
use crate::project::Project;
use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch unhold T-3
  punch unhold T-3 --note 'Use SQLite'   # answers what it was waiting for";

/// The arguments of `punch unhold`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Unhold {
    /// Ids, or parts of the content
    #[arg(required = true, value_name = "TODO")]
    todos: Vec<String>,
    /// Add a note, such as the answer to a question
    #[arg(long, short = 'm', value_name = "TEXT")]
    note: Option<String>,
}

impl Unhold {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let note = |todo: &Ref| self.note.clone().map(|text| Op::Note(todo.clone(), text));
        let ops = |todo: &Ref| note(todo).into_iter().chain([Op::Release(todo.clone())]);
        act(project, &self.todos, &|refs| refs.iter().flat_map(ops).collect())
    }
}

const RELEASE: &str = "\
Examples:
  punch release T-3      # `unhold` for a todo on hold, `unclaim` for a claimed one";

/// The arguments of `punch release`.
#[derive(Args)]
#[command(after_help = RELEASE)]
pub struct Release {
    /// Ids, or parts of the content
    #[arg(required = true, value_name = "TODO")]
    todos: Vec<String>,
}

impl Release {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
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
        Ok(crate::reply::changed(&changed, &uids, &open.project))
    }
}
