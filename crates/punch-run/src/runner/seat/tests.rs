//! Drives seats without processes: a small model stands for the store, the agents, the checks and the user. It answers
//! effects at random, and holds the seats to their promises after every event.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use punch_core::{Hold, HoldKind, Status, WorkerId};
use punch_engine::QuestionReply;
use punch_engine::config::{Config, ConfigInputs};

use super::*;
use crate::agent::{AgentEvent, AgentTurnEnd};
use crate::permission::{Otherwise, PermissionPolicy};
use punch_agents::{Reset, UsageLimit};

const TODOS: u64 = 4;

/// A byte for each choice that the model has.
struct Choices(std::vec::IntoIter<u8>);

impl Choices {
    fn next(&mut self) -> u8 {
        self.0.next().unwrap_or(0)
    }

    /// Picks one of `n`, with the first one for lack of choices.
    fn of(&mut self, count: usize) -> usize {
        usize::from(self.next()) % count.max(1)
    }
}

struct SeatModel {
    choices: Choices,
    now: Instant,
    /// The wall clock, in milliseconds.
    wall: i64,
    rules: SeatRules,
    stopping: bool,
    seats: Vec<Seat>,
    todos: BTreeMap<Uid, Todo>,
    /// Processes that run, and whether they were killed.
    agents: BTreeMap<u64, bool>,
    checks: BTreeSet<Uid>,
    questions: Vec<(u64, String)>,
    count: u64,
    /// Every state that was seen, transient ones too.
    seen: Vec<Seat>,
}

impl SeatModel {
    fn new(choices: Vec<u8>, seats: usize, lanes: bool) -> Self {
        let second = Duration::from_secs(1);
        let policy = PermissionPolicy { allowed: Vec::new(), otherwise: Otherwise::Ask };
        let seat = |n: usize| Seat {
            exit_reports_done: n % 3 == 1,
            opens_conversation: n % 3 == 2,
            ..Seat::new(n + 1, 0, "model".into(), "model".into())
        };
        let todo = |n| {
            let mut todo = Todo::blank(Uid(n));
            todo.id = format!("T-{n}");
            todo.verify = (n % 2 == 0).then(|| punch_core::Verify::Shell("true".into()));
            (Uid(n), todo)
        };
        let (idle, grace, lease) = (60 * second, 5 * second, 90 * second);
        let (limit_wait, limit_pause) = (1_000 * second, 100 * second);
        Self {
            choices: Choices(choices.into_iter()),
            now: Instant::now(),
            wall: 0,
            rules: SeatRules {
                run: 1,
                lanes,
                prepares: lanes,
                attempts: 3,
                backoff: second,
                idle,
                grace,
                lease,
                limit_wait,
                limit_pause,
                calibration: 1.0,
                policy,
            },
            stopping: false,
            seats: (0..seats).map(seat).collect(),
            todos: (1..=TODOS).map(todo).collect(),
            agents: BTreeMap::new(),
            checks: BTreeSet::new(),
            questions: Vec::new(),
            count: 0,
            seen: Vec::new(),
        }
    }

    fn dispatch(&mut self, at: usize, event: SeatEvent) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let conditions = SeatConditions {
                now: self.now,
                wall: self.wall,
                stopping: self.stopping,
                urgent: false,
                run_limit: (self.choices.next() > 250).then(|| "limit".into()),
                todo_limit: (self.choices.next() > 250).then(|| "limit".into()),
                rules: &self.rules,
            };
            let effects = self.seats[at].step(event, &conditions);
            self.seen.push(self.seats[at].clone());
            for effect in effects {
                events.extend(self.perform(at, effect));
            }
            // A request to stop may come while a result is on its way.
            if !events.is_empty() && self.choices.next() > 250 {
                events.push_front(SeatEvent::StopRequested);
            }
        }
        self.holds();
    }

    fn perform(&mut self, at: usize, effect: SeatEffect) -> Option<SeatEvent> {
        let choice = self.choices.of(4);
        match effect {
            SeatEffect::Claim { uid, worker } => {
                let others = self.seats.iter().enumerate().filter(|(other, _)| *other != at);
                assert!(others.filter_map(|(_, seat)| seat.state.todo()).all(|other| other != uid), "given twice");
                let todo = self.todos.get_mut(&uid).unwrap();
                if todo.status != Status::Pending || todo.hold.is_some() || choice == 3 {
                    return Some(SeatEvent::NotClaimed);
                }
                self.count += 1;
                let worker = worker.unwrap_or_else(|| WorkerIdentity {
                    start: self.count,
                    owner: WorkerId { run: 1, epoch: 1, number: self.count, fleet: None }.to_string(),
                    key: SessionKey::new("model", None),
                });
                todo.status = Status::InProgress;
                todo.fence += 1;
                Some(SeatEvent::Claimed { worker, todo: todo.clone() })
            }
            SeatEffect::Prepare { .. } => {
                Some(SeatEvent::Prepared(if choice == 3 { Err("no".into()) } else { Ok(()) }))
            }
            SeatEffect::Launch { mut worker, resume, .. } => {
                if choice == 3 {
                    return Some(SeatEvent::NotLaunched("no".into()));
                }
                if resume.is_some() {
                    self.count += 1;
                    worker.start = self.count;
                }
                assert_eq!(self.agents.insert(worker.start, false), None);
                let lane = Lane { name: "l".into(), branch: "b".into(), path: "p".into(), remote: None };
                Some(SeatEvent::Launched { worker, lane: self.rules.lanes.then_some(lane) })
            }
            SeatEffect::Prompt { start, .. } => {
                assert!(self.agents.contains_key(&start), "a prompt for nobody");
                Some(match choice {
                    2 => SeatEvent::NotPrompted(Some("broken pipe".into())),
                    3 => SeatEvent::NotPrompted(None),
                    _ => SeatEvent::Prompted,
                })
            }
            SeatEffect::Inspect(uid) => Some(SeatEvent::Inspected(self.todos.get(&uid).cloned())),
            SeatEffect::DecideContinuation { .. } => {
                Some(SeatEvent::Continuation((choice > 1).then(|| "continue".into())))
            }
            SeatEffect::Fail { todo, .. } => {
                let ours = self.ours(&todo).map(|todo| {
                    todo.attempts += 1;
                    todo.status = if todo.attempts > 5 { Status::Failed } else { Status::Pending };
                    todo.flags.reported = false;
                    todo.clone()
                });
                Some(SeatEvent::AttemptFailed(ours))
            }
            SeatEffect::Cancel(start) | SeatEffect::Answer { start, .. } => {
                assert!(self.agents.contains_key(&start), "a message for nobody");
                None
            }
            SeatEffect::Kill(start) => {
                *self.agents.get_mut(&start).unwrap() = true;
                None
            }
            SeatEffect::EndAgent(start) => {
                self.agents.remove(&start).unwrap();
                None
            }
            SeatEffect::AskUser { start, request, .. } => {
                self.questions.push((start, request.id));
                None
            }
            SeatEffect::ReportDone { todo, .. } => {
                self.ours(&todo).into_iter().for_each(|todo| todo.flags.reported = true);
                None
            }
            SeatEffect::Check { todo, .. } => {
                assert!(self.checks.insert(todo.uid), "checked twice at once");
                None
            }
            SeatEffect::Hold { todo, .. } => {
                if let Some(todo) = self.ours(&todo) {
                    todo.status = Status::Pending;
                    let reason = "the user".to_owned();
                    todo.hold = Some(Hold { kind: HoldKind::Human, reason, until: None, by: String::new(), at: 0 });
                }
                None
            }
            SeatEffect::Reopen(todo) => {
                let open = self.ours(&todo).filter(|todo| !todo.flags.reported);
                open.into_iter().for_each(|todo| todo.status = Status::Pending);
                None
            }
            SeatEffect::StopRun(_) => {
                self.stopping = true;
                None
            }
            SeatEffect::Completed(_)
            | SeatEffect::HandedIn(_)
            | SeatEffect::Renew { .. }
            | SeatEffect::Charge(_)
            | SeatEffect::CloseLane(_)
            | SeatEffect::Checkpoint(_)
            | SeatEffect::ShareLimit(_)
            | SeatEffect::Report(_) => None,
        }
    }

    /// The todo in the store, if it is still claimed under this fence.
    fn ours(&mut self, claimed: &Todo) -> Option<&mut Todo> {
        let todo = self.todos.get_mut(&claimed.uid)?;
        (todo.status == Status::InProgress && todo.fence == claimed.fence).then_some(todo)
    }

    /// What is true between any two events.
    fn holds(&self) {
        let open = self.seats.iter().filter_map(|seat| Some(seat.state.conversation()?.worker.start));
        assert_eq!(
            open.collect::<BTreeSet<_>>(),
            self.agents.keys().copied().collect(),
            "an agent too many or too few"
        );
        let busy: Vec<Uid> = self.seats.iter().filter_map(|seat| seat.state.todo()).collect();
        assert_eq!(busy.iter().collect::<BTreeSet<_>>().len(), busy.len(), "given twice");
        let mut checked = BTreeSet::new();
        for seat in &self.seats {
            match &seat.state {
                SeatState::Checking { job, .. } => assert!(checked.insert(job.todo.uid)),
                SeatState::Asking { conversation, questions, .. } => {
                    let asked = (conversation.worker.start, questions.front().unwrap().id.clone());
                    assert!(self.questions.contains(&asked), "nobody was asked");
                }
                SeatState::Idle { .. } | SeatState::Resting { .. } | SeatState::Working { .. } => {}
                SeatState::Ending { conversation, .. } => assert!(conversation.asked_to_end.is_some()),
                state => panic!("a result is missing: {state:?}"),
            }
        }
        assert_eq!(checked, self.checks, "a check too many or too few");
        for todo in self.todos.values().filter(|todo| todo.status == Status::InProgress && todo.owner.is_none()) {
            assert!(todo.flags.reported || busy.contains(&todo.uid), "{} is lost", todo.id);
        }
    }

    /// Lets something happen, as the runner, an agent, a check, the user or time would.
    fn happen(&mut self) {
        let at = self.choices.of(self.seats.len());
        let start = self.seats[at].state.conversation().map(|open| open.worker.start);
        let uid = Uid(self.choices.of(TODOS as usize) as u64 + 1);
        let choice = self.choices.of(5);
        match self.choices.of(16) {
            0..4 => self.assign(at, uid, choice > 3),
            4..6 => self.end_turn(at, choice),
            6 => self.agent(at, AgentEvent::Started { session: "s".into() }),
            7 => {
                self.agent(at, AgentEvent::Usage(TokenSpending { tokens_in: 9, turns: 1, ..TokenSpending::default() }))
            }
            8 => {
                self.count += 1;
                let id = format!("q{}", self.count);
                let request = permission(id);
                self.agent(at, AgentEvent::Permission(request));
            }
            9 => {
                if let Some(start) = start {
                    self.exit(start);
                }
            }
            // The agent reports its todo, or another actor does something with it.
            10 | 11 => {
                let Some(job) = self.seats[at].state.job_in_work().map(|job| job.todo.clone()) else { return };
                let Some(todo) = self.ours(&job) else { return };
                match choice {
                    0..3 => todo.flags.reported = true,
                    3 => todo.status = Status::Completed,
                    _ => {
                        todo.fence += 1;
                        todo.owner = Some("someone else".into());
                    }
                }
                let todo = todo.clone();
                self.dispatch(at, SeatEvent::TodoChanged(todo));
            }
            12 => self.answer(Some(choice > 2).filter(|_| choice > 0)),
            13 => self.verdict(choice),
            14 => self.wait(Duration::from_secs([1, 4, 20, 70, 400][choice])),
            _ if choice == 4 => self.dispatch(at, SeatEvent::StopRequested),
            _ => {}
        }
    }

    fn assign(&mut self, at: usize, uid: Uid, fresh: bool) {
        let busy = self.seats.iter().any(|seat| seat.state.todo() == Some(uid));
        if self.seats[at].is_free() && !self.stopping && !busy && self.todos[&uid].status == Status::Pending {
            self.dispatch(at, SeatEvent::Assign { uid, fresh });
        }
    }

    fn agent(&mut self, at: usize, event: AgentEvent) {
        if self.seats[at].state.conversation().is_some() {
            self.dispatch(at, SeatEvent::Agent(event));
        }
    }

    fn end_turn(&mut self, at: usize, choice: usize) {
        let finish = match choice {
            0..3 => AgentTurnEnd::Natural,
            3 => limited(Reset::After(Duration::from_secs(50))),
            _ => AgentTurnEnd::Failed("no network".into()),
        };
        self.agent(at, AgentEvent::TurnEnded { finish });
    }

    fn exit(&mut self, start: u64) {
        self.agents.remove(&start);
        let of = |seat: &Seat| seat.state.conversation().is_some_and(|open| open.worker.start == start);
        let at = self.seats.iter().position(of).unwrap();
        self.dispatch(at, SeatEvent::Agent(AgentEvent::Exited { code: Some(1) }));
    }

    fn answer(&mut self, allowed: Option<bool>) {
        let Some((start, request)) = self.questions.pop() else { return };
        let of = |seat: &Seat| seat.state.conversation().is_some_and(|open| open.worker.start == start);
        if let Some(at) = self.seats.iter().position(of) {
            let answer =
                allowed.map(|allowed| if allowed { QuestionReply::Allow } else { QuestionReply::Refuse }.into());
            self.dispatch(at, SeatEvent::Answered { request, answer });
        }
    }

    fn verdict(&mut self, choice: usize) {
        let Some(uid) = self.checks.pop_first() else { return };
        let of = |seat: &Seat| matches!(&seat.state, SeatState::Checking { job, .. } if job.todo.uid == uid);
        let at = self.seats.iter().position(of).unwrap();
        let SeatState::Checking { job, .. } = &self.seats[at].state else { return };
        let ours = job.todo.clone();
        let verdict = match (choice, self.ours(&ours)) {
            (_, None) => CheckVerdict::Lost("gone".into()),
            (0 | 1, Some(todo)) => {
                todo.status = Status::Completed;
                CheckVerdict::Done
            }
            (2, _) => CheckVerdict::Failed("red".into()),
            (3, _) => CheckVerdict::Conflict("both".into()),
            (_, Some(todo)) => {
                todo.flags.reported = true;
                CheckVerdict::Stopped
            }
        };
        self.dispatch(at, SeatEvent::Checked(verdict));
    }

    /// Lets time pass. Agents that were killed exit.
    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.wall += i64::try_from(time.as_millis()).unwrap();
        for at in 0..self.seats.len() {
            self.dispatch(at, SeatEvent::Tick { printed: None, todo_time_over: false });
        }
        let killed: Vec<u64> = self.agents.iter().filter(|(_, killed)| **killed).map(|(start, _)| *start).collect();
        killed.into_iter().for_each(|start| self.exit(start));
    }

    /// Stops every seat. Agents do not listen, and questions stay unanswered.
    fn stop(&mut self) {
        self.stopping = true;
        for at in 0..self.seats.len() {
            // Asking once is enough.
            if !self.seats[at].stop_requested {
                self.dispatch(at, SeatEvent::StopRequested);
            }
        }
        for _ in 0..20 {
            self.wait(self.rules.grace);
            self.verdict(4);
            self.answer(None);
        }
        for seat in &self.seats {
            assert!(matches!(seat.state, SeatState::Idle { conversation: None }), "{:?} does not end", seat.state);
        }
        assert!(self.agents.is_empty() && self.checks.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_happens_no_todo_is_given_twice_or_lost_and_every_seat_can_be_stopped(
        choices in proptest::collection::vec(any::<u8>(), 50..3_000),
        seats in 1..4usize,
        lanes in any::<bool>(),
    ) {
        let mut model = SeatModel::new(choices, seats, lanes);
        while model.choices.0.len() > 0 {
            model.happen();
        }
        model.stop();
    }

    #[test]
    fn any_event_in_any_state_leads_to_a_state_and_leaves_nothing_started(
        choices in proptest::collection::vec(any::<u8>(), 500..1_000),
    ) {
        let mut model = SeatModel::new(choices, 3, true);
        while model.choices.0.len() > 0 {
            model.happen();
        }
        let conditions = SeatConditions {
            now: model.now, wall: model.wall, stopping: false, urgent: true, run_limit: None, todo_limit: None, rules: &model.rules,
        };
        for seat in &model.seen {
            for event in every_event() {
                let mut next = seat.clone();
                let launched = matches!(event, SeatEvent::Launched { .. });
                let effects = next.step(event, &conditions);
                let taken = next.state.conversation().is_some_and(|open| open.worker.start == STRAY);
                let ended = effects.iter().any(|effect| matches!(effect, SeatEffect::EndAgent(STRAY)));
                prop_assert!(!launched || taken || ended, "{:?} forgets an agent", seat.state);
            }
            let mut stopped = seat.clone();
            let effects = stopped.step(SeatEvent::StopRequested, &conditions);
            let asked = |open: &AgentConversation| open.asked_to_end.is_some();
            let ends = stopped.state.conversation().is_none_or(asked);
            let waits = effects.is_empty() && !seat.state.is_idle();
            prop_assert!(stopped.stop_requested && (ends || waits), "{:?} does not stop", seat.state);
        }
    }
}

/// Without this, the two properties might hold because nothing ever happens.
#[test]
fn the_model_reaches_every_state() {
    let mut names = BTreeSet::new();
    for seed in 0..100_u64 {
        let mut number = seed;
        let mut byte = || {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (number >> 56) as u8
        };
        let mut model = SeatModel::new((0..2_000).map(|_| byte()).collect(), 3, seed % 2 == 0);
        while model.choices.0.len() > 0 {
            model.happen();
        }
        let name = |seat: &Seat| format!("{:?}", seat.state).split(' ').next().unwrap_or_default().to_owned();
        names.extend(model.seen.iter().map(name));
        let done = model.todos.values().filter(|todo| todo.status == Status::Completed).count();
        names.extend((done > 1).then(|| "done".to_owned()));
    }
    let all = "AgentGone Asking Checking Claiming Continuing Ending Failing Idle Judging Preparing Resting Starting Working done";
    assert_eq!(names.into_iter().collect::<Vec<_>>().join(" "), all);
}

/// Returns after how many seconds a silent agent is asked to end, after how many more it is killed, and how long a seat
/// rests after a failed start.
fn lapses(setting: &str, value: &str) -> [u64; 3] {
    let flags = vec![(setting.to_owned(), value.to_owned())];
    let settings = Config::load(&ConfigInputs { flags, ..ConfigInputs::default() }).unwrap().settings;
    let policy = PermissionPolicy { allowed: Vec::new(), otherwise: Otherwise::Ask };
    let rules = SeatRules::of(&settings, 1, false, 1.0, policy);
    let begun = Instant::now();
    let conditions = |seconds| SeatConditions {
        now: begun + Duration::from_secs(seconds),
        stopping: false,
        wall: 0,
        urgent: false,
        run_limit: None,
        todo_limit: None,
        rules: &rules,
    };
    let worker = WorkerIdentity { start: 1, owner: "run:1/1.1".into(), key: SessionKey::new("k", None) };
    let todo = Todo::blank(Uid(1));
    let mut silent = Seat::new(1, 0, "model".into(), "model".into());
    silent.step(SeatEvent::Assign { uid: Uid(1), fresh: false }, &conditions(0));
    silent.step(SeatEvent::Claimed { worker: worker.clone(), todo }, &conditions(0));
    let mut failed = silent.clone();
    silent.step(SeatEvent::Launched { worker, lane: None }, &conditions(0));
    failed.step(SeatEvent::NotLaunched("no".into()), &conditions(0));
    let first = |seat: &mut Seat, after: u64, reached: fn(&Seat, &[SeatEffect]) -> bool| {
        let reaches = |now: &u64| {
            let effects = seat.step(SeatEvent::Tick { printed: None, todo_time_over: false }, &conditions(*now));
            reached(seat, &effects)
        };
        (after + 1..after + 3_600).find(reaches).unwrap() - after
    };
    let asked = first(&mut silent, 0, |seat, _| matches!(seat.state, SeatState::Ending { .. }));
    let has_kill =
        |_: &Seat, effects: &[SeatEffect]| effects.iter().any(|effect| matches!(effect, SeatEffect::Kill(1)));
    let killed = first(&mut silent, asked, has_kill);
    [asked, killed, first(&mut failed, 0, |seat, _| seat.is_free())]
}

#[test]
fn settings_say_when_an_agent_is_ended_killed_and_started_again() {
    assert_eq!(["10s", "20s"].map(|idle| lapses("run.idle", idle)), [[10, 5, 2], [20, 5, 2]]);
    assert_eq!(["3s", "9s"].map(|grace| lapses("run.grace", grace)[1]), [3, 9]);
    assert_eq!(["1s", "8s"].map(|backoff| lapses("run.backoff", backoff)[2]), [1, 8]);
}

pub(super) fn limited(reset: Reset) -> AgentTurnEnd {
    AgentTurnEnd::UsageLimit(UsageLimit { message: "limit reached".into(), reset })
}

fn permission(id: String) -> PermissionRequest {
    PermissionRequest { id, what: "run a tool".into(), detail: String::new(), tool: None, options: Vec::new() }
}

/// The number of an agent that no seat knows.
const STRAY: u64 = u64::MAX;

fn every_event() -> Vec<SeatEvent> {
    let worker = WorkerIdentity { start: STRAY, owner: "run:1/1.9".into(), key: SessionKey::new("k", None) };
    let mut todo = Todo::blank(Uid(1));
    todo.fence = 1;
    let permission = permission("q".into());
    let limit = limited(Reset::Unknown);
    let finishes =
        [AgentTurnEnd::Natural, AgentTurnEnd::Limit, limit, AgentTurnEnd::Cancelled, AgentTurnEnd::Failed("f".into())];
    let verdicts = [
        CheckVerdict::Done,
        CheckVerdict::HandedIn,
        CheckVerdict::Failed("f".into()),
        CheckVerdict::Hold("h".into()),
        CheckVerdict::Conflict("c".into()),
        CheckVerdict::Lost("l".into()),
        CheckVerdict::Stopped,
    ];
    let agent = [
        AgentEvent::Started { session: "s".into() },
        AgentEvent::Text("t".into()),
        AgentEvent::ToolUsed { name: "n".into() },
        AgentEvent::PlanSaid(Vec::new()),
        AgentEvent::Usage(TokenSpending::default()),
        AgentEvent::Permission(permission),
        AgentEvent::Exited { code: None },
    ];
    let mut events = vec![
        SeatEvent::Assign { uid: Uid(1), fresh: true },
        SeatEvent::CheckReported { todo: todo.clone(), owner: "o".into() },
        SeatEvent::Answered { request: "q".into(), answer: Some(QuestionReply::Allow.into()) },
        SeatEvent::Answered { request: "q".into(), answer: None },
        SeatEvent::TodoChanged(todo.clone()),
        SeatEvent::AgentLimited(Sleep { until: None, reset: None, message: "m".into() }),
        SeatEvent::StopRequested,
        SeatEvent::Tick { printed: None, todo_time_over: true },
        SeatEvent::Claimed { worker: worker.clone(), todo: todo.clone() },
        SeatEvent::NotClaimed,
        SeatEvent::Prepared(Ok(())),
        SeatEvent::Prepared(Err("p".into())),
        SeatEvent::Launched { worker, lane: None },
        SeatEvent::NotLaunched("n".into()),
        SeatEvent::Prompted,
        SeatEvent::NotPrompted(None),
        SeatEvent::NotPrompted(Some("e".into())),
        SeatEvent::Inspected(None),
        SeatEvent::Inspected(Some(todo.clone())),
        SeatEvent::Continuation(None),
        SeatEvent::Continuation(Some("c".into())),
        SeatEvent::AttemptFailed(None),
        SeatEvent::AttemptFailed(Some(todo)),
    ];
    events.extend(agent.map(SeatEvent::Agent));
    events.extend(finishes.map(|finish| SeatEvent::Agent(AgentEvent::TurnEnded { finish })));
    events.extend(verdicts.map(SeatEvent::Checked));
    events
}
