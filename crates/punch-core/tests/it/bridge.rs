//! Between the words of the model and those of the engine. Nothing is judged here.

use punch_core::dialect::extended;
use punch_core::{
    Actor, Add, ApplyStop, Attempts, CancelledDep, Context, Dep, DepOnRunning, Edit, Evidence, Flags, Hold, HoldKind,
    InProgressLimit, Keep, ListPosition, MissingDep, MissingEvidence, OnCycle, OnRemove, Op, Outcome, PhaseRef, Plan,
    Policy, Ref, Refusal, StartGate, Status, Todo, TodoProgress, Uid, Verify, VerifyMode, apply,
};
use punch_testkit::ask::{self, ListSpot, ModelBatch, ModelFields, ModelNewTodo, ModelOp, TodoName};
use punch_testkit::model::{Edge, ModelRow, ModelTodo, ModelView};
use punch_testkit::rules::{CancelledRule, Gate, ModelRules, ProofRule};

pub fn policy(rules: &ModelRules) -> Policy {
    Policy {
        start_gate: match rules.gate {
            Gate::Strict => StartGate::Strict,
            Gate::AtEnd => StartGate::AtEnd,
            Gate::Warn => StartGate::Warn,
        },
        in_progress: if rules.one { InProgressLimit::One } else { InProgressLimit::Any },
        on_cycle: if rules.suspend { OnCycle::Suspend } else { OnCycle::Refuse },
        missing_dep: if rules.dangle_missing { MissingDep::Dangle } else { MissingDep::Refuse },
        cancelled_dep: match rules.cancelled {
            CancelledRule::Block => CancelledDep::Block,
            CancelledRule::Satisfy => CancelledDep::Satisfy,
            CancelledRule::Cascade => CancelledDep::Cascade,
        },
        on_remove: if rules.dangle_removed { OnRemove::Dangle } else { OnRemove::Detach },
        dep_on_running: if rules.demote { DepOnRunning::Demote } else { DepOnRunning::Keep },
        verify: match rules.proof {
            ProofRule::Trust => VerifyMode::Trust,
            ProofRule::Claim => VerifyMode::Claim,
            ProofRule::Evidence => VerifyMode::Evidence,
            ProofRule::Command => VerifyMode::Command,
        },
        missing_evidence: if rules.words { MissingEvidence::Refuse } else { MissingEvidence::Mark },
        attempts: Attempts::default(),
    }
}

pub fn context(batch: &ModelBatch, now: i64) -> Context {
    let actor = match &batch.owner {
        Some(owner) => Actor::agent("test", owner),
        None => Actor::user().signing("test"),
    };
    Context { lease: punch_testkit::model::LEASE, ..Context::new(now, actor, policy(&batch.rules)) }
}

fn name(name: &TodoName) -> Ref {
    match name {
        TodoName::Id(id) => Ref::Id(id.clone()),
        TodoName::Key(key) => Ref::Uid(Uid(*key as u64 + 1)),
        TodoName::New(n) => Ref::New(*n),
    }
}

fn names(list: &[TodoName]) -> Vec<Ref> {
    list.iter().map(name).collect()
}

const fn status(status: ask::ModelStatus) -> Status {
    match status {
        ask::ModelStatus::Pending => Status::Pending,
        ask::ModelStatus::Active => Status::InProgress,
        ask::ModelStatus::Completed => Status::Completed,
        ask::ModelStatus::Cancelled => Status::Cancelled,
        ask::ModelStatus::Failed => Status::Failed,
    }
}

fn hold(hold: &ask::ModelHold) -> Hold {
    let kind = match (hold.until, hold.parked) {
        (Some(_), _) => HoldKind::Timer,
        (None, true) => HoldKind::Parked,
        (None, false) => HoldKind::Human,
    };
    Hold { kind, reason: hold.reason.clone(), until: hold.until, by: String::new(), at: 0 }
}

fn keep<T: Clone>(value: &Option<T>) -> Keep<T> {
    Keep::from_option(value.clone())
}

fn edit(fields: &ModelFields) -> Edit {
    Edit {
        id: keep(&fields.id),
        content: keep(&fields.content),
        active_form: keep(&fields.active_form),
        depends_on: Keep::from_option(fields.deps.as_deref().map(names)),
        blocks: names(&fields.blocks),
        phase: Keep::from_option(fields.phase.clone().map(|phase| phase.map(PhaseRef::Name))),
        priority: keep(&fields.priority),
        files: keep(&fields.files.as_ref().map(|files| files.iter().cloned().collect())),
        verify: Keep::from_option(fields.command.clone().map(|line| line.map(Verify::Shell))),
        ..Edit::default()
    }
}

fn place(spot: &ListSpot) -> ListPosition {
    match spot {
        ListSpot::End => ListPosition::End,
        ListSpot::First => ListPosition::First,
        ListSpot::Before(anchor) => ListPosition::Before(name(anchor)),
        ListSpot::After(anchor) => ListPosition::After(name(anchor)),
    }
}

fn add(new: &ModelNewTodo) -> Add {
    Add {
        id: new.id.clone(),
        edit: edit(&new.fields),
        place: place(&new.spot),
        status: status(new.status),
        hold: new.hold.as_ref().map(hold),
        notes: new.notes.clone(),
        carried: None,
    }
}

fn found(evidence: &ask::ModelEvidence) -> Evidence {
    Evidence {
        text: evidence.says.then(|| "it works".into()),
        command: evidence.command.clone().map(Verify::Shell),
        exit_code: evidence.exit,
        ..Evidence::default()
    }
}

fn piece(evidence: &Evidence) -> ask::ModelEvidence {
    let command = evidence.command.as_ref().map(Verify::line);
    ask::ModelEvidence { command, exit: evidence.exit_code, says: evidence.has_text() }
}

pub fn op(ask: &ModelOp) -> Op {
    match ask {
        ModelOp::Add(new) => Op::Add(add(new)),
        ModelOp::Edit(target, fields) => Op::Edit(name(target), edit(fields)),
        ModelOp::Start(target) => Op::Start(name(target)),
        ModelOp::Claim(target, until) => Op::Claim(name(target), *until),
        ModelOp::Renew(target, until) => Op::Renew(name(target), *until),
        ModelOp::Unclaim(target) => Op::Unclaim(name(target)),
        ModelOp::HandOver(target, owner) => Op::HandOver(name(target), owner.clone()),
        ModelOp::Done(target, evidence, fence) => {
            Op::Done { target: name(target), evidence: evidence.as_ref().map(found), fence: *fence }
        }
        ModelOp::Report(target, says, fence) => Op::Report {
            target: name(target),
            evidence: says.then(|| Evidence { text: Some("it works".into()), ..Evidence::default() }),
            fence: *fence,
        },
        ModelOp::Check(target, e) => Op::RecordCheck { target: name(target), found: found(e) },
        ModelOp::Refute(target, e) => Op::Refute { target: name(target), found: found(e) },
        ModelOp::Vouch(target, stale, evidence) => Op::Vouch {
            target: name(target),
            stale: *stale,
            evidence: evidence.then(|| Evidence { exit_code: Some(0), ..Evidence::default() }),
        },
        ModelOp::Restore(target, to, held, resume) => Op::Restore {
            target: name(target),
            work: Box::new(TodoProgress {
                status: status(*to),
                hold: held.as_ref().map(hold),
                flags: Flags { resume: *resume, ..Flags::default() },
                ..TodoProgress::default()
            }),
        },
        ModelOp::Drop(target) => Op::Drop(name(target)),
        ModelOp::Fail(target, error) => Op::Fail(name(target), error.clone()),
        ModelOp::Reopen(target) => Op::Reopen(name(target)),
        ModelOp::Hold(target, why) => Op::Hold(name(target), hold(why)),
        ModelOp::Release(target) => Op::Release(name(target)),
        ModelOp::Block(target) => Op::Block(name(target)),
        ModelOp::Rm(target) => Op::Rm(name(target)),
        ModelOp::Note(target, text) => Op::Note(name(target), text.clone()),
        ModelOp::Move(target, spot) => Op::Move(name(target), place(spot)),
        ModelOp::Arrange(list) => Op::Arrange(names(list)),
        ModelOp::Rules(rules) => Op::SetPolicy(policy(rules)),
    }
}

pub fn ops(batch: &ModelBatch) -> Vec<Op> {
    batch.asks.iter().map(op).collect()
}

/// Applies to a whole plan, which must never ask for more.
pub fn submit(plan: &Plan, ops: &[Op], ctx: &Context) -> Result<Outcome, Vec<Refusal>> {
    match apply(plan, ops, ctx) {
        Ok(outcome) => Ok(outcome),
        Err(ApplyStop::Refused(refusals)) => Err(refusals),
        Err(ApplyStop::Need(need)) => panic!("a whole plan asked for {need:?}"),
    }
}

/// What readers see of the engine's plan, in the words of the model.
pub fn state(plan: &Plan, now: i64) -> ModelView {
    let live = plan.live();
    let mut counts = plan.row.counts;
    ModelView {
        rows: live.iter().map(|todo| row(plan, todo, now)).collect(),
        removed: plan.all().filter(|t| !t.is_live()).map(|t| (t.id.clone(), t.content.clone())).collect(),
        ready: extended::ready(plan, now),
        counts: Status::ALL.map(|status| *counts.of(status)),
        parked: counts.parked,
        blank: counts.blank,
        phases: plan.row.phases.iter().map(|p| p.name.clone()).collect(),
        loose: (plan.row.suspended, plan.row.dangling),
        number: plan.row.next_number,
        fence: plan.row.last_fence,
    }
}

fn row(plan: &Plan, todo: &Todo, now: i64) -> ModelRow {
    let id = |uid: &Uid| plan.get(*uid).unwrap().id.clone();
    let edge = |dep: &Dep| match dep {
        Dep::On(to) => Edge::Active(id(to)),
        Dep::Suspended(to) => Edge::Suspended(id(to)),
        Dep::Dangling(missing) => Edge::Missing(missing.clone()),
    };
    let mut blocks: Vec<String> = plan.dependents_of(todo.uid).unwrap().iter().map(id).collect();
    blocks.sort();
    ModelRow {
        item: item(plan, todo),
        edges: todo.depends_on.iter().map(edge).collect(),
        blocks,
        unmet: todo.derived.unmet as usize,
        level: todo.derived.level as usize,
        effective: todo.effective_priority(),
        ready: todo.is_ready(now),
        blocked: todo.is_blocked(now),
    }
}

fn item(plan: &Plan, todo: &Todo) -> ModelTodo {
    ModelTodo {
        id: todo.id.clone(),
        content: todo.content.clone(),
        active_form: todo.active_form.clone(),
        status: ask::ModelStatus::ALL.into_iter().find(|s| status(*s) == todo.status).unwrap(),
        deps: Vec::new(),
        hold: todo.hold.as_ref().map(|h| ask::ModelHold {
            reason: h.reason.clone(),
            until: h.until,
            parked: h.kind == HoldKind::Parked,
        }),
        phase: todo.phase.map(|uid| plan.phase(uid).unwrap().name.clone()),
        priority: todo.priority,
        files: todo.files.first().cloned(),
        command: todo.verify.as_ref().map(|verify| match verify {
            Verify::Shell(line) => line.clone(),
            Verify::Argv(words) => words.join(" "),
            other => panic!("the model has no such check: {other:?}"),
        }),
        evidence: todo.evidence.iter().map(piece).collect(),
        owner: todo.owner.clone(),
        fence: todo.fence,
        lease: todo.lease_until,
        attempts: todo.attempts,
        error: todo.last_error.clone(),
        notes: todo.notes.iter().map(|note| note.text.clone()).collect(),
        resume: todo.flags.resume,
        reported: todo.flags.reported,
        stale: todo.flags.stale,
        unchecked: todo.flags.unchecked,
        stale_dependency: todo.flags.stale_dependency,
        started: todo.started_at,
        finished: todo.finished_at,
        removed: !todo.is_live(),
    }
}
