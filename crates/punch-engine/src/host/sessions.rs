//! Queries about sessions: which one is meant, which are continued, where their turn began, what they cost.

use punch_core::Uid;
use punch_core::drive::{Counters, Decision, Reason, Switch};
use punch_store::{Durability, PlanId, SessionKey, SessionRow, Snapshot};

use super::record::StoredDecision;
use crate::{Engine, EngineError, Role, SessionState, history, session};

/// How long a session must have been silent to be left out.
pub(crate) const SILENT_MS: i64 = 24 * 60 * 60 * 1000;
/// Sessions of a plan that are looked at, the most recently seen.
const LISTED: usize = 500;

/// The number of decisions that are searched for a session without a record.
const RECENT: usize = 1_000;

/// Reports of a session in which its last decision is looked for.
const RECENT_REPORTS: usize = 20;

/// A session that is being continued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Going {
    /// The session.
    pub key: SessionKey,
    /// The agent program.
    pub agent: String,
    /// What is counted for it.
    pub counters: Counters,
}

/// A session on a plan, and the decision when it last wanted to stop.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionStatus {
    /// The session.
    pub key: SessionKey,
    /// The agent program.
    pub agent: String,
    /// What is counted for it.
    pub counters: Counters,
    /// The user's choice for this session and for all sessions, combined.
    pub switch: Switch,
    /// The last decision, and when it was made; `None` if the session never wanted to stop.
    pub decision: Option<(i64, Decision)>,
}

impl SessionStatus {
    /// Returns the last decision and its reason in words; nothing if the session never wanted to stop.
    pub fn decision_words(&self) -> String {
        match &self.decision {
            Some((_, Decision::Allow { reason })) => format!("allowed to stop: {}", reason.text()),
            Some((_, Decision::Continue { n, of, .. })) => {
                format!("sent back to work ({n} of {of}): something is open")
            }
            None => String::new(),
        }
    }
}

/// Where the current turn of a session began (rule 41).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnStart {
    /// The key of the session.
    pub key: SessionKey,
    /// The agent program.
    pub agent: String,
    /// The plan's revision then.
    pub revision: u64,
    /// When.
    pub at: i64,
    /// Ids of what was open then, in list order.
    pub open: Vec<String>,
}

/// What was put before models, in tokens, estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromptTokens {
    /// Sessions that cost something.
    pub sessions: usize,
    /// Reminders.
    pub reminders: u64,
    /// Continuations.
    pub continuations: u64,
}

impl Engine {
    /// The session that the user means: its id, `ID/SUBAGENT`, or the beginning of only one.
    pub fn find_session(&self, given: &str) -> Result<Option<SessionKey>, EngineError> {
        let mut keys: Vec<SessionKey> = self.browse(|catalogue| {
            let sessions = catalogue.sessions(None, i64::MIN, usize::MAX)?.into_iter().map(|session| session.key);
            Ok(sessions.chain(catalogue.decisions(None, RECENT)?.into_iter().map(|stored| stored.key)).collect())
        })?;
        keys.sort();
        keys.dedup();
        if let Some(key) = keys.iter().find(|key| key.full_name() == given) {
            return Ok(Some(key.clone()));
        }
        let mut fits = keys.iter().filter(|key| !given.is_empty() && key.full_name().starts_with(given));
        Ok(match (fits.next(), fits.next()) {
            (Some(key), None) => Some(key.clone()),
            _ => None,
        })
    }

    /// Gives todos to a session: it may report on them and on nothing else, and answers for them (rule 39).
    pub fn assign(&self, plan: PlanId, key: &SessionKey, todos: &[Uid]) -> Result<(), EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            let mut state = session::load(tx, key, plan)?;
            (state.role, state.bound, state.shown) = (Role::Worker, true, tx.row()?.revision);
            state.scope = todos.to_vec();
            Ok(session::store(tx, key, plan, &state, now)?)
        })
    }

    /// Returns the sessions that are being continued.
    pub fn going(&self) -> Result<Vec<Going>, EngineError> {
        let now = self.now();
        let recent = self.browse(|catalogue| catalogue.sessions(None, now.saturating_sub(SILENT_MS), usize::MAX))?;
        Ok(recent
            .iter()
            .map(|session| (session, session::read(session)))
            // What the agents of a run and assigned ones do is shown with the run, or with their todos.
            .filter(|(_, state)| state.drive.going && state.role != Role::Worker)
            .map(|(session, state)| Going {
                key: session.key.clone(),
                agent: state.agent.unwrap_or_default(),
                counters: state.drive,
            })
            .collect())
    }

    /// Returns the sessions that work on a plan or got a decision about continuing, the latest first, at most `most`.
    pub fn sessions_on(&self, plan: PlanId, most: usize) -> Result<Vec<SessionStatus>, EngineError> {
        let now = self.now();
        let seen_after = now.saturating_sub(SILENT_MS);
        let recent = self.browse(|catalogue| catalogue.sessions(Some(plan), seen_after, LISTED))?;
        let mut out = Vec::new();
        for session in recent.iter().filter(|session| session.key.subagent().is_none()) {
            if out.len() == most {
                break;
            }
            let (state, switch) = (session::read(session), self.switches(Some(&session.key))?.combined());
            let last = self.decisions(Some(&session.key), RECENT_REPORTS)?;
            let decision = last.into_iter().find_map(|record| Some((record.at, record.decided?.1)));
            if decision.is_some() || state.drive.going || switch != Switch::On {
                let (key, agent) = (session.key.clone(), state.agent.unwrap_or_default());
                out.push(SessionStatus { key, agent, counters: state.drive, switch, decision });
            }
        }
        Ok(out)
    }

    /// Where the turn of a session began, or of the session that was seen last on this plan.
    pub fn turn(&self, plan: PlanId, of: Option<&SessionKey>) -> Result<Option<TurnStart>, EngineError> {
        self.read(plan, |snapshot| match of {
            Some(key) => turn_of(snapshot, key),
            None => turn_start(snapshot, snapshot.sessions(Some(plan), i64::MIN, LISTED)?),
        })
    }

    /// What reminders and continuations have cost so far.
    pub fn spent(&self) -> Result<PromptTokens, EngineError> {
        let mut spent = PromptTokens::default();
        for session in self.browse(|catalogue| catalogue.sessions(None, i64::MIN, usize::MAX))? {
            let counters = session::read(&session).drive;
            spent.sessions += usize::from(counters.reminded + counters.prompted > 0);
            spent.reminders += counters.reminded;
            spent.continuations += counters.prompted;
        }
        Ok(spent)
    }
}

/// Returns when and why a session was allowed to stop; `None` if it was not, or if the user has sent it a message
/// since.
pub(crate) fn stop_of(
    snapshot: &dyn Snapshot,
    key: &SessionKey,
    state: &SessionState,
) -> Result<Option<(i64, Reason)>, EngineError> {
    let reports = snapshot.decisions(Some(key), RECENT_REPORTS)?;
    let decided = |report: &punch_store::DecisionRow| {
        let record: StoredDecision = serde_json::from_str(&report.body).ok()?;
        Some((report.at, record.decision))
    };
    let last = reports.iter().find_map(decided);
    let since = state.drive.since.unwrap_or_default();
    Ok(match last {
        Some((at, Decision::Allow { reason })) if at >= since => Some((at, reason)),
        _ => None,
    })
}

/// Where the turn of a session began.
pub(crate) fn turn_of(snapshot: &dyn Snapshot, key: &SessionKey) -> Result<Option<TurnStart>, EngineError> {
    turn_start(snapshot, snapshot.session(key)?.into_iter().collect())
}

fn turn_start(snapshot: &dyn Snapshot, sessions: Vec<SessionRow>) -> Result<Option<TurnStart>, EngineError> {
    let plan = snapshot.info()?.id;
    let here = sessions.into_iter().filter(|session| session.plan == Some(plan));
    let mut states = here.map(|session| (session::read(&session), session.key));
    let found = states.find_map(|(state, key)| Some((state.drive.turns.last()?.clone(), state.agent, key)));
    let Some((turn, agent, key)) = found else { return Ok(None) };
    let then = history::seen_at(snapshot, turn.revision)?;
    let open = then.live().into_iter().filter(|t| t.status.is_open()).map(|t| t.id.clone()).collect();
    let agent = agent.unwrap_or_default();
    Ok(Some(TurnStart { key, agent, revision: turn.revision, at: turn.at, open }))
}
