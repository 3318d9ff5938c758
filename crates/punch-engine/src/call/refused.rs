//! Refusals as one conversation reads them: with the ids that its tools take, or with the content of todos if its tools
//! take no ids.

use punch_core::text;
use punch_store::{PlanId, SessionKey, Snapshot};

use super::names::SessionNames;
use super::{Dialect, ToolAnswer, ToolWords, render};
use crate::{Engine, EngineError, session};

impl Engine {
    /// A refusal as the model of a session reads it.
    pub fn refused(
        &self,
        plan: PlanId,
        session: &SessionKey,
        words: impl Into<ToolWords>,
        error: &EngineError,
    ) -> Result<ToolAnswer, EngineError> {
        let words = words.into();
        self.read(plan, |snapshot| {
            let renamed = renamed(snapshot, session, words, error)?;
            Ok(render::refused(renamed.as_ref().unwrap_or(error), words, snapshot.row()?.revision))
        })
    }
}

impl ToolWords {
    /// Returns true if neither the tools nor a shell take ids.
    pub(super) const fn is_without_ids(self) -> bool {
        !self.shell && matches!(self.dialect, Dialect::Phases | Dialect::Todowrite)
    }
}

/// The content of a todo where a sentence names it in place of its id.
pub(super) fn in_place_of_id(content: &str) -> String {
    text::clip(&text::neutral(content), 60).into_owned()
}

/// The error with other names; `None` if it has none to replace.
fn renamed(
    snapshot: &dyn Snapshot,
    session: &SessionKey,
    words: ToolWords,
    error: &EngineError,
) -> Result<Option<EngineError>, EngineError> {
    // Ops of the native dialect name todos by their ids.
    if words.dialect == Dialect::Native || !matches!(error, EngineError::Refused(_) | EngineError::Verify(_)) {
        return Ok(None);
    }
    if words.is_without_ids() {
        let by_content = |id: &str| match snapshot.find(id) {
            Ok(Some(todo)) => in_place_of_id(&todo.content),
            Ok(None) | Err(_) => id.to_owned(),
        };
        return Ok(with_names(error, &by_content));
    }
    let state = snapshot.session(session)?.as_ref().map(session::read).unwrap_or_default();
    let names = SessionNames::of(&state);
    Ok(if names.is_empty() { None } else { with_names(error, &|id| names.label(id)) })
}

fn with_names(error: &EngineError, name: &dyn Fn(&str) -> String) -> Option<EngineError> {
    match error {
        EngineError::Refused(refusals) => {
            let mut refusals = refusals.clone();
            refusals.iter_mut().for_each(|refusal| refusal.rename(name));
            Some(EngineError::Refused(refusals))
        }
        EngineError::Verify(error) => {
            let mut error = error.clone();
            error.rename(name);
            Some(EngineError::Verify(error))
        }
        _ => None,
    }
}
