//! A machine with the process of a worker: it registers, renews, claims, works, pushes and hands in. Every look does at most
//! one of these, so that the process can be stopped or killed between any two.

use std::path::PathBuf;

use punch_core::{Actor, Evidence, Footprint, Op, Ref, Status, Todo, Uid, WorkerId};
use punch_engine::{Engine, EngineError, HandedIn, ReadyQuery, WorkerBody, WorkerName, WriteRequest};
use punch_store::SessionKey;

use super::coordinator::Coordinator;
use super::record::Commit;
use super::{CLAIM, FleetMutant, FleetState};
use crate::options::MINUTE;

/// A machine of the fleet.
pub(super) struct SimulatedMachine {
    pub index: usize,
    pub name: String,
    /// Grows with each death: what was meant for an earlier process is dropped.
    pub life: u32,
    /// The number of the latest timer.
    pub timer: u64,
    pub stopped: bool,
    pub cut_off: bool,
    pub process: Option<Process>,
}

/// The process of a worker.
pub(super) struct Process {
    engine: Engine,
    worker: Option<WorkerName>,
    /// When the last renewal that the store confirmed was asked for.
    renewed: i64,
    job: Option<AgentJob>,
    /// Looks for todos of this worker that it does not work on.
    recovers: bool,
    starts: u64,
    coordinator: Option<Coordinator>,
}

/// A todo that an agent has.
struct AgentJob {
    run: u64,
    uid: u64,
    fence: u64,
    owner: String,
    stage: WorkStage,
}

/// How far the work on a todo is.
enum WorkStage {
    /// The agent is finished then; `None` while the todo is held.
    Working(Option<i64>),
    /// The claim holds, and the branch of the todo is at this commit.
    Checked(Option<Commit>),
    /// The remote has the branch.
    Pushed,
}

/// A report that the hooks of an agent send.
#[derive(Clone, Debug)]
pub(super) struct HookMessage {
    owner: String,
    uid: u64,
    fence: u64,
}

impl SimulatedMachine {
    pub const fn new(index: usize, name: String) -> Self {
        Self { index, name, life: 0, timer: 0, stopped: false, cut_off: false, process: None }
    }

    /// The folder that tells processes of different machines apart.
    pub fn folder(&self) -> PathBuf {
        PathBuf::from("/simulated").join(&self.name)
    }

    pub fn start(&mut self, shared: &FleetState) {
        self.process = Some(Process {
            engine: shared.connect(),
            worker: None,
            renewed: shared.now,
            job: None,
            recovers: true,
            starts: 0,
            coordinator: None,
        });
    }

    pub fn kill(&mut self, shared: &mut FleetState) {
        self.rest(shared);
        self.life += 1;
        self.process = None;
    }

    pub fn stop(&mut self, shared: &mut FleetState) {
        self.rest(shared);
        self.stopped = true;
    }

    /// A stopped or dead agent does no harm. What it does after it continues is judged then.
    fn rest(&self, shared: &mut FleetState) {
        if let Some(job) = self.process.as_ref().and_then(|process| process.job.as_ref()) {
            shared.record.rests(job.uid, self.index);
        }
    }

    /// Lets the process look around.
    pub fn tick(&mut self, shared: &mut FleetState) {
        let (index, cut_off, folder) = (self.index, self.cut_off, self.folder());
        let Some(process) = &mut self.process else { return };
        let at = ProcessPlace { index, name: &self.name, cut_off };
        if process.worker.is_none() {
            process.register(&at, &folder, shared);
            return;
        }
        if !process.work(&at, shared) {
            self.kill(shared);
            // A process that lost its name is started again by whatever started it.
            self.start(shared);
            return;
        }
        Coordinator::tick(&mut process.coordinator, &process.engine, &at, &folder, shared);
    }

    /// A report of an agent arrives, unless the machine is cut off. The hooks of a dead worker's agent still report.
    pub fn report(&self, report: &HookMessage, shared: &mut FleetState) {
        if shared.call(self.cut_off).is_none() {
            return;
        }
        let (uid, fence) = (Uid(report.uid), Some(report.fence));
        let op = Op::Done { target: Ref::Uid(uid), evidence: Some(Evidence::default()), fence };
        let request = WriteRequest::of(Actor::worker("agent", &report.owner));
        match shared.connect().submit(shared.plan, &request, &[op]) {
            Ok(_) => shared.record.accepted("a report", report.uid, report.fence),
            Err(_) => shared.record.refused_reports += 1,
        }
    }
}

/// Where a process runs.
pub(super) struct ProcessPlace<'a> {
    pub index: usize,
    pub name: &'a str,
    pub cut_off: bool,
}

impl Process {
    fn register(&mut self, at: &ProcessPlace<'_>, folder: &std::path::Path, shared: &mut FleetState) {
        let Some(answered) = shared.call(at.cut_off) else { return };
        let body = WorkerBody::this_process(folder, "1");
        let Ok(worker) = self.engine.register_worker(at.name, &body, shared.scene.lease) else { return };
        let until = shared.now + shared.scene.lease;
        shared.record.renewed((worker.name.clone(), worker.epoch), until, &[], 0);
        if answered {
            (self.worker, self.renewed) = (Some(worker), shared.now);
        }
    }

    /// Does the next thing for the agent. False if another process has the name of this one.
    fn work(&mut self, at: &ProcessPlace<'_>, shared: &mut FleetState) -> bool {
        let (now, lease) = (shared.now, shared.scene.lease);
        let late = now - self.renewed >= lease * 2 / 3 && !shared.has(FleetMutant::NeverStops);
        if late && let Some(job) = self.job.take() {
            shared.record.rests(job.uid, at.index);
            self.recovers = true;
        }
        // A machine that was stopped for a moment continues with its agent.
        if let Some(job) = self.job.as_ref().filter(|job| job.is_at_work(now)) {
            shared.record.works(job.uid, job.fence, at.index);
        }
        if now - self.renewed >= lease / 3 {
            return self.renew(shared, at);
        }
        if self.recovers {
            self.recover(shared, at);
            return true;
        }
        match self.job.take() {
            Some(job) => self.job = self.continue_with(job, shared, at),
            None => self.claim(shared, at),
        }
        true
    }

    fn renew(&mut self, shared: &mut FleetState, at: &ProcessPlace<'_>) -> bool {
        let (Some(worker), Some(answered)) = (&self.worker, shared.call(at.cut_off)) else { return true };
        let claims: Vec<(Uid, String)> = self.job.iter().map(|job| (Uid(job.uid), job.owner.clone())).collect();
        let (now, lease) = (shared.now, shared.scene.lease);
        let run = self.job.as_ref().map_or(0, |job| job.run);
        let given = (run, &claims[..], CLAIM);
        match self.engine.renew_worker(shared.plan, worker, &WorkerBody::default(), lease, given) {
            Ok(()) => {
                let name = (worker.name.clone(), worker.epoch);
                shared.record.renewed(name, now + lease, &claims, now + CLAIM);
                if answered {
                    self.renewed = now;
                }
                true
            }
            Err(EngineError::WorkerReplaced { .. }) => false,
            Err(_) => true,
        }
    }

    /// Opens todos again that this worker has in the store, and on which no agent of it works.
    fn recover(&mut self, shared: &mut FleetState, at: &ProcessPlace<'_>) {
        let Some(answered) = shared.call(at.cut_off) else { return };
        let (plan, engine) = (shared.plan, &self.engine);
        let Ok(Some(run)) = engine.fleet_run(plan) else {
            self.recovers = false;
            return;
        };
        let handed_in = engine.handed_in(plan, run.id).unwrap_or_default();
        for todo in engine.todos_of_workers(plan).unwrap_or_default() {
            let owner = todo.owner.as_deref().and_then(WorkerId::of).and_then(|owner| owner.fleet);
            let is_known = handed_in.iter().any(|(work, _)| work.uid == todo.uid);
            if owner.as_deref() == Some(at.name) && !is_known {
                let _ = reopen(engine, shared, run.id, &todo);
            }
        }
        self.recovers = !answered;
    }

    fn claim(&mut self, shared: &mut FleetState, at: &ProcessPlace<'_>) {
        let (Some(worker), Some(answered)) = (self.worker.clone(), shared.call(at.cut_off)) else { return };
        let (plan, now, engine) = (shared.plan, shared.now, &self.engine);
        let Ok(Some(run)) = engine.fleet_run(plan) else { return };
        let ready = engine.read(plan, |snapshot| Ok(ReadyQuery::of_plan(now).ready(snapshot, 20)?)).unwrap_or_default();
        let Some(next) = ready.iter().find(|todo| !todo.flags.reported) else { return };
        self.starts += 1;
        let (name, epoch, number) = (worker.name, worker.epoch, self.starts);
        let owner = WorkerId { run: run.id, epoch, number, fleet: Some(name.clone()) }.to_string();
        let Some(todo) = claim_as(engine, shared, run.id, next.uid, &owner) else { return };
        let (uid, fence) = (todo.uid.0, todo.fence);
        shared.record.claimed(now, (uid, fence), at.index, &owner, Some((name, epoch)), now + CLAIM);
        // A worker that never hears of its claim does not renew it.
        if answered {
            shared.record.works(uid, fence, at.index);
            shared.record.started.insert((uid, at.name.to_owned()));
            let ends = end_of_work(shared, uid);
            self.job = Some(AgentJob { run: run.id, uid, fence, owner, stage: WorkStage::Working(ends) });
        }
    }

    /// Does the next step of the work on a todo; `None` if it is over.
    fn continue_with(&self, mut job: AgentJob, shared: &mut FleetState, at: &ProcessPlace<'_>) -> Option<AgentJob> {
        let (plan, uid) = (shared.plan, job.uid);
        match job.stage {
            WorkStage::Working(None) => {
                job.stage = WorkStage::Working(end_of_work(shared, uid));
                return Some(job);
            }
            WorkStage::Working(Some(ends)) if ends > shared.now => return Some(job),
            WorkStage::Working(Some(_)) => {
                let Some(true) = shared.call(at.cut_off) else { return Some(job) };
                shared.record.rests(uid, at.index);
                send_reports(&job, shared, at);
                if !is_claimed(&self.engine, shared, uid, job.fence) {
                    return None;
                }
                job.stage = match shared.has(FleetMutant::HandsInFirst) {
                    true => WorkStage::Pushed,
                    false => WorkStage::Checked(shared.record.remote.branches.get(&uid).cloned()),
                };
                return Some(job);
            }
            WorkStage::Checked(ref seen) => {
                let Some(answered) = shared.call(at.cut_off) else { return Some(job) };
                if shared.record.remote.branches.get(&uid) != seen.as_ref() {
                    // Another machine has pushed; the claim decides.
                    job.stage = WorkStage::Working(Some(shared.now));
                    return Some(job);
                }
                shared.record.remote.branches.insert(uid, job.commit(at));
                if answered {
                    job.stage = WorkStage::Pushed;
                } else {
                    job.stage = WorkStage::Working(Some(shared.now));
                }
                return Some(job);
            }
            WorkStage::Pushed => {}
        }
        let Some(answered) = shared.call(at.cut_off) else { return Some(job) };
        let commit = job.commit(at);
        let (commit, branch) = (commit.name(), format!("punch/{}/{uid}", job.run));
        let work = HandedIn { uid: Uid(uid), fence: job.fence, commit, branch, proof: None };
        let handed = self.engine.hand_in(plan, job.run, &job.owner, &work);
        if handed.as_ref().is_ok_and(|handed| *handed) {
            shared.record.accepted("work", uid, job.fence);
        }
        (!answered).then_some(job)
    }
}

impl AgentJob {
    /// Returns true if the agent has not finished.
    fn is_at_work(&self, now: i64) -> bool {
        matches!(self.stage, WorkStage::Working(ends) if ends.is_none_or(|ends| ends > now))
    }

    fn commit(&self, at: &ProcessPlace<'_>) -> Commit {
        Commit { uid: self.uid, fence: self.fence, by: at.name.to_owned() }
    }
}

/// When an agent that starts now is finished; `None` while the todo is held.
fn end_of_work(shared: &mut FleetState, uid: u64) -> Option<i64> {
    let mean = shared.scene.work;
    let work = shared.random.exponential(mean).clamp(mean / 20, mean * 4);
    (!shared.held.contains(&uid)).then_some(shared.now + work)
}

/// The hooks of an agent report the end of its work: at once or late, once or twice, or never.
fn send_reports(job: &AgentJob, shared: &mut FleetState, at: &ProcessPlace<'_>) {
    if shared.scene.fault_every == 0 {
        return;
    }
    for _ in 0..shared.random.below(3) {
        let late = if shared.random.percent(30) { 5 * MINUTE } else { 2_000 };
        let when = shared.now + shared.random.between(1, late);
        let report = HookMessage { owner: job.owner.clone(), uid: job.uid, fence: job.fence };
        shared.reports.push((at.index, when, report));
    }
}

/// Returns true if the todo is in progress under this fence.
pub(super) fn is_claimed(engine: &Engine, shared: &FleetState, uid: u64, fence: u64) -> bool {
    let first = Footprint { todos: [Uid(uid)].into(), ..Footprint::default() };
    let ours = |todo: &&Todo| todo.is_live() && todo.status == Status::InProgress && todo.fence == fence;
    engine.slice(shared.plan, &first).is_ok_and(|part| part.get(Uid(uid)).filter(ours).is_some())
}

/// Claims a todo under a name of the run.
pub(super) fn claim_as(engine: &Engine, shared: &FleetState, run: u64, uid: Uid, owner: &str) -> Option<Todo> {
    let request = WriteRequest::of(Actor::runner(run, Some(owner)));
    let key = SessionKey::new(format!("s-{owner}"), None);
    engine.claim_for_worker(shared.plan, &request, &key, uid, CLAIM).ok()
}

/// Opens a todo again, as a runner does for one whose worker is gone.
pub(super) fn reopen(engine: &Engine, shared: &FleetState, run: u64, todo: &Todo) -> Result<bool, EngineError> {
    if !todo.flags.reported {
        return engine.reopen_unreported(shared.plan, run, todo);
    }
    let request = WriteRequest::of(Actor::runner(run, todo.owner.as_deref()));
    match engine.submit(shared.plan, &request, &[Op::Reopen(Ref::Uid(todo.uid))]) {
        Ok(_) => Ok(true),
        Err(EngineError::Refused(_)) => Ok(false),
        Err(error) => Err(error),
    }
}
