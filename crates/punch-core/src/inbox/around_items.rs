//! Inbox items from around the plan: questions, conflicts, approvals, budgets, quiet agents, and finished work.

use super::behind::WaitStart;
use super::{
    Approval, ApprovalFact, InboxFacts, InboxFinding, InboxKind, QuestionFact, RunFact, StoppedFact, WorkerFact,
};
use crate::text::{clip, neutral, shell};
use crate::time::ago;
use crate::view::Progress;
use crate::{RunOutcome, Uid};

/// Characters of a command or a reason inside a text.
const PART: usize = 160;

pub(super) fn items(facts: &InboxFacts<'_>) -> Vec<InboxFinding> {
    let mut out: Vec<InboxFinding> = facts.questions.iter().map(|question| asked(facts, question)).collect();
    out.extend(facts.file_conflicts.iter().map(|conflict| {
        let action = facts.command("plan status", &[]);
        about(facts, InboxKind::Conflict, conflict.todo, &conflict.text, conflict.since, action)
    }));
    out.extend(facts.approvals.iter().filter_map(|approval| unapproved(facts, approval)));
    out.extend(facts.runs.iter().filter_map(|run| spent(facts, run)));
    out.extend(facts.workers.iter().filter_map(|worker| quiet(facts, worker)));
    out.extend(facts.stopped.iter().filter_map(|agent| stopped(facts, agent)));
    out.extend(facts.runs.iter().filter_map(|run| ended(facts, run)));
    out.extend(finished(facts));
    out
}

fn about(
    facts: &InboxFacts<'_>,
    kind: InboxKind,
    todo: Option<Uid>,
    text: &str,
    since: i64,
    action: String,
) -> InboxFinding {
    match todo.and_then(|uid| facts.plan.get(uid)) {
        Some(todo) => InboxFinding::about(kind, todo, text, since, action),
        None => InboxFinding::apart(kind, text.to_owned(), since, action),
    }
}

/// The command that shows a run.
fn show(facts: &InboxFacts<'_>, run: u64) -> String {
    facts.command(&format!("run show {run}"), &[])
}

fn asked(facts: &InboxFacts<'_>, question: &QuestionFact) -> InboxFinding {
    let text = format!("{} asks: {}", clip(&question.agent, 40), question.text.trim());
    let action = match (question.run, question.todo.and_then(|uid| facts.plan.get(uid))) {
        // No verb answers a question: the board does, if it is the user who looks at it.
        (Some(_), _) => facts.command("watch", &[]),
        (None, Some(todo)) => facts.command("show", &[&todo.id]),
        (None, None) => facts.command("status", &[]),
    };
    let found = about(facts, InboxKind::Question, question.todo, &text, question.since, action);
    InboxFinding { question: question.id, ..found }
}

/// An approval that is missing; nothing for a check that no todo needs any more.
fn unapproved(facts: &InboxFacts<'_>, approval: &ApprovalFact) -> Option<InboxFinding> {
    let kind = InboxKind::Approval;
    match &approval.what {
        Approval::Setting(key, value) => {
            let text = format!("the setting `{key}` of this project is not approved: {}", clip(value, PART));
            // A setting belongs to no plan.
            let action = format!("punch config set {} {}", shell(key), neutral(&shell(value)));
            Some(InboxFinding::apart(kind, text, approval.since, action))
        }
        Approval::Check(command) => {
            let first = facts.plan.get(*approval.todos.first()?)?;
            let others = match approval.todos.len() - 1 {
                0 => String::new(),
                1 => " (1 more todo uses it)".to_owned(),
                more => format!(" ({more} more todos use it)"),
            };
            let text = format!("its check is not approved{others}: {}", clip(command, PART));
            let action = facts.command("verify", &["--allow", &first.id]);
            let start = WaitStart::Waiting(approval.todos.clone());
            Some(InboxFinding { start, ..InboxFinding::about(kind, first, &text, approval.since, action) })
        }
    }
}

/// A run that works and has spent most of a limit: the one that it is closest to.
fn spent(facts: &InboxFacts<'_>, run: &RunFact) -> Option<InboxFinding> {
    if run.ended_at.is_some() {
        return None;
    }
    let most = run.spending.iter().filter(|spending| spending.is_most());
    let most = most.max_by_key(|spending| u128::from(spending.used) * 1_000_000 / u128::from(spending.limit.max(1)))?;
    let percent = u128::from(most.used) * 100 / u128::from(most.limit.max(1));
    let text = format!("run {} has used {percent}% of its {}: {}", run.number, most.what, most.text);
    Some(InboxFinding::apart(InboxKind::Budget, text, most.since, show(facts, run.number)))
}

fn quiet(facts: &InboxFacts<'_>, worker: &WorkerFact) -> Option<InboxFinding> {
    let silence = facts.now.saturating_sub(worker.last_sign);
    // An agent that asks waits for the user, and has an item for that.
    let asks = worker.todo.is_some() && facts.questions.iter().any(|question| question.todo == worker.todo);
    if silence <= facts.quiet_after || asks {
        return None;
    }
    let todo = worker.todo.and_then(|uid| facts.plan.get(uid));
    let text = format!("no activity from {}; last seen {}", clip(&worker.name, 60), ago(silence));
    let action = match (worker.run, todo) {
        (Some(run), _) => show(facts, run),
        (None, Some(todo)) => facts.command("show", &[&todo.id]),
        (None, None) => facts.command("status", &[]),
    };
    Some(about(facts, InboxKind::Quiet, worker.todo, &text, worker.last_sign, action))
}

/// An agent that stopped while work was left, after the user last looked. Looking at what is new ends the item.
fn stopped(facts: &InboxFacts<'_>, agent: &StoppedFact) -> Option<InboxFinding> {
    if facts.plan.row.counts.open() == 0 || facts.seen.is_some_and(|seen| agent.at <= seen.at) {
        return None;
    }
    let text = format!("{} stopped with work left: {}", clip(&agent.name, 60), clip(&agent.because, PART));
    Some(InboxFinding::apart(InboxKind::Quiet, text, agent.at, facts.command("keep-going why", &[])))
}

/// A run that ended after the user last looked, or whose work is not merged. Looking at what is new ends the item, but not
/// while there is something to merge.
fn ended(facts: &InboxFacts<'_>, run: &RunFact) -> Option<InboxFinding> {
    let (ended_at, outcome) = (run.ended_at?, run.outcome?);
    let text = format!("run {} {}", run.number, outcome.words());
    if let Some(branch) = run.unmerged.as_ref().map(|branch| clip(branch, PART)) {
        let text = format!("{text}; its work on `{branch}` is not merged");
        return Some(InboxFinding::apart(InboxKind::Finished, text, ended_at, format!("git merge {branch}")));
    }
    if facts.seen.is_some_and(|seen| run.revision <= seen.revision && ended_at <= seen.at) {
        return None;
    }
    // A run that is done says there which branch to merge, and that is already merged or gone.
    let because = run.because.as_deref().filter(|_| outcome != RunOutcome::Done);
    let text = because.map_or(text.clone(), |why| format!("{text} ({})", clip(why, PART)));
    let (kind, action) = match outcome {
        // Where nothing is open, there is nothing to resume.
        RunOutcome::Interrupted if facts.plan.row.counts.open() == 0 => return None,
        RunOutcome::Interrupted => (InboxKind::Stuck, "run"),
        RunOutcome::Budget => (InboxKind::Budget, "log --new"),
        RunOutcome::Stalled => (InboxKind::Stuck, "log --new"),
        RunOutcome::Done => (InboxKind::Finished, "log --new"),
    };
    Some(InboxFinding::apart(kind, text, ended_at, facts.command(action, &[])))
}

/// The plan, if nothing in it is open or failed, and others changed it after the user last looked.
fn finished(facts: &InboxFacts<'_>) -> Option<InboxFinding> {
    let row = &facts.plan.row;
    // A failed todo is a separate item, and the plan is not finished until the user has decided about it.
    let is_finished = row.counts.open() == 0 && row.counts.failed == 0 && row.counts.completed > 0;
    if !is_finished || facts.last_by_user || facts.seen.is_some_and(|seen| row.revision <= seen.revision) {
        return None;
    }
    let Progress { completed, total } = Progress::of_counts(&row.counts);
    let text = format!("the plan `{}` is finished: {completed} of {total} done", clip(facts.plan_name, 60));
    Some(InboxFinding::apart(InboxKind::Finished, text, row.last_time, facts.command("log --new", &[])))
}
