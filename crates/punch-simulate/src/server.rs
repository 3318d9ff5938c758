//! The store of the fleet: one engine per plan over the memory store, all with one virtual clock. Beside it stands a plain
//! record of who may work on what until when, against which every answer of the engine is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use punch_core::{Actor, Add, Dep, Edit, Footprint, Keep, Op, Ref, Status, Uid};
use punch_engine::{Engine, EngineError, PlanChoice, WriteRequest};
use punch_store::{Durability, MemoryStore, PlanId};
use punch_testkit::random::Random;

use crate::message::{ClaimedTodo, StoreReply, StoreRequest, TodoKey};
use crate::options::{Mutant, SimulationOptions};

/// A plan with its engine.
struct SimulatedPlan {
    engine: Engine,
    id: PlanId,
    /// What each todo depends on.
    deps: BTreeMap<u64, Vec<u64>>,
    /// When each open todo became ready.
    ready_since: BTreeMap<u64, i64>,
    claimed: BTreeMap<u64, ClaimHolder>,
    completed: BTreeSet<u64>,
    /// Todos whose completion was confirmed to a worker.
    confirmed: BTreeSet<u64>,
    last_fence: u64,
    revision: u64,
    /// What a claim of the mutant `StaleLook` saw last.
    look: Option<u64>,
}

/// Who has a todo, by the record.
#[derive(Clone, Debug)]
struct ClaimHolder {
    owner: String,
    fence: u64,
    until: i64,
}

/// Who asks, and the wall clock of its host.
pub struct RequestSender<'a> {
    /// The name under which it claims.
    pub owner: &'a str,
    /// What its host takes for the time.
    pub wall_clock: i64,
    /// The highest revision of the plan that it knew of.
    pub seen: u64,
}

/// What the store did with a request.
pub struct ServedRequest {
    /// The answer.
    pub answer: StoreReply,
    /// The revision of the plan afterwards.
    pub revision: u64,
    /// How long the claimed todo had been ready.
    pub waited: Option<i64>,
}

/// The store, its clock and what went wrong.
pub struct SimulatedServer {
    plans: Vec<SimulatedPlan>,
    clock: Arc<AtomicI64>,
    lease: i64,
    mutant: Option<Mutant>,
    /// Broken promises.
    pub anomalies: Vec<String>,
    /// Requests served.
    pub served: u64,
}

/// The owner of changes that the simulation itself makes.
const USER: &str = "user";

impl SimulatedServer {
    /// Plans of todos that depend on up to three earlier ones each.
    pub fn new(scene: &SimulationOptions, random: &mut Random) -> Result<Self, EngineError> {
        let clock = Arc::new(AtomicI64::new(0));
        let plans =
            (0..scene.plans).map(|_| SimulatedPlan::new(scene.todos, &clock, random)).collect::<Result<_, _>>()?;
        let (lease, mutant) = (scene.lease, scene.mutant);
        Ok(Self { plans, clock, lease, mutant, anomalies: Vec::new(), served: 0 })
    }

    /// Todos that are not completed.
    pub fn open(&self) -> usize {
        self.plans.iter().map(|plan| plan.deps.len() - plan.completed.len()).sum()
    }

    /// The revision that a plan is at.
    pub fn revision(&self, plan: usize) -> u64 {
        self.plans[plan].revision
    }

    /// Serves one request at the store's time `now`.
    pub fn serve(&mut self, now: i64, ask: &StoreRequest, caller: &RequestSender<'_>) -> ServedRequest {
        self.served += 1;
        let wrong_clock = self.mutant == Some(Mutant::HostClock);
        self.clock.store(if wrong_clock { caller.wall_clock } else { now }, Ordering::Relaxed);
        let (index, mut waited) = (plan_of(ask), None);
        let answer = match ask {
            StoreRequest::Claim { plan } => {
                let claim = self.claim(now, *plan, caller.owner);
                waited = claim.and_then(|claim| self.plans[*plan].ready_since.get(&claim.job.uid)).map(|at| now - at);
                StoreReply::Claimed(claim)
            }
            StoreRequest::Renew(claim) => self.renew(now, *claim, caller.owner),
            StoreRequest::Done(claim) => self.done(now, *claim, caller.owner),
        };
        self.check_promise(ask, &answer, caller.owner);
        let plan = &mut self.plans[index];
        if let Ok(revision) = plan.engine.read(plan.id, |snapshot| Ok(snapshot.row()?.revision)) {
            let order = if revision > plan.revision { revision > caller.seen } else { revision >= caller.seen };
            if revision < plan.revision || !order {
                self.anomalies.push(format!(
                    "order: plan {index} is at revision {revision}, but {} had seen {}",
                    caller.owner, caller.seen
                ));
            }
            plan.revision = revision;
        }
        ServedRequest { answer, revision: self.plans[index].revision, waited }
    }

    /// Checks what an answer promises: only the last claim of a todo is renewed, and what was confirmed as completed is not
    /// handed out again.
    fn check_promise(&mut self, ask: &StoreRequest, answer: &StoreReply, owner: &str) {
        match (ask, answer) {
            (StoreRequest::Renew(claim), StoreReply::Renewed) => {
                let TodoKey { plan: index, uid } = claim.job;
                if self.plans[index].fence(uid) != Some(claim.fence) {
                    let what = format!("todo {uid} of plan {index} with the old fence {}", claim.fence);
                    self.anomalies.push(format!("lost: {owner} renewed {what}"));
                }
            }
            (StoreRequest::Done(claim), StoreReply::Completed) => {
                self.plans[claim.job.plan].confirmed.insert(claim.job.uid);
            }
            (StoreRequest::Claim { .. }, StoreReply::Claimed(Some(claim))) => {
                let TodoKey { plan: index, uid } = claim.job;
                if self.plans[index].confirmed.contains(&uid) {
                    self.anomalies.push(format!("lost: todo {uid} of plan {index} was completed, and {owner} got it"));
                }
            }
            _ => {}
        }
    }

    fn claim(&mut self, now: i64, index: usize, owner: &str) -> Option<ClaimedTodo> {
        let lease = self.lease;
        let plan = &mut self.plans[index];
        let request =
            WriteRequest { durability: Durability::Relaxed, ..WriteRequest::of(Actor::agent("worker", owner)) };
        let stale = (self.mutant == Some(Mutant::StaleLook)).then(|| plan.look.take()).flatten();
        let claimed = match stale {
            Some(uid) => plan.take_by_force(uid, owner, lease, now),
            None => plan.engine.claim_next(plan.id, &request, lease).ok().flatten(),
        };
        let claimed = claimed?;
        let uid = claimed.uid.0;
        plan.look = Some(uid);
        let fence = claimed.changed.plan.get(claimed.uid).map_or(0, |todo| todo.fence);
        let mut wrong = Vec::new();
        if let Some(holder) = plan.claimed.get(&uid).filter(|holder| holder.until > now) {
            let left = holder.until - now;
            wrong.push(format!(
                "lease: {owner} got todo {uid} of plan {index}, which {} has for {left} ms more",
                holder.owner
            ));
        }
        if fence <= plan.last_fence {
            wrong.push(format!("fence: {fence} in plan {index} is not above {}", plan.last_fence));
        }
        if plan.completed.contains(&uid) {
            wrong.push(format!("again: {owner} got todo {uid} of plan {index}, which is completed"));
        }
        let unmet = plan.deps.get(&uid).into_iter().flatten().find(|dep| !plan.completed.contains(dep));
        if let Some(dep) = unmet {
            wrong.push(format!("early: {owner} got todo {uid} of plan {index}, which needs {dep}"));
        }
        plan.last_fence = plan.last_fence.max(fence);
        plan.claimed.insert(uid, ClaimHolder { owner: owner.to_owned(), fence, until: now + lease });
        self.anomalies.extend(wrong);
        Some(ClaimedTodo { job: TodoKey { plan: index, uid }, fence })
    }

    fn renew(&mut self, now: i64, claim: ClaimedTodo, owner: &str) -> StoreReply {
        let lease = self.lease;
        let TodoKey { plan: index, uid } = claim.job;
        let plan = &mut self.plans[index];
        let holds = plan.claimed.get(&uid).is_some_and(|holder| holder.fence == claim.fence);
        // A worker that lost its claim learns it from the fence, whatever its name is.
        let current = plan.fence(uid);
        let request =
            WriteRequest { durability: Durability::Relaxed, ..WriteRequest::of(Actor::agent("worker", owner)) };
        let target = Ref::Uid(Uid(uid));
        let renewed = current == Some(claim.fence)
            && plan
                .engine
                .submit_with(
                    plan.id,
                    &request,
                    &Footprint { todos: [Uid(uid)].into(), ..Footprint::default() },
                    &mut |_, at| Ok(vec![Op::Renew(target.clone(), at + lease)]),
                )
                .is_ok();
        match renewed {
            true => {
                if let Some(holder) = plan.claimed.get_mut(&uid).filter(|_| holds) {
                    holder.until = now + lease;
                }
                StoreReply::Renewed
            }
            false if self.mutant == Some(Mutant::LateRenewal) => StoreReply::Renewed,
            false => StoreReply::Refused,
        }
    }

    fn done(&mut self, now: i64, claim: ClaimedTodo, owner: &str) -> StoreReply {
        let TodoKey { plan: index, uid } = claim.job;
        let plan = &mut self.plans[index];
        if plan.completed.contains(&uid) {
            let same = plan.claimed.get(&uid).is_some_and(|holder| holder.fence == claim.fence);
            // A repeated report of what is completed is confirmed; of someone else's work it is not.
            return if same { StoreReply::Completed } else { StoreReply::Refused };
        }
        if self.mutant == Some(Mutant::EarlyAnswer) && claim.fence.is_multiple_of(7) {
            return StoreReply::Completed;
        }
        let fence = (self.mutant != Some(Mutant::NoFence)).then_some(claim.fence);
        let request = WriteRequest::of(Actor::agent("worker", owner));
        let op = Op::Done { target: Ref::Uid(Uid(uid)), evidence: None, fence };
        if plan.engine.submit(plan.id, &request, &[op]).is_err() {
            return StoreReply::Refused;
        }
        let holder = plan.claimed.get(&uid);
        if holder.is_none_or(|holder| holder.fence != claim.fence) {
            let has =
                holder.map_or_else(String::new, |holder| format!("; {} has it with {}", holder.owner, holder.fence));
            self.anomalies
                .push(format!("stale: {owner} completed todo {uid} of plan {index} with fence {}{has}", claim.fence));
        }
        plan.completed.insert(uid);
        plan.ready_since.remove(&uid);
        plan.note_ready(now);
        StoreReply::Completed
    }

    /// Compares what was promised with what is stored, when all work is over. `confirmed` are completions that workers
    /// were told of.
    pub fn audit(&mut self, confirmed: &BTreeSet<TodoKey>) {
        for (index, plan) in self.plans.iter().enumerate() {
            let Ok(whole) = plan.engine.whole(plan.id) else {
                self.anomalies.push(format!("plan {index} cannot be read"));
                continue;
            };
            for uid in plan.deps.keys() {
                let stored = whole.get(Uid(*uid)).is_some_and(|todo| todo.status == Status::Completed);
                let promised = confirmed.contains(&TodoKey { plan: index, uid: *uid });
                if promised && !stored {
                    self.anomalies
                        .push(format!("lost: todo {uid} of plan {index} was confirmed as completed and is not"));
                }
            }
            self.anomalies.extend(plan.replay().into_iter().map(|wrong| format!("plan {index}: {wrong}")));
        }
    }
}

const fn plan_of(ask: &StoreRequest) -> usize {
    match ask {
        StoreRequest::Claim { plan } => *plan,
        StoreRequest::Renew(claim) | StoreRequest::Done(claim) => claim.job.plan,
    }
}

impl SimulatedPlan {
    fn new(todos: u32, clock: &Arc<AtomicI64>, random: &mut Random) -> Result<Self, EngineError> {
        let time = Arc::clone(clock);
        let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(move || time.load(Ordering::Relaxed)));
        let id = engine.choose_or_create(&PlanChoice::default())?;
        let mut ops = Vec::new();
        for number in 0..todos {
            let earlier =
                |random: &mut Random| number - 1 - u32::try_from(random.below(u64::from(number.min(12)))).unwrap_or(0);
            let needs: BTreeSet<u32> = match number {
                0 => BTreeSet::new(),
                _ => (0..random.below(4)).map(|_| earlier(random)).collect(),
            };
            let edit = Edit {
                content: Keep::Set(format!("todo {number}")),
                priority: Keep::Set(u8::try_from(1 + random.below(4)).unwrap_or(3)),
                depends_on: Keep::Set(needs.into_iter().map(|n| Ref::New(n as usize)).collect()),
                ..Edit::default()
            };
            ops.push(Op::Add(Add { edit, ..Add::default() }));
        }
        let changed = engine.submit(id, &WriteRequest::by(USER, None), &ops)?;
        let whole = engine.whole(id)?;
        let deps = whole
            .live()
            .into_iter()
            .map(|todo| (todo.uid.0, todo.depends_on.iter().filter_map(Dep::target).map(|dep| dep.0).collect()));
        let mut plan = Self {
            deps: deps.collect(),
            engine,
            id,
            ready_since: BTreeMap::new(),
            claimed: BTreeMap::new(),
            completed: BTreeSet::new(),
            confirmed: BTreeSet::new(),
            last_fence: 0,
            revision: changed.outcome.plan.revision,
            look: None,
        };
        plan.note_ready(0);
        Ok(plan)
    }

    /// Records which todos have become ready.
    fn note_ready(&mut self, now: i64) {
        for (uid, deps) in &self.deps {
            if !self.completed.contains(uid) && deps.iter().all(|dep| self.completed.contains(dep)) {
                self.ready_since.entry(*uid).or_insert(now);
            }
        }
    }

    fn fence(&self, uid: u64) -> Option<u64> {
        let part = self.engine.slice(self.id, &Footprint { todos: [Uid(uid)].into(), ..Footprint::default() }).ok()?;
        part.get(Uid(uid)).map(|todo| todo.fence)
    }

    /// What a claim without a transaction amounts to: the todo changes hands although someone has it.
    fn take_by_force(&self, uid: u64, owner: &str, lease: i64, now: i64) -> Option<punch_engine::ClaimResult> {
        let target = || Ref::Uid(Uid(uid));
        let _ = self.engine.submit(self.id, &WriteRequest::by(USER, None), &[Op::Unclaim(target())]);
        let request = WriteRequest::of(Actor::agent("worker", owner));
        let changed = self.engine.submit(self.id, &request, &[Op::Claim(target(), now + lease)]).ok()?;
        Some(punch_engine::ClaimResult { changed, uid: Uid(uid) })
    }

    /// What is wrong with the log: gaps, fences that do not grow, todos that were completed twice.
    fn replay(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let Ok(events) = self.engine.read(self.id, |snapshot| Ok(snapshot.events(0, usize::MAX)?)) else {
            return vec!["the log cannot be read".to_owned()];
        };
        let (mut revision, mut completed) = (0, BTreeSet::new());
        for event in &events {
            if event.revision != revision && event.revision != revision + 1 {
                wrong.push(format!("gap: revision {} follows {revision}", event.revision));
            }
            revision = event.revision;
            if let Some(uid) = event.completes()
                && !completed.insert(uid)
            {
                wrong.push(format!("again: todo {} was completed twice", uid.0));
            }
        }
        if completed.len() != self.completed.len() {
            wrong.push(format!(
                "{} completions are in the log, {} were accepted",
                completed.len(),
                self.completed.len()
            ));
        }
        wrong
    }
}
