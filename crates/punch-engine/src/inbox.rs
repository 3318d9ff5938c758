//! The inbox of a plan: gathers facts from the store and the user's approvals, which the core turns into items. Also
//! read markers: how far a reader has looked.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::UNIX_EPOCH;

use punch_core::inbox::{
    Approval, ApprovalFact, FileConflictFact, InboxFacts, InboxItem, LimitSpending, QuestionFact, RunFact, SeenFact,
    StoppedFact, WorkerFact, inbox,
};
use punch_core::{Actor, Footprint, Plan, Status, Todo, Uid, WorkerId, is_plan_check};
use punch_store::{Durability, PlanId, QuestionFilter, ReadMarker, SeatRecord, Snapshot};
use serde_json::Value;

use crate::config::{IgnoredSetting, Settings};
use crate::git::Git;
use crate::plan_file::{PlanFileLink, link_of};
use crate::run::{RunRecord, Sum, dollars, read_run, worked_run};
use crate::{Consents, Engine, EngineError, Role, WorkTree};

/// The reader that represents the user on every surface.
pub const READER: &str = "user";

/// Questions that are shown.
const QUESTIONS: usize = 200;
/// Runs whose work may still have to be merged.
const RUNS: usize = 10;
/// Commands whose approval is looked up.
const COMMANDS: usize = 200;
/// Sessions, the latest first, in which checks are looked for whose result no agent has read.
const SESSIONS: usize = 500;
/// Sessions, the latest first, that may have stopped with work left.
const STOPPED: usize = 5;
/// Todos of a plan whose inbox is only counted: larger plans take too long for a line at the side.
const COUNTED: u64 = 2_000;

/// What the inbox depends on besides the store.
#[derive(Clone, Copy, Debug)]
pub struct InboxQuery<'a> {
    /// The reader whose read marker counts.
    pub reader: &'a str,
    /// Settings: when an agent is quiet, how long a claim lasts.
    pub settings: &'a Settings,
    /// The name of the plan in commands, where they would mean another one without it.
    pub plan_flag: Option<&'a str>,
    /// The worktree of the user with the approvals. Without it no work waits for a merge, without approvals nothing waits
    /// for one.
    pub tree: Option<&'a WorkTree>,
}

impl<'a> InboxQuery<'a> {
    /// The inbox of the user. Everything that shows it begins here, so that all of them show the same.
    pub const fn new(settings: &'a Settings, tree: Option<&'a WorkTree>) -> Self {
        Self { reader: READER, settings, plan_flag: None, tree }
    }

    fn consents(&self) -> Option<&'a Consents> {
        self.tree.and_then(|tree| tree.consents.as_ref())
    }
}

impl Engine {
    /// Returns what needs the user in a plan, in the order in which every surface shows it.
    pub fn inbox(&self, plan: PlanId, query: &InboxQuery<'_>) -> Result<Vec<InboxItem>, EngineError> {
        let now = self.now();
        self.read(plan, |snapshot| items(snapshot, query, now))
    }

    /// Returns what needs the user in a plan that the caller holds in memory and keeps up to date.
    pub fn inbox_of(&self, id: PlanId, plan: &Plan, query: &InboxQuery<'_>) -> Result<Vec<InboxItem>, EngineError> {
        let now = self.now();
        self.read(id, |snapshot| items_of(snapshot, plan, query, now))
    }

    /// Returns how many things need the user; `None` for a plan that is too large to count at the side.
    pub fn inbox_count(&self, plan: PlanId, query: &InboxQuery<'_>) -> Result<Option<usize>, EngineError> {
        let now = self.now();
        self.read(plan, |snapshot| count(snapshot, query, now))
    }

    /// Returns what needs the user; `None` for a plan that is too large to find out at the side.
    pub fn inbox_at_a_glance(
        &self,
        plan: PlanId,
        query: &InboxQuery<'_>,
    ) -> Result<Option<Vec<InboxItem>>, EngineError> {
        let now = self.now();
        self.read(plan, |snapshot| is_small(snapshot)?.then(|| items(snapshot, query, now)).transpose())
    }

    /// Returns up to where a reader has looked at a plan; `None` if it never did.
    pub fn seen(&self, plan: PlanId, reader: &str) -> Result<Option<ReadMarker>, EngineError> {
        self.read(plan, |snapshot| Ok(snapshot.read_marker(reader)?))
    }

    /// Records that a reader has looked at a plan up to a revision. A smaller revision than before makes the later ones
    /// new again.
    pub fn mark_seen(&self, plan: PlanId, reader: &str, revision: u64) -> Result<(), EngineError> {
        self.write(plan, Durability::Relaxed, |tx, now| {
            let revision = revision.min(tx.row()?.revision);
            Ok(tx.put_read_marker(&ReadMarker { reader: reader.to_owned(), revision, at: now })?)
        })
    }
}

/// How many things need the user at one moment of a plan; `None` for a plan that is too large to count at the side.
pub(crate) fn count(snapshot: &dyn Snapshot, query: &InboxQuery<'_>, now: i64) -> Result<Option<usize>, EngineError> {
    is_small(snapshot)?.then(|| items(snapshot, query, now).map(|items| items.len())).transpose()
}

fn is_small(snapshot: &dyn Snapshot) -> Result<bool, EngineError> {
    Ok(snapshot.row()?.counts.total() <= COUNTED)
}

/// The inbox at one moment of a plan.
pub(crate) fn items(snapshot: &dyn Snapshot, query: &InboxQuery<'_>, now: i64) -> Result<Vec<InboxItem>, EngineError> {
    let mut plan = Plan::slice(snapshot.row()?);
    snapshot.load(&Footprint::everything(), &mut plan)?;
    items_of(snapshot, &plan, query, now)
}

fn items_of(
    snapshot: &dyn Snapshot,
    plan: &Plan,
    query: &InboxQuery<'_>,
    now: i64,
) -> Result<Vec<InboxItem>, EngineError> {
    let seen = snapshot.read_marker(query.reader)?.map(|mark| SeenFact { revision: mark.revision, at: mark.at });
    let mut records: Vec<RunRecord> = snapshot.runs(RUNS)?.iter().map(read_run).collect();
    let unmerged = unmerged(&records, query.tree.map(|tree| tree.root.as_path()));
    let is_unmerged = |run: &RunRecord| run.body.result.as_ref().is_some_and(|branch| unmerged.contains(branch));
    let mut is_newest = true;
    records.retain(|run| std::mem::take(&mut is_newest) || is_unmerged(run));
    let facts = records.iter().map(|run| {
        let unmerged = run.body.result.clone().filter(|_| is_unmerged(run));
        Ok(RunFact { unmerged, ..run_fact(snapshot, run, now)? })
    });
    let runs = facts.collect::<Result<Vec<_>, EngineError>>()?;
    let run = records.into_iter().next();
    let mut workers = sessions(plan, query.settings.lease_ms());
    if let Some(run) = run.filter(|run| run.ended_at.is_none()) {
        workers.extend(snapshot.seats(run.id)?.iter().filter_map(|seat| seat_fact(plan, seat)));
    }
    let questions = snapshot.questions(QuestionFilter::Open, QUESTIONS)?;
    let questions: Vec<QuestionFact> = questions
        .into_iter()
        .map(|question| QuestionFact {
            id: Some(question.id),
            agent: question.agent,
            text: question.text,
            todo: question.todo,
            run: question.run,
            since: question.asked_at,
        })
        .collect();
    let fleet = crate::fleet::labels_of_fleet(snapshot, now)?;
    let idle = i64::try_from(query.settings.run_idle.value.as_millis()).unwrap_or(i64::MAX);
    let info = snapshot.info()?;
    let link = link_of(snapshot, info.id)?;
    Ok(inbox(&InboxFacts {
        plan_name: &info.name,
        plan_flag: query.plan_flag,
        questions: &questions,
        file_conflicts: &file_conflicts(plan, link.as_ref(), seen),
        approvals: &approvals(plan, query),
        runs: &runs,
        workers: &workers,
        stopped: &stopped(snapshot, plan, now)?,
        unread_failures: &unread_failures(snapshot, plan)?,
        fleet: fleet.as_deref(),
        quiet_after: idle / 2,
        seen,
        last_by_user: is_by_user(snapshot, plan.row.revision)?,
        now,
        plan,
    }))
}

/// Branches with the work of runs that the user's worktree does not have. Asks git only if a run left such a branch.
fn unmerged(runs: &[RunRecord], worktree: Option<&Path>) -> BTreeSet<String> {
    let branches: Vec<String> = runs.iter().filter_map(|run| run.body.result.clone()).collect();
    let git = worktree.filter(|_| !branches.is_empty()).and_then(|root| Git::of(root, None));
    git.map(|git| git.unmerged(&branches)).unwrap_or_default()
}

/// Returns true if the user wrote this revision.
fn is_by_user(snapshot: &dyn Snapshot, revision: u64) -> Result<bool, EngineError> {
    let user = Actor::user();
    Ok(snapshot.events_head(revision, 1)?.0.first().is_some_and(|event| event.owner.is_none() && event.by == user.by()))
}

/// Todos whose check failed after their agent had stopped: a session waits for the result, was allowed to stop, and has had
/// no message of the user since.
fn unread_failures(snapshot: &dyn Snapshot, plan: &Plan) -> Result<Vec<Uid>, EngineError> {
    let failed = |todo: &&Todo| todo.status.is_open() && !todo.flags.reported && todo.failed_check().is_some();
    let failed: Vec<Uid> = plan.live().into_iter().filter(failed).map(|todo| todo.uid).collect();
    if failed.is_empty() {
        return Ok(Vec::new());
    }
    let (id, mut out) = (snapshot.info()?.id, Vec::new());
    for session in &snapshot.sessions(Some(id), i64::MIN, SESSIONS)? {
        let state = crate::session::read(session);
        let unread = state.awaited.iter().filter(|uid| failed.contains(uid));
        let unread: Vec<Uid> = unread.copied().collect();
        if !unread.is_empty() && crate::host::stop_of(snapshot, &session.key, &state)?.is_some() {
            out.extend(unread);
        }
    }
    Ok(out)
}

/// Conversations of the last day whose agents stopped although work was left. Agents of a run have their run.
fn stopped(snapshot: &dyn Snapshot, plan: &Plan, now: i64) -> Result<Vec<StoppedFact>, EngineError> {
    if plan.row.counts.open() == 0 {
        return Ok(Vec::new());
    }
    let (id, mut out) = (snapshot.info()?.id, Vec::new());
    let recent = snapshot.sessions(Some(id), now.saturating_sub(crate::host::SILENT_MS), SESSIONS)?;
    for session in recent.iter().filter(|session| session.key.subagent().is_none()).take(STOPPED) {
        let state = crate::session::read(session);
        if state.role == Role::Worker || state.drive.interrupted {
            continue;
        }
        let stop = crate::host::stop_of(snapshot, &session.key, &state)?;
        out.extend(stop.filter(|(_, reason)| reason.gave_up()).map(|(at, reason)| StoppedFact {
            name: state.agent.unwrap_or_else(|| session.key.session_id().to_owned()),
            because: reason.text(),
            at,
        }));
    }
    Ok(out)
}

/// Conflicts with the plan file that were noticed after the user last looked. They are already resolved, but perhaps
/// not as the user wants.
fn file_conflicts(plan: &Plan, link: Option<&PlanFileLink>, seen: Option<SeenFact>) -> Vec<FileConflictFact> {
    let Some(link) = link.filter(|link| seen.is_none_or(|seen| link.at > seen.at)) else { return Vec::new() };
    let fact = |conflict: &punch_core::plan_file::MergeConflict| FileConflictFact {
        text: conflict.text(),
        todo: plan.by_id(&conflict.id).map(|todo| todo.uid),
        since: link.at,
    };
    link.conflicts.iter().map(fact).collect()
}

/// Checks of open todos and settings of the project that the user has not approved.
fn approvals(plan: &Plan, query: &InboxQuery<'_>) -> Vec<ApprovalFact> {
    let setting = |ignored: &IgnoredSetting| {
        let what = Approval::Setting(ignored.key.clone(), ignored.typed());
        Some(ApprovalFact { what, todos: Vec::new(), since: changed_at(ignored.file()?) })
    };
    let Some(consents) = query.consents() else { return Vec::new() };
    // Boards and servers read the settings once, and the user approves some later.
    let waiting = |ignored: &&IgnoredSetting| !consents.has_setting(&ignored.key, &ignored.value);
    let mut out: Vec<ApprovalFact> = query.settings.ignored.iter().filter(waiting).filter_map(setting).collect();
    let mut groups: HashMap<String, Option<usize>> = HashMap::new();
    // The check of the whole plan is a setting, and one that is not approved has no effect.
    for todo in plan.live().into_iter().filter(|todo| todo.is_open_work() && !is_plan_check(todo)) {
        let Some(command) = &todo.verify else { continue };
        let line = command.line();
        let known = groups.len();
        let group = *groups.entry(line.clone()).or_insert_with(|| {
            let missing = known < COMMANDS && !consents.has(command);
            missing.then(|| {
                out.push(check(&line, todo.updated_at));
                out.len() - 1
            })
        });
        if let Some(fact) = group.and_then(|at| out.get_mut(at)) {
            fact.todos.push(todo.uid);
            fact.since = fact.since.min(todo.updated_at);
        }
    }
    out
}

/// When a file was last changed, 0 if that is not known.
fn changed_at(file: &Path) -> i64 {
    let time = file.metadata().and_then(|found| found.modified()).ok();
    let passed = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    passed.map_or(0, |passed| i64::try_from(passed.as_millis()).unwrap_or(i64::MAX))
}

fn check(line: &str, since: i64) -> ApprovalFact {
    ApprovalFact { what: Approval::Check(line.to_owned()), todos: Vec::new(), since }
}

/// Sessions that have a todo in progress. The last sign is the newest write: a change of the todo, or a renewed lease.
fn sessions(plan: &Plan, lease_ms: i64) -> Vec<WorkerFact> {
    let live = plan.all().filter(|todo| todo.is_live() && todo.status == Status::InProgress);
    let worker = |todo: &Todo| {
        let owner = todo.owner.as_deref().filter(|owner| WorkerId::of(owner).is_none())?;
        let renewed = todo.lease_until?.saturating_sub(lease_ms);
        let last_sign = renewed.max(todo.updated_at);
        Some(WorkerFact { name: owner.to_owned(), todo: Some(todo.uid), run: None, last_sign })
    };
    live.filter_map(worker).collect()
}

/// A seat whose agent should be at work.
fn seat_fact(plan: &Plan, seat: &SeatRecord) -> Option<WorkerFact> {
    let body: Value = serde_json::from_str(&seat.body).ok()?;
    if !matches!(body["stage"].as_str()?, "starting" | "working") {
        return None;
    }
    let todo = body["todo"].as_str().and_then(|id| plan.by_id(id)).map(|todo| todo.uid);
    let last_sign = body["lastSign"].as_i64().or_else(|| body["since"].as_i64()).unwrap_or(seat.at);
    let name = format!("{} in seat {} of run {}", body["agent"].as_str().unwrap_or("the agent"), seat.n, seat.run);
    Some(WorkerFact { name, todo, run: Some(seat.run), last_sign })
}

fn run_fact(snapshot: &dyn Snapshot, run: &RunRecord, now: i64) -> Result<RunFact, EngineError> {
    let spending = if run.ended_at.is_none() { spending(snapshot, run, now)? } else { Vec::new() };
    Ok(RunFact {
        number: run.id,
        spending,
        ended_at: run.ended_at,
        outcome: run.body.outcome,
        because: run.body.because.first().cloned(),
        revision: run.body.to.unwrap_or_default(),
        unmerged: None,
    })
}

/// What a run has spent of its limits, and when each passed four fifths.
fn spending(snapshot: &dyn Snapshot, run: &RunRecord, now: i64) -> Result<Vec<LimitSpending>, EngineError> {
    let known = run.limits();
    let mut out = Vec::new();
    let limits = [("tokens", known.tokens), ("money", known.cost), ("turns", known.turns)];
    if limits.iter().any(|(_, limit)| limit.is_some()) {
        let used = |sum: &Sum| [sum.tokens, sum.cost, sum.turns];
        let (mut sum, mut since) = (Sum::default(), [None; 3]);
        for spent in snapshot.ledger(run.id)? {
            sum.add(&spent);
            for (at, used) in used(&sum).into_iter().enumerate() {
                let limit = limits[at].1.unwrap_or(u64::MAX);
                if since[at].is_none() && u128::from(used) * 5 > u128::from(limit) * 4 {
                    since[at] = Some(spent.at);
                }
            }
        }
        let spending = |(at, (what, limit)): (usize, (&'static str, Option<u64>))| {
            let (used, limit) = (used(&sum)[at], limit?);
            let text = match what {
                "money" => format!("{} of {}", dollars(used), dollars(limit)),
                what => format!("{used} of {limit} {what}"),
            };
            Some(LimitSpending { what, text, used, limit, since: since[at].unwrap_or(run.body.taken_up) })
        };
        out.extend(limits.into_iter().enumerate().filter_map(spending));
    }
    if let Some(limit) = known.time {
        let (used, until) = worked_run(snapshot, run, now)?;
        let (unit, word) = if limit < 10 * 60_000 { (1_000, "seconds") } else { (60_000, "minutes") };
        let text = format!("{} of {} {word}", used / unit, limit / unit);
        let beyond = i64::try_from(used.saturating_sub(limit / 5 * 4)).unwrap_or(i64::MAX);
        let since = until.saturating_sub(beyond).max(run.body.taken_up);
        out.push(LimitSpending { what: "time", text, used, limit, since });
    }
    Ok(out)
}
