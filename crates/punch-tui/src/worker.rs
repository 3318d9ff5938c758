//! Carries out the requests of the board on a separate thread, because a busy store or a check that takes minutes must
//! not freeze the board.

use std::fmt::Write;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use punch_core::drive::Switch;
use punch_core::schedule::{ScheduleRequest, Slot, schedule};
use punch_core::view::{HistoryRow, Plain, RevisionStory, history};
use punch_core::{Footprint, MissingEvidence, Op, Policy, Todo, Uid, Undone, text};
use punch_engine::process::machine_name;
use punch_engine::{
    AnswerOutcome, ControlResult, EngineError, QuestionReply, READER, RevisionEntry, Revisions, SeatTurn, Sum,
    WriteRequest, seat_turns,
};
use punch_store::{QuestionState, RequestedState, SessionKey, open_own};

use crate::board::{BoardInput, RequestProblem, TextPage, Timeline, TodoExtras};
use crate::request::BoardRequest;
use crate::setup::{BoardSetup, BoardStore};
use crate::timeline::{Pace, RunOverTime};
use crate::watch::BoardEvent;

/// Revisions in the detail of a todo.
const HISTORY: usize = 20;
/// Events of a run that are drawn over time.
const EVENTS: usize = 2_000;
/// Bytes of an agent's log in which its last lines are looked for, and how many of them the detail shows.
const LOG_TAIL: u64 = 16 * 1024;
const LOG_LINES: usize = 5;
/// Bytes of output that are shown.
const OUTPUT: usize = 1 << 20;

/// A request, and the store it is for.
pub struct BoardJob {
    /// The store, if it is open.
    pub opened: Option<Arc<BoardStore>>,
    /// What to do.
    pub request: BoardRequest,
}

/// Carries out jobs until nobody sends any.
pub fn work(setup: &BoardSetup, jobs: &Receiver<BoardJob>, events: &Sender<BoardEvent>) {
    for job in jobs {
        let input = carry_out(setup, &job);
        if events.send(BoardEvent::Came(input)).is_err() {
            return;
        }
    }
}

fn problem(error: &EngineError) -> RequestProblem {
    RequestProblem { message: error.message(), hint: error.hint() }
}

fn failed(message: impl Into<String>, hint: &str) -> RequestProblem {
    RequestProblem { message: message.into(), hint: hint.to_owned() }
}

pub(crate) fn carry_out(setup: &BoardSetup, job: &BoardJob) -> BoardInput {
    match answer(setup, job) {
        BoardInput::Done(done) if job.request.is_change() => BoardInput::Stored(done),
        input => input,
    }
}

fn answer(setup: &BoardSetup, job: &BoardJob) -> BoardInput {
    let opened = match (&job.opened, &job.request) {
        (Some(opened), _) => Arc::clone(opened),
        // The first todo makes the plan.
        (None, BoardRequest::Submit { .. }) => match (setup.create)() {
            Ok(opened) => Arc::new(opened),
            Err(why) => return BoardInput::Done(Err(failed(why, ""))),
        },
        (None, BoardRequest::Verb(words)) => return verb(setup, words),
        (None, _) => return BoardInput::Done(Err(failed("there is no plan yet", "press a to add the first todo"))),
    };
    match &job.request {
        BoardRequest::Submit { ops, what } => BoardInput::Done(submit(setup, &opened, ops, what)),
        BoardRequest::Undo(revision) => {
            let undone = opened.engine.undo(opened.plan, &setup.request(), *revision, false);
            BoardInput::Done(undone.map(|done| undone_words(done.outcome.undone.as_ref())).map_err(|e| problem(&e)))
        }
        BoardRequest::Redo => {
            let done = opened.engine.redo(opened.plan, &setup.request());
            BoardInput::Done(done.map(|done| undone_words(done.outcome.undone.as_ref())).map_err(|e| problem(&e)))
        }
        BoardRequest::Answer { question, answer, reason } => {
            BoardInput::Done(answer_question(setup, &opened, *question, answer, reason.as_deref()))
        }
        BoardRequest::Approve(command) => BoardInput::Done(approve(setup, &opened, command)),
        BoardRequest::Control { run, seat, wanted } => BoardInput::Done(control(setup, &opened, *run, *seat, *wanted)),
        BoardRequest::KeepGoing { session, to } => BoardInput::Done(keep_going(setup, &opened, session, *to)),
        BoardRequest::MarkSeen(revision) => {
            let done = opened.engine.mark_seen(opened.plan, READER, *revision);
            BoardInput::Done(done.map(|()| "All changes are marked as seen.".to_owned()).map_err(|e| problem(&e)))
        }
        BoardRequest::Verb(words) => verb(setup, words),
        BoardRequest::Detail(uid) => match detail(setup, &opened, *uid) {
            Ok(extra) => BoardInput::Detail(*uid, Box::new(extra)),
            Err(error) => BoardInput::Done(Err(problem(&error))),
        },
        BoardRequest::PlanAt(revision) => plan_at(&opened, *revision),
        BoardRequest::Revisions(limit) => match revisions(&opened, *limit) {
            Ok(rows) => BoardInput::Revisions(rows),
            Err(error) => BoardInput::Done(Err(problem(&error))),
        },
        BoardRequest::Timeline(width) => run_over_time(setup, &opened, *width),
        BoardRequest::Diff(uid) => with_todo(&opened, *uid, |todo| diff(setup, &opened, todo)),
        BoardRequest::AgentLog(uid) => with_todo(&opened, *uid, |todo| agent_log(setup, &opened, todo)),
        BoardRequest::Worktree(uid) => with_todo(&opened, *uid, |todo| match (setup.lane)(&opened, todo) {
            Some(lane) => BoardInput::Done(Ok(lane.path().display().to_string())),
            None => BoardInput::Done(Err(no_worktree(todo))),
        }),
        // These belong to the terminal and never arrive here.
        BoardRequest::Foreground(_)
        | BoardRequest::NewAgent(_)
        | BoardRequest::Copy(_)
        | BoardRequest::Notify(_)
        | BoardRequest::Suspend
        | BoardRequest::Quit => BoardInput::Done(Ok(String::new())),
    }
}

fn submit(setup: &BoardSetup, opened: &BoardStore, ops: &[Op], what: &str) -> Result<String, RequestProblem> {
    let completes = ops.iter().any(|op| matches!(op, Op::Done { .. }));
    if !completes {
        let done = opened.engine.submit(opened.plan, &setup.request(), ops).map_err(|error| problem(&error))?;
        let newest = done.outcome.rows.iter().max_by_key(|todo| todo.uid);
        let added = newest.filter(|_| matches!(ops, [Op::Add(_), ..])).map(|todo| Plain::id(&todo.id));
        return Ok(added.map_or_else(|| what.to_owned(), |id| format!("{what} {id}")));
    }
    let commit = setup.tree.commit();
    let preset = |policy: Policy| Policy { missing_evidence: MissingEvidence::Refuse, ..policy.for_user() };
    let request = WriteRequest { commit: commit.as_deref(), preset, ..setup.request() };
    let checker = setup.tree.checker(setup.settings.verify_timeout.value, &|| false);
    let done = opened.engine.proving(opened.plan, &checker, |proofs| {
        opened.engine.submit(opened.plan, &WriteRequest { proofs: Some(proofs), ..request.clone() }, ops)
    });
    done.map(|_| what.to_owned()).map_err(|error| problem(&error))
}

fn undone_words(undone: Option<&Undone>) -> String {
    match undone {
        Some(undone) if undone.redo => format!("Redid revision {}.", undone.change),
        Some(undone) => format!("Undid revision {}.", undone.change),
        None => "Nothing was undone.".to_owned(),
    }
}

/// The user is looked for again at every answer: a process above this one may have become an agent.
fn user(setup: &BoardSetup, opened: &BoardStore) -> Result<punch_engine::Answerer, RequestProblem> {
    let found = opened.engine.user_at_terminal(opened.plan, &setup.marks, setup.own_mark);
    found
        .map_err(|error| problem(&error))?
        .map_err(|doubt| failed(format!("only you can answer: {doubt}"), "open the board in your own terminal"))
}

fn answer_question(
    setup: &BoardSetup,
    opened: &BoardStore,
    question: u64,
    answer: &QuestionReply,
    reason: Option<&str>,
) -> Result<String, RequestProblem> {
    let by = user(setup, opened)?;
    let outcome = opened.engine.answer(opened.plan, question, answer, reason, &by).map_err(|error| problem(&error))?;
    match outcome {
        AnswerOutcome::Accepted => Ok(match answer {
            QuestionReply::Allow => "Allowed.".to_owned(),
            QuestionReply::Option(id) => format!("Answered `{}`.", text::neutral(id)),
            _ => "Denied.".to_owned(),
        }),
        AnswerOutcome::TooLate(QuestionState::Answered(given)) => {
            let by = format!(
                "it was answered by {} ({})",
                text::neutral(&given.by),
                text::neutral(machine_name(&given.via))
            );
            Err(failed(by, "the first answer counts"))
        }
        AnswerOutcome::TooLate(_) | AnswerOutcome::Unknown => Err(failed("the agent no longer waits for it", "")),
        AnswerOutcome::NotOffered => Err(failed("the agent does not offer this answer", "press x for its answers")),
        AnswerOutcome::OwnTerminalOnly => Err(failed("only the agent's own terminal can answer this", "")),
        AnswerOutcome::OtherMachine(name) => {
            let why = format!("the run takes answers only on its own machine, `{}`", text::neutral(&name));
            Err(failed(why, "`punch config set run.remote_answers true` there allows it"))
        }
    }
}

fn approve(setup: &BoardSetup, opened: &BoardStore, command: &punch_core::Verify) -> Result<String, RequestProblem> {
    let Some(consents) = setup.consents() else {
        return Err(failed("there is no state folder to store approvals in", "set HOME or XDG_STATE_HOME"));
    };
    let by = user(setup, opened)?;
    let done = opened.engine.approve_check(opened.plan, consents, command, &by);
    done.map(|_| format!("Approved: {}", Plain::clipped(&command.line(), 200))).map_err(|error| problem(&error))
}

fn control(
    setup: &BoardSetup,
    opened: &BoardStore,
    run: u64,
    seat: Option<u32>,
    wanted: RequestedState,
) -> Result<String, RequestProblem> {
    let done = opened.engine.control_run(opened.plan, run, seat, wanted, &setup.actor);
    let what = seat.map_or_else(|| format!("Run {run}"), |seat| format!("Seat {seat} of run {run}"));
    match done.map_err(|error| problem(&error))? {
        ControlResult::Stored => Ok(match wanted {
            RequestedState::Go => format!("{what} continues."),
            RequestedState::Pause => format!("{what} finishes what it works on, then waits."),
            RequestedState::Stop => format!("{what} stops."),
        }),
        ControlResult::NotRunning | ControlResult::NoRun => Err(failed(format!("run {run} is not running"), "")),
        ControlResult::NoSeat => Err(failed(format!("run {run} has no such seat"), "")),
    }
}

fn keep_going(setup: &BoardSetup, opened: &BoardStore, session: &str, to: Switch) -> Result<String, RequestProblem> {
    let key = SessionKey::new(session, None);
    opened.engine.switch(opened.plan, Some(&key), to, &setup.actor).map_err(|error| problem(&error))?;
    Ok(match to {
        Switch::On => "The session will be sent back to work when it stops early.",
        Switch::Paused => "The session may stop, until you resume it.",
        Switch::Off => "The session may stop.",
    }
    .to_owned())
}

/// Runs a command of punch and shows what it prints. Its colors would be neutralised anyway.
fn verb(setup: &BoardSetup, words: &[String]) -> BoardInput {
    let mut command = Command::new(&setup.program);
    command.args(words).args(&setup.arguments).env("NO_COLOR", "1").stdin(Stdio::null());
    let title = format!("punch {}", words.join(" "));
    match output_of(command) {
        Ok((shown, _)) if !shown.trim().is_empty() => BoardInput::Page(TextPage::new(&title, &shown)),
        Ok((_, true)) => BoardInput::Done(Ok(format!("`{title}` is done."))),
        Ok((_, false)) => BoardInput::Done(Err(failed(format!("`{title}` failed"), ""))),
        Err(error) => BoardInput::Done(Err(failed(format!("cannot run `{title}`: {error}"), ""))),
    }
}

/// Runs a command and returns what it prints on both streams, up to a limit, and whether it succeeded.
fn output_of(mut command: Command) -> io::Result<(String, bool)> {
    let (mut reader, writer) = io::pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // The command holds the other ends of the pipe; reading ends when it drops them.
    drop(command);
    let mut printed = Vec::new();
    reader.by_ref().take(OUTPUT as u64).read_to_end(&mut printed)?;
    drop(reader);
    let status = child.wait()?;
    Ok((String::from_utf8_lossy(&printed).into_owned(), status.success()))
}

fn with_todo(opened: &BoardStore, uid: Uid, body: impl FnOnce(&Todo) -> BoardInput) -> BoardInput {
    let footprint = Footprint { todos: [uid].into(), ..Footprint::default() };
    match opened.engine.slice(opened.plan, &footprint) {
        Ok(slice) => match slice.get(uid) {
            Some(todo) => body(todo),
            None => BoardInput::Done(Err(failed("this todo no longer exists", ""))),
        },
        Err(error) => BoardInput::Done(Err(problem(&error))),
    }
}

fn no_worktree(todo: &Todo) -> RequestProblem {
    failed(
        format!("no run has a worktree for {}", Plain::id(&todo.id)),
        "`punch run --worktrees` gives each todo its own",
    )
}

fn diff(setup: &BoardSetup, opened: &BoardStore, todo: &Todo) -> BoardInput {
    let Some(lane) = (setup.lane)(opened, todo) else { return BoardInput::Done(Err(no_worktree(todo))) };
    match lane.patch() {
        Ok(shown) if shown.trim().is_empty() => {
            BoardInput::Done(Ok(format!("{} has changed nothing yet.", Plain::id(&todo.id))))
        }
        Ok(shown) => BoardInput::Page(TextPage::new(&format!("Diff of {}", todo.id), &text::clip(&shown, OUTPUT))),
        Err(why) => BoardInput::Done(Err(failed(format!("git cannot show the diff: {why}"), ""))),
    }
}

/// The end of a file, at most this many bytes.
fn tail(path: &Path, most: u64) -> io::Result<String> {
    let mut file = open_own(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut end = Vec::new();
    file.take(most).read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).into_owned())
}

fn agent_log(setup: &BoardSetup, opened: &BoardStore, todo: &Todo) -> BoardInput {
    match (setup.agent_log)(opened, todo).map(|path| tail(&path, OUTPUT as u64)) {
        Some(Ok(end)) => {
            let mut page = TextPage::new(&format!("Output of the agent of {}", todo.id), &end);
            page.top = page.lines.len();
            BoardInput::Page(page)
        }
        Some(Err(error)) => BoardInput::Done(Err(failed(format!("the log cannot be read: {error}"), ""))),
        None => BoardInput::Done(Err(failed(format!("no run has a log for {}", Plain::id(&todo.id)), ""))),
    }
}

fn detail(setup: &BoardSetup, opened: &BoardStore, uid: Uid) -> Result<TodoExtras, EngineError> {
    let entries = opened.engine.history_of(opened.plan, uid, HISTORY)?;
    let footprint = Footprint { todos: [uid].into(), ..Footprint::default() };
    let slice = opened.engine.slice(opened.plan, &footprint)?;
    let history = entries.iter().map(|entry| entry.row(&slice, &RevisionStory::of(&entry.events))).collect();
    let todo = slice.get(uid);
    let lane = todo.and_then(|todo| (setup.lane)(opened, todo)).map(|lane| {
        let size = lane.size().unwrap_or_else(|why| why);
        Plain::text(format!("{} {}", lane.path().display(), size.trim()).trim())
    });
    let log = todo.and_then(|todo| (setup.agent_log)(opened, todo)).and_then(|path| tail(&path, LOG_TAIL).ok());
    let lines = log.map(|log| (setup.log_lines)(&log)).unwrap_or_default();
    let output = lines[lines.len().saturating_sub(LOG_LINES)..].iter().map(|line| Plain::clipped(line, 400)).collect();
    let now = opened.engine.now();
    let informed = opened.engine.informed_sessions(opened.plan, uid, &setup.settings)?;
    let informed = informed.iter().map(|session| Plain::text(&session.line(now))).collect();
    Ok(TodoExtras { history, informed, lane, output, revision: slice.row.revision })
}

/// The last revisions, newest first.
fn revisions(opened: &BoardStore, limit: u64) -> Result<Vec<HistoryRow>, EngineError> {
    let entries = opened.engine.history(opened.plan, limit)?;
    let stories: Vec<RevisionStory> = entries.iter().map(RevisionEntry::story).collect();
    let names = history::footprint(stories.iter().flat_map(RevisionStory::names));
    let slice = opened.engine.slice(opened.plan, &names)?;
    Ok(entries.iter().zip(&stories).map(|(entry, story)| entry.row(&slice, story)).collect())
}

/// What a revision changed, and below it the plan as it was then.
fn plan_at(opened: &BoardStore, revision: u64) -> BoardInput {
    let read = || -> Result<TextPage, EngineError> {
        let plan = opened.engine.plan_at(opened.plan, revision)?;
        let since = revision.saturating_sub(1);
        let change = match opened.engine.revisions(opened.plan, since, 1)? {
            Revisions::Page(page) => page.revisions.into_iter().next().map(RevisionEntry::from),
            Revisions::Gap(_) => None,
        };
        let mut shown = String::new();
        if let Some(entry) = change {
            let row = entry.row(&plan, &RevisionStory::of(&entry.events));
            let _ = writeln!(shown, "{} by {}, {}\n", row.changes, row.by, punch_core::time::utc(row.at));
        }
        let tree = punch_core::view::TreeOptions { expanded: true, now: plan.row.last_time, ..Default::default() };
        shown.push_str(&tree.draw(&plan, &plan.live()));
        Ok(TextPage::new(&format!("The plan as it was at revision {revision}"), &shown))
    };
    read().map_or_else(|error| BoardInput::Done(Err(problem(&error))), BoardInput::Page)
}

/// What the seats of the last run have worked on, and the schedule of what is open. While the run works, both are on one axis.
fn run_over_time(setup: &BoardSetup, opened: &BoardStore, width: usize) -> BoardInput {
    let (engine, id, glyphs) = (&opened.engine, opened.plan, setup.look.glyphs);
    let read = || -> Result<Timeline, EngineError> {
        let (plan, now) = (engine.whole(id)?, engine.now());
        let run = engine.runs(id, 1)?.into_iter().next();
        let (mut agents, mut turns, mut pace, mut ended_at) = (1, Vec::new(), None, None);
        if let Some(run) = &run {
            agents = run.body.options["agents"].as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1);
            turns = seat_turns(&engine.run_events(id, run.id, EVENTS)?);
            pace = Pace::of(&turns, Sum::of(&engine.ledger(id, run.id)?).tokens, run.ended_at.unwrap_or(now));
            let is_running = engine.running(id)?.is_some_and(|running| running.id == run.id);
            ended_at = run.ended_at.or((!is_running).then_some(now));
        }
        let ask = ScheduleRequest { agents, calibration: engine.calibration()?, ..ScheduleRequest::default() };
        let slots = schedule(&plan, &ask, now).slots;
        let heading = if pace.is_some() { "Planned, at the pace of the run" } else { "Planned" };
        let pace = pace.unwrap_or(Pace::USUAL);
        let draw =
            |turns: &[SeatTurn], slots: &[Slot], now: i64| RunOverTime { turns, slots, pace, now }.draw(width, glyphs);
        Ok(Timeline(match ended_at {
            None if !turns.is_empty() => vec![("So far and planned", draw(&turns, &slots, now))],
            ended => vec![("So far", draw(&turns, &[], ended.unwrap_or(now))), (heading, draw(&[], &slots, now))],
        }))
    };
    read().map_or_else(|error| BoardInput::Done(Err(problem(&error))), BoardInput::Timeline)
}
