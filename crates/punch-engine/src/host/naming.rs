//! How texts for a session name todos: as its conversation does, or by their content where its tools take no ids.

use punch_core::Todo;
use punch_core::drive::{ListWords, PlanFacts, Vocabulary, by_content};

use super::listen::{Listener, PlanSession};
use crate::call::Dialect;
use crate::call::names::SessionNames;
use crate::config::Settings;
use crate::{EngineError, SessionState};

/// The names of the todos of one session.
pub(super) struct TodoNaming {
    names: SessionNames,
    words: Vocabulary,
}

impl TodoNaming {
    pub fn of(state: &SessionState, settings: &Settings) -> Self {
        Self { names: SessionNames::of(state), words: words(state, settings) }
    }

    /// How a sentence names a todo.
    pub fn name(&self, todo: &Todo) -> String {
        if self.words.takes_ids() { self.names.label(&todo.id) } else { by_content(&todo.content) }
    }

    /// What texts about lists may name.
    pub fn list_words(&self, settings: &Settings) -> ListWords {
        ListWords { shell: settings.reminders_shell.value, ids: self.words.takes_ids() }
    }
}

/// What the tools of a session can say about a todo.
fn words(state: &SessionState, settings: &Settings) -> Vocabulary {
    match (state.dialect, settings.reminders_shell.value) {
        (None | Some(Dialect::Native | Dialect::Extended), _) => Vocabulary::Full,
        (Some(Dialect::Cursor | Dialect::Phases | Dialect::Todowrite), true) => Vocabulary::StatusOnly,
        (Some(Dialect::Cursor), false) => Vocabulary::StatusAlone,
        (Some(Dialect::Phases | Dialect::Todowrite), false) => Vocabulary::StatusByText,
    }
}

impl PlanSession {
    /// What its tools can say about a todo.
    pub fn words(&self, settings: &Settings) -> Vocabulary {
        words(&self.state, settings)
    }
}

impl Listener<'_> {
    /// Replaces ids in facts by the names of the conversation. The next todo keeps its id where texts do without it: hosts read
    /// it from the facts.
    pub(super) fn in_its_names(&self, facts: &mut PlanFacts, who: &PlanSession) -> Result<(), EngineError> {
        let naming = TodoNaming::of(&who.state, self.settings);
        if naming.words.takes_ids() && naming.names.is_empty() {
            return Ok(());
        }
        for one in &mut facts.unproven {
            if let Some(todo) = self.snapshot.find(&one.id)? {
                one.id = naming.name(&todo);
            }
        }
        if naming.words.takes_ids() {
            let conflicts = facts.conflicts.iter_mut().map(|conflict| &mut conflict.id);
            for id in facts.next.iter_mut().map(|next| &mut next.id).chain(conflicts) {
                *id = naming.names.label(id);
            }
        }
        Ok(())
    }
}
