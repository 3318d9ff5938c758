//! Restores a checkpoint: only the plan, and only those of its completions whose work is still in git (rule 32).

use std::collections::{BTreeMap, BTreeSet};

use punch_core::{Dep, Footprint, Op, Plan, Ref, Status, Todo, TodoProgress, Uid, text};
use punch_store::PlanId;
use serde::Serialize;

use super::read::find;
use super::save::keep;
use super::{CheckpointError, CheckpointReason, Code, SavedCheckpoint, Saving};
use crate::git::CommitVerdict;
use crate::submit::apply_to_slice;
use crate::{Engine, EngineError, PlanChange, WriteRequest};

/// The options of a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restoring {
    /// Although the code is elsewhere.
    pub force: bool,
    /// Reopen completions that git does not vouch for; else they are marked stale.
    pub reopen: bool,
}

/// What happened to a todo that was completed at the checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RestoredTodo {
    /// The id of the todo.
    pub id: String,
    /// The verdict from git.
    pub verdict: CommitVerdict,
    /// The commit that its completion was recorded with.
    pub commit: Option<String>,
    /// The commit is still there, but the files of the todo have lost its work.
    #[serde(rename = "filesLost", skip_serializing_if = "std::ops::Not::not")]
    pub files_lost: bool,
}

/// The result of a restore.
#[derive(Debug)]
pub struct RestoreResult {
    /// The checkpoint.
    pub saved: SavedCheckpoint,
    /// What was completed then, in list order.
    pub judged: Vec<RestoredTodo>,
    /// Todos that are open again, in list order: finished since, or lost.
    pub reopened: Vec<String>,
    /// Todos of the checkpoint that are archived now, and stay so.
    pub gone: Vec<Uid>,
    /// Todos that came later, and stay as they are.
    pub newer: Vec<String>,
    /// The copy of the state before; none if nothing had to change.
    pub safety: Option<String>,
    /// The todo to continue with.
    pub next: Option<String>,
    /// The write.
    pub changed: PlanChange,
}

impl Engine {
    /// Puts the work on a plan back to a checkpoint, in one transaction. The worktree is not touched.
    pub fn restore(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        code: &Code,
        id: &str,
        how: Restoring,
    ) -> Result<RestoreResult, EngineError> {
        let saved = self.read(plan, |snapshot| find(snapshot, id))?;
        if !how.force {
            in_place(&saved, code)?;
        }
        let whole = self.whole(plan)?;
        let (commits, todos) = (commits(&whole, &saved), completed(&whole, &saved).map(|(todo, _)| todo.uid).collect());
        let verdicts = code.git.as_ref().map(|git| git.judge(&commits)).unwrap_or_default();
        let lost = match &code.git {
            Some(git) => self.lost_files(plan, git, &todos, saved.at)?,
            None => BTreeSet::new(),
        };
        self.write(plan, request.durability, |tx, now| {
            let mut before = Plan::slice(tx.row()?);
            tx.load(&Footprint::everything(), &mut before)?;
            let judged = judge(&before, &saved, &verdicts, &lost);
            let targets = targets(&before, &saved, &judged, how.reopen);
            let ops = ops(&targets);
            let changed = apply_to_slice(tx, now, request, before.clone(), &mut |_, _| Ok(ops.clone()))?;
            let safety = match changed.outcome.events.is_empty() {
                true => None,
                false => {
                    let notes = format!("before restoring {}", saved.id);
                    let saving = Saving { why: CheckpointReason::Safety, by: request.actor.by(), notes: Some(&notes) };
                    Some(keep(tx, &before, now, code, &saving)?.id)
                }
            };
            Ok(told(&saved, &before, judged, safety, changed))
        })
    }
}

/// The code is where it was, or further along on the same branch.
fn in_place(saved: &SavedCheckpoint, code: &Code) -> Result<(), CheckpointError> {
    let elsewhere = |what: String, back| Err(CheckpointError::Elsewhere { id: saved.id.clone(), what, back });
    let Some(then) = &saved.git else { return Ok(()) };
    let (Some(now), Some(git)) = (&code.state, &code.git) else {
        return elsewhere("this folder is not in a git repository".into(), None);
    };
    if then.branch != now.branch {
        let name = |branch: &Option<String>| branch.clone().unwrap_or_else(|| "a detached head".into());
        let what = format!("it was made on {}, but you are on {}", name(&then.branch), name(&now.branch));
        let detached = then.commit.as_ref().map(|commit| format!("git switch --detach {commit}"));
        let back = then.branch.as_ref().map(|branch| format!("git switch {}", text::shell(branch)));
        return elsewhere(what, back.or(detached));
    }
    match &then.commit {
        Some(commit) if now.commit.as_ref() != Some(commit) => {
            let behind = git.judge(&BTreeSet::from([commit.clone()]));
            if behind.get(commit) == Some(&CommitVerdict::Valid) {
                return Ok(());
            }
            let commit = commit.get(..12).unwrap_or(commit);
            elsewhere(format!("its commit {commit} is not in the history of HEAD"), None)
        }
        _ => Ok(()),
    }
}

/// The commit with which a completion was recorded, as it was known at the checkpoint.
fn commit_of(todo: &Todo, saved: &SavedCheckpoint) -> Option<String> {
    let known = todo.evidence.iter().rev().filter(|evidence| evidence.at <= saved.at && !evidence.is_failed_check());
    known.into_iter().find_map(|evidence| evidence.commit.clone())
}

fn completed<'a>(whole: &'a Plan, saved: &'a SavedCheckpoint) -> impl Iterator<Item = (&'a Todo, &'a TodoProgress)> {
    let live = saved.work.iter().filter_map(|(uid, work)| Some((whole.get(*uid).filter(|todo| todo.is_live())?, work)));
    live.filter(|(_, work)| work.status == Status::Completed)
}

fn commits(whole: &Plan, saved: &SavedCheckpoint) -> BTreeSet<String> {
    completed(whole, saved).filter_map(|(todo, _)| commit_of(todo, saved)).collect()
}

fn judge(
    whole: &Plan,
    saved: &SavedCheckpoint,
    verdicts: &BTreeMap<String, CommitVerdict>,
    lost: &BTreeSet<Uid>,
) -> BTreeMap<Uid, RestoredTodo> {
    let one = |(todo, _): (&Todo, &TodoProgress)| {
        let commit = commit_of(todo, saved);
        let verdict =
            commit.as_ref().and_then(|commit| verdicts.get(commit)).copied().unwrap_or(CommitVerdict::Unknown);
        // A commit may be there, and what it brought reverted since.
        let files_lost = verdict != CommitVerdict::Stale && lost.contains(&todo.uid);
        let verdict = if files_lost { CommitVerdict::Stale } else { verdict };
        (todo.uid, RestoredTodo { id: todo.id.clone(), verdict, commit, files_lost })
    };
    completed(whole, saved).map(one).collect()
}

/// Where every todo of the checkpoint goes.
fn targets(
    whole: &Plan,
    saved: &SavedCheckpoint,
    judged: &BTreeMap<Uid, RestoredTodo>,
    reopen: bool,
) -> BTreeMap<Uid, TodoProgress> {
    let lost = |uid: &Uid| judged.get(uid).is_some_and(|judged| judged.verdict == CommitVerdict::Stale);
    let live = saved.work.iter().filter(|(uid, _)| whole.get(*uid).is_some_and(Todo::is_live));
    let one = |(uid, work): &(Uid, TodoProgress)| {
        let mut work = work.clone();
        if lost(uid) && reopen {
            return (*uid, TodoProgress::default());
        }
        work.flags.stale |= lost(uid);
        // What was built on something that is lost says so, whatever the order in which they are put back.
        let deps = whole.get(*uid).into_iter().flat_map(|todo| todo.depends_on.iter()).filter_map(Dep::target);
        if work.status == Status::Completed && reopen && deps.into_iter().any(|dep| lost(&dep)) {
            work.flags.stale_dependency = true;
        }
        (*uid, work)
    };
    live.map(one).collect()
}

/// Every todo twice: what one changes marks those that depend on it, and the second time sets their marks right.
fn ops(targets: &BTreeMap<Uid, TodoProgress>) -> Vec<Op> {
    let once =
        || targets.iter().map(|(uid, work)| Op::Restore { target: Ref::Uid(*uid), work: Box::new(work.clone()) });
    once().chain(once()).collect()
}

fn told(
    saved: &SavedCheckpoint,
    before: &Plan,
    mut judged: BTreeMap<Uid, RestoredTodo>,
    safety: Option<String>,
    changed: PlanChange,
) -> RestoreResult {
    let known: BTreeSet<Uid> = saved.work.iter().map(|(uid, _)| *uid).collect();
    let after = changed.plan.live();
    let was_closed = |todo: &&&Todo| before.get(todo.uid).is_some_and(|old| !old.status.is_open());
    let open = |todo: &&&Todo| todo.status.is_open();
    let reopened = after.iter().filter(open).filter(was_closed).map(|todo| todo.id.clone()).collect();
    let now = changed.now;
    let resumes =
        |todo: &&&Todo| todo.status_at(now) == Status::InProgress || (todo.flags.resume && todo.is_ready(now));
    let first = after.iter().find(resumes).or_else(|| after.iter().find(|todo| todo.is_ready(now)));
    RestoreResult {
        saved: saved.clone(),
        reopened,
        gone: known.iter().copied().filter(|uid| !before.get(*uid).is_some_and(Todo::is_live)).collect(),
        newer: after.iter().filter(|todo| !known.contains(&todo.uid)).map(|todo| todo.id.clone()).collect(),
        next: first.map(|todo| todo.id.clone()),
        judged: after.iter().filter_map(|todo| judged.remove(&todo.uid)).collect(),
        safety,
        changed,
    }
}
