//! Automatic checkpoints: when a session has used up most of its context.

use punch_core::drive::ContextUse;
use punch_core::{Footprint, Plan};
use punch_store::{Durability, SessionKey};

use super::save::keep;
use super::{CheckpointReason, Code, SavedCheckpoint, Saving};
use crate::{Engine, EngineError, PlanChoice, session};

/// Percent of a context at which a checkpoint is made, once on every way up.
const LEVELS: [u8; 3] = [90, 80, 70];

impl Engine {
    /// Makes a checkpoint if the session, which works on the plan, has reached another level. `look` is asked only then.
    pub fn checkpoint_at(
        &self,
        choice: &PlanChoice,
        key: &SessionKey,
        context: ContextUse,
        look: &dyn Fn() -> Code,
    ) -> Result<Option<SavedCheckpoint>, EngineError> {
        let level = level(context);
        let Some((Some(bound), state)) = self.session(key)? else { return Ok(None) };
        if !state.bound || state.saved == level {
            return Ok(None);
        }
        let Some(plan) = self.choose(choice)?.filter(|plan| plan.id == bound) else { return Ok(None) };
        // When the level falls because the conversation was shortened, only the level is stored.
        let code = (level > state.saved).then(look);
        self.write(plan.id, Durability::Full, |tx, now| {
            let mut state = session::load(tx, key, plan.id)?;
            state.saved = level;
            session::keep(tx, key, Some(plan.id), &state, now)?;
            let Some(code) = &code else { return Ok(None) };
            let mut whole = Plan::slice(tx.row()?);
            tx.load(&Footprint::everything(), &mut whole)?;
            let notes = format!("{level}% of a session's context is used");
            let by = state.agent.clone().unwrap_or_else(|| key.session_id().to_owned());
            let saving = Saving { why: CheckpointReason::Context, by: &by, notes: Some(&notes) };
            keep(tx, &whole, now, code, &saving).map(Some)
        })
    }
}

fn level(context: ContextUse) -> u8 {
    let reached = |level: u8| u128::from(context.used) * 100 >= u128::from(context.limit) * u128::from(level);
    LEVELS.into_iter().find(|level| context.limit > 0 && reached(*level)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_whole_and_survive_every_number() {
        for (used, limit, expected) in [
            (0, 0, 0),
            (5, 0, 0),
            (139_999, 200_000, 0),
            (140_000, 200_000, 70),
            (160_000, 200_000, 80),
            (u64::MAX, 200_000, 90),
            (u64::MAX, u64::MAX, 90),
        ] {
            assert_eq!(level(ContextUse { used, limit }), expected);
        }
    }
}
