//! `punch keep-going`: what a person said about all sessions, or about one. It counts at the next stop.

use punch_core::drive::Switch;
use punch_store::{Catalogue, Durability, PlanId, SessionKey, StoreError};

use crate::{Engine, EngineError};

/// The name under which it is kept for all.
const ALL: &str = "keep-going";

/// What was said, and about whom.
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
    /// What a person said about keep-going.
    pub fn switches(&self, of: Option<&SessionKey>) -> Result<Switches, EngineError> {
        self.browse(|catalogue| switches(catalogue, of))
    }

    /// Says something about all sessions, or about one. Switching on for all forgets what was said about all.
    pub fn switch(&self, plan: PlanId, of: Option<&SessionKey>, to: Switch) -> Result<(), EngineError> {
        let value = match to {
            Switch::On => None,
            Switch::Paused => Some("paused"),
            Switch::Off => Some("off"),
        };
        self.write(plan, Durability::Full, |tx, _| Ok(tx.put_setting(&name(of), value)?))
    }
}

pub(super) fn of(catalogue: &dyn Catalogue, key: &SessionKey) -> Result<Switch, StoreError> {
    Ok(switches(catalogue, Some(key))?.combined())
}

fn switches(catalogue: &dyn Catalogue, of: Option<&SessionKey>) -> Result<Switches, StoreError> {
    let read = |of: Option<&SessionKey>| -> Result<Switch, StoreError> {
        Ok(match catalogue.setting(&name(of))?.as_deref() {
            Some("off") => Switch::Off,
            Some("paused") => Switch::Paused,
            _ => Switch::On,
        })
    };
    let session = of.map_or(Ok(Switch::On), |key| read(Some(key)))?;
    Ok(Switches { all: read(None)?, session })
}

fn name(of: Option<&SessionKey>) -> String {
    match of {
        None => ALL.to_owned(),
        // A subagent is stopped with its session.
        Some(key) => format!("{ALL}:{}", key.session_id()),
    }
}
