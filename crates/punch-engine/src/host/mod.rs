//! What an agent's host reports, taken into the plan's sessions: counters, decisions, reminders. Most reports only
//! read; what is written is chatter and written as such.

mod changes;
mod facts;
mod lease;
mod listen;
mod listing;
mod record;
mod sessions;
mod stop;
mod switch;

use punch_core::drive::{ContextUse, Decision, Effect, HostEvent};
use punch_core::{Op, Ref};
use punch_store::{Durability, PlanInfo, SessionKey, Snapshot, Tx};

use crate::config::Settings;
use crate::link::own_name;
use crate::submit::settle;
use crate::{Choice, Engine, EngineError, Request, session};
use changes::PERSON;
use listen::{Heard, Listener};

pub use record::Told;
pub(crate) use sessions::turn_of;
pub use sessions::{Going, Spent, TurnStart};
pub use switch::Switches;

/// One report of a host.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Which agent program: `claude`, `codex`, …
    pub agent: String,
    /// The conversation, and the subagent inside it.
    pub key: SessionKey,
    /// What the command line and the worktree say about the plan.
    pub choice: Choice,
    /// What happened.
    pub event: HostEvent,
    /// How full the model's context is, where anybody knows.
    pub context: Option<ContextUse>,
    /// The host's own limit of continuations in a row that must not be reached.
    pub host_cap: Option<u32>,
    /// The host's marker of the turn in which the conversation stands, where it has one that stays the same when the
    /// conversation is wound back to it.
    pub turn: Option<String>,
    /// The runner asks itself, for an agent that it drives.
    pub by_runner: bool,
}

impl Engine {
    /// Takes a report and says what the host should do. `settings` are already those of the agent.
    pub fn observe(&self, moment: &Moment, settings: &Settings) -> Result<Effect, EngineError> {
        Ok(self.heard(moment, settings)?.effect)
    }

    /// The same for an agent that wants to stop, with the decision itself; `None` where there is nobody to decide about:
    /// no session is named, or there is no plan.
    pub fn observe_stop(
        &self,
        moment: &Moment,
        settings: &Settings,
    ) -> Result<(Effect, Option<Decision>), EngineError> {
        let heard = self.heard(moment, settings)?;
        Ok((heard.effect, heard.decision))
    }

    fn heard(&self, moment: &Moment, settings: &Settings) -> Result<Heard, EngineError> {
        if moment.key.host().is_empty() {
            return Ok(Heard::default());
        }
        let mut choice = moment.choice.clone();
        choice.session.get_or_insert_with(|| moment.key.clone());
        let Some(plan) = self.choose(&choice)? else { return Ok(Heard::default()) };
        // What people wrote into the plan file is part of what is told.
        let told = matches!(moment.event, HostEvent::SessionStarted { .. } | HostEvent::Prompted { by_person: true });
        if told {
            self.read_back(plan.id, PERSON);
        }
        // Only a conversation that begins is told of other plans.
        let others = match moment.event {
            HostEvent::SessionStarted { .. } => self.others(&plan)?,
            _ => Vec::new(),
        };
        let listen = |snapshot: &dyn Snapshot, now: i64| -> Result<Heard, EngineError> {
            Listener { snapshot, plan: &plan, others: &others, moment, settings, now }.listen()
        };
        // A stop is always counted; everything else is looked at first without taking a turn at the store.
        if !matches!(moment.event, HostEvent::Stopping { .. }) {
            let heard = self.read(plan.id, |snapshot| {
                let now = self.now().max(snapshot.row()?.last_time);
                listen(snapshot, now)
            })?;
            if !heard.writes() {
                return Ok(heard);
            }
        }
        self.write(plan.id, Durability::Relaxed, |tx, now| {
            let now = now.max(tx.row()?.last_time);
            let heard = listen(tx, now)?;
            put(tx, &heard, &plan, moment, now)?;
            Ok(heard)
        })
    }
}

impl Engine {
    /// Other plans in which something is open: name, open, total.
    fn others(&self, than: &PlanInfo) -> Result<Vec<(String, u64, u64)>, EngineError> {
        let entries = self.plan_entries()?.into_iter();
        let open = entries.filter(|e| e.info.archived.is_none() && e.info.id != than.id && e.counts.open() > 0);
        Ok(open.map(|e| (e.info.name, e.counts.open(), e.counts.total())).collect())
    }
}

fn put(tx: &mut dyn Tx, heard: &Heard, plan: &PlanInfo, moment: &Moment, now: i64) -> Result<(), EngineError> {
    if let Some(state) = &heard.state {
        session::keep(tx, &moment.key, state.bound.then_some(plan.id), state, now)?;
    }
    if let Some(body) = &heard.record {
        tx.put_decision(&moment.key, body, now)?;
    }
    for uid in &heard.renew {
        let until = now.saturating_add(heard.lease);
        let request = Request { durability: Durability::Relaxed, ..Request::by(&moment.agent, heard.owner.as_deref()) };
        let first = punch_core::Footprint { todos: [*uid].into(), ..Default::default() };
        match settle(tx, now, &request, &first, &mut |_, _| Ok(vec![Op::Renew(Ref::Uid(*uid), until)])) {
            // Somebody else has it by now; that is theirs to say.
            Ok(_) | Err(EngineError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The owner under which a session works where nothing else names one.
pub fn owner_of(key: &SessionKey, settings: &Settings) -> String {
    settings.owner.value.clone().unwrap_or_else(|| own_name(key))
}
