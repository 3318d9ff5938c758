//! Works a plan: gives todos to agents, hears what they report, judges, and ends. One thread decides; agents, checks and
//! questions to people have threads of their own and report into its channel.

mod assign;
mod begin;
mod check;
mod effects;
mod end;
mod housekeeping;
mod launch;
mod plan_cache;
mod seat;
mod store_retry;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::thread::{self, Scope};
use std::time::Duration;

use punch_core::{Actor, Plan, Uid};
use punch_engine::config::Settings;
use punch_engine::{Consents, Engine, EngineError, RunOutcome, RunRecord, Sum};
use punch_store::{PlanId, StoreError};

use crate::agent::{Agent, Report, Running};
use crate::error::RunError;
use crate::folder::Folder;
use crate::interrupt::Interrupt;
use crate::meter::Meter;
use crate::options::Options;
use crate::run_event::{RunEvent, RunObserver};
use crate::worktree::Lanes;
use plan_cache::PlanCache;
use seat::{Rules, Seat, SeatEvent, SeatState, Verdict};
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
    /// The check of a todo is over.
    Checked(Uid, Result<Verdict, EngineError>),
    /// The user was asked about a permission request of the agent with this start number.
    Answered { start: u64, request: String, allowed: Option<bool> },
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
    rules: Rules,
    agents: Vec<Box<dyn Agent>>,
    /// The seats of agents, then one for each check of a todo that was reported before.
    seats: Vec<Seat>,
    /// The processes of agents by start number.
    processes: HashMap<u64, Box<dyn Running>>,
    send: SyncSender<Message>,
    /// Starts of agents and checks, counted.
    count: u64,
    completed: u64,
    stop: Option<Stop>,
    /// The plan as it was last looked at.
    cache: PlanCache,
    /// The stamp of the store when the todos of seats were last compared with the plan.
    compared: Option<u64>,
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
        runner.processes.clear();
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
            self.assign()?;
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
            Message::Agent(report) => self.agent_reported(report),
            Message::Checked(uid, verdict) => {
                let of = |seat: &Seat| matches!(&seat.state, SeatState::Checking { job, .. } if job.todo.uid == uid);
                let verdict = verdict?;
                let Some(at) = self.seats.iter().position(of) else { return Ok(()) };
                self.dispatch(at, SeatEvent::Checked(verdict))?;
                self.seats.retain(|seat| seat.number > 0 || !seat.state.is_idle());
                Ok(())
            }
            Message::Answered { start, request, allowed } => match self.seat_of(start) {
                Some(at) => self.dispatch(at, SeatEvent::Answered { request, allowed }),
                None => Ok(()),
            },
        }
    }

    /// Counts starts of agents and checks.
    const fn next_number(&mut self) -> u64 {
        self.count += 1;
        self.count
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
