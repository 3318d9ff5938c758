//! `punch keep-going`: what the user chose for all sessions or for one. It takes effect at the next stop.

use punch_core::Actor;
use punch_core::drive::Switch;
use punch_store::{Catalogue, ControlRecord, ControlScope, Durability, PlanId, RequestedState, SessionKey, StoreError};

use crate::activity::{self, ActivityKind, one_line};
use crate::{Engine, EngineError};

/// The user's choice, and which sessions it is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// About every session.
    pub all: Switch,
    /// About the one asked for.
    pub session: Switch,
}

impl Switches {
    /// What counts: whatever stops more.
    pub fn combined(self) -> Switch {
        match (self.all, self.session) {
            (Switch::Off, _) | (_, Switch::Off) => Switch::Off,
            (Switch::Paused, _) | (_, Switch::Paused) => Switch::Paused,
            (Switch::On, Switch::On) => Switch::On,
        }
    }
}

impl Engine {
    /// The user's choice about auto-continue.
    pub fn switches(&self, of: Option<&SessionKey>) -> Result<Switches, EngineError> {
        self.browse(|catalogue| switches(catalogue, of))
    }

    /// Sets the choice for all sessions or for one. Switching on for all removes the earlier choice for all.
    pub fn switch(&self, plan: PlanId, of: Option<&SessionKey>, to: Switch, by: &Actor) -> Result<(), EngineError> {
        let wanted = match to {
            Switch::On => RequestedState::Go,
            Switch::Paused => RequestedState::Pause,
            Switch::Off => RequestedState::Stop,
        };
        self.write(plan, Durability::Full, |tx, now| {
            let by = by.by().to_owned();
            tx.put_control(&ControlRecord { scope: scope(of), wanted, by: by.clone(), at: now })?;
            let name = of.map_or_else(|| "all sessions".to_owned(), |key| format!("session {}", key.session_id()));
            let kind = ActivityKind::Control { scope: one_line(&name), wanted: wanted.as_str().to_owned(), by };
            Ok(activity::record(tx, of.map(SessionKey::session_id), None, &kind, now)?)
        })
    }
}

pub(super) fn of(catalogue: &dyn Catalogue, key: &SessionKey) -> Result<Switch, StoreError> {
    Ok(switches(catalogue, Some(key))?.combined())
}

fn switches(catalogue: &dyn Catalogue, of: Option<&SessionKey>) -> Result<Switches, StoreError> {
    let read = |of: Option<&SessionKey>| -> Result<Switch, StoreError> {
        Ok(match catalogue.control(&scope(of))?.map(|control| control.wanted) {
            Some(RequestedState::Stop) => Switch::Off,
            Some(RequestedState::Pause) => Switch::Paused,
            Some(RequestedState::Go) | None => Switch::On,
        })
    };
    let session = of.map_or(Ok(Switch::On), |key| read(Some(key)))?;
    Ok(Switches { all: read(None)?, session })
}

fn scope(of: Option<&SessionKey>) -> ControlScope {
    // A subagent is stopped with its session.
    of.map_or(ControlScope::Sessions, |key| ControlScope::Session(key.session_id().to_owned()))
}
