//! `punch list`: todos in list order.

use clap::Args;
use punch_core::{Dep, Plan, Refusal, Status, Todo, text};
use punch_store::{ListMark, Snapshot, Which};
use serde_json::json;

use crate::failure::Failure;
use crate::project::Project;
use crate::reply::{self, Reply};

const EXAMPLES: &str = "\
Examples:
  punch list
  punch list --all --json
  punch list --limit 20 --phase Docs";

/// Rows read at once.
const PAGE: usize = 10_000;

/// The arguments of `punch list`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct List {
    /// Closed todos too
    #[arg(long)]
    all: bool,
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Only this phase
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,
}

impl List {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let Some(open) = project.read()?.plan() else { return Ok(empty()) };
        let now = open.engine.now();
        let (plan, uids) = open.engine.read(open.plan, |snapshot| self.load(snapshot))?;
        let todos: Vec<&Todo> = uids.iter().filter_map(|uid| plan.get(*uid)).collect();
        if open.project.global.json {
            let records = reply::records(&plan, todos.iter().copied(), now);
            return Ok(Reply::new("", json!({"todos": records})));
        }
        if todos.is_empty() && plan.row.counts.total() > 0 {
            return Ok(Reply::new("Nothing is open; `punch list --all` shows what is closed.", json!({})));
        }
        if todos.is_empty() {
            return Ok(empty());
        }
        Ok(Reply::new(lines(&plan, &todos, now), json!({})))
    }

    fn load(&self, snapshot: &dyn Snapshot) -> Result<(Plan, Vec<punch_core::Uid>), punch_engine::EngineError> {
        let row = snapshot.row()?;
        let phase = match &self.phase {
            None => None,
            Some(name) => match row.phases.iter().find(|p| p.name == *name) {
                Some(phase) => Some(phase.uid),
                None => return Err(Refusal::UnknownPhase { name: name.clone() }.into()),
            },
        };
        let which = if self.all { Which::Live } else { Which::Open };
        let limit = self.limit.unwrap_or(usize::MAX);
        let mut plan = Plan::slice(row);
        let (mut uids, mut after) = (Vec::new(), None);
        while uids.len() < limit {
            let page = snapshot.list(which, after, limit.min(PAGE))?;
            let Some(last) = page.last() else { break };
            after = Some(ListMark::of(last));
            let room = limit - uids.len();
            for todo in page.into_iter().filter(|t| phase.is_none() || t.phase == phase).take(room) {
                uids.push(todo.uid);
                plan.put(todo);
            }
        }
        reply::load_names(snapshot, &mut plan, &uids)?;
        Ok((plan, uids))
    }
}

/// An empty plan.
pub fn empty() -> Reply {
    Reply::new("No todos. `punch add` makes one.", json!({"todos": []}))
}

/// One line a todo, with what it waits for.
pub fn lines(plan: &Plan, todos: &[&Todo], now: i64) -> String {
    let line = |todo: &&Todo| format!("{}{}", reply::line(todo, now), details(plan, todo, now));
    todos.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What a reader wants to know beside the content.
fn details(plan: &Plan, todo: &Todo, now: i64) -> String {
    let mut parts = Vec::new();
    if todo.priority != 3 {
        parts.push(format!("P{}", todo.priority));
    }
    if let Some(owner) = todo.owner.as_deref().filter(|_| todo.status_at(now) == Status::InProgress) {
        parts.push(format!("@{}", text::neutral(owner)));
    } else if todo.is_claimed_by_user() {
        parts.push("yours".to_owned());
    }
    parts.extend(reply::doubt(todo).map(str::to_owned));
    if let Some(hold) = todo.hold_at(now) {
        parts.push(format!("on hold: {}", text::clip(&text::neutral(&hold.reason), 60)));
    }
    if todo.derived.unmet > 0 && todo.status.is_open() {
        let unmet = todo.depends_on.iter().filter_map(|dep| match dep {
            Dep::Dangling(id) => Some(id.as_str()),
            Dep::On(to) | Dep::Suspended(to) => {
                plan.get(*to).filter(|t| t.status != Status::Completed).map(|t| t.id.as_str())
            }
        });
        let names: Vec<String> = unmet.take(4).map(|id| text::neutral(id).into_owned()).collect();
        let more = (todo.derived.unmet as usize).saturating_sub(names.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        parts.push(format!("waits for {}{more}", names.join(", ")));
    }
    if parts.is_empty() { String::new() } else { format!("  ({})", parts.join("; ")) }
}
