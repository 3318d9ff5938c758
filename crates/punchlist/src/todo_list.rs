//! The todo list as a user interface shows it.

use std::collections::BTreeMap;

use punch_core::view::Progress;
use punch_core::{Proof, Record};
use serde::{Deserialize, Serialize};

use crate::{Error, Session};

/// All todos of a plan at one moment, for a UI.
///
/// ```
/// # use punchlist::{NewTodo, Op, Options, Session};
/// # fn main() -> Result<(), punchlist::Error> {
/// let session = Session::in_memory(Options::new("my-agent"))?;
/// session.apply(&[Op::add("Design"), Op::add(NewTodo::new("Build").active_form("Building"))])?;
/// session.apply(&[Op::done("T-1"), Op::start("T-2")])?;
/// let list = session.list()?;
/// for todo in &list.todos {
///     println!("{:11} {}", todo.status.name(), todo.content);
/// }
/// assert_eq!(list.in_progress().next().unwrap().active_form.as_deref(), Some("Building"));
/// assert_eq!((list.progress.completed, list.progress.total, list.percent()), (1, 2, 50));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TodoList {
    /// Every todo that is not archived, in list order.
    pub todos: Vec<Record>,
    /// How far the plan is.
    pub progress: Progress,
    /// The proof of completed todos, by id. Todos that were neither watched nor required to have proof are not in it.
    pub proofs: BTreeMap<String, Proof>,
    /// The revision that this is.
    pub revision: u64,
}

impl TodoList {
    /// What is being worked on.
    pub fn in_progress(&self) -> impl Iterator<Item = &Record> {
        self.todos.iter().filter(|todo| todo.status.stored() == punch_core::Status::InProgress)
    }

    /// Returns the proof of a completed todo. `None` for any other todo, and if neither your program reported checks
    /// ([`Session::tool_ran`]) nor the plan requires them.
    pub fn proof(&self, id: &str) -> Option<Proof> {
        self.proofs.get(id).copied()
    }

    /// Completed todos in percent; 0 for an empty list.
    pub fn percent(&self) -> u64 {
        self.progress.percent()
    }
}

impl Session {
    /// The list as a UI shows it.
    pub fn list(&self) -> Result<TodoList, Error> {
        let plan = self.engine.whole(self.plan)?;
        let (revision, progress) = (plan.row.revision, Progress::of_counts(&plan.row.counts));
        let todos = plan.live();
        let proofs = todos.iter().filter_map(|todo| Some((todo.id.clone(), todo.proof()?))).collect();
        Ok(TodoList { todos: crate::views::records(&plan, todos, self.engine.now()), progress, proofs, revision })
    }
}
