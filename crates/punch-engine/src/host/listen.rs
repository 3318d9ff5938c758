//! Handles one report: computes the effect and what must be stored. Only reads.

use std::cell::OnceCell;

use punch_core::drive::{
    Cover, Decision, HostEffect, HostEvent, NamedTodo, NextRun, Nudge, PlanFacts, SessionStart, ToolKind, ToolUse,
    TurnBefore, advice, due, explain, nudge, quote,
};
use punch_core::{Evidence, Status, Todo, Uid, WorkerId};
use punch_store::{LedgerEntry, PlanInfo, SessionKey, Snapshot, Which};
use serde_json::json;

use super::meter::ConversationMark;
use super::metering::MeteredSpan;
use super::{HostReport, owner_of};
use crate::call::names::SessionNames;
use crate::call::{Notes, parallel};
use crate::config::Settings;
use crate::user_changes::{Informing, UserChangeNotice};
use crate::{EngineError, ReadyQuery, Role, SessionState, expected_call, one_line, session};

/// Running todos that are looked at.
pub(super) const RUNNING: usize = 256;

/// A report and the plan it is about.
pub(super) struct Listener<'a> {
    pub snapshot: &'a dyn Snapshot,
    pub plan: &'a PlanInfo,
    /// Other plans in which something is open: name, open, total.
    pub others: &'a [(String, u64, u64)],
    pub report: &'a HostReport,
    pub settings: &'a Settings,
    /// What the conversation used can be read.
    pub reads: bool,
    /// The turns before the current one.
    pub before: &'a TurnBefore,
    pub now: i64,
    /// What is in progress, once it was read.
    pub running: OnceCell<Vec<Todo>>,
}

/// The outcome of a report.
#[derive(Default)]
pub(super) struct ReportOutcome {
    pub effect: HostEffect,
    /// What was decided about a stop.
    pub decision: Option<Decision>,
    /// What the decision follows from.
    pub facts: PlanFacts,
    /// The state to keep, if it changed.
    pub state: Option<SessionState>,
    /// What to remember about it.
    pub record: Option<String>,
    /// Leases to lengthen.
    pub renew: Vec<Uid>,
    pub lease: i64,
    pub owner: Option<String>,
    /// A session that was sent to a todo, or that goes nowhere from here.
    pub sent: Option<(String, Option<Uid>)>,
    /// What to enter into the ledger.
    pub spent: Vec<LedgerEntry>,
    /// From where on the conversation has to be read before that can be done.
    pub unread: Option<ConversationMark>,
    /// A use of the host's own todo tools changed the plan.
    pub copied: bool,
    /// Todos that it called done and whose check has to pass first.
    pub unproven: Vec<Uid>,
    /// What is in progress and has no one any more.
    pub gives_back: Vec<Uid>,
    /// The session whose call a server is to expect.
    pub expects: Option<SessionKey>,
    /// The state of the main agent, if that of a subagent's report changes it.
    pub main: Option<SessionState>,
    /// The agent begins to ask the user something, about this todo if it has one.
    pub asks: Option<Option<Uid>>,
    /// The question that the agent no longer asks.
    pub no_longer_asks: Option<u64>,
    /// The id of the todo in progress, where a failure is recorded.
    pub at_todo: Option<String>,
    /// The session was never stored before.
    pub is_new: bool,
    /// What the session is informed of.
    pub notice: Option<UserChangeNotice>,
    /// A todo outside whose files something was changed for the first time.
    pub drift: Option<(Uid, Evidence)>,
}

impl ReportOutcome {
    pub const fn writes(&self) -> bool {
        self.state.is_some()
            || self.main.is_some()
            || self.record.is_some()
            || !self.renew.is_empty()
            || self.expects.is_some()
    }
}

/// The session as the plan knows it.
pub(super) struct PlanSession {
    pub state: SessionState,
    pub owner: String,
    pub foreign: bool,
    /// It was never stored before.
    pub is_new: bool,
}

impl PlanSession {
    pub fn bound(&self) -> bool {
        !self.foreign && self.state.bound
    }

    /// Returns the todos that the session is responsible for.
    pub fn cover(&self) -> Cover {
        self.state.cover()
    }
}

impl Listener<'_> {
    /// `known`: the state of the session, which differs from what is kept. `notes`: what the model should hear about
    /// the copy that was just made of its list.
    pub fn listen(
        &self,
        measured: Option<&MeteredSpan>,
        known: Option<SessionState>,
        notes: &Notes,
    ) -> Result<ReportOutcome, EngineError> {
        let differs = known.is_some();
        let mut who = match known {
            Some(state) => {
                PlanSession { state, owner: owner_of(&self.report.key, self.settings), foreign: false, is_new: false }
            }
            None => self.who()?,
        };
        let before = who.state.clone();
        let mut outcome = ReportOutcome { is_new: who.is_new, ..ReportOutcome::default() };
        if who.foreign {
            if matches!(self.report.event, HostEvent::Stopping { .. }) {
                self.stop(&mut who, &mut outcome)?;
            }
            return Ok(outcome);
        }
        let compacting = who.state.drive.compacting.is_some();
        who.state.drive.observe(&self.report.event, self.now);
        match (&self.report.event, self.report.context) {
            (HostEvent::SessionStarted { .. }, _) => who.state.context = None,
            (_, Some(context)) => who.state.context = Some(context),
            (_, None) => {}
        }
        let mut context: Vec<String> = Vec::new();
        let mut looked_until = None;
        if compacting && who.bound() && self.shows_end_of_compaction() {
            context.extend(self.put_back(&mut who, &mut outcome)?);
        }
        context.extend(self.ended_checks(&mut who)?);
        match &self.report.event {
            HostEvent::SessionStarted { how } => {
                context.extend(self.started(*how, &mut who, &mut outcome)?);
                outcome.effect.tell = self.start_line(*how, &who)?;
            }
            HostEvent::Prompted { by_person: true } => context.extend(self.prompted(&mut who, &mut outcome)?),
            HostEvent::Prompted { by_person: false } | HostEvent::Asked { .. } => {}
            HostEvent::ToolStarting { tool } => {
                self.renew(&who, &mut outcome)?;
                context.extend(self.wound_back(&mut who)?);
                if tool.kind == ToolKind::Ours {
                    outcome.effect.refuse = self.keep_out(&tool.name, &who);
                    outcome.expects = self.expects(&who, outcome.effect.refuse.is_some())?;
                }
            }
            HostEvent::ToolEnded { tool } => {
                if let Some(receipt) = tool.receipt {
                    let before = receipt.saturating_sub(1);
                    who.state.drive.begin_first_turn(self.report.turn.as_deref(), before, self.now);
                }
                self.renew(&who, &mut outcome)?;
                context.extend(self.wound_back(&mut who)?);
                looked_until = self.inform(&mut who, &notes.listed, &mut outcome)?;
                context.extend(outcome.notice.as_ref().map(|notice| notice.text.clone()));
                context.extend(self.explain_copy(notes)?);
                context.extend(self.parallel_work(tool, &who)?);
                context.extend(self.remind(&mut who, &before)?);
                self.count_work(&mut who)?;
                context.extend(self.observe_work(tool, &mut who, &mut outcome)?);
            }
            HostEvent::ToolFailed { tool, error, interrupted } => {
                self.count_work(&mut who)?;
                self.observe_work(tool, &mut who, &mut outcome)?;
                context.extend(self.tool_failed(&tool.name, tool.kind, *interrupted, &mut who)?);
                if matches!(tool.kind, ToolKind::Ours | ToolKind::HostTodo) && !interrupted {
                    outcome.effect.tell = Some(format!("punch: todo update failed: {}", one_line(error)));
                }
                outcome.record = self.noted("tool_failed", Some(error), &who)?;
                outcome.at_todo = self.current(&who)?.map(|todo| todo.id.clone());
            }
            HostEvent::Stopping { .. } => {
                self.stop(&mut who, &mut outcome)?;
                self.ask_again(&mut who, &mut outcome)?;
            }
            HostEvent::TurnFailed { error } => outcome.record = self.noted("turn_failed", Some(error), &who)?,
            HostEvent::Interrupted => outcome.record = self.noted("interrupted", None, &who)?,
            HostEvent::Compacting => outcome.record = self.noted("compacting", None, &who)?,
            HostEvent::SessionEnded => {
                outcome.record = self.noted("session_ended", None, &who)?;
                self.give_back(&who, &mut outcome)?;
                outcome.sent = outcome.record.is_some().then(|| (who.owner.clone(), None));
            }
            // Only a newer core has others.
            _ => {}
        }
        self.asking(&before, &mut who, &mut outcome)?;
        match measured {
            Some(measured) => self.enter(measured, &mut who, &mut outcome)?,
            None if self.reads => outcome.unread = self.due(&who)?,
            None => {}
        }
        if !context.is_empty() {
            outcome.effect.context = Some(context.join("\n"));
        }
        if differs || who.state != before {
            if let Some(revision) = looked_until {
                (who.state.drive.told, who.state.taken_up) = (revision, revision);
            }
            who.state.agent.get_or_insert_with(|| self.report.agent.clone());
            let begins = matches!(self.report.event, HostEvent::SessionStarted { .. });
            if begins || who.state.process.is_none() {
                who.state.process = (self.report.agent_process)();
            }
            outcome.state = Some(who.state);
        }
        Ok(outcome)
    }

    /// Enters what was used, of a report that was taken already.
    pub fn only_enter(&self, measured: &MeteredSpan) -> Result<ReportOutcome, EngineError> {
        let mut who = self.who()?;
        let before = who.state.clone();
        let mut outcome = ReportOutcome::default();
        self.enter(measured, &mut who, &mut outcome)?;
        outcome.state = (who.state != before).then_some(who.state);
        Ok(outcome)
    }

    pub(super) fn who(&self) -> Result<PlanSession, EngineError> {
        let found = self.snapshot.session(&self.report.key)?;
        let foreign = found.as_ref().and_then(|session| session.plan).is_some_and(|plan| plan != self.plan.id);
        let state =
            if foreign { SessionState::default() } else { found.as_ref().map(session::read).unwrap_or_default() };
        let is_new = found.is_none();
        Ok(PlanSession { state, owner: owner_of(&self.report.key, self.settings), foreign, is_new })
    }

    fn started(
        &self,
        how: SessionStart,
        who: &mut PlanSession,
        outcome: &mut ReportOutcome,
    ) -> Result<Option<String>, EngineError> {
        who.state.restart(how);
        if self.report.key.subagent().is_some() && who.state.role != Role::Worker {
            return Ok(None);
        }
        if how == SessionStart::Clear {
            // The user emptied the conversation on purpose: the plan stays, this session no longer answers for it.
            (who.state.bound, who.state.shown) = (false, 0);
            who.state.drive.told = self.snapshot.row()?.revision;
            who.state.scope.clear();
            who.state.beyond.clear();
            who.state.given_back.clear();
            who.state.beside.clear();
            who.state.unnamed.clear();
            who.state.names.clear();
            who.state.unproven.clear();
            who.state.awaited.clear();
            who.state.asked.clear();
        }
        match who.bound() {
            true => self.put_back(who, outcome),
            // It was offered when the conversation began.
            false if how == SessionStart::Compact => Ok(None),
            false if how == SessionStart::Fork => self.branched(),
            false => self.offer(),
        }
    }

    /// Some hosts announce a compaction and never report its end; it is over once the work continues.
    const fn shows_end_of_compaction(&self) -> bool {
        matches!(self.report.event, HostEvent::ToolEnded { .. } | HostEvent::Prompted { by_person: true })
    }

    /// A line for the user when a conversation begins in which work is open.
    fn start_line(&self, how: SessionStart, who: &PlanSession) -> Result<Option<String>, EngineError> {
        let own = self.report.key.subagent().is_none() && who.state.role != Role::Worker && !self.is_driven(who);
        if how == SessionStart::Compact || !own {
            return Ok(None);
        }
        let counts = self.snapshot.row()?.counts;
        if counts.open() == 0 {
            return Ok(None);
        }
        let mut facts = PlanFacts { open: counts.open(), total: counts.active(), ..self.facts(who, false)? };
        self.in_its_names(&mut facts, who)?;
        let next = facts.next.as_ref().map(|next| format!(", next {}", quote(&next.id, 60))).unwrap_or_default();
        Ok(Some(format!("punch: plan {}, {}{next}", quote(&self.plan.name, 60), facts.open_of_total())))
    }

    /// A message of the user: a turn begins, and the model learns what happened since the last turn.
    fn prompted(&self, who: &mut PlanSession, outcome: &mut ReportOutcome) -> Result<Option<String>, EngineError> {
        let revision = self.snapshot.row()?.revision;
        who.state.drive.begin_turn(self.report.turn.as_deref(), revision, self.now);
        if !who.bound() {
            // What the user changes from here on counts for the list that this turn may begin.
            who.state.drive.told = revision;
            return Ok(None);
        }
        if let Some(text) = self.wound_back(who)? {
            return Ok(Some(text));
        }
        outcome.notice = self.informing().inform(&mut who.state)?;
        Ok(outcome.notice.as_ref().map(|notice| notice.text.clone()))
    }

    /// The session as one that may have to be informed of what the user changed.
    pub(super) fn informing(&self) -> Informing<'_> {
        let user = self.settings.owner.value.as_deref();
        Informing { snapshot: self.snapshot, session: &self.report.key, user, now: self.now }
    }

    /// Informs the agent of what the user changed, after a tool. Returns up to where there was nothing to say: that alone is
    /// not worth a write.
    fn inform(
        &self,
        who: &mut PlanSession,
        listed: &[Uid],
        outcome: &mut ReportOutcome,
    ) -> Result<Option<u64>, EngineError> {
        if !who.bound() {
            return Ok(None);
        }
        let (told, taken_up) = (who.state.drive.told, who.state.taken_up);
        let since = who.state.informed();
        outcome.notice = self.informing().inform_since(&mut who.state, since, listed)?;
        // The next look continues where this one ended, so that has to be stored, too.
        if outcome.notice.is_some() || who.state.drive.told < self.snapshot.row()?.revision {
            return Ok(None);
        }
        let until = std::mem::replace(&mut who.state.drive.told, told);
        who.state.taken_up = taken_up;
        Ok(Some(until))
    }

    /// What a conversation does not know any more that was wound back.
    fn wound_back(&self, who: &mut PlanSession) -> Result<Option<String>, EngineError> {
        let unplaced = self.report.turn.as_deref().is_some_and(|turn| who.state.drive.is_unplaced(turn));
        if !who.bound() || !unplaced || !self.report.places() {
            return Ok(None);
        }
        let Some(since) = who.state.drive.place(self.before) else { return Ok(None) };
        self.informing().take_up_new(&mut who.state)?;
        who.state.drive.told = self.snapshot.row()?.revision;
        self.since_rewind(who, since)
    }

    /// A runner drives this agent, and this is not the runner that asks.
    pub(super) fn is_driven(&self, who: &PlanSession) -> bool {
        WorkerId::of(&who.owner).is_some() && !self.report.by_runner
    }

    /// A subagent to which nothing was assigned may read its parent's list.
    fn keep_out(&self, tool: &str, who: &PlanSession) -> Option<String> {
        let reads = tool.ends_with("_read") || tool.ends_with("Read");
        let free = self.report.key.subagent().is_none() || who.state.role == Role::Worker;
        (!free && !reads).then(|| {
            "The todo list belongs to the agent that started you, and nothing on it is assigned to you: read it if you \
             like, and report what you did in your answer."
                .to_owned()
        })
    }

    /// A conversation ends: no one works on what it has in progress. A runner does this for its own agents. Where a
    /// flag gives several conversations one name, only the list of this one is meant.
    fn give_back(&self, who: &PlanSession, outcome: &mut ReportOutcome) -> Result<(), EngineError> {
        if !who.bound() || self.is_driven(who) || self.report.key.subagent().is_some() {
            return Ok(());
        }
        let alone = who.owner == self.report.key.full_name();
        let mine = |t: &&Todo| {
            let listed = alone || who.state.scope.contains(&t.uid) || who.state.beyond.contains(&t.uid);
            listed && t.owner.as_deref() == Some(&who.owner) && t.status_at(self.now) == Status::InProgress
        };
        outcome.gives_back = self.running()?.iter().filter(mine).map(|t| t.uid).collect();
        Ok(())
    }

    /// The session whose call a server is to expect, if it cannot know whose the call is. A subagent to which nothing
    /// was assigned reads as its main agent.
    fn expects(&self, who: &PlanSession, refused: bool) -> Result<Option<SessionKey>, EngineError> {
        let Some(call) = self.report.upcoming.as_ref().filter(|_| !refused) else { return Ok(None) };
        let key = &self.report.key;
        if key.subagent().is_none() || who.state.role == Role::Worker {
            return Ok(expected_call::is_needed(self.snapshot, key, &who.state, call)?.then(|| key.clone()));
        }
        let main = SessionKey::new(key.session_id(), None);
        let state = self.snapshot.session(&main)?.as_ref().map(session::read).unwrap_or_default();
        Ok(expected_call::is_needed(self.snapshot, &main, &state, call)?.then_some(main))
    }

    fn remind(&self, who: &mut PlanSession, before: &SessionState) -> Result<Option<String>, EngineError> {
        let rules = self.settings.reminding();
        let bound = who.bound();
        if !self.counts_tools(who) {
            // Counting would only cost writes.
            let (counters, before) = (&mut who.state.drive, &before.drive);
            (counters.quiet, counters.edits, counters.untouched) = (before.quiet, before.edits, before.untouched);
            return Ok(None);
        }
        let counters = &mut who.state.drive;
        let Some(due) = due(counters, &self.report.event, bound, rules) else { return Ok(None) };
        let facts = match due {
            Nudge::FirstUse | Nudge::FailedWrite => PlanFacts::default(),
            Nudge::Quiet | Nudge::AfterEdits => {
                let mut facts = self.facts(who, false)?;
                self.in_its_names(&mut facts, who)?;
                facts
            }
        };
        let words = who.words(self.settings);
        Ok(nudge(due, &facts, words, &mut who.state.drive, rules))
    }

    /// Uses of tools are counted for this session: reminders may follow from them.
    pub(super) fn counts_tools(&self, who: &PlanSession) -> bool {
        let counters = &who.state.drive;
        let over = !self.settings.reminding().enabled || counters.hushed || (!who.bound() && counters.introduced);
        !over && !self.is_driven(who) && self.report.key.subagent().is_none()
    }

    /// A tool that does work while the session has a todo in progress touches the plan.
    fn count_work(&self, who: &mut PlanSession) -> Result<(), EngineError> {
        let works = match &self.report.event {
            HostEvent::ToolEnded { tool } | HostEvent::ToolFailed { tool, .. } => tool.works(),
            _ => false,
        };
        if works && who.state.drive.untouched && self.counts_tools(who) && self.current(who)?.is_some() {
            who.state.drive.untouched = false;
        }
        Ok(())
    }

    /// What the plan did not take over from the host's list, and why.
    fn explain_copy(&self, notes: &Notes) -> Result<Option<String>, EngineError> {
        let mut out = Vec::new();
        if !self.report.checks.starts {
            // A hook that starts checks explains their results.
            let unproven = self.unproven(&notes.unproven, NextRun::Shell)?;
            out.extend(Some(explain(&unproven)).filter(|text| !text.is_empty()));
        }
        out.extend(notes.warnings.iter().take(5).cloned());
        Ok((!out.is_empty()).then(|| out.join("\n")))
    }

    /// Returns what the agent should hand out to subagents after it wrote its own list, if the user wants that. The
    /// answers of our own tools already include it.
    fn parallel_work(&self, tool: &ToolUse, who: &PlanSession) -> Result<Option<String>, EngineError> {
        let own_list = tool.kind == ToolKind::HostTodo && tool.writes_todos() && who.bound();
        if !own_list || self.report.key.subagent().is_some() || who.state.role == Role::Worker {
            return Ok(None);
        }
        let scope = match who.cover() {
            Cover::List(scope) => Some(scope),
            Cover::Plan => None,
        };
        let names = SessionNames::of(&who.state);
        let query = ReadyQuery::for_owner(Some(&who.owner), scope.as_deref(), self.now);
        Ok(parallel(self.snapshot, Some(self.settings), &query, |todo| names.label(&todo.id))?)
    }

    fn tool_failed(
        &self,
        tool: &str,
        kind: ToolKind,
        interrupted: bool,
        who: &mut PlanSession,
    ) -> Result<Option<String>, EngineError> {
        let rules = self.settings.reminding();
        if interrupted {
            return Ok(None);
        }
        if matches!(kind, ToolKind::Ours | ToolKind::HostTodo) {
            let due = due(&who.state.drive, &self.report.event, who.bound(), rules);
            let facts = PlanFacts::default();
            let words = who.words(self.settings);
            return Ok(due.and_then(|due| nudge(due, &facts, words, &mut who.state.drive, rules)));
        }
        if !who.bound() {
            return Ok(None);
        }
        let Some(todo) = self.current(who)? else { return Ok(None) };
        let todo = SessionNames::of(&who.state).labelled(todo);
        let times = who.state.drive.tool_failed(&todo.id, tool);
        let words = who.words(self.settings);
        Ok(advice(&NamedTodo::of(&todo, self.now), times, words, &mut who.state.drive, rules))
    }

    /// What is in progress, by any owner.
    pub(super) fn running(&self) -> Result<&[Todo], EngineError> {
        if let Some(running) = self.running.get() {
            return Ok(running);
        }
        let running = match self.snapshot.row()?.counts.in_progress {
            0 => Vec::new(),
            _ => self.snapshot.list(Which::Running, None, RUNNING)?,
        };
        Ok(self.running.get_or_init(|| running))
    }

    /// The todo that the session works on. One that it called done and that only waits for its check counts if there is no
    /// other.
    pub(super) fn current(&self, who: &PlanSession) -> Result<Option<Todo>, EngineError> {
        let scope = match who.cover() {
            Cover::List(scope) => scope,
            Cover::Plan => Vec::new(),
        };
        let rank = |todo: &&Todo| {
            let is_shared = match todo.owner.as_deref() {
                Some(owner) if owner == who.owner && todo.status_at(self.now) == Status::InProgress => false,
                None if scope.contains(&todo.uid) => true,
                Some(_) | None => return None,
            };
            Some((todo.flags.reported || who.state.asked.contains(&todo.uid), is_shared))
        };
        let ranked = self.running()?.iter().filter_map(|todo| Some((rank(&todo)?, todo)));
        Ok(ranked.min_by_key(|(rank, _)| *rank).map(|(_, todo)| todo.clone()))
    }

    /// A report that is remembered with the todo it came in.
    pub(super) fn noted(
        &self,
        what: &str,
        error: Option<&str>,
        who: &PlanSession,
    ) -> Result<Option<String>, EngineError> {
        if !who.bound() {
            return Ok(None);
        }
        let todo = self.current(who)?.map(|t| punch_core::text::clip(&t.id, 200).into_owned());
        let error = error.map(|text| punch_core::text::clip(text, 300).into_owned());
        let revision = self.snapshot.row()?.revision;
        Ok(Some(
            json!({"noted": what, "todo": todo, "error": error, "agent": self.report.agent, "plan": self.plan.name,
                   "revision": revision, "now": self.now})
            .to_string(),
        ))
    }
}
