//! The event loop: messages in flight, hosts that crash, pause and lose the network, and a clock that jumps from one event
//! to the next.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use punch_engine::EngineError;
use punch_testkit::random::Random;

use crate::figures::SimulationFigures;
use crate::message::{RequestEnvelope, StoreReply, StoreRequest, TodoKey};
use crate::options::{HOUR, MINUTE, SECOND, SimulationOptions};
use crate::server::{RequestSender, SimulatedServer};
use crate::worker::{Effects, SimulatedWorker, WorkNotice};

/// No simulation lasts longer; one that does has come to a standstill.
const LONGEST: i64 = 60 * 24 * HOUR;

/// Something that happens at a moment.
enum WorldEvent {
    /// A worker's own timer.
    Wake { worker: usize, life: u32 },
    /// A request reaches the store.
    Request(RequestEnvelope),
    /// An answer reaches its worker.
    Answer(RequestEnvelope, StoreReply, u64),
    /// A worker dies; it starts again later.
    Crash { worker: usize },
    /// A worker starts, for the first time or after it died. One that died before this happened starts later.
    Start { worker: usize, life: u32 },
    /// A worker is stopped for a while, with or without its clock.
    Pause { worker: usize, clock_too: bool },
    /// A worker continues.
    Resume { worker: usize },
    /// A host loses its connection for a while.
    Partition { worker: usize },
}

/// A worker on its host.
struct SimulatedHost {
    name: String,
    worker: Option<SimulatedWorker>,
    life: u32,
    /// Nothing happens on it before then.
    paused_until: i64,
    /// Its clock stood still for this long.
    lost_time: i64,
    /// Its clock counts this many millionths faster than the store's.
    drift: i64,
    /// Its wall clock is off by this much.
    skew: i64,
    cut_off_until: i64,
    /// What it would have done while it was paused.
    delayed: Vec<WorldEvent>,
    random: Random,
}

impl SimulatedHost {
    /// What the monotonic clock of the host shows.
    fn clock(&self, now: i64) -> i64 {
        let counted = now - self.lost_time;
        counted + counted / 1_000_000 * self.drift
    }

    /// When the store's clock shows what this host's clock will show then.
    fn at(&self, clock: i64, now: i64) -> i64 {
        let ahead = clock - self.clock(now);
        (now + ahead - ahead / 1_000_000 * self.drift).max(now + 1)
    }
}

/// A fleet at work.
pub struct SimulatedWorld {
    scene: SimulationOptions,
    now: i64,
    serial: u64,
    queue: BinaryHeap<Reverse<(i64, u64)>>,
    happenings: BTreeMap<u64, WorldEvent>,
    hosts: Vec<SimulatedHost>,
    server: SimulatedServer,
    random: Random,
    /// Completions that workers were told of.
    confirmed: BTreeSet<TodoKey>,
    /// Who works on a todo right now.
    at_work: BTreeMap<TodoKey, usize>,
    figures: SimulationFigures,
}

/// How a simulation ended.
pub struct SimulationResult {
    /// Broken promises.
    pub anomalies: Vec<String>,
    /// What was measured.
    pub figures: SimulationFigures,
}

impl SimulatedWorld {
    /// A fleet before its first message.
    pub fn new(scene: SimulationOptions) -> Result<Self, EngineError> {
        let mut random = Random::new(scene.seed, 0);
        let server = SimulatedServer::new(&scene, &mut random)?;
        let mut world = Self {
            scene,
            now: 0,
            serial: 0,
            queue: BinaryHeap::new(),
            happenings: BTreeMap::new(),
            hosts: Vec::new(),
            server,
            random,
            confirmed: BTreeSet::new(),
            at_work: BTreeMap::new(),
            figures: SimulationFigures::new(scene.workers),
        };
        for index in 0..scene.workers as usize {
            let mut random = Random::new(scene.seed, 1 + index as u64);
            let skew = scene.faults.skew;
            world.hosts.push(SimulatedHost {
                // Every third worker has the name of another one: only fences tell them apart.
                name: format!("host-{}", if index % 3 == 2 { index - 1 } else { index }),
                worker: None,
                life: 0,
                paused_until: 0,
                lost_time: 0,
                drift: random.between(-200, 200),
                skew: random.between(-skew, skew + 1),
                cut_off_until: 0,
                delayed: Vec::new(),
                random,
            });
            let start = world.random.between(0, MINUTE);
            world.plan(start, WorldEvent::Start { worker: index, life: 0 });
            world.plan_faults(index);
        }
        Ok(world)
    }

    /// Runs until every todo is completed.
    pub fn run(mut self) -> SimulationResult {
        while self.server.open() > 0 && self.server.anomalies.len() < 20 {
            let Some(Reverse((at, serial))) = self.queue.pop() else { break };
            let Some(happening) = self.happenings.remove(&serial) else { continue };
            self.now = at;
            if at > LONGEST {
                let open = self.server.open();
                self.server.anomalies.push(format!("standstill: {open} todos are open after {} days", at / HOUR / 24));
                break;
            }
            self.happen(happening);
        }
        self.server.audit(&self.confirmed);
        self.figures.span = self.now;
        self.figures.requests = self.server.served;
        SimulationResult { anomalies: self.server.anomalies, figures: self.figures }
    }

    fn plan(&mut self, at: i64, happening: WorldEvent) {
        self.serial += 1;
        self.queue.push(Reverse((at, self.serial)));
        self.happenings.insert(self.serial, happening);
    }

    /// The first fault of each kind for a host.
    fn plan_faults(&mut self, worker: usize) {
        let faults = self.scene.faults;
        let kinds = [
            (faults.crash_every, WorldEvent::Crash { worker }),
            (faults.pause_every, WorldEvent::Pause { worker, clock_too: false }),
            (faults.suspend_every, WorldEvent::Pause { worker, clock_too: true }),
            (faults.partition_every, WorldEvent::Partition { worker }),
        ];
        for (every, happening) in kinds {
            if every > 0 {
                let at = self.now + self.hosts[worker].random.exponential(every);
                self.plan(at, happening);
            }
        }
    }

    fn happen(&mut self, happening: WorldEvent) {
        match happening {
            WorldEvent::Wake { worker, life } => {
                if self.delay(worker, || WorldEvent::Wake { worker, life }) || self.hosts[worker].life != life {
                    return;
                }
                self.wake(worker);
            }
            WorldEvent::Request(request) => self.deliver(request),
            WorldEvent::Answer(request, answer, revision) => {
                let worker = request.worker;
                if self.delay(worker, || WorldEvent::Answer(request, answer, revision)) {
                    return;
                }
                self.hear(request, answer);
            }
            WorldEvent::Crash { worker } => self.crash(worker),
            WorldEvent::Start { worker, life } if life == self.hosts[worker].life => self.start(worker),
            WorldEvent::Start { .. } => {}
            WorldEvent::Pause { worker, clock_too } => self.pause(worker, clock_too),
            WorldEvent::Resume { worker } => {
                for happening in std::mem::take(&mut self.hosts[worker].delayed) {
                    self.happen(happening);
                }
            }
            WorldEvent::Partition { worker } => {
                let host = &mut self.hosts[worker];
                host.cut_off_until = self.now + host.random.between(SECOND, 2 * HOUR);
                let again = host.cut_off_until + host.random.exponential(self.scene.faults.partition_every);
                self.figures.partitions += 1;
                self.plan(again, WorldEvent::Partition { worker });
            }
        }
    }

    /// Returns true if the host is paused; what happens to it waits until it continues.
    fn delay(&mut self, worker: usize, happening: impl FnOnce() -> WorldEvent) -> bool {
        let paused = self.hosts[worker].paused_until > self.now;
        if paused {
            self.hosts[worker].delayed.push(happening());
        }
        paused
    }

    fn start(&mut self, worker: usize) {
        let (scene, host) = (self.scene, &mut self.hosts[worker]);
        host.worker = Some(SimulatedWorker::new(scene.seats, scene.lease, scene.mutant, host.clock(self.now)));
        self.wake(worker);
    }

    fn crash(&mut self, worker: usize) {
        let host = &mut self.hosts[worker];
        let gone = host.worker.take();
        host.life += 1;
        let life = host.life;
        let back = self.now + host.random.between(SECOND, 30 * MINUTE);
        let again = back + host.random.exponential(self.scene.faults.crash_every);
        for claim in gone.iter().flat_map(SimulatedWorker::claims) {
            self.leave(claim.job, worker);
            self.figures.interrupted += 1;
        }
        self.figures.crashes += 1;
        self.plan(back, WorldEvent::Start { worker, life });
        self.plan(again, WorldEvent::Crash { worker });
    }

    fn pause(&mut self, worker: usize, clock_too: bool) {
        let every = if clock_too { self.scene.faults.suspend_every } else { self.scene.faults.pause_every };
        let host = &mut self.hosts[worker];
        if host.paused_until <= self.now {
            let length = host.random.between(SECOND, HOUR);
            host.paused_until = self.now + length;
            if clock_too {
                host.lost_time += length;
            }
            self.figures.pauses += 1;
            let end = host.paused_until;
            self.plan(end, WorldEvent::Resume { worker });
            // A stopped agent does no harm. What it does after it continues is judged then.
            let claims: Vec<_> = self.hosts[worker].worker.iter().flat_map(SimulatedWorker::claims).collect();
            claims.into_iter().for_each(|claim| self.leave(claim.job, worker));
        }
        let next = self.hosts[worker].paused_until + self.hosts[worker].random.exponential(every);
        self.plan(next, WorldEvent::Pause { worker, clock_too });
    }

    fn wake(&mut self, worker: usize) {
        let plans = u64::from(self.scene.plans);
        let host = &mut self.hosts[worker];
        let clock = host.clock(self.now);
        let Some(running) = &mut host.worker else { return };
        let (mut effects, random) = (Effects::default(), &mut host.random);
        let mut choose = || usize::try_from(random.below(plans)).unwrap_or(0);
        running.wake(clock, &mut choose, &mut effects);
        self.follow_up(worker, effects);
    }

    fn hear(&mut self, request: RequestEnvelope, answer: StoreReply) {
        let (mean, host) = (self.scene.work, &mut self.hosts[request.worker]);
        if host.life != request.life {
            return;
        }
        // A host that was suspended meanwhile cannot know how late the answer is; fences are there for that.
        let unaware = host.lost_time != request.lost_time;
        let work = host.random.exponential(mean).clamp(mean / 20, mean * 6);
        let clock = host.clock(self.now);
        let Some(running) = &mut host.worker else { return };
        let mut effects = Effects::default();
        running.hear(clock, (request.seat, request.number), request.sent, (request.ask, answer), work, &mut effects);
        if let (StoreRequest::Done(claim), StoreReply::Completed) = (request.ask, answer) {
            self.confirmed.insert(claim.job);
        }
        if unaware {
            effects.notices.retain(|notice| !matches!(notice, WorkNotice::Begins(_)));
        }
        self.follow_up(request.worker, effects);
    }

    /// Sends what a worker wants to send, notes what its agents do, and sets its next timer.
    fn follow_up(&mut self, worker: usize, effects: Effects) {
        for notice in effects.notices {
            self.note(worker, notice);
        }
        for (seat, number, ask) in effects.send {
            let host = &self.hosts[worker];
            let plan = match ask {
                StoreRequest::Claim { plan } => plan,
                StoreRequest::Renew(claim) | StoreRequest::Done(claim) => claim.job.plan,
            };
            let request = RequestEnvelope {
                worker,
                life: host.life,
                seat,
                number,
                sent: host.clock(self.now),
                lost_time: host.lost_time,
                seen: self.server.revision(plan),
                ask,
            };
            self.send(request);
        }
        let host = &self.hosts[worker];
        if let Some(running) = &host.worker {
            let at = host.at(running.next_moment(), self.now);
            let life = host.life;
            self.plan(at, WorldEvent::Wake { worker, life });
        }
    }

    fn send(&mut self, request: RequestEnvelope) {
        let copies = 1 + u32::from(self.random.per_ten_thousand(self.scene.faults.doubled));
        for _ in 0..copies {
            if let Some(at) = self.travel(request.worker) {
                self.plan(at, WorldEvent::Request(request));
            }
        }
    }

    fn deliver(&mut self, request: RequestEnvelope) {
        let host = &self.hosts[request.worker];
        let name = host.name.clone();
        let caller = RequestSender { owner: &name, wall_clock: self.now + host.skew, seen: request.seen };
        let served = self.server.serve(self.now, &request.ask, &caller);
        self.figures.waits.extend(served.waited);
        if let Some(at) = self.travel(request.worker) {
            self.plan(at, WorldEvent::Answer(request, served.answer, served.revision));
        }
    }

    /// When a message arrives; `None` if it is lost on the way.
    fn travel(&mut self, worker: usize) -> Option<i64> {
        let faults = self.scene.faults;
        let lost = self.random.per_ten_thousand(faults.lost) || self.hosts[worker].cut_off_until > self.now;
        let longest = if self.random.per_ten_thousand(faults.late) { MINUTE } else { 50 };
        let at = self.now + 1 + self.random.between(0, longest);
        self.figures.lost += u64::from(lost);
        (!lost).then_some(at)
    }

    fn note(&mut self, worker: usize, notice: WorkNotice) {
        match notice {
            WorkNotice::Begins(claim) => {
                if let Some(other) = self.at_work.insert(claim.job, worker).filter(|other| *other != worker) {
                    let (job, names) = (claim.job, [other, worker].map(|index| self.hosts[index].name.clone()));
                    self.server.anomalies.push(format!(
                        "twice: {} and {} work on todo {} of plan {} at the same time",
                        names[0], names[1], job.uid, job.plan
                    ));
                }
            }
            WorkNotice::Stops(claim, after) => {
                self.leave(claim.job, worker);
                self.figures.wasted += after;
                self.figures.interrupted += 1;
            }
            WorkNotice::Completes(claim, after) => {
                self.leave(claim.job, worker);
                self.figures.useful += after;
                self.figures.completed[worker] += 1;
            }
        }
    }

    fn leave(&mut self, job: TodoKey, worker: usize) {
        if self.at_work.get(&job) == Some(&worker) {
            self.at_work.remove(&job);
        }
    }
}
