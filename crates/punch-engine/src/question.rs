//! Questions of agents to the user, such as requests for permission. A question of a run is stored when it is asked,
//! answered at most once by anyone who has proof of being the user, and applied at most once by the runner (decision
//! 0039). A question of a session outside runs is only noted: it is answered in the agent's own terminal.

mod session;

use punch_core::{Uid, text};
use punch_store::{
    Durability, PlanId, Question, QuestionAnswer, QuestionFilter, QuestionOutcome, QuestionState, Snapshot, Tx,
};
use serde::{Deserialize, Serialize};

use crate::activity::{self, ActivityKind, one_line};
use crate::process::{is_same_machine, machine, machine_name};
use crate::{Answerer, Engine, EngineError};
pub use session::SessionAsk;

/// Characters of a question. What is longer is cut and marked.
pub const QUESTION_LENGTH: usize = 8_000;

/// Characters of a reason that comes with an answer.
const REASON: usize = 1_000;

/// Questions that are looked through at most: settled ones of earlier parts of a run, and open ones.
pub(crate) const COMPARED: usize = 1_000;

/// One of the answers that an agent offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionOption {
    /// The agent's name for it.
    pub id: String,
    /// The text for the user.
    pub label: String,
    /// True if it allows what the agent asks for.
    pub allows: bool,
}

/// What is stored beside the text of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct QuestionBody {
    options: Vec<QuestionOption>,
    /// The text was longer.
    is_cut: bool,
    /// The machine of the agent, with what distinguishes it from others of its name.
    machine: String,
    /// Answers that are given on other machines count.
    remote_answers: bool,
}

/// A question or a permission request of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentQuestion {
    /// Its number in the plan.
    pub id: u64,
    /// When the question was asked.
    pub asked_at: i64,
    /// The run and the seat of the agent; `None` for a session outside runs, whose question can only be answered in the
    /// agent's own terminal.
    pub seat: Option<(u64, u32)>,
    /// The session or worker that asks.
    pub session: Option<String>,
    /// The todo that the agent works on.
    pub todo: Option<Uid>,
    /// The agent program.
    pub agent: String,
    /// The question in full, safe to print, with line ends.
    pub text: String,
    /// True if the question was longer than [`QUESTION_LENGTH`].
    pub is_cut: bool,
    /// The possible answers.
    pub options: Vec<QuestionOption>,
    /// Whether it waits, or how it was settled.
    pub state: QuestionState,
    body: QuestionBody,
}

impl AgentQuestion {
    /// Returns true if it waits for an answer.
    pub const fn is_open(&self) -> bool {
        matches!(self.state, QuestionState::Open)
    }

    /// Returns true if the answer refuses what the agent asks for.
    pub fn refuses(&self, answer: &QuestionReply) -> bool {
        answer.refuses(&self.options)
    }
}

/// What an agent of a run asks.
#[derive(Clone, Debug)]
pub struct QuestionRequest<'a> {
    /// The number of the run.
    pub run: u64,
    /// The number of the seat.
    pub seat: u32,
    /// The worker that asks, as the owner of its claims.
    pub worker: &'a str,
    /// The todo that it works on.
    pub todo: Uid,
    /// The agent program.
    pub agent: &'a str,
    /// The question in full.
    pub text: &'a str,
    /// The possible answers.
    pub options: Vec<QuestionOption>,
    /// Answers that are given on other machines count.
    pub remote_answers: bool,
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuestionReply {
    /// Allow what the agent asks for, with the option that promises least.
    Allow,
    /// Refuse it.
    Refuse,
    /// Choose one of the options, by the agent's name for it.
    Option(String),
}

/// An answer as the user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenAnswer {
    /// The answer.
    pub answer: QuestionReply,
    /// The reason, which the agent reads.
    pub reason: Option<String>,
}

impl From<QuestionReply> for GivenAnswer {
    fn from(answer: QuestionReply) -> Self {
        Self { answer, reason: None }
    }
}

impl QuestionReply {
    /// Returns the text that is stored.
    pub fn to_text(&self) -> String {
        match self {
            Self::Allow => "allow".to_owned(),
            Self::Refuse => "refuse".to_owned(),
            Self::Option(id) => format!("{CHOSEN}{id}"),
        }
    }

    /// Reads what [`QuestionReply::to_text`] writes. Anything else refuses.
    pub fn from_text(given: &str) -> Self {
        match given.strip_prefix(CHOSEN) {
            Some(id) => Self::Option(id.to_owned()),
            None if given == "allow" => Self::Allow,
            None => Self::Refuse,
        }
    }

    /// Returns true if the answer refuses what a question with these options asks for.
    pub fn refuses(&self, options: &[QuestionOption]) -> bool {
        match self {
            Self::Allow => false,
            Self::Refuse => true,
            Self::Option(id) => !options.iter().any(|option| option.id == *id && option.allows),
        }
    }

    /// Returns true if a question with these options can be answered like this.
    fn fits(&self, options: &[QuestionOption]) -> bool {
        match self {
            Self::Allow => options.iter().any(|option| option.allows),
            Self::Refuse => true,
            Self::Option(id) => options.iter().any(|option| option.id == *id),
        }
    }
}

const CHOSEN: &str = "option:";

/// The result of an attempt to answer a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerOutcome {
    /// The answer counts.
    Accepted,
    /// Another answer came first, or the question was closed.
    TooLate(QuestionState),
    /// No question has this number.
    Unknown,
    /// The question has no such option.
    NotOffered,
    /// The session is outside of runs: only the agent's own terminal can answer.
    OwnTerminalOnly,
    /// The run takes answers from its own machine only, which has this name.
    OtherMachine(String),
}

/// What the runner finds about a question it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionPoll {
    /// Nothing has happened yet.
    Waiting,
    /// The answer, which is handed out only once.
    Answer(GivenAnswer),
    /// The question was closed, or its answer was already handed out.
    Gone,
}

impl Engine {
    /// Returns the questions of a plan, newest first.
    pub fn questions(
        &self,
        plan: PlanId,
        which: QuestionFilter,
        limit: usize,
    ) -> Result<Vec<AgentQuestion>, EngineError> {
        self.read(plan, |snapshot| Ok(snapshot.questions(which, limit)?.into_iter().map(read).collect()))
    }

    /// Returns one question.
    pub fn question(&self, plan: PlanId, id: u64) -> Result<Option<AgentQuestion>, EngineError> {
        self.read(plan, |snapshot| Ok(snapshot.question(id)?.map(read)))
    }

    /// Stores a question of an agent of a run and returns its number.
    ///
    /// After a crash an agent may ask again what was asked before: an answer that was given meanwhile and never reached
    /// an agent is taken up by [`Engine::take_answer`] with the number that is returned then; a question that is still
    /// open is replaced by the new one.
    pub fn ask(&self, plan: PlanId, ask: &QuestionRequest<'_>) -> Result<u64, EngineError> {
        let (cut, is_cut) = cut(ask.text);
        let body = QuestionBody {
            options: ask.options.clone(),
            is_cut,
            machine: machine(),
            remote_answers: ask.remote_answers,
        };
        let question = Question {
            id: 0,
            asked_at: 0,
            run: Some(ask.run),
            seat: Some(ask.seat),
            session: Some(ask.worker.to_owned()),
            todo: Some(ask.todo),
            agent: one_line(ask.agent),
            text: cut,
            options: serde_json::to_string(&body).unwrap_or_default(),
            state: QuestionState::Open,
        };
        self.write(plan, Durability::Full, |tx, now| {
            if let Some(earlier) = same_question(tx, &question)? {
                match &earlier.state {
                    QuestionState::Answered(_) => return Ok(earlier.id),
                    QuestionState::Open | QuestionState::Closed { .. } => {
                        close(tx, &earlier, "it was asked again after the run was resumed", now)?;
                    }
                }
            }
            let id = tx.put_question(&Question { asked_at: now, ..question.clone() })?;
            let kind =
                ActivityKind::Asked { question: id, agent: question.agent.clone(), text: one_line(&question.text) };
            let source = activity::of_run(ask.run, Some(ask.seat));
            activity::record(tx, Some(&source), question.todo, &kind, now)?;
            Ok(id)
        })
    }

    /// Answers a question of an agent of a run. Of several answers only the first counts.
    pub fn answer(
        &self,
        plan: PlanId,
        id: u64,
        answer: &QuestionReply,
        reason: Option<&str>,
        by: &Answerer,
    ) -> Result<AnswerOutcome, EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            let Some(row) = tx.question(id)? else { return Ok(AnswerOutcome::Unknown) };
            let question = read(row.clone());
            if question.seat.is_none() {
                return Ok(AnswerOutcome::OwnTerminalOnly);
            }
            if !question.body.accepts(by.machine()) {
                return Ok(AnswerOutcome::OtherMachine(machine_name(&question.body.machine).to_owned()));
            }
            if !answer.fits(&question.options) {
                return Ok(AnswerOutcome::NotOffered);
            }
            let given = QuestionAnswer {
                answer: answer.to_text(),
                by: by.by().to_owned(),
                via: format!("{}@{}", by.via().name(), by.machine()),
                reason: reason.map(|reason| text::clip(reason, REASON).into_owned()),
                at: now,
                taken_at: None,
            };
            match tx.answer_question(id, &given)? {
                QuestionOutcome::Unknown => return Ok(AnswerOutcome::Unknown),
                QuestionOutcome::AlreadySettled(state) => return Ok(AnswerOutcome::TooLate(state)),
                QuestionOutcome::Settled => {}
            }
            let kind =
                ActivityKind::Answered { question: id, answer: one_line(&given.answer), by: given.by, via: by.place() };
            activity::record(tx, source(&row).as_deref(), row.todo, &kind, now)?;
            Ok(AnswerOutcome::Accepted)
        })
    }

    /// Returns the answer to a question, once: the caller applies it. Only for the runner of the plan. An answer that
    /// does not count, because it was given on another machine, is not handed out.
    pub fn take_answer(&self, plan: PlanId, id: u64) -> Result<QuestionPoll, EngineError> {
        let state = |snapshot: &dyn Snapshot| Ok(snapshot.question(id)?.map(read));
        let waits = |question: &Option<AgentQuestion>| question.as_ref().is_some_and(AgentQuestion::is_open);
        if waits(&self.read(plan, state)?) {
            return Ok(QuestionPoll::Waiting);
        }
        self.write(plan, Durability::Full, |tx, now| {
            let Some(question) = tx.question(id)?.map(read) else { return Ok(QuestionPoll::Gone) };
            Ok(match &question.state {
                QuestionState::Open => QuestionPoll::Waiting,
                QuestionState::Closed { .. } => QuestionPoll::Gone,
                QuestionState::Answered(given) => {
                    let machine = given.via.split_once('@').map_or("", |(_, machine)| machine);
                    match tx.take_answer(id, now)? && question.body.accepts(machine) {
                        true => QuestionPoll::Answer(GivenAnswer {
                            answer: QuestionReply::from_text(&given.answer),
                            reason: given.reason.clone(),
                        }),
                        false => QuestionPoll::Gone,
                    }
                }
            })
        })
    }

    /// Closes a question that no agent waits for any more. Returns false if it was answered or closed before.
    pub fn close_question(&self, plan: PlanId, id: u64, reason: &str) -> Result<bool, EngineError> {
        self.write(plan, Durability::Full, |tx, now| match tx.question(id)? {
            Some(question) => close(tx, &question, reason, now),
            None => Ok(false),
        })
    }

    /// Closes the open questions of all runs but this one. Only for a runner that has just taken the plan: then no agent
    /// waits for an answer to them.
    pub fn close_other_questions(&self, plan: PlanId, run: u64) -> Result<(), EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            close_where(tx, |of| of.run.is_some_and(|of| of != run), "its run has ended", now)
        })
    }
}

/// Closes every open question of a run that ends.
pub(crate) fn close_all(tx: &mut dyn Tx, run: u64, now: i64) -> Result<(), EngineError> {
    close_where(tx, |of| of.run == Some(run), "the run has ended", now)
}

/// Closes the open questions that `matches` returns true for.
pub(crate) fn close_where(
    tx: &mut dyn Tx,
    matches: impl Fn(&Question) -> bool,
    reason: &str,
    now: i64,
) -> Result<(), EngineError> {
    for question in tx.questions(QuestionFilter::Open, COMPARED)? {
        if matches(&question) {
            close(tx, &question, reason, now)?;
        }
    }
    Ok(())
}

/// Notes that a session outside of runs asks the user something, in these words if its agent reports them. Returns the number of the question.
pub(crate) fn note(
    tx: &mut dyn Tx,
    session: &str,
    agent: &str,
    asked: &str,
    todo: Option<Uid>,
    now: i64,
) -> Result<u64, EngineError> {
    let asked = if text::is_blank(asked) { "The agent asks something in its own terminal." } else { asked };
    let (text, is_cut) = cut(asked);
    let body = QuestionBody { is_cut, ..QuestionBody::default() };
    let question = Question {
        id: 0,
        asked_at: now,
        run: None,
        seat: None,
        session: Some(session.to_owned()),
        todo,
        agent: one_line(agent),
        text,
        options: serde_json::to_string(&body).unwrap_or_default(),
        state: QuestionState::Open,
    };
    let id = tx.put_question(&question)?;
    let kind = ActivityKind::Asked { question: id, agent: question.agent, text: one_line(&question.text) };
    activity::record(tx, Some(session), todo, &kind, now)?;
    Ok(id)
}

/// Closes a question if it is open.
pub(crate) fn close(tx: &mut dyn Tx, question: &Question, reason: &str, now: i64) -> Result<bool, EngineError> {
    let settled = tx.close_question(question.id, reason, now)? == QuestionOutcome::Settled;
    if settled {
        let kind = ActivityKind::QuestionClosed { question: question.id, reason: one_line(reason) };
        activity::record(tx, source(question).as_deref(), question.todo, &kind, now)?;
    }
    Ok(settled)
}

/// Returns the question that an earlier part of the run asked in the same words about the same todo, and that no agent
/// has an answer to.
fn same_question(snapshot: &dyn Snapshot, new: &Question) -> Result<Option<Question>, EngineError> {
    let body = |question: &Question| serde_json::from_str::<QuestionBody>(&question.options).unwrap_or_default();
    let asked = body(new);
    let same = |known: &Question| {
        let is_same = match &known.state {
            // Asked before the machine was started again, or on another one: no agent there waits for it.
            QuestionState::Open => QuestionBody { machine: asked.machine.clone(), ..body(known) } == asked,
            QuestionState::Answered(given) => given.taken_at.is_none() && body(known) == asked,
            QuestionState::Closed { .. } => false,
        };
        let about = |question: &Question| (question.run, question.todo, question.text.clone());
        is_same && known.session != new.session && about(known) == about(new)
    };
    Ok(snapshot.questions(QuestionFilter::All, COMPARED)?.into_iter().find(same))
}

impl QuestionBody {
    /// Returns true if an answer that is given on that machine counts.
    fn accepts(&self, machine: &str) -> bool {
        self.remote_answers || is_same_machine(&self.machine, machine)
    }
}

fn source(question: &Question) -> Option<String> {
    match (question.run, question.seat) {
        (Some(run), seat) => Some(activity::of_run(run, seat)),
        (None, _) => question.session.clone(),
    }
}

/// Cuts a text to the length of a question, and makes it safe to print line by line.
fn cut(given: &str) -> (String, bool) {
    let is_cut = given.chars().nth(QUESTION_LENGTH).is_some();
    let kept: String = given.chars().take(QUESTION_LENGTH).collect();
    let lines: Vec<String> = kept.lines().map(|line| text::neutral(line).into_owned()).collect();
    (lines.join("\n"), is_cut)
}

fn read(row: Question) -> AgentQuestion {
    let body: QuestionBody = serde_json::from_str(&row.options).unwrap_or_default();
    AgentQuestion {
        id: row.id,
        asked_at: row.asked_at,
        seat: row.run.map(|run| (run, row.seat.unwrap_or_default())),
        session: row.session,
        todo: row.todo,
        agent: row.agent,
        text: row.text,
        is_cut: body.is_cut,
        options: body.options.clone(),
        state: row.state,
        body,
    }
}

#[cfg(test)]
mod tests;
