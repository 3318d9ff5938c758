//! `punch why`: what a todo waits for, or what everything waits for.

use clap::Args;
use punch_core::reason::{self, Cause, Conflict, Reader, Reason};
use punch_core::view::Layout;
use punch_core::{Plan, Uid};
use punch_engine::EngineError;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::project::{Project, ProjectPlan};
use crate::reply::{self, Body, Reply};

const EXAMPLES: &str = "\
Examples:
  punch why T-3              # what it waits for, and where that begins
  punch why                  # why nothing, or nothing else, can be started
  punch why T-3 --json       # standing, waitsFor, roots, unblocks, conflicts";

/// The arguments of `punch why`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Why {
    /// An id, or a part of the content; without it the whole plan is explained
    #[arg(value_name = "TODO")]
    todo: Option<String>,
}

impl Why {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let open = match (project.read()?, &self.todo) {
            (ProjectPlan::Plan(open), _) => open,
            (ProjectPlan::Empty(project), Some(given)) => project.open_named(std::slice::from_ref(given))?,
            (ProjectPlan::Empty(_), None) => return Ok(all(&Plan::new(), 0)),
        };
        let now = open.engine.now();
        let uid = self.todo.as_deref().map(|given| open.engine.resolve(open.plan, given)).transpose()?;
        let plan = open.engine.whole(open.plan)?;
        match uid {
            None => Ok(all(&plan, now)),
            Some(uid) => one(&plan, uid, open.project.layout(now)).ok_or_else(|| {
                let given = self.todo.unwrap_or_default();
                EngineError::NotFound { given, near: Vec::new() }.into()
            }),
        }
    }
}

fn one(plan: &Plan, uid: Uid, layout: Layout) -> Option<Reply> {
    let now = layout.now;
    let todo = plan.get(uid)?;
    let (why, unblocks) = (reason::why(plan, uid, now)?, reason::unblocks(plan, uid, now)?);
    let conflicts = reason::conflicts_of(plan, uid, now);
    let mut body = Body(reply::lines(Reader::new(plan, layout.now), [todo], layout));
    let mut lines = vec![why.text()];
    if todo.status.is_open() {
        lines.push(unblocks.text());
    }
    lines.push(conflicts.text());
    lines.retain(|line| !line.is_empty());
    let json = json!({
        "todo": reply::record(plan, todo, now),
        "standing": why.standing(),
        "shown": why.shown,
        "waitsFor": blockers(&why.waits_for.list),
        "roots": blockers(&why.roots.list),
        "unblocks": unblocks.ready.list,
        "conflicts": pairs(&conflicts.pairs.list),
        "totals": {
            "waitsFor": why.waits_for.total,
            "roots": why.roots.total,
            "unblocks": unblocks.ready.total,
            "waiting": unblocks.waiting,
            "conflicts": conflicts.pairs.total,
        },
    });
    body.push(lines.join("\n"));
    Some(Reply::new(body, json))
}

fn all(plan: &Plan, now: i64) -> Reply {
    let still = reason::standstill(plan, now);
    let conflicts = reason::conflicts(plan, now);
    let mut lines = vec![still.text(), conflicts.text()];
    lines.retain(|line| !line.is_empty());
    let root = |root: &reason::StandstillRoot| {
        let mut out = blocker(&root.reason);
        out["waiting"] = json!(root.waiting);
        out
    };
    let json = json!({
        "todo": null,
        "standing": still.standing(),
        "waitsFor": [],
        "roots": still.roots.list.iter().map(root).collect::<Vec<_>>(),
        "unblocks": [],
        "conflicts": pairs(&conflicts.pairs.list),
        "open": still.open,
        "ready": still.ready.list,
        "running": still.running.list,
        "totals": {
            "roots": still.roots.total,
            "ready": still.ready.total,
            "running": still.running.total,
            "conflicts": conflicts.pairs.total,
        },
    });
    Reply::new(lines.join("\n"), json)
}

fn blockers(list: &[Reason]) -> Vec<Value> {
    list.iter().map(blocker).collect()
}

fn blocker(blocker: &Reason) -> Value {
    json!({
        "id": blocker.id,
        "status": blocker.status.map(punch_core::Status::name),
        "cause": blocker.cause.name(),
        "reason": blocker.about.as_ref().filter(|_| !matches!(blocker.cause, Cause::Dropped | Cause::Elsewhere)),
        "owner": blocker.about.as_ref().filter(|_| blocker.cause == Cause::Elsewhere),
        "until": blocker.until,
        "neededBy": blocker.needed_by,
    })
}

fn pairs(list: &[Conflict]) -> Vec<Value> {
    let pair = |conflict: &Conflict| {
        let over = if conflict.clash == reason::Clash::Content { "content" } else { "files" };
        json!({"first": conflict.ids.0, "second": conflict.ids.1, "over": over, "text": conflict.text()})
    };
    list.iter().map(pair).collect()
}
