//! Fills the board from the store: the plan todo by todo, and everything around it. If the store cannot be read, the
//! last state stays, and reading is tried again.

use std::sync::Arc;

use punch_core::view::{Cap, Glyphs, HistoryRow, Plain, checklist};
use punch_core::{Plan, text};
use punch_engine::{
    ActivityKind, EngineError, FleetRefresher, PlanRefresher, READER, RefreshResult, RevisionEntry, Revisions,
    SessionStatus, Sum,
};
use punch_store::QuestionFilter;

use crate::data::{Data, DisplayedQuestion, RunState, SessionSummary};
use crate::setup::{BoardSetup, BoardStore};

/// Revisions that are shown before the user asks for older ones.
const HISTORY: u64 = 200;
/// Changes of status that are shown below the box of tasks.
const TRANSITIONS: usize = 20;
/// Questions that are shown.
const QUESTIONS: usize = 200;
/// Sessions that are shown.
const SESSIONS: usize = 50;
/// Activities that are looked through for a failed write.
const ACTIVITIES: usize = 1_000;
/// How often facts around the plan are read although nothing was written to the store: agents become quiet, and branches are
/// merged or checks approved elsewhere, without a write.
const MINUTE: i64 = 60_000;

/// Reads the store for a board.
pub struct Feed {
    setup: Arc<BoardSetup>,
    opened: Option<Arc<BoardStore>>,
    refresher: PlanRefresher,
    /// The last activity that was looked at; `None` before the first look.
    activity: Option<u64>,
    /// What is around the plan was read for this stamp of the store.
    stamp: Option<u64>,
    /// What is around the plan was read in this minute.
    minute: i64,
    fleet: FleetRefresher,
}

impl Feed {
    /// A feed that has read nothing yet.
    pub fn new(setup: Arc<BoardSetup>) -> Self {
        Self {
            setup,
            opened: None,
            refresher: PlanRefresher::default(),
            activity: None,
            stamp: None,
            minute: 0,
            fleet: FleetRefresher::default(),
        }
    }

    /// The store, if it is open.
    pub fn opened(&self) -> Option<&Arc<BoardStore>> {
        self.opened.as_ref()
    }

    /// Brings the plan up to date. Returns true if the picture may have changed. What cannot be read is recorded in the data.
    pub fn refresh_plan(&mut self, data: &mut Data, now: i64) -> bool {
        match self.try_plan(data) {
            Ok(changed) => data.trouble.take().is_some() || changed,
            Err(why) => self.lose(data, why, now),
        }
    }

    /// Brings everything around the plan up to date. Returns true if the picture may have changed.
    pub fn refresh_around(&mut self, data: &mut Data, now: i64) -> bool {
        let Some(opened) = self.opened.clone() else { return false };
        match self.try_around(&opened, data, now) {
            Ok(changed) => changed,
            Err(error) => self.lose(data, error.message(), now),
        }
    }

    /// Returns true if what is around the plan has to be read again because time has passed.
    pub fn is_due(&self, now: i64) -> bool {
        self.opened.is_some() && (now / MINUTE != self.minute || self.fleet.is_due(now))
    }

    /// When the fleet is to be read again because of a write that came too soon after the last look.
    pub fn next_look(&self) -> Option<i64> {
        self.fleet.next_look()
    }

    fn lose(&mut self, data: &mut Data, why: String, now: i64) -> bool {
        self.opened = None;
        self.refresher = PlanRefresher::default();
        self.stamp = None;
        self.fleet = FleetRefresher::default();
        let since = data.trouble.as_ref().map_or(now, |(_, since)| *since);
        data.trouble = Some((text::clip(&text::neutral(&why), 60).into_owned(), since));
        true
    }

    fn try_plan(&mut self, data: &mut Data) -> Result<bool, String> {
        let opened = match &self.opened {
            Some(opened) => Arc::clone(opened),
            None => {
                let Some(opened) = (self.setup.open)()? else {
                    return if data.plan.is_some() { Err("it is gone".to_owned()) } else { Ok(false) };
                };
                // Another store, or the same one after it was away: nothing that was read before counts.
                data.plan = None;
                data.history.clear();
                data.name = Plain::text(&opened.name);
                let opened = Arc::new(opened);
                self.opened = Some(Arc::clone(&opened));
                opened
            }
        };
        let refreshed = self.refresher.refresh(&opened.engine, opened.plan, &mut data.plan);
        refreshed.map(|refreshed| refreshed != RefreshResult::Nothing).map_err(|error| error.message())
    }

    fn try_around(&mut self, opened: &BoardStore, data: &mut Data, now: i64) -> Result<bool, EngineError> {
        let stamp = opened.engine.store().stamp(Some(opened.plan))?;
        if stamp.is_some() && stamp == self.stamp && !self.is_due(now) {
            return Ok(false);
        }
        let Some(plan) = data.plan.take() else { return Ok(false) };
        let read = self.read_around(opened, &plan, data);
        data.plan = Some(plan);
        read?;
        data.fleet.clone_from(self.fleet.refresh(&opened.engine, now)?);
        (self.stamp, self.minute, data.is_complete) = (stamp, now / MINUTE, true);
        Ok(true)
    }

    fn read_around(&mut self, opened: &BoardStore, plan: &Plan, data: &mut Data) -> Result<(), EngineError> {
        let (engine, id) = (&opened.engine, opened.plan);
        data.inbox = engine.inbox_of(id, plan, &self.setup.inbox_query())?;
        data.questions =
            engine.questions(id, QuestionFilter::Open, QUESTIONS)?.into_iter().map(DisplayedQuestion::from).collect();
        let seen = engine.seen(id, READER)?;
        (data.seen, data.seen_at) = (seen.as_ref().map_or(0, |mark| mark.revision), seen.map(|mark| mark.at));
        data.run = run_state(opened)?;
        data.sessions = self.sessions(opened)?;
        data.quiet_after = i64::try_from(self.setup.settings.run_idle.value.as_millis()).unwrap_or(i64::MAX) / 2;
        let before = data.history.first().map_or(0, |row| row.revision);
        refresh_history(opened, plan, &mut data.history, &mut data.transitions, self.setup.look.glyphs)?;
        data.transitions.truncate(TRANSITIONS);
        if data.history.first().map_or(0, |row| row.revision) != before {
            data.failed_write = None;
        }
        self.activities(opened, data)?;
        if !data.questions.is_empty() || !data.inbox.is_empty() {
            let user = engine.user_at_terminal(id, &self.setup.marks, self.setup.own_mark)?;
            data.no_answers = user.err().map(|doubt| doubt.to_string());
        }
        Ok(())
    }

    /// Looks for writes of agents that failed. The first look only finds out where the activities end.
    fn activities(&mut self, opened: &BoardStore, data: &mut Data) -> Result<(), EngineError> {
        let Some(since) = self.activity else {
            self.activity = Some(opened.engine.last_activity(opened.plan)?);
            return Ok(());
        };
        let page = opened.engine.activity(opened.plan, since, ACTIVITIES)?;
        self.activity = Some(page.next);
        for record in page.records {
            if let ActivityKind::WriteFailed { agent, error } = record.kind {
                data.failed_write = Some(format!("{agent} could not change the plan: {error}"));
            }
        }
        Ok(())
    }

    fn sessions(&self, opened: &BoardStore) -> Result<Vec<SessionSummary>, EngineError> {
        let limits = self.setup.settings.keep_going();
        let state = |status: SessionStatus| {
            let (continuation, of) = status.counters.latest(&limits);
            SessionSummary {
                id: status.key.session_id().to_owned(),
                agent: Plain::clipped(&status.agent, 20),
                continuation,
                of,
                switch: status.switch,
                decision: Plain::text(&status.decision_words()),
                decided_at: status.decision.map(|(at, _)| at),
            }
        };
        Ok(opened.engine.sessions_on(opened.plan, SESSIONS)?.into_iter().map(state).collect())
    }
}

fn run_state(opened: &BoardStore) -> Result<Option<RunState>, EngineError> {
    let (engine, id) = (&opened.engine, opened.plan);
    let Some(run) = engine.runs(id, 1)?.into_iter().next() else { return Ok(None) };
    let is_running = engine.running(id)?.is_some_and(|running| running.id == run.id);
    let ledger = engine.read(id, |snapshot| Ok(snapshot.ledger(run.id)?))?;
    let mut spent = Sum::default();
    ledger.iter().for_each(|entry| spent.add(entry));
    Ok(Some(RunState {
        number: run.id,
        started_at: run.started_at,
        ended_at: run.ended_at,
        is_running,
        outcome: run.body.outcome.map(punch_engine::RunOutcome::name),
        seats: if is_running { engine.seats(id, run.id)? } else { Vec::new() },
        spent,
        limits: run.limits(),
        wanted: engine.run_controls(id, run.id)?.run,
    }))
}

/// Adds the revisions after the newest that is known, newest first.
fn refresh_history(
    opened: &BoardStore,
    plan: &Plan,
    history: &mut Vec<HistoryRow>,
    transitions: &mut Vec<String>,
    glyphs: Glyphs,
) -> Result<(), EngineError> {
    let (engine, id) = (&opened.engine, opened.plan);
    let known = history.first().map_or(0, |row| row.revision);
    if known == 0 || plan.row.revision.saturating_sub(known) > HISTORY {
        let entries = engine.history(id, HISTORY)?;
        *history = entries.iter().map(|entry| entry.row(plan, &entry.story())).collect();
        return Ok(());
    }
    loop {
        let since = history.first().map_or(0, |row| row.revision);
        let page = match engine.revisions(id, since, 1_000)? {
            Revisions::Page(page) => page,
            Revisions::Gap(_) => {
                history.clear();
                return refresh_history(opened, plan, history, transitions, glyphs);
            }
        };
        // Older ones that the user asked for stay.
        let most = history.len().max(HISTORY as usize);
        for revision in page.revisions {
            let changed = checklist::transitions(plan, &revision.events, glyphs, Cap::new(TRANSITIONS, usize::MAX));
            changed.lines().for_each(|line| transitions.insert(0, line.to_owned()));
            let entry = RevisionEntry::from(revision);
            let row = entry.row(plan, &entry.story());
            let undone = row.undoes.and_then(|of| history.iter_mut().find(|row| row.revision == of));
            let again = undone.and_then(|undone| {
                undone.undone_by = Some(row.revision);
                undone.undoes
            });
            // Undoing an undo lets what it undid stand again.
            if let Some(stands) = again.and_then(|of| history.iter_mut().find(|row| row.revision == of)) {
                stands.undone_by = None;
            }
            history.insert(0, row);
        }
        history.truncate(most);
        if !page.more {
            return Ok(());
        }
    }
}
