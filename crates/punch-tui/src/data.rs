//! The data of the board: the plan and what happens around it. Plain values; `feed.rs` fills them in from the store.

use punch_core::drive::Switch;
use punch_core::inbox::InboxItem;
use punch_core::reason::PlanReader;
use punch_core::view::{FleetView, FleetWorker, HistoryRow, Plain};
use punch_core::{Plan, Uid};
use punch_engine::{AgentQuestion, QuestionOption, QuestionReply, RecordedLimits, SeatStatus, Sum};
use punch_store::RequestedState;

/// Everything the board shows.
#[derive(Debug, Default)]
pub struct Data {
    /// The name of the plan.
    pub name: Plain,
    /// The whole plan; `None` if there is no store or no plan yet.
    pub plan: Option<Plan>,
    /// What is around the plan has been read, too.
    pub is_complete: bool,
    /// What needs the user, in the order of the inbox.
    pub inbox: Vec<InboxItem>,
    /// Questions that wait for an answer.
    pub questions: Vec<DisplayedQuestion>,
    /// The last run, if there was one.
    pub run: Option<RunState>,
    /// The last revisions, newest first.
    pub history: Vec<HistoryRow>,
    /// The last changes of status, newest first, a line each.
    pub transitions: Vec<String>,
    /// The revision up to which the user has looked.
    pub seen: u64,
    /// When the user has looked last.
    pub seen_at: Option<i64>,
    /// Sessions that work on the plan.
    pub sessions: Vec<SessionSummary>,
    /// Workers on all machines.
    pub fleet: FleetView,
    /// Why the store cannot be read, and since when.
    pub trouble: Option<(String, i64)>,
    /// The last attempt of an agent to change the plan failed, and nothing was written since.
    pub failed_write: Option<String>,
    /// Why questions cannot be answered at this terminal.
    pub no_answers: Option<String>,
    /// The commands of punch.
    pub verbs: Vec<String>,
    /// The agents that todos can be given to.
    pub agents: Vec<String>,
    /// Completing a todo runs its check.
    pub runs_checks: bool,
    /// After how many milliseconds without a sign of life an agent is quiet.
    pub quiet_after: i64,
}

/// A question of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisplayedQuestion {
    /// Its number.
    pub id: u64,
    /// The todo that the agent works on.
    pub todo: Option<Uid>,
    /// The agent program.
    pub agent: String,
    /// The run and seat; `None` if only the agent's own terminal can answer.
    pub seat: Option<(u64, u32)>,
    /// The text in full, one entry for each line, safe to print.
    pub lines: Vec<String>,
    /// The stored text is not all of it.
    pub is_cut: bool,
    /// What can be answered.
    pub options: Vec<QuestionOption>,
    /// When it was asked.
    pub asked_at: i64,
}

impl DisplayedQuestion {
    /// Returns true if the answer refuses what the agent asks for.
    pub(crate) fn refuses(&self, answer: &QuestionReply) -> bool {
        answer.refuses(&self.options)
    }
}

impl From<AgentQuestion> for DisplayedQuestion {
    fn from(question: AgentQuestion) -> Self {
        let safe = |line: &str| punch_core::text::neutral(line).into_owned();
        Self {
            id: question.id,
            todo: question.todo,
            agent: safe(&question.agent),
            seat: question.seat,
            lines: question.text.lines().map(safe).collect(),
            is_cut: question.is_cut,
            options: question.options,
            asked_at: question.asked_at,
        }
    }
}

/// A run and its seats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunState {
    /// The number of the run.
    pub number: u64,
    /// When it began.
    pub started_at: i64,
    /// When it ended.
    pub ended_at: Option<i64>,
    /// A runner works on it now.
    pub is_running: bool,
    /// How it ended.
    pub outcome: Option<&'static str>,
    /// Where its seats stand.
    pub seats: Vec<SeatStatus>,
    /// What it has spent.
    pub spent: Sum,
    /// Its limits.
    pub limits: RecordedLimits,
    /// What the user wants of it.
    pub wanted: RequestedState,
}

/// A session, and what Punchlist does when it wants to stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its id.
    pub id: String,
    /// The agent program.
    pub agent: Plain,
    /// Continuations since the last progress.
    pub continuation: u32,
    /// The most there may be.
    pub of: u32,
    /// Whether it is sent back to work.
    pub switch: Switch,
    /// The last decision and its reason; empty if it never wanted to stop.
    pub decision: Plain,
    /// When that was decided.
    pub decided_at: Option<i64>,
}

impl SessionSummary {
    /// Whether it is sent back to work, in a word.
    pub const fn switch_word(&self) -> &'static str {
        match self.switch {
            Switch::On => "on",
            Switch::Paused => "paused",
            Switch::Off => "off",
        }
    }
}

impl Data {
    /// Reads the plan as the user sees it now.
    pub(crate) fn reader(&self, now: i64) -> Option<PlanReader<'_>> {
        self.plan.as_ref().map(|plan| PlanReader::new(plan, now))
    }

    pub(crate) fn question_of(&self, uid: Uid) -> Option<&DisplayedQuestion> {
        self.questions.iter().find(|question| question.todo == Some(uid))
    }

    pub(crate) fn question(&self, id: u64) -> Option<&DisplayedQuestion> {
        self.questions.iter().find(|question| question.id == id)
    }

    /// The seats of the run.
    pub(crate) fn seats(&self) -> impl Iterator<Item = &SeatStatus> {
        self.run.iter().flat_map(|run| &run.seats)
    }

    /// The seat that works on a todo.
    pub(crate) fn seat_of(&self, id: &str) -> Option<&SeatStatus> {
        self.seats().find(|seat| seat.todo.as_deref() == Some(id))
    }

    /// A worker of the fleet.
    pub(crate) fn worker(&self, name: &str) -> Option<&FleetWorker> {
        self.fleet.workers.iter().find(|worker| worker.name.as_str() == name)
    }

    /// How many changes the user has not seen yet. Not all of them may have been read.
    pub(crate) fn unseen_count(&self) -> u64 {
        self.plan.as_ref().map_or(0, |plan| plan.row.revision.saturating_sub(self.seen))
    }

    /// Revisions that the user has not seen yet, newest first, as far as they have been read.
    pub(crate) fn unseen(&self) -> &[HistoryRow] {
        let new = self.history.iter().take_while(|row| row.revision > self.seen).count();
        &self.history[..new]
    }
}
