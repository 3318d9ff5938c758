//! Works through a plan: assigns todos to agents, follows what they report, and completes what passes its check. One
//! thread decides; agents, checks and questions to the user have threads of their own and send messages to it.

mod assign;
mod begin;
mod check;
mod controls;
mod effects;
mod end;
mod fleet_part;
mod hand_in;
mod housekeeping;
mod journal;
mod launch;
mod notify;
mod plan_cache;
mod prepare;
mod publish;
mod questions;
mod seat;
mod store_retry;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use punch_core::{Actor, Plan, Uid, WorkerId};
use punch_engine::config::Settings;
use punch_engine::{Consents, Engine, EngineError, HandedIn, RunControls, RunOutcome, RunRecord, Sum, WorkerName};
use punch_store::{PlanId, StoreError};

use crate::agent::{AgentProgram, AgentReport, RunningAgent};
use crate::error::RunError;
use crate::fleet::{FleetPart, FleetRole, Watchdog};
use crate::folder::Folder;
use crate::interrupt::Interrupt;
use crate::meter::RunMeter;
use crate::observer::{RunEvent, RunObserver};
use crate::options::RunOptions;
use crate::worktree::Lanes;
use journal::RunJournal;
use notify::InboxWatch;
use plan_cache::PlanCache;
use prepare::LaneSetup;
use publish::PublishedSeat;
use questions::PendingQuestion;
use seat::{CheckVerdict, Seat, SeatEvent, SeatRules, SeatState};
use store_retry::StoreRetry;

/// How long the runner waits for a message before it does its housekeeping.
const TICK: Duration = Duration::from_millis(200);

/// Messages handled before the next housekeeping: an agent that floods must not keep the runner from renewing claims,
/// watching limits, and stopping.
const MESSAGES_PER_ROUND: usize = 256;

/// The project that a run works on.
pub struct RunProject<'a> {
    /// The engine over the store of the project.
    pub engine: &'a Engine,
    /// The plan to work on.
    pub plan: PlanId,
    /// The name of the plan.
    pub plan_name: String,
    /// The settings of the project.
    pub settings: &'a Settings,
    /// The top of the user's worktree.
    pub root: PathBuf,
    /// The path of the database.
    pub store: PathBuf,
    /// Variables that lead an agent's programs to the store.
    pub store_variables: Vec<(String, String)>,
    /// The folder for worktrees of agents, outside of the project. If `None`, they go beside the store.
    pub trees: Option<PathBuf>,
    /// The approvals of check commands.
    pub consents: Option<Consents>,
    /// The path of this program, which agents start as their MCP server.
    pub punch: PathBuf,
    /// Variables that agents must not inherit.
    pub without: Vec<String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunResult {
    /// The number of the run.
    pub run: u64,
    /// How the run ended.
    pub outcome: RunOutcome,
    /// Details of the outcome, one line each.
    pub because: Vec<String>,
    /// Number of todos completed since the run was last begun or resumed.
    pub completed: u64,
    /// Everything the run spent.
    pub spent: Sum,
}

/// A message to the thread that decides.
enum RunnerMessage {
    /// An agent reported something.
    Agent(AgentReport),
    /// The check of a todo is over.
    Checked(Uid, Result<CheckVerdict, EngineError>),
    /// The lane for this start of an agent is prepared; the error says why not.
    Prepared(u64, Result<(), String>),
}

/// Why the run starts nothing more.
#[derive(Clone, Debug, PartialEq, Eq)]
enum StopCause {
    /// A limit was reached.
    Budget(String),
    /// The user stopped the run.
    Interrupted,
}

/// A run at work.
struct Runner<'s, 'e> {
    world: &'e RunProject<'e>,
    options: &'e RunOptions,
    journal: &'e RunJournal<'e>,
    interrupt: &'e Interrupt,
    lanes: Option<&'e Lanes>,
    scope: &'s Scope<'s, 'e>,
    run: RunRecord,
    folder: Folder,
    meter: RunMeter,
    rules: SeatRules,
    setup: LaneSetup,
    /// The port that belongs to the lane of each todo.
    ports: HashMap<Uid, u16>,
    agents: Vec<Box<dyn AgentProgram>>,
    /// The seats of agents, then one for each check of a todo that was reported before.
    seats: Vec<Seat>,
    /// The processes of agents by start number.
    processes: HashMap<u64, Box<dyn RunningAgent>>,
    send: SyncSender<RunnerMessage>,
    /// The number of the last start of an agent or check.
    count: u64,
    completed: u64,
    stop: Option<StopCause>,
    /// The plan, as last read.
    cache: PlanCache,
    /// The stamp of the store when the todos of seats were last compared with the plan.
    compared: Option<u64>,
    /// True if the user was informed that the run waits. Reset by the next message.
    waiting: bool,
    /// Questions that agents wait for, by number.
    questions: HashMap<u64, PendingQuestion>,
    /// The user's controls of the run, as last read.
    controls: RunControls,
    /// Nothing new is started until the user resumes the run.
    paused: bool,
    /// The last stored state of each seat, by number.
    published: HashMap<usize, PublishedSeat>,
    /// What has entered the inbox, for notifications.
    inbox: InboxWatch,
    /// When the lease of the plan, or the claims of a worker, were last renewed.
    renewed: Instant,
    /// The part that the runner has in a fleet; `None` for `punch run`.
    fleet: Option<FleetPart<'e>>,
    /// Ends the agents of a worker that does not reach the store.
    watchdog: Option<&'e Watchdog>,
    /// Work that was handed in and is being verified, by todo.
    handed_in: HashMap<Uid, HandedIn>,
    /// When a coordinator last looked for work that was handed in.
    looked: Option<Instant>,
    /// What a part of a fleet had heard of changes when it last compared the plan, and when.
    heard: Option<(u64, Instant)>,
    /// What a coordinator whose worker is leaving still verifies: what was handed in when its last agent had left.
    last_batch: Option<HashSet<Uid>>,
    /// Why a coordinator leaves the plan to other workers.
    gives_up: Option<String>,
    /// The run of the fleet has ended.
    run_over: bool,
}

/// Works through the plan until nothing more can be done, a limit is reached, or the user stops the run.
pub fn run(
    world: &RunProject<'_>,
    options: &RunOptions,
    observer: &dyn RunObserver,
    interrupt: &Interrupt,
) -> Result<RunResult, RunError> {
    run_part(world, options, observer, interrupt, None)
}

/// Works through the plan, alone or with a part in a fleet.
pub(crate) fn run_part(
    world: &RunProject<'_>,
    options: &RunOptions,
    observer: &dyn RunObserver,
    interrupt: &Interrupt,
    fleet: Option<FleetPart<'_>>,
) -> Result<RunResult, RunError> {
    let journal = RunJournal::new(observer);
    let working = fleet.filter(|part| part.part == FleetRole::Worker);
    let _seats = working.map(|part| part.fleet.pool.lend(world.plan));
    let begun = match fleet {
        None => begin::begin(world, options, &journal)?,
        Some(part) => fleet_part::begin(world, options, &journal, part)?,
    };
    let lanes = begun.lanes.as_ref();
    let watchdog = begun.watchdog.as_ref();
    let done = thread::scope(|scope| {
        let shared = begin::RunShared { world, options, journal: &journal, interrupt, lanes, fleet, watchdog };
        let (mut runner, receive) = begin::runner(scope, &shared, &begun)?;
        runner.watch_agents();
        let worked = runner.work(&receive);
        watchdog.into_iter().for_each(Watchdog::end);
        runner.forget_questions();
        if worked.is_err() {
            // Stops the checks that are still running: the scope waits for each of them.
            interrupt.ask();
            interrupt.ask();
        }
        // Threads of agents that wait for room in the channel end without a receiver.
        drop(receive);
        runner.processes.clear();
        worked.and_then(|()| runner.end())
    });
    drop(begun);
    done
}

impl<'s, 'e> Runner<'s, 'e> {
    fn work(&mut self, receive: &Receiver<RunnerMessage>) -> Result<(), RunError> {
        match self.fleet {
            None => self.recover_leftovers()?,
            Some(part) => self.recover_part(part)?,
        }
        loop {
            self.housekeeping()?;
            self.assign()?;
            if self.is_over()? {
                return Ok(());
            }
            match receive.recv_timeout(TICK) {
                Ok(message) => self.handle(message)?,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => continue,
            }
            // Messages that already wait are handled before anything is assigned.
            for message in receive.try_iter().take(MESSAGES_PER_ROUND) {
                self.handle(message)?;
            }
        }
    }

    fn handle(&mut self, message: RunnerMessage) -> Result<(), RunError> {
        self.waiting = false;
        match message {
            RunnerMessage::Agent(report) => self.agent_reported(report),
            RunnerMessage::Prepared(start, prepared) => {
                let waits =
                    |seat: &Seat| matches!(&seat.state, SeatState::Preparing { worker, .. } if worker.start == start);
                let Some(at) = self.seats.iter().position(waits) else { return Ok(()) };
                self.dispatch(at, SeatEvent::Prepared(prepared))
            }
            RunnerMessage::Checked(uid, verdict) => {
                let of = |seat: &Seat| matches!(&seat.state, SeatState::Checking { job, .. } if job.todo.uid == uid);
                let verdict = verdict?;
                let Some(at) = self.seats.iter().position(of) else { return Ok(()) };
                self.dispatch(at, SeatEvent::Checked(verdict))?;
                self.seats.retain(|seat| seat.number > 0 || !seat.state.is_idle());
                Ok(())
            }
        }
    }

    /// Returns a number that no other start of an agent or check in this part of the run has.
    fn next_number(&mut self) -> u64 {
        if let Some(FleetPart { fleet, part: FleetRole::Worker }) = self.fleet {
            return fleet.next_start();
        }
        self.count += 1;
        self.count
    }

    /// Returns a new owner for claims.
    fn next_owner(&mut self) -> WorkerId {
        let (run, number) = (self.run.id, self.next_number());
        match self.fleet {
            Some(FleetPart { fleet, part: FleetRole::Worker }) => {
                let WorkerName { name, epoch } = fleet.worker.clone();
                WorkerId { run, epoch, number, fleet: Some(name) }
            }
            _ => WorkerId { run, epoch: self.run.body.epoch, number, fleet: None },
        }
    }

    fn report(&self, event: &RunEvent) {
        self.journal.report(event);
    }

    fn remark(&self, what: impl Into<String>) {
        self.report(&RunEvent::Remark { what: what.into() });
    }

    /// Returns the runner as an actor, acting on the claim of `owner` if given.
    fn actor(&self, owner: Option<&str>) -> Actor {
        Actor::runner(self.run.id, owner)
    }

    fn store_retry(&self) -> StoreRetry<'e> {
        StoreRetry { world: self.world, journal: self.journal, interrupt: self.interrupt }
    }

    /// Uses the store, waiting for a store that does not answer.
    fn persist<T>(&self, body: impl FnMut(&Engine) -> Result<T, EngineError>) -> Result<T, EngineError> {
        self.store_retry().persist(body)
    }

    /// Returns the current plan.
    fn plan(&mut self) -> Result<&Plan, EngineError> {
        self.refresh_cache()?;
        self.cache.plan().ok_or(EngineError::Store(StoreError::Abort))
    }

    /// Brings the plan cache up to date.
    fn refresh_cache(&mut self) -> Result<(), EngineError> {
        let mut cache = std::mem::take(&mut self.cache);
        self.persist(|engine| cache.refresh(engine, self.world.plan))?;
        self.cache = cache;
        Ok(())
    }
}
