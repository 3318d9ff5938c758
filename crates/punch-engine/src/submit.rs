//! The only code that changes a plan: loads what the batch needs, applies the rules and stores the outcome, all in one
//! transaction.

use std::collections::BTreeSet;
use std::path::Path;

use punch_core::dialect::native::ReportedTokens;
use punch_core::{
    Actor, ApplyStop, Attempts, Context, Dep, Evidence, Footprint, Op, Outcome, Plan, Policy, Refusal, Status, Uid,
    apply,
};
use punch_store::{Ahead, Durability, PlanId, SessionKey, StoreError, Tx};

use crate::call::reported_usage;
use crate::checkpoint::AfterCommit;
use crate::config::Settings;
use crate::git::GitFolders;
use crate::writing_session::WritingSession;
use crate::{Engine, EngineError, IdMaker, Proofs, ReadyQuery, observed_work, worker_ops};

/// After this many requests for more, everything is loaded: a slice that grows step by step would cost more.
const ROUNDS: usize = 8;
/// Cancelled and failed todos of one write whose dependents are looked up.
const DROPPED: usize = 50;

/// Who asks, and under which conditions.
#[derive(Clone, Debug)]
pub struct WriteRequest<'a> {
    /// Who asks: signs events and notes, and owns what it starts.
    pub actor: Actor,
    /// The dialect's preset over the plan's own policy.
    pub preset: fn(Policy) -> Policy,
    /// How often a todo is tried, for a request of a run.
    pub attempts: Option<u32>,
    /// Settings whose policies go over the plan's own.
    pub settings: Option<&'a Settings>,
    /// Fail unless the plan is at this revision.
    pub if_revision: Option<u64>,
    /// What the write must survive.
    pub durability: Durability,
    /// Load what the changed todos depend on and block, so that they can be shown.
    pub detail: bool,
    /// The commit that the worktree is at; completions store it (rule 32).
    pub commit: Option<&'a str>,
    /// Checks that passed, for the todos that this finishes.
    pub proofs: Option<&'a Proofs>,
    /// The worktree that completions belong to: the contents of their files are recorded, and the end of a batch makes
    /// a checkpoint, as the settings say.
    pub tree: Option<&'a Path>,
    /// The git folders of that worktree, where they were recorded.
    pub git: Option<&'a GitFolders>,
    /// Ids for new todos that come without one.
    pub ids: Option<&'a IdMaker>,
    /// The session that writes without a tool call. The write counts as its work, as one of its calls would.
    pub session: Option<WritingSession<'a>>,
    /// What todos took, as the ops report it.
    pub usage: &'a [ReportedTokens],
}

impl<'a> WriteRequest<'a> {
    /// A native request of an actor, as safe as can be.
    pub fn of(actor: Actor) -> Self {
        Self {
            actor,
            preset: |policy| policy,
            attempts: None,
            settings: None,
            if_revision: None,
            durability: Durability::Full,
            detail: false,
            commit: None,
            proofs: None,
            tree: None,
            git: None,
            ids: None,
            session: None,
            usage: &[],
        }
    }

    /// A request of the actor that is stored as `by` and `owner`.
    pub fn by(by: &str, owner: Option<&str>) -> Self {
        Self::of(Actor::parse(by, owner))
    }

    /// How long claims of this request last unless renewed, in milliseconds.
    pub fn lease(&self) -> i64 {
        self.settings.map_or(Context::LEASE, Settings::lease_ms)
    }
}

impl WriteRequest<'_> {
    /// The session under whose name the caller works. A completion reads what that session saw of the work.
    pub(crate) fn owner_session(&self) -> Option<SessionKey> {
        let owner = || self.actor.owner().map(|owner| SessionKey::new(owner, None));
        self.session.map(|session| session.key.clone()).or_else(owner)
    }
}

/// What a write did, with the part of the plan it touched as it is afterwards.
#[derive(Clone, Debug)]
pub struct PlanChange {
    /// Touched todos and what they needed.
    pub plan: Plan,
    /// Events, rows, warnings.
    pub outcome: Outcome,
    /// The time of the write.
    pub now: i64,
}

/// Works out the ops from the part of the plan that is loaded; may ask for more.
pub type MakeOps<'f> = &'f mut dyn FnMut(&Plan, i64) -> Result<Vec<Op>, ApplyStop>;

impl Engine {
    /// Submits a batch.
    pub fn submit(&self, plan: PlanId, request: &WriteRequest<'_>, ops: &[Op]) -> Result<PlanChange, EngineError> {
        let first = Footprint::of(ops);
        let completes = ops.iter().any(|op| matches!(op, Op::Done { .. }));
        let reads_session = completes || request.session.is_some();
        let session = reads_session.then(|| request.owner_session()).flatten();
        let dependents = ops.iter().any(moves_dependents);
        let ahead = Ahead { dependents, session: session.as_ref(), ..Ahead::load(&first) };
        self.submit_ahead(plan, request, &first, ahead, &mut |_, _| Ok(ops.to_vec()))
    }

    /// Submits the ops that `make` derives from the plan as it is inside the transaction; `first` is loaded before.
    pub fn submit_with(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        first: &Footprint,
        make: MakeOps<'_>,
    ) -> Result<PlanChange, EngineError> {
        let session = request.owner_session();
        let ahead = Ahead { dependents: true, session: session.as_ref(), ..Ahead::load(first) };
        self.submit_ahead(plan, request, first, ahead, make)
    }

    fn submit_ahead(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        first: &Footprint,
        ahead: Ahead<'_>,
        make: MakeOps<'_>,
    ) -> Result<PlanChange, EngineError> {
        let body = |tx: &mut dyn Tx, now| {
            let before = tx.row()?.revision;
            let mut allowed = Ok(());
            let changed = apply_in_transaction(tx, now, request, first, &mut |part, now| {
                let ops = make(part, now)?;
                allowed = worker_ops::check(&ops, part, &request.actor);
                Ok(ops)
            });
            allowed?;
            let changed = changed?;
            if let Some(session) = request.session {
                session.record(tx, plan, request, &changed, before)?;
            }
            reported_usage::record_request(tx, plan, request, &changed)?;
            Ok(changed)
        };
        let (changed, after) = self.transact(plan, request.durability, ahead, Some(request), body)?;
        self.follow_up(plan, Some(request), &after);
        Ok(changed)
    }

    /// Submits what the plan file says. The caller writes the file itself and then follows up `after_commit`.
    #[cfg(feature = "files")]
    pub(crate) fn submit_from_file(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        first: &Footprint,
        make: MakeOps<'_>,
        after_commit: &mut AfterCommit,
    ) -> Result<PlanChange, EngineError> {
        let body = |tx: &mut dyn Tx, now| apply_in_transaction(tx, now, request, first, make);
        let (changed, after) = self.transact(plan, request.durability, Ahead::load(first), Some(request), body)?;
        after_commit.add(after);
        Ok(changed)
    }

    /// Returns what [`Engine::submit_with`] would do, and changes nothing.
    pub fn rehearse(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        first: &Footprint,
        make: MakeOps<'_>,
    ) -> Result<PlanChange, EngineError> {
        let mut out = None;
        let done =
            self.transact(plan, request.durability, Ahead::load(first), None, |tx, now| -> Result<(), EngineError> {
                out = Some(apply_in_transaction(tx, now, request, first, make)?);
                Err(StoreError::Abort.into())
            });
        match (out, done) {
            (Some(changed), _) => Ok(changed),
            (None, Err(error)) => Err(error),
            (None, Ok(_)) => Err(StoreError::Abort.into()),
        }
    }

    /// Runs `body` in one write transaction, for writes that close no todos. Its refusals come back as they are and
    /// leave no trace.
    pub(crate) fn write<T>(
        &self,
        plan: PlanId,
        durability: Durability,
        body: impl FnMut(&mut dyn Tx, i64) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        self.write_ahead(plan, durability, Ahead::default(), body)
    }

    /// Runs `body` in one write transaction as [`Engine::write`] does, and says what it is about to read.
    pub(crate) fn write_ahead<T>(
        &self,
        plan: PlanId,
        durability: Durability,
        ahead: Ahead<'_>,
        body: impl FnMut(&mut dyn Tx, i64) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let (done, after) = self.transact(plan, durability, ahead, None, body)?;
        self.follow_up(plan, None, &after);
        Ok(done)
    }

    /// Runs `body` in one write transaction on behalf of a request, and follows up what it closes.
    pub(crate) fn write_for<T>(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        ahead: Ahead<'_>,
        body: impl FnMut(&mut dyn Tx, i64) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let (done, after) = self.transact(plan, request.durability, ahead, Some(request), body)?;
        self.follow_up(plan, Some(request), &after);
        Ok(done)
    }

    /// Runs the transaction itself, and returns what it leaves to do after the commit.
    fn transact<T>(
        &self,
        plan: PlanId,
        durability: Durability,
        ahead: Ahead<'_>,
        request: Option<&WriteRequest<'_>>,
        mut body: impl FnMut(&mut dyn Tx, i64) -> Result<T, EngineError>,
    ) -> Result<(T, AfterCommit), EngineError> {
        let mut out = None;
        let ahead = Ahead { run_lease: ahead.run_lease || self.holds_run(plan), ..ahead };
        let done = self.store.write_ahead(plan, durability, ahead, &mut |tx| {
            let result = self.require_held_run(plan, tx).and_then(|()| {
                let now = tx.now().unwrap_or_else(|| self.now());
                let value = body(tx, now)?;
                Ok((value, AfterCommit::collect(tx, plan, request)?))
            });
            let end = if result.is_ok() { Ok(()) } else { Err(StoreError::Abort) };
            out = Some(result);
            end
        });
        match (done, out) {
            // A failed commit is a failure whatever the body returned.
            (Err(error), Some(Ok(_)) | None) => Err(error.into()),
            (_, Some(result)) => result,
            (Ok(()), None) => Err(StoreError::Abort.into()),
        }
    }
}

/// Returns true if an op may change what its dependents wait for.
const fn moves_dependents(op: &Op) -> bool {
    matches!(op, Op::Done { .. } | Op::Drop(_) | Op::Fail(..) | Op::Reopen(_) | Op::Rm(_))
}

/// Loads `first`, applies the ops that `make` returns and stores the outcome, inside a transaction.
pub(crate) fn apply_in_transaction(
    tx: &mut dyn Tx,
    now: i64,
    request: &WriteRequest<'_>,
    first: &Footprint,
    make: MakeOps<'_>,
) -> Result<PlanChange, EngineError> {
    let mut plan = Plan::slice(tx.row()?);
    tx.load(first, &mut plan)?;
    apply_to_slice(tx, now, request, plan, make)
}

/// Applies the ops that `make` returns to a slice that this transaction has loaded, and stores the outcome.
pub(crate) fn apply_to_slice(
    tx: &mut dyn Tx,
    now: i64,
    request: &WriteRequest<'_>,
    mut plan: Plan,
    make: MakeOps<'_>,
) -> Result<PlanChange, EngineError> {
    let row = tx.row()?;
    if let Some(expected) = request.if_revision.filter(|expected| *expected != row.revision) {
        return Err(Refusal::Conflict { expected, current: row.revision }.into());
    }
    let base = request.settings.map_or(row.policy, |settings| settings.policy_over(row.policy));
    let policy = (request.preset)(base);
    let policy = Policy { attempts: request.attempts.map_or(policy.attempts, Attempts), ..policy };
    let mut ctx = Context { lease: request.lease(), ..Context::new(now, request.actor.clone(), policy) };
    // The stored counters depend on this one policy, so a setting that differs becomes the plan's own first.
    let adopt = (base.cancelled_dep != row.policy.cancelled_dep)
        .then_some(Op::SetPolicy(Policy { cancelled_dep: base.cancelled_dep, ..row.policy }));
    let mut rounds = 0;
    let outcome = loop {
        let made = make(&plan, now).map(|mut ops| {
            if !matches!(ops[..], [Op::Undo { .. } | Op::Redo]) {
                ops.extend(adopt.clone());
            }
            if let Some(ids) = request.ids {
                ids.name_adds(&mut ops, row.next_uid);
            }
            reported(proven(ops, &plan, request), request)
        });
        if let Ok(ops) = &made {
            ctx.observed = observed_work::of_completions(tx, ops, &plan, &request.actor, now)?;
        }
        match made.and_then(|ops| apply(&plan, &ops, &ctx)) {
            Ok(outcome) => break outcome,
            Err(ApplyStop::Refused(refusals)) => return Err(EngineError::Refused(with_free(tx, refusals, now)?)),
            Err(ApplyStop::Need(need)) => {
                rounds += 1;
                let mut need = *need;
                // Asked again with everything loaded: what it asks for does not exist.
                if rounds > ROUNDS + 2 {
                    return Err(missing(&need));
                }
                need.all |= rounds > ROUNDS;
                tx.load(&need, &mut plan)?;
            }
        }
    };
    if !outcome.rows.is_empty() || !outcome.events.is_empty() {
        tx.put(&outcome)?;
    }
    plan.commit(&outcome);
    // Who depends on what was given up is part of every answer.
    let dropped = outcome.rows.iter().filter(|todo| matches!(todo.status, Status::Cancelled | Status::Failed));
    let dependents: BTreeSet<Uid> = dropped.map(|todo| todo.uid).take(DROPPED).collect();
    if !dependents.is_empty() {
        tx.load(&Footprint { dependents, ..Footprint::default() }, &mut plan)?;
    }
    if request.detail {
        let more = surroundings(&plan, outcome.rows.iter().map(|t| t.uid));
        tx.load(&more, &mut plan)?;
    }
    Ok(PlanChange { plan, outcome, now })
}

/// Completions with what the request knows about them: the check that passed, the commit.
fn proven(ops: Vec<Op>, plan: &Plan, request: &WriteRequest<'_>) -> Vec<Op> {
    if request.commit.is_none() && request.proofs.is_none() {
        return ops;
    }
    let with_proof = |op| match request.proofs {
        Some(proofs) => proofs.complete(op, Some(plan)),
        None => op,
    };
    let one = |op| match with_proof(op) {
        // A check knows the commit at which it ran, or that there was none.
        Op::Done { target, evidence, fence } if evidence.as_ref().is_none_or(|e| e.command.is_none()) => {
            let evidence = evidence.or_else(|| request.commit.map(|_| Evidence::default())).map(|evidence| Evidence {
                commit: evidence.commit.or_else(|| request.commit.map(str::to_owned)),
                ..evidence
            });
            Op::Done { target, evidence, fence }
        }
        op => op,
    };
    ops.into_iter().map(one).collect()
}

/// Turns what a worker of a run calls done into a report: only the runner completes it.
fn reported(ops: Vec<Op>, request: &WriteRequest<'_>) -> Vec<Op> {
    if request.actor.worker_id().is_none() {
        return ops;
    }
    let one = |op| match op {
        Op::Done { target, evidence, fence } => Op::Report { target, evidence, fence },
        op => op,
    };
    ops.into_iter().map(one).collect()
}

/// Names a todo that is free instead in refusals because of a claim.
fn with_free(tx: &dyn Tx, mut refusals: Vec<Refusal>, now: i64) -> Result<Vec<Refusal>, StoreError> {
    if refusals.iter().any(|refusal| matches!(refusal, Refusal::Leased { .. })) {
        let ready = ReadyQuery::of_plan(now).ready(tx, 1)?.pop().map(|todo| todo.fields.id);
        for refusal in &mut refusals {
            if let Refusal::Leased { free, .. } = refusal {
                free.clone_from(&ready);
            }
        }
    }
    Ok(refusals)
}

fn missing(need: &Footprint) -> EngineError {
    match (need.revisions.first(), need.todos.first()) {
        (Some(revision), _) => Refusal::UnknownRevision { revision: *revision }.into(),
        (None, Some(uid)) => EngineError::NotFound { given: format!("#{}", uid.0), near: Vec::new() },
        (None, None) => EngineError::Store(StoreError::Abort),
    }
}

/// What must be loaded to show todos: what they depend on and what they block. At most a screenful.
pub(crate) fn surroundings(plan: &Plan, uids: impl Iterator<Item = Uid>) -> Footprint {
    let mut more = Footprint::default();
    for todo in uids.filter_map(|uid| plan.get(uid)).take(50) {
        more.todos.extend(todo.depends_on.iter().filter_map(Dep::target).take(100));
        more.dependents.insert(todo.uid);
        more.all_running |= !todo.files.is_empty() && todo.status.is_open();
    }
    more
}
