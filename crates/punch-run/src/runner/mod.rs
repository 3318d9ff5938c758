//! Works a plan: gives todos to agents, hears what they report, judges, and ends. One thread decides; agents, checks and
//! questions to people have threads of their own and report into its channel.

mod agent_events;
mod assign;
mod begin;
mod check;
mod end;
mod housekeeping;
mod plan_cache;
mod seat;
mod store_retry;
mod verdict;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use punch_core::{Actor, Plan};
use punch_engine::config::Settings;
use punch_engine::{Consents, Engine, EngineError, RunOutcome, RunRecord, Sum};
use punch_store::{PlanId, StoreError};

use crate::agent::{Agent, Report};
use crate::error::RunError;
use crate::folder::Folder;
use crate::interrupt::Interrupt;
use crate::meter::Meter;
use crate::options::Options;
use crate::permission::Policy;
use crate::run_event::{RunEvent, RunObserver};
use crate::worktree::Lanes;
use check::Verdict;
use plan_cache::PlanCache;
use seat::{Job, Seat};
use store_retry::StoreRetry;

/// How long the channel is listened to before everything is looked at again.
const TICK: Duration = Duration::from_millis(200);

/// Messages that are heard before everything else is looked at again: an agent that floods must not keep the runner from
/// its leases, its limits, and from whoever wants it to stop.
const HEARD: usize = 256;

/// The project that a run works on.
pub struct World<'a> {
    /// The engine over its store.
    pub engine: &'a Engine,
    /// The plan.
    pub plan: PlanId,
    /// Its name.
    pub plan_name: String,
    /// Every setting.
    pub settings: &'a Settings,
    /// The top of the work tree.
    pub root: PathBuf,
    /// The database.
    pub store: PathBuf,
    /// Where the work trees of agents go, outside of the project; beside the store without it.
    pub trees: Option<PathBuf>,
    /// Which commands may run.
    pub consents: Option<Consents>,
    /// This program, to be started as a server for agents.
    pub punch: PathBuf,
    /// Variables that agents must not inherit.
    pub without: Vec<String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Its number.
    pub run: u64,
    /// The word.
    pub outcome: RunOutcome,
    /// What more is to be said.
    pub because: Vec<String>,
    /// Todos that were completed since it was last taken up.
    pub completed: u64,
    /// Everything it spent.
    pub spent: Sum,
}

/// What reaches the thread that decides.
enum Message {
    /// An agent did something.
    Agent(Report),
    /// A check is over.
    Checked(u64, Verdict),
    /// A person was asked.
    Answered(u64, String, Option<bool>),
}

/// Why nothing more is started.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stop {
    /// A limit was reached.
    Budget(String),
    /// Somebody asked.
    Interrupted,
}

/// Everything about a run that goes on.
struct Runner<'s, 'e> {
    world: &'e World<'e>,
    options: &'e Options,
    observer: &'e dyn RunObserver,
    interrupt: &'e Interrupt,
    lanes: Option<&'e Lanes>,
    scope: &'s Scope<'s, 'e>,
    run: RunRecord,
    folder: Folder,
    meter: Meter,
    policy: Policy,
    agents: Vec<Box<dyn Agent>>,
    seats: Vec<Seat>,
    /// What is checked without an agent of this run: it was reported before.
    loose: Vec<Job>,
    send: SyncSender<Message>,
    /// Starts of agents and checks, counted.
    count: u64,
    calibration: f64,
    completed: u64,
    stop: Option<Stop>,
    /// When agents were asked to end because the run ends.
    asked: Option<Instant>,
    /// The plan as it was last looked at.
    cache: PlanCache,
    /// The stamp of the store when jobs were last compared with the plan.
    watched: Option<u64>,
    /// Said once, until something happens.
    waiting: bool,
}

/// Works the plan until nothing can be done any more, a limit is reached, or somebody stops it.
pub fn run(
    world: &World<'_>,
    options: &Options,
    observer: &dyn RunObserver,
    interrupt: &Interrupt,
) -> Result<Finished, RunError> {
    let begun = begin::begin(world, options, observer)?;
    let lanes = begun.lanes.as_ref();
    let done = thread::scope(|scope| {
        let (mut runner, receive) = begin::runner(scope, world, options, observer, interrupt, lanes, &begun)?;
        let worked = runner.work(&receive);
        if worked.is_err() {
            // Nobody will hear of checks that go on; the scope would wait for each of them.
            interrupt.ask();
            interrupt.ask();
        }
        // Threads of agents wait for a listener; without one they end.
        drop(receive);
        runner.seats.iter_mut().for_each(|seat| seat.conversation = None);
        worked.and_then(|()| runner.end())
    });
    drop(begun);
    done
}

impl<'s, 'e> Runner<'s, 'e> {
    fn work(&mut self, receive: &Receiver<Message>) -> Result<(), RunError> {
        self.take_up()?;
        loop {
            self.housekeeping()?;
            self.fill()?;
            if self.is_over()? {
                return Ok(());
            }
            match receive.recv_timeout(TICK) {
                Ok(message) => self.hear(message)?,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => continue,
            }
            // What waits already is heard before anything is decided.
            for message in receive.try_iter().take(HEARD) {
                self.hear(message)?;
            }
        }
    }

    fn hear(&mut self, message: Message) -> Result<(), RunError> {
        self.waiting = false;
        match message {
            Message::Agent(report) => self.reported(report),
            Message::Checked(number, verdict) => self.checked(number, verdict),
            Message::Answered(start, request, allowed) => self.answered(start, &request, allowed),
        }
    }

    fn report(&self, event: &RunEvent) {
        self.observer.on_event(event);
    }

    fn remark(&self, what: impl Into<String>) {
        self.report(&RunEvent::Remark { what: what.into() });
    }

    /// The runner, acting on the claim of one of its workers where there is one.
    fn actor(&self, owner: Option<&str>) -> Actor {
        Actor::runner(self.run.id, owner)
    }

    fn lease(&self) -> i64 {
        i64::try_from(self.world.settings.lease.value.as_millis()).unwrap_or(i64::MAX)
    }

    fn store_retry(&self) -> StoreRetry<'e> {
        StoreRetry { world: self.world, observer: self.observer, interrupt: self.interrupt }
    }

    /// Does something with the store, however long it takes to get there.
    fn persist<T>(&self, body: impl FnMut(&Engine) -> Result<T, EngineError>) -> Result<T, EngineError> {
        self.store_retry().persist(body)
    }

    /// The plan as it is now.
    fn plan(&mut self) -> Result<&Plan, EngineError> {
        self.catch_up()?;
        self.cache.plan().ok_or(EngineError::Store(StoreError::Abort))
    }

    /// Looks at what was written since the last look.
    fn catch_up(&mut self) -> Result<(), EngineError> {
        let mut cache = std::mem::take(&mut self.cache);
        self.persist(|engine| cache.look(engine, self.world.plan))?;
        self.cache = cache;
        Ok(())
    }
}
