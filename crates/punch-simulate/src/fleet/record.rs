//! A plain record of what a fleet may do, against which everything that happens is checked, and the git remote of the fleet.

use std::collections::{BTreeMap, BTreeSet};

use punch_core::{Status, Uid};
use punch_engine::Engine;
use punch_store::PlanId;

/// The work on a todo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub uid: u64,
    pub fence: u64,
    /// The name of the machine that made it.
    pub by: String,
}

impl Commit {
    pub fn name(&self) -> String {
        format!("{}-{}-{}", self.uid, self.fence, self.by)
    }
}

/// The branches of the git remote.
#[derive(Debug, Default)]
pub(super) struct GitRemote {
    /// The branch of each todo.
    pub branches: BTreeMap<u64, Commit>,
    /// What the result branch contains, oldest first.
    pub result: Vec<Commit>,
}

/// Who has a todo.
#[derive(Clone, Debug)]
struct TodoHolder {
    owner: String,
    machine: usize,
    /// Name and epoch of the worker; `None` for a coordinator.
    worker: Option<(String, u32)>,
    fence: u64,
    until: i64,
}

/// The right to coordinate the plan.
#[derive(Clone, Copy, Debug)]
struct Grant {
    number: u64,
    machine: usize,
    until: i64,
}

/// Everything that is known about a fleet without asking the engine.
#[derive(Debug, Default)]
pub(super) struct FleetRecord {
    pub anomalies: Vec<String>,
    pub remote: GitRemote,
    pub completed: BTreeSet<u64>,
    /// Agents that started: todo and machine.
    pub started: BTreeSet<(u64, String)>,
    alive_until: BTreeMap<(String, u32), i64>,
    holders: BTreeMap<u64, TodoHolder>,
    /// Who works on a todo right now, and under which fence.
    at_work: BTreeMap<u64, (usize, u64)>,
    grant: Option<Grant>,
    last_fence: u64,
    pub kills: u64,
    pub stops: u64,
    pub cuts: u64,
    pub lost: u64,
    pub taken_over: u64,
    pub replaced: u64,
    pub refused_reports: u64,
}

impl FleetRecord {
    /// What went wrong on purpose and what followed, in one line.
    pub fn faults(&self) -> String {
        format!(
            "{} kills, {} stops, {} cuts, {} calls lost, {} todos taken over, {} coordinators replaced, {} reports refused",
            self.kills, self.stops, self.cuts, self.lost, self.taken_over, self.replaced, self.refused_reports
        )
    }

    /// The machine that coordinates.
    pub fn coordinator(&self) -> Option<usize> {
        self.grant.map(|grant| grant.machine)
    }

    /// A worker has renewed its record, and these claims with it.
    pub fn renewed(&mut self, worker: (String, u32), until: i64, claims: &[(Uid, String)], claims_until: i64) {
        self.alive_until.insert(worker, until);
        for (uid, owner) in claims {
            if let Some(holder) = self.holders.get_mut(&uid.0).filter(|holder| holder.owner == *owner) {
                holder.until = claims_until;
            }
        }
    }

    /// A todo was claimed.
    pub fn claimed(
        &mut self,
        now: i64,
        (uid, fence): (u64, u64),
        machine: usize,
        owner: &str,
        worker: Option<(String, u32)>,
        until: i64,
    ) {
        if let Some(holder) = self.holders.get(&uid)
            && holder.until > now
            && self.is_alive(holder, now)
            && self.at_work.get(&uid) == Some(&(holder.machine, holder.fence))
        {
            self.anomalies.push(format!("lease: {owner} got todo {uid}, on which {} works", holder.owner));
        }
        if fence <= self.last_fence {
            self.anomalies.push(format!("fence: {fence} of todo {uid} is not above {}", self.last_fence));
        }
        if self.completed.contains(&uid) {
            self.anomalies.push(format!("again: {owner} got todo {uid}, which is completed"));
        }
        self.last_fence = self.last_fence.max(fence);
        self.holders.insert(uid, TodoHolder { owner: owner.to_owned(), machine, worker, fence, until });
    }

    fn is_alive(&self, holder: &TodoHolder, now: i64) -> bool {
        holder.worker.as_ref().is_some_and(|worker| self.alive_until.get(worker).is_some_and(|until| *until > now))
    }

    /// An agent starts on a todo, or continues after its machine was stopped.
    pub fn works(&mut self, uid: u64, fence: u64, machine: usize) {
        if let Some((other, _)) = self.at_work.insert(uid, (machine, fence)).filter(|(other, _)| *other != machine) {
            self.anomalies.push(format!("twice: machines {other} and {machine} work on todo {uid} at the same time"));
        }
    }

    /// An agent ends, or its machine is stopped.
    pub fn rests(&mut self, uid: u64, machine: usize) {
        if self.at_work.get(&uid).is_some_and(|(worker, _)| *worker == machine) {
            self.at_work.remove(&uid);
        }
    }

    /// The store accepted a report or work under this fence.
    pub fn accepted(&mut self, what: &str, uid: u64, fence: u64) {
        if self.holders.get(&uid).is_none_or(|holder| holder.fence != fence) {
            self.anomalies.push(format!("stale: {what} of todo {uid} with the old fence {fence} was accepted"));
        }
    }

    /// A machine has become the coordinator; returns the number of its grant.
    pub fn granted(&mut self, now: i64, machine: usize, until: i64) -> u64 {
        if let Some(grant) = self.grant.filter(|grant| grant.machine != machine && grant.until > now) {
            let left = grant.until - now;
            self.anomalies.push(format!(
                "two coordinators: machine {machine} took the plan, which machine {} has for {left} ms more",
                grant.machine
            ));
        }
        let number = self.grant.map_or(1, |grant| grant.number + 1);
        self.grant = Some(Grant { number, machine, until });
        number
    }

    /// A coordinator has renewed its lease.
    pub fn grant_renewed(&mut self, number: u64, until: i64) {
        if let Some(grant) = self.grant.as_mut().filter(|grant| grant.number == number) {
            grant.until = until;
        }
    }

    /// The store accepted a write of a coordinator.
    pub fn coordinated(&mut self, number: u64, what: &str) {
        if let Some(grant) = self.grant.filter(|grant| grant.number != number) {
            self.anomalies.push(format!("epoch: coordinator {number} {what} after {} took over", grant.number));
        }
    }

    /// A coordinator has opened a todo again.
    pub fn taken_over(&mut self, now: i64, uid: u64) {
        self.taken_over += 1;
        if let Some(holder) = self.holders.get(&uid)
            && self.is_alive(holder, now)
            && self.at_work.get(&uid) == Some(&(holder.machine, holder.fence))
        {
            self.anomalies.push(format!("live: todo {uid} was taken from {}, which is alive", holder.owner));
        }
        self.holders.remove(&uid);
    }

    /// A todo was completed under this fence.
    pub fn completes(&mut self, uid: u64, fence: u64) {
        self.accepted("the completion", uid, fence);
        if !self.completed.insert(uid) {
            self.anomalies.push(format!("again: todo {uid} was completed twice"));
        }
    }

    /// Compares the record with what is stored and with the result branch, when all work is over. Returns how many writes
    /// the plan has seen.
    pub fn audit(&mut self, engine: &Engine, plan: PlanId) -> u64 {
        let Ok(whole) = engine.whole(plan) else {
            self.anomalies.push("the plan cannot be read".to_owned());
            return 0;
        };
        for todo in whole.live() {
            let (uid, stored) = (todo.uid.0, todo.status == Status::Completed);
            if stored != self.completed.contains(&uid) {
                self.anomalies.push(format!("todo {uid} is {:?} in the store, unlike in the record", todo.status));
            }
            let commits = self.remote.result.iter().filter(|commit| commit.uid == uid).count();
            if commits > 1 || (stored && commits == 0) {
                self.anomalies.push(format!("git: {commits} commits of todo {uid} are on the result branch"));
            }
        }
        let events = engine.read(plan, |snapshot| Ok(snapshot.events(0, usize::MAX)?)).unwrap_or_default();
        let mut completed = BTreeSet::new();
        for uid in events.iter().filter_map(punch_core::Event::completes) {
            if !completed.insert(uid) {
                self.anomalies.push(format!("again: todo {} is completed twice in the log", uid.0));
            }
        }
        events.last().map_or(0, |event| event.revision)
    }
}
