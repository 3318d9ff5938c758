//! Handles reports from an agent's host: counters, decisions, reminders. Most reports only read; what they write is
//! stored with the session, outside of the history.

mod asking;
pub(crate) mod checks;
mod earlier;
mod facts;
mod lease;
mod listen;
mod listing;
mod meter;
mod metering;
mod naming;
mod observing;
mod record;
mod rewind;
mod sessions;
mod stop;
mod switch;

use std::cell::{LazyCell, OnceCell};
use std::path::{Path, PathBuf};

use punch_core::drive::{ContextUse, Decision, HostEffect, HostEvent, PlanFacts, SessionStart};
use punch_core::view::Progress;
use punch_core::{Actor, Op, Ref, Uid};
use punch_store::{Ahead, Durability, PlanId, PlanInfo, SessionKey, SessionRow, Tx};

use crate::call::{MirrorResult, Notes, TodoUse};
use crate::config::{Plans, SettingSource, Settings};
use crate::engine::meant;
use crate::process::ProcessId;
use crate::submit::apply_in_transaction;
use crate::verify::CHECKS;
use crate::{
    Engine, EngineError, PlanChoice, SessionState, UpcomingCall, WriteRequest, expected_call, offers, session,
};
pub use checks::HookChecks;
pub use earlier::{Earlier, Find};
use listen::{Listener, ReportOutcome};
use metering::MeteredSpan;
use observing::CompletionQuestion;

pub(crate) use meter::share;
pub use meter::{ConversationMark, ConversationReader, ConversationReading, SessionMeter};
pub(crate) use metering::is_unused;
pub use record::DecisionRecord;
pub use sessions::{Going, PromptTokens, SessionStatus, TurnStart};
pub(crate) use sessions::{SILENT_MS, stop_of, turn_of};
pub use switch::Switches;

/// One report of a host.
#[derive(Clone, Debug)]
pub struct HostReport {
    /// The agent program: `claude`, `codex`, …
    pub agent: String,
    /// The conversation, and the subagent inside it.
    pub key: SessionKey,
    /// What the command line and the worktree say about the plan.
    pub choice: PlanChoice,
    /// The event that the host reports.
    pub event: HostEvent,
    /// How full the model's context is, where anyone knows.
    pub context: Option<ContextUse>,
    /// The host's own limit of continuations in a row that must not be reached.
    pub host_cap: Option<u32>,
    /// The host's marker of the current turn, if it has one.
    pub turn: Option<String>,
    /// The worktree that the agent is in, where there is one.
    pub tree: Option<PathBuf>,
    /// What came before that turn, so that a conversation is noticed that was wound back.
    pub earlier: Earlier,
    /// The runner asks itself, for an agent that it drives.
    pub by_runner: bool,
    /// The call of one of our tools that this report announces, if the host does not tell our server the session.
    pub upcoming: Option<UpcomingCall>,
    /// What the hook knows about the checks of todos that the session called done.
    pub checks: HookChecks,
    /// Finds the process of the agent. Called only where something is stored.
    pub agent_process: fn() -> Option<ProcessId>,
}

impl HostReport {
    /// A change that the session makes without a call.
    fn request<'a>(&'a self, settings: &'a Settings) -> WriteRequest<'a> {
        let actor = Actor::agent(&self.agent, owner_of(&self.key, settings));
        WriteRequest { settings: Some(settings), tree: self.tree.as_deref(), ..WriteRequest::of(actor) }
    }
}

/// What a report led to.
#[derive(Debug, Default)]
pub struct ObserveResult {
    /// What the host should do.
    pub effect: HostEffect,
    /// A use of the host's own todo tools changed the plan.
    pub copied: bool,
    /// Why it could not be copied.
    pub failed: Option<EngineError>,
    /// Todos that the session called done with it, and whose check has to pass first.
    pub unproven: Vec<Uid>,
}

/// What a report is about.
struct ReportTarget {
    plan: PlanInfo,
    /// The session, if it is bound to that plan.
    session: Option<SessionRow>,
    /// What is recorded about the plan file, if the plan has one.
    link: Option<String>,
}

impl Engine {
    /// Takes a report and says what the host should do. `settings` are already those of the agent.
    pub fn observe(&self, report: &HostReport, settings: &Settings) -> Result<HostEffect, EngineError> {
        Ok(self.process(report, settings, None, None)?.effect)
    }

    /// Handles the report of an agent that wants to stop, and returns the decision with the facts that it follows from;
    /// `None` if no session is named or there is no plan.
    pub fn observe_stop(
        &self,
        report: &HostReport,
        settings: &Settings,
    ) -> Result<Option<(Decision, PlanFacts)>, EngineError> {
        let outcome = self.process(report, settings, None, None)?;
        Ok(outcome.decision.map(|decision| (decision, outcome.facts)))
    }

    /// Takes a report like [`Engine::observe`], and records what the conversation used for the todos that it is about.
    /// `read` is asked only where there is something to enter, and outside of any transaction.
    pub fn observe_reading(
        &self,
        report: &HostReport,
        settings: &Settings,
        read: Option<ConversationReader<'_>>,
    ) -> Result<HostEffect, EngineError> {
        Ok(self.process(report, settings, None, read)?.effect)
    }

    /// Takes a report of the agent's own todo tools and copies their list in the same transaction.
    pub fn observe_copying(
        &self,
        report: &HostReport,
        settings: &Settings,
        used: &TodoUse<'_>,
        read: Option<ConversationReader<'_>>,
    ) -> Result<ObserveResult, EngineError> {
        match self.process(report, settings, Some(used), read) {
            Ok(outcome) => {
                let (copied, unproven) = (outcome.copied, outcome.unproven);
                return Ok(ObserveResult { effect: outcome.effect, copied, failed: None, unproven });
            }
            // The store would fail twice more, each time after waiting.
            Err(error @ EngineError::Store(_)) => return Err(error),
            Err(_) => {}
        }
        // Each for itself: what one of them stumbles over takes nothing from the other.
        let copied = self.about(report, true).and_then(|found| match found {
            Some(ReportTarget { plan, .. }) => self.mirror(plan.id, used).inspect_err(|error| {
                self.record_failed_write(plan.id, &report.key, &report.agent, error);
            }),
            None => Ok(None),
        });
        let effect = self.observe_reading(report, settings, read)?;
        let (copied, failed) = copied.map_or_else(|error| (None, Some(error)), |copied| (copied, None));
        Ok(ObserveResult { effect, copied: copied.is_some(), failed, unproven: Vec::new() })
    }

    fn process(
        &self,
        report: &HostReport,
        settings: &Settings,
        used: Option<&TodoUse<'_>>,
        read: Option<ConversationReader<'_>>,
    ) -> Result<ReportOutcome, EngineError> {
        if report.key.session_id().is_empty() {
            return Ok(ReportOutcome::default());
        }
        let Some(ReportTarget { plan, session, link }) = self.about(report, used.is_some())? else {
            return Ok(ReportOutcome::default());
        };
        // Most reports need nothing of it here: the listener reads the session again, with the plan of that moment.
        let state = LazyCell::new(|| session.as_ref().map(session::read).unwrap_or_default());
        let resumes = match report.event {
            HostEvent::SessionStarted { how } => {
                matches!(how, SessionStart::Startup | SessionStart::Resume | SessionStart::Fork)
            }
            HostEvent::Prompted { by_person } => by_person,
            _ => false,
        };
        if resumes && !state.given_back.is_empty() {
            self.resume_work(plan.id, &report.key, &report.request(settings))?;
        }
        if let Some(link) = &link {
            self.read_plan_file(plan.id, report, settings, session.is_some(), link);
        }
        // Only a new conversation learns of other plans.
        let others = match report.event {
            HostEvent::SessionStarted { .. } if report.choice.plans == Plans::Shared => self.others(&plan)?,
            _ => Vec::new(),
        };
        let before = &report.before(&|| &state.drive);
        let (plan, others, reads) = (&plan, &others[..], read.is_some());
        let measure = |from: ConversationMark| MeteredSpan { reading: read.and_then(|read| read(&from)), from };
        let stops = matches!(report.event, HostEvent::Stopping { .. });
        if stops && !state.asked.is_empty() {
            self.complete_asked(plan.id, report, settings, CompletionQuestion::Twice)?;
        }
        let mut measured = None;
        if used.is_some() || stops {
            // A stop is always counted and a copy always made: what they most likely have to enter is read before.
            let likely = used.is_some() || !state.meter.running.is_empty();
            measured = (reads && likely && report.key.subagent().is_none()).then(|| measure(state.meter.mark.clone()));
        } else {
            // Everything else is looked at first without taking a turn at the store.
            let outcome = self.read(plan.id, |snapshot| {
                let now = self.now();
                Listener { snapshot, plan, others, report, settings, reads, before, now, running: OnceCell::new() }
                    .listen(None, None, &Notes::default())
            })?;
            if !outcome.writes() && outcome.unread.is_none() {
                return Ok(outcome);
            }
            measured = outcome.unread.map(measure).or(measured);
        }
        let listen = |tx: &mut dyn Tx, now: i64, known: Option<SessionState>, notes: &Notes| {
            let running = OnceCell::new();
            let listener = Listener { snapshot: tx, plan, others, report, settings, reads, before, now, running };
            let outcome = listener.listen(measured.as_ref(), known, notes)?;
            put(tx, &outcome, plan, report, now)?;
            Ok(outcome)
        };
        let ahead = Ahead { session: Some(&report.key), ..Ahead::default() };
        let mut outcome = match used {
            None => self
                .write_ahead(plan.id, Durability::Relaxed, ahead, |tx, now| listen(tx, now, None, &Notes::default()))?,
            Some(used) => {
                let request = used.request();
                self.write_for(plan.id, &request, ahead, |tx, now| {
                    let before = tx.row()?.revision;
                    let Some(MirrorResult { list, mut state, revision, notes }) =
                        used.put(tx, now, plan.id, &request)?
                    else {
                        return listen(tx, now, None, &Notes::default());
                    };
                    state.drive.begin_first_turn(report.turn.as_deref(), before, now);
                    let copied = revision.is_some();
                    if list == report.key {
                        let outcome = listen(tx, now, Some(state), &notes)?;
                        return Ok(ReportOutcome { copied, unproven: notes.unproven, ..outcome });
                    }
                    session::store(tx, &list, plan.id, &state, now)?;
                    let outcome = listen(tx, now, None, &notes)?;
                    Ok(ReportOutcome { copied, unproven: notes.unproven, ..outcome })
                })?
            }
        };
        if matches!(&report.event, HostEvent::ToolEnded { tool } if tool.ran.is_some()) && !state.asked.is_empty() {
            self.complete_asked(plan.id, report, settings, CompletionQuestion::Checked)?;
        }
        if stops && !state.asked.is_empty() && matches!(outcome.decision, Some(Decision::Allow { .. })) {
            self.complete_asked(plan.id, report, settings, CompletionQuestion::All)?;
        }
        if !outcome.gives_back.is_empty() {
            self.end_work(plan.id, &report.key, &report.request(settings), &outcome.gives_back)?;
        }
        if let Some(from) = outcome.unread.take() {
            let measured = measure(from);
            self.write(plan.id, Durability::Relaxed, |tx, now| {
                let running = OnceCell::new();
                let listener = Listener { snapshot: tx, plan, others, report, settings, reads, before, now, running };
                let entered = listener.only_enter(&measured)?;
                put(tx, &entered, plan, report, now)
            })?;
        }
        Ok(outcome)
    }

    /// Returns what a report is about; `None` if there is no plan. `create`: make one if there is none.
    fn about(&self, report: &HostReport, create: bool) -> Result<Option<ReportTarget>, EngineError> {
        let mut choice = report.choice.clone();
        choice.session.get_or_insert_with(|| report.key.clone());
        let look = || {
            self.browse(|catalogue| {
                let plan = meant(catalogue, &choice);
                let link = plan.as_ref().ok().and_then(Option::as_ref).map(|plan| catalogue.plan_file(plan.id));
                Ok((plan, catalogue.session(&report.key)?, link.transpose()?.flatten()))
            })
        };
        let (mut plan, session, link) = look()?;
        if create && matches!(plan, Ok(None)) {
            self.choose_or_create(&choice)?;
            plan = look()?.0;
        }
        let Some(plan) = plan? else { return Ok(None) };
        let session = session.filter(|session| session.plan == Some(plan.id));
        Ok(Some(ReportTarget { plan, session, link }))
    }

    /// Reads what was changed in the plan file before a report that may say so to the agent, or that decides whether it is
    /// finished.
    fn read_plan_file(&self, plan: PlanId, report: &HostReport, settings: &Settings, is_bound: bool, link: &str) {
        let tree = report.tree.as_deref();
        let by_user = WriteRequest { settings: Some(settings), tree, ..WriteRequest::of(Actor::user()) };
        match &report.event {
            HostEvent::SessionStarted { .. } | HostEvent::Prompted { by_person: true } | HostEvent::Stopping { .. } => {
                self.read_back(plan, link, |_| by_user.clone(), true);
            }
            HostEvent::ToolEnded { tool } if is_bound => {
                let ran = tool.ran.iter().flat_map(|run| &run.files);
                let files: Vec<&String> = tool.files.iter().chain(ran).collect();
                let is_own = |file: &Path| {
                    let at = |name: &&String| tree.map_or_else(|| PathBuf::from(name), |tree| tree.join(name));
                    files.iter().map(at).any(|at| at == file || at.canonicalize().is_ok_and(|at| at == file))
                };
                // What the agent wrote there is not news to it.
                let by = |file: &Path| if is_own(file) { report.request(settings) } else { by_user.clone() };
                // A file that is being written may be incomplete. The next stop or message reports that it stays so.
                self.read_back(plan, link, by, false);
            }
            _ => {}
        }
    }
}

impl Engine {
    /// Other plans in which something is open: name, open, total.
    fn others(&self, than: &PlanInfo) -> Result<Vec<(String, u64, u64)>, EngineError> {
        let entries = self.plan_entries()?.into_iter();
        let open = entries.filter(|e| e.info.archived.is_none() && e.info.id != than.id && e.counts.open() > 0);
        Ok(open.map(|e| (e.info.name, e.counts.open(), Progress::of_counts(&e.counts).total)).collect())
    }
}

fn put(
    tx: &mut dyn Tx,
    outcome: &ReportOutcome,
    plan: &PlanInfo,
    report: &HostReport,
    now: i64,
) -> Result<(), EngineError> {
    let asking = asking::record(tx, outcome, report, now)?;
    if let Some(state) = &outcome.state {
        let asks = asking.map(|id| SessionState { asking: Some(id), ..state.clone() });
        let state = asks.as_ref().unwrap_or(state);
        session::keep(tx, &report.key, state.bound.then_some(plan.id), state, now)?;
    }
    if let Some(notice) = &outcome.notice {
        notice.record(tx, &report.key, &report.agent, now)?;
    }
    if let Some(main) = &outcome.main {
        session::keep(tx, &SessionKey::new(report.key.session_id(), None), Some(plan.id), main, now)?;
    }
    if let (Some(key), Some(call)) = (&outcome.expects, &report.upcoming) {
        expected_call::record(tx, key, plan.id, call, now)?;
    }
    if let Some((uid, seen)) = &outcome.drift {
        let first = punch_core::Footprint { todos: [*uid].into(), ..Default::default() };
        let request = WriteRequest { durability: Durability::Relaxed, ..WriteRequest::by(CHECKS, None) };
        let op = observing::drift_op(*uid, seen);
        apply_in_transaction(tx, now, &request, &first, &mut |_, _| Ok(vec![op.clone()]))?;
    }
    for spent in &outcome.spent {
        tx.spend(spent)?;
    }
    if let Some(body) = &outcome.record {
        tx.put_decision(&report.key, body, now)?;
    }
    if let Some((owner, uid)) = &outcome.sent {
        offers::record(tx, owner, *uid, now)?;
    }
    for uid in &outcome.renew {
        let until = now.saturating_add(outcome.lease);
        let request = WriteRequest {
            durability: Durability::Relaxed,
            ..WriteRequest::by(&report.agent, outcome.owner.as_deref())
        };
        let first = punch_core::Footprint { todos: [*uid].into(), ..Default::default() };
        match apply_in_transaction(tx, now, &request, &first, &mut |_, _| Ok(vec![Op::Renew(Ref::Uid(*uid), until)])) {
            // Another agent has already claimed it, and reports it itself.
            Ok(_) | Err(EngineError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The owner under which a session works: its own name, unless the user who set up its server or hooks gave a name as a
/// flag. The variable and the files name the user; an agent can set them, and must not become another session by that.
pub fn owner_of(key: &SessionKey, settings: &Settings) -> String {
    let flag = settings.owner.value.clone().filter(|_| settings.owner.source == SettingSource::Flag);
    flag.unwrap_or_else(|| key.full_name())
}
